"""The review page after a decision: the next item, the confirmation with its undo, and the automatic
refresh. Read-only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request

from assent.engine.actions import actions
from assent.engine.actions.reconciliation import can_be_asked
from assent.engine.people import approvals
from assent.engine.views import inbox
from assent.engine.views.review import RunReview
from assent.gate.preflight import is_expired
from assent.gate.records import Action
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    state_of,
)
from assent.kernel.ids import is_uuid
from assent.kernel.limits import SECOND_MS
from assent.kernel.structs import Record
from assent.ports import Connector, Transaction
from assent.serving.web.review.access import Viewer
from assent.serving.web.review.card import Card
from assent.serving.web.review.naming import is_function, say_effect
from assent.serving.web.shell.lists import whole_number

LOOK_AGAIN_SECONDS: Final = (1, 2, 3, 5, 8)
"""Delays of the automatic refreshes after sending."""

DONE: Final = {
    "approve": (
        frozenset({APPROVED, EXECUTING, EXECUTED}),
        "Approved. Your agent sends it, or you send it here.",
    ),
    "recorded": (frozenset({AWAITING}), "Your approval is recorded. Another person must approve it, too."),
    "send": (frozenset({APPROVED, EXECUTING}), "Approved, and on its way out."),
    "edit": (
        frozenset({AWAITING}),
        "Saved. Read it once more: the new version needs its own approval.",
    ),
    "again": (frozenset({AWAITING}), "Here it is again. Approve it, and it is sent once more."),
    "reject": (frozenset({REJECTED}), "Rejected. It will never be sent; your reason is kept."),
    "withdraw": (
        frozenset({AWAITING}),
        "The approval is withdrawn. Nothing goes out until it is approved again.",
    ),
    "ask": (
        frozenset({AWAITING, APPROVED, RETRYABLE}),
        "Your agent can read what you asked for. Nothing else has changed.",
    ),
    "publish": (frozenset({EXECUTED}), "Thank you. Where it was published is on record."),
    "look_now": (
        frozenset({UNKNOWN, EXECUTED, RETRYABLE, FAILED}),
        "The provider is asked now. Reload the page in a moment.",
    ),
    "resolve": (frozenset({UNKNOWN, EXECUTED, RETRYABLE}), "Thank you. Your answer is on record."),
}
"""Confirmation by decision, for these states of the action."""


DONE_FUNCTIONS: Final = {
    "approve": "Approved. Your agent runs it, or you run it here.",
    "send": "Approved. It runs now.",
    "reject": "Rejected. It will never be run; your reason is kept.",
}
"""The same confirmations for an action that runs with arguments."""

LEADS_ON: Final = frozenset({"approve", "recorded", "send", "reject", "publish", "resolve"})
"""Decisions after which the next item opens."""


class Undo(Record):
    """The form that takes an approval back."""

    address: str
    nonce: str
    digest: str
    revision: int


class ResultNotice(Record):
    """The confirmation of a decision. `about` names the action if the page now shows another one."""

    text: str
    action_id: str | None
    tone: str = "ok"
    undo: Undo | None = None
    about: str = ""


def list_askable(connectors: Mapping[str, Connector], found: RunReview) -> frozenset[str]:
    """Return the actions whose provider can be asked what became of them."""
    return frozenset(
        each.action_id for each in found.actions if can_be_asked(connectors.get(each.effect.connector))
    )


def find_next(viewer: Viewer, action: Action, did: str, now_ms: int) -> Transaction[Action | None]:
    """Return the item to open after a decision: another draft of the run, else the next one of the
    inbox. Who holds a link stays with its run."""
    if did not in LEADS_ON:
        return None
    found = yield from actions.run_actions(action.workspace_id, action.run_id)
    after = sorted(found, key=lambda each: (each.position <= action.position, each.position))
    for each in after:
        if each.action_id == action.action_id or state_of(each) != AWAITING or is_expired(each, now_ms):
            continue
        given = yield from approvals.list_given(each)
        if not any(yes.approver == viewer.approver and yes.revision == each.revision for yes in given):
            return each
    if viewer.session is None:
        return None
    return (yield from inbox.find_next(viewer.session.person, now_ms))


def lead_on(action: Action, did: str, then: Action | None) -> str:
    """The address after a decision."""
    said = {"did": did, "action": action.action_id}
    if then is None:
        said |= {"look": "1"} if did == "send" else {}
        return f"/runs/{action.run_id}?{urlencode(said)}#action-{action.action_id}"
    return f"/runs/{then.run_id}?{urlencode(said | {'next': then.action_id})}#action-{then.action_id}"


def find_decided(request: Request, viewer: Viewer, found: RunReview) -> Transaction[Action | None]:
    """Return the action of the last decision, which a signed-in person may have made in another run."""
    action_id = request.query_params.get("action", "")
    mine = next((each for each in found.actions if each.action_id == action_id), None)
    if mine is not None or viewer.session is None or not is_uuid(action_id):
        return mine
    seen = yield from inbox.find(viewer.session.person, action_id)
    return seen[0] if seen is not None else None


def say_done(
    request: Request,
    found: RunReview,
    shown: tuple[Card, ...],
    action: Action | None,
    nonce: Callable[[Action, str], str],
    undo_ms: int,
) -> ResultNotice | None:
    did = request.query_params.get("did", "")
    if did == "end-links" and found.run.links_from_ms:
        return ResultNotice("The review links of this run have ended. A new one works again.", None)
    states, text = DONE.get(did, (frozenset(), ""))
    if action is None or state_of(action) not in states:
        return None
    runs = is_function(action)
    if runs:
        text = DONE_FUNCTIONS.get(did, text)
    moved = bool(request.query_params.get("next"))
    card = next((each for each in shown if each.action_id == action.action_id), None)
    waits = card is None or card.in_flight
    if state_of(action) == APPROVED and did == "send" and waits and undo_ms:
        text = f"Approved. It {'runs' if runs else 'goes out'} in {undo_ms // SECOND_MS} seconds."
    elif state_of(action) == APPROVED and did in ("approve", "send") and card is not None and not waits:
        notice = _not_under_way(card, did, text)
        text = notice.text
        if notice.tone == "warn" and not moved:
            return notice
    undo = None
    if did in ("approve", "send") and state_of(action) == APPROVED:
        address = f"/runs/{action.run_id}/actions/{action.action_id}/withdraw"
        undo = Undo(address, nonce(action, "withdraw"), action.digest, action.revision)
    about = say_effect(action) if moved else ""
    return ResultNotice(text, None if moved else action.action_id, undo=undo, about=about)


def _not_under_way(card: Card, did: str, text: str) -> ResultNotice:
    """Confirmation of an approval whose sending is not under way."""
    if card.sends and not card.readiness.ready:
        why = card.readiness.fix_hint or f"{card.connector} is not ready."
        done = "run" if card.is_function else "sent"
        return ResultNotice(f"Approved. It cannot be {done} yet: {why}", card.action_id, "warn")
    if did == "send":
        done = "run" if card.is_function else "sent"
        return ResultNotice(f"Approved, and not {done} yet.", card.action_id, "warn")
    return ResultNotice(text, card.action_id)


def look_again(request: Request, shown: tuple[Card, ...]) -> str | None:
    """The next refresh. None while the page has a form that a person may be filling in."""
    times = whole_number(request.query_params.get("look", ""), 1) or 0
    if not 1 <= times <= len(LOOK_AGAIN_SECONDS) or not any(card.in_flight for card in shown):
        return None
    if any(card.forms and not card.in_flight for card in shown):
        return None
    place = next(card.action_id for card in shown if card.in_flight)
    return f"{LOOK_AGAIN_SECONDS[times - 1]}; url={request.url.path}?look={times + 1}#action-{place}"
