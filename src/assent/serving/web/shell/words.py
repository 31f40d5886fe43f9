"""The words that all pages share, and those of the public pages."""

from __future__ import annotations

from typing import Final

# Labels of several screens.
ADD: Final = "Add"
ADD_A_PASSKEY: Final = "Add a passkey"
AGENT_KEYS: Final = "Agent keys"
ANY: Final = "Any"
APPROVALS: Final = "Approvals"
APPROVE: Final = "Approve"
AUDIT_LOG: Final = "Audit log"
CANCEL: Final = "Cancel"
CONNECTED: Final = "Connected"
DETAILS: Final = "Details"
DONE: Final = "Done"
EDIT: Final = "Edit"
FROM: Final = "From"
GOES_TO: Final = "Goes to"
HOW_TO_SIGN_IN: Final = "How to sign in"
INBOX: Final = "Inbox"
KIND: Final = "Kind"
MAIN: Final = "Main"
NEXT: Final = "Next"
NOTHING_FOUND: Final = "Nothing found"
NOTHING_FOUND_SO_FAR: Final = "Nothing found so far"
NOT_READY: Final = "not ready"
OPEN_IT_THERE: Final = "Open it there"
OPEN_THE_INBOX: Final = "Open the inbox"
OPTIONAL: Final = "(optional)"
PATH: Final = "Path"
PERIOD: Final = "Period"
PREVIOUS: Final = "Previous"
PRODUCT: Final = "Assent"
READY: Final = "ready"
REJECT: Final = "Reject"
REJECT_ASK: Final = "Reject…"
RESULTS: Final = "Results"
REVIEW_AND_DECIDE: Final = "Review and decide"
RUN: Final = "Run"
RUNS: Final = "Runs"
SAVE: Final = "Save"
SEARCH: Final = "Search"
SEARCH_FURTHER_BACK: Final = "Search further back"
SHOW: Final = "Show"
SHOW_ALL: Final = "Show all"
SIGN_IN: Final = "Sign in"
SIGN_OUT: Final = "Sign out"
SIGN_OUT_EVERYWHERE: Final = "Sign out everywhere"
STATUS: Final = "Status"
STEPS: Final = "Steps"
SUGGESTION: Final = "Suggestion"
TECHNICAL_DETAILS: Final = "Technical details"
THIS_RUN: Final = "This run"
THROUGH: Final = "Through"
TO: Final = "To"
WHY_NOT: Final = "Why not?"
WORKSPACE: Final = "Workspace"
YOUR_NAME: Final = "Your name"

# charts.html
BY_WEEKDAY_AND_HOUR: Final = "{metric} by weekday and hour"
ONE_RUN: Final = "{count} run"
SOME_RUNS: Final = "{count} runs"

# console.html
SHORTCUTS: Final = "Shortcuts"
NEXT_AND_PREVIOUS_ROW: Final = "Next and previous row"
OPEN_IT: Final = "Open it"
SELECT_IT: Final = "Select it"
APPROVE_OPENS_THE_PAGE: Final = "Approve: opens the page that asks once more"
EDIT_IT: Final = "Edit it"
REJECT_OPENS_THE_PAGE: Final = "Reject: opens the page that asks why"
THIS_LIST: Final = "This list"
SETTINGS_LINK: Final = "settings"
YOU_CAN_TURN_THEM_OFF: Final = "You can turn them off in the {settings}."
CLOSE: Final = "Close"

# console_parts.html
RISK: Final = "{severity} risk"
PAGES: Final = "Pages"
PAGE_OF: Final = "Page {number} of {last}"
COPY: Final = "Copy"

# for_agents.html
FOR_DEVELOPERS: Final = "For developers"
HOW_TO_CONNECT_AN_AGENT: Final = "How to connect an agent, and everything that it reads when it connects."
CONNECT: Final = "Connect"
INSTRUCTIONS_TITLE: Final = "Instructions"
TOOLS: Final = "Tools"
WHEN_THE_ANSWER_IS_NO: Final = "When the answer is no"
MCP_OVER_HTTP: Final = "MCP over HTTP"
REST: Final = "REST"
KEY: Final = "Key"
A_PERSON_GETS: Final = (
    "A person gets one at {get}, or an agent requests a link with {tool}. A key never belongs in a chat."
)
FOR_PROGRAMS: Final = "For programs"
TOOL: Final = "Tool"
WHAT_IT_DOES: Final = "What it does"
READS_ONLY: Final = "reads only"
REACHES_THE_WORLD: Final = "reaches the world"
WRITES: Final = "writes"
NO_KEY_NEEDED: Final = "no key needed"
NEEDS_A_KEY: Final = "needs a key"
A_REFUSAL_IS_AN_ANSWER: Final = (
    "A refusal is an answer with {ok}, a {reason} from this list, words for the user and an "
    "instruction for the agent."
)
REASON: Final = "Reason"
WHAT_THE_AGENT_DOES: Final = "What the agent does"
HTTP: Final = "HTTP {status}"
TRY_AGAIN: Final = "try again"
CORRECT_AND_TRY_AGAIN: Final = "correct and try again"
RECOVER_THEN_TRY_AGAIN: Final = "recover, then try again"
RECOVERY_TOOL: Final = "Recovery tool: {recovery_tool}"
STOP: Final = "stop"

# frame.html
WAITING: Final = "waiting"
PAUSE_LIVE_UPDATES: Final = "Pause live updates"
GO_THERE: Final = "Go"
WORK: Final = "Work"
LEARN: Final = "Learn"
SET_UP: Final = "Set up"
YOUR_SETTINGS: Final = "Your settings"
PRODUCT_VERSION: Final = "Assent {version}"
MORE: Final = "More"
NOTHING_IS_SENT_HERE: Final = "Nothing is sent in this workspace now."
NOTHING_IS_SENT_ANYWHERE: Final = "Nothing is sent on this server now."
SENDING_STOPPED: Final = "All sending was stopped."
SENDING_STOPPED_WHY: Final = "All sending was stopped: {why}"
WHILE_STOPPED: Final = (
    "You can still read, edit and approve; approved actions wait. The person who runs the server lets it "
    "go on."
)

# home.html
HOME_TITLE: Final = "Agents do the work. You say yes first"
AGENTS_DO_THE_WORK: Final = "Agents do the work."
YOU_SAY_YES_FIRST: Final = "You say yes first."
YOUR_AI_AGENTS_PREPARE_POSTS: Final = (
    "Your AI agents prepare posts, e-mails and refunds. You see exactly what would go out, and approve, "
    "edit or reject it. What you did not approve cannot be sent: the server enforces it, not the prompt."
)
GET_A_KEY: Final = "Get a key for a separate workspace"
DO_YOU_RUN_THIS_SERVER: Final = (
    "Do you run this server? {sign} with the link that it printed when it started."
)
AN_EXAMPLE: Final = "An example of what you decide about"
HIGH_RISK: Final = "High risk"
EXAMPLE_RISK: Final = "{high_risk} · prepared 3 h ago by Claude"
EXAMPLE_TITLE: Final = "E-mail 214 people: “We opened our books”"
EXAMPLE_SENDER: Final = "Ingrid at Harbor & Pine"
EXAMPLE_RECIPIENTS: Final = "214 people"
EXAMPLE_APPROVALS: Final = "1 of 2 · Tomasz ✓"
EXAMPLE_GREETING: Final = "Dear reader,"
EXAMPLE_TEXT: Final = (
    "in August you told us that you would rather see a number than a certificate. So here is the number …"
)
EXAMPLE_BUTTON: Final = "Approve and send to 214"
AN_EXAMPLE_NOTHING_HERE: Final = "An example. Nothing here is sent."
HOW_IT_WORKS: Final = "How it works"
PREPARE: Final = "Prepare"
YOUR_AGENT_DRAFTS_NOTHING_GOES: Final = "{prepare} Your agent drafts. Nothing goes out."
REVIEW: Final = "Review"
YOU_SEE_IT_AS_READERS: Final = "{review} You see it as readers will, on your phone too."
YOU_DECIDE_AN_EDIT_ASKS: Final = "{approve} You decide. An edit asks again."
SEND: Final = "Send"
ONLY_WHAT_IS_APPROVED_ONCE: Final = "{send} Only what is approved, once, on record."
MEASURE: Final = "Measure"
RESULTS_COME: Final = "{measure} Results come in, and the next draft knows."
CONNECT_A_CLIENT: Final = "Connect a client"
POINT_AN_MCP_CLIENT: Final = "Point an MCP client at this address, with a key:"
YOUR_KEY_LINK: Final = "your key"
REPLACE_WITH_A_KEY_MAKES: Final = (
    "Replace {placeholder_key} with {your}. A key makes a workspace of its own; the person who runs this "
    "server creates keys for theirs under Settings."
)
WHO_MAY_APPROVE: Final = "Who may approve"
SETTINGS_POLICY: Final = "Settings › Policy"
CHANGE_IT_AT_A_KEY: Final = (
    "Change it at {settings}. A key that only prepares cannot approve under any policy."
)
NEW_WORKSPACES_BEGIN: Final = "New workspaces of this server begin with this policy:"

# layout.html
TITLE_END: Final = "· Assent"
SKIP_TO_THE_CONTENT: Final = "Skip to the content"
SPECIFICATION: Final = "Specification"

# parts.html
MAIL_A_SIGN_IN_LINK: Final = "Mail a sign-in link to {email}"
YOU_RUN_THIS_SERVER_YOURSELF: Final = (
    "You run this server yourself? In a terminal on its machine, run this and open the link it prints:"
)
ANOTHER_PERSON_RUNS_IT_ASK: Final = (
    "Another person runs it? Ask them to invite you, under Settings, People. Open the link that they "
    "give you."
)

# problem_parts.html
WHAT_YOU_TYPED: Final = "What you typed"
IT_WAS_NOT_SAVED_COPY: Final = "It was not saved. Copy it from here."

# views_parts.html
COPY_WHAT: Final = "Copy: {label}"
OUTPUT: Final = "Output {kind}"
OLDER: Final = "Older"
NEWEST: Final = "Newest"
FINDINGS: Final = "Findings"
COMMENTS_TO_PASTE: Final = "Comments to paste"
WHAT_CHANGED: Final = "What changed"
A_COMMENT: Final = "comment"
