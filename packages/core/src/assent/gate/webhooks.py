"""Webhook deliveries: their body, their signatures, and the meaning of an answer. Also the events of
actions, which subscribed addresses get.

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

from assent.gate.transitions import Move
from assent.kernel.limits import HOUR_MS, MINUTE_MS
from assent.kernel.structs import Record, WireRecord

RETRY_DELAYS_MS: Final = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS)
"""The delays after the first five failures (E90). The sixth failure is final."""

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what a secret begins with
SECRET_BYTES: Final = 32

Outcome = Literal["delivered", "redirect", "gone", "rejected", "failed", "refused", "unreachable"]
State = Literal["waiting", "delivered", "failed"]


EventName = Literal["waiting", "approved", "rejected", "executed", "failed", "unknown"]

EVENTS: Final[tuple[EventName, ...]] = ("waiting", "approved", "rejected", "executed", "failed", "unknown")

EVENT_AFTER: Final[dict[Move, EventName]] = {
    Move.APPROVE: "approved",
    Move.REJECT: "rejected",
    Move.EDIT: "waiting",
    Move.WITHDRAW: "waiting",
    Move.SUCCEED: "executed",
    Move.REFUSE: "failed",
    Move.POSTPONE: "failed",
    Move.LOSE: "unknown",
    Move.RESTORE: "unknown",
    Move.FOUND_DONE: "executed",
    Move.FOUND_REFUSED: "failed",
    Move.FOUND_NOT_DONE: "failed",
    Move.HAND_OVER: "executed",
}
"""The event after the last move of a change. A claim has none: its outcome follows."""

TEST_EVENT: Final = "webhook.test"


class EventAction(WireRecord, kw_only=True, omit_defaults=True):
    """An action in an event: what it is and how it stands, never its content."""

    id: str
    run_id: str
    type: str
    channel: str
    operator: str = ""
    risk: str
    status: str
    execution: str
    revision: int
    digest: str
    title: str
    summary: str = ""
    """The content in one line. Empty for personal data."""
    review_url: str
    """The page on which a signed-in person decides: a path in the store, a URL once it is sent."""
    expires_at: str | None = None
    held: bool = False
    decided_by: str = ""
    assurance: str = ""
    decided_at: str | None = None
    receipt_id: str = ""
    receipt_url: str = ""
    reason: str = ""
    detail: str = ""


class ActionEvent(WireRecord, kw_only=True, omit_defaults=True):
    """The body of an event. A test has no action."""

    type: str
    id: str
    created_at: str | None
    workspace_id: str
    sequence: int = 0
    """The version of the action: a later event of the same action has a higher one."""
    action: EventAction | None = None


def complete_event(body: bytes, base_url: str) -> bytes:
    """Put the address of the pages into a stored event. The transaction that caused it knows none."""
    event = msgspec.json.decode(body, type=ActionEvent)
    if event.action is None:
        return body
    action = msgspec.structs.replace(event.action, review_url=base_url + event.action.review_url)
    return msgspec.json.encode(msgspec.structs.replace(event, action=action))


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


def mask_url(url: str) -> str:
    """Mask a URL for lists and logs, because its query may hold a secret."""
    bare, asked, _ = url.partition("?")
    return f"{bare}?…" if asked else bare


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

UNWANTED: Final = "unwanted"
"""The subscription of an event was turned off or deleted. Final."""


def verdict(reply: WebhookReply) -> DeliveryVerdict:
    """Classify an answer. Only 2xx is a delivery; only 410 is a final failure of the receiver."""
    status = reply.status
    if reply.why == UNWANTED:
        return DeliveryVerdict("refused", reply.detail, final=True)
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
