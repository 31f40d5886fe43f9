"""Checkpoints, what may be stored and how much of it, and what an answer looks like (W41–W54, W76)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.workflows.kit import Payload, WorkflowClient

CONTEXT_BYTES = 262_144
DEPTH = 64


# ── checkpoints ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.rule("W41", "W42", "W43", "W46")
async def test_a_checkpoint_keeps_notes_once_each_and_moves_nothing(client: WorkflowClient) -> None:
    at = await client.advance(await client.start(), notesMarkdown="first step done")
    kept = await client.checkpoint(at, "halfway there")
    assert (kept["kind"], kept["pending"], kept["stateToken"], kept["ackToken"]) == (
        "checkpoint",
        at["pending"],
        at["stateToken"],
        at["ackToken"],
    )
    before = await client.tables()
    assert await client.checkpoint(at, "halfway there") == kept
    assert await client.tables() == before
    await client.checkpoint(at, "nearly there")
    recap = (await client.rehydrate(at))["recap"]
    assert [recap.count(text) for text in ("first step done", "halfway there", "nearly there")] == [1, 1, 1]
    later = await client.rehydrate(await client.advance(at, notesMarkdown="second step done"))
    positions = [later["recap"].index(text) for text in ("first", "halfway", "nearly", "second")]
    assert positions == sorted(positions)
    assert await client.journal_holds()


@pytest.mark.rule("W44")
async def test_a_checkpoint_on_an_older_node_does_not_move_the_tip(client: WorkflowClient) -> None:
    at = await client.start(sessionId="S")
    tip = await client.advance(await client.advance(at))
    await client.checkpoint(at, "looked back")
    [run] = (await client.ask("workflow_resume", sessionId="S")).payload["runs"]
    assert run["stateToken"] == tip["stateToken"]
    assert "looked back" in (await client.rehydrate(tip))["recap"]


@pytest.mark.rule("W41")
async def test_a_checkpoint_needs_a_run_and_notes(client: WorkflowClient) -> None:
    at = await client.start()
    blank = {"stateToken": at["stateToken"], "notesMarkdown": " \n"}
    for arguments in ({"notesMarkdown": "x"}, {"stateToken": at["stateToken"]}, {}, blank):
        assert (await client.ask("workflow_checkpoint", **arguments)).reason == "validation_error"
    done = at
    for _ in range(3):
        done = await client.advance(done)
    kept = await client.checkpoint(done, "after the end")
    assert (kept["isComplete"], kept["pending"]) == (True, None)


@pytest.mark.parametrize("changed_settings", [{"workflow_checkpoints": False}], indirect=True, ids=["hidden"])
async def test_a_setting_hides_the_checkpoint_tool(client: WorkflowClient) -> None:
    at = await client.start()
    kept = await client.ask("workflow_checkpoint", stateToken=at["stateToken"], notesMarkdown="x")
    assert kept.is_error and kept.reason == "unknown_tool"
    listed = await client.surface.rpc("tools/list")
    assert "workflow_checkpoint" not in {tool["name"] for tool in listed["result"]["tools"]}


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────


def context_of(size: int) -> Payload:
    """A context of exactly so many canonical bytes, in characters of three: `{"k":"…"}`."""
    room = size - len('{"k":""}')
    return {"k": "€" * (room // 3) + "y" * (room % 3)}


@pytest.mark.rule("W47", "W48")
async def test_context_is_bounded_in_bytes_of_canonical_json(client: WorkflowClient) -> None:
    exact, over = context_of(CONTEXT_BYTES), context_of(CONTEXT_BYTES + 1)
    at = await client.start(context=exact)
    assert (await client.advance(at))["pending"]["stepId"] == "two"
    for answer in (
        await client.ask("workflow_start", workflowId="three-steps", context=over),
        await client.send(await client.start(), context=over),
        await client.send(at, context={"l": ""}),
    ):
        assert answer.reason == "context_too_large"
        told = json.dumps(answer.payload)
        assert str(CONTEXT_BYTES) in told
    assert str(CONTEXT_BYTES + 1) in json.dumps(
        (await client.ask("workflow_start", workflowId="three-steps", context=over)).payload
    )
    # Room is made by deleting.
    assert (await client.advance(at, context={"k": None, "l": "fits"}))["pending"]["stepId"] == "two"


@pytest.mark.rule("W49")
async def test_deep_nesting_is_refused_and_not_a_crash(client: WorkflowClient) -> None:
    def nested(levels: int) -> Any:
        value: Any = "x"
        for _ in range(levels):
            value = [value]
        return value

    at = await client.start(context={"start": nested(DEPTH - 1)})
    for content in ({"context": {"k": nested(DEPTH - 1)}}, {"output": {"kind": "x", "k": nested(DEPTH - 1)}}):
        assert (await client.advance(at, **content))["pending"]["stepId"] == "two"
    nodes = await client.sql("SELECT count(*) FROM workflow_nodes")
    for levels in (DEPTH, 900):
        deep = {"k": nested(levels)}
        for answer in (
            await client.send(at, context=deep),
            await client.ask("workflow_start", workflowId="three-steps", context=deep),
        ):
            assert answer.reason == "validation_error"
            assert [problem["path"] for problem in answer.payload["problems"]] == ["context"]
    answer = await client.send(at, output={"kind": "x", "k": nested(DEPTH)})
    assert answer.reason == "validation_error"
    assert await client.sql("SELECT count(*) FROM workflow_nodes") == nodes


@pytest.mark.rule("W51")
async def test_no_answer_echoes_the_context_that_came_with_the_call(client: WorkflowClient) -> None:
    at = await client.start(context={"secret": "MARKER-1"})
    second = await client.send(at, context={"other": "MARKER-2"})
    told = await client.ask("workflow_advance", stateToken=second.payload["stateToken"])
    kept = await client.ask(
        "workflow_checkpoint", stateToken=second.payload["stateToken"], notesMarkdown="notes"
    )
    for answer in (second, kept):
        assert "MARKER" not in json.dumps(answer.message)
    assert "MARKER" not in json.dumps(told.payload)
    assert "MARKER" not in json.dumps(at)


def write_advance(at: dict[str, Any], context: str) -> str:
    """An advance whose context is this JSON, as it is written."""
    return json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "workflow_advance",
                "arguments": {"stateToken": at["stateToken"], "ackToken": at["ackToken"], "context": "HERE"},
            },
        }
    ).replace('"HERE"', context)


@pytest.mark.rule("W54")
@pytest.mark.parametrize(
    "raw",
    [
        '{"k": NaN}',
        '{"k": "\\ud800"}',
        '{"k": 9007199254740993}',
        '{"k": 1e400}',
    ],
)
async def test_json_that_is_not_plain_is_answered_the_same_way_every_time(
    client: WorkflowClient, raw: str
) -> None:
    at = await client.start()
    before = await client.tables()
    call = write_advance(at, raw)
    answers = [await client.surface.send(call.encode()) for _ in range(3)]
    assert answers[0][0] == answers[1][0] == answers[2][0]
    answer = answers[0][0]
    assert answer is not None
    assert "error" in answer or answer["result"]["isError"], answer
    reason = (
        answer.get("error", {}).get("data") or answer.get("result", {}).get("structuredContent", {})
    ).get("reason")
    assert reason in (None, "validation_error"), answer
    assert await client.tables() == before


@pytest.mark.rule("W54")
async def test_of_a_key_that_is_written_twice_the_last_counts(client: WorkflowClient) -> None:
    at = await client.start()
    raw = write_advance(at, '{"k": 1, "k": 2}')
    answers = [(await client.surface.send(raw.encode()))[0] for _ in range(2)]
    assert answers[0] is not None and answers[0] == answers[1]
    assert await client.advance(at, context={"k": 2}) == answers[0]["result"]["structuredContent"]


@pytest.mark.rule("W54")
async def test_numbers_that_are_written_differently_are_the_same_content(client: WorkflowClient) -> None:
    at = await client.start()
    first = await client.advance(at, context={"n": 1.0, "big": 9007199254740991})
    assert await client.advance(at, context={"big": 9007199254740991, "n": 1}) == first
    assert await client.advance(at, context={"n": 1.5}) != first
