"""A clock that is set back leaves no action without a next step, makes no key look fresh and locks no workspace out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import EDIT, EXECUTE, OTHER, PENDING, REJECT, WITHDRAW, Gate
from tests.support.actions.provider import Provider, hangs_after, lost_after, lost_before, providers
from tests.support.jobs.kit import claim

from assent.engine.actions import decisions, drift_probe
from assent.engine.actions.send_jobs import SEND_JOB
from assent.engine.core import jobs
from assent.engine.core.rate import SLOTS, calls_window
from assent.gate.gate import ANY_CONTENT
from assent.gate.records import OBSERVED, Action, Observation, Status
from assent.jobs.kinds import job_kinds, send
from assent.kernel.ids import ActionId
from assent.kernel.limits import HOUR_MS, SECOND_MS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.times import iso_time
from assent.ports import Delivered
from assent_launch.learning import measurement, measuring

LEASE_SECONDS = 60


def set_back(gate: Gate, hours: float = 2) -> None:
    gate.clock.advance(hours=-hours)


@pytest.mark.rule("E29", "E61")
@pytest.mark.parametrize("connector", ["unaware", "native", "readback", "natural"])
async def test_an_action_of_a_dead_process_has_a_next_step_although_the_clock_was_set_back(
    surface: Gate, connector: str
) -> None:
    action_id = await surface.approved(connector=connector)
    await surface.claim(action_id)
    set_back(surface)
    await surface.run_jobs()
    state = await surface.where(action_id)
    if connector == "natural":
        assert (state, len(surface.ledger)) == ("executed", 1)
        return
    assert state == ("retryable" if connector == "readback" else "outcome_unknown")
    if state == "outcome_unknown":
        await surface.answer_as_person(action_id, happened=False)
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.done(EXECUTE, actionId=action_id)
    assert len(surface.ledger) == 1


async def test_a_call_in_flight_is_not_sent_beside_itself_after_the_clock_was_set_back(surface: Gate) -> None:
    """The look finds nothing because the call has not arrived yet. For the length of a lease there is no new
    attempt, and nothing forgets this one: its report must still find the action."""
    going, arrives = asyncio.Event(), asyncio.Event()

    async def slow(provider: Provider, action: Action) -> Delivered:
        going.set()
        await arrives.wait()
        return provider.deliver(action)

    surface.providers["readback"].plan.append(slow)
    action_id = await surface.approved(connector="readback")
    first = asyncio.create_task(surface.ask(EXECUTE, actionId=action_id))
    await going.wait()
    set_back(surface)
    await surface.run_jobs()
    assert await surface.where(action_id) == "retryable"
    changes = {EXECUTE: {}, WITHDRAW: {}, REJECT: {"reason": "No."}, EDIT: {"body": OTHER}}
    for tool, arguments in changes.items():
        refused = await surface.denied(tool, actionId=action_id, **arguments)
        assert refused["reason"] == "execution_in_progress", tool
    drifted = await surface.stored(action_id)
    with pytest.raises(Refusal) as held:
        await drift_probe.send_back(
            surface.app.owner_services, drifted, Observation(), (), by="Ada", via="page"
        )
    assert held.value.reason is Reason.EXECUTION_IN_PROGRESS
    arrives.set()
    await first
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.parametrize("hours", [0.001, 2, 24 * 365])
async def test_a_key_does_not_look_fresh_because_the_clock_was_set_back(surface: Gate, hours: float) -> None:
    provider = surface.providers["native"]
    provider.plan.append(lost_after)
    action_id = await surface.approved(connector="native")
    await surface.ask(EXECUTE, actionId=action_id)
    set_back(surface, hours)
    await surface.run_jobs()
    assert (provider.calls, await surface.where(action_id)) == (1, "outcome_unknown")


@pytest.mark.parametrize("hours", [2, 12])
async def test_a_key_does_not_look_fresh_because_the_clock_was_set_back_by_less_than_its_age(
    surface: Gate, hours: float
) -> None:
    """The provider recognises the key for a day, so it is taken for fresh for half a day."""
    provider = surface.providers["native"]
    provider.plan.append(lost_after)
    action_id = await surface.approved(connector="native")
    await surface.ask(EXECUTE, actionId=action_id)
    surface.clock.advance(hours=13)
    await surface.staged()
    set_back(surface, hours)
    await surface.run_jobs()
    assert (provider.calls, await surface.where(action_id)) == (1, "outcome_unknown")


async def test_a_repeated_call_of_a_dead_process_does_not_hold_the_action(surface: Gate) -> None:
    """The lease of a repetition is over as well; then a person can answer."""
    going = asyncio.Event()

    async def hangs(provider: Provider, action: Action) -> Delivered:
        going.set()
        return await hangs_after(provider, action)

    surface.providers["native"].plan += [lost_before, hangs]
    action_id = await surface.approved(connector="native")
    await surface.ask(EXECUTE, actionId=action_id)
    surface.clock.advance(hours=5)
    looking = asyncio.create_task(surface.run_jobs())
    await going.wait()
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    with pytest.raises(Refusal) as held:
        await surface.answer_as_person(action_id, happened=True)
    assert held.value.reason is Reason.EXECUTION_IN_PROGRESS
    set_back(surface)
    await surface.answer_as_person(action_id, happened=True)
    assert await surface.where(action_id) == "executed"


@pytest.mark.parametrize("changed_settings", [{"rate_limit_per_minute": 20}], indirect=True)
@pytest.mark.rule("E83", "E97")
async def test_a_workspace_is_not_locked_out_because_the_clock_was_set_back(surface: Gate) -> None:
    surface.clock.advance(hours=2)
    answers = [await surface.ask(PENDING) for _ in range(21)]
    assert answers[-1].payload["reason"] == "rate_limited"
    set_back(surface)
    refused = await surface.denied(PENDING)
    assert refused["reason"] == "rate_limited"
    assert 0 < refused["retryAfterSeconds"] <= SLOTS + 1
    surface.clock.advance(seconds=refused["retryAfterSeconds"])
    assert not (await surface.ask(PENDING)).is_error


async def test_jobs_that_come_too_early_wait_for_their_time(surface: Gate) -> None:
    """Each was claimed when its time had come, and runs when it has not: the clock was set back between."""
    services, kinds = surface.app.owner_services, job_kinds(surface.app)
    scheduled = await surface.approved(scheduleFor=iso_time(surface.clock.now_ms() + HOUR_MS))
    sent = await surface.approved()
    await surface.done(EXECUTE, actionId=sent)
    surface.clock.advance(days=8)
    claimed = await claim(surface.app.store, kinds, surface.clock.now_ms(), 100)
    found = {job.kind: job for job in claimed}
    set_back(surface, 24 * 8)
    with pytest.raises(jobs.JobDeferred) as waits:
        await send(services, found[SEND_JOB])
    assert waits.value.delay_ms == HOUR_MS
    with pytest.raises(jobs.JobDeferred):
        await measuring.measure_job(services, found[measurement.MEASURE_JOB])
    assert await surface.where(scheduled) == "approved"


async def test_a_page_is_not_stale_because_the_clock_was_set_back(surface: Gate) -> None:
    """What was observed bears a time of the future; the page that shows it was rendered just now."""
    action_id = await surface.staged()
    stored = await surface.stored(action_id)
    later = Observation(since_ms=surface.clock.now_ms() + HOUR_MS)
    await surface.overwrite(action_id, metadata={**stored.metadata, OBSERVED: msgspec.to_builtins(later)})
    now_ms = surface.clock.now_ms()
    decider = msgspec.structs.replace(surface.someone(), shown_ms=now_ms)
    approved = await surface.decide(
        lambda: decisions.approve(
            decider, ActionId(action_id), ANY_CONTENT, now_ms, seals=surface.app.keys.seals
        )
    )
    assert approved.status is Status.APPROVED


@pytest.fixture
async def two_clocks(own_database_url: str, tmp_path: Path) -> AsyncIterator[tuple[Gate, Gate]]:
    """Two servers on one store, the first with a clock that is two hours ahead."""
    world = providers()
    ahead = gate_over(own_database_url, tmp_path, "http", world)
    behind = gate_over(own_database_url, tmp_path, "http", world)
    try:
        ahead.workspace_id = behind.workspace_id = (await behind.sign_in()).workspace_id
        ahead.key = behind.key
        ahead.clock.advance(hours=2)
        yield ahead, behind
    finally:
        await ahead.close()
        await behind.close()


@pytest.mark.rule("E29", "E61")
@pytest.mark.parametrize("connector", ["unaware", "readback"])
async def test_an_action_of_a_dead_process_with_a_clock_ahead_is_freed_by_another(
    two_clocks: tuple[Gate, Gate], connector: str
) -> None:
    ahead, behind = two_clocks
    action_id = await behind.approved(connector=connector)
    await ahead.claim(action_id)
    await behind.run_jobs()
    assert await behind.where(action_id) in ("outcome_unknown", "retryable")
    if connector == "unaware":
        await behind.answer_as_person(action_id, happened=False)
    behind.clock.advance(seconds=LEASE_SECONDS)
    await behind.done(EXECUTE, actionId=action_id)
    assert len(behind.ledger) == 1


async def test_processes_whose_clocks_differ_refuse_no_call_for_longer_than_a_window(
    two_clocks: tuple[Gate, Gate],
) -> None:
    ahead, behind = two_clocks
    window, now_ms = calls_window(20), behind.clock.now_ms()
    for gate in (ahead, behind):
        with pytest.raises(Refusal):
            for _ in range(21):
                await gate.app.owner_services.limits.rate_limiter.count(
                    window, gate.workspace_id, "", gate.clock.now_ms()
                )
    limiter = behind.app.owner_services.limits.rate_limiter
    with pytest.raises(Refusal) as refused:
        await limiter.count(window, behind.workspace_id, "", now_ms)
    assert refused.value.retry_after_seconds is not None
    assert refused.value.retry_after_seconds <= SLOTS + 1
    now_ms += refused.value.retry_after_seconds * SECOND_MS
    await limiter.count(window, behind.workspace_id, "", now_ms)
