"""The words of the inbox, of deciding together and of a flood."""

from __future__ import annotations

from typing import Any, Final

from assent.serving.web.review.words import Badge

SEARCH: Final = "Search drafts, people, runs"
SEARCHED: Final = "Searched {:,} of {:,}, the most severe first."
SEARCH_ON: Final = "Search the next ones"
UNKNOWN_TITLE: Final = "Did this go out?"
UNKNOWN_HINT: Final = (
    "We lost the connection while sending. Nothing is sent again before you say whether it arrived."
)
STUCK: Final = "Did not go out"
STUCK_HINT: Final = (
    "Approved, and not sent. Open one to try again, to change it, or to take the approval back."
)
HELD: Final = "Too much at once"
HELD_HINT: Final = (
    "An agent proposed many actions in a short time. Decide about all of them at once; nothing is sent "
    "until then."
)
HELD_NOTE: Final = "Open the list, then reject or release all of them"
SCHEDULED: Final = "Scheduled"
SENT_TODAY: Final = "Sent today"
LOW_RISK: Final = "{} low-risk drafts"
APPROVE_ALL: Final = "Approve all {}…"
SELECT: Final = "Select {}"
SELECT_HINT: Final = "Select low-risk rows to decide about them together."
REVIEW_ALL: Final = "Review all {}"
APPROVE_TOGETHER: Final = "Approve together"
REJECT_TOGETHER: Final = "Reject together"
NOTHING_LIKE_IT: Final = "Nothing found"
NOTHING_LIKE_IT_HINT: Final = "Try other words, or clear the filter to see everything that needs you."
NOTHING_WAITS: Final = "Nothing waits for you"
NOTHING_WAITS_HINT: Final = (
    "When an agent prepares something that needs a decision, it appears here. Say to your agent: “Draft a post about "
    "what we built today, and let me approve it.” You can decide here or in the chat."
)
CHIPS: Final = {
    "": "Needs you",
    "stuck": "Stuck",
    "high": "High risk",
    "soon": "Expiring",
    "scheduled": "Scheduled",
    "sent": "Sent today",
}
"""The names of the filters."""

BATCH_HINT: Final = "All of low risk. Nothing is decided yet: read each one, then press the button below."
BATCH_UNREADY: Final = "You can approve now; it is sent once this is fixed."
UNDO_HINT: Final = "They go out after {} seconds. Until then you can take each approval back."

RELEASE_HINT: Final = (
    "Nothing is sent and nothing is lost. Reject them all, or release them and decide about each one in "
    "your inbox."
)


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
TOGETHER: Final = "{verb} {items} together"
VERB_ITEMS_TOGETHER: Final = "{verb} {items} together?"
VERB_ONE: Final = "{verb} this one?"
KINDS: Final = "Kinds"
OF: Final = "{index} of {items}"
THE_APPROVAL_ALSO: Final = "The approval also {sends} it, at once."
ITS_TIME_WAS_APPROVED_NOW: Final = "Its time was {schedule}; approved now, it goes out at once."
IT_IS_PLANNED_FOR: Final = "It is planned for {schedule}."
YOU_DECIDE_AS: Final = "You decide as {name}."
APPROVE_AND_NOW: Final = "Approve and {send} it now"
REJECT_ALL_FOR_GOOD: Final = "Reject all {items} for good"
APPROVE_ALL_ITEMS: Final = "Approve all {items}"
APPROVE_AND_ALL_NOW: Final = "Approve and {send} all {items} now"
APPROVE_ALL_SEND_NOW: Final = "Approve all {items}, send {sends} now"

# held.html
HELD_PROPOSALS: Final = "Held proposals"
BACK_TO_THE_INBOX: Final = "Back to the inbox"
AND_MORE: Final = "And {more} more."
DECIDE_ONE_BY_ONE: Final = "Decide one by one"
EACH_APPEARS_IN_YOUR_INBOX: Final = "Each appears in your inbox with its own decision."
RELEASE_ALL: Final = "Release all {count}"
REJECT_THEM: Final = "Reject them"
YOU_DECIDE_AS_NONE: Final = "You decide as {name}. None of them can be sent afterwards."

# inbox.html
SELECT_TITLE: Final = "Select: {title}"
ALL_WORKSPACES: Final = "All workspaces"
FILTER: Final = "Filter"
CLEAR: Final = "Clear"
DRAFTS: Final = "{lines} drafts"
CLEAR_THE_FILTER: Final = "Clear the filter"
CONNECT_AN_AGENT: Final = "Connect an agent"
THE_SELECTED_ITEM: Final = "The selected item"

# inbox_pane.html
STATE: Final = "State"
REVIEW_AND_APPROVE: Final = "Review and approve"
SAY_WHETHER_IT_ARRIVED: Final = "Say whether it arrived"
TRY_AGAIN: Final = "Try again…"
OPEN: Final = "Open"
APPROVALS_OF: Final = "{given} of {needed}"

# batch.py
THESE_CANNOT_BE_DECIDED_TOGETHER: Final = "These cannot be decided together"
ONLY_LOW_RISK_DRAFTS: Final = (
    "Only low-risk drafts that still wait and have no HTML part can be decided in one go."
)
GO_BACK_AND_SELECT_LOW: Final = "Go back and select low-risk rows, or open each one and decide there."
SOMETHING_CHANGED_WHILE_YOU_WERE: Final = "Something changed while you were looking"
ONE_OF_THESE_WAS_EDITED: Final = "One of these was edited or decided by someone else. Nothing was decided."
GO_BACK_TO_THE_INBOX: Final = "Go back to the inbox, look at what waits now, and select again."
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
SIGNUPS: Final = "Strangers who ask for a workspace"
SIGNUPS_HINT: Final = (
    "They get a key of a new, empty workspace, and nothing of yours. Names and addresses are their words; let in only "
    "whom you expect."
)
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
