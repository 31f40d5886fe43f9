"""Every kind of durable job, with its schedule. The handlers are in the modules they serve."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from assent.app import App
from assent.engine.actions import hooks, indexing, pictures
from assent.engine.actions import idempotency as once
from assent.engine.actions.recording import RECONCILE_JOB
from assent.engine.actions.send_jobs import SEND_JOB
from assent.engine.audit import copies
from assent.engine.audit.log import Signer
from assent.engine.core import jobs
from assent.engine.core.connection_store import CONNECTED_JOB
from assent.engine.core.jobs import Handler, Job, JobKind
from assent.engine.core.services import Services
from assent.engine.erasure.contents import ERASE_JOB, erase_old_content
from assent.engine.people import client_grants, mailed_links, notifications, people, signup
from assent.engine.webhooks import webhooks
from assent.engine.webhooks.long_runs import CONTINUE_JOB
from assent.engine.workflows.store import FORGET_JOB, forget_old_sessions
from assent.gate.webhooks import RETRY_DELAYS_MS
from assent.jobs import checkpoint_files, sending
from assent.jobs.worker import Sweep, sweeping
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.times import iso_time
from assent.tools import long_runs
from assent.tools.definition import Tool
from assent.use_cases import connections, executions

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
        SEND_JOB: JobKind(serve(sending.send)),
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
