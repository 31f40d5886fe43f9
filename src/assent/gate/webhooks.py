"""Webhook deliveries: their body, their signatures, and the meaning of an answer.

A delivery has two signatures. `X-ChiefLab-Signature` is S3's: HMAC-SHA256 of the raw body, keyed
with the printed secret. `webhook-signature` is that of Standard Webhooks 1.0: HMAC-SHA256 of
`id.timestamp.body`, keyed with the decoded base64 of the secret; it covers the time, which prevents
replay attacks. `webhook-id` is the same in every attempt, so a receiver recognises a repetition.

Pure: time and secret are arguments.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Any, Final, Literal

import msgspec

from assent.kernel.limits import HOUR_MS, MINUTE_MS
from assent.kernel.structs import Record

RETRY_DELAYS_MS: Final = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS)
"""The delays after the first five failures (E90). The sixth failure is final."""

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what a secret begins with
SECRET_BYTES: Final = 32

Outcome = Literal["delivered", "redirect", "gone", "rejected", "failed", "refused", "unreachable"]
State = Literal["waiting", "delivered", "failed"]


class WebhookReply(Record):
    """The result of one POST: the HTTP status, or `why` there was none, with a sentence about
    it."""

    status: int | None
    why: str = ""
    detail: str = ""
    body: bytes = b""


class DeliveryVerdict(Record):
    """The meaning of one attempt. `final` ends the delivery before its schedule does."""

    outcome: Outcome
    detail: str
    final: bool = False


def secret_text(raw: bytes) -> str:
    """Encode a secret in the form that verifying libraries accept."""
    return SECRET_PREFIX + base64.b64encode(raw).decode()


def name_event(tool: str, end: str) -> str:
    """Return the event name, such as `launch_product.completed`."""
    return f"{tool.removeprefix('chieflab_')}.{end}"


def message(kind: str, run_id: str, result: Any) -> bytes:
    """Build the body: event, run, and the caller's result without tokens."""
    return without_tokens(msgspec.json.encode({"type": kind, "runId": run_id, "result": result}))


_LINKS: Final = re.compile(
    rb"(/runs/[0-9a-f-]{36}(?:/pictures/[0-9a-f]{64}\.png)?)\?token=[\w-]{1,2000}\.[\w-]{1,200}"
)


def without_tokens(body: bytes) -> bytes:
    """Remove the tokens from review links, because the receiver may not view or decide."""
    return _LINKS.sub(rb"\1", body)


def headers(secret: str, delivery_id: str, at_ms: int, body: bytes) -> dict[str, str]:
    """Build the headers of one attempt, with the signature by the workspace's secret (E89)."""
    seconds = str(at_ms // 1000)
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    standard = hmac.digest(key, b".".join((delivery_id.encode(), seconds.encode(), body)), hashlib.sha256)
    return {
        "X-ChiefLab-Signature": f"sha256={hmac.digest(secret.encode(), body, hashlib.sha256).hex()}",
        "webhook-id": delivery_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{base64.b64encode(standard).decode()}",
    }


REFUSED: Final = frozenset({"url", "scheme", "port", "address", "host"})
"""Reasons for which no connection was made. They count as a failed attempt and are not final: each
attempt resolves the name again, and its owner may correct a wrong address."""


def verdict(reply: WebhookReply) -> DeliveryVerdict:
    """Classify an answer. Only 2xx is a delivery; only 410 is a final failure."""
    status = reply.status
    if status is None:
        return DeliveryVerdict("refused" if reply.why in REFUSED else "unreachable", reply.detail)
    if 200 <= status < 300:
        return DeliveryVerdict("delivered", f"answered {status}", final=True)
    if status == 410:
        return DeliveryVerdict("gone", "answered 410: the receiver wants no more of it", final=True)
    if 300 <= status < 400:
        return DeliveryVerdict("redirect", f"answered {status}; redirects are not followed")
    return DeliveryVerdict("rejected" if status < 500 else "failed", f"answered {status}")


def next_try_ms(tries: int, now_ms: int) -> int | None:
    """Return when a delivery with these failures is retried; None after the last (E90)."""
    return now_ms + RETRY_DELAYS_MS[tries - 1] if tries <= len(RETRY_DELAYS_MS) else None
