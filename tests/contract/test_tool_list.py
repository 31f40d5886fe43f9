"""The tool list: complete, the same for everybody, and equal over both transports."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest
from tests.contract.talk import (
    KEYED,
    LEGACY,
    PUBLIC,
    REVISIONS,
    SIGNUP,
    other_transport,
    request,
    say,
    say_in,
)
from tests.surfaces import Surface

from assent.tools.catalog import ALL_TOOLS

CATEGORIES = {"primary", "review", "execute", "workspace", "workflow", "legacy"}
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


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
        assert tool["_meta"]["category"] in CATEGORIES
        assert set(tool["annotations"]) >= HINTS
        assert all(isinstance(tool["annotations"][hint], bool) for hint in HINTS)
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert '"$ref"' not in str(schema).replace("'", '"')


@pytest.mark.rule("E79")
async def test_the_list_has_every_tool_once_with_old_names_last(surface: Surface) -> None:
    tools = await tools_in(surface, LEGACY[0])

    names = [tool["name"] for tool in tools]
    assert len(set(names)) == len(names)
    assert {PUBLIC, SIGNUP, KEYED} <= set(names)
    assert names[: len(ALL_TOOLS)] == [tool.name for tool in ALL_TOOLS]
    for tool in tools:
        assert (tool["_meta"]["category"] == "legacy") == tool["name"].startswith("chiefmo_")


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
    assert hints[KEYED]["readOnlyHint"] is True
    assert hints[SIGNUP]["readOnlyHint"] is False
    for hint in hints.values():
        assert not (hint["readOnlyHint"] and hint["destructiveHint"])


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


class TestHiddenOldNames:
    @pytest.fixture
    def changed_settings(self) -> dict[str, Any]:
        return {"list_legacy_tools": False}

    async def test_old_names_are_not_listed_and_work(self, surface: Surface) -> None:
        names = [tool["name"] for tool in await tools_in(surface, LEGACY[-1])]

        assert not any(name.startswith("chiefmo_") for name in names)
        assert not (await surface.call("chiefmo_list_connectors")).is_error
