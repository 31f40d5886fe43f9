"""Calls that an agent runs itself: their risk, what a person can read of them, and until when the same call joins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.builders import NOW_MS, put_in
from tests.support.scripted import ScriptedRow, ScriptedStore, write_row

from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate import transitions
from assent.gate.outcomes import NotSent
from assent.gate.policy import DEFAULT
from assent.kernel.refusals import Refusal
from assent_wrap import agent_calls
from assent_wrap.agent_calls import (
    AGENT,
    OWN_CALL,
    AgentConnector,
    ProposeCall,
    ReportCall,
    _find_newest,
    _is_open,
    _refuse_unreadable,
    _require_own,
    propose_call,
    report_call,
)


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


class Wished(Exception):  # noqa: N818 - what a test looks for
    """What would be staged."""


@pytest.mark.parametrize(("reason", "kept"), [(None, ""), ("the tests passed", "the tests passed")])
@pytest.mark.parametrize("key", [None, "thread-1:call-1"])
async def test_a_call_is_staged_with_its_reason_and_the_key_of_its_caller(
    reason: str | None, kept: str, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stage(_: Any, wish: Any, *__: Any) -> None:
        raise Wished(wish)

    monkeypatch.setattr(agent_calls, "prepare_run", stage)
    call = call_on(**{"wrap.find_wrap_call": []})
    call.services.connectors[AGENT] = AgentConnector({"agent_risks": ()})
    asked = ProposeCall(source="a", tool_name="Bash", reason=reason, idempotency_key=key)
    with pytest.raises(Wished) as staged:
        await propose_call(call, asked)
    (wish,) = staged.value.args
    assert (wish.reason, wish.key if key else wish.key[:6]) == (kept, key or "agent:")


@pytest.mark.parametrize(
    ("outcome", "detail", "said"),
    [
        ("failed", "", "the agent did not run it"),
        ("failed", "no shell", "no shell"),
        ("unknown", "", "the agent does not know"),
        ("unknown", "no shell", "no shell"),
    ],
)
async def test_a_report_has_the_words_of_the_agent_or_says_what_it_says(
    outcome: Any, detail: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = put_in(transitions.UNKNOWN, metadata={OWN_CALL: {"holder": LOCAL_PRINCIPAL.holder}})
    reported: list[Any] = []

    async def report(_: Any, __: Any, ___: Any, ____: Any, given: Any, _____: Any) -> Any:
        reported.append(given)
        return action

    monkeypatch.setattr(agent_calls, "report_outcome", report)
    call = call_on(find_action=[write_row(action, DEFAULT)])
    call.services.clock = None
    request = ReportCall(action_id=action.action_id, claim_id="c", outcome=outcome, detail=detail)
    assert (await report_call(call, request)).ok
    assert [str(each) for each in reported] == [said]


async def test_a_call_of_an_agent_waits_for_the_agent_again_where_this_server_would_make_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_calls, "action_of", lambda *_: None)
    with pytest.raises(NotSent) as not_sent:
        await AgentConnector({"agent_risks": ()}).perform(cast(Any, None), cast(Any, None))
    assert (not_sent.value.curable, not_sent.value.reason) == (True, "provider_not_live")
