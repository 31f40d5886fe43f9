"""The words of the settings."""

from __future__ import annotations

from typing import Final

# settings.html
YOUR_NAME_COMES_FROM: Final = {
    "file": "Your decisions are recorded as {name}. An owner of this server keeps the list of names; ask them to "
    "change it there.",
    "issuer": "Your decisions are recorded as {name}. The name comes from your identity provider; change it there.",
}


# settings_policy.html
AN_OWNER_OF_THE_SERVER: Final = "An owner of the server can change this."


# brand.py
THIS_PICTURE_IS_TOO_LARGE: Final = "This picture is too large"
A_LOGO_HAS_AT_MOST: Final = "A logo has at most {max_image_bytes} KB. Nothing was changed."
SAVE_IT_SMALLER_AND_CHOOSE: Final = "Save it smaller, and choose that file."
BACK_TO_THE_WORKSPACE: Final = "Back to the workspace"
SAVED_PAGES_MAILS_AND_PUBLIC: Final = "Saved. Pages, mails and public posts show it from now on."
ENTER_A_NAME: Final = "Enter a name of at most {max_name_chars} characters."
CHOOSE_A_COLOUR: Final = "Choose a colour."
THIS_LOGO_IS_NOT_HERE: Final = "This logo is not here any more. Upload it again."
A_NEW_ONE: Final = "a new one"
AS_IT_IS: Final = "as it is"
THE_USUAL_ONE: Final = "the usual one"
EVERYONE_SEES_THIS_ON_PUBLIC: Final = "Everyone sees this on public posts, and people see the name in mails."
CHANGE_HOW_THE_WORKSPACE_LOOKS: Final = "Change how the workspace looks?"
CHANGE_IT: Final = "Change it"

# notify.py
SOMETHING_WAITS_FOR_A_DECISION: Final = "Something waits for a decision"
IT_WAS_DECIDED_BY_WHOM: Final = "It was decided, by whom and when"
IT_WAS_NOT_SENT: Final = "It was not sent, or its outcome is unknown"
IT_STILL_WAITS_A_REMINDER: Final = "It still waits: a reminder, and one before it expires"
WHAT_WAITS_IS_ANNOUNCED: Final = "Notifications go there, with a link that asks for sign-in."
SEND_NOTIFICATIONS_THERE: Final = "Send notifications there?"
ADD_IT: Final = "Add it"
NOT_AVAILABLE_ANY_MORE: Final = "Not available any more"
WHERE_YOU_ARE_NOTIFIED: Final = "Where you are notified"
THIS_WORKSPACE: Final = "This workspace"
CHOOSE_HOW_YOU_WANT: Final = "Choose how to be notified."
THERE_ARE_ALREADY: Final = "You already have {known}, which is the limit. Remove one first."
ONLY_CONFIRMED_ADDRESSES: Final = (
    "This server mails notes of this workspace only to its members, at the address with which they signed in. Enter "
    "yours."
)
ENTER_THE_WHOLE_ADDRESS: Final = "Enter the whole address."
NOTHING_IS_ANNOUNCED: Final = "No notification goes there any more."
STOP_THESE_NOTIFICATIONS: Final = "Stop these notifications?"
STOP_THEM: Final = "Stop them"
ONLY_CHOSEN_NOTIFICATIONS: Final = "From then on only what you chose is sent there."
CHANGE_THESE_NOTIFICATIONS: Final = "Change these notifications?"
CHANGE_THEM: Final = "Change them"

# outgoing.py
A_PERSON_HAS_TO_DECIDE: Final = "It waits for a decision, also again after an edit"
ENOUGH_PEOPLE_SAID_YES: Final = "Enough people said yes"
SOMEONE_SAID_NO_AND_WHY: Final = "Someone said no, and why"
IT_WAS_DONE: Final = "It was done, with its receipt"
IT_WAS_NOT_DONE: Final = "It was not done, and why"
IT_MAY_HAVE_BEEN_DONE: Final = "It may have been done; a person must look"
THE_SAME_DELIVERY_IS_POSTED: Final = "The same delivery is posted to the same address once more."
SEND_IT_AGAIN_QUESTION: Final = "Send it again?"
SEND_IT_AGAIN: Final = "Send it again"
FROM_THEN_ON_THE_EVENTS: Final = (
    "From then on the events that you chose are posted there: what each action is and who decided."
)
SEND_EVENTS_THERE: Final = "Send events there?"
SEND_THEM: Final = "Send them"
NO_EVENT_IS_POSTED: Final = (
    "No event is posted there any more, also none that waits. The log is kept for 30 days."
)
STOP_THESE_EVENTS: Final = "Stop these events?"
ONLY_CHOSEN_EVENTS: Final = "From then on only the events that you chose are posted there."
CHANGE_THESE_EVENTS: Final = "Change these events?"

# phone.py
SHOW_A_CODE_THAT_SIGNS: Final = "Show a code that signs in your phone?"
THE_FIRST_PERSON_WHO_SCANS: Final = (
    "The first person who scans it within {minutes} minutes decides as you. Scan it yourself, and let no "
    "one look."
)
SHOW_THE_CODE: Final = "Show the code"

# policy.py
THE_JOURNAL: Final = "The audit log and all decisions"
KEPT_WITHOUT_A_LIMIT: Final = "without a limit"
DRAFTS_WITHOUT_A_DECISION: Final = "Drafts without a decision can be approved"
REVIEW_LINKS: Final = "Review links"
LINK_DAYS: Final = "{review_ttl_seconds} days unless the settings of the server say otherwise"
ANSWERS_KEPT_FOR_THE_SAME: Final = "Answers kept for the same idempotency key"
FINISHED_JOBS: Final = "Finished jobs"
UNUSED_WORKFLOW_SESSIONS: Final = "Unused workflow sessions"
SESSION_DAYS: Final = "{workflow_retention_days} days unless the settings of the server say otherwise"
A_SIGNED_IN_BROWSER: Final = "A signed-in browser"
OWN_RULES_ONLY: Final = "Own rules only"
HIGH_RISK_NEEDS_A_SIGNED: Final = (
    "High risk needs a signed-in person. Where no rule matches, the strictest approval of any rule applies."
)
SAVED_IT_HOLDS_FROM_NOW: Final = (
    "Saved. It applies from now on, also to approved actions that are not sent yet."
)
CHOOSE_ONE_OF_THE_POLICIES: Final = "Choose one of the policies."
CHANGE_THE_POLICY_QUESTION: Final = "Change the policy?"
CHANGE_THE_POLICY: Final = "Change the policy"
THE_RULES_CANNOT_BE_READ: Final = "The rules cannot be read: {error}."
THIS_MUST: Final = "{path}: this must be {expected}, and it is {got}."

# policy_matrix.py
AS_THE_POLICY_SAYS: Final = "As the policy says"
A_SIGNED_IN_PERSON: Final = "A signed-in person"
A_PERSON_WITH_A_PASSKEY: Final = "A person with a passkey"
NO_ONE_IT_IS_DENIED: Final = "No one (denied)"
ANYONE_WHO_MAY_DECIDE: Final = "Anyone who may decide"
OWNERS_ONLY: Final = "Owners only"
THE_POLICY_OF_THIS_WORKSPACE: Final = "The policy of this workspace allows none of it."

# screens.py
SAVED_FOR_THIS_BROWSER: Final = "Saved for this browser."
YOUR_DECISIONS_ARE_SIGNED: Final = "Your decisions are signed with this name from now on."
TIMES_ARE_SHOWN: Final = "Times are shown in this zone from now on."
THAT_BROWSER_IS_SIGNED_OUT: Final = "That browser is signed out."
NAME_FROM_THEN_ON: Final = "Your decisions are recorded under this name from then on."
CHANGE_YOUR_NAME: Final = "Change your name?"

# workspace.py
PREPARE_DRAFTS: Final = "prepare drafts"
PASS_ON_YOUR_YES: Final = "pass on your yes"
SEND_WHAT_IS_APPROVED: Final = "send what is approved"
MAY_CHANGE_THE_POLICY: Final = "change the policy"
CALLS_WITH_THIS_KEY: Final = "Calls with this key are refused from then on."
REVOKE_THIS_KEY: Final = "Revoke this key?"
REVOKE_IT: Final = "Revoke it"
THE_KEY_IS_SHOWN_ONCE: Final = "The key is shown once. An agent that has it works in this workspace."
IT_MAY: Final = "It may"
CREATE_A_KEY: Final = "Create a key?"
CREATE_THE_KEY: Final = "Create the key"
