"""What a tool call comes back as: the same payload in every form, revision and transport."""

from __future__ import annotations

import json

import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import (
    KEYED,
    PUBLIC,
    RECOVERY_FIELDS,
    REVISIONS,
    SIGNUP,
    converse,
    other_transport,
    request,
    say,
    say_in,
    tool_call,
)
from tests.support.surfaces import Surface

from assent_launch.channels.registry import CONNECTORS


@pytest.mark.rule("E80", "E57")
async def test_the_text_is_the_structured_payload_in_every_revision(surface: Surface) -> None:
    await surface.sign_in()
    for revision in REVISIONS:
        for name, arguments in (
            (PUBLIC, {}),
            (KEYED, {}),
            (SIGNUP, {"email": "a@b.c"}),
            (SIGNUP, {"email": "a b"}),
        ):
            result = (
                await say_in(surface, revision, "tools/call", {"name": name, "arguments": arguments})
            ).result
            (block,) = result["content"]
            assert block["type"] == "text"
            assert json.loads(block["text"]) == result["structuredContent"]
            assert result["isError"] is (result["structuredContent"]["ok"] is False)


@pytest.mark.rule("E51", "E57")
async def test_nothing_of_a_refusal_is_lost_on_its_way(surface: Surface) -> None:
    # recoveryTool is null here, and null is a value that serializers like to drop.
    outcome = await surface.call(SIGNUP, {"email": "no address"})

    assert outcome.is_error
    assert set(outcome.payload) >= RECOVERY_FIELDS
    assert outcome.payload["recoveryTool"] is None
    assert outcome.payload["statusCode"] == 400
    assert outcome.payload["ok"] is False


@pytest.mark.rule("E57")
async def test_both_transports_answer_a_call_with_the_same_payload(surface: Surface) -> None:
    await surface.sign_in()
    other = other_transport(surface)

    for name, arguments in ((PUBLIC, {}), (KEYED, {}), (SIGNUP, {"email": "no address"}), ("nope", {})):
        one, two = await surface.call(name, arguments), await other.call(name, arguments)
        assert one.message | {"id": 0} == two.message | {"id": 0}


@pytest.mark.rule("E84")
async def test_without_a_key_every_tool_but_the_public_two_is_refused(surface: Surface) -> None:
    public = {tool.name for tool in ALL_TOOLS if tool.public}
    assert public == {PUBLIC, SIGNUP}

    for tool in ALL_TOOLS:
        for name in (tool.name, tool.name.replace("chieflab_", "chiefmo_")):
            # No arguments: a key is asked for before anything is said about what is missing.
            outcome = await surface.call(name)
            expected = (
                "missing_api_key"
                if tool.name not in public
                else {PUBLIC: None, SIGNUP: "validation_error"}[tool.name]
            )
            assert outcome.reason == expected


async def test_an_old_name_gives_what_the_new_one_gives(surface: Surface) -> None:
    await surface.sign_in()

    for name in (PUBLIC, KEYED):
        old = await surface.call(name.replace("chieflab_", "chiefmo_"))
        assert old.payload == (await surface.call(name)).payload


@pytest.mark.rule("E87")
async def test_an_unknown_tool_is_32602_with_the_shape_in_every_revision(surface: Surface) -> None:
    for name in [
        "nope",
        "",
        "chieflab_",
        "chiefmo_",
        "chieflab_list_connectors ",
        "CHIEFLAB_LIST_CONNECTORS",
        "../x",
        "x" * 9999,
    ]:
        for revision in REVISIONS:
            heard = await say_in(surface, revision, "tools/call", {"name": name, "arguments": {}})
            assert heard.error["code"] == -32602
            assert heard.error["data"]["reason"] == "unknown_tool"
            assert heard.error["message"] == heard.error["data"]["fixActionForAgent"]
            assert set(heard.error["data"]) >= RECOVERY_FIELDS
            assert len(json.dumps(heard.error)) < 2_000


async def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(surface: Surface) -> None:
    outcome = await surface.call("chieflab_list_connector")

    assert PUBLIC in outcome.payload["fixActionForAgent"]


@pytest.mark.rule("E2")
async def test_a_key_sees_its_own_workspace_and_no_other(surface: Surface) -> None:
    one, two = await surface.new_workspace("one"), await surface.new_workspace("two")

    first = await surface.call(KEYED, key=one.api_key)
    second = await surface.call(KEYED, key=two.api_key)

    assert (first.payload["workspaceId"], first.payload["name"]) == (one.workspace_id, "one")
    assert (second.payload["workspaceId"], second.payload["name"]) == (two.workspace_id, "two")
    # Nor does an argument reach across.
    across = await surface.call(KEYED, {"workspaceId": two.workspace_id}, key=one.api_key)
    assert across.is_error
    assert across.reason == "validation_error"


@pytest.mark.rule("E86")
async def test_the_connector_list_holds_the_public_fields_and_nothing_else(surface: Surface) -> None:
    await surface.sign_in()
    outcome = await surface.call(PUBLIC)

    fields = {"id", "label", "description", "authMode", "channels", "does", "status", "says"}
    assert set(outcome.payload) == {"ok", "connectors", "agentGuide"}
    assert all(set(connector) - {"connectUrl"} == fields for connector in outcome.payload["connectors"])
    assert [connector["id"] for connector in outcome.payload["connectors"]] == [
        known.id for known in CONNECTORS
    ]
    settings = surface.app.settings
    said = json.dumps(outcome.message)
    for secret in (*settings.run_token_secrets, *settings.secrets, surface.key, settings.database_url):
        assert str(secret) not in said


@pytest.mark.rule("E86")
async def test_the_connector_list_knows_no_workspace_without_a_key(surface: Surface) -> None:
    await surface.sign_in()
    within = await surface.call(PUBLIC)
    surface.key = None
    without = await surface.call(PUBLIC)

    assert [each["status"] for each in without.payload["connectors"]] == [
        each["status"] for each in within.payload["connectors"]
    ]
    assert str(surface.workspace_id) not in json.dumps(without.message)


@pytest.mark.rule("E58")
async def test_arguments_may_be_left_out_or_null(surface: Surface) -> None:
    for params in (
        {"name": PUBLIC},
        {"name": PUBLIC, "arguments": None},
        {"name": PUBLIC, "arguments": {}},
    ):
        heard = await say(surface, request("tools/call", params))
        assert heard.result["isError"] is False


async def test_forty_calls_at_once_are_all_answered(surface: Surface) -> None:
    await surface.sign_in()

    outcomes = await surface.gather(40, KEYED, {})

    assert not any(outcome.is_error for outcome in outcomes)
    assert len({outcome.message["id"] for outcome in outcomes}) == 40


async def test_a_store_can_learn_whether_a_call_is_the_only_one(surface: Surface) -> None:
    await surface.sign_in()
    edge, running = surface.surfaces.edge, []

    def is_alone() -> bool:
        running.append(edge.running)
        assert surface.surfaces.is_alone() is (edge.running == 1)
        return False

    surface.app.is_alone = is_alone
    await surface.call(KEYED, {})
    assert set(running) <= {1}
    await surface.gather(40, KEYED, {})
    assert edge.running == 0
    if surface.transport == "http" and surface.app.store.dialect == "sqlite":
        assert max(running) > 1


async def test_calls_in_flight_on_one_stdio_session_are_answered_under_their_own_ids(
    surface: Surface,
) -> None:
    await surface.sign_in()
    calls = [tool_call(KEYED, request_id=f"call {n}") for n in range(100)]

    answers = await converse(surface, calls)

    assert {answer["id"] for answer in answers} == {call["id"] for call in calls}
    assert all(answer["result"]["isError"] is False for answer in answers)


@pytest.mark.rule("E84")
async def test_public_tools_answer_without_a_key(surface: Surface) -> None:
    outcome = await surface.call("chieflab_list_connectors")

    assert not outcome.is_error
    assert {connector["id"] for connector in outcome.payload["connectors"]} >= {"site", "smtp", "zernio"}


@pytest.mark.rule("E84")
async def test_a_key_opens_its_own_workspace(surface: Surface) -> None:
    issued = await surface.sign_in()

    outcome = await surface.call("chieflab_get_workspace")

    assert outcome.payload["workspaceId"] == issued.workspace_id


async def test_a_list_of_what_the_server_brings_alone_says_that_none_is_the_users(surface: Surface) -> None:
    await surface.sign_in()
    listed = (await surface.call("workflow_list", {"query": "bug"})).payload

    assert {each["workflowId"].partition(".")[0] for each in listed["workflows"]} == {"assent"}
    assert "none of their own" in listed["note"]
