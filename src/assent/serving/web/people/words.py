"""The words of signing in, of keys, of confirming and of the first page."""

from __future__ import annotations

from typing import Final

# claim.html
YOUR_KEY_IS_READY: Final = "Your key is ready"
PRESS_THE_BUTTON_TO_CREATE: Final = "Press the button to create the workspace and see its key."
FOR: Final = "For"
CREATE_THE_WORKSPACE_AND_SHOW: Final = "Create the workspace and show the key"
THE_KEY_IS_SHOWN_ONCE: Final = (
    "The key is shown once, so have the settings of your AI client at hand. The button works once, "
    "within one day, and signs you in here: you decide about what your agent prepares."
)
YOU_DID_NOT_ASK: Final = "You did not ask for this? Close the page and nothing happens."

# claim_waits.html
NOT_YET: Final = "Your key is not ready yet"
CONFIRM_YOUR_ADDRESS: Final = "Confirm your e-mail address"
THE_BUTTON_MAILS_A_LINK: Final = (
    "The button sends one mail to {mailbox}. Open the link in it: the key appears on that page, for the reader of the "
    "mailbox alone."
)
SEND_THE_MAIL: Final = "Send the mail"
LOOK_INTO_YOUR_MAILBOX: Final = "Look into your mailbox"
A_LINK_WAS_MAILED: Final = (
    "A link was sent to {mailbox}. Open it there: the key appears on its page, not on this one. If nothing "
    "arrives, look into the spam folder, or ask the person who runs this server to let you in: your request is in "
    "their inbox."
)
THE_OWNER_DECIDES: Final = "Waiting for the owner of this server"
YOUR_REQUEST_IS_IN_THEIR_INBOX: Final = (
    "Your request is in the inbox of the person who runs this server. Once they let you in, a button here shows "
    "the key."
)
THE_MAIL_WAS_NOT_SENT: Final = (
    "The mail could not be sent. Try again in a while, or ask the person who runs this server to let you in: your "
    "request is in their inbox."
)
THIS_PAGE_LOOKS_AGAIN: Final = (
    "This page looks again every 15 seconds. The request ends within one day; keep the address of this page, and give "
    "it to no one."
)

# confirm.html
YOU_CONFIRM_AS_NOTHING: Final = "You confirm as {name}. Nothing has happened yet."
CONFIRM_WITH_A_PASSKEY: Final = "{button} with a passkey"
GO_BACK: Final = "Go back"
YOUR_BROWSER_SIGNS_EXACTLY: Final = (
    "Your browser signs exactly this, for this server and this port. The signature works once."
)
THIS_PAGE_NEEDS_ITS_SCRIPT: Final = "This page needs its script"
THE_SIGNATURE_IS_MADE: Final = (
    "The signature is made by the one script of this page. Allow scripts for this address, or use a "
    "browser that runs them, and open the page again."
)
IT_WAS_NOT_CONFIRMED: Final = "It was not confirmed"
THE_BROWSER_DID_NOT_SIGN: Final = (
    "The browser did not sign, or you cancelled. Nothing has happened. Try again."
)
OPEN_THIS_SERVER: Final = "Open this server at its own address"
KEYS_BELONG: Final = (
    "Keys belong to {origin}, and you reach this server by another address. Sign in there, and repeat "
    "this there. Nothing has happened."
)
OPEN: Final = "Open {origin}"
THIS_NEEDS_A_PASSKEY: Final = "This needs a passkey"
YOU_HAVE_NONE: Final = "You have none yet. {add}, then repeat this."
THIS_ADDRESS_CAN_HAVE_NONE: Final = (
    "This address can have none: passkeys need https and a host name, or {localhost}."
)
THIS_BROWSER_HAS_NO_KEY: Final = "This browser has no key for this"
HAVE_A_LINK_MAILED: Final = "Have a link mailed to you"
YOU_RUN_THIS_SERVER: Final = (
    "You run this server? In a terminal on its machine, run this and open the link in this browser:"
)
ANOTHER_PERSON_RUNS_IT_ASK: Final = (
    "Another person runs it? Ask them for a new link: they make it at Settings › People."
)
NO_KEY_HERE: Final = (
    "You signed in without one, the data of the browser was cleared, or this is another browser. You can "
    "still read, and approve what needs no key."
)
SIGN_IN_AGAIN: Final = "Sign in here again with a new link: the browser then makes its key."
PASSKEY_OR_SIGN_IN_AGAIN: Final = (
    "Use your passkey, or sign in here again with a new link: the browser then makes its key."
)

# get_key.html
CHECK_THE_FORM: Final = "Check the form"
GET_A_KEY: Final = "Get a key"
A_KEY_CONNECTS_YOUR_AI: Final = (
    "A key connects your AI client to a new workspace of your own. You decide there, in this browser. "
    "The next page shows the key, once, or says what it waits for."
)
YOUR_E_MAIL_ADDRESS: Final = "Your e-mail address"
IT_SAYS_WHOSE_THE_WORKSPACE: Final = "It says whose the workspace is. A link there lets you sign in later."
NAME_OF_THE_WORKSPACE: Final = "Name of the workspace"
FOR_EXAMPLE_YOUR_PRODUCT: Final = "For example your product or company."
YOUR_AGENT_CAN_ASK: Final = (
    "Your agent can ask for a key too. It gets only a link for you; the key itself never enters the chat."
)

# key.html
YOUR_KEY: Final = "Your key"
YOUR_WORKSPACE_IS_READY: Final = "Your workspace is ready"
ONE_TAP_SELECTS_ALL: Final = "One tap selects all of it; then copy."
THIS_IS_THE_ONLY_TIME: Final = "This is the only time you see it"
COPY_IT_BEFORE_YOU_LEAVE: Final = (
    "Copy it before you leave or reload this page. Treat it like a password: it belongs in your client’s "
    "settings or a password manager, never in a chat. If it is lost, get a new one."
)
ADD_IT_TO_YOUR_CLIENT: Final = "Add it to your client"
YOUR_KEY_IS_ALREADY_FILLED: Final = "Your key is already filled in. Take the box of your client:"
WHO_DECIDES: Final = "Who decides"
INBOX_LINK: Final = "inbox"
PROVIDERS_LINK: Final = "providers are connected here"
YOU_DO_THIS_BROWSER: Final = (
    "You do. This browser is signed in as {name}: the {inbox} shows what waits for your yes, and {providers}."
)
YOUR_AGENT_MAY_HAVE_HAD: Final = (
    "Your agent may have had the address of this page too, so high risk, providers and settings need one "
    "more step, once. Any of these shows that you are a person:"
)
ONE_PERSON_DECIDES: Final = (
    "This server asks for two people where the risk is high. You are the only person in this workspace, so it asks for "
    "one signed-in person."
)
THEN_TRY_IT: Final = "Then try it"
RESTART_THE_CLIENT_AND_SAY: Final = "Restart the client and say to your agent:"
SHOW_ME_MY_ASSENT_WORKSPACE: Final = "Show me my Assent workspace."
IT_SHOULD_ANSWER: Final = (
    "It should answer with {name}. From there, tell it what you have built and ask for a launch. Nothing "
    "goes out before you approve it."
)

# sign_in.html
YOU_ARE_ABOUT_TO_SIGN: Final = "You are about to sign in to this server, in this browser, for 30 days."
WHAT_YOU_APPROVE_IS_RECORDED: Final = "What you approve is recorded under this name."
YOU_SIGN_IN_AS: Final = "You sign in as {name}. What you approve is recorded under this name."
WHAT_YOU_DECIDE_HERE: Final = (
    "What you decide here is recorded as yours, so sign in only on a device of your own."
)
THE_BUTTON_MAKES_A_KEY: Final = (
    "The button makes a key in this browser. The key never leaves it and signs what you confirm."
)
THIS_ADDRESS_IS_NEITHER_HTTPS: Final = (
    "This address is neither https nor {localhost}, so the browser cannot make a key. You can read, and "
    "approve what needs no key."
)
WITHOUT_SCRIPTS_THE_BROWSER: Final = (
    "Without scripts the browser can make no key. To approve high risk or change settings, allow scripts "
    "for this address and sign in again."
)
THE_BUTTON_WORKS_ONCE: Final = (
    "The button works once. You did not ask for this? Close the page, and nothing happens."
)

# sign_in_how.html
YOU_ARE_SIGNED_IN: Final = "You are signed in"
CHECK_YOUR_MAIL: Final = "Check your mail"
IF_IS_KNOWN_HERE: Final = (
    "If {email} is known here, a link is on its way to you. It works once, within {minutes} minutes. "
    "Open it in this browser."
)
IN_THIS_BROWSER_YOU_DECIDE: Final = "In this browser you decide as {name}."
CONFIRM_THAT_IT_IS_YOU: Final = "Confirm that it is you"
THIS_BROWSER_WAS_SIGNED: Final = (
    "The page that showed your key signed in this browser, and your agent may know the address of that "
    "page. You can read, and approve what a link may approve. For everything else, show once that you "
    "are a person:"
)
BROWSER_HAS_NO_KEY: Final = "This browser has no key"
IT_WAS_SIGNED_IN_WITHOUT: Final = (
    "You signed in without scripts, or before browsers made keys. You can read, and approve what needs "
    "no key. For everything else, sign in again with a new link: the browser then makes its key."
)
ADDRESS_MAKES_NO_KEY: Final = (
    "This address is neither https nor {localhost}, so a browser cannot make a key here. You can read, "
    "and approve what needs no key."
)
SIGNING_OUT_EVERYWHERE_ALSO_ENDS: Final = (
    "Signing out everywhere also ends sign-in links that were not used yet. Use it when a device is lost."
)
SIGN_OUT_HERE: Final = "Sign out here"
IT_TAKES_A_MINUTE: Final = (
    "It takes a minute and needs no password. Were you invited? Then open the link you were given."
)
WITH: Final = "With {issuer}"
YOU_ARE_ASKED: Final = "You are asked for your account there, and come back here."
SIGN_IN_WITH: Final = "Sign in with {issuer}"
WITH_A_PASSKEY: Final = "With a passkey"
SIGN_IN_WITH_A_PASSKEY: Final = "Sign in with a passkey"
NO_PASSKEY_WAS_USED_TRY: Final = "No passkey was used. Try again, or sign in with a link."
BY_MAIL: Final = "By mail"
THE_ONE_THAT_YOU_GAVE: Final = "The one that you gave for your key, or were invited with."
MAIL_ME_A_LINK: Final = "Mail me a link"
DID_YOU_GET_A_KEY: Final = (
    "Did you get a key here? Use the browser in which you got it, or ask the person who runs this server "
    "to invite you."
)
IF_YOU_RUN_THIS_SERVER: Final = "If you run this server"
OPEN_A_TERMINAL: Final = "Open a terminal on the computer where Assent runs, and run:"
OPEN_THE_LINK_IT_PRINTS: Final = "Open the link it prints in this browser. It works once, for 15 minutes."
PRESS_THE_BUTTON: Final = "Press the button there. This browser stays signed in for 30 days."
WHY_NOT_A_PASSWORD: Final = "Why not a password?"
YOUR_AGENT_CAN_READ: Final = (
    "Your agent can read what you type in a chat and hold every link you hold. It cannot read your "
    "terminal, so a link from there shows that a person decided. High-risk actions need that. An agent "
    "that may run commands as you on that computer could get a link, too; the audit log then shows it."
)
DID_SOMEONE_ONLY_SEND: Final = (
    "Did someone only send you a review link? Then you need not sign in: open the link, read, and decide."
)
OR_SIGN_IN_WITH: Final = "Or {sign_in}."
SIGN_IN_WITH_LINK: Final = "sign in with {issuer}"

# start.html
GET_STARTED: Final = "Get started"
FOUR_STEPS: Final = "Four steps to your first approval."
AS_WHAT_YOU_DECIDE: Final = "As {name}. What you decide in this browser counts as a person’s decision."
NAME_LOGO_AND_COLOUR: Final = "Name, logo and colour"
IT_IS_CALLED: Final = "It is called {name}. {more}"
YOUR_PUBLIC_POSTS_AND_MAILS: Final = "Your public posts and mails carry its name."
CHOOSE_A_NAME: Final = "Choose a name"
A_CLIENT_CONNECTED: Final = "A client connected {connected}. {agent}"
WAITING_FOR_YOUR_CLIENT: Final = "Waiting for your client to connect …"
HOW_TO_ADD_IT: Final = "How to add it"
CREATE_KEY_LINK: Final = "create one"
IF_A_CLIENT_ASKS: Final = (
    "If your client asks for a key, {create}; the snippets there contain it. Here it is {placeholder_key}."
)
DECIDE_ON_YOUR_FIRST_DRAFT: Final = "Decide on your first draft"
SAY_TO_YOUR_AGENT_DRAFT: Final = (
    "Say to your agent: “Draft a post about what we built today, and let me approve it.” Or look at a "
    "sample first:"
)
MAKE_A_SAMPLE_DRAFT: Final = "Make a sample draft"
NAME_YOUR_WORKSPACE: Final = "Name your workspace"
ADD_TO_YOUR_CLIENT: Final = "Add Assent to your client"

# confirming.py
THIS_WAS_NOT_CONFIRMED: Final = "This was not confirmed"
THE_SIGNATURE_DOES_NOT_FIT: Final = (
    "The signature does not fit what was sent, this browser or this address. Nothing was done."
)
RELOAD_AND_TRY_OR_SIGN_IN: Final = (
    "Go back, reload the page and try again. If it happens again, sign in again in this browser."
)
THIS_WAS_CONFIRMED_BEFORE: Final = "This was confirmed before"
EACH_CONFIRMATION_WORKS_ONCE_NOTHING: Final = "Each confirmation works once. Nothing was done a second time."
RELOAD_AND_LOOK: Final = "Go back, reload the page and look at what it says now."

# oidc.py
CANNOT_BE_REACHED: Final = "{name} cannot be reached"
TRY_AGAIN_IN_A_MOMENT: Final = "Try again in a moment, or sign in another way."
SIGNING_IN: Final = "Signing in with {name} is not set up right"
TELL_THE_PERSON_WHO_RUNS: Final = "Tell the person who runs this server; its log has the details."
DID_NOT_CONFIRM_THE_SIGN: Final = "{name} did not confirm the sign-in"
START_AGAIN_OR_TELL: Final = "Start again. If it happens again, tell the person who runs this server."
THIS_SIGN_IN_COMES: Final = "This sign-in comes from elsewhere"
YOU_ARE_NOT_SIGNED: Final = (
    "You are not signed in. Start again here. If it happens again, tell the person who runs this server."
)
SIGN_IN_NOT_VALID: Final = "This sign-in is not valid"
THIS_SIGN_IN_HAS_EXPIRED: Final = "This sign-in has expired"
START_AGAIN_OR_CLOCK: Final = (
    "Start again. If it happens again, the clock of this server or of {name} is wrong."
)
SIGN_IN_WITH_NAME: Final = "Sign in with {name}"
SIGN_IN_NOT_STARTED_HERE: Final = "This sign-in was not started here"
IT_WAS_STARTED_IN_ANOTHER: Final = (
    "It was started in another browser, or more than ten minutes ago. You are not signed in by it."
)
START_AGAIN_IN_THIS_BROWSER: Final = "Start again in this browser."
THIS_SIGN_IN_WAS_USED: Final = "This sign-in was used already"
THE_ANSWER_OF_WORKS_ONCE: Final = "The answer of {name} works once. It did not sign you in again."
START_AGAIN: Final = "Start again if you are not signed in."
YOU_DID_NOT_SIGN_IN: Final = "You did not sign in"
DID_NOT_SIGN_YOU_IN: Final = "{name} did not sign you in"
SAYS_THAT_THE_SIGN: Final = "{name} says that the sign-in was declined."
REPORTS_A_PROBLEM_AND_NAMES: Final = "{name} reports a problem and names no person."
START_AGAIN_OR_SIGN: Final = "Start again, or sign in another way."
YOU_CANNOT_SIGN_IN_HERE: Final = "You cannot sign in here"
KNOWS_YOU: Final = "{name} knows you. {denied}"
ASK_AN_OWNER: Final = "Ask an owner of this server for access, or sign in with another account."

# passkeys.py
NO_PASSKEY_WAS_ADDED: Final = "No passkey was added"
THE_BROWSER_MADE_NONE: Final = (
    "The browser made none, it was made for another address, or it is here already. Nothing was changed."
)
RELOAD_AND_TRY: Final = "Go back, reload the page and try again."
BACK_TO_THE_PASSKEYS: Final = "Back to the passkeys"
WITH_THIS_PASSKEY_YOU_SIGN: Final = (
    "With this passkey you sign in and confirm. Add only one that is yours alone."
)
ADD_THIS_PASSKEY: Final = "Add this passkey?"
ADD_IT: Final = "Add it"
IT_NO_LONGER_WORKS: Final = "It no longer works on this server. Remove it from your device, too."
REMOVE_THIS_PASSKEY: Final = "Remove this passkey?"
REMOVE_IT: Final = "Remove it"

# people.py
HOW_TO_SIGN_IN: Final = "How to sign in"
SIGN_IN_FIRST: Final = "Sign in first"
THIS_PAGE_IS_FOR_PEOPLE: Final = "This page is for people who sign in on this server."
SIGN_IN_AND_YOU_COME: Final = "Sign in, and you come back here."
SIGN_IN: Final = "Sign in"
CONFIRM_FIRST: Final = "Confirm first that this is you"
SIGNED_IN_BY_THE_KEY_PAGE: Final = (
    "The page that showed your key signed in this browser, and your agent may know the address of that "
    "page. That is enough to read, and not enough for this."
)
CONFIRM_YOUR_E_MAIL_ADDRESS: Final = (
    "Confirm your e-mail address, or sign in with a link from the person who runs this server."
)

# screens.py
YOU_ARE_INVITED_TO_DECIDE: Final = "You are invited to decide"
INVITES_YOU_TO_YOU_DECIDE: Final = (
    "{by} invites you to {place}: you decide there about what agents prepare.\n"
    "\n"
    "Open this in your browser and sign in. It works once:\n"
    "\n"
    "{link}\n"
    "\n"
    "It lets its reader decide as you, so do not pass it on. You did not expect it? Then do nothing, and "
    "nothing happens.\n"
)
ENTER_A_NAME: Final = "Enter a name of at most {max_name_chars} characters."
ENTER_ONE_E_MAIL_ADDRESS: Final = "Enter one e-mail address, or leave it empty."
CHOOSE_AT_LEAST_ONE_WORKSPACE: Final = "Choose at least one workspace for a member."
YOU_GET_A_LINK: Final = "You get a link. The person who opens it signs in under this name and can decide."
INVITE_THIS_PERSON: Final = "Invite this person?"
INVITE_THEM: Final = "Invite them"
IT_WAS_SENT_TO: Final = "It was sent to {email}."
TOO_MANY_INVITATIONS: Final = "this address got too many invitations within an hour"
IT_COULD_NOT_BE_MAILED: Final = "It could not be mailed: {failed}. Send it yourself."
THE_PERSON_WHO_OPENS: Final = (
    "The person who opens it signs in under this name and can decide. Earlier links end."
)
MAKE_A_NEW_SIGN: Final = "Make a new sign-in link?"
MAKE_THE_LINK: Final = "Make the link"
THEY_ARE_SIGNED_OUT_EVERYWHERE: Final = (
    "They are signed out everywhere and cannot come back. What they decided stays recorded."
)
REMOVE_THIS_PERSON: Final = "Remove this person?"
REMOVE_THEM: Final = "Remove them"

# sign_in.py
THIS_SIGN_IN_LINK: Final = "This sign-in link does not work"
IT_WAS_USED_ALREADY: Final = (
    "It was used already, has ended, or is not complete. Each link works once, for a short time."
)
MAKE_A_NEW: Final = (
    "Make a new one in a terminal on the computer of the server, or ask the person who invited you for a "
    "new one."
)
THIS_SERVER_SENDS_NO_MAIL: Final = "This server sends no mail"
NO_MAIL_SERVER_IS_SET: Final = "No mail server is set up for its own messages."
NO_MAIL_SIGN_IN: Final = (
    "Sign in with a link from a terminal, or ask the person who runs this server to invite you."
)
THIS_PASSKEY_DOES_NOT_WORK: Final = "This passkey does not work here"
IT_IS_NOT_KNOWN: Final = (
    "It is not known to this server, was removed, or was used at another address. You are not signed in."
)
PASSKEY_SIGN_IN_INSTEAD: Final = "Sign in with a link instead; then add the passkey at Settings › Passkeys."
ENTER_THE_E_MAIL_ADDRESS: Final = "Enter the e-mail address that you gave here, such as ada@example.org."

# signup.py
ENTER_AN_E_MAIL_ADDRESS: Final = "Enter an e-mail address such as ada@example.org."
NAME_TOO_LONG: Final = "Choose a name of at most {max_name_chars} characters."
THE_OWNER_SAID_NO: Final = "The owner of this server declined"
NO_WORKSPACE_WAS_MADE: Final = "No workspace was made, and this page will show no key."
ASK_THE_OWNER_IF_IT_IS: Final = (
    "If that is a mistake, ask the person who runs this server, then ask for a key again."
)

# start.py
ONE_DRAFT_FOR_YOUR_OWN: Final = (
    "One draft for your own site appears in the inbox. Nothing is published unless you approve it."
)
MAKE_A_SAMPLE_DRAFT_QUESTION: Final = "Make a sample draft?"
MAKE_IT: Final = "Make it"
