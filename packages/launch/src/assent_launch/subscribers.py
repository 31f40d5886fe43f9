"""What the suite does inside the transactions of the core, and by jobs of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from assent.platform.services import (
    MANY_LOST_WORKERS,
    Job,
    JobKind,
    Services,
    Subscriber,
    credits,
    measurement,
    measurements,
    memory,
)


def list_subscribers() -> tuple[Subscriber, ...]:
    return (
        Subscriber(
            name="credits", weigh=credits.weigh_costs, claimed=credits.reserve, settled=credits.settle_outcome
        ),
        Subscriber(
            name="memory",
            staged=memory.note_drafts,
            decided=memory.remember_decision,
            approval_ended=memory.forget_approval,
            erased=memory.forget_content,
        ),
        Subscriber(name="measurement", settled=measurement.schedule),
    )


def make_jobs(services: Services) -> Mapping[str, JobKind]:
    def measure(job: Job) -> Awaitable[bool | None]:
        return measurements.measure_job(services.for_workspace(job.workspace_id), job)

    return {measurement.MEASURE_JOB: JobKind(measure, lost_workers=MANY_LOST_WORKERS)}
