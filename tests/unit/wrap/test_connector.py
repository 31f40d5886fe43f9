"""The connector of approved calls: which tool may be called to read, and what is read with it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.surfaces import ManualClock
from tests.unit.scripted import ScriptedRow, ScriptedStore

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent_wrap.connector import BEFORE_CHARS, CallConnector, _read_present
from assent_wrap.effects import CALL, CONNECTORS
from assent_wrap.listing import compute_pin
from assent_wrap.profiles import DiffTemplate, ServerRules, ToolRule, UpstreamSpec
from assent_wrap.transports import RpcError
from assent_wrap.upstreams import Upstream

LOOK: dict[str, Any] = {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": True}}
STORE: dict[str, Any] = {"name": "store", "inputSchema": {}}
TRUSTED = ServerRules(trusted=True)
PASSED = ServerRules(tools=(ToolRule(match="look", mode="pass"),))


class Answering(Upstream):
    """A server with these tools, which answers each call with the same result."""

    def __init__(self, result: dict[str, Any] | Exception, *tools: dict[str, Any]) -> None:
        super().__init__(UpstreamSpec(name="notes", command=("notes",)), {}, ManualClock(), tuple)
        self._result = result
        self._offered = tools
        self.asked: list[dict[str, Any]] = []

    async def list_tools(self) -> tuple[dict[str, Any], ...]:
        return self._offered

    async def request(self, method: str, params: Any, *_: Any, **__: Any) -> dict[str, Any]:
        self.asked.append(params)
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


@pytest.mark.parametrize(
    ("rules", "tool", "accepted", "hinted", "may", "frozen"),
    [
        (TRUSTED, LOOK, LOOK, True, True, True),
        (TRUSTED, LOOK, LOOK, False, False, False),
        (TRUSTED, LOOK, STORE, True, False, False),
        (TRUSTED, LOOK, None, True, False, False),
        (TRUSTED, STORE, STORE, True, False, False),
        (ServerRules(), LOOK, LOOK, True, False, False),
        (PASSED, LOOK, LOOK, True, True, False),
    ],
    ids=["trusted", "a later hint", "changed", "not accepted", "another tool", "not trusted", "by a rule"],
)
async def test_a_tool_reads_what_a_call_replaces_if_an_agent_may_call_it_without_asking(
    rules: ServerRules,
    tool: dict[str, Any],
    accepted: dict[str, Any] | None,
    hinted: bool,
    may: bool,
    frozen: bool,
) -> None:
    pin = compute_pin(accepted) if accepted is not None else ""
    rows = [ScriptedRow(server="notes", tool="look", pin=pin, hinted=hinted)] if accepted is not None else []
    services = SimpleNamespace(store=ScriptedStore(**{"wrap.list_wrap_pins": rows}))
    info = next(each for each in CONNECTORS if each.id == CALL)
    connector = CallConnector(cast(Any, services), cast(Any, None), cast(Any, None), info)
    server = Answering({}, tool)

    found = [
        await connector._may_read(LOCAL_WORKSPACE, server, rules, "look", frozen=stopped)
        for stopped in (False, True)
    ]
    assert found == [may, frozen]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"text": "a"}, "?", {"type": "image"}, {"text": "b\0"}]}, "ab\ufffd"),
        ({"content": [{"text": "a"}], "isError": False}, "a"),
        ({"content": [{"text": "a"}], "isError": True}, ""),
        ({"content": "a"}, ""),
        ({"content": [{"text": "x" * (BEFORE_CHARS + 1)}]}, "x" * BEFORE_CHARS),
        (RpcError(-32000, "no such file"), ""),
    ],
)
async def test_the_text_that_a_call_would_replace_is_what_its_reader_answers(
    result: dict[str, Any] | Exception, text: str
) -> None:
    server = Answering(result)
    template = DiffTemplate(tool="look", arguments={"path": "file"}, after="content")

    assert await _read_present(server, template, {"file": "a.txt", "content": "new"}) == text
    assert server.asked == [{"name": "look", "arguments": {"path": "a.txt"}}]
