"""The words of signing in, of keys, of confirming and of the first page."""

from __future__ import annotations

from typing import Final

# claim.html
CREATE_THE_WORKSPACE_AND_SHOW: Final = "Create the workspace and show the key"
YOU_DID_NOT_ASK: Final = "You did not ask for this? Close the page and nothing happens."


# sign_in_how.html
CONFIRM_THAT_IT_IS_YOU: Final = "Confirm that it is you"


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
