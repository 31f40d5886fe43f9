"""What belongs to another workspace cannot be told from what does not exist, by any tool that takes an id (C1)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import AUDIT, BODY, EXECUTE, OTHER, PENDING, Gate
from tests.support.actions.trace import Traced
from tests.support.catalog import ALL_TOOLS

from assent.tools.catalog import input_schema
from assent.tools.definition import Tool

pytestmark = pytest.mark.every_surface

UNKNOWN = "01a0c8de-7a3b-7c1d-9f00-5b6c7d8e9fa0"

MALFORMED = (
    "",
    "1",
    "null",
    UNKNOWN.upper(),
    UNKNOWN.replace("-", ""),
    f" {UNKNOWN}",
    f"{UNKNOWN}\n",
    "{" + UNKNOWN + "}",
    f"urn:uuid:{UNKNOWN}",
    UNKNOWN[:-1] + "g",
    UNKNOWN[:-1] + "０",
    "' OR 1=1 --",
    "../" + UNKNOWN,
)

VALUES = {"body": OTHER, "url": "https://example.org/live", "reason": "no", "evidence": "I looked"}
"""Good values of what else the tools ask for."""


def takes(argument: str) -> list[Tool]:
    return [tool for tool in ALL_TOOLS if argument in input_schema(tool.request)["properties"]]


def arguments_of(tool: Tool, **ids: str) -> dict[str, Any]:
    """Arguments that are good but for the id."""
    schema = input_schema(tool.request)
    wanted = {*schema.get("required", ()), *({"body", "evidence"} & set(schema["properties"]))} - set(ids)
    return ids | {name: schema["properties"][name].get("enum", [VALUES.get(name)])[0] for name in wanted}


async def answered(surface: Gate, tool: Tool, arguments: dict[str, Any]) -> tuple[Any, ...]:
    """Everything that a caller can see of an answer."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool.name, "arguments": arguments},
    }
    answer, status, headers = await surface.send(message)
    named = {name: value for name, value in headers.items() if name != "x-request-id"}
    return msgspec.json.encode(answer), status, named


@pytest.mark.rule("E26", "E96", "E2", "E69")
async def test_a_foreign_and_an_unknown_action_get_the_same_bytes_after_the_same_statements(
    surface: Gate,
) -> None:
    other = (await surface.new_workspace("other")).api_key
    foreign = await surface.staged(key=other)
    store = Traced.around(surface.app)
    for tool in takes("actionId"):
        await answered(
            surface, tool, arguments_of(tool, actionId=UNKNOWN)
        )  # a store may learn from the first call
        answers, statements = [], []
        for action_id in (foreign, UNKNOWN):
            for idempotency_key in (None, f"fresh {tool.name}"):
                store.trace.clear()
                keyed = {"idempotencyKey": idempotency_key} if idempotency_key is not None else {}
                if keyed and "idempotencyKey" not in input_schema(tool.request)["properties"]:
                    continue
                answers.append(await answered(surface, tool, arguments_of(tool, actionId=action_id) | keyed))
                statements.append(list(store.trace))
        half = len(answers) // 2
        assert answers[:half] == answers[half:], tool.name
        assert statements[:half] == statements[half:], tool.name
        assert statements[0], "the tool was asked and the store was not"
        result = msgspec.json.decode(answers[0][0])["result"]
        assert result["isError"] is True
        assert result["structuredContent"]["reason"] == "wrong_workspace"
        assert result["structuredContent"]["statusCode"] == 401
        assert foreign not in answers[0][0].decode()
        assert surface.calls == 0
        assert (await surface.call("chieflab_get_action", {"actionId": foreign}, key=other)).payload[
            "status"
        ] == "awaiting_approval"


@pytest.mark.rule("E26", "E96")
async def test_a_malformed_id_is_said_to_be_malformed_without_a_look_at_the_store(surface: Gate) -> None:
    store = Traced.around(surface.app)
    for tool in takes("actionId"):
        for _ in range(2):  # the first call of a key opens the row that counts its calls
            store.trace.clear()
            await surface.call(tool.name, arguments_of(tool, actionId="malformed"))
        alone = list(store.trace)
        for text in MALFORMED:
            store.trace.clear()
            answer = await surface.call(tool.name, arguments_of(tool, actionId=text))
            assert (answer.reason, answer.payload["statusCode"]) == ("invalid_action_id", 400), (
                tool.name,
                text,
            )
            assert [what for what in store.trace if "action" in what[1]] == []
            assert store.trace == alone


@pytest.mark.rule("E2")
async def test_a_foreign_and_an_unknown_run_get_the_same_bytes_after_the_same_statements(
    surface: Gate,
) -> None:
    run = await surface.run(key=(await surface.new_workspace("other")).api_key)
    store = Traced.around(surface.app)
    for tool in takes("runId"):
        await answered(
            surface, tool, arguments_of(tool, runId=UNKNOWN)
        )  # a store may learn from the first call
        answers, statements = [], []
        for run_id in (run["runId"], UNKNOWN):
            store.trace.clear()
            answers.append(await answered(surface, tool, arguments_of(tool, runId=run_id)))
            statements.append(list(store.trace))
        assert answers[0] == answers[1], tool.name
        assert statements[0] == statements[1], tool.name
        assert BODY.encode() not in answers[0][0]


@pytest.mark.rule("E2", "E45")
async def test_lists_and_audit_show_a_workspace_its_own_actions_only(surface: Gate) -> None:
    other = (await surface.new_workspace("other")).api_key
    mine, theirs = await surface.staged(), await surface.staged(key=other)
    for tool in (PENDING, AUDIT):
        for key, action_id in ((None, mine), (other, theirs)):
            shown = (await surface.call(tool, {}, key=key)).payload["actions"]
            assert [action["id"] for action in shown] == [action_id]


@pytest.mark.rule("E26")
async def test_an_approved_action_of_another_workspace_is_not_fired_by_knowing_its_id(surface: Gate) -> None:
    action_id = await surface.approved()
    thief = (await surface.new_workspace("thief")).api_key
    answer = await surface.call(EXECUTE, {"actionId": action_id, "idempotencyKey": "k"}, key=thief)
    assert answer.reason == "wrong_workspace"
    assert surface.calls == 0
    assert (await surface.ask(EXECUTE, actionId=action_id, idempotencyKey="k")).payload[
        "status"
    ] == "executed"
    again = await surface.call(EXECUTE, {"actionId": action_id, "idempotencyKey": "k"}, key=thief)
    assert again.payload == answer.payload
