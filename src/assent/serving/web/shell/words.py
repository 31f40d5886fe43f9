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
EMPTY_LINES: Final = "{count} empty lines"
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
THE_OWNER_GIVES_KEYS: Final = (
    "The person who runs this server gives keys to its people. A key never belongs in a chat."
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
GUIDES: Final = "Guides"
QUICKSTART: Final = "Quickstart"
THE_CLOSED_LOOP: Final = "The closed loop"

# guide.html
THIS_PAGE_FOR_AGENTS: Final = "This page as Markdown: {source}"

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
    "You can still read, edit and approve. Approved actions wait until the person who runs the server "
    "allows sending again."
)
WORKFLOWS: Final = "Workflows"
MEMORY: Final = "Memory"
OPERATIONS: Final = "Operations"
CONNECTIONS: Final = "Connections"
SETTINGS: Final = "Settings"

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
    "Replace {placeholder_key} with {your}. The person who runs this server creates keys under Settings."
)

# layout.html
SKIP_TO_THE_CONTENT: Final = "Skip to the content"
SPECIFICATION: Final = "Specification"

# parts.html
MAIL_A_SIGN_IN_LINK: Final = "Mail a sign-in link to {email}"
YOU_RUN_THIS_SERVER_YOURSELF: Final = (
    "You run this server yourself? In a terminal on its computer, run this and open the link it prints:"
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

# problems.py
OPEN_THE_START_PAGE: Final = "Open the start page"
GET_A_NEW_KEY: Final = "Get a new key"
THERE_IS_NO_SUCH_PAGE: Final = "There is no such page"
THE_ADDRESS_MAY_BE_MISTYPED: Final = "The address may be mistyped, or the page has moved."
CHECK_THE_ADDRESS_OR_START: Final = "Check the address, or start over from the start page."
CHECK_THE_ADDRESS_OR_GO: Final = "Check the address, or go on from the inbox."
THAT_CANNOT_BE_DONE_HERE: Final = "That cannot be done here"
THIS_ADDRESS_EXISTS_BUT: Final = "This address exists, but not for this kind of request."
OPEN_THE_PAGE: Final = "Open the page in a browser and use its buttons."
THIS_REQUEST_CAME_FROM_ANOTHER: Final = "This request came from another site"
A_FORM_ON_THIS_SERVER: Final = (
    "A form on this server was sent from a page that is not ours, so nothing was done."
)
IF_YOU_MEANT: Final = "If you meant to do this, open the page here and press the button yourself."
THIS_FORM_IS_OUT: Final = "This form is out of date"
IT_WAS_OPENED_TOO_LONG: Final = (
    "It was opened too long ago, in another browser, or what it is about has changed since. Nothing was done."
)
GO_BACK_RELOAD_THE_PAGE: Final = (
    "Go back, reload the page, look at it again and repeat what you wanted to do."
)
THAT_IS_TOO_MUCH_TEXT: Final = "That is too much text"
THE_FORM_WAS_LARGER_THAN: Final = "The form was larger than this page accepts, so nothing was stored."
GO_BACK_SHORTEN_THE_TEXT: Final = "Go back, shorten the text and send it again."
THAT_IS_NOT_A_FORM: Final = "That is not a form"
THIS_ADDRESS_TAKES: Final = "This address takes what a web form sends (application/x-www-form-urlencoded)."
THE_FORM_COULD: Final = "The form could not be read"
IT_HOLDS_CHARACTERS: Final = "It holds characters that no text has, or is damaged. Nothing was done."
GO_BACK_TYPE_THE_TEXT: Final = "Go back, type the text again and send it."
THIS_LINK_DOES_NOT_WORK: Final = "This link does not work any more"
IT_WAS_USED_ALREADY: Final = (
    "It was used already, has expired, or was never complete. Each link works once, for one day."
)
GET_A_NEW_KEY_YOURSELF: Final = "Get a new key yourself, or ask your agent to request a new link."
THIS_IS_NOT_AVAILABLE_RIGHT: Final = "This is not available right now"
THE_SERVER_IS_RUNNING_BUT: Final = (
    "The server is running, but cannot do this at the moment. Nothing was changed and nothing was lost."
)
TRY_AGAIN_IN_A_MOMENT: Final = (
    "Try again in a moment. If it stays like this, the person who runs this server finds the cause in "
    "its log."
)
THAT_WAS_A_LITTLE_TOO: Final = "That was a little too often"
TOO_MANY_REQUESTS_CAME: Final = "Too many requests came in a short time, so this one was not carried out."
TRY_AGAIN_IN: Final = "Try again in {retry_after_seconds}."
ITS_LOG_HAS_THE_DETAILS: Final = " Its log has the details under {request_id}."
SOMETHING_WENT_WRONG: Final = "Something went wrong on the server"
THIS_IS_OUR_MISTAKE: Final = "This is our mistake, not yours.{known}"
GO_BACK_AND_TRY_ONCE: Final = (
    "Go back and try once more. If it happens again, tell the person who runs this server."
)
GO_BACK_AND_LOOK: Final = "Go back and look at what it says there."

# console.py
YOU_ARE_IN_NO_WORKSPACE: Final = "You are in no workspace yet"
YOU_CAN_SIGN_IN_BUT: Final = "You can sign in, but you are in no workspace yet."
ASK_THE_PERSON_WHO_RUNS: Final = "Ask the person who runs this server to invite you to one."
THIS_IS_FOR_AN_OWNER: Final = "This is for an owner of the server"
MEMBERS_DECIDE_IN_THEIR_WORKSPACES: Final = (
    "Members decide in their workspaces. Only an owner chooses who may sign in and which policy a "
    "workspace has."
)
ASK_AN_OWNER_OR_GO: Final = "Ask an owner, or go back."

# clients.py
RUN_IN_A_TERMINAL: Final = "Run in a terminal."
PUT_INTO_CURSOR_MCP_JSON: Final = "Put into ~/.cursor/mcp.json."
RUN_THE_COMMAND_MCP_OPEN: Final = "Run the command “MCP: Open User Configuration” and put this there."
ANOTHER_CLIENT: Final = "Another client"
ANY_MCP_CLIENT: Final = "Any MCP client that can send a header."
ON_THIS_COMPUTER_STDIO: Final = "On this computer (stdio)"
THE_CLIENT_STARTS_ASSENT_ITSELF: Final = "The client starts Assent itself, on the computer of this server."
