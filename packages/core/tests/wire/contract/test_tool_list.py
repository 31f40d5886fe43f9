"""The tool list: small enough for a model, the same over both transports, by groups where a caller asks for them."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import msgspec
import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import (
    LEGACY,
    PUBLIC,
    REVISIONS,
    SIGNUP,
    other_transport,
    request,
    say,
    say_in,
)
from tests.support.strict_mode import refused
from tests.support.surfaces import Surface

from assent.kernel.toolsets import TOOLSETS
from assent.tools.catalog import Catalog
from assent.tools.definition import TOOLSET_OF, Tool

HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
PARTS = {"name", "title", "description", "inputSchema", "annotations"}
LIMITS = ("maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "pattern")

MOST_TOOLS = 40
MOST_BYTES = 33_000
"""`make bench` counts it in tokens."""

OF_THE_SEEDS = {
    "chieflab_approve_action",
    "chieflab_brain_read",
    "chieflab_brain_record",
    "chieflab_connect_provider",
    "chieflab_launch_product",
    "chieflab_list_connectors",
    "chieflab_measure",
    "chieflab_post",
    "chieflab_publish_approved_post",
    "chieflab_reject_action",
    "chieflab_send",
    "chieflab_send_email",
    "chieflab_signup_workspace",
    "chieflab_use_manual_fallback",
    "workflow_advance",
    "workflow_checkpoint",
    "workflow_inspect",
    "workflow_list",
    "workflow_start",
}
OLD_NAMES = {
    "chiefmo_create_social_graphics",
    "chiefmo_diagnose_marketing",
    "chiefmo_launch_product",
    "chiefmo_measure_launch_results",
    "chiefmo_publish_approved_post",
    "chiefmo_send_approved_email",
}


async def tools_in(surface: Surface, revision: str) -> list[dict[str, Any]]:
    result = (await say_in(surface, revision, "tools/list")).result
    assert "nextCursor" not in result
    tools: list[dict[str, Any]] = result["tools"]
    return tools


@pytest.mark.rule("E79", "E57")
async def test_every_tool_has_everything_a_client_may_use_in_every_revision(surface: Surface) -> None:
    lists = [await tools_in(surface, revision) for revision in REVISIONS]

    assert all(tools == lists[0] for tools in lists)
    for tool in lists[0]:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool["name"])
        assert len(tool["description"]) > 20
        assert tool["title"]
        assert set(tool) == PARTS
        assert set(tool["annotations"]) <= HINTS
        schema = tool["inputSchema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        written = msgspec.json.encode(schema).decode()
        assert not any(f'"{word}":' in written for word in ("$ref", *LIMITS))


@pytest.mark.rule("E79")
async def test_the_list_fits_a_model_and_has_the_names_of_the_seeds_but_the_old_ones_and_one_for_recovery(
    surface: Surface,
) -> None:
    tools = await tools_in(surface, LEGACY[0])

    names = [tool["name"] for tool in tools]
    assert len(names) == len(set(names)) <= MOST_TOOLS
    assert OF_THE_SEEDS | {PUBLIC, SIGNUP} <= set(names)
    assert not any(name.startswith("chiefmo_") for name in names)
    assert len(msgspec.json.encode(tools)) <= MOST_BYTES
    order = {tool.name: place for place, tool in enumerate(ALL_TOOLS)}
    places = [order[name] for name in names if name in order]
    assert places == sorted(places)


def test_every_tool_is_in_a_group_and_together_they_are_all_there_is() -> None:
    everything = Catalog(ALL_TOOLS, toolsets=TOOLSETS).offered

    assert {tool.name for tool in ALL_TOOLS} <= TOOLSET_OF.keys()
    assert everything == {tool.name for tool in ALL_TOOLS} | OLD_NAMES


@pytest.mark.parametrize(
    "entry", Catalog(ALL_TOOLS, toolsets=TOOLSETS).listing(), ids=lambda entry: entry["name"]
)
def test_what_has_free_keys_may_come_as_text_where_a_client_closes_every_object(
    entry: dict[str, Any],
) -> None:
    assert refused(entry["inputSchema"]) == []


@pytest.mark.parametrize("entry", Catalog(ALL_TOOLS).listing(), ids=lambda entry: entry["name"])
def test_a_description_names_only_tools_that_are_listed_with_it(entry: dict[str, Any]) -> None:
    texts = str(entry["description"]) + str(entry["inputSchema"])
    named = set(re.findall(r"\b(?:chieflab|chiefmo|workflow)_[a-z_]+", texts)) & everything_callable()
    beside = Catalog(ALL_TOOLS, toolsets=[TOOLSET_OF[entry["name"]]]).offered

    assert named <= beside


def everything_callable() -> set[str]:
    return {name for tool in ALL_TOOLS for name in (tool.name, *tool.aliases, *tool.legacy_names)}


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)
def test_every_description_says_when_to_use_the_tool(tool: Tool) -> None:
    assert "USE WHEN" in tool.description


async def test_an_open_object_may_come_as_text(surface: Surface) -> None:
    await surface.sign_in()
    drafts = '{"site": "We built a gate for agents."}'

    staged = await surface.call("chieflab_launch_product", {"goal": "Launch Assent", "drafts": drafts})
    wrong = await surface.call("chieflab_launch_product", {"goal": "Launch Assent", "drafts": '["site"]'})

    assert "We built a gate for agents." in [asset["body"] for asset in staged.payload["assets"]]
    assert [problem["path"] for problem in wrong.payload["problems"]] == ["drafts"]


async def test_the_list_is_the_same_with_and_without_a_key_and_every_time(surface: Surface) -> None:
    without = await tools_in(surface, LEGACY[-1])
    await surface.sign_in()

    assert await tools_in(surface, LEGACY[-1]) == without
    assert await tools_in(surface, LEGACY[-1]) == without


@pytest.mark.rule("E57")
async def test_both_transports_list_the_same_bytes(surface: Surface) -> None:
    one, _, _ = await surface.send(request("tools/list"))
    two, _, _ = await other_transport(surface).send(request("tools/list"))

    assert one == two


async def test_a_tool_that_only_reads_says_so_and_one_that_writes_does_not(surface: Surface) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in await tools_in(surface, LEGACY[-1])}

    assert hints[PUBLIC]["readOnlyHint"] is True
    assert hints["chieflab_status"] == {"readOnlyHint": True, "openWorldHint": False}
    assert hints[SIGNUP] == {"destructiveHint": False, "openWorldHint": False}
    assert hints["chieflab_send_email"] == {"idempotentHint": True}


async def test_the_list_has_one_page_whatever_cursor_is_sent(surface: Surface) -> None:
    whole = (await say(surface, request("tools/list"))).result
    for cursor in ("", "2", "eyJ4IjoxfQ"):
        assert (await say(surface, request("tools/list", {"cursor": cursor}))).result == whole


class TestClosedDiscovery:
    """A setting closes what an agent without a key may see (C19)."""

    @pytest.fixture
    def changed_settings(self) -> dict[str, Any]:
        return {"open_discovery": False}

    @pytest.mark.rule("E84")
    async def test_the_list_needs_a_key_then(self, surface: Surface) -> None:
        answer, status, _ = await surface.send(request("tools/list"))
        assert answer is not None
        assert answer["error"]["data"]["reason"] == "missing_api_key"
        assert status in (401, None)

        await surface.sign_in()
        assert (await say(surface, request("tools/list"))).result["tools"]


class TestOldNames:
    @pytest.fixture
    def changed_settings(self) -> dict[str, Any]:
        return {"toolsets": ("legacy",)}

    async def test_they_are_listed_last_where_a_setting_asks_for_them_and_the_gate_is_always_there(
        self, surface: Surface
    ) -> None:
        tools = await tools_in(surface, LEGACY[-1])

        old = [tool["name"] for tool in tools if tool["description"].startswith("Old name of")]
        assert set(old) == OLD_NAMES
        assert [tool["name"] for tool in tools][-len(old) :] == old
        assert "chieflab_approve_action" in {tool["name"] for tool in tools}
        assert "chieflab_launch_product" not in {tool["name"] for tool in tools}


async def test_what_is_not_listed_can_be_called(surface: Surface) -> None:
    names = {tool["name"] for tool in await tools_in(surface, LEGACY[-1])}
    await surface.sign_in()

    for name in ("chiefmo_list_connectors", "chieflab_help", "chieflab_get_workspace"):
        assert name not in names
        assert not (await surface.call(name)).is_error
