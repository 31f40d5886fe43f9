"""What a test key prepares or approves reaches an emulator or no one, whoever executes it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, OTHER, PUBLISH, Gate
from tests.support.actions.provider import Provider
from tests.support.answers import text_of
from tests.support.builders import NOW_MS, begin, put_in
from tests.support.surfaces import START_MS

from assent.engine.actions.reconciliation import repeatable
from assent.engine.core.tenancy import SCOPES
from assent.gate.outcomes import Delivery
from assent.gate.policy import Policy, Requirement
from assent.gate.records import Assurance, as_test
from assent.gate.transitions import UNKNOWN
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.times import iso_time

EDIT = "chieflab_edit_action"


async def make_test_key(gate: Gate) -> str:
    return await gate.key_with(*SCOPES, mode="dev")


async def call(gate: Gate, key: str | None, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await gate.call(tool, arguments, key=key)).payload


@pytest.mark.rule("E82")
@pytest.mark.parametrize("executor", ["test key", "live key", "a person's send", "schedule"])
async def test_what_a_test_key_prepared_is_not_sent_whoever_executes_it(surface: Gate, executor: str) -> None:
    key = await make_test_key(surface)
    later = {"scheduleFor": iso_time(START_MS + HOUR_MS)} if executor == "schedule" else {}
    action_id = await surface.staged(key=key, **later)
    await surface.approve_as_shown(action_id)
    if executor == "a person's send":
        await surface.approve_as(Assurance.PERSON, action_id, send_now=True)
    surface.clock.advance(hours=2)
    await surface.run_jobs()
    refused = await call(
        surface, key if executor == "test key" else None, PUBLISH, actionId=action_id, idempotencyKey="k"
    )

    assert refused["reason"] == "provider_not_live" and refused["retry"] == "never"
    assert (await surface.record(action_id))["content"]["body"] in text_of(refused)
    assert surface.calls == 0
    assert await surface.where(action_id) == "approved"


@pytest.mark.rule("E82")
@pytest.mark.parametrize("how", ["approved", "edited"])
async def test_what_a_test_key_approves_or_edits_becomes_a_test(surface: Gate, how: str) -> None:
    key, action_id = await make_test_key(surface), await surface.staged()
    if how == "edited":
        await call(surface, key, EDIT, actionId=action_id, body=OTHER)
        await surface.approve_as_shown(action_id)
    else:
        await call(surface, key, APPROVE, actionId=action_id)
    refused = await surface.denied(EXECUTE, actionId=action_id)

    assert refused["reason"] == "provider_not_live"
    assert surface.calls == 0


async def test_a_yes_of_a_test_key_among_several_makes_it_a_test(surface: Gate) -> None:
    two = Requirement(Assurance.AGENT, approvers=2)
    await surface.set_policy(Policy(low=two, medium=two, high=two))
    key, action_id = await make_test_key(surface), await surface.staged()
    await call(surface, key, APPROVE, actionId=action_id)
    await surface.approve_as(Assurance.PERSON, action_id)
    refused = await surface.denied(EXECUTE, actionId=action_id)

    assert refused["reason"] == "provider_not_live" and surface.calls == 0


async def test_a_test_that_reaches_an_emulator_is_told_as_one_everywhere(surface: Gate) -> None:
    key = await make_test_key(surface)
    surface.providers["native"].emulated = True
    run = await surface.run(key=key)
    action_id = run["actions"][0]["id"]
    approved = await surface.approve_as_shown(action_id)
    done = await surface.done(EXECUTE, actionId=action_id)
    status = await surface.done("chieflab_status")
    (claimed,) = [each for each in await surface.events(run["runId"]) if each["kind"] == "action_claim"]

    assert "Test: It is a test" in text_of(run)
    assert "nothing is sent for real" in text_of(approved)
    assert "nothing was sent for real" in done["userMessage"]
    assert "nothing was sent for real" in text_of(status)
    assert claimed["facts"]["test"] is True
    assert (await surface.record(action_id))["metadata"]["proposal"]["test"] is True
    assert len(surface.ledger) == 1


async def test_an_unknown_outcome_of_a_test_is_not_repeated_once_the_emulator_is_gone() -> None:
    action = as_test(put_in(UNKNOWN, attempt=begin()))
    provider = Provider("native", Delivery("native_key", DAY_MS))
    provider.emulated = True

    assert repeatable(provider, action, NOW_MS)
    provider.emulated = False
    assert not repeatable(provider, action, NOW_MS)


async def test_what_a_live_key_prepared_and_approved_is_no_test(surface: Gate) -> None:
    await make_test_key(surface)
    action_id = await surface.approved()
    done = await surface.done(EXECUTE, actionId=action_id)

    assert done["status"] == "executed" and "test" not in done["userMessage"]
