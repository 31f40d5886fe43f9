"""Outcomes of failed attempts: one table by HTTP status (C10).

Not sent, can be retried: no connection, 401, 429. Not sent, final: 400, 403, 404, 422. Anything
else that is no well-formed success is ambiguous: the effect may have happened.

Knows no provider and no HTTP client.
"""

from __future__ import annotations

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
    return NotSent(said, reason=reason, retry=status in CURABLE, retry_after_seconds=_seconds(retry_after))


def _seconds(header: str | None) -> int | None:
    if header is None or not header.strip().isascii() or not header.strip().isdigit():
        return None
    return min(int(header.strip()), MAX_RETRY_AFTER_SECONDS)
