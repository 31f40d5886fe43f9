"""What a delivery to somebody's webhook says, how it is signed, and what an answer to it means.

Two signatures of the same bytes stand beside each other. `X-ChiefLab-Signature` is S3's: HMAC-SHA256 of the raw body,
keyed with the secret as it is printed. `webhook-signature` is that of Standard Webhooks 1.0: HMAC-SHA256 of
`id.timestamp.body`, keyed with the bytes that the secret's base64 stands for; it covers the time, so that an old
delivery cannot be played again. `webhook-id` is the same in every try: a receiver knows a repetition by it.

Pure: the time and the secret come in as arguments. Deliberately unaware of how bytes travel and of who retries.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Any, Final, Literal

import msgspec

from assent.kernel.limits import HOUR_MS, MINUTE_MS

RETRY_DELAYS_MS: Final = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS)
"""The waits after the first five failures (E90); the sixth is the end."""

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what a secret begins with
SECRET_BYTES: Final = 32

Outcome = Literal["delivered", "redirect", "gone", "rejected", "failed", "refused", "unreachable"]
State = Literal["waiting", "delivered", "failed"]


class WebhookReply(msgspec.Struct, frozen=True):
    """What came of one POST: the status that was answered, or `why` there was none and a sentence about it."""

    status: int | None
    why: str = ""
    detail: str = ""


class DeliveryVerdict(msgspec.Struct, frozen=True):
    """What a try amounts to. `final` ends the delivery, whatever its schedule says."""

    outcome: Outcome
    detail: str
    final: bool = False


def secret_text(raw: bytes) -> str:
    """A secret as people and verifying libraries take it."""
    return SECRET_PREFIX + base64.b64encode(raw).decode()


def event_of(tool: str, end: str) -> str:
    """What a webhook calls the end of a call: `launch_product.completed`."""
    return f"{tool.removeprefix('chieflab_')}.{end}"


def message(kind: str, run_id: str, result: Any) -> bytes:
    """The body: what happened, to which run, and the same result that a caller gets, with no token in it."""
    return without_tokens(msgspec.json.encode({"type": kind, "runId": run_id, "result": result}))


_LINKS: Final = re.compile(
    rb"(/runs/[0-9a-f-]{36}(?:/pictures/[0-9a-f]{64}\.png)?)\?token=[\w-]{1,2000}\.[\w-]{1,200}"
)


def without_tokens(body: bytes) -> bytes:
    """The same with every review link as its bare address: a receiver is not whoever may look and decide."""
    return _LINKS.sub(rb"\1", body)


def headers(secret: str, delivery_id: str, at_ms: int, body: bytes) -> dict[str, str]:
    """The headers of one try, among them the signature with the workspace's secret (E89)."""
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
"""What we did not even connect for. It counts as a failed try and is not final: a name is looked up anew each time, it
may lead to a private address by a mistake that its owner mends, and refusing it again costs nothing."""


def verdict(reply: WebhookReply) -> DeliveryVerdict:
    """What an answer means. Only 2xx is a delivery; only 410 says that there is no use in trying again."""
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
    """When a delivery that has failed so many times on its schedule is tried again; None after the last (E90)."""
    return now_ms + RETRY_DELAYS_MS[tries - 1] if tries <= len(RETRY_DELAYS_MS) else None
