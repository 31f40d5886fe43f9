"""The words of the settings."""

from __future__ import annotations

from typing import Final

# settings.html
SETTINGS: Final = "Settings"
YOU: Final = "You"
YOUR_DECISIONS_ARE_RECORDED_UNDER: Final = "Your decisions are recorded under this name."
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
TO_BE_TOLD_ANYWHERE_ELSE: Final = "To be told anywhere else, see {notifications}."

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
    "No agent has a key of this workspace yet. On this machine an agent needs none: {connect}."
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
LAST_TOLD: Final = "· last {told}"
TRY_IT: Final = "Try it"
REMOVE: Final = "Remove"
WHAT_IT_IS_TOLD: Final = "What it is told"
WHEN: Final = "When"
WHICH_RISK: Final = "Which risk"
REMIND_AFTER: Final = "Remind after"
SOUND: Final = "Sound"
WITHOUT_A_SOUND: Final = "Without a sound, where the service can"
NOWHERE_YET: Final = (
    "Nowhere yet. Add an address of yours: it hears about every workspace in which you may decide."
)
NOWHERE_YET_HERE: Final = "Nowhere yet. Add an address that everyone in {name} reads, such as a channel."
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
ABOUT_EVERY_WORKSPACE: Final = "{me} About every workspace in which I may decide"
HOW: Final = "How"
WHERE: Final = "Where"
THE_WORKSPACE: Final = "The workspace {name}."
ABOUT_THIS_WORKSPACE: Final = "{workspace} About this one"

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
    "Nowhere yet. A program of yours can hear what happens to every action: that it waits, who decided, "
    "what came of it."
)
DELIVERIES: Final = "Deliveries"
EVERY_ADDRESS: Final = "Every address"
STATE: Final = "State"
TRIES: Final = "{url} · {at} · {tries} tries"
SEND_AGAIN: Final = "Send again"
OLDER_DELIVERIES: Final = "Older deliveries"
NO_DELIVERY_FITS: Final = "No delivery fits. {show}"
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
THIS_ADDRESS: Final = "This address can have no passkeys"
BROWSERS_MAKE_PASSKEYS_FOR_HTTPS: Final = (
    "Browsers make passkeys for https and a host name, or for {localhost}. You reach this server at "
    "{origin}. The person who runs it can give it such an address."
)
YOU_HAVE_AS_MANY: Final = "You have as many as fit. Remove one to add another."
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
FOR_SIGN_IN_LINKS: Final = "For sign-in links by mail, and to tell people with the same name apart."
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
A_PHONE_CANNOT_REACH: Final = "A phone cannot reach {present}. There are two ways to change that."
IN_YOUR_OWN_NETWORK: Final = "In your own network:"
RUN_THE_COMMAND_BELOW: Final = (
    "{where} run the command below in a terminal on the server. It makes a certificate, and says "
    "how to serve with it and what your phone has to trust."
)
FROM_ANYWHERE: Final = "From anywhere:"
PUT_A_TUNNEL: Final = (
    "{where} put a tunnel or a proxy with https in front of the server, and give the server that "
    "address. Its documentation says how (Deciding on a phone)."
)

# settings_policy.html
IN_FORCE_NOW: Final = "In force now"
VERSION_SET_BY: Final = "Version {version}, set by {by} {set_at}."
WHO_MAY_APPROVE_WHAT: Final = "Who may approve what"
NOTHING_WAS_SAVED: Final = "Nothing was saved"
TO_START_WITH: Final = "To start with"
ASK_FOR_MORE: Final = "Ask for more"
A_ROW_CAN_ONLY_ADD: Final = "A row can only add to the policy above. The strictest row that fits counts."
WHAT: Final = "What"
WHO_DECIDES: Final = "Who decides"
HOW_MANY: Final = "How many"
OF_WHOM: Final = "Of whom"
NOT_THE_PROPOSER: Final = "Not the proposer"
NOT_THE_PERSON_WHOSE_AGENT: Final = "{label}: not the person whose agent proposed it"
FURTHER_RULES_AS_TEXT: Final = "Further rules as text"
RULES_ABOUT_AMOUNTS_RECIPIENTS: Final = "Rules about amounts, recipients or arguments"
EACH_RULE_THAT_MATCHES_COUNTS: Final = "Each rule that matches counts; a rule can never allow. For example:"
SAVE_THE_POLICY: Final = "Save the policy"
AN_OWNER_OF_THE_SERVER: Final = "An owner of the server can change this."
HOW_LONG_THINGS_ARE_KEPT: Final = "How long things are kept"

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
