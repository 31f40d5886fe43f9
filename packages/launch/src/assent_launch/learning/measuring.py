"""Measure what a run brought: for the agent that asks, and by the job that is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from assent.platform import note_event
from assent.sdk import (
    Asset,
    AssetId,
    Clock,
    Job,
    JobDeferred,
    Reason,
    Refusal,
    RunId,
    Services,
    Status,
    Transaction,
    WorkspaceId,
    bad_argument,
    complete_job,
    enqueue_job,
    iso_time,
    list_actions,
    readable_time,
)
from assent_launch.learning import measurement
from assent_launch.learning.measurement import Measurement, RunFacts, refuse_measurement, refuse_unmeasured

R = TypeVar("R")


async def measure_job(services: Services, job: Job) -> bool:
    """Measure a run and complete the job. If all sources are empty, record that."""
    if (early_ms := job.due_ms - services.clock.now_ms()) > 0:
        raise JobDeferred(early_ms)  # the clock was set back after the claim
    try:
        await measure(services, job.workspace_id, RunId(job.payload["runId"]), by="schedule", job=job)
    except Refusal as refusal:
        if refusal.reason is not Reason.MEASUREMENT_UNAVAILABLE:
            raise
        return False
    return True


async def measure(
    services: Services, workspace_id: WorkspaceId, run_id: RunId, *, by: str, job: Job | None = None
) -> tuple[Measurement, Asset]:
    """Read every source of a run, store the result and complete the job, if one is given.

    Refuses if nothing was sent, it is too early or no source has numbers.
    """
    now_ms = services.clock.now_ms()
    facts = await services.store.read(lambda: measurement.read_facts(workspace_id, run_id))
    sent = facts.sent
    if facts.planned.due_ms > now_ms:
        _refuse_early(facts, now_ms)
    connections = await services.connections.list_all(workspace_id)
    readings = await measurement.read_all(services, sent, facts.by_hand, connections, now_ms)
    if all(reading.status != "ok" for reading in readings):
        tried = {"by": by, "sources": [msgspec.to_builtins(reading) for reading in readings]}

        def note_empty() -> Transaction[None]:
            yield from note_event(workspace_id, "measurement_empty", tried, now_ms, stream_id=run_id)
            if job is not None:
                yield from complete_job(job, now_ms)

        await services.store.write(note_empty)
        if measurement.is_all_told(sent):
            raise refuse_unmeasured(sent)
        raise refuse_measurement(
            "No source has numbers yet: "
            + "; ".join(f"{services.effects.label(r.channel)}: {r.reason}" for r in readings),
            retry_after_seconds=measurement.RETRY_AFTER_SECONDS,
        )
    asset_id = AssetId(services.new_id(now_ms))
    found = measurement.assess_run(iso_time(now_ms), readings, services.effects, facts.earlier)
    described = measurement.describe_sources(readings, services.effects)
    asset = Asset(
        workspace_id=workspace_id,
        asset_id=asset_id,
        run_id=run_id,
        tenant_id=sent[0].tenant_id,
        type=measurement.ASSET_TYPE,
        title="Results",
        created_ms=now_ms,
        **measurement.present(found, described),
    )

    def keep() -> Transaction[tuple[Measurement, Asset]]:
        last, kept = yield from measurement.keep(facts, asset, found, described, by, now_ms)
        if job is not None:
            yield from complete_job(job, now_ms)
        if last is None:
            return found, kept
        return measurement.decode_measurement(last), kept

    return await services.store.write(keep)


async def report_numbers(
    clock: Clock,
    workspace_id: WorkspaceId,
    run_id: RunId,
    channel: str,
    metrics: dict[str, float],
    source: str,
    write: Callable[[Callable[[], Transaction[dict[str, float]]]], Awaitable[R]],
) -> R:
    """Store numbers that a person read, and measure the run with them if it is due. `write` gets all of the channel."""
    now_ms = clock.now_ms()

    def begin() -> Transaction[dict[str, float]]:
        of_run = yield from list_actions(workspace_id, run_id)
        sent = sorted({action.effect.channel for action in of_run if action.status is Status.EXECUTED})
        if not sent:
            raise refuse_measurement("Nothing of this run has been sent.")
        if channel not in sent:
            raise bad_argument("channel", "one that was sent: " + ", ".join(sent), repr(channel))
        kept = yield from measurement.record_reported(workspace_id, run_id, channel, metrics, source, now_ms)
        planned = yield from measurement.find(workspace_id, run_id)
        if planned is not None and planned.due_ms <= now_ms:
            key, payload = f"{run_id}:{now_ms}", {"runId": run_id}
            yield from enqueue_job(
                workspace_id, measurement.MEASURE_JOB, key, payload, due_ms=now_ms, now_ms=now_ms
            )
        return kept

    return await write(begin)


def _refuse_early(facts: RunFacts, now_ms: int) -> None:
    """Refuse before the due time, unless a person reported numbers of work by hand."""
    if not measurement.is_all_told(facts.sent):
        raise refuse_measurement(
            f"It is too early. Results arrive {readable_time(facts.planned.due_ms, now_ms)}."
        )
    if not facts.by_hand:
        raise refuse_unmeasured(facts.sent)
