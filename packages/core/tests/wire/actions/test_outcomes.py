"""What becomes of an attempt: what is known is said, what is not is never guessed, nothing is sent twice (C10, C30)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, RESOLVE, WITHDRAW, Gate, armed
from tests.support.actions.provider import (
    Provider,
    lost_after,
    lost_before,
    refused,
    signed_out,
    slowed,
    unreachable,
)
from tests.support.jobs.kit import claim

from assent.engine.actions import policies, recording
from assent.engine.actions.recording import RECONCILE_JOB
from assent.engine.core import jobs
from assent.engine.core.jobs import Job
from assent.gate.records import Action
from assent.jobs.kinds import job_kinds
from assent.kernel.limits import JOB_LEASE_MS
from assent.kernel.refusals import Refusal
from assent.ports import Delivered, NotSent
from assent_launch.learning.measurement import MEASURE_JOB
from assent_launch.learning.measuring import measure_job

LEASE_SECONDS = 60


def named(step: Any) -> str:
    return str(getattr(step, "__name__", step))


@pytest.mark.rule("E29", "E28", "E52")
@pytest.mark.parametrize(
    ("step", "reason", "retryable"),
    [
        (unreachable, "connector_failed", True),
        (slowed, "rate_limited", True),
        (signed_out, "missing_connector", True),
        (refused, "connector_failed", False),
    ],
    ids=named,
)
async def test_what_was_definitely_not_sent_says_whether_trying_again_can_help(
    surface: Gate, step: Any, reason: str, retryable: bool
) -> None:
    action_id = await surface.approved(connector="unaware")
    surface.providers["unaware"].plan.append(step)
    answer = await surface.denied(EXECUTE, actionId=action_id)
    assert (answer["reason"], answer["retryable"]) == (reason, retryable)
    assert answer["retry"] == (
        "never" if not retryable else "after_recovery" if step is signed_out else "same"
    )
    assert ("retryAfterSeconds" in answer) is (answer["retry"] == "same")
    record = await surface.record(action_id)
    assert record["externalId"] is None
    assert record["executedAt"] is None
    if not retryable:
        assert (record["status"], record["executionState"]) == ("failed", "done")
        assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"
        assert (await surface.denied(APPROVE, actionId=action_id))["reason"] == "action_closed"
        assert surface.calls == 1
        return
    assert (record["status"], record["executionState"]) == ("approved", "retryable")
    assert (await surface.done(EXECUTE, actionId=action_id))["status"] == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29")
async def test_a_process_that_died_with_a_claimed_action_leaves_it_unknown_and_never_sent_blindly(
    surface: Gate,
) -> None:
    action_id = await surface.approved(connector="unaware")
    await surface.claim(action_id)
    surface.clock.advance(seconds=LEASE_SECONDS - 1)
    assert await surface.run_jobs() == 0
    assert await surface.where(action_id) == "executing"
    surface.clock.advance(seconds=1)
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"
    surface.clock.advance(days=20)
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"
    assert surface.calls == 0


@pytest.mark.parametrize("connector", ["native", "natural"])
async def test_what_the_policy_denies_by_now_is_not_repeated(surface: Gate, connector: str) -> None:
    action_id = await surface.approved(connector=connector)
    surface.providers[connector].plan.append(lost_before)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    denial = {"preset": "relay", "rule": [{"name": "Stop", "deny": "We stopped."}]}
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(lambda: policies.save(surface.workspace_id, denial, now_ms, by="test"))
    surface.clock.advance(seconds=LEASE_SECONDS + 1)
    await surface.run_jobs()
    assert surface.ledger == []
    assert (await surface.record(action_id))["executionState"] == "outcome_unknown"


@pytest.mark.rule("E29")
async def test_a_provider_that_cannot_say_yet_is_asked_again_later(surface: Gate) -> None:
    provider = surface.providers["readback"]
    action_id = await surface.approved(connector="readback")
    provider.plan.append(lost_after)
    provider.blind = True
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"
    provider.blind = False
    surface.clock.advance(seconds=10)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert (provider.calls, provider.look_ups, len(provider.ledger)) == (1, 2, 1)


@pytest.mark.rule("E29")
async def test_a_process_that_slept_past_its_lease_does_not_send(surface: Gate) -> None:
    action_id = await surface.approved(connector="unaware")
    with armed({"execute.claimed": lambda: surface.clock.advance(seconds=LEASE_SECONDS)}):
        answer = await surface.denied(EXECUTE, actionId=action_id, idempotencyKey="k")
    assert (answer["reason"], answer["retryable"], surface.calls) == ("connector_failed", True, 0)
    await surface.run_jobs()
    assert await surface.where(action_id) == "retryable"
    await surface.done(EXECUTE, actionId=action_id, idempotencyKey="k")
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29", "E68")
async def test_a_late_word_that_it_happened_ends_an_action_that_was_taken_for_not_done(surface: Gate) -> None:
    """The provider was asked while the call was still on its way to it."""

    async def slow(provider: Provider, action: Action) -> Delivered:
        surface.clock.advance(seconds=LEASE_SECONDS)
        await surface.run_jobs()
        assert await surface.where(action.action_id) == "retryable"
        return provider.deliver(action)

    action_id = await surface.approved(connector="readback")
    surface.providers["readback"].plan.append(slow)
    call = {"actionId": action_id, "idempotencyKey": "k"}
    answer = await surface.call(EXECUTE, call)
    assert answer.payload["status"] == "executed"
    assert await surface.where(action_id) == "executed"
    assert (await surface.call(EXECUTE, call)).payload == answer.payload
    assert (await surface.denied(EXECUTE, actionId=action_id))["status"] == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29")
async def test_the_late_answer_of_a_lost_attempt_is_kept_and_changes_nothing(surface: Gate) -> None:
    async def overtaken(provider: Provider, action: Action) -> Delivered:
        surface.clock.advance(seconds=LEASE_SECONDS)
        await surface.run_jobs()
        await surface.answer_as_person(action.action_id, happened=True)
        return provider.deliver(action)

    action_id = await surface.approved(connector="unaware")
    surface.providers["unaware"].plan.append(overtaken)
    await surface.denied(EXECUTE, actionId=action_id)
    record = await surface.record(action_id)
    assert (record["status"], record["externalId"]) == ("executed", "https://provider.example/seen")
    kinds = [event["kind"] for event in await surface.events(record["runId"])]
    assert kinds[-1] == "late_answer"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29", "E66")
@pytest.mark.parametrize("connector", ["native", "natural"])
async def test_nobody_reopens_an_action_while_it_is_being_repeated(surface: Gate, connector: str) -> None:
    """Else its old content would arrive beside a new one."""
    refusals: list[str] = []

    async def interrupted(provider: Provider, action: Action) -> Delivered:
        for happened in (False, True):
            with pytest.raises(Refusal) as refused:
                await surface.answer_as_person(action.action_id, happened=happened)
            refusals.append(refused.value.reason)
        for tool, more in ((WITHDRAW, {}), (EDIT, {"body": OTHER}), (EXECUTE, {})):
            refusals.append((await surface.denied(tool, actionId=action.action_id, **more))["reason"])
        return provider.deliver(action)

    action_id = await surface.approved(connector=connector)
    surface.providers[connector].plan.extend([lost_before, interrupted])
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.run_jobs()
    assert refusals == ["execution_in_progress"] * 2 + ["outcome_unknown"] * 3
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29", "E66")
async def test_a_process_that_wakes_up_during_the_repetition_of_its_call_changes_nothing(
    surface: Gate,
) -> None:
    action_id = await surface.approved(connector="native")
    asleep = await surface.claim(action_id)

    async def woken(provider: Provider, action: Action) -> Delivered:
        nothing = NotSent("there was no time left to send it", retry=True)
        await surface.app.store.write(lambda: recording.record(asleep, nothing, surface.clock.now_ms()))
        assert await surface.where(action_id) == "outcome_unknown"
        return provider.deliver(action)

    surface.providers["native"].plan.append(woken)
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E29")
async def test_two_looks_at_once_are_one_repetition(surface: Gate) -> None:
    """A job that was taken over from a worker that still lives."""
    action_id = await surface.approved(connector="native")
    await surface.claim(action_id)
    surface.clock.advance(seconds=LEASE_SECONDS)

    async def overtaken(provider: Provider, action: Action) -> Delivered:
        surface.clock.advance(seconds=31)
        await surface.run_jobs()
        return provider.deliver(action)

    surface.providers["native"].plan.append(overtaken)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert (surface.calls, len(surface.ledger)) == (1, 1)


@pytest.mark.rule("E29")
async def test_a_repetition_that_found_nothing_out_leaves_the_answer_to_a_person(surface: Gate) -> None:
    action_id = await surface.approved(connector="native")
    surface.providers["native"].plan.extend([lost_after, lost_before])
    await surface.denied(EXECUTE, actionId=action_id)
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"
    await surface.answer_as_person(action_id, happened=True)
    surface.clock.advance(days=1)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    assert len(surface.ledger) == 1


NAMELESS: tuple[Any, ...] = (Delivered(""), Delivered(None), Delivered(7), None, {"id": "1"}, True)  # type: ignore[arg-type]


@pytest.mark.rule("E68", "E98")
async def test_an_answer_that_names_no_effect_is_not_taken_for_one(surface: Gate) -> None:
    for answer in NAMELESS:

        async def garbage(provider: Provider, action: Action, answer: Any = answer) -> Delivered:
            provider.deliver(action)
            return answer  # type: ignore[no-any-return]

        action_id = await surface.approved(connector="readback")
        surface.providers["readback"].plan.append(garbage)
        assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown", answer
        surface.clock.advance(seconds=LEASE_SECONDS)
        await surface.run_jobs()
        record = await surface.record(action_id)
        assert (record["status"], record["externalId"]) == ("executed", f"post-{action_id}:1")
        assert len(surface.providers["readback"].of(action_id)) == 1


async def test_a_persons_answer_is_kept_with_its_evidence(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    record = await surface.done(
        RESOLVE, actionId=action_id, outcome="happened", evidence="https://provider.example/posts/9"
    )
    assert (record["status"], record["externalId"], record["externalUrl"]) == (
        "executed",
        "https://provider.example/posts/9",
        "https://provider.example/posts/9",
    )
    events = await surface.events(record["runId"])
    answered = next(event["facts"] for event in events if event["kind"] == "outcome_answered")
    assert (answered["happened"], answered["assurance"], answered["evidence"]) == (
        True,
        "agent",
        "https://provider.example/posts/9",
    )


async def test_nobody_can_answer_for_an_outcome_that_is_not_in_question(surface: Gate) -> None:
    for state in (
        "awaiting_approval",
        "approved",
        "executing",
        "retryable",
        "rejected",
        "executed",
        "failed",
    ):
        action_id = await surface.bring_to(state)
        before = await surface.stored(action_id)
        told = [
            await surface.denied(RESOLVE, actionId=action_id, outcome=outcome, evidence="https://x.example/1")
            for outcome in ("happened", "did_not_happen")
        ]
        assert told[0]["userMessage"] == told[1]["userMessage"] and told[0]["reason"] == told[1]["reason"]
        assert "known" not in told[0]["userMessage"] and "sign in" not in told[1]["userMessage"]
        assert await surface.stored(action_id) == before, state


@pytest.mark.rule("E29", "E49")
async def test_the_provider_key_is_made_of_action_and_revision(surface: Gate) -> None:
    action_id = await surface.approved()
    provider = surface.providers["native"]
    provider.plan.append(unreachable)
    await surface.denied(EXECUTE, actionId=action_id)
    await surface.done(EDIT, actionId=action_id, body=OTHER)
    await surface.approve_as_shown(action_id)
    provider.plan.append(unreachable)
    await surface.denied(EXECUTE, actionId=action_id)
    await surface.done(EXECUTE, actionId=action_id)
    assert [action.provider_key for action in provider.seen] == [
        f"{action_id}:1",
        f"{action_id}:2",
        f"{action_id}:2",
    ]
    run_id = (await surface.record(action_id))["runId"]
    claims = [event["facts"] for event in await surface.events(run_id) if event["kind"] == "action_claim"]
    assert [claim["providerKey"] for claim in claims] == [
        f"{action_id}:1",
        f"{action_id}:2",
        f"{action_id}:2",
    ]
    assert [claim["fence"] for claim in claims] == [1, 1, 2]
    assert len({claim["attemptId"] for claim in claims}) == 3


async def test_a_caller_who_hangs_up_does_not_stop_what_was_claimed(surface: Gate) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def waits(provider: Provider, action: Action) -> Delivered:
        entered.set()
        await leave.wait()
        return provider.deliver(action)

    action_id = await surface.approved(connector="unaware")
    surface.providers["unaware"].plan.append(waits)
    caller = asyncio.create_task(surface.call(EXECUTE, {"actionId": action_id, "idempotencyKey": "k"}))
    await asyncio.wait_for(entered.wait(), 10)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    leave.set()
    await surface.app.executions.finish()
    assert await surface.where(action_id) == "executed"
    assert surface.calls == len(surface.ledger) == 1


async def lost(surface: Gate, connector: str) -> str:
    surface.providers[connector].plan.append(lost_after)
    action_id = await surface.approved(connector=connector)
    answer = await surface.denied("chieflab_execute_approved_action", actionId=action_id)
    assert answer["reason"] == "outcome_unknown"
    return action_id


@pytest.mark.rule("E29")
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


@pytest.mark.rule("E29")
async def test_a_provider_that_cannot_be_asked_is_named(surface: Gate) -> None:
    action_id = await lost(surface, "unaware")
    answer = await surface.done(RESOLVE, actionId=action_id, outcome="look_now")
    assert "cannot be asked" in answer["userMessage"]
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"


@pytest.mark.rule("E29")
async def test_an_answer_still_needs_evidence(surface: Gate) -> None:
    action_id = await lost(surface, "unaware")
    answer = await surface.denied(RESOLVE, actionId=action_id, outcome="happened")
    assert answer["reason"] == "validation_error"
    assert await surface.where(action_id) == "outcome_unknown"


@pytest.mark.rule("E29")
async def test_killed_workers_use_up_no_look(surface: Gate) -> None:
    action_id = await lost(surface, "readback")
    surface.clock.advance(seconds=3)
    await lose_workers(surface, RECONCILE_JOB)
    surface.clock.advance(seconds=JOB_LEASE_MS / 1000)
    await surface.run_jobs()
    assert (await surface.where(action_id), len(surface.ledger)) == ("executed", 1)


@pytest.mark.rule("E29")
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
        (job,) = await claim(surface.app.store, kinds, now_ms, 1)
    assert job.tries == 1
    return job


async def test_what_a_connector_failed_with_is_told_without_the_secrets_in_it(surface: Gate) -> None:
    async def fail(provider: Provider, action: Action) -> Delivered:
        raise RuntimeError("GET https://api:hunter2hunter2@mail.example/?token=abcd1234 said 500")

    surface.providers["native"].plan.append(fail)
    action_id = await surface.approved()
    await surface.denied(EXECUTE, actionId=action_id)
    told = str(await surface.record(action_id))
    assert "RuntimeError" in told and "hunter2hunter2" not in told and "abcd1234" not in told
