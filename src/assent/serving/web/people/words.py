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
    "It signed in without one, its data was cleared, or this is another browser. You can still read, and "
    "decide where the policy asks for less."
)
SIGN_IN_AGAIN: Final = "Sign in again here by a new link: the browser makes its key then."
PASSKEY_OR_SIGN_IN_AGAIN: Final = (
    "Use your passkey, or sign in again here by a new link: the browser makes its key then."
)

# get_key.html
PLEASE_CHECK_THE_FORM: Final = "Please check the form"
GET_A_KEY: Final = "Get a key"
A_KEY_CONNECTS_YOUR_AI: Final = (
    "A key connects your AI client to a new workspace of your own. You decide there, in this browser. "
    "The next page shows the key, once."
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
WHAT_YOU_DECIDE_HERE: Final = (
    "What you decide here is recorded as yours, so sign in only on a device of your own."
)
THE_BUTTON_MAKES_A_KEY: Final = (
    "The button makes a key in this browser, which never leaves it and signs what you confirm."
)
THIS_ADDRESS_IS_NEITHER_HTTPS: Final = (
    "This address is neither https nor {localhost}, so the browser can make no key: you can read, and "
    "decide where the policy asks for no more."
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
LOOK_INTO_YOUR_MAIL: Final = "Look into your mail"
IF_IS_KNOWN_HERE: Final = (
    "If {email} is known here, a link is on its way there. It works once, within {minutes} minutes. Open "
    "it in this browser."
)
IN_THIS_BROWSER_YOU_DECIDE: Final = "In this browser you decide as {name}."
CONFIRM_THAT_IT_IS_YOU: Final = "Confirm that it is you"
THIS_BROWSER_WAS_SIGNED: Final = (
    "This browser was signed in by the page that showed your key, and your agent may know its address. "
    "So it may read, and decide where the policy asks for no more. For the rest, show once that you are "
    "a person:"
)
BROWSER_HAS_NO_KEY: Final = "This browser has no key"
IT_WAS_SIGNED_IN_WITHOUT: Final = (
    "It was signed in without scripts, or before keys were made. It may read, and decide where the "
    "policy asks for no more. For the rest, sign in again by a new link: the browser makes its key then."
)
ADDRESS_MAKES_NO_KEY: Final = (
    "This address is neither https nor {localhost}, so a browser can make no key here. It may read, and "
    "decide where the policy asks for no more."
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
NO_PASSKEY_WAS_USED_TRY: Final = "No passkey was used. Try again, or sign in by a link."
BY_MAIL: Final = "By mail"
THE_ONE_THAT_YOU_GAVE: Final = "The one that you gave for your key, or were invited with."
MAIL_ME_A_LINK: Final = "Mail me a link"
DID_YOU_TAKE_A_KEY: Final = (
    "Did you take a key here? Use the browser in which you took it, or ask the person who runs this "
    "server to invite you."
)
IF_YOU_RUN_THIS_SERVER: Final = "If you run this server"
OPEN_A_TERMINAL: Final = "Open a terminal on the machine where Assent runs, and run:"
OPEN_THE_LINK_IT_PRINTS: Final = "Open the link it prints in this browser. It works once, for 15 minutes."
PRESS_THE_BUTTON: Final = "Press the button there. This browser stays signed in for 30 days."
WHY_NOT_A_PASSWORD: Final = "Why not a password?"
YOUR_AGENT_CAN_READ: Final = (
    "Your agent can read what you type in a chat and hold every link you hold. It cannot read your "
    "terminal, so a link from there shows that a person decided. High-risk actions need that. An agent "
    "that may run commands as you on that machine could fetch a link, too; the audit trail then shows "
    "it."
)
DID_SOMEONE_ONLY_SEND: Final = (
    "Did someone only send you a review link? Then you need not sign in: open the link, read, and decide."
)
OR_SIGN_IN_WITH: Final = "Or {sign_in}."
SIGN_IN_WITH_LINK: Final = "sign in with {issuer}"

# start.html
GET_STARTED: Final = "Get started"
FOUR_STEPS_TO_A_DRAFT: Final = "Four steps to a draft that waits for your yes."
AS_WHAT_YOU_DECIDE: Final = "As {name}. What you decide in this browser counts as a person’s decision."
NAME_LOGO_AND_COLOUR: Final = "Name, logo and colour"
IT_IS_CALLED: Final = "It is called {name}. {more}"
YOUR_PUBLIC_POSTS_AND_MAILS: Final = "Your public posts and mails carry its name."
CHOOSE_A_NAME: Final = "Choose a name"
A_CLIENT_CALLED: Final = "A client called {connected}. {agent}"
WAITING_FOR_THE_FIRST_CALL: Final = "Waiting for the first call of your client …"
HOW_TO_ADD_IT: Final = "How to add it"
CREATE_KEY_LINK: Final = "create one"
WHERE_A_CLIENT_WANTS: Final = (
    "Where a client wants a key, {create}: it is filled in there. Here it is {placeholder_key}."
)
DECIDE_ABOUT_A_FIRST_DRAFT: Final = "Decide about a first draft"
SAY_TO_YOUR_AGENT_DRAFT: Final = (
    "Say to your agent: “Draft a post about what we built today, and let me approve it.” Or look at a "
    "sample first:"
)
MAKE_A_SAMPLE_DRAFT: Final = "Make a sample draft"
NAME_YOUR_WORKSPACE: Final = "Name your workspace"
ADD_TO_YOUR_CLIENT: Final = "Add Assent to your client"
