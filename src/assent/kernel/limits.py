"""Every limit of Assent, with its reason. Nothing elsewhere writes one of these numbers again.

Limits that an operator of the server may want to change are *defaults* here and settings in `assent.settings.load`.
"""

from __future__ import annotations

from typing import Final

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

MAX_BODY_BYTES: Final = 1_048_576
"""One request. A launch with every draft is under 100 KB; a megabyte is generous and cheap to refuse early."""

MAX_HEADER_BYTES: Final = 65_536
"""The address and the headers of one request: browsers send at most a few kilobytes, most of it our own cookies."""

MAX_HEADERS: Final = 100
"""Headers of one request; a browser behind two proxies sends 30."""

HEADER_SECONDS: Final = 30.0
"""From the first byte of a request to the end of its headers: one packet in life, and no slow line needs longer."""

BODY_PAUSE_SECONDS: Final = 30.0
"""How long a body may stand still before its sender counts as gone."""

REQUEST_SECONDS: Final = 300.0
"""A whole request: the largest one there is (a bundle of sessions) over a slow line, at 1 Mbit/s."""

READING_PAUSE_SECONDS: Final = 30.0
"""How long a client may read nothing of an answer that waits for it."""

MAX_CONNECTIONS: Final = 1_000
"""Connections of one process: more open pages than a workspace has people, and under the usual 1,024 descriptors."""

RESERVED_DESCRIPTORS: Final = 96
"""Descriptors that no connection gets: the store's files (some 20), what goes out, pictures, secrets and logs."""

MAX_JSON_DEPTH: Final = 64
"""Nesting of any value that a caller sends: no real argument comes near, and every recursive reader is safe."""

MAX_WRAPPED_DEPTH: Final = MAX_JSON_DEPTH + 8
"""The same with what goes around it: a message on the way in, a record on the way into the store."""

MAX_PROBLEMS: Final = 50
"""Problems listed for one bad argument object: all of them in practice, bounded against a hostile list."""

RATE_LIMIT_PER_MINUTE: Final = 60
"""Calls per workspace and minute (S3)."""

PAGES_PER_MINUTE: Final = 600
"""Page requests of one link or one signed-in browser: ten open pages that follow a busy agent."""

SIGNUPS_PER_HOUR: Final = 5
"""Signups per address and hour (S3)."""

SIGNUP_LINK_TTL_MS: Final = DAY_MS
"""A delivery link waits a day for its human; after that a new signup is one call away."""

STORAGE_QUOTA_MB: Final = 200
"""What a workspace may store in a day: some 20,000 posts, and a loop gone wild does not fill the disk overnight."""

IDEMPOTENCY_TTL_MS: Final = 30 * DAY_MS
"""How long the same key gives the same answer."""

MAX_IDEMPOTENCY_KEY_CHARS: Final = 255
"""What every provider we forward keys to can hold."""

MIN_SECRET_BYTES: Final = 32
"""A signing secret shorter than the hash it feeds can be guessed; the server refuses to start with one."""

MAX_NAME_CHARS: Final = 200
"""Names of workspaces, keys and people: fits every page and log line."""

MAX_EMAIL_CHARS: Final = 254
"""RFC 5321's longest address."""

JOB_LEASE_MS: Final = 30 * SECOND_MS
"""A job whose worker died is taken over after this; a living worker renews long before."""

JOB_RETENTION_MS: Final = 30 * DAY_MS
"""Finished jobs are kept this long, so that their key stays unique for as long as anybody may repeat it."""

WORKFLOW_RETENTION_DAYS: Final = 90
"""How long a session of workflows is kept after it was last touched, where no setting says otherwise."""

MAX_ASKED_CHARS: Final = 500
"""Length of a request for later drafts that comes with an edit."""

MAX_CONTENT_CHARS: Final = 100_000
"""One text that a human is asked to read and approve; a long newsletter has a tenth of it."""

MAX_PICTURE_BYTES: Final = 1_000_000
"""One picture: what the strictest place we publish to takes (Bluesky), and ten times what ours have."""

MAX_WORKSPACE_PICTURE_BYTES: Final = 512 * 1_048_576
"""All pictures of a workspace: some 10,000. Unused ones are deleted after a while."""

PICTURE_RETENTION_MS: Final = 90 * DAY_MS
"""How long an unused picture is kept; an action expires long before."""

MAX_RECIPIENTS: Final = 1_000
"""Recipients of one mail: more is a campaign tool's work, and no human can review the list."""

ACTION_TTL_MS: Final = 30 * DAY_MS
"""An approval asked for longer ago than this is about a world that has moved on."""

MAX_SCHEDULE_AHEAD_MS: Final = 366 * DAY_MS

REVIEW_TTL_SECONDS: Final = 7 * 24 * 3600
"""Life of a review link (S0 §4)."""

SIGN_IN_LINK_TTL_MS: Final = 15 * MINUTE_MS
"""From a terminal to a browser takes a minute; a link that lies around longer is a key under the mat."""

SIGN_IN_MAILS_PER_HOUR: Final = 5
"""Links that one address is mailed, and that one client can have mailed: it is enough, and strangers get none."""

MAILED_LINK_TTL_MS: Final = 60 * MINUTE_MS
"""A mail may take its time; the link in it works once."""

INVITATION_TTL_MS: Final = 3 * DAY_MS
"""An invitation waits over a weekend; after that a fresh one is two presses away."""

SESSION_TTL_MS: Final = 30 * DAY_MS
"""A signed-in browser is asked again once a month."""

MAX_REASON_CHARS: Final = 2_000

MAX_PAGE: Final = 100

MAX_WAIT_SECONDS: Final = 50
"""How long one call waits for a decision. Proxies and clients give up after a minute."""

WAITING_CALLS_PER_WORKSPACE: Final = 16
"""Calls of a workspace that wait at once: a quarter of what one stdio client may have in flight."""

WAITING_CALLS: Final = 200
"""Calls of a process that wait at once: a fifth of its connections, so that four fifths do work."""

LONG_RUN_SECONDS: Final = 3.0
"""How long a caller that named a webhook waits for a slow page or source before it is answered without them."""

WEBHOOK_TIMEOUT_SECONDS: Final = 15.0
"""What an endpoint gets to answer a delivery, its whole answer included (Standard Webhooks asks for 15 to 30)."""

WEBHOOK_RETENTION_MS: Final = 30 * DAY_MS
"""Deliveries and their log are kept this long, as the jobs that made them."""

SHUTDOWN_GRACE_SECONDS: Final = 10
"""What a stopping server gives the calls in flight before it closes their connections."""

MAX_CONTEXT_BYTES: Final = 262_144
"""The context of one workflow run, in bytes of canonical JSON (W47): external facts, never a document store."""

MAX_NOTES_BYTES: Final = 65_536
"""Notes of one step or checkpoint (W50): some 10,000 words, stored whole."""

MAX_OUTPUT_BYTES: Final = 262_144
"""The structured output of one step: a large review has a tenth of it."""

RECAP_BYTES: Final = 24 * 1024
"""What a rehydrated agent is shown of earlier notes (W20): a useful recap that leaves its window free."""

MAX_BLOCKERS: Final = 10
"""Issues of one blocked answer (W36): more are not repaired at once."""

MAX_BLOCKED_ATTEMPTS: Final = 10
"""Blocked attempts in a row on one step (W39) after which an agent should ask a human."""

MAX_WORKFLOW_BYTES: Final = 1_048_576
"""One definition file; the largest of a known library has 91 KB."""

MAX_WORKFLOW_STEPS: Final = 1_000
"""Instructions of one compiled workflow, injected routines included."""

MAX_LOOP_DEPTH: Final = 6
"""Loops inside loops: beyond this no author can say how often a step runs."""

MAX_TEMPLATE_DEPTH: Final = 8
"""Routines that inject routines."""

MAX_LOOP_ITERATIONS: Final = 1_000
"""What a definition may allow one loop (the format's own bound)."""

MAX_CONDITION_DEPTH: Final = 16
"""Nesting of and / or / not in a condition or a validation rule."""

MAX_STEP_PATTERNS: Final = 32
"""Each one reads the notes once, and an agent waits for all of them."""

MAX_REGEX_CHARS: Final = 512

MAX_REGEX_STATES: Final = 512
"""States of a pattern's automaton: with the input's bound this bounds the time of every match."""

MAX_LOOK_AROUND_CHARS: Final = 8_192
"""A text that a pattern with look-around is held against: our own automaton reads it, at some µs for each character."""

MAX_PROMPT_VALUE_CHARS: Final = 4_096
"""One context value shown inside a prompt; the rest is cut with a marker."""

MAX_PROMPT_CHARS: Final = 200_000
"""One rendered prompt: a definition cannot make an answer that no client can hold."""

MAX_BUNDLE_BYTES: Final = 32 * 1_048_576
"""A session brought in through a page: some 10,000 steps with their notes. A larger one comes in by the command."""
