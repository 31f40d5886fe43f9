"""The words of the settings."""

from __future__ import annotations

from typing import Final

# settings.html
SETTINGS: Final = "Settings"
YOU: Final = "You"
YOUR_DECISIONS_ARE_RECORDED_UNDER: Final = "Your decisions are recorded under this name."
YOUR_NAME_COMES_FROM: Final = {
    "file": "Your decisions are recorded as {name}. An owner of this server keeps the list of names; ask them to "
    "change it there.",
    "issuer": "Your decisions are recorded as {name}. The name comes from your identity provider; change it there.",
}
SAVE_THE_NAME: Final = "Save the name"
TIME_ZONE: Final = "Time zone"
SHOW_TIMES_IN: Final = "Show times in"
IT_IS_THERE_PEOPLE: Final = "It is {clock} there. People who open a review link read UTC."
UTC: Final = "UTC"
SAVE_THE_TIME_ZONE: Final = "Save the time zone"
WHERE_YOU_ARE_SIGNED_IN: Final = "Where you are signed in"
A_BROWSER: Final = "A browser"
THIS_ONE: Final = "This one"
SINCE: Final = "since {since}"
WHEN_A_DEVICE_IS_LOST: Final = (
    "When a device is lost: this ends every session of yours, this one included, and unused links."
)
THIS_BROWSER: Final = "This browser"
COLOURS: Final = "Colours"
MATCH_SYSTEM: Final = "Match system"
LIGHT: Final = "Light"
DARK: Final = "Dark"
KEYBOARD: Final = "Keyboard"
SHORTCUTS: Final = "Single-key shortcuts"
NOTIFICATIONS_OF_THIS_BROWSER: Final = "Notifications of this browser"
WHILE_A_PAGE_OF_ASSENT: Final = (
    "While a page of Assent is open in a tab, your browser can tell you when something new waits. It "
    "says how much waits and nothing else."
)
TURN_ON_IN_THIS_BROWSER: Final = "Turn on in this browser"
NOTIFICATIONS: Final = "Notifications"
NOTIFICATIONS_ELSEWHERE: Final = "For notifications elsewhere, see {notifications}."

# settings_credits.html
CREDITS: Final = "Credits"
AVAILABLE: Final = "Available"
WITHOUT_A_LIMIT: Final = "Without a limit"
SPENT: Final = "Spent"
SET_ASIDE: Final = "Set aside"
LATEST_ENTRIES: Final = "Latest entries"
THE_ACTION: Final = "the action"

# settings_frame.html
PASSKEYS: Final = "Passkeys"
PHONE: Final = "Phone"
PEOPLE: Final = "People"
POLICY: Final = "Policy"
WEBHOOKS: Final = "Webhooks"
WORKSPACE_NAMED: Final = "Workspace {name}"

# settings_keys.html
YOUR_NEW_KEY: Final = "Your new key"
IT_IS_SHOWN_NOW: Final = "It is shown now and never again. Give it to one agent."
COPY_THE_KEY: Final = "Copy the key"
ADD_IT_TO_YOUR_CLIENT: Final = "Add it to your client"
THE_KEY_IS_FILLED: Final = "The key is filled in. Open the box of your client and copy it."
REVOKED: Final = "Revoked"
FOR_TESTS: Final = "For tests"
MAY: Final = "May {rights}"
REVOKE: Final = "Revoke"
CONNECT_LINK: Final = "connect one"
NO_AGENT_HAS_A_KEY: Final = (
    "No agent has a key of this workspace yet. On this computer an agent needs none: {connect}."
)
NEW_KEY: Final = "New key"
WHAT_IT_IS_FOR: Final = "What it is for"
CLAUDE_ON_MY_LAPTOP: Final = "Claude on my laptop"
WHAT_IT_MAY_DO: Final = "What it may do"
PREPARE_DRAFTS_PASS: Final = "Prepare drafts, pass on your yes, send what is approved."
POLICY_LINK: Final = "policy"
AS_FAR_AS_THE_LETS: Final = "{rights} As far as the {policy} lets an agent."
PREPARE_DRAFTS_ONLY: Final = "Prepare drafts only."
IT_CANNOT_DECIDE_OR_SEND: Final = "{rights} It cannot decide or send, whatever the policy says."
CREATE_KEY: Final = "Create key"
LAST_USED: Final = "Last used {used}"
NEVER_USED: Final = "Never used"
CREATED: Final = "created {since}"
FOR_DEVELOPERS: Final = "For developers: {webhooks}"

# settings_notifications.html
DID_NOT_GET_THROUGH: Final = "Did not get through"
WORKS: Final = "Works"
LAST_TOLD: Final = "last {told}"
TRY_IT: Final = "Try it"
REMOVE: Final = "Remove"
WHAT_IS_SENT_THERE: Final = "What is sent there"
WHEN: Final = "When"
WHICH_RISK: Final = "Which risk"
REMIND_AFTER: Final = "Remind after"
SOUND: Final = "Sound"
WITHOUT_A_SOUND: Final = "Without a sound, where the service can"
NOWHERE_YET: Final = (
    "No notifications yet. Add an address of yours: it gets notifications for every workspace in which "
    "you decide."
)
NOWHERE_YET_HERE: Final = (
    "No notifications yet. Add an address that everyone in {name} reads, such as a channel."
)
A_NOTIFICATION_SAYS_HOW_MANY: Final = (
    "A notification says how many actions wait, their kind and risk, and who decided. It never says what "
    "they contain or whom they reach. Its link opens a page that asks you to sign in before you can "
    "decide."
)
THIS_DEVICE: Final = "This device"
YOUR_BROWSER_CAN_SHOW_NOTIFICATIONS: Final = (
    "Your browser can show notifications while no page of Assent is open. On an iPhone, add Assent to "
    "the home screen first."
)
NOTIFY_ME_ON_THIS_DEVICE: Final = "Notify me on this device"
ADD_A_NOTIFICATION: Final = "Add a notification"
WHO_READS_IT: Final = "Who reads it"
ME: Final = "Me."
ABOUT_EVERY_WORKSPACE: Final = "{me} For every workspace in which I decide"
HOW: Final = "How"
WHERE: Final = "Where"
THE_WORKSPACE: Final = "The workspace {name}."
ABOUT_THIS_WORKSPACE: Final = "{workspace} For this workspace only"

# settings_outgoing.html
WHICH_EVENTS_OF_AN_ACTION: Final = "Which events of an action"
WHERE_EVENTS_ARE_POSTED: Final = "Where events are posted"
OFF: Final = "Off"
FAILING: Final = "Failing"
LAST_TRY_FAILED: Final = "Last try failed"
ON: Final = "On"
EVERY_TRY_HAS_FAILED_SINCE: Final = "Every try has failed since {since}."
SEND_A_TEST: Final = "Send a test"
TEST_TO: Final = "to {url}"
WHAT_IT_GETS: Final = "What it gets"
POST_EVENTS_TO_THIS_ADDRESS: Final = "Post events to this address"
NOWHERE_YET_A_PROGRAM: Final = (
    "No address yet. A program of yours can get the events of every action: it waits, who decided, how "
    "it ended."
)
DELIVERIES: Final = "Deliveries"
EVERY_ADDRESS: Final = "Every address"
STATE: Final = "State"
TRIES: Final = "{url} · {at} · {tries} tries"
SEND_AGAIN: Final = "Send again"
OLDER_DELIVERIES: Final = "Older deliveries"
NO_DELIVERY_FITS: Final = "No delivery matches. {show}"
NOTHING_WAS_POSTED: Final = (
    "Nothing was posted yet. An agent that names a {webhookurl} has its result posted there, signed, "
    "when it is ready."
)
ANOTHER_ADDRESS: Final = "Another address"
ADDRESS: Final = "Address"
ADDRESS_EXAMPLE: Final = "https://example.com/hooks"
AN_EVENT_HAS_THE_KIND: Final = (
    "An event has the kind, risk, title and state of an action, and who decided. It has no link that decides."
)
ONE_TRY: Final = "{url} · {at} · {tries} try"
ADDED_BY: Final = "added {made} by {by}"
LAST_DELIVERY: Final = "last delivery {delivered}"

# settings_passkeys.html
YOUR_PASSKEYS: Final = "Your passkeys"
A_PASSKEY: Final = (
    "A passkey is on your phone, your computer or a security key, which asks for your finger, face or "
    "PIN. With it you sign in without a link and confirm what you decide."
)
YOU_HAVE_NONE_HERE_YET: Final = "You have none here yet."
THIS_ADDRESS: Final = "Passkeys do not work at this address"
BROWSERS_MAKE_PASSKEYS_FOR_HTTPS: Final = (
    "Browsers make passkeys for https and a host name, or for {localhost}. You reach this server at "
    "{origin}. The person who runs it can give it such an address."
)
YOU_HAVE_AS_MANY: Final = "You have reached the limit. Remove one to add another."
A_NEW_PASSKEY: Final = "A new passkey"
WHAT_YOU_CALL_IT: Final = "What you call it"
NO_PASSKEY_WAS_MADE_TRY: Final = "No passkey was made. Try again."
TO_ADD_ONE_ALLOW_SCRIPTS: Final = "To add one, allow scripts for this address."
ADDED: Final = "added {made}"
PASSKEY_LAST_USED: Final = "last used {used}"

# settings_people.html
GIVE_THIS_LINK_TO: Final = "Give this link to {name}"
COPY_THE_LINK: Final = "Copy the link"
WHO_CAN_SIGN_IN: Final = "Who can sign in"
OWNER: Final = "Owner"
MEMBER: Final = "Member"
INVITED: Final = "Invited"
EVERY_WORKSPACE: Final = "every workspace"
NO_WORKSPACE: Final = "no workspace"
LINK_ENDS: Final = "link ends {invited}"
NOT_SIGNED_IN: Final = "not signed in"
NEW_LINK: Final = "New link"
NEW_LINK_FOR: Final = "for {name}"
REMOVING_A_PERSON_SIGNS: Final = "Removing a person signs them out at once. Their decisions stay theirs."
INVITE_A_COLLEAGUE: Final = "Invite a colleague"
NAME: Final = "Name"
FOR_SIGN_IN_LINKS: Final = "For sign-in links by mail. It is shown beside the name."
MEMBER_MAY_DECIDE_IN: Final = "Member: may decide in"
OWNER_STOP: Final = "Owner."
SEES_EVERY_WORKSPACE_SETS: Final = "{owner} Sees every workspace, sets the policy, and invites people."
SEND_THE_LINK_BY_MAIL: Final = "Send the link by e-mail"
CREATE_INVITE_LINK: Final = "Create invite link"
INVITE_LINK: Final = (
    "It signs in the first person who opens it, once, within {days} days. It is shown now and not again."
)
SIGNED_IN: Final = "signed in {ago}"
SIGNED_IN_ON: Final = "signed in {ago}, on {devices} devices"

# settings_phone.html
OPEN_ASSENT_ON_YOUR_PHONE: Final = "Open Assent on your phone"
SCAN_AND_SIGN_IN: Final = (
    "Scan this with the camera of your phone, and press {sign_in} there. It works once, for {minutes} "
    "minutes."
)
QR_CODE_THAT_SIGNS: Final = "QR code that signs in your phone"
OR_OPEN_THIS_ADDRESS_THERE: Final = "Or open this address there:"
SCAN: Final = "Scan this with the camera of your phone. It opens {address}, and asks you to sign in."
QR_CODE_OF: Final = "QR code of {address}"
NOT_SIGNED: Final = "Not signed in there yet? Show a code that opens Assent and signs you in."
SHOW_A_SIGN_IN_CODE: Final = "Show a sign-in code"
A_PHONE_CANNOT_REACH: Final = (
    "A phone cannot reach {present}. Put a private network or a proxy with https in front of the server, "
    "and give the server that address."
)
THE_PAGE_ABOUT_PHONES: Final = "The page “Deciding on a phone” of the documentation says how."

# settings_policy.html
IN_FORCE_NOW: Final = "In force now"
VERSION_SET_BY: Final = "Version {version}, set by {by} {set_at}."
WHO_MAY_APPROVE_WHAT: Final = "Who may approve what"
NOTHING_WAS_SAVED: Final = "Nothing was saved"
BASE_POLICY: Final = "Base policy"
ASK_FOR_MORE: Final = "Ask for more"
A_ROW_CAN_ONLY_ADD: Final = "A row can only add to the policy above. The strictest row that matches counts."
WHAT: Final = "What"
WHO_DECIDES: Final = "Who decides"
HOW_MANY: Final = "How many"
WHICH_PEOPLE: Final = "Which people"
NOT_THE_PROPOSER: Final = "Not the proposer"
NOT_THE_PERSON_WHOSE_AGENT: Final = "{label}: not the person whose agent proposed it"
FURTHER_RULES_AS_TEXT: Final = "Further rules as text"
RULES_ABOUT_AMOUNTS_RECIPIENTS: Final = "Rules about amounts, recipients or arguments"
EACH_RULE_THAT_MATCHES_COUNTS: Final = (
    "Every rule that matches applies. A rule can ask for more or deny, never allow. For example:"
)
SAVE_THE_POLICY: Final = "Save the policy"
AN_OWNER_OF_THE_SERVER: Final = "An owner of the server can change this."
HOW_LONG_RECORDS_ARE_KEPT: Final = "How long records are kept"

# settings_workspace.html
NAME_AND_BRAND: Final = "Name and brand"
PEOPLE_SEE: Final = "People see this on your public posts. The name is also in mails and on every page here."
YOUR_COMPANY_OR_PRODUCT: Final = "Your company or product."
COLOUR: Final = "Colour"
USE_OUR_OWN_COLOUR: Final = "Use our own colour at the top of public pages"
OUR_COLOUR: Final = "Our colour"
NEW_LOGO_NOT_IN_USE: Final = "New logo, not in use yet"
LOGO: Final = "Logo"
THE_LOGO_OF: Final = "The logo of {name}"
USE_THIS_LOGO_AND_SAVE: Final = "Use this logo and save"
REMOVE_THE_LOGO: Final = "Remove the logo"
ANOTHER_LOGO: Final = "Another logo"
PICTURE: Final = "Picture"
PNG_JPEG_OR_WEBP: Final = "PNG, JPEG or WebP, at most {logo_kb} KB. You see it before anyone else does."
UPLOAD: Final = "Upload"
PUBLIC_PAGES: Final = "Public pages"
APPROVED_POSTS_FOR_YOUR_OWN: Final = (
    "Approved posts for your own site appear there, with your name, logo and colour."
)
OPEN_THE_PUBLIC_PAGE: Final = "Open the public page"

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
