"""Webhook deliveries: a result is posted until it is accepted or the schedule ends. Every attempt
is logged.

    waiting ──2xx──► delivered          one job per delivery, enqueued with the result it carries
       ▲  └──410, or the sixth failure──► failed
       └──────────resend by a person──────────┘

The workspace's secret is in the vault. Each attempt is signed with the present secret, also for
deliveries that were queued before a rotation.

Delivery is at least once: after a crash between the answer and its record, the same id is posted
again.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final, Literal

from assent.engine.core import jobs, journal
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.services import Services
from assent.engine.core.vault import Seal, Vault
from assent.engine.webhooks import hosts as webhook_hosts
from assent.gate import webhooks
from assent.gate.connection import OpenedSecrets
from assent.gate.webhooks import DeliveryVerdict, State, WebhookReply
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import HOUR_MS, WEBHOOK_RETENTION_MS
from assent.kernel.structs import Record, WireRecord, from_row
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


def enqueue(
    workspace_id: WorkspaceId, delivery_id: str, run_id: RunId, kind: str, url: str, result: Any, now_ms: int
) -> Transaction[None]:
    """In the transaction that stores the result: both commit or none."""
    yield statements.insert_webhook_delivery(
        workspace_id=workspace_id,
        delivery_id=delivery_id,
        run_id=run_id,
        type=kind,
        url=url,
        body=webhooks.message(kind, run_id, result).decode(),
        now_ms=now_ms,
    )
    yield from jobs.enqueue(
        workspace_id, DELIVER_JOB, delivery_id, {"deliveryId": delivery_id}, due_ms=now_ms, now_ms=now_ms
    )


async def deliver(services: Services, job: Job) -> None:
    """Attempt once. Raises to be tried again; the last failure is logged."""
    workspace_id, delivery_id = job.workspace_id, str(job.payload["deliveryId"])
    outbound = await services.store.read(partial(_outbound, workspace_id, delivery_id))
    if outbound is None or outbound.delivery.state != "waiting":
        return
    hosts = await services.store.read(partial(webhook_hosts.find, workspace_id))
    forbidden = webhook_hosts.explain_refusal(hosts, services.outgoing.webhook_host(outbound.delivery.url))
    secret = await signing_secret(services, workspace_id)
    began_ms, began = services.clock.now_ms(), asyncio.get_running_loop().time()
    headers = webhooks.headers(secret, delivery_id, began_ms, outbound.body)
    if forbidden is None:
        reply = await services.outgoing.post_webhook(outbound.delivery.url, outbound.body, headers)
    else:
        reply = WebhookReply(None, "host", forbidden)
    duration_ms = int((asyncio.get_running_loop().time() - began) * 1000)
    found = webhooks.verdict(reply)
    now_ms = services.clock.now_ms()
    again_ms = None if found.final else webhooks.next_try_ms(job.attempts, now_ms)
    await services.store.write(
        partial(
            _record, workspace_id, outbound.delivery, found, reply, (began_ms, duration_ms), again_ms, now_ms
        )
    )
    if again_ms is not None:
        raise JobFailed(f"webhook not delivered: {found.outcome}")


def _record(
    workspace_id: WorkspaceId,
    delivery: DeliveryRecord,
    found: DeliveryVerdict,
    reply: WebhookReply,
    took: tuple[int, int],
    again_ms: int | None,
    now_ms: int,
) -> Transaction[None]:
    """Log an attempt, update the delivery, and append the run's event at its end."""
    state: State = (
        "waiting" if again_ms is not None else "delivered" if found.outcome == "delivered" else "failed"
    )
    if again_ms is None:
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


def resend(workspace_id: WorkspaceId, delivery_id: str, now_ms: int, *, by: str) -> Transaction[Resent]:
    """Start an ended delivery again, with its whole schedule and the same id.

    One that is still being tried is not changed, unless its attempt is long overdue, which means
    that its worker died.
    """
    found = yield from find(workspace_id, delivery_id)
    if found is None:
        return "unknown"
    event = journal.NewEvent("webhook_resent", {"deliveryId": delivery_id, "by": by})
    head = yield from journal.lock_head(workspace_id, found.run_id, now_ms)
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


async def signing_secret(services: Services, workspace_id: WorkspaceId, *, rotate: bool = False) -> str:
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


def recent(workspace_id: WorkspaceId, before: str, most: int) -> Transaction[tuple[DeliveryRecord, ...]]:
    """List deliveries before a cursor, newest first."""
    rows = yield statements.list_webhook_deliveries(workspace_id=workspace_id, before=before, most=most)
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


def mask_url(url: str) -> str:
    """Mask a URL for lists and logs, because its query may hold a secret."""
    bare, asked, _ = url.partition("?")
    return f"{bare}?…" if asked else bare


def _outbound(workspace_id: WorkspaceId, delivery_id: str) -> Transaction[Outbound | None]:
    rows = yield statements.find_webhook_delivery(workspace_id=workspace_id, delivery_id=delivery_id)
    if not rows:
        return None
    # A row of an earlier release may contain a token.
    return Outbound(from_row(DeliveryRecord, rows[0]), webhooks.without_tokens(rows[0]["body"].encode()))
