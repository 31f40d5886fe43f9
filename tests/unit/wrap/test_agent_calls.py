"""Calls that an agent runs itself: their risk, what a person can read of them, and until when the same call joins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.builders import NOW_MS, put_in
from tests.unit.scripted import ScriptedRow, ScriptedStore, write_row

from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate import transitions
from assent.gate.policy import DEFAULT
from assent.gate.views import Severity
from assent.kernel.refusals import Refusal
from assent.platform.values import MAX_CONTENT_CHARS
from assent_wrap.agent_calls import (
    FAMILY,
    LONG_CHARS,
    OWN_CALL,
    AgentCall,
    AgentConnector,
    ProposeCall,
    _find_newest,
    _is_open,
    _list_fields,
    _make_schema,
    _refuse_unreadable,
    _require_own,
    find_problems,
    make_effect,
    name_source,
    propose_call,
)

BASH = AgentCall(source="claude-code", tool="Bash")


@pytest.mark.parametrize(
    ("source", "tool", "key", "risk"),
    [
        ("claude-code", "Write", "", Severity.MEDIUM),
        ("claude-code", "WriteAll", "", Severity.HIGH),
        ("claude-code", "mcp__docs__find", "", Severity.HIGH),
        ("claude-code", "mcp__docs__find", "ci", Severity.LOW),
        ("claude-code", "mcp__docs__find", "other", Severity.HIGH),
        ("langgraph", "Write", "", Severity.HIGH),
    ],
)
def test_the_first_rule_of_the_settings_for_a_source_and_tool_gives_the_risk(
    source: str, tool: str, key: str, risk: Severity
) -> None:
    rules = ["claude-code:Write=medium", "claude-code@ci:mcp__*=low", "claude-code:Write=low"]
    assert AgentConnector({"agent_risks": rules}).grade(source, tool, key) is risk


def test_the_agents_word_about_its_risk_is_explained_by_whose_rule_it_is() -> None:
    high, low = (
        make_effect(AgentCall(source="a", tool="b", risk=risk), {}) for risk in (Severity.HIGH, Severity.LOW)
    )
    assert callable(FAMILY.why) and callable(FAMILY.risk)
    assert (FAMILY.risk(high), FAMILY.risk(low)) == (Severity.HIGH, Severity.LOW)
    assert FAMILY.why(high) != FAMILY.why(low) and "settings" in FAMILY.why(low)


def test_a_source_has_its_own_name_or_is_spelled_out() -> None:
    assert (name_source("langgraph"), name_source("my-agent")) == ("LangGraph", "My agent")


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({"a": "x"}, [("arguments.a", False, True)]),
        ({"a": "x" * LONG_CHARS}, [("arguments.a", False, True)]),
        ({"a": "x" * (LONG_CHARS + 1)}, [("arguments.a", True, True)]),
        ({"a": "x\ny"}, [("arguments.a", True, True)]),
        ({"a": ""}, [("arguments.a", False, False)]),
        ({"a": 10**LONG_CHARS}, [("arguments.a", False, True)]),
        (
            {"a": ["x\ny"] * LONG_CHARS, "b": True},
            [("arguments.a", True, True), ("arguments.b", False, True)],
        ),
    ],
)
def test_each_argument_is_a_field_with_room_for_a_long_text(
    arguments: dict[str, Any], fields: list[tuple[str, bool, bool]]
) -> None:
    found = _list_fields(make_effect(BASH, arguments))
    assert [(each.name, each.many, each.required) for each in found] == fields


def test_an_edit_keeps_each_argument_and_the_kind_of_its_value() -> None:
    given = {"a": "x", "b": True, "c": 1, "d": 1.5, "e": [1]}
    kinds = {"a": "string", "b": "boolean", "c": "integer", "d": "number"}

    assert _make_schema(make_effect(BASH, given)) == {
        "type": "object",
        "properties": {name: {"type": kinds[name]} if name in kinds else {} for name in given},
        "required": list(given),
    }


def test_a_call_that_a_person_could_not_read_whole_has_a_problem() -> None:
    spare = MAX_CONTENT_CHARS - len("a:\n    ")
    whole = make_effect(BASH, {"a": "x" * spare})

    assert len(whole.body) == MAX_CONTENT_CHARS
    assert find_problems(whole) == []
    for arguments in ({"a": "x" * (spare + 1)}, {"a": float("nan")}):
        assert [each.path for each in find_problems(make_effect(BASH, arguments))] == ["arguments"]


@pytest.mark.parametrize(
    ("state", "is_open"),
    [
        (transitions.AWAITING, True),
        (transitions.APPROVED, True),
        (transitions.RETRYABLE, True),
        (transitions.EXECUTING, False),
        (transitions.UNKNOWN, False),
        (transitions.EXECUTED, False),
        (transitions.FAILED, False),
        (transitions.REJECTED, False),
    ],
)
def test_a_call_is_joined_while_it_may_be_decided_or_claimed(state: transitions.State, is_open: bool) -> None:
    assert _is_open(put_in(state), NOW_MS) is is_open
    assert not _is_open(put_in(state, expires_ms=NOW_MS), NOW_MS)


@pytest.mark.parametrize(
    ("tool", "context", "path"),
    [
        ("Ba\nsh", {}, "toolName"),
        ("Ba\x07sh", {}, "toolName"),
        ("Bash", {"Where": "a\nb"}, "context.Where"),
        ("Bash", {"Whe\u202ere": "a"}, "context.Whe\u202ere"),
    ],
)
def test_a_name_or_context_that_is_not_one_readable_line_is_refused(
    tool: str, context: dict[str, str], path: str
) -> None:
    _refuse_unreadable(ProposeCall(source="a", tool_name="Bash", context={"Where": "/srv"}))
    with pytest.raises(Refusal) as refused:
        _refuse_unreadable(ProposeCall(source="a", tool_name=tool, context=context))
    assert [each.path for each in refused.value.recovery().problems or ()] == [path]


def call_on(**rows: list[ScriptedRow]) -> Any:
    services = SimpleNamespace(store=ScriptedStore(**rows), connectors={})
    return cast(Any, SimpleNamespace(caller=LOCAL_PRINCIPAL, services=services, now_ms=NOW_MS))


async def test_a_server_without_the_connector_of_agents_takes_no_call() -> None:
    with pytest.raises(Refusal) as refused:
        await propose_call(call_on(), ProposeCall(source="a", tool_name="Bash"))
    assert refused.value.reason == "provider_not_live"


async def test_the_newest_proposal_of_a_call_comes_with_its_action() -> None:
    action, found = put_in(transitions.AWAITING), ScriptedRow(generation=3, action_id="x")
    rows = {"wrap.find_wrap_call": [found], "find_action": [write_row(action, DEFAULT)]}

    proposed, known = await _find_newest(call_on(**rows), "same")
    assert proposed is not None and proposed.generation == 3
    assert known is not None and known.action_id == action.action_id
    assert await _find_newest(call_on(**{"wrap.find_wrap_call": []}), "same") == (None, None)


@pytest.mark.parametrize(
    ("metadata", "own"),
    [
        ({OWN_CALL: {"holder": LOCAL_PRINCIPAL.holder}}, True),
        ({OWN_CALL: {"holder": "another"}}, False),
        ({}, False),
    ],
)
async def test_a_call_belongs_to_the_key_that_proposed_it(metadata: dict[str, Any], own: bool) -> None:
    action = put_in(transitions.APPROVED, metadata=metadata)
    call = call_on(find_action=[write_row(action, DEFAULT)])
    if own:
        await _require_own(call, action.action_id)
        return
    with pytest.raises(Refusal) as refused:
        await _require_own(call, action.action_id)
    assert [each.path for each in refused.value.recovery().problems or ()] == ["actionId"]
