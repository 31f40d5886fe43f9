"""An unknown outcome is looked at when a person or an agent asks. Killed workers end neither the looks nor a
measurement."""

from __future__ import annotations

from functools import partial

import pytest
from tests.engine.actions.kit import EXECUTE, RESOLVE, Gate
from tests.engine.actions.provider import lost_after

from assent.engine.actions.recording import RECONCILE_JOB
from assent.engine.core import jobs
from assent.engine.core.jobs import Job
from assent.engine.learning.measurement import MEASURE_JOB
from assent.jobs.kinds import job_kinds
from assent.kernel.limits import JOB_LEASE_MS
from assent.use_cases.measurements import measure_job

pytestmark = [pytest.mark.anyio, pytest.mark.rule("E29")]


async def lost(surface: Gate, connector: str) -> str:
    surface.providers[connector].plan.append(lost_after)
    action_id = await surface.approved(connector=connector)
    answer = await surface.denied("chieflab_execute_approved_action", actionId=action_id)
    assert answer["reason"] == "outcome_unknown"
    return action_id


@pytest.mark.parametrize("looks", [1, 3, 6])
async def test_the_agent_lets_the_provider_be_asked_now(surface: Gate, looks: int) -> None:
    """While the next retry is far, and after the last one."""
    provider = surface.providers["readback"]
    provider.blind = True
    action_id = await lost(surface, "readback")
    for _ in range(looks):
        surface.clock.advance(hours=2)
        await surface.run_jobs()
    assert provider.look_ups == looks
    provider.blind = False
    await surface.run_jobs()
    assert provider.look_ups == looks, "nothing is due"
    answer = await surface.done(RESOLVE, actionId=action_id, outcome="look_now")
    assert answer["executionState"] == "outcome_unknown"
    assert "asked now" in answer["userMessage"]
    await surface.run_jobs()
    assert (await surface.where(action_id), len(surface.ledger)) == ("executed", 1)
    late = await surface.denied(RESOLVE, actionId=action_id, outcome="look_now")
    assert late["reason"] == "action_closed"


async def test_a_provider_that_cannot_be_asked_is_named(surface: Gate) -> None:
    action_id = await lost(surface, "unaware")
    answer = await surface.done(RESOLVE, actionId=action_id, outcome="look_now")
    assert "cannot be asked" in answer["userMessage"]
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"


async def test_an_answer_still_needs_evidence(surface: Gate) -> None:
    action_id = await lost(surface, "unaware")
    answer = await surface.denied(RESOLVE, actionId=action_id, outcome="happened")
    assert answer["reason"] == "validation_error"
    assert await surface.where(action_id) == "outcome_unknown"


async def test_killed_workers_use_up_no_look(surface: Gate) -> None:
    action_id = await lost(surface, "readback")
    surface.clock.advance(seconds=3)
    await lose_workers(surface, RECONCILE_JOB)
    surface.clock.advance(seconds=JOB_LEASE_MS / 1000)
    await surface.run_jobs()
    assert (await surface.where(action_id), len(surface.ledger)) == ("executed", 1)


@pytest.mark.parametrize("last_measures", [False, True])
async def test_killed_workers_neither_use_up_nor_repeat_a_measurement(
    surface: Gate, last_measures: bool
) -> None:
    """The last of them may have noted that no source has numbers before it was killed."""
    action_id = await surface.approved()
    await surface.done(EXECUTE, actionId=action_id)
    surface.clock.advance(days=2)
    last = await lose_workers(surface, MEASURE_JOB)
    if last_measures:
        await measure_job(surface.app.owner_services, last)
    surface.clock.advance(seconds=JOB_LEASE_MS / 1000)
    await surface.run_jobs()
    events = await surface.events((await surface.stored(action_id)).run_id)
    assert [event["kind"] for event in events].count("measurement_empty") == 1


async def lose_workers(surface: Gate, kind: str) -> Job:
    """Let many workers claim a job and die; the job as the last of them has it."""
    kinds = {kind: job_kinds(surface.app)[kind]}
    for _ in range(jobs.MANY_LOST_WORKERS // 5):
        surface.clock.advance(seconds=JOB_LEASE_MS / 1000)
        now_ms = surface.clock.now_ms()
        (job,) = await surface.app.store.write(partial(jobs.claim_due, kinds, now_ms, 1, "killed"))
    assert job.tries == 1
    return job
