"""Webhook deliveries: a result or an event is posted until it is accepted or the schedule ends. Every
attempt is logged.

    waiting ──2xx──► delivered          one job per delivery, enqueued with what it carries
       ▲  └──410, or the sixth failure──► failed
       └──────────resend by a person──────────┘

A result goes to the address that a call named, an event to a subscription. What waits for a
subscription that was turned off or deleted is not sent. An address that hangs does not keep others
waiting: a workspace has a bounded number of attempts per host at once, and one while it fails.

The workspace's secret is in the vault. Each attempt is signed with the present secret, also for
deliveries that were queued before a rotation.

Delivery is at least once: after a crash between the answer and its record, the same id is posted
again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Literal

from assent.engine.core import jobs, journal
from assent.engine.core.jobs import Job, JobDeferred, JobFailed
from assent.engine.core.services import MessageServices
from assent.engine.core.vault import Seal, Vault
from assent.engine.webhooks import subscriptions
from assent.engine.webhooks.subscriptions import Subscription
from assent.gate import webhooks
from assent.gate.connection import OpenedSecrets
from assent.gate.webhooks import DeliveryVerdict, State, WebhookReply
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import (
    DELIVERIES_AT_ONCE,
    HOUR_MS,
    MAX_QUEUED_EVENTS,
    MINUTE_MS,
    SECOND_MS,
    WEBHOOK_RETENTION_MS,
)
from assent.kernel.structs import Record, WireRecord, from_record, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

DELIVER_JOB: Final = "deliver_webhook"
HOLDER: Final = "webhooks"
FIELD: Final = "secret"

MAX_TRIES_KEPT: Final = 60
"""Log lines kept per delivery: ten whole schedules. Older ones are deleted."""

MAX_DETAIL_CHARS: Final = 300

Resent = Literal["resent", "waiting", "unknown"]
"""The result of `resend`: done, still being tried, or no such delivery."""


class NewDelivery(Record):
    """A delivery to enqueue. One without a subscription goes to the address that a call named."""

    workspace_id: WorkspaceId
    delivery_id: str
    run_id: str
    type: str
    url: str
    body: bytes
    subscription_id: str = ""
    action_id: str = ""


class DeliveryRecord(WireRecord, kw_only=True):
    delivery_id: str
    run_id: str
    type: str
    url: str
    state: State
    tries: int
    resends: int
    next_try_ms: int | None
    created_ms: int
    ended_ms: int | None
    subscription_id: str
    """Empty for the result of a run."""
    action_id: str


class Try(WireRecord, kw_only=True):
    """One attempt in the log. `status` is None if there was no answer."""

    number: int
    at_ms: int
    duration_ms: int
    outcome: str
    status: int | None
    detail: str


class Outbound(Record):
    delivery: DeliveryRecord
    body: bytes
    subscription: Subscription | None

    @property
    def is_unwanted(self) -> bool:
        """Whether its subscription was turned off or deleted."""
        held = self.subscription
        return bool(self.delivery.subscription_id) and (held is None or not held.enabled)

    @property
    def fails(self) -> bool:
        """Whether the last attempt for its subscription failed."""
        return self.subscription is not None and self.subscription.failing_since_ms is not None


class InFlight:
    """The attempts of this process by workspace and host."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def hold(self, workspace_id: str, host: str, *, fails: bool) -> Iterator[None]:
        """Count an attempt while it lasts. Raises `JobDeferred` if there are too many."""
        key = (workspace_id, host)
        if self._counts[key] >= (1 if fails else DELIVERIES_AT_ONCE):
            raise JobDeferred(MINUTE_MS if fails else SECOND_MS)
        self._counts[key] += 1
        try:
            yield
        finally:
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]


def enqueue(
    workspace_id: WorkspaceId, delivery_id: str, run_id: RunId, kind: str, url: str, result: Any, now_ms: int
) -> Transaction[None]:
    """In the transaction that stores the result: both commit or none."""
    body = webhooks.message(kind, run_id, result)
    yield from post(NewDelivery(workspace_id, delivery_id, run_id, kind, url, body), now_ms)


def post(new: NewDelivery, now_ms: int) -> Transaction[None]:
    """Store a delivery and its job, in the transaction that causes it. One that is stored stays as it is."""
    if not (yield from _insert(new, "waiting", now_ms)):
        return
    payload = {"deliveryId": new.delivery_id}
    yield from jobs.enqueue(
        new.workspace_id, DELIVER_JOB, new.delivery_id, payload, due_ms=now_ms, now_ms=now_ms
    )


def drop(new: NewDelivery, now_ms: int) -> Transaction[None]:
    """Store a delivery that is not tried, because too many wait for its subscription. A person can
    resend it."""
    if not (yield from _insert(new, "failed", now_ms)):
        return
    yield statements.insert_webhook_try(
        workspace_id=new.workspace_id,
        delivery_id=new.delivery_id,
        number=0,
        at_ms=now_ms,
        duration_ms=0,
        outcome="refused",
        status=None,
        detail=f"not tried: {MAX_QUEUED_EVENTS} deliveries to this address were waiting",
    )


def _insert(new: NewDelivery, state: State, now_ms: int) -> Transaction[bool]:
    rows = yield from_record(
        statements.insert_webhook_delivery,
        new,
        body=new.body.decode(),
        state=state,
        next_try_ms=now_ms if state == "waiting" else None,
        ended_ms=None if state == "waiting" else now_ms,
        now_ms=now_ms,
    )
    return bool(rows)


async def deliver(services: MessageServices, in_flight: InFlight, job: Job) -> None:
    """Attempt once. Raises to be tried again; the last failure is logged."""
    workspace_id = job.workspace_id
    outbound = await services.store.read(partial(_outbound, workspace_id, str(job.payload["deliveryId"])))
    if outbound is None or outbound.delivery.state != "waiting":
        return
    host = services.outgoing.webhook_host(outbound.delivery.url)
    with in_flight.hold(workspace_id, host, fails=outbound.fails):
        began_ms, began = services.clock.now_ms(), asyncio.get_running_loop().time()
        reply = await _attempt(services, workspace_id, outbound, host, began_ms)
        duration_ms = int((asyncio.get_running_loop().time() - began) * 1000)
        found = webhooks.verdict(reply)
        now_ms = services.clock.now_ms()
        again_ms = None if found.final else webhooks.next_try_ms(job.attempts, now_ms)
        took = began_ms, duration_ms
        await services.store.write(
            partial(_record, workspace_id, outbound.delivery, found, reply, took, again_ms, now_ms)
        )
    if again_ms is not None:
        raise JobFailed(f"webhook not delivered: {found.outcome}")


async def _attempt(
    services: MessageServices, workspace_id: WorkspaceId, outbound: Outbound, host: str, now_ms: int
) -> WebhookReply:
    """Post a delivery if its subscription and the workspace still want it there."""
    delivery, body = outbound.delivery, outbound.body
    if outbound.is_unwanted:
        return WebhookReply(None, webhooks.UNWANTED, "The subscription was turned off or deleted.")
    hosts = await services.store.read(partial(subscriptions.find_hosts, workspace_id))
    forbidden = subscriptions.explain_host(hosts, host)
    if forbidden is not None:
        return WebhookReply(None, "host", forbidden)
    if delivery.subscription_id:
        body = webhooks.complete_event(body, services.links.base_url)
    secret = await signing_secret(services, workspace_id)
    headers = webhooks.headers(secret, delivery.delivery_id, now_ms, body)
    return await services.outgoing.post_webhook(delivery.url, body, headers)


def _record(
    workspace_id: WorkspaceId,
    delivery: DeliveryRecord,
    found: DeliveryVerdict,
    reply: WebhookReply,
    took: tuple[int, int],
    again_ms: int | None,
    now_ms: int,
) -> Transaction[None]:
    """Log an attempt and update the delivery. At the end of a result, append the run's event; after an
    event, note how its subscription stands."""
    state: State = (
        "waiting" if again_ms is not None else "delivered" if found.outcome == "delivered" else "failed"
    )
    if again_ms is None and not delivery.subscription_id:
        facts = {"deliveryId": delivery.delivery_id, "outcome": found.outcome, "status": reply.status}
        yield from journal.note(workspace_id, f"webhook_{state}", facts, now_ms, stream_id=delivery.run_id)
    counted = yield statements.count_webhook_try(
        workspace_id=workspace_id,
        delivery_id=delivery.delivery_id,
        state=state,
        next_try_ms=again_ms,
        ended_ms=None if again_ms is not None else now_ms,
    )
    if not counted:
        return
    number = counted[0]["tries"]
    yield statements.insert_webhook_try(
        workspace_id=workspace_id,
        delivery_id=delivery.delivery_id,
        number=number,
        at_ms=took[0],
        duration_ms=took[1],
        outcome=found.outcome,
        status=reply.status,
        detail=found.detail[:MAX_DETAIL_CHARS],
    )
    yield statements.drop_old_webhook_tries(
        workspace_id=workspace_id, delivery_id=delivery.delivery_id, up_to=number - MAX_TRIES_KEPT
    )
    if delivery.subscription_id and reply.why != webhooks.UNWANTED:
        noted = (
            statements.note_subscription_delivery
            if state == "delivered"
            else statements.note_subscription_failure
        )
        yield noted(workspace_id=workspace_id, subscription_id=delivery.subscription_id, now_ms=now_ms)


def resend(workspace_id: WorkspaceId, delivery_id: str, now_ms: int, *, by: str) -> Transaction[Resent]:
    """Start an ended delivery again, with its whole schedule and the same id.

    One that is still being tried is not changed, unless its attempt is long overdue, which means
    that its worker died.
    """
    found = yield from find(workspace_id, delivery_id)
    if found is None:
        return "unknown"
    event = journal.NewEvent("webhook_resent", {"deliveryId": delivery_id, "by": by})
    head = yield from journal.lock_head(workspace_id, found.run_id or workspace_id, now_ms)
    rows = yield statements.reopen_webhook_delivery(
        workspace_id=workspace_id, delivery_id=delivery_id, now_ms=now_ms, overdue_ms=now_ms - HOUR_MS
    )
    if not rows:
        return "waiting"
    yield from journal.append_to(head, [event], now_ms)
    key = f"{delivery_id}:{rows[0]['resends']}"
    yield from jobs.enqueue(
        workspace_id, DELIVER_JOB, key, {"deliveryId": delivery_id}, due_ms=now_ms, now_ms=now_ms
    )
    return "resent"


async def signing_secret(
    services: MessageServices, workspace_id: WorkspaceId, *, rotate: bool = False
) -> str:
    """Return the workspace's secret, created at first use. `rotate` replaces it."""
    if not rotate:
        kept = await services.store.read(partial(services.vault.open, workspace_id, HOLDER))
        if FIELD in kept:
            return kept[FIELD]
    fresh = webhooks.secret_text(services.entropy(webhooks.SECRET_BYTES))
    seal, now_ms = services.vault.seal(1), services.clock.now_ms()
    return await services.store.write(
        partial(_keep_secret, services.vault, workspace_id, fresh, seal, now_ms, rotate)
    )


def _keep_secret(
    vault: Vault, workspace_id: WorkspaceId, fresh: str, seal: Seal, now_ms: int, rotate: bool
) -> Transaction[str]:
    # The workspace's stream is the lock: of two concurrent calls, the second finds the first one's
    # secret.
    head = yield from journal.lock_head(workspace_id, workspace_id, now_ms)
    kept = yield from vault.open(workspace_id, HOLDER)
    if FIELD in kept and not rotate:
        return kept[FIELD]
    yield from vault.put(workspace_id, HOLDER, OpenedSecrets({FIELD: fresh}), seal, now_ms)
    kind = "webhook_secret_rotated" if FIELD in kept else "webhook_secret_made"
    yield from journal.append_to(head, [journal.NewEvent(kind, {})], now_ms)
    return fresh


def find(workspace_id: WorkspaceId, delivery_id: str) -> Transaction[DeliveryRecord | None]:
    outbound = yield from _outbound(workspace_id, delivery_id)
    return outbound.delivery if outbound is not None else None


def recent(
    workspace_id: WorkspaceId, before: str, most: int, *, subscription_id: str = "", state: str = ""
) -> Transaction[tuple[DeliveryRecord, ...]]:
    """List deliveries before a cursor, newest first: all, or those of a subscription or in a state."""
    if subscription_id:
        rows = yield statements.list_subscription_deliveries(
            workspace_id=workspace_id, subscription_id=subscription_id, before=before, most=most, state=state
        )
    else:
        rows = yield statements.list_webhook_deliveries(
            workspace_id=workspace_id, before=before, most=most, state=state
        )
    return tuple(from_row(DeliveryRecord, row) for row in rows)


def tries(workspace_id: WorkspaceId, delivery_id: str) -> Transaction[tuple[Try, ...]]:
    """List the attempts of a delivery, oldest first."""
    rows = yield statements.list_webhook_tries(workspace_id=workspace_id, delivery_id=delivery_id)
    return tuple(from_row(Try, row) for row in rows)


def forget_old(now_ms: int, most: int) -> Transaction[int]:
    """Returns the number of deliveries deleted."""
    before_ms = now_ms - WEBHOOK_RETENTION_MS
    yield statements.forget_webhook_tries(created_before_ms=before_ms, most=most)
    return len((yield statements.forget_webhook_deliveries(created_before_ms=before_ms, most=most)))


def _outbound(workspace_id: WorkspaceId, delivery_id: str) -> Transaction[Outbound | None]:
    rows = yield statements.find_webhook_delivery(workspace_id=workspace_id, delivery_id=delivery_id)
    if not rows:
        return None
    delivery = from_row(DeliveryRecord, rows[0])
    subscription = None
    if delivery.subscription_id:
        subscription = yield from subscriptions.find(workspace_id, delivery.subscription_id)
    return Outbound(delivery, rows[0]["body"].encode(), subscription)
