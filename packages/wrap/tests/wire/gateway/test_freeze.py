"""Wrapped tools while sending is frozen: only what a trusted server says to only read passes."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from tests.support.wrap.kit import FrontClient, Wrapped, said

from assent.engine.core import freezes
from assent.gate.views import Diff
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent_wrap.profiles import Mode

PASSES = """
[notes]
trusted = {trusted}
[notes.tools.store]
mode = "pass"
[notes.tools.look]
mode = "pass"
"""


async def freeze(wrapped: Wrapped, where: WorkspaceId) -> None:
    now_ms = wrapped.clock.now_ms()
    assert await wrapped.app.store.write(lambda: freezes.freeze(where, now_ms, by="test", why="a leak"))


async def unfreeze(wrapped: Wrapped, where: WorkspaceId) -> None:
    now_ms = wrapped.clock.now_ms()
    assert await wrapped.app.store.write(lambda: freezes.unfreeze(where, now_ms, by="test")) is not None


def reason_of(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    reason: str = json.loads(result["content"][1]["text"])["reason"]
    return reason


@pytest.mark.parametrize("everywhere", [True, False])
async def test_a_tool_that_passes_is_refused_unless_it_is_trusted_and_only_reads(
    wrapped: Wrapped, everywhere: bool
) -> None:
    where = SYSTEM_WORKSPACE if everywhere else wrapped.workspace_id
    assert set(get_args(Mode)) == {"pass", "gate", "hide"}, "a new mode has to be tried here"
    trusted, stranger, observed = [
        await wrapped.open(rules=PASSES.format(trusted="true")),
        await wrapped.open(rules=PASSES.format(trusted="false")),
        await wrapped.open(trust=True, observe=True),
    ]
    acts: list[tuple[FrontClient, str]] = [
        (trusted, "store"),
        (stranger, "store"),
        (stranger, "look"),
        (observed, "store"),
        (observed, "remove"),
    ]
    await freeze(wrapped, where)
    for client, tool in acts:
        assert reason_of(await client.call(tool, path="a", content="b")) == "frozen", tool
    assert [entry["tool"] for entry in wrapped.ledger_entries if "tool" in entry] == []
    for client in (trusted, observed):
        assert (await client.call("look", path="a")).get("isError") is not True
    await unfreeze(wrapped, where)
    for client, tool in acts:
        assert (await client.call(tool, path="a", content="b")).get("isError") is not True, tool
    for client in (trusted, stranger, observed):
        await client.close()


async def test_resources_and_prompts_that_a_rule_passes_are_not_read_from_a_server_that_is_not_trusted(
    wrapped: Wrapped, client: FrontClient
) -> None:
    stranger = await wrapped.open(rules='[notes]\nresources = "pass"\nprompts = "pass"\n')
    await freeze(wrapped, wrapped.workspace_id)
    for method, params in (("resources/read", {"uri": "note://one"}), ("prompts/get", {"name": "greet"})):
        assert "a leak" in (await stranger.request(method, params))["error"]["message"]
        assert "error" not in await client.request(method, params)
    assert (await stranger.request("resources/list"))["resources"]
    await stranger.close()


async def test_a_gated_call_waits_without_a_promise_and_calls_nothing_to_show_a_difference(
    wrapped: Wrapped,
) -> None:
    rules = """
    [notes.tools.store]
    diff = {tool = "look", arguments = {path = "path"}, after = "content"}
    """
    client = await wrapped.open(rules=rules)
    gateway: Any = wrapped.app.gateway
    gateway.held.hold_seconds = 0
    await freeze(wrapped, wrapped.workspace_id)
    waits = said(await client.call("store", path="a", content="b"))
    assert "a leak" in waits and "it is done" not in waits
    (waiting,) = await wrapped.waiting()
    blocks = (await wrapped.stored(waiting["id"])).view.blocks
    assert not any(isinstance(each, Diff) for each in blocks)
    assert wrapped.calls_of("look") == []
    await wrapped.approve(waiting["id"])
    shown = await wrapped.done("chieflab_get_action", actionId=waiting["id"])
    assert "a leak" in shown["userMessage"]
    assert wrapped.calls_of("store") == []
    await client.close()
