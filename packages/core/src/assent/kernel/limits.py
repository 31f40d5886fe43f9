"""Every limit of Assent, with its reason. Nothing elsewhere writes one of these numbers again.

Limits that an operator of the server may want to change are *defaults* here and settings in
`assent.settings.load`.
"""

from __future__ import annotations

from typing import Final

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

CLOCKS_AGREE_MS: Final = SECOND_MS
"""A process whose clock differs from PostgreSQL's by less keeps its own time."""
CLOCKS_APART_MS: Final = MINUTE_MS
"""How far the clocks of two processes may differ. A lease that was taken later than this from now was
taken before the clock was set back, and is over."""

MAX_BODY_BYTES: Final = 1_048_576
"""One request. A launch with every draft is under 100 KB."""

MAX_HEADER_BYTES: Final = 65_536
"""URL and headers of one request: browsers send a few kilobytes, most of it our own cookies."""

MAX_HEADERS: Final = 100
"""Headers of one request; a browser behind two proxies sends 30."""

HEADER_SECONDS: Final = 30.0
"""From the first byte of a request to the end of its headers, which are usually one packet."""

BODY_PAUSE_SECONDS: Final = 30.0
"""How long the sender of a body may pause before it counts as gone."""

REQUEST_SECONDS: Final = 300.0
"""A whole request: the largest one (a bundle of sessions) at 1 Mbit/s."""

READING_PAUSE_SECONDS: Final = 30.0
"""How long a client may read nothing of a pending answer."""

MAX_CONNECTIONS: Final = 1_000
"""Connections of one process, under the usual 1,024 descriptors."""

RESERVED_DESCRIPTORS: Final = 96
"""Descriptors reserved for the store (about 20), outgoing requests, secrets and logs."""

MAX_JSON_DEPTH: Final = 64
"""Nesting of a caller's values: above real arguments, and safe for recursion."""

MAX_WRAPPED_DEPTH: Final = MAX_JSON_DEPTH + 8
"""Nesting with the envelope: a message on the way in, a record on the way into the store."""

MAX_PROBLEMS: Final = 50
"""Problems listed for one bad argument object; bounded against hostile input."""

RATE_LIMIT_PER_MINUTE: Final = 60
"""Calls per workspace and minute (S3)."""

PAGES_PER_MINUTE: Final = 600
"""Page requests of one link or one signed-in browser: ten open pages that follow a busy agent."""

SIGNUPS_PER_HOUR: Final = 5
"""Signups per address and hour (S3)."""

SIGNUP_LINK_TTL_MS: Final = DAY_MS
"""How long a sign-up link works; after that the person signs up again."""

OPEN_SIGNUPS_PER_EMAIL: Final = 5
"""Sign-ups for one e-mail address that wait at once."""

OPEN_SIGNUPS_PER_CLIENT: Final = 10
"""Sign-ups from one client that wait at once: more than the five of an hour (S3), so that these can end."""

OPEN_SIGNUPS: Final = 20
"""Sign-ups that wait at once: few enough for an owner to read them all."""

STORAGE_QUOTA_MB: Final = 200
"""How much a workspace may store in a day: about 20,000 posts. Stops a runaway loop."""

IDEMPOTENCY_TTL_MS: Final = 30 * DAY_MS
"""How long a repeated idempotency key gets its first answer."""

MAX_IDEMPOTENCY_KEY_CHARS: Final = 255
"""The longest key that every provider accepts."""

CLIENT_CODE_TTL_MS: Final = 2 * MINUTE_MS
"""How long an authorization code works. Clients exchange it at once."""

ACCESS_TOKEN_TTL_MS: Final = HOUR_MS
"""How long an access token works. The client renews it."""

CLIENT_GRANT_TTL_MS: Final = 30 * DAY_MS
"""How long an unused client stays signed in: as long as a browser."""

REGISTRATIONS_PER_HOUR: Final = 60
"""Clients that one address may register in an hour. A registration stores nothing; many people may share an address."""

MIN_SECRET_BYTES: Final = 32
"""A shorter signing secret can be guessed; the server refuses to start with one."""

MAX_NAME_CHARS: Final = 200
"""Names of workspaces, keys and people: fits every page and log line."""

MAX_EMAIL_CHARS: Final = 254
"""RFC 5321's longest address."""

JOB_LEASE_MS: Final = 30 * SECOND_MS
"""A job whose worker died is taken over after this; a living worker renews its lease long
before."""

JOB_RETENTION_MS: Final = 30 * DAY_MS
"""How long finished jobs, and so their unique keys, are kept."""

WORKFLOW_RETENTION_DAYS: Final = 90
"""Default for how long a workflow session is kept after its last use."""

UNDO_SECONDS: Final = 10
"""Default for how long “Approve and send” on a page waits, so that a person can undo it."""

CLIENT_DIALOG_SECONDS: Final = 300
"""Default for how long a person may take to answer in the dialog of their client."""

MAX_DIALOG_CHARS: Final = 4_000
"""Longest text that a client is asked to show in a dialog: a person must be able to read it whole."""

MAX_OPEN_DIALOGS: Final = 8
"""Dialogs that wait for an answer at once on one stdio connection. Their calls hold no slot."""

MAX_ASKED_CHARS: Final = 500
"""Length of a request for later drafts that comes with an edit."""

MAX_CONTENT_CHARS: Final = 100_000
"""One text that a person reads and approves; a long newsletter has a tenth of it."""


MAX_WORKSPACE_PICTURE_BYTES: Final = 512 * 1_048_576
"""All pictures of a workspace: about 10,000. Unused ones are deleted after a while."""

PICTURE_RETENTION_MS: Final = 90 * DAY_MS
"""How long an unused picture is kept; an action expires long before."""

MANY_RECIPIENTS: Final = 50
"""More people than these are a risk, and no personal mail."""
MAX_RECIPIENTS: Final = 1_000
"""Recipients of one e-mail: no person can review a longer list."""

MAX_VISIBLE: Final = 10
"""Recipients of an e-mail who see each other's addresses: colleagues, not a mailing list."""

ACTION_TTL_MS: Final = 30 * DAY_MS
"""How long an action waits for approval before it expires, because its content gets outdated."""

MAX_SCHEDULE_AHEAD_MS: Final = 366 * DAY_MS
"""How far ahead an action can be scheduled: a year, so that a mistyped year is refused."""

REVIEW_TTL_SECONDS: Final = 7 * 24 * 3600
"""Life of a review link (S0 §4)."""

SIGN_IN_LINK_TTL_MS: Final = 15 * MINUTE_MS
"""A sign-in link from the terminal is used within a minute; a longer life only adds risk."""

SERVER_MAILS_PER_HOUR: Final = 5
"""The server's own e-mails of one kind and workspace to an address, and sign-in e-mails per client that asks for
them: strangers must not flood a mailbox through this server."""

MAILED_LINK_TTL_MS: Final = 60 * MINUTE_MS
"""A sign-in e-mail may be delayed; its link works once."""

INVITATION_TTL_MS: Final = 3 * DAY_MS
"""An invitation lasts over a weekend; a new one is easily made."""

SESSION_TTL_MS: Final = 30 * DAY_MS
"""A signed-in browser signs in again once a month."""

MAX_REASON_CHARS: Final = 2_000
"""The reason of a rejection or the evidence of an outcome: a few paragraphs."""

MAX_PAGE: Final = 100
"""Rows of one page of a list."""

MAX_WAIT_SECONDS: Final = 50
"""How long one call waits for a decision. Proxies and clients give up after a minute."""

WAITING_CALLS_PER_WORKSPACE: Final = 16
"""Calls of a workspace that wait at once: a quarter of one stdio client's calls in flight."""

WAITING_CALLS: Final = 200
"""Calls of a process that wait at once: a fifth of its connections."""

LONG_RUN_SECONDS: Final = 3.0
"""How long a caller with a webhook waits for a slow page or source."""

WEBHOOK_TIMEOUT_SECONDS: Final = 15.0
"""Timeout of a delivery with its whole answer (Standard Webhooks asks for 15 to 30)."""

WEBHOOK_RETENTION_MS: Final = 30 * DAY_MS
"""Deliveries and their log are kept as long as the jobs that made them."""

MAX_SUBSCRIPTIONS: Final = 5
"""Addresses that one workspace subscribes to events: every transition writes a delivery for each."""

MAX_QUEUED_EVENTS: Final = 500
"""Deliveries that wait for one subscription: the events of some hundred actions during an outage."""

DELIVERIES_AT_ONCE: Final = 8
"""Concurrent deliveries of a workspace to one host: a quarter of the places for third parties."""

SHUTDOWN_GRACE_SECONDS: Final = 10
"""How long a stopping server waits for calls in flight before it closes their connections."""

MAX_CONTEXT_BYTES: Final = 262_144
"""The context of one workflow run, in bytes of canonical JSON (W47)."""

MAX_NOTES_BYTES: Final = 65_536
"""Notes of one step or checkpoint (W50): about 10,000 words, stored whole."""

MAX_OUTPUT_BYTES: Final = 262_144
"""The structured output of one step: a large review has a tenth of it."""

RECAP_BYTES: Final = 24 * 1024
"""The earlier notes that a rehydrated agent gets (W20), sized for its window."""

MAX_BLOCKERS: Final = 10
"""Issues of one blocked answer (W36): more are not repaired at once."""

MAX_BLOCKED_ATTEMPTS: Final = 10
"""Blocked attempts in a row on one step (W39), after which an agent should ask a person."""

MAX_WORKFLOW_BYTES: Final = 1_048_576
"""One definition file; the largest of a known library has 91 KB."""

MAX_WORKFLOW_STEPS: Final = 1_000
"""Instructions of one compiled workflow, with its routines."""

MAX_LOOP_DEPTH: Final = 6
"""Loops inside loops; with more, no author can tell how often a step runs."""

MAX_TEMPLATE_DEPTH: Final = 8
"""Routines that inject routines."""

MAX_LOOP_ITERATIONS: Final = 1_000
"""Iterations of one loop (the format's own bound)."""

MAX_CONDITION_DEPTH: Final = 16
"""Nesting of and / or / not in a condition or a validation rule."""

MAX_STEP_PATTERNS: Final = 32
"""Patterns of one step; each one reads the notes once, and the agent waits."""

MAX_REGEX_CHARS: Final = 512
"""One pattern of an author."""

MAX_REGEX_STATES: Final = 128
"""The program of a pattern: it bounds the time of a search. Where no automaton fits into its memory, RE2 follows every
state at each character: 100 ms for 64 KB with 128 of them, 400 ms with 512. Published workflows need at most 48."""

MAX_SHAPE_PARTS: Final = 5_000
"""Parts of one schema of an author: a large one has a tenth of it."""

MAX_SHAPE_PATTERNS: Final = 100
"""Patterns of one schema: fewer than stay compiled, so that no value has one compiled again and again."""

MAX_SHAPE_WORK: Final = 75_000
"""Keywords tried on parts of a value in one check, about 2 µs each: no schema and no value take longer. The largest
output of a contract of our own takes a half."""

MAX_PROMPT_VALUE_CHARS: Final = 4_096
"""One context value inside a prompt; longer ones are cut with a marker."""

MAX_PROMPT_CHARS: Final = 200_000
"""One rendered prompt, so that no definition makes an answer too large for clients."""

MAX_BUNDLE_BYTES: Final = 32 * 1_048_576
"""A session imported on a page: about 10,000 steps with notes. The command imports larger ones."""

HELD_AFTER: Final = 30
"""How many waiting actions of one caller people are asked about one by one. A launch has about ten."""

FLOOD_WINDOW_MS: Final = 10 * MINUTE_MS
"""The time in which proposals count together: longer than a person takes for one launch."""

OBSERVE_SECONDS: Final = 5.0
"""How long a connector may take to observe a target: a person who approves waits for it."""

MAX_OBSERVED_BYTES: Final = 2_000
"""What an effect type observes of a target: a version, a state, a few numbers. A person reads it."""
