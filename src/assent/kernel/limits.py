"""Every limit of Assent, with its reason. Nothing elsewhere writes one of these numbers again.

Limits that an operator of the server may want to change are *defaults* here and settings in `assent.settings`.
"""

from __future__ import annotations

from typing import Final

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

MAX_BODY_BYTES: Final = 1_048_576
"""One request. A launch with every draft is under 100 KB; a megabyte is generous and cheap to refuse early."""

MAX_JSON_DEPTH: Final = 64
"""Nesting of any JSON that a caller sends: no real argument comes near, and every recursive reader is safe."""

MAX_PROBLEMS: Final = 50
"""Problems listed for one bad argument object: all of them in practice, bounded against a hostile list."""

RATE_LIMIT_PER_MINUTE: Final = 60
"""Calls per workspace and minute (S3)."""

SIGNUPS_PER_HOUR: Final = 5
"""Signups per address and hour (S3)."""

SIGNUP_LINK_TTL_MS: Final = DAY_MS
"""A delivery link waits a day for its human; after that a new signup is one call away."""

IDEMPOTENCY_TTL_MS: Final = 30 * DAY_MS
"""How long the same key gives the same answer (reliability P3)."""

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

MAX_CONTENT_CHARS: Final = 100_000
"""One text that a human is asked to read and approve; a long newsletter has a tenth of it."""

MAX_RECIPIENTS: Final = 1_000
"""Recipients of one mail: more is a campaign tool's work, and no human can review the list."""

ACTION_TTL_MS: Final = 30 * DAY_MS
"""An approval asked for longer ago than this is about a world that has moved on."""

REVIEW_TTL_SECONDS: Final = 7 * 24 * 3600
"""Life of a review link (S0 §4)."""

SIGN_IN_LINK_TTL_MS: Final = 15 * MINUTE_MS
"""From a terminal to a browser takes a minute; a link that lies around longer is a key under the mat."""

SESSION_TTL_MS: Final = 30 * DAY_MS
"""A signed-in browser is asked again once a month."""

MAX_REASON_CHARS: Final = 2_000
"""Why something was rejected or what shows an outcome: a few paragraphs, kept for ever."""

MAX_PAGE: Final = 100
"""Entries of one page of a list."""

SHUTDOWN_GRACE_SECONDS: Final = 10
"""What a stopping server gives the calls in flight before it closes their connections."""
