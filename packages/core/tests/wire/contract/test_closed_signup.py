"""Where sign-up is closed (`signups_per_hour = 0`), nothing leads an agent to it, and none of its calls helps (E53)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.contract.talk import KEYED, PUBLIC, RECOVERY_FIELDS, SIGNUP, request, say
from tests.support.surfaces import Surface

PLACES = (
    "/.well-known/mcp.json",
    "/api/mcp",
    "/openapi.json",
    "/llms.txt",
    "/llms-full.txt",
    "/for-agents",
    "/",
)


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {"signups_per_hour": 0}


@pytest.mark.rule("E53", "E84", "E93")
async def test_a_missing_key_names_no_tool_and_is_not_repeated(surface: Surface) -> None:
    refused = await surface.call(KEYED)

    assert refused.reason == "missing_api_key"
    assert set(refused.payload) >= RECOVERY_FIELDS
    assert refused.payload["recoveryTool"] is None
    assert (refused.payload["retryable"], refused.payload["retry"]) == (False, "never")
    assert SIGNUP not in str(refused.payload)
    assert refused.status in (None, 401)


@pytest.mark.rule("E84")
async def test_the_tool_is_neither_listed_nor_called_and_the_other_public_one_is(surface: Surface) -> None:
    listed = await say(surface, request("tools/list"))
    assert SIGNUP not in {tool["name"] for tool in listed.result["tools"]}

    for name in (SIGNUP, SIGNUP.replace("chieflab_", "chiefmo_")):
        called = await surface.call(name, {"email": "ada@example.org"})
        assert "deliveryUrl" not in str(called.message) and called.is_error
    assert not (await surface.call(PUBLIC)).is_error


async def test_no_document_names_it(web: Surface) -> None:
    for path in PLACES:
        shown = await web.http.get(path, headers={"Accept": "text/html,application/json"})
        assert shown.status_code == 200
        assert SIGNUP not in shown.text and "/get-key" not in shown.text, path
    greeted = await web.rpc(
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    )
    assert SIGNUP not in greeted["result"]["instructions"]
