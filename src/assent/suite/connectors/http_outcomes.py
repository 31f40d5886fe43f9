"""What an HTTP provider's answer says about the effect (C10): one table for every connector that speaks HTTP.

Definitely not sent, to be cured: no connection, 401, 429. Definitely not sent, for good: 400, 403, 404, 422. Anything
else that is no well-formed success is ambiguous: in doubt the effect may have happened.

Deliberately unaware of any provider and of how a request is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from assent.kernel.refusals import Reason
from assent.ports import NotSent, OutcomeUnknown

MAX_DETAIL_CHARS: Final = 200
"""What is kept of a provider's words: enough to act on, too little to fill a page."""

MAX_RETRY_AFTER_SECONDS: Final = 24 * 3600
"""A provider that asks for more has closed the account; a human should look."""


class StatusMeaning(msgspec.Struct, frozen=True):
    """What a status means for the action."""

    reason: Reason
    curable: bool


REFUSED: Final[dict[int, StatusMeaning]] = {
    400: StatusMeaning(Reason.CONNECTOR_FAILED, curable=False),
    401: StatusMeaning(Reason.MISSING_CONNECTOR, curable=True),
    403: StatusMeaning(Reason.CONNECTOR_FAILED, curable=False),
    404: StatusMeaning(Reason.CONNECTOR_FAILED, curable=False),
    422: StatusMeaning(Reason.CONNECTOR_FAILED, curable=False),
    429: StatusMeaning(Reason.RATE_LIMITED, curable=True),
}


def failure(status: int, detail: str, retry_after: str | None = None) -> NotSent | OutcomeUnknown:
    """What an answer that is no success says. `retry_after` is the header as it came."""
    said = f"HTTP {status}: {detail[:MAX_DETAIL_CHARS]}" if detail else f"HTTP {status}"
    refused = REFUSED.get(status)
    if refused is None:
        return OutcomeUnknown(said)
    return NotSent(refused.reason, said, curable=refused.curable, retry_after_seconds=_seconds(retry_after))


def retry_after(headers: Mapping[str, str], now_ms: int) -> str | None:
    """When to come back: `Retry-After` in seconds, or the moment at which a rate limit ends (epoch seconds)."""
    if (said := headers.get("retry-after")) is not None:
        return said
    reset = headers.get("x-ratelimit-reset", "").strip()
    if not reset.isascii() or not reset.isdigit():
        return None
    return str(max(1, int(reset[:12]) - now_ms // 1000))


def unreachable(detail: str) -> NotSent:
    """No connection was made, so nothing can have happened."""
    return NotSent(Reason.CONNECTOR_FAILED, detail[:MAX_DETAIL_CHARS], curable=True)


def _seconds(header: str | None) -> int | None:
    if header is None or not header.strip().isascii() or not header.strip().isdigit():
        return None
    return min(int(header.strip()), MAX_RETRY_AFTER_SECONDS)
