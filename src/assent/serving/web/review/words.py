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

ONLY_LOOKING: Final = "This link shows, but cannot decide"
LINKS_HINT: Final = (
    "Anyone with a review link of this run can read it and decide what the policy allows by link. Your "
    "agent holds one. Ending them locks out everyone who is not signed in."
)
BY_LINK: Final = "You see this page because you hold its review link. It shows this run and nothing else."
SENDS_NOTHING: Final = "This run sends nothing"
SENDS_NOTHING_HINT: Final = "It only produced what is below, so there is nothing to decide."
NO_APPROVAL_NO_SENDING: Final = "Nothing goes out without an approval."
GONE: Final = "It cannot be executed any more"
NOT_YET: Final = "It cannot be approved yet"
CHANGED_SINCE: Final = "This has changed since it was approved or shown"
CHANGED_SINCE_HINT: Final = "The content is the same. Nothing goes out until it is approved again."
ASKED_FOR: Final = "Requested changes"
OTHERS_TOO: Final = (
    "You have approved it. Another person must approve it, too. Until then you can withdraw your approval."
)
ASK_THE_AGENT: Final = "Ask your agent to prepare a new draft."
NAME_HINT: Final = "It is recorded with your decision, as the name you gave."
EDIT_HINT: Final = "The saved version needs its own approval."
ASK_HINT: Final = (
    "Your agent reads this and can prepare a new version. This neither approves nor rejects the draft."
)
GOES_ON: Final = "Your agent continues when it next checks. Until then you can withdraw the approval."
BY_HAND_HINT: Final = "Then the page shows what to paste where, and asks for the address."
YES_THERE: Final = "Yes, it is there."
NOT_THERE: Final = "No, it is not there."
CANNOT_SAY: Final = "I cannot say yet."
CANNOT_SAY_HINT: Final = "It stays as it is; nothing is sent."
TAKEN_BACK: Final = "Saving takes the approval back."
HTML_DROPPED: Final = "The HTML part was made from this text. It is dropped when you change the text."
NO_DIFFERENCE: Final = "Nothing is different yet."
EDIT_NAME_HINT: Final = "It is recorded with the change, as the name you gave."


class Verb(Record):
    """What an approval leads to: sending a text, or running a function."""

    now: str
    does: str
    past: str


APPROVE_AND_SEND: Final = "Approve and send"
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
REVIEW_PAGE: Final = "Review page"
WHAT_IT_SAYS: Final = "What it says"
SUBJECT: Final = "Subject"
TITLE: Final = "Title"
THROUGH: Final = "{goes_to} through {connector}"
RISK: Final = "Risk"
APPROVAL_NEEDS: Final = "{why} Approval needs {needs}."
COSTS: Final = "Costs"
CAN_BE_SEEN_AT: Final = "Can be seen at"
CONTINUED_AS: Final = "Continued as"
PROVIDERS_ID: Final = "Provider’s id"
IDEMPOTENCY_KEY: Final = "Idempotency key"
CONTENT: Final = "Content"
REVISION: Final = "Revision {revision}, {digest}"
ACTION: Final = "Action"
HISTORY: Final = "History"

# review.html
UNDO: Final = "Undo"
CONFIRM_AS_YOURSELF: Final = "Confirm as yourself"
TRY_AGAIN: Final = "Try again"
RUN_NOW: Final = "Run now"
DRAFTS_DECIDED: Final = "Drafts decided"
OF_DECIDED: Final = "{decided} of {total} decided"
SIGN_IN: Final = "sign in"
IT_WAS_MADE: Final = (
    "It was made for an agent that may not decide. To decide, {sign} in this browser; you then come back "
    "here."
)
IN_THIS_RUN: Final = "In this run"
THIS_PAGE_REFRESHES: Final = "This page refreshes in a moment."
REFRESH: Final = "Refresh"
PROVIDERS_ID_IS: Final = "Provider’s id: {external_id}"
ASK_NOW: Final = "Ask {connector} now"
SEE_THE_NEW_DRAFT: Final = "see the new draft"
IT_WAS_PREPARED_AGAIN: Final = "It was prepared again: {see}."
RECONNECT: Final = "Reconnect {connector}"
CHECK_THE_CONNECTION: Final = "Check the connection"
EXPIRED_AGO: Final = "Expired {expires}"
IT_CANNOT_BE_APPROVED: Final = (
    "It cannot be approved or {sent} any more. Ask your agent: “Prepare that again.”"
)
NOT_SENT_YET: Final = "Not {sent} yet"
THE_LAST_TRY_ENDED_WITH: Final = "The last try ended with: {last_attempt}"
OF: Final = "{approvers} of {needed}"
PLANNED_FOR: Final = "Planned for"
EXPIRES: Final = "Expires"
THE_APPROVAL_ALSO: Final = "The approval also {sends} it, at once."
IT_IS_PLANNED_FOR: Final = "It is planned for {schedule}."
WARNING: Final = "Warning"
WARNINGS: Final = "Warnings"
IS_NOT_READY: Final = "{connector} is not ready"
IT_CAN_BE_APPROVED: Final = "You can approve now; it is {sent} once the connection is ready."
CONNECT: Final = "Connect {connector}"
ABOUT_REVISION: Final = "({by}, about revision {revision})"
WHAT_CHANGED: Final = "What changed {since}"
WHAT_YOUR_MEMORY_ADDED: Final = "What your memory added ({memory})"
NOT_CONFIRMED: Final = "Not confirmed"
RECOMMENDED: Final = "Recommended"
APPROVED_BY: Final = "Approved by {by}"
PEOPLE_APPROVED_IT: Final = "{people} people approved it."
WHO_MAY_APPROVE: Final = "Who may approve"
EXPIRED: Final = "Expired"
BEFORE_IT_GOES_OUT: Final = "Before it goes out"
ACTION_PAGE: Final = "Open action page"
DECIDE: Final = "Decide: {title}"
MORE: Final = "More"
PICTURES: Final = "Pictures"
ALSO_MADE_IN_THIS_RUN: Final = "Also made in this run"
WHAT_IT_MADE: Final = "What it made"
LINKS_TO_THIS_PAGE: Final = "Links to this page"
END_THE_REVIEW_LINKS: Final = "End the review links"
OF_HIGH_RISK: Final = "{count} of high risk"
PREPARED: Final = "{operator}, prepared {ago}."
APPROVE_LOW_RISK: Final = "Approve the {count} of low risk…"
APPROVE_THE_REST: Final = "Approve the rest…"
LOST: Final = "We lost the connection to {connector} {at}."
LOST_WHY: Final = "We lost the connection to {connector} {at}: {detail}."
NEVER_ON_A_GUESS: Final = "It is not {sent} again before you say whether it arrived."
REJECTED_DRAFT: Final = "Rejected"
REJECTED_FOR_GOOD: Final = "Rejected; it will never be {sent}"
TRY_AGAIN_HINT: Final = (
    "Nothing was {sent}. “Try again” makes the same draft once more; you approve it before it is {sent}."
)
FROM_SOURCE: Final = "from {source}"
UNKNOWN_WHETHER_SENT: Final = "We do not know whether this went out"
UNKNOWN_WHETHER_DONE: Final = "We do not know whether this was done"

# review_blocks.html
EMPTY: Final = "empty"
TABLE: Final = "Table"

# review_content.html
ITS_NAME_MAY_LOOK_LIKE: Final = "its name may look like another"
ITS_DOMAIN_CANNOT_BE_READ: Final = "its domain cannot be read"
NO_ONE_YET: Final = "No one yet"
FIND_A_RECIPIENT: Final = "Find a recipient"
FIND: Final = "Find"
ALL_OF_THEM: Final = "All of them:"
RECIPIENTS: Final = "Recipients"
AS_READERS_SEE_IT: Final = "As readers see it"
WHAT_IT_DOES: Final = "What it does"
TEXT: Final = "Text"
LINKS: Final = "Links ({count})"
PREVIEW: Final = "Preview"
ODD: Final = "suspicious"
THE_HTML_PART_OF: Final = "The HTML part of {title}"
AS_MOST_MAIL_PROGRAMS_SHOW: Final = (
    "As most mail programs show it. Pictures from elsewhere are not loaded, and its links do nothing here."
)
IT_HAS_A_STYLE_SHEET: Final = (
    "It has a style sheet, which is left out here: mail programs may show other colours and sizes, or "
    "hide parts. All of it is in its source, under Text."
)
LINKS_AND_PICTURES: Final = "Links and pictures of its HTML"
TEXT_FOR_PROGRAMS_THAT_SHOW: Final = "Text, for programs that show no HTML"
THE_HTML_PART_AS_TEXT: Final = "The HTML part, as text"
ITS_SOURCE: Final = "Its source"
SIZE_REVISION_REVISION: Final = "{size} · revision {revision}"
PEOPLE_AT_DOMAIN: Final = "{people} people at {domains} domain:"
PEOPLE_AT_DOMAINS: Final = "{people} people at {domains} domains:"
FOUND_IN_ADDRESSES: Final = "{found} of {people} have “{find}” in their address."
NO_SUBJECT: Final = "none"

# review_edit.html
EDIT: Final = "Edit: {title_of}"
BACK_TO_THE_REVIEW: Final = "Back to the review"
WHAT_WOULD_CHANGE: Final = "What would change"
AT_MOST: Final = "At most {most}"
ASK_FOR_THIS_IN_LATER: Final = "Ask for this in later drafts, too"
IN_YOUR_WORDS_SUCH: Final = "In your words, such as “Never use exclamation marks”."
SEE_WHAT_CHANGES: Final = "See what changes"
SAVE_THE_CHANGES: Final = "Save the changes"
SAVE_AND_APPROVE: Final = "Save and approve…"

# review_parts.html
NO_HOST: Final = "no host"
YOU_DECIDE_AS: Final = "You decide as {name}."
SIGN_IN_TO_APPROVE_THIS: Final = "Sign in to approve this"
THIS_WORKSPACE_ASKS: Final = (
    "At this risk, this workspace needs {needs} to approve. The review link alone is not enough."
)
SIGN_IN_OR_CONFIRM: Final = "Sign in, or confirm that it is you"
SIGN_IN_AND_COME_BACK: Final = "{sign}. You then come back here."
PRESS_THE_BUTTON: Final = "Press the button below."
CONFIRM_IT_AS_YOURSELF: Final = "{by}: {how} Confirm it as yourself, and the record says that you did."
ITS_TIME_WAS_APPROVED_NOW: Final = "Its time was {schedule}; approved now, it goes out at once."
APPROVE_AND_AT_ONCE: Final = "Approve and {send} at once"
APPROVE_AND_NOW: Final = "Approve and {send} now"
APPROVE_FOR: Final = "Approve for {schedule}"
APPROVE_ONLY: Final = "Approve only"
CANNOT_APPROVE_AND_SEND: Final = (
    "It cannot be approved yet: {connector} is not ready, and the approval would {send} it at once."
)
TO_IT_AT_ANOTHER_TIME: Final = "To {send} it at another time, ask your agent to change the time first."
IT_IS_AUTOMATICALLY: Final = "It is {sent} automatically at that time, and can be withdrawn until then."
STAYS_APPROVED: Final = "Nothing is {sent} now. It stays approved, and can be withdrawn."
UNTIL_THEN: Final = "Until then it can be withdrawn."
IT_CANNOT_BE_YET_BECAUSE: Final = (
    "{connector} is not ready. You can approve now; it is {sent} once {connector} is ready."
)
CONNECTOR_IS_NOT_READY: Final = "{connector} is not ready, so sending fails now."
OF_CHARACTERS: Final = "{each} of {limit} characters"
WHERE_CAN_IT_BE_SEEN: Final = "Where can it be seen?"
IT_IS_PUBLISHED: Final = "It is published"
IT_IS_DONE: Final = "It is done"
ONE_ADDRESS_ON_EACH_LINE: Final = "One address on each line."
EDIT_ON_A_PAGE: Final = "Edit on its own page"
WITH_A_LIVE_CHARACTER_COUNT: Final = "{edit}, with a character count and the changes."
IT_WILL_NEVER: Final = "It will never be {sent}. A new draft can be prepared."
YOUR_AGENT_READS: Final = "Your agent reads this and does better next time."
REJECT_FOR_GOOD: Final = "Reject for good"
WORDS_UNCHANGED: Final = "{split} words unchanged"
WHAT_SHOULD_BE_DIFFERENT: Final = "What should be different?"
ASK_FOR_CHANGES: Final = "Ask for changes"
IT_GOES_BACK_TO_WAITING: Final = "It goes back to waiting for approval. This works until it is being {sent}."
WHY: Final = "Why?"
WITHDRAW_THE_APPROVAL: Final = "Withdraw the approval"
WAS_IT_DONE_AT: Final = "Was it done at {connector}?"
LOOK_IN_THE_SENT_MAIL: Final = "Look in the sent mail of {connector}, or ask one of the people it went to."
LOOK_AT_FOR_IT: Final = "Look at {connector} for it."
WHAT_DID_YOU_SEE: Final = "What did you see?"
THE_ADDRESS: Final = "Its address if it is there; else where you looked, and when."
RECORD_THIS_ANSWER: Final = "Record this answer"
SEND_NOW: Final = "Send now"
PUBLISH: Final = "Publish"
WITHDRAW: Final = "Withdraw"
LEADS_TO: Final = "“{says}” leads to"
MORE_LINKS: Final = "And {more} more, to"
ODD_LINKS: Final = "{odd} suspicious"
APPROVE_AND_SEND_TO: Final = "Approve and send to {people}"
EXACTLY_THIS: Final = "{size}, exactly as shown above ({digest})."
EXACTLY_THIS_HTML: Final = "{size} and an HTML part, exactly as shown above ({digest})."
IT_COSTS: Final = "It costs {cost}."
READ_THE_WARNING: Final = "There is a warning above. Approve only if you have read it."
READ_THE_WARNINGS: Final = "There are {count} warnings above. Approve only if you have read them."
SENDS_AT_ONCE: Final = "The approval {sends} it at once. It cannot be withdrawn."
APPROVE_ONLY_HINT: Final = "“Approve only”: your agent {sends} it later."
YOUR_AGENT_SENDS: Final = "Your agent {sends} it later."
PASTE_AT: Final = "Paste this at {where}. One tap selects a whole box."
COUNTS_AS_PUBLISHED: Final = "It counts as published once you say so."
COUNTS_AS_DONE: Final = "It counts as done once you say so."
IS_IT_IN_SENT_MAIL: Final = "Is it in the sent mail?"
IS_IT_ON: Final = "Is it on {channel}?"
LOOK_HERE: Final = "Look here: {where}"
MAY_REPEAT: Final = "It may then be {sent} again."
MAY_REPEAT_SIGNED_IN: Final = "It may then be {sent} again, so this answer needs a signed-in person."

# review_pictures.html
THE_ATTACHED_PICTURE: Final = "The attached picture"
THE_ATTACHED_PICTURES: Final = "The attached pictures"
PIXELS: Final = "{width} × {height} pixels"
READ_ALOUD_AS: Final = "Read aloud as: “{alt}”"
THE_PICTURE: Final = "The picture"
NO_PICTURE: Final = "No picture"

# review_preview.html
ON: Final = "on {channel}"
A_THREAD_OF_POSTS_ON: Final = "A thread of {parts} posts on {channel}"
INDEX_OF_PARTS_SIZE: Final = "{index} of {parts} · {size}"
READERS_SEE_THE_TEXT_ABOVE: Final = "readers see the text above the line first"
IT_TAKES_NO_ARGUMENTS: Final = "It takes no arguments."
THE_TEXT_BEHIND_IT: Final = "The text behind it"

# problems.py
AN_ARGUMENT: Final = "“{label}” (an argument of the agent)"
MAY_LOOK_LIKE: Final = "“{label}” (its name may look like another: {letters})"
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
