"""The words that all pages share, and those of the public pages."""

from __future__ import annotations

from typing import Final

# Labels of several screens.
AUDIT_LOG: Final = "Audit log"
EMPTY_LINES: Final = "{count} empty lines"
INBOX: Final = "Inbox"
OPEN_THE_INBOX: Final = "Open the inbox"
RESULTS: Final = "Results"
RUNS: Final = "Runs"


# console_parts.html
RISK: Final = "{severity} risk"


# frame.html
WORK: Final = "Work"
LEARN: Final = "Learn"
SET_UP: Final = "Set up"
PRODUCT_VERSION: Final = "Assent {version}"
WORKFLOWS: Final = "Workflows"
MEMORY: Final = "Memory"
OPERATIONS: Final = "Operations"
CONNECTIONS: Final = "Connections"
SETTINGS: Final = "Settings"


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
