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
from assent.serving.web.review import words
from assent.serving.web.review.access import Viewer
from assent.serving.web.review.card import Card
from assent.serving.web.review.naming import is_function, say_effect
from assent.serving.web.shell.lists import whole_number

LOOK_AGAIN_SECONDS: Final = (1, 2, 3, 5, 8)
"""Delays of the automatic refreshes after sending."""

DONE: Final = {
    "approve": (
        frozenset({APPROVED, EXECUTING, EXECUTED}),
        words.APPROVED_YOUR_AGENT_SENDS,
    ),
    "recorded": (frozenset({AWAITING}), words.YOUR_APPROVAL_IS_RECORDED_ANOTHER),
    "send": (frozenset({APPROVED, EXECUTING}), words.APPROVED_AND_ON_ITS_WAY),
    "edit": (
        frozenset({AWAITING}),
        words.SAVED_READ_IT_ONCE,
    ),
    "again": (frozenset({AWAITING}), words.HERE_IT_IS_AGAIN_APPROVE),
    "reject": (frozenset({REJECTED}), words.REJECTED_IT_WILL_NEVER),
    "withdraw": (
        frozenset({AWAITING}),
        words.THE_APPROVAL_IS_WITHDRAWN_NOTHING,
    ),
    "ask": (
        frozenset({AWAITING, APPROVED, RETRYABLE}),
        words.YOUR_AGENT_CAN_READ,
    ),
    "publish": (frozenset({EXECUTED}), words.PUBLISHED_ON_RECORD),
    "look_now": (
        frozenset({UNKNOWN, EXECUTED, RETRYABLE, FAILED}),
        words.THE_PROVIDER_IS_ASKED,
    ),
    "resolve": (frozenset({UNKNOWN, EXECUTED, RETRYABLE}), words.ANSWER_ON_RECORD),
}
"""Confirmation by decision, for these states of the action."""


DONE_FUNCTIONS: Final = {
    "approve": words.APPROVED_YOUR_AGENT_RUNS,
    "send": words.APPROVED_IT_RUNS_NOW,
    "reject": words.REJECTED_NEVER_RUN,
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
    stopped: str,
) -> ResultNotice | None:
    """Confirm the last decision. `stopped` says why nothing is sent now, where that is so."""
    did = request.query_params.get("did", "")
    if did == "end-links" and found.run.links_from_ms:
        return ResultNotice(words.THE_REVIEW_LINKS, None)
    states, text = DONE.get(did, (frozenset(), ""))
    if action is None or state_of(action) not in states:
        return None
    runs = is_function(action)
    if runs:
        text = DONE_FUNCTIONS.get(did, text)
    moved = bool(request.query_params.get("next"))
    card = next((each for each in shown if each.action_id == action.action_id), None)
    waits = card is None or card.in_flight
    if state_of(action) == APPROVED and did in ("approve", "send") and stopped:
        done = "run" if runs else "sent"
        text = words.APPROVED_IT_CANNOT_BE_YET.format(done=done, why=stopped)
    elif state_of(action) == APPROVED and did == "send" and waits and undo_ms:
        text = (words.RUNS_IN if runs else words.GOES_OUT_IN).format(seconds=undo_ms // SECOND_MS)
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
        why = card.readiness.fix_hint or words.NOT_READY_SENTENCE.format(connector=card.connector)
        done = "run" if card.is_function else "sent"
        return ResultNotice(
            words.APPROVED_IT_CANNOT_BE_YET.format(done=done, why=why), card.action_id, "warn"
        )
    if did == "send":
        done = "run" if card.is_function else "sent"
        return ResultNotice(words.APPROVED_AND_NOT_YET.format(done=done), card.action_id, "warn")
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
