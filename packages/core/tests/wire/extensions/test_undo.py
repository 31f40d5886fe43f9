"""Undo: what takes an executed action back is another action, with its own approval, executed once and linked both
ways."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, REJECT, RESOLVE, Gate
from tests.support.answers import bodies_of, calls_of, text_of
from tests.support.effort import rounds

from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.hooks import Settled
from assent.engine.actions.undo import note_undone
from assent.engine.core import failpoints
from assent.engine.core.tenancy import SCOPES
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Assurance, Proposal, Status
from assent.gate.transitions import Move
from assent.gate.undo import UNDO_AS, UNDO_OF
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.use_cases import executions
from assent.use_cases.decisions import DecisionOrder

UNDO = "chieflab_undo_action"
REFUND = {"customer": "Ada", "amount": "12.00 EUR", "reason": "broken"}


async def refunded(surface: Gate) -> str:
    staged = await surface.done("acme_billing_refund", **REFUND)
    action_id: str = staged["actions"][0]["id"]
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.done(EXECUTE, actionId=action_id)
    return action_id


async def undone(surface: Gate, action_id: str) -> str:
    staged: str = (await surface.done(UNDO, actionId=action_id))["actions"][0]["id"]
    return staged


async def test_an_undo_has_a_name_and_words_of_its_own(surface: Gate, billing: Any) -> None:
    rung = await surface.done("acme_billing_ring", times=3)
    [name] = bodies_of(rung)
    await surface.done(APPROVE, actionId=rung["actions"][0]["id"], send=True)
    staged = await surface.done(UNDO, actionId=rung["actions"][0]["id"])
    approved = await surface.done(APPROVE, actionId=staged["actions"][0]["id"])

    [(reverse, card)] = bodies_of(staged).items()
    assert reverse == f"undo:{name}"
    assert f"“undo {name}”" in card and f"“approve {reverse}”" in card and "“send " not in card
    assert f"“undo {name}”" in approved["userMessage"] and " sent" not in approved["userMessage"]


def cancelled(billing: Any) -> list[dict[str, Any]]:
    return [each for each in billing.LEDGER if "cancelled" in each]


async def test_an_undo_has_exact_arguments_waits_for_its_own_approval_and_happens_once(
    surface: Gate, billing: Any
) -> None:
    action_id = await refunded(surface)
    offered = {call["name"]: call["args"] for call in calls_of(await surface.record(action_id))}
    assert offered[UNDO] == {"actionId": action_id}

    staged = await undone(surface, action_id)
    assert cancelled(billing) == [] and await surface.where(staged) == "awaiting_approval"
    reverse, first = await surface.stored(staged), await surface.stored(action_id)
    assert reverse.effect.arguments == {"customer": "ada", "receipt": first.external_id}
    assert (
        reverse.view.title == f"Undo: {first.view.heading}" and "mail about it stays" in reverse.view.sentence
    )
    assert (reverse.metadata[UNDO_OF], first.metadata[UNDO_AS]) == (action_id, staged)
    assert (await surface.denied(EXECUTE, actionId=staged))["reason"] == "requires_approval"
    assert (await surface.denied(EDIT, actionId=staged, arguments={"customer": "Eve"}))[
        "reason"
    ] == "validation_error"
    assert await undone(surface, action_id) == staged

    await surface.approve_as(Assurance.PERSON, staged)
    for _ in range(2):
        await surface.ask(EXECUTE, actionId=staged)
    assert cancelled(billing) == [{"cancelled": first.external_id, "customer": "ada"}]
    assert (await surface.stored(action_id)).metadata["undone"]["by"] == staged
    assert UNDO not in {call["name"] for call in calls_of(await surface.record(action_id))}
    for each in (action_id, staged):  # it cannot be undone itself, because it does not say so
        assert (await surface.denied(UNDO, actionId=each))["reason"] == "validation_error"
    told = await surface.done("chieflab_status")
    assert told["counts"]["undone"] == 1 and [each["actionId"] for each in told["undone"]] == [action_id]
    assert text_of(await surface.done("chieflab_report")).count(" was undone ") == 1


async def test_nothing_is_undone_that_did_not_happen_or_whose_outcome_or_time_is_over(
    surface: Gate, billing: Any
) -> None:
    waiting = (await surface.done("acme_billing_refund", **REFUND))["actions"][0]["id"]
    assert (await surface.denied(UNDO, actionId=waiting))["reason"] == "validation_error"
    await surface.approve_as(Assurance.PERSON, waiting)
    billing.FAULTS.append("inside")
    await surface.ask(EXECUTE, actionId=waiting)
    assert await surface.where(waiting) == "outcome_unknown"
    assert (await surface.denied(UNDO, actionId=waiting))["reason"] == "outcome_unknown"
    # An agent may tell that it happened. Its words are no receipt by which anything is cancelled.
    await surface.done(RESOLVE, actionId=waiting, outcome="happened", evidence="re_of_someone_else")
    assert (await surface.denied(UNDO, actionId=waiting))["reason"] == "validation_error"

    action_id = await refunded(surface)
    staged = await undone(surface, action_id)
    await surface.approve_as(Assurance.PERSON, staged)
    surface.clock.advance(hours=25)
    assert (await surface.denied(EXECUTE, actionId=staged))["reason"] == "action_expired"
    assert (await surface.denied(UNDO, actionId=action_id))["reason"] == "validation_error"
    assert cancelled(billing) == []


async def test_a_rejected_undo_can_be_asked_for_again_and_an_unknown_one_cannot(
    surface: Gate, billing: Any
) -> None:
    action_id = await refunded(surface)
    first = await undone(surface, action_id)
    await surface.done(REJECT, actionId=first, reason="Not that one.")
    second = await undone(surface, action_id)
    assert second != first
    await surface.approve_as(Assurance.PERSON, second)
    billing.FAULTS.append("inside")
    await surface.ask(EXECUTE, actionId=second)
    assert await surface.where(second) == "outcome_unknown"
    assert await undone(surface, action_id) == second
    assert "undone" not in (await surface.stored(action_id)).metadata
    await surface.done(RESOLVE, actionId=second, outcome="happened", evidence="https://billing.example/seen")
    assert (await surface.stored(action_id)).metadata["undone"]["by"] == second
    assert len(cancelled(billing)) == 1


async def test_an_undo_that_expired_and_was_replaced_never_happens_also_with_the_clock_set_back(
    surface: Gate, billing: Any
) -> None:
    rung = (await surface.done("acme_billing_ring", times=3))["actions"][0]["id"]
    await surface.done(APPROVE, actionId=rung, send=True)
    first = await undone(surface, rung)
    await surface.approve_as(Assurance.PERSON, first)
    expires_ms = (await surface.stored(first)).expires_ms
    assert expires_ms is not None
    surface.clock.advance(seconds=(expires_ms - surface.clock.now_ms()) / 1000)
    second = await undone(surface, rung)
    assert (second != first, await surface.where(first)) == (True, "rejected")
    await surface.done(APPROVE, actionId=second, send=True)
    surface.clock.advance(hours=-1)
    assert (await surface.denied(EXECUTE, actionId=first))["reason"] == "requires_approval"
    assert [each for each in billing.LEDGER if "silenced" in each] == [{"silenced": 3, "receipt": "rung"}]


async def test_what_takes_back_all_of_it_is_reversible_for_a_policy(surface: Gate, billing: Any) -> None:
    rung = (await surface.done("acme_billing_ring", times=3))["actions"][0]["id"]
    partly = (await surface.done("acme_billing_refund", **REFUND))["actions"][0]["id"]
    assert [(await surface.stored(each)).view.reversible for each in (rung, partly)] == [True, False]
    await surface.done(APPROVE, actionId=rung, send=True)
    staged = await undone(surface, rung)
    await surface.done(APPROVE, actionId=staged, send=True)
    assert billing.LEDGER[-1] == {"silenced": 3, "receipt": "rung"}
    assert (await surface.done(GET, actionId=rung))["status"] == "executed"


STEPS = ("execute.claimed", "execute.performed", "execute.recorded")


class Killed(BaseException):
    pass


@pytest.mark.prove
async def test_killed_at_each_step_there_are_never_two_reverses(surface: Gate, billing: Any) -> None:
    """Whatever step a process dies at, and however often each request is made again, an effect is taken back at most
    once, and only one that happened."""

    def die() -> None:
        raise Killed

    for number in range(rounds(1, 25)):
        for step in STEPS:
            action_id, before = await refunded(surface), len(cancelled(billing))
            staged = await undone(surface, action_id)
            await surface.approve_as(Assurance.PERSON, staged)
            failpoints.arm(step, die)
            try:
                with pytest.raises(BaseException):  # noqa: B017 - a kill may come back as another error
                    await executions.execute(
                        surface.app.owner_services,
                        ExecutionOrder(
                            workspace_id=surface.workspace_id,
                            action_id=ActionId(staged),
                            tool=EXECUTE,
                            by="test",
                        ),
                    )
            finally:
                failpoints.disarm(step)
            surface.clock.advance(hours=1)
            await surface.run_jobs()
            again = await surface.ask(UNDO, actionId=action_id)
            assert again.is_error or again.payload["actions"][0]["id"] == staged
            await surface.ask(EXECUTE, actionId=staged)
            took = cancelled(billing)[before:]
            assert len(took) <= 1, (number, step)
            marked = "undone" in (await surface.stored(action_id)).metadata
            assert not marked or took, (number, step)


async def test_a_person_undoes_on_the_page_as_the_one_who_proposes_it(surface: Gate, billing: Any) -> None:
    action_id = await refunded(surface)
    person = Decider(surface.workspace_id, "Ada", Assurance.PERSON, "page", "p-1")
    executed: Action = await surface.stored(action_id)
    proposal = Proposal(label="Ada", person_id="p-1")
    write = surface.app.store.write
    made = await executions.undo(surface.app.owner_services, person, executed, proposal, write)
    said = (await surface.stored(made.action_id)).metadata["proposal"]
    assert (said["personId"], said["operator"], cancelled(billing)) == ("p-1", "acme-billing", [])


async def test_a_failed_undo_is_asked_for_again_on_the_first_action_and_is_not_staged_beside_it(
    surface: Gate, billing: Any
) -> None:
    action_id = await refunded(surface)
    failed = await undone(surface, action_id)
    await surface.approve_as(Assurance.PERSON, failed)
    billing.FAULTS.append("refused")
    await surface.ask(EXECUTE, actionId=failed)
    assert await surface.where(failed) == "failed"
    with pytest.raises(Refusal) as refused:
        await executions.try_again(
            surface.clock,
            DecisionOrder(surface.someone(), await surface.stored(failed), SeenVersion()),
            surface.app.store.write,
        )
    assert refused.value.reason == "stale_revision"
    second = await undone(surface, action_id)
    await surface.approve_as(Assurance.PERSON, second)
    await surface.done(EXECUTE, actionId=second)
    assert len(cancelled(billing)) == 1


async def test_an_undo_that_a_test_key_asks_for_neither_counts_nor_stands_in_the_way(
    surface: Gate, billing: Any
) -> None:
    action_id = await refunded(surface)
    key = await surface.key_with(*SCOPES, mode="dev")
    asked = await surface.call(UNDO, {"actionId": action_id}, key=key)
    test = asked.payload["actions"][0]["id"]
    await surface.approve_as(Assurance.PERSON, test)
    assert (await surface.denied(EXECUTE, actionId=test))["reason"] == "provider_not_live"
    live = await undone(surface, action_id)
    assert (live != test, await surface.where(test)) == (True, "rejected")
    again = await surface.call(UNDO, {"actionId": action_id}, key=key)
    assert again.payload["actions"][0]["id"] == live
    await surface.approve_as(Assurance.PERSON, live)
    await surface.done(EXECUTE, actionId=live)
    assert len(cancelled(billing)) == 1


async def test_a_test_that_an_emulator_took_back_leaves_the_first_action_as_it_is(
    surface: Gate, billing: Any
) -> None:
    action_id = await refunded(surface)
    key = await surface.key_with(*SCOPES, mode="dev")
    test = (await surface.call(UNDO, {"actionId": action_id}, key=key)).payload["actions"][0]["id"]
    reverse = msgspec.structs.replace(await surface.stored(test), status=Status.EXECUTED)
    settled = Settled(action=reverse, move=Move.SUCCEED, facts={}, at_ms=surface.clock.now_ms())
    await surface.app.store.write(lambda: note_undone(settled))
    assert "undone" not in (await surface.stored(action_id)).metadata


async def test_a_repeated_request_gets_its_first_answer_also_once_it_was_undone_or_is_too_late(
    surface: Gate, billing: Any
) -> None:
    for key, late in (("undone", False), ("too late", True)):
        action_id = await refunded(surface)
        asked = {"actionId": action_id, "idempotencyKey": key}
        staged = bodies_of(await surface.done(UNDO, **asked))
        reverse = (await surface.stored(action_id)).metadata[UNDO_AS]
        if late:
            surface.clock.advance(hours=25)
        else:
            await surface.approve_as(Assurance.PERSON, reverse)
            await surface.done(EXECUTE, actionId=reverse)
        assert bodies_of(await surface.done(UNDO, **asked)) == staged
        assert (await surface.denied(UNDO, actionId=action_id))["reason"] == "validation_error"
    assert len(cancelled(billing)) == 1
