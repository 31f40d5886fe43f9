"""A call of a wrapped tool: passed, asked about, made once, and answered."""

from __future__ import annotations

import asyncio
import json
from itertools import product
from typing import Any

import pytest
from tests.support.wrap.kit import FrontClient, Wrapped, said

from assent.gate.rules.source import read_policy

OURS = {
    "chieflab_get_action",
    "chieflab_list_pending_actions",
    "chieflab_approve_action",
    "chieflab_reject_action",
    "chieflab_execute_approved_action",
    "chieflab_undo_action",
}


async def test_the_list_has_the_servers_tools_and_ours(client: FrontClient) -> None:
    assert set(await client.names()) == {"look", "store", "remove", "question"} | OURS


async def test_a_read_of_a_trusted_server_passes_and_a_write_waits_for_a_person(
    wrapped: Wrapped, client: FrontClient
) -> None:
    wrapped.want(notes={"a": "hello"})
    looked = await client.call("look", path="a")
    assert (said(looked), looked["structuredContent"]) == ("hello", {"found": True})

    answer = client.start_call("store", path="a", content="new")
    (waiting,) = await wrapped.until_waiting()
    assert waiting["type"] == "notes_store"
    assert wrapped.calls_of("store") == []
    await wrapped.approve(waiting["id"])
    assert said((await asyncio.wait_for(answer, 20))["result"]) == "store done"
    assert wrapped.calls_of("store") == [{"path": "a", "content": "new"}]


async def test_a_client_without_a_dialog_gets_the_link_at_once_and_waits_for_the_result_by_itself(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.handshake()
    refused = await client.call("store", path="a", content="new")
    asked = json.loads(said(refused).splitlines()[-1])
    assert refused["isError"] and asked["reason"] == "requires_approval"
    (waiting,) = await wrapped.waiting()
    assert asked["actionId"] == waiting["id"] and asked["reviewUrl"] in asked["userMessage"]

    found = client.start_call("chieflab_get_action", actionId=waiting["id"], waitSeconds=20)
    await wrapped.until_held()
    await wrapped.approve(waiting["id"])
    record = json.loads(said((await asyncio.wait_for(found, 20))["result"]).splitlines()[-1])
    assert record["result"]["output"]["content"] == [{"type": "text", "text": "store done"}]
    assert client.asked == []


async def test_a_client_with_a_dialog_shows_its_person_the_link_while_the_call_waits(
    wrapped: Wrapped, client: FrontClient
) -> None:
    answer = client.start_call("store", path="a", content="new")
    (waiting,) = await wrapped.until_waiting()

    async def is_shown() -> bool:
        return bool(client.asked)

    await wrapped.until(is_shown)
    await wrapped.until_held()
    (shown,) = client.asked
    assert f"/runs/{waiting['runId']}" in shown["message"]
    await wrapped.approve(waiting["id"])
    assert said((await asyncio.wait_for(answer, 20))["result"]) == "store done"


async def test_an_approval_counts_after_the_client_is_gone_and_a_later_client_gets_the_result(
    wrapped: Wrapped, client: FrontClient
) -> None:
    gone = await wrapped.open(trust=True)
    gone.start_call("store", path="a", content="kept")
    (waiting,) = await wrapped.until_waiting()
    await gone.close()
    assert [each["id"] for each in await wrapped.waiting()] == [waiting["id"]]
    await wrapped.approve(waiting["id"])
    assert wrapped.calls_of("store") == [{"path": "a", "content": "kept"}]
    found = await client.call("chieflab_get_action", actionId=waiting["id"], waitSeconds=5)
    record = json.loads(said(found).splitlines()[-1])
    assert record["status"] == "executed"
    assert record["result"]["output"]["content"] == [{"type": "text", "text": "store done"}]


async def test_sixty_four_equal_proposals_are_one_question_and_one_call(
    wrapped: Wrapped, client: FrontClient
) -> None:
    answers = [client.start_call("store", path="a", content="once") for _ in range(64)]

    async def all_have_asked() -> bool:
        return sum(answer.done() for answer in answers) + wrapped.app.waits.count == len(answers)

    (waiting,) = await wrapped.until_waiting()
    await wrapped.until(all_have_asked)
    await wrapped.approve(waiting["id"])
    wrapped.clock.advance(seconds=46)
    done = [(await asyncio.wait_for(answer, 30))["result"] for answer in answers]
    assert wrapped.calls_of("store") == [{"path": "a", "content": "once"}]
    assert any(not each.get("isError") for each in done)
    assert await wrapped.waiting() == []


@pytest.mark.parametrize("preset", ["relay", "people", "two_people"])
async def test_an_agent_cannot_approve_its_own_gated_call_under_a_preset(
    wrapped: Wrapped, client: FrontClient, preset: str
) -> None:
    await wrapped.set_policy(read_policy({"preset": preset}, {}))
    client.start_call("store", path="a", content="b")
    (waiting,) = await wrapped.until_waiting()
    tried = await client.call("chieflab_approve_action", actionId=waiting["id"])
    assert tried["isError"] and json.loads(said(tried).splitlines()[-1])["reason"] == "requires_approval"
    tried = await client.call("chieflab_execute_approved_action", actionId=waiting["id"])
    assert tried["isError"]
    assert wrapped.calls_of("store") == []


async def test_without_a_preset_no_rule_lets_an_agent_approve_its_own_gated_call(
    wrapped: Wrapped, client: FrontClient
) -> None:
    whens: tuple[dict[str, str], ...] = ({"channel": "email"}, {"risk": "high"}, {})
    for when, assurance in product(whens, ("agent", "client")):
        rule = {"name": "mine", "when": when, "ask": {"assurance": assurance}}
        await wrapped.set_policy(read_policy({"preset": "none", "rule": [rule]}, {}))
        client.start_call("store", path="a", content=f"{when} {assurance}")
        (waiting,) = await wrapped.until_waiting()
        tried = await client.call("chieflab_approve_action", actionId=waiting["id"])
        assert json.loads(said(tried).splitlines()[-1])["reason"] == "requires_approval", rule
        await wrapped.done("chieflab_reject_action", actionId=waiting["id"], reason="Seen.")
    assert wrapped.calls_of("store") == []


async def test_a_rule_can_lower_the_risk_so_that_an_agent_may_pass_on_a_yes(wrapped: Wrapped) -> None:
    rules = '[notes.tools.store]\nrisk = "low"\n'
    client = await wrapped.open(trust=True, rules=rules)
    answer = client.start_call("store", path="a", content="b")
    (waiting,) = await wrapped.until_waiting()
    approved = await client.call("chieflab_approve_action", actionId=waiting["id"])
    assert not approved["isError"], said(approved)
    await wrapped.run_jobs()
    assert not (await asyncio.wait_for(answer, 20))["result"].get("isError")
    assert wrapped.calls_of("store") == [{"path": "a", "content": "b"}]
    await client.close()


UNDO = 'undo = {tool = "remove", arguments = {path = "arguments.path"}}'


async def test_an_undo_has_the_risk_of_its_own_tool_and_an_agent_may_not_pass_on_a_yes(
    wrapped: Wrapped,
) -> None:
    client = await wrapped.open(rules=f'[notes.tools.store]\nrisk = "low"\nwithout = ["amount"]\n{UNDO}\n')
    await client.handshake()
    await client.call("store", path="a", content="b")
    (waiting,) = await wrapped.until_waiting()
    await wrapped.approve(waiting["id"])
    asked = await client.call("chieflab_undo_action", actionId=waiting["id"])
    staged = json.loads(said(asked).splitlines()[-1])["actions"][0]
    assert staged["preflight"]["severity"] == "high"
    assert (await wrapped.stored(staged["id"])).view.without == ()
    tried = await client.call("chieflab_approve_action", actionId=staged["id"])
    assert json.loads(said(tried).splitlines()[-1])["reason"] == "requires_approval"
    await wrapped.run_jobs()
    assert wrapped.calls_of("remove") == []
    await client.close()


async def test_a_call_that_reports_an_error_is_not_undone_and_undoes_nothing(wrapped: Wrapped) -> None:
    client = await wrapped.open(rules=f"[notes.tools.store]\n{UNDO}\n")
    await client.handshake()
    for on_call in ({"store": "error"}, {"remove": "error"}):
        wrapped.want(on_call=on_call)
        await client.call("store", path=next(iter(on_call)), content="b")
        (waiting,) = await wrapped.until_waiting()
        await wrapped.approve(waiting["id"])
        if "store" in on_call:
            refused = await wrapped.denied("chieflab_undo_action", actionId=waiting["id"])
            assert refused["reason"] == "validation_error"
    staged = (await wrapped.done("chieflab_undo_action", actionId=waiting["id"]))["actions"][0]["id"]
    await wrapped.approve(staged)
    assert await wrapped.where(staged) == "outcome_unknown"
    assert "undone" not in (await wrapped.stored(waiting["id"])).metadata
    await client.close()


async def test_a_cancelled_call_withdraws_its_question(wrapped: Wrapped, client: FrontClient) -> None:
    number, _ = client.begin("tools/call", {"name": "store", "arguments": {"path": "a", "content": "b"}})
    (waiting,) = await wrapped.until_waiting()
    await wrapped.until_held()
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    await wrapped.until(wrapped.has_none_waiting)
    assert await wrapped.where(waiting["id"]) == "rejected"
    assert wrapped.calls_of("store") == []


async def test_after_a_persons_edit_the_answer_says_what_ran_instead(
    wrapped: Wrapped, client: FrontClient
) -> None:
    answer = client.start_call("store", path="a", content="mine")
    (waiting,) = await wrapped.until_waiting()
    await wrapped.done("chieflab_edit_action", actionId=waiting["id"], arguments={"content": "theirs"})
    await wrapped.approve(waiting["id"])
    result = (await asyncio.wait_for(answer, 20))["result"]
    assert wrapped.calls_of("store") == [{"path": "a", "content": "theirs"}]
    assert '"theirs"' in said(result) and "Do not repeat" in said(result)


async def test_a_server_that_dies_in_mid_call_leaves_an_unknown_outcome_and_is_not_called_again(
    wrapped: Wrapped, client: FrontClient
) -> None:
    wrapped.want(on_call={"store": "die"})
    answer = client.start_call("store", path="a", content="b")
    (waiting,) = await wrapped.until_waiting()
    await wrapped.approve(waiting["id"])
    result = (await asyncio.wait_for(answer, 20))["result"]
    assert result["isError"] and "not known" in said(result)
    assert await wrapped.where(waiting["id"]) == "outcome_unknown"
    wrapped.want()
    wrapped.clock.advance(hours=2)
    await wrapped.run_jobs()
    assert len(wrapped.calls_of("store")) == 1
    assert (await client.call("chieflab_execute_approved_action", actionId=waiting["id"]))["isError"]
    assert len(wrapped.calls_of("store")) == 1


async def test_a_tool_that_may_be_repeated_is_called_again_after_an_unknown_outcome(wrapped: Wrapped) -> None:
    client = await wrapped.open(trust=True, rules="[notes.tools.store]\nrepeat = true\n")
    wrapped.want(on_call={"store": "die"})
    client.start_call("store", path="a", content="b")
    (waiting,) = await wrapped.until_waiting()
    await wrapped.approve(waiting["id"])
    wrapped.want()
    wrapped.clock.advance(hours=1)
    await wrapped.run_jobs()
    assert await wrapped.where(waiting["id"]) == "executed"
    assert len(wrapped.calls_of("store")) == 2
    await client.close()


async def test_repeated_keys_are_refused_and_nothing_is_asked(wrapped: Wrapped, client: FrontClient) -> None:
    line = (
        b'{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"store",'
        b'"arguments":{"path":"a","content":"shown","content":"sent"}}}'
    )
    answer = await asyncio.wait_for(client.send_raw(line, "d"), 20)
    assert answer["error"]["code"] == -32602 and "content" in answer["error"]["message"]
    assert await wrapped.waiting() == []


async def test_arguments_reach_the_server_exactly_as_they_were_approved(
    wrapped: Wrapped, client: FrontClient
) -> None:
    given: dict[str, Any] = {
        "path": "ä",
        "content": " \n\ttext  ",
        "n": 1.5,
        "big": 2**53 - 1,
        "list": [1, {"a": None}],
        "b": False,
    }
    client.start_call("store", **given)
    (waiting,) = await wrapped.until_waiting()
    await wrapped.approve(waiting["id"])
    assert wrapped.calls_of("store") == [given]


async def test_a_policy_can_name_a_wrapped_tool(wrapped: Wrapped, client: FrontClient) -> None:
    rule = {"name": "never", "when": {"effect": ["notes_remove"]}, "deny": "Notes stay."}
    await wrapped.set_policy(read_policy({"preset": "relay", "rule": [rule]}, {}))
    client.start_call("remove", path="a")
    (waiting,) = await wrapped.until_waiting()
    assert (await wrapped.denied("chieflab_approve_action", actionId=waiting["id"]))[
        "reason"
    ] == "denied_by_policy"


@pytest.mark.rule("E62")
async def test_a_rule_by_recipients_denies_a_wrapped_call_unless_a_rule_says_that_it_has_none(
    wrapped: Wrapped,
) -> None:
    rule = {"name": "strangers", "when": {"recipients": {"outside": ["@example.org"]}}, "deny": "No."}
    await wrapped.set_policy(read_policy({"preset": "relay", "rule": [rule]}, {}))
    rules = '[notes.tools.remove]\nwithout = ["recipients"]\n'
    client = await wrapped.open(rules=rules)
    arguments: dict[str, dict[str, Any]] = {"store": {"path": "a", "content": "b"}, "remove": {"path": "a"}}
    for tool, reason in (("store", "denied_by_policy"), ("remove", "requires_approval")):
        client.start_call(tool, **arguments[tool])
        (waiting,) = await wrapped.until_waiting()
        refused = await wrapped.denied("chieflab_approve_action", actionId=waiting["id"])
        assert refused["reason"] == reason
        assert [each["path"] for each in refused.get("problems", [])] == (
            ["recipients"] if tool == "store" else []
        )
        await wrapped.done("chieflab_reject_action", actionId=waiting["id"], reason="Done looking.")
    await client.close()
