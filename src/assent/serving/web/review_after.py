"""What the review page says after a decision, and when it looks again by itself. Changes nothing."""

from __future__ import annotations

from typing import Final

import msgspec
from starlette.requests import Request

from assent.engine.review import RunReview
from assent.lifecycle.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    State,
    state_of,
)
from assent.serving.web.review_card import Card

LOOK_AGAIN_SECONDS: Final = (1, 2, 3, 5, 8)
"""After sending, the page looks by itself a few times and then stops."""

DONE: Final[dict[str, tuple[frozenset[State], str]]] = {
    "approve": (frozenset({APPROVED, EXECUTING, EXECUTED}), "Approved. Nothing has been sent by that alone."),
    "recorded": (frozenset({AWAITING}), "Your approval is recorded. Somebody else has to approve it, too."),
    "send": (frozenset({APPROVED, EXECUTING}), "Approved, and on its way out."),
    "edit": (
        frozenset({AWAITING}),
        "Saved. Please read it once more: what you saved needs an approval of its own.",
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
"""What the page says after a decision, and only while the action is in a state in which that is true."""


class Done(msgspec.Struct, frozen=True):
    """A decision that went well, for the top of the page."""

    text: str
    action_id: str | None


def done(request: Request, found: RunReview) -> Done | None:
    did, action_id = request.query_params.get("did", ""), request.query_params.get("action", "")
    if did == "end-links" and found.run.links_from_ms:
        return Done("The review links of this run have ended. A new one works again.", None)
    action = next((each for each in found.actions if each.action_id == action_id), None)
    states, text = DONE.get(did, (frozenset(), ""))
    return Done(text, action_id) if action is not None and state_of(action) in states else None


def look_again(request: Request, shown: tuple[Card, ...]) -> str | None:
    """When to look by itself. Never while there is a form on the page that somebody may be filling in."""
    given = request.query_params.get("look", "")
    times = int(given) if given.isascii() and given.isdigit() and len(given) == 1 else 0
    if not 1 <= times <= len(LOOK_AGAIN_SECONDS) or not any(card.in_flight for card in shown):
        return None
    if any(card.forms and not card.in_flight for card in shown):
        return None
    return f"{LOOK_AGAIN_SECONDS[times - 1]}; url={request.url.path}?look={times + 1}"
