"""What the suite does inside the transactions of the core, and by jobs of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from assent.platform import Subscriber
from assent.sdk import Job, JobKind, Services
from assent_launch.learning import credits, measurement, measuring, memory, reports


def list_subscribers() -> tuple[Subscriber, ...]:
    return (
        Subscriber(
            name="credits",
            weigh=credits.weigh_costs,
            claimed=credits.reserve,
            settled=credits.settle_outcome,
            account=reports.read_account,
        ),
        Subscriber(
            name="memory",
            staged=memory.note_drafts,
            decided=memory.remember_decision,
            approval_ended=memory.forget_approval,
            erased=memory.forget_content,
            origins=reports.read_origins,
        ),
        Subscriber(
            name="measurement",
            settled=measurement.schedule,
            results=reports.read_results,
            status=reports.read_status,
        ),
    )


def make_jobs(services: Services) -> Mapping[str, JobKind]:
    def measure(job: Job) -> Awaitable[bool | None]:
        return measuring.measure_job(services.for_workspace(job.workspace_id), job)

    return {measurement.MEASURE_JOB: JobKind(measure, must_run=True)}
