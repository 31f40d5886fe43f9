"""Runs whose result comes after their answer. A job produces the result or a refusal, once.

    running ──the job stages it──► prepared        either way the end is posted to the webhook that the call named
        └──the job is refused────► failed

`assent.tools.long_runs` defines which tools do this.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions, search, staging
from assent.engine.actions.idempotency import run_once
from assent.engine.actions.staging import Reply, Request
from assent.engine.core import jobs, journal
from assent.engine.core.quota import meter
from assent.engine.core.services import MessageServices, Services
from assent.engine.core.tenancy import add_tenant
from assent.engine.webhooks import subscriptions as webhook_hosts
from assent.engine.webhooks import webhooks
from assent.gate.records import Run
from assent.gate.webhooks import name_event
from assent.kernel.ids import RunId
from assent.kernel.refusals import Refusal
from assent.kernel.structs import from_record
from assent.ports import Preparation, Transaction
from assent.present import guidance

RUNNING: Final = "running"
FAILED: Final = "failed"
CONTINUE_JOB: Final = "continue_run"


async def begin(services: Services, request: Request, shape: type[Reply], more: dict[str, Any]) -> Reply:
    """Store a run and the job that produces its result, and answer with its place.

    A repeated idempotency key gets this answer; the result goes to the run and the webhook.
    """
    now_ms = services.clock.now_ms()
    workspace_id = request.principal.workspace_id
    run = Run(
        workspace_id=workspace_id,
        run_id=RunId(services.new_id(now_ms)),
        tenant_id=request.tenant_id,
        operator=request.operator,
        tool=request.tool,
        inputs=request.inputs,
        outputs={},
        status=RUNNING,
        parent_run_id=request.parent_run_id,
        created_ms=now_ms,
    )
    base = staging.answer_prepared(services, request.principal, run, (), (), Preparation())
    guide = guidance.defer_guide(base.agent_guide, run.run_id)
    reply = from_record(shape, base, agent_guide=guide, stop_rule=guide.stop_rule, status=RUNNING, **more)
    host = services.outgoing.webhook_host(request.webhook_url) if request.webhook_url is not None else None
    payload = {"runId": run.run_id, "principal": msgspec.to_builtins(request.principal)}

    def transaction() -> Transaction[Reply]:
        if host is not None:
            yield from webhook_hosts.require_host(workspace_id, host)
        if run.tenant_id is not None:
            yield from add_tenant(workspace_id, run.tenant_id, run.tenant_id, now_ms)
        yield from actions.insert_run(run)
        yield from search.index(run)
        facts = {"operator": run.operator, "tool": run.tool, "by": request.principal.name}
        yield from journal.note(workspace_id, "run_started", facts, now_ms, stream_id=run.run_id)
        yield from jobs.enqueue(workspace_id, CONTINUE_JOB, run.run_id, payload, due_ms=now_ms, now_ms=now_ms)
        return reply

    def begin_once() -> Transaction[Reply]:
        return run_once(
            request.principal, request.tool, request.key, request.inputs, now_ms, shape, transaction
        )

    reply = await services.store.write(
        meter(begin_once, workspace_id, services.limits.storage_quota_bytes, now_ms)
    )
    services.background.wake_jobs()
    return reply


async def fail(services: MessageServices, run: Run, refusal: Refusal) -> None:
    """End a run with a refusal, which is posted to the webhook like a result."""
    now_ms = services.clock.now_ms()
    said: dict[str, Any] = msgspec.to_builtins(refusal.recovery())
    ended = msgspec.structs.replace(run, outputs={"refusal": said}, status=FAILED)
    delivery_id = services.new_id(now_ms)

    def transaction() -> Transaction[None]:
        if not (yield from actions.finish_run(ended)):
            return
        facts = {"reason": said.get("reason")}
        yield from journal.note(run.workspace_id, "run_failed", facts, now_ms, stream_id=run.run_id)
        if (url := run.inputs.get("webhookUrl")) is not None:
            yield from webhooks.enqueue(
                run.workspace_id, delivery_id, run.run_id, name_event(run.tool, FAILED), url, said, now_ms
            )

    await services.store.write(transaction)
    services.background.wake_jobs()
