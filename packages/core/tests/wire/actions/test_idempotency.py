"""The same key and arguments: the same answer, byte for byte, and nothing happens twice (E7, C11–C13, C33)."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from tests.support.actions.kit import (
    APPROVE,
    EDIT,
    EXECUTE,
    OTHER,
    PUBLISH,
    REJECT,
    RESOLVE,
    SEND,
    STAGE,
    WITHDRAW,
    Gate,
)
from tests.support.actions.provider import hangs_after, refused, slowed, unreachable
from tests.support.catalog import ALL_TOOLS
from tests.support.keys import rotate_key
from tests.support.own_sql import bind
from tests.support.surfaces import Outcome

from assent.engine.actions.idempotency import unpack
from assent.engine.core import tenancy
from assent.kernel.limits import IDEMPOTENCY_TTL_MS
from assent.kernel.times import iso_time
from assent.ports import Rows, Transaction
from assent.tools.catalog import input_schema

pytestmark = pytest.mark.every_surface

DECISIONS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    APPROVE: ("awaiting_approval", {}, {"digest": "0" * 64}),
    REJECT: ("awaiting_approval", {"reason": "no"}, {"reason": "never"}),
    EDIT: ("awaiting_approval", {"body": OTHER}, {"body": f"{OTHER} Try it."}),
    WITHDRAW: ("approved", {"reason": "wait"}, {"reason": "no"}),
    RESOLVE: ("outcome_unknown", {"outcome": "happened", "evidence": "seen"}, {"evidence": "not seen"}),
}
"""For each deciding tool: where it starts, its arguments, and others."""


def text(outcome: Outcome) -> str:
    """The answer exactly as it was sent, but for saying that it is a replay."""
    content: str = outcome.message["result"]["content"][0]["text"]
    return re.sub(r',"replay":\{"of":"[^"]*","now":"[^"]*"\}\}$', "}", content)


@pytest.mark.rule("E7", "E91")
@pytest.mark.parametrize("tool", DECISIONS)
async def test_a_repeated_decision_gets_the_first_answer_and_changes_nothing(
    surface: Gate, tool: str
) -> None:
    state, arguments, others = DECISIONS[tool]
    action_id = await surface.bring_to(state)
    call = {"actionId": action_id, "idempotencyKey": "k", **arguments}
    first = await surface.call(tool, call)
    assert not first.is_error, first.payload
    after = await surface.stored(action_id)
    surface.clock.advance(hours=1)
    again = await surface.call(tool, call)
    assert text(again) == text(first)
    if tool != RESOLVE:
        assert first.replay is None and again.replay is not None
    assert await surface.stored(action_id) == after
    conflict = await surface.call(tool, {**call, **others})
    assert (conflict.reason, conflict.payload["retry"]) == ("idempotency_conflict", "changed")
    assert await surface.stored(action_id) == after


@pytest.mark.rule("E7")
async def test_a_decision_repeated_after_the_world_moved_on_is_answered_and_not_made_again(
    surface: Gate,
) -> None:
    action_id = await surface.staged()
    approval = {"actionId": action_id, "idempotencyKey": "k"}
    first = await surface.call(APPROVE, approval)
    await surface.done(EDIT, actionId=action_id, body=OTHER)
    at_ms = surface.clock.now_ms()
    surface.clock.advance(hours=1)
    again = await surface.call(APPROVE, approval)
    assert text(again) == text(first)
    assert again.replay == {
        "of": iso_time(at_ms),
        "now": "Nothing was done again. Now: linkedin waits for approval.",
    }
    assert await surface.where(action_id) == "awaiting_approval"
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"
    assert surface.calls == 0


@pytest.mark.rule("E7", "E12")
async def test_preparing_again_with_the_same_key_gives_the_same_bytes_and_no_second_action(
    surface: Gate,
) -> None:
    wanted = {"effects": [{}, {"body": OTHER}], "idempotencyKey": "k"}
    first = await surface.call(STAGE, wanted)
    surface.clock.advance(hours=3)
    again = await surface.call(STAGE, wanted)
    assert text(again) == text(first)
    assert len((await surface.done("chieflab_query_audit"))["actions"]) == 2
    other = await surface.call(STAGE, {**wanted, "effects": [{}]})
    assert other.reason == "idempotency_conflict"
    assert len((await surface.done("chieflab_query_audit"))["actions"]) == 2


@pytest.mark.rule("E7")
async def test_twenty_prepares_at_once_with_one_key_make_one_run(surface: Gate) -> None:
    wanted = {"effects": [{}], "idempotencyKey": "k"}
    answers = await surface.gather(20, STAGE, wanted)
    assert len({text(answer) for answer in answers}) == 1
    assert len((await surface.done("chieflab_query_audit"))["actions"]) == 1


@pytest.mark.rule("E7", "E27", "E72", "E49")
@pytest.mark.parametrize("tool", [EXECUTE, PUBLISH])
async def test_executing_again_with_the_same_key_gives_the_same_bytes_and_no_second_effect(
    surface: Gate, tool: str
) -> None:
    call = {"actionId": await surface.approved(connector="unaware"), "idempotencyKey": "k"}
    first = await surface.call(tool, call)
    assert first.payload["status"] == "executed"
    for _ in range(3):
        surface.clock.advance(days=9)
        again = await surface.call(tool, call)
        assert text(again) == text(first)
        assert again.payload == first.payload
    assert len(surface.ledger) == surface.calls == 1


@pytest.mark.rule("E27", "E49")
async def test_a_final_refusal_by_the_provider_is_repeated_word_for_word(surface: Gate) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.append(refused)
    call = {"actionId": action_id, "idempotencyKey": "k"}
    first = await surface.call(EXECUTE, call)
    assert (first.reason, first.payload["retryable"]) == ("connector_failed", False)
    assert text(await surface.call(EXECUTE, call)) == text(first)
    assert (await surface.denied(EXECUTE, actionId=action_id))["status"] == "failed"
    assert (surface.calls, surface.ledger) == (1, [])


@pytest.mark.rule("E27", "E72")
@pytest.mark.parametrize("step", [unreachable, slowed], ids=lambda step: step.__name__)
async def test_what_was_definitely_not_sent_is_sent_by_a_retry_with_the_same_key(
    surface: Gate, step: Any
) -> None:
    action_id = await surface.approved()
    surface.providers["native"].plan.append(step)
    call = {"actionId": action_id, "idempotencyKey": "k"}
    refusal = await surface.call(EXECUTE, call)
    assert refusal.payload["retryable"] is True
    assert refusal.payload["retryAfterSeconds"] == (17 if step is slowed else 10)
    assert await surface.where(action_id) == "retryable"
    first = await surface.call(EXECUTE, call)
    assert first.payload["status"] == "executed"
    assert text(await surface.call(EXECUTE, call)) == text(first)
    keys = [action.provider_key for action in surface.providers["native"].seen]
    assert keys == [f"{action_id}:1"] * 2
    assert len(surface.ledger) == 1


@pytest.mark.rule("E49", "E27")
@pytest.mark.parametrize("tool", [EXECUTE, PUBLISH])
async def test_one_key_for_two_actions_is_a_conflict_and_fires_nothing(surface: Gate, tool: str) -> None:
    first, second = await surface.approved(), await surface.approved()
    await surface.done(tool, actionId=first, idempotencyKey="k")
    answer = await surface.denied(tool, actionId=second, idempotencyKey="k")
    assert (answer["reason"], answer["recoveryTool"], answer["retry"]) == (
        "idempotency_conflict",
        None,
        "changed",
    )
    assert await surface.where(second) == "approved"
    assert [sent.action_id for sent in surface.ledger] == [first]
    assert (await surface.done(tool, actionId=second, idempotencyKey="k2"))["status"] == "executed"


@pytest.mark.rule("E27")
async def test_a_key_that_holds_a_call_in_flight_is_a_conflict_for_another_action(surface: Gate) -> None:
    first, second = await surface.approved(), await surface.approved()
    await surface.claim(first, key="k")
    assert (await surface.denied(EXECUTE, actionId=second, idempotencyKey="k"))[
        "reason"
    ] == "idempotency_conflict"
    assert surface.calls == 0


@pytest.mark.rule("E7", "E27")
async def test_a_key_belongs_to_one_workspace_and_one_tool(surface: Gate) -> None:
    mail = {"channel": "email", "verb": "email", "recipients": ["ada@example.org"]}
    post, letter = await surface.approved(), await surface.approved(**mail)
    other = (await surface.new_workspace("other")).api_key
    theirs = await surface.staged(key=other)
    await surface.call(APPROVE, {"actionId": theirs, "idempotencyKey": "k"}, key=other)
    for tool, action_id, key in ((PUBLISH, post, None), (SEND, letter, None), (EXECUTE, theirs, other)):
        answer = await surface.call(tool, {"actionId": action_id, "idempotencyKey": "k"}, key=key)
        assert answer.payload["status"] == "executed"
    assert {sent.action_id for sent in surface.ledger} == {post, letter, theirs}
    alias = await surface.call("chieflab_send_approved_email", {"actionId": letter, "idempotencyKey": "k"})
    assert alias.payload["messageId"] == f"post-{letter}:1"
    assert len(surface.ledger) == 3


@pytest.mark.rule("E27")
async def test_a_key_is_kept_for_thirty_days_and_then_the_gate_still_holds(surface: Gate) -> None:
    call = {"actionId": await surface.approved(), "idempotencyKey": "k"}
    first = await surface.call(EXECUTE, call)
    surface.clock.advance(seconds=IDEMPOTENCY_TTL_MS / 1000 - 1)
    await surface.run_jobs()
    assert text(await surface.call(EXECUTE, call)) == text(first)
    surface.clock.advance(seconds=1)
    late = await surface.call(EXECUTE, call)
    assert (late.reason, late.payload["status"]) == ("requires_approval", "executed")
    assert len(surface.ledger) == 1


@pytest.mark.rule("E72", "E29")
@pytest.mark.parametrize("same_key", [True, False], ids=["the same key", "no key"])
async def test_two_at_once_are_one_effect(surface: Gate, same_key: bool) -> None:
    call: dict[str, Any] = {"actionId": await surface.approved(connector="unaware")}
    if same_key:
        call["idempotencyKey"] = "k"
    answers = await asyncio.gather(*(surface.call(EXECUTE, call) for _ in range(2)))
    reasons = {answer.reason for answer in answers}
    assert None in reasons
    assert reasons <= {None, "execution_in_progress", "requires_approval"}
    assert surface.calls == len(surface.ledger) == 1


@pytest.mark.rule("E72")
async def test_while_one_execute_is_in_flight_others_hear_so_with_any_key(surface: Gate) -> None:
    action_id = await surface.approved()
    await surface.claim(action_id, key="k")
    for key in ({"idempotencyKey": "k"}, {"idempotencyKey": "other"}, {}):
        answer = await surface.denied(EXECUTE, actionId=action_id, **key)
        assert (answer["reason"], answer["retryable"], answer["status"]) == (
            "execution_in_progress",
            True,
            "approved",
        )
        assert answer["retryAfterSeconds"] > 0
    assert surface.calls == 0


@pytest.mark.rule("E27", "E72")
@pytest.mark.parametrize("changed_settings", [{"connector_timeout_seconds": 0.2}], indirect=True, ids=[""])
async def test_the_key_of_an_attempt_with_an_unknown_outcome_gets_the_answer_that_is_found(
    surface: Gate,
) -> None:
    action_id = await surface.approved(connector="readback")
    surface.providers["readback"].plan.append(hangs_after)
    call = {"actionId": action_id, "idempotencyKey": "k"}
    assert (await surface.call(EXECUTE, call)).reason == "outcome_unknown"
    assert (await surface.call(EXECUTE, call)).reason == "outcome_unknown"
    surface.clock.advance(seconds=61)
    await surface.run_jobs()
    found = await surface.call(EXECUTE, call)
    assert (found.payload["status"], found.payload["externalId"]) == ("executed", f"post-{action_id}:1")
    assert text(await surface.call(EXECUTE, call)) == text(found)
    assert surface.calls == len(surface.ledger) == 1


@pytest.mark.rule("E91")
def test_every_tool_that_writes_takes_an_idempotency_key() -> None:
    # The tokens and the content of a workflow call are its key (W11, W42); a measurement's is its run.
    keyed_by_nature = {
        "workflow_advance",
        "workflow_checkpoint",
        "chieflab_measure",
        "chieflab_post_launch_review",
    }
    writing = [
        tool
        for tool in ALL_TOOLS
        if not tool.behaviour.read_only and not tool.public and tool.name not in keyed_by_nature
    ]
    assert writing
    without = [
        tool.name for tool in writing if "idempotencyKey" not in input_schema(tool.request)["properties"]
    ]
    assert without == []


@pytest.mark.rule("E7")
@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_a_key_that_cannot_be_kept_is_refused(surface: Gate, key: str) -> None:
    action_id = await surface.approved()
    assert (await surface.denied(EXECUTE, actionId=action_id, idempotencyKey=key))[
        "reason"
    ] == "validation_error"
    assert surface.calls == 0


@pytest.mark.rule("E7", "E35")
async def test_a_repetition_with_another_key_is_refused_and_hands_over_no_link(surface: Gate) -> None:
    wanted = {"effects": [{}], "idempotencyKey": "monday"}
    first = await surface.call(STAGE, wanted)
    other = await surface.key_with("runs:write")

    answer = await surface.call(STAGE, wanted, key=other)

    assert (answer.reason, answer.payload["retryable"]) == ("idempotency_conflict", False)
    assert "token=" not in str(answer.message)
    assert len((await surface.done("chieflab_query_audit"))["actions"]) == 1
    assert text(await surface.call(STAGE, wanted)) == text(first)


@pytest.mark.rule("E7")
@pytest.mark.parametrize("tool", [STAGE, APPROVE, EXECUTE])
async def test_the_successor_of_a_rotated_key_gets_its_answers(surface: Gate, tool: str) -> None:
    key = await surface.key_with(*tenancy.SCOPES)
    action_id = await (surface.approved() if tool == EXECUTE else surface.staged())
    about: dict[str, Any] = {"effects": [{}]} if tool == STAGE else {"actionId": action_id}
    call = {**about, "idempotencyKey": "monday"}
    first = await surface.call(tool, call, key=key)
    for _ in range(2):
        key = await rotate_key(surface.app, key) or ""
        surface.clock.advance(hours=1)
        assert text(await surface.call(tool, call, key=key)) == text(first)


SMALLER = 2
"""How many times smaller than its text a usual answer is stored, at least."""


def read(surface: Gate) -> Transaction[Rows]:
    statement = "SELECT key, response FROM idempotency WHERE workspace_id = {}"
    return (yield bind(statement.format("?"), statement.format("$1"), surface.workspace_id))


async def staged(surface: Gate) -> Outcome:
    """Stage and approve with keys; the answer to the first."""
    staged = await surface.call(STAGE, {"effects": [{}], "idempotencyKey": "stage"})
    action_id = staged.payload["actions"][0]["id"]
    approved = await surface.call(APPROVE, {"actionId": action_id, "idempotencyKey": "approve"})
    assert not approved.is_error
    return staged


@pytest.mark.rule("E7")
async def test_usual_answers_are_stored_small_and_replayed_whole(surface: Gate) -> None:
    first = await staged(surface)
    again = await staged(surface)
    assert (again.payload, again.replay is not None) == (first.payload, True)
    rows = await surface.app.store.read(lambda: read(surface))
    texts = [unpack(row["response"]) for row in rows]
    assert sum(map(len, texts)) > SMALLER * sum(len(row["response"]) for row in rows)
