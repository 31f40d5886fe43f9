"""The review page after a decision: its confirmation and its automatic refresh. Read-only."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from assent.engine.views.review import RunReview
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    state_of,
)
from assent.kernel.structs import Record
from assent.serving.web.review.card import Card
from assent.serving.web.shell.lists import whole_number

LOOK_AGAIN_SECONDS: Final = (1, 2, 3, 5, 8)
"""Delays of the automatic refreshes after sending."""

DONE: Final = {
    "approve": (frozenset({APPROVED, EXECUTING, EXECUTED}), "Approved. The approval itself sends nothing."),
    "recorded": (frozenset({AWAITING}), "Your approval is recorded. Another person has to approve it, too."),
    "send": (frozenset({APPROVED, EXECUTING}), "Approved, and on its way out."),
    "edit": (
        frozenset({AWAITING}),
        "Saved. Please read it once more: the new version needs its own approval.",
    ),
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
    "resolve": (frozenset({UNKNOWN, EXECUTED, RETRYABLE}), "Thank you. Your answer is on record."),
}
"""Confirmation by decision, for these states of the action."""


DONE_FUNCTIONS: Final = {
    "approve": "Approved. The approval itself runs nothing.",
    "send": "Approved. It runs now.",
    "reject": "Rejected. It will never be run; your reason is kept.",
}
"""The same confirmations for an action that runs with arguments."""


class ResultNotice(Record):
    text: str
    action_id: str | None
    tone: str = "ok"


def say_done(request: Request, found: RunReview, shown: tuple[Card, ...]) -> ResultNotice | None:
    did, action_id = request.query_params.get("did", ""), request.query_params.get("action", "")
    if did == "end-links" and found.run.links_from_ms:
        return ResultNotice("The review links of this run have ended. A new one works again.", None)
    action = next((each for each in found.actions if each.action_id == action_id), None)
    states, text = DONE.get(did, (frozenset(), ""))
    if action is None or state_of(action) not in states:
        return None
    card = next(each for each in shown if each.action_id == action_id)
    if card.is_function:
        text = DONE_FUNCTIONS.get(did, text)
    if state_of(action) == APPROVED and did in ("approve", "send") and not card.in_flight:
        return _not_under_way(card, did, text)
    return ResultNotice(text, action_id)


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
