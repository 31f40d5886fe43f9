"""What every operator's primary tool gives back, and what it leaves undone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import PREPARED_FIELDS
from tests.support.answers import bodies_of, calls_of
from tests.support.operators.fixtures import CLUB, LaunchClient
from tests.support.surfaces import Surface

from assent.gate.content.check import find_flaw
from assent.gate.preflight import Readiness
from assent.kernel.toolsets import DEFAULT_TOOLSETS, GATE
from assent.present.cards import quote
from assent.tools.definition import TOOLSET_OF
from assent_launch.operators import OPERATORS

PRIMARY: dict[str, dict[str, Any]] = {
    "chieflab_launch_product": CLUB,
    "chieflab_post": {"channel": "site", **CLUB},
    "chieflab_send": {"to": "ada@example.org", "subject": "Hello", "body": "Dear Ada, the import is ready."},
    "chieflab_brain_read": {},
    "chieflab_connect_provider": {"provider": "zernio"},
}


@pytest.mark.rule("E46", "E59", "E101", "E9")
async def test_every_primary_tool_gives_the_whole_shape(client: LaunchClient) -> None:
    for tool, arguments in PRIMARY.items():
        payload = (await client.call(tool, arguments)).payload

        assert set(payload) >= PREPARED_FIELDS, tool
        assert payload["externalActionsExecuted"] == 0
        assert payload["stopRule"] == payload["agentGuide"]["stopRule"]
        assert payload["reviewUrl"].startswith("http")
        assert len(payload["agentGuide"]["agentDependency"]) == 6
        for place in ("primary", "fallback"):
            assert payload["agentGuide"]["nextToolCalls"][place]["name"], (tool, place)
        for action in payload["actions"]:
            assert action["status"] == "awaiting_approval"


@pytest.mark.rule("E50", "E59")
async def test_the_six_operators_are_listed_with_their_primary_tools(client: LaunchClient) -> None:
    listed = (await client.http.get("/.well-known/mcp.json")).json()["operators"]

    assert {each["id"]: each["primaryTool"] for each in listed} == {
        "chieflab-launch": "chieflab_launch_product",
        "chieflab-post": "chieflab_post",
        "chieflab-email": "chieflab_send",
        "chieflab-measure": "chieflab_measure",
        "chieflab-brain": "chieflab_brain_read",
        "chieflab-connect": "chieflab_connect_provider",
    }
    for each in listed:
        assert set(each) >= {"id", "label", "function", "primaryTool", "connectors", "status"}


@pytest.mark.rule("E1")
async def test_every_tool_of_an_operator_is_reachable_from_its_primary_tool(client: LaunchClient) -> None:
    """By following what the answers name: the primary tool's, those of its approval, and those of its execution."""
    # Connecting offers a retry of the drafts that wait for it.
    client.zernio.ready = Readiness(False, "missing_connector", "Zernio is not connected.")
    await client.call("chieflab_post", {"channel": "linkedin", "body": "The import is ready."})
    named = {
        tool: _named((await client.call(tool, arguments)).payload) for tool, arguments in PRIMARY.items()
    }
    # A launch that draws a picture does not offer to draw one.
    plain = await client.call("chieflab_launch_product", {**CLUB, "imagesNeeded": False})
    named["chieflab_launch_product"] |= _named(plain.payload)
    sent = await client.call("chieflab_post", {"channel": "site", "body": "The import is ready."})
    about = {"actionId": sent.payload["actions"][0]["id"]}
    later = _named((await client.call("chieflab_approve_action", about)).payload)
    later |= _named((await client.call("chieflab_execute_approved_action", about)).payload)
    client.clock.advance(days=2)
    measured = await client.call("chieflab_measure", {"runId": sent.payload["runId"]})
    named["chieflab_measure"] = _named(measured.payload) | {"chieflab_post_launch_review"}

    for operator in OPERATORS:
        reachable = named[operator.primary_tool] | {operator.primary_tool}
        if "chieflab_approve_action" in reachable:
            reachable |= later
        listed = {name for name in operator.tools if TOOLSET_OF.get(name, GATE) in DEFAULT_TOOLSETS}
        assert listed <= reachable, operator.id


def _named(payload: dict[str, Any]) -> set[str]:
    return {call["name"] for call in calls_of(payload)}


@pytest.mark.rule("E95")
async def test_a_launch_with_nothing_to_go_on_asks_for_the_seven_facts(client: LaunchClient) -> None:
    outcome = await client.call("chieflab_launch_product", {"channels": ["linkedin"]})

    assert outcome.reason == "missing_repo_context"
    for name in (
        "whatChanged",
        "recentCommits",
        "changedFiles",
        "routes",
        "readme",
        "targetCustomer",
        "launchGoal",
    ):
        assert name in outcome.payload["fixActionForAgent"]
    assert "generic" in outcome.payload["stopRule"]


@pytest.mark.rule("E18", "E19", "E48")
async def test_what_is_shown_is_what_will_be_sent(client: LaunchClient) -> None:
    payload = (await client.call("chieflab_launch_product", CLUB)).payload

    for action in payload["actions"]:
        body = bodies_of(payload)[action["channel"]]
        record = (await client.call("chieflab_get_action", {"actionId": action["id"]})).payload
        assert quote(record["content"]["body"]) in body
        assert find_flaw(body) is None


async def test_a_channel_that_nobody_knows_is_refused_with_the_names(client: LaunchClient) -> None:
    outcome = await client.call("chieflab_post", {"channel": "myspace", "body": "Hello there."})

    assert outcome.reason == "validation_error"
    assert "linkedin" in outcome.payload["problems"][0]["expected"]


async def test_every_channel_of_the_contract_gets_a_draft(client: LaunchClient) -> None:
    wanted = ["linkedin", "x", "hn", "reddit", "product_hunt", "threads", "email", "site", "landing"]
    payload = (await client.call("chieflab_launch_product", {"channels": wanted, **CLUB})).payload

    assert payload["launchPack"]["draftsNeeded"] == []
    assert [action["channel"] for action in payload["actions"]] == [
        name for name in wanted if name != "landing"
    ]


@pytest.mark.rule("E59")
async def test_one_post_for_any_channel_is_drafted_with_one_action(client: LaunchClient) -> None:
    for channel in ("hn", "reddit", "product_hunt", "threads", "bluesky", "slack"):
        payload = (await client.call("chieflab_post", {"channel": channel, **CLUB})).payload

        assert [action["channel"] for action in payload["actions"]] == [channel]
        assert "bank statements" in payload["agentGuide"]["renderInChat"][channel]["body"]


async def test_a_private_page_is_not_read_and_the_action_says_so(surface: Surface) -> None:
    await surface.sign_in()

    payload = (
        await surface.call(
            "chieflab_post", {"channel": "site", "productUrl": "http://169.254.169.254/x", **CLUB}
        )
    ).payload

    warnings = payload["actions"][0]["preflight"]["warnings"]
    assert any("could not be read" in warning for warning in warnings)


@pytest.mark.rule("E54", "E94")
async def test_an_unready_connector_points_to_the_connect_flow(surface: Surface) -> None:
    await surface.sign_in()
    staged = await surface.call(
        "chieflab_send", {"to": "ada@example.org", "subject": "Hi", "body": "Hello Ada."}
    )
    action = staged.payload["actions"][0]
    assert action["preflight"]["connectorReady"] is False

    await surface.call("chieflab_approve_action", {"actionId": action["id"]})
    outcome = await surface.call("chieflab_send_approved_email", {"actionId": action["id"]})

    assert outcome.reason == "missing_connector"
    assert outcome.payload["recoveryTool"]["name"] == "chieflab_connect_provider"
    record = await surface.call("chieflab_get_action", {"actionId": action["id"]})
    assert record.payload["status"] == "approved"
