"""Every kind of durable job, with its schedule, and the handler of the one that sends. The other handlers are in the
modules they serve."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from assent.app import App
from assent.engine.actions import actions, hooks, indexing, pictures
from assent.engine.actions import idempotency as once
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.recording import RECONCILE_JOB
from assent.engine.actions.send_jobs import SEND_JOB
from assent.engine.audit import copies
from assent.engine.audit.log import Signer
from assent.engine.core import freezes, jobs
from assent.engine.core.connection_store import CONNECTED_JOB
from assent.engine.core.jobs import Handler, Job, JobDeferred, JobFailed, JobKind
from assent.engine.core.services import ExecutionServices, Services
from assent.engine.erasure.contents import ERASE_JOB, erase_old_content
from assent.engine.people import client_grants, mailed_links, notifications, people, signup
from assent.engine.webhooks import webhooks
from assent.engine.webhooks.long_runs import CONTINUE_JOB
from assent.engine.workflows.store import FORGET_JOB, forget_old_sessions
from assent.gate.effects import EXECUTE
from assent.gate.next_try import is_tried_again, read_next_try
from assent.gate.records import Action, ExecutionState, Status
from assent.gate.webhooks import RETRY_DELAYS_MS
from assent.jobs import checkpoint_files
from assent.jobs.worker import Sweep, sweeping
from assent.kernel.ids import ActionId
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.present import notes
from assent.tools import long_runs
from assent.tools.definition import Tool
from assent.use_cases import connections, executions

# The job that executes an action without a chat: *approve and send now*, scheduled actions, and what failed before.
#
# It calls the same executor as every caller, which judges all of it. What certainly did not happen is planned again
# where it is recorded (`engine.actions.recording`). What cannot be tried before a person has done something, such as
# connecting an account or adding credits, is looked at again by this job. While sending is frozen, it waits.

SERVER: Final = "the server"
"""Who acts, in the journal."""

NEEDS_PERSON: Final = frozenset({Reason.MISSING_CONNECTOR, Reason.MISSING_CREDITS})


async def send(services: ExecutionServices, job: Job) -> None:
    """Handle the job. Raises `JobFailed` or `JobDeferred` to be tried again later."""
    action_id = ActionId(job.payload["actionId"])
    action, _, frozen = await services.store.read(
        lambda: actions.find_with_freeze(job.workspace_id, action_id)
    )
    if frozen is not None:
        raise JobDeferred(freezes.LOOK_AGAIN_MS)
    planned = read_next_try(action)
    if planned is not None and planned.at_ms is not None and job.payload.get("dueMs", 0) < planned.at_ms:
        return  # it was tried meanwhile, and a later try is planned
    order = _make_order(job, action)
    try:
        await executions.execute(services, order)
    except Refusal as refusal:
        if refusal.reason is Reason.FROZEN:
            raise JobDeferred(freezes.LOOK_AGAIN_MS) from refusal
        now_ms = services.clock.now_ms()
        action = await services.store.write(lambda: _notify_unsent(order, now_ms))
        approved = action.status is Status.APPROVED and action.execution_state is ExecutionState.NONE
        early_ms = (action.effect.schedule_ms or 0) - now_ms if approved else 0
        if early_ms > 0:
            raise JobDeferred(early_ms) from refusal  # the clock was set back
        recovery = refusal.recovery()
        waits = refusal.reason in NEEDS_PERSON and not is_tried_again(action, now_ms)
        if waits and (recovery.retryable or refusal.reason is Reason.MISSING_CREDITS):
            raise JobFailed(recovery.summary_for_user) from refusal


def _make_order(job: Job, action: Action) -> ExecutionOrder:
    """Return the order of a try. A repeated try serves the caller of the first one: its answer is kept under their
    idempotency key."""
    first = action.attempt if read_next_try(action) is not None else None
    keyed = first if first is not None and first.key is not None else None
    return ExecutionOrder(
        workspace_id=job.workspace_id,
        action_id=action.action_id,
        tool=keyed.tool if keyed is not None else EXECUTE,
        by=SERVER,
        key=keyed.key if keyed is not None else f"job:{job.key}",
        approval=job.payload.get("approval"),
        holder=keyed.holder if keyed is not None else None,
    )


def _notify_unsent(order: ExecutionOrder, now_ms: int) -> Transaction[Action]:
    """Notify people of an approved action that was not sent and is not tried again soon. Returns it."""
    action, _ = yield from actions.find(order.workspace_id, order.action_id)
    if notes.is_unsent(action, now_ms):
        yield from notifications.ask_about_stopped(action, now_ms)
    return action


log = logging.getLogger("assent.jobs")


def job_kinds(app: App) -> dict[str, JobKind]:
    """Return the table of kinds."""
    added = (each.make_jobs(app.services) for each in app.installed)
    return {**{kind: job for kinds in added for kind, job in kinds.items()}, **core_kinds(app)}


def core_kinds(app: App) -> dict[str, JobKind]:
    """Return the kinds that every server has."""
    store, clock, in_flight = app.store, app.clock, webhooks.InFlight()

    def serve(handle: Callable[[Services, Job], Awaitable[bool | None]]) -> Handler:
        """Give a handler the services of the job's workspace."""
        return lambda job: handle(app.services.for_workspace(job.workspace_id), job)

    return {
        SEND_JOB: JobKind(serve(send)),
        RECONCILE_JOB: JobKind(serve(executions.reconcile), must_run=True),
        CONNECTED_JOB: JobKind(serve(connections.follow)),
        hooks.REPEAT_JOB: JobKind(serve(hooks.repeat), must_run=True),
        webhooks.DELIVER_JOB: JobKind(
            serve(lambda services, job: webhooks.deliver(services, in_flight, job)),
            retry_delays_ms=RETRY_DELAYS_MS,
            apart=True,
        ),
        CONTINUE_JOB: JobKind(
            serve(lambda services, job: long_runs.finish(services, partial(_find_tool, app), job)), apart=True
        ),
        mailed_links.MAIL_JOB: JobKind(serve(mailed_links.send), apart=True),
        notifications.NOTIFY_JOB: JobKind(
            serve(notifications.notify_target), apart=True, lease_ms=notifications.LEASE_MS
        ),
        "remind_people": JobKind(
            sweeping(store, clock, notifications.enqueue_due), every_ms=notifications.EVERY_MS
        ),
        "index_staged": JobKind(_indexing(app), every_ms=indexing.EVERY_MS),
        "forget_reminders": JobKind(sweeping(store, clock, notifications.forget_old), every_ms=HOUR_MS),
        "forget_notifications": JobKind(
            sweeping(store, clock, notifications.forget_messages), every_ms=HOUR_MS
        ),
        "forget_webhook_deliveries": JobKind(sweeping(store, clock, webhooks.forget_old), every_ms=HOUR_MS),
        "write_audit_checkpoint": JobKind(_checkpointing(app), every_ms=HOUR_MS),
        "forget_signup_links": JobKind(sweeping(store, clock, signup.forget_expired_links), every_ms=HOUR_MS),
        "forget_sign_ins": JobKind(sweeping(store, clock, people.forget_ended), every_ms=HOUR_MS),
        "forget_clients": JobKind(sweeping(store, clock, client_grants.forget_ended), every_ms=HOUR_MS),
        "forget_idempotency_keys": JobKind(sweeping(store, clock, once.forget_expired), every_ms=HOUR_MS),
        "forget_pictures": JobKind(sweeping(store, clock, pictures.forget_unused), every_ms=HOUR_MS),
        FORGET_JOB: JobKind(sweeping(store, clock, _old_sessions(app)), every_ms=HOUR_MS),
        ERASE_JOB: JobKind(_erasing(app), every_ms=DAY_MS),
        "forget_finished_jobs": JobKind(sweeping(store, clock, jobs.purge_finished), every_ms=HOUR_MS),
    }


def _find_tool(app: App, name: str) -> Tool | None:
    # Imported late: the table of tools is large, and most processes have no long run.
    from assent.tools.catalog import Catalog, arrange

    offered = [tool for extension in app.installed for tool in extension.list_tools()]
    return Catalog(arrange(offered)).by_name.get(name)


def _old_sessions(app: App) -> Sweep:
    kept_ms = app.settings.workflow_retention_days * DAY_MS
    return lambda now_ms, most: forget_old_sessions(now_ms - kept_ms, now_ms, most)


def _indexing(app: App) -> Handler:
    async def run(job: Job) -> None:
        await indexing.catch_up(app.store)

    return run


def _erasing(app: App) -> Handler:
    async def run(job: Job) -> None:
        if days := app.settings.content_retention_days:
            sign = Signer(app.keys.master).sign_text
            await erase_old_content(app.store, sign, days * DAY_MS, app.clock.now_ms())

    return run


def _checkpointing(app: App) -> Handler:
    async def run(job: Job) -> None:
        await checkpoint_files.write(app)
        now_ms = app.clock.now_ms()
        if (since_ms := await app.store.write(lambda: copies.warn(now_ms))) is not None:
            command = app.services.links.shell_command(*copies.COMMAND)
            log.warning(
                "no checkpoint of the journal since %s is known to be on another machine. %s",
                iso_time(since_ms),
                copies.explain(command),
            )

    return run
