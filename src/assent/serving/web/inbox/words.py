"""The words of the inbox, of deciding together and of a flood."""

from __future__ import annotations

from typing import Any, Final

from assent.serving.web.review.words import Badge

CHIPS: Final = {
    "": "Needs you",
    "stuck": "Stuck",
    "high": "High risk",
    "soon": "Expiring",
    "scheduled": "Scheduled",
    "sent": "Sent today",
}
"""The names of the filters."""


def count_waiting(found: int, filtered: bool) -> str:
    """The heading of what waits."""
    if filtered:
        return f"{found} found"
    return "One thing waits for you" if found == 1 else f"{found} things wait for you"


def name_group(group: dict[str, Any]) -> str:
    """The name of a run's rows: its goal, else who prepared it."""
    goal = str(group["goal"])
    return goal if goal and goal != group["lines"][0]["title"] else f"From {group['agent'] or 'your agent'}"


BY_HAND: Final = Badge("Publish it by hand", "warn")
DID: Final = {
    "approve": "approved",
    "send": "approved and on their way out",
    "reject": "rejected",
    "release": "released; each waits below",
}
"""What became of the drafts that were decided together."""

# batch.html
REJECT_ALL_FOR_GOOD: Final = "Reject all {items} for good"

# held.html
BACK_TO_THE_INBOX: Final = "Back to the inbox"


# batch.py
THESE_CANNOT_BE_DECIDED_TOGETHER: Final = "These cannot be decided together"
ONLY_LOW_RISK_DRAFTS: Final = (
    "Only low-risk drafts that still wait and have no HTML part can be decided in one go."
)
GO_BACK_AND_SELECT_LOW: Final = "Go back and select low-risk rows, or open each one and decide there."
SOMETHING_CHANGED_WHILE_YOU_WERE: Final = "Something changed while you were looking"
ONE_OF_THESE_WAS_EDITED: Final = "One of these was edited or decided by someone else. Nothing was decided."
GO_BACK_TO_THE_INBOX: Final = "Go back to the inbox, look at what waits now, and select again."
NOTHING_WAS_DECIDED: Final = "Nothing was decided"
SAY_WHY: Final = "Say why in a few words, so that the next draft is better."
IS_NOT_READY: Final = "{via} is not ready."

# held.py
NOTHING_IS_HELD_HERE: Final = "Nothing is held here"
THESE_PROPOSALS_WERE_DECIDED: Final = (
    "These proposals were decided or released already, or they have expired."
)
LOOK_AT_WHAT_WAITS: Final = "Look at what waits for you instead."
OPEN_THE_INBOX: Final = "Open the inbox"
SAY_WHY_TO_THE_AGENT: Final = "Say why in a few words: the agent reads it."

# screen.py
APPROVED_ON_THEIR_WAY_OUT: Final = "{count} approved, {sent} on their way out."

# signups.py
WORKSPACE_NAME: Final = "Name"
E_MAIL_NOT_CONFIRMED: Final = "Unconfirmed e-mail"
ADMIT: Final = "Let them in"
DECLINE: Final = "Decline"
LET_THEM_IN: Final = "Let this stranger in?"
THEY_GET_A_KEY: Final = (
    "They get a key of a new, empty workspace, and nothing of yours. Name and address are their words."
)
DECLINE_IT: Final = "Decline this request?"
THEY_GET_NOTHING: Final = "They get no workspace and no key. The page that they have open says so."
DECIDED: Final = {
    "admitted": "They are let in: the page that they have open now shows their key.",
    "rejected": "Declined. The page that they have open says so.",
}
