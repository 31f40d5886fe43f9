"""Outcomes of failed attempts: one table by HTTP status (C10), and the three failures in which
nothing was sent.

Not sent, can be retried: no connection, 401, 429. Not sent, final: 400, 403, 404, 422. Anything
else that is no well-formed success is ambiguous: the effect may have happened.

Knows no provider and no HTTP client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assent.kernel.refusals import Reason
from assent.ports import NotSent, OutcomeUnknown

MAX_DETAIL_CHARS: Final = 200

MAX_RETRY_AFTER_SECONDS: Final = 24 * 3600
"""If a provider asks for more, a person should look at the account."""


CURABLE: Final = {401: Reason.MISSING_CONNECTOR, 429: Reason.RATE_LIMITED}
FINAL: Final = frozenset({400, 403, 404, 422})


def failure(status: int, detail: str, retry_after: str | None = None) -> NotSent | OutcomeUnknown:
    """Return the outcome of an answer that is no success. `retry_after` is the header's value."""
    said = f"HTTP {status}: {detail[:MAX_DETAIL_CHARS]}" if detail else f"HTTP {status}"
    reason = Reason.CONNECTOR_FAILED if status in FINAL else CURABLE.get(status)
    if reason is None:
        return OutcomeUnknown(said)
    return NotSent(reason, said, curable=status in CURABLE, retry_after_seconds=_seconds(retry_after))


def retry_after(headers: Mapping[str, str], now_ms: int) -> str | None:
    """Return the delay: `Retry-After` in seconds, or the end of a rate limit (epoch seconds)."""
    if (said := headers.get("retry-after")) is not None:
        return said
    reset = headers.get("x-ratelimit-reset", "").strip()
    if not reset.isascii() or not reset.isdigit():
        return None
    return str(max(1, int(reset[:12]) - now_ms // 1000))


def not_connected(detail: str) -> NotSent:
    """Return the outcome without access: nothing was sent until a person connects the provider."""
    return NotSent(Reason.MISSING_CONNECTOR, detail, curable=True)


def not_now(detail: str, retry_after_seconds: int | None = None) -> NotSent:
    """Return a failure that is not the content's fault: nothing was sent, and a retry may help."""
    return NotSent(Reason.CONNECTOR_FAILED, detail, curable=True, retry_after_seconds=retry_after_seconds)


def refusal(detail: str) -> NotSent:
    """Return a failure of the content, which no retry cures."""
    return NotSent(Reason.CONNECTOR_FAILED, detail, curable=False)


def _seconds(header: str | None) -> int | None:
    if header is None or not header.strip().isascii() or not header.strip().isdigit():
        return None
    return min(int(header.strip()), MAX_RETRY_AFTER_SECONDS)
