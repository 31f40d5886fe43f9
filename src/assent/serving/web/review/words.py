"""The words of the review page, its forms, the edit page and the page of an action.

An approval that an agent relayed is never worded like a person's (C8).
"""

from __future__ import annotations

from typing import Final

from assent.gate.records import Assurance
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
)
from assent.gate.views import Severity
from assent.kernel.structs import Record

GATES: Final = {
    "human_approval": "A person approves it",
    "recipients_missing": "It has recipients (none are named yet)",
    "connector_not_ready": "Its connection is ready (it was not when this was prepared)",
}

EDIT_HINT: Final = "The saved version needs its own approval."
TAKEN_BACK: Final = "Saving takes the approval back."
HTML_DROPPED: Final = "The HTML part was made from this text. It is dropped when you change the text."


class Verb(Record):
    """What an approval leads to: sending a text, or running a function."""

    now: str
    does: str
    past: str


APPROVE_AND: Final = {
    "arguments": "Approve and run",
    "page": "Approve and publish",
    "post": "Approve and post",
    "thread": "Approve and post",
}
"""The button by the kind of preview."""
VERBS: Final = {False: Verb("send", "sends", "sent"), True: Verb("run", "runs", "run")}
"""By whether the action is a function."""


class Badge(Record):
    """A label and its tone: ok, warn, danger, ask (a question to the person), info or none."""

    text: str
    tone: str = ""


STATES: Final = {
    AWAITING: Badge("Waits for approval", "warn"),
    APPROVED: Badge("Approved", "ok"),
    EXECUTING: Badge("Being sent", "info"),
    UNKNOWN: Badge("Outcome unknown", "ask"),
    RETRYABLE: Badge("Approved, not sent yet", "warn"),
    REJECTED: Badge("Rejected"),
    EXECUTED: Badge("Done", "ok"),
    FAILED: Badge("Failed", "danger"),
}

STATES_OF_FUNCTIONS: Final = {
    **STATES,
    EXECUTING: Badge("Running", "info"),
    RETRYABLE: Badge("Approved, not run yet", "warn"),
}

SEVERITIES: Final = {
    Severity.LOW: Badge("Low risk"),
    Severity.MEDIUM: Badge("Medium risk", "warn"),
    Severity.HIGH: Badge("High risk", "danger"),
}

ASSURANCES: Final = {
    Assurance.AGENT: "An agent said that its user approved, in a chat. The server did not see a human decide.",
    Assurance.LINK: "The server knows the link, which the agent holds too, and not the person.",
    Assurance.CLIENT: "They were signed in here, or answered in the dialog of their chat program.",
    Assurance.PERSON: "They were signed in on this server and confirmed it there.",
    Assurance.PASSKEY: "They confirmed it on this server with a passkey.",
}

COULD_BE_AGENT: Final = "signed in, which an agent of this machine could do, too"
COULD_BE_AGENT_HOW: Final = (
    "They were signed in. A check of this machine found that an agent there can sign in as them, too."
)
"""Of an approval for which the server claims less than it saw."""
UNSURE: Final = {
    Assurance.AGENT: "Approval relayed by an agent",
    Assurance.LINK: "Approved over the review link",
}
"""Approvals that may be the agent's own (C8). They have the tone of a warning."""
BY_AGENT: Final = "you, or your agent on your behalf"
"""Who approves where the policy lets an agent pass on a yes."""

# action.html
APPROVAL_NEEDS: Final = "{why} Approval needs {needs}."
REVISION: Final = "Revision {revision}, {digest}"

# review.html
IT_IS_PLANNED_FOR: Final = "It is planned for {schedule}."


# review_content.html
LINKS: Final = "Links ({count})"

# review_edit.html
EDIT: Final = "Edit: {title_of}"
ASK_FOR_THIS_IN_LATER: Final = "Ask for this in later drafts, too"
IN_YOUR_WORDS_SUCH: Final = "In your words, such as “Never use exclamation marks”."

# review_parts.html
APPROVE_AND_NOW: Final = "Approve and {send} now"
LOOK_HERE: Final = "Look here: {where}"


# problems.py
AN_ARGUMENT: Final = "“{label}” (an argument of the agent)"
MAY_LOOK_LIKE: Final = "“{label}” (a name here may look like another: {letters})"
THERE_IS_NOTHING_TO_DECIDE: Final = "There is nothing to decide here"
THIS_RUN_HAS_NO_SUCH: Final = "This run has no such action."
GO_BACK_RELOAD_THE_PAGE: Final = "Go back, reload the page and decide there."
THE_CONTENT_CHANGED_WHILE: Final = "The content changed while you were looking"
NOTHING_WAS_DECIDED_BELOW: Final = (
    "Nothing was decided. Below is the content as it is now: read it again, then decide."
)
THIS_WAS_DECIDED_ALREADY: Final = "This was decided already"
SOMEONE_ALREADY_DECIDED_THIS_HERE: Final = (
    "Someone already decided this, here or in the chat. The current state is below and is final."
)
THIS_DRAFT_HAS_EXPIRED: Final = "This draft has expired"
IT_WAS_PREPARED_TOO_LONG: Final = (
    "It was prepared too long ago to be sent as it is. Ask your agent to prepare it again."
)
IT_IS_BEING_SENT_RIGHT: Final = "It is being sent right now"
FROM_THIS_MOMENT: Final = (
    "From this moment on it can be neither changed nor taken back. Reload the page in a moment."
)
IT_IS_NOT_KNOWN_WHETHER: Final = "It is not known whether this was sent"
THIS_SERVER_HAS_NO_CONFIRMATION: Final = (
    "This server has no confirmation that it went out. Look at the provider, then answer below."
)
CHECK_THE_FORM: Final = "Check the form"
NOTHING_WAS_CHANGED: Final = "Nothing was changed."
THIS_NEEDS_A_SIGNED: Final = "This needs a signed-in person"
NOTHING_WAS_DECIDED_A_REVIEW: Final = (
    "Nothing was decided. A review link alone is not enough for this: sign in, and you come back here to "
    "press the button again."
)
THIS_FORM_WAS_OUT: Final = "This form was out of date"
IT_WAS_OPENED_TOO_LONG: Final = (
    "It was opened too long ago, in another browser, or about other content. Nothing was decided. The "
    "current state is below: read it, then decide."
)
LOOK_AT_WHERE_IT_GOES: Final = "Look at where it goes"
NOTHING_WAS_DECIDED_AND_NOTHING: Final = "Nothing was decided and nothing was sent. {refused}"
TO_APPROVE_IT_ALL: Final = "To approve it all the same, press “Approve” alone."
IT_CANNOT_BE_SENT_NOW: Final = "It cannot be sent now"
NOTHING_WAS_SENT: Final = "Nothing was sent. {refused}"
THIS_CANNOT_BE_APPROVED: Final = "This cannot be approved as it is"
EXPECTED_THIS_IS: Final = "Expected {expected}; this is {got}."
SOMETHING_HAS_CHANGED_SINCE: Final = "Something has changed since this was shown"
GOES_TO: Final = "Goes to"
YOU_SAY_IT_DID_NOT_HAPPEN: Final = "You say that it did not happen. It may then be {act} again."
IT_IS_NOT_THERE: Final = "It is not there?"
NO_IT_IS_NOT_THERE: Final = "No, it is not there"
APPROVE_AND_ACT: Final = "Approve and {act}"
VERB_THIS: Final = "{verb} this?"
APPROVE_THIS: Final = "Approve this?"
YOU_CONFIRM_EXACTLY_THESE: Final = "You confirm exactly these, as the page before showed them."

# after.py
APPROVED_YOUR_AGENT_SENDS: Final = "Approved. Your agent sends it, or you send it here."
YOUR_APPROVAL_IS_RECORDED_ANOTHER: Final = "Your approval is recorded. Another person must approve it, too."
APPROVED_AND_ON_ITS_WAY: Final = "Approved, and on its way out."
SAVED_READ_IT_ONCE: Final = "Saved. Read it once more: the new version needs its own approval."
HERE_IT_IS_AGAIN_APPROVE: Final = "Here it is again. It needs its own approval."
REJECTED_IT_WILL_NEVER: Final = "Rejected. It will never be sent; your reason is kept."
THE_APPROVAL_IS_WITHDRAWN_NOTHING: Final = (
    "The approval is withdrawn. Nothing goes out until it is approved again."
)
YOUR_AGENT_CAN_READ: Final = "Your agent can read what you asked for. Nothing else has changed."
PUBLISHED_ON_RECORD: Final = "Thank you. Where it was published is on record."
THE_PROVIDER_IS_ASKED: Final = (
    "The provider is asked as soon as that is possible. Reload the page in a moment."
)
ANSWER_ON_RECORD: Final = "Thank you. Your answer is on record."
APPROVED_YOUR_AGENT_RUNS: Final = "Approved. Your agent runs it, or you run it here."
APPROVED_IT_RUNS_NOW: Final = "Approved. It runs now."
REJECTED_NEVER_RUN: Final = "Rejected. It will never be run; your reason is kept."
THE_REVIEW_LINKS: Final = "The review links of this run have ended. A new one works again."
NOT_READY_SENTENCE: Final = "{connector} is not ready."
APPROVED_IT_CANNOT_BE_YET: Final = "Approved. It cannot be {done} yet: {why}"
APPROVED_AND_NOT_YET: Final = "Approved, and not {done} yet."
RUNS_IN: Final = "Approved. It runs in {seconds} seconds."
GOES_OUT_IN: Final = "Approved. It goes out in {seconds} seconds."
