"""The stateless revision of 2026-07-28: every request brings its envelope, and headers that agree with it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.contract.talk import (
    KEYED,
    META,
    MODERN,
    PUBLIC,
    SIGNUP,
    converse,
    count_rows,
    enveloped,
    modern_headers,
    request,
    say,
    say_in,
    say_modern,
    tool_call,
)
from tests.support.surfaces import Surface

import assent
from assent.kernel.toolsets import DEFAULT_TOOLSETS
from assent.serving.instructions import instructions
from assent_launch.words import WORDS

INSTRUCTIONS = instructions(DEFAULT_TOOLSETS, words=WORDS)
MISMATCH, UNSUPPORTED = -32020, -32022


@pytest.mark.rule("E75")
async def test_discover_says_what_the_handshake_used_to_say(surface: Surface) -> None:
    result = (await say_modern(surface, "server/discover")).result

    assert result["resultType"] == "complete"
    assert MODERN in result["supportedVersions"]
    assert result["capabilities"]["tools"]["listChanged"] is False
    assert result["instructions"] == INSTRUCTIONS
    assert result["_meta"][META + "serverInfo"]["name"] == "assent"
    assert result["_meta"][META + "serverInfo"]["version"] == assent.__version__


async def test_what_may_be_kept_says_for_how_long_and_by_whom(surface: Surface) -> None:
    for method in ("server/discover", "tools/list"):
        result = (await say_modern(surface, method)).result
        assert result["ttlMs"] == 300_000
        assert result["cacheScope"] == "public"


async def test_legacy_results_carry_none_of_the_modern_fields(surface: Surface) -> None:
    for result in (
        (await say(surface, request("tools/list"))).result,
        (await say(surface, tool_call(PUBLIC))).result,
        (await say(surface, request("initialize"))).result,
    ):
        assert not {"resultType", "ttlMs", "cacheScope"} & set(result)


async def test_list_and_call_are_complete_results_that_name_the_server(surface: Surface) -> None:
    listed = (await say_modern(surface, "tools/list")).result
    called = (await say_modern(surface, "tools/call", {"name": PUBLIC, "arguments": {}})).result

    for result in (listed, called):
        assert result["resultType"] == "complete"
        assert result["_meta"][META + "serverInfo"]["name"] == "assent"
    assert called["isError"] is False


async def test_a_call_is_answered_like_in_the_legacy_era(surface: Surface) -> None:
    await surface.sign_in()
    for name, arguments in ((PUBLIC, {}), (KEYED, {}), (SIGNUP, {"email": "no address"})):
        modern = (await say_modern(surface, "tools/call", {"name": name, "arguments": arguments})).result
        legacy = (
            await say_in(surface, "2025-11-25", "tools/call", {"name": name, "arguments": arguments})
        ).result
        for part in ("content", "structuredContent", "isError"):
            assert modern[part] == legacy[part]


@pytest.mark.rule("E87")
async def test_a_method_that_the_modern_era_has_not_is_404(surface: Surface) -> None:
    for method in ("ping", "logging/setLevel", "resources/subscribe", "nope"):
        heard = await say_modern(surface, method)
        assert heard.error["code"] == -32601
        assert heard.status in (404, None)


async def test_client_info_is_optional_and_capabilities_are_not(surface: Surface) -> None:
    message = enveloped("tools/list")
    del message["params"]["_meta"][META + "clientInfo"]
    assert (await say(surface, message, headers=modern_headers(message))).result["tools"]

    del message["params"]["_meta"][META + "clientCapabilities"]
    heard = await say(surface, message, headers=modern_headers(message))
    assert heard.error["code"] == -32602
    assert META + "clientCapabilities" in heard.error["message"]
    assert heard.status in (400, None)


async def test_an_unknown_version_is_refused_with_the_versions_that_are_spoken(surface: Surface) -> None:
    for version in (
        "2027-01-01",
        "2026-07-29",
        "modern",
        "2025-11-25" if surface.transport == "stdio" else "x",
    ):
        message = enveloped("tools/list", version=version)
        heard = await say(surface, message, headers=modern_headers(message, version))
        assert heard.error["code"] == UNSUPPORTED
        assert MODERN in heard.error["data"]["supported"]
        assert heard.error["data"]["requested"] == version
        assert heard.status in (400, None)


async def test_an_envelope_of_the_wrong_types_is_refused(surface: Surface) -> None:
    metas: tuple[Any, ...] = (
        5,
        [],
        {META + "protocolVersion": 5, META + "clientCapabilities": {}},
        {META + "protocolVersion": MODERN, META + "clientCapabilities": "all"},
        {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, META + "clientInfo": "me"},
    )
    for meta in metas:
        message = request("tools/list", {"_meta": meta})
        heard = await say(surface, message, headers=modern_headers(message))
        assert heard.error["code"] in (-32602, MISMATCH), meta
        assert heard.status in (400, None)


# ── headers ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "changed",
    [
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "TOOLS/CALL"},
        {"Mcp-Method": None},
        {"Mcp-Name": KEYED},
        {"Mcp-Name": ""},
        {"Mcp-Name": None},
        {"Mcp-Name": "=?base64?AAAA?="},
        {"Mcp-Name": "=?base64?not base64?="},
        {"MCP-Protocol-Version": "2027-01-01"},
    ],
    ids=str,
)
async def test_a_header_that_does_not_agree_with_the_body_is_refused(
    web: Surface, changed: dict[str, str | None]
) -> None:
    message = enveloped("tools/call", {"name": PUBLIC, "arguments": {}})
    headers = {
        name: value for name, value in (modern_headers(message) | changed).items() if value is not None
    }

    heard = await say(web, message, headers=headers)

    assert (heard.error["code"], heard.status) == (MISMATCH, 400)
    assert heard.message["id"] == message["id"]


async def test_a_name_may_come_in_its_base64_form(web: Surface) -> None:
    message = enveloped("tools/call", {"name": PUBLIC, "arguments": {}})
    headers = modern_headers(message) | {"Mcp-Name": "=?base64?Y2hpZWZsYWJfbGlzdF9jb25uZWN0b3Jz?="}

    assert (await say(web, message, headers=headers)).result["isError"] is False


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
async def test_a_routing_header_sent_twice_is_refused(web: Surface, name: str) -> None:
    message = enveloped("tools/call", {"name": PUBLIC, "arguments": {}})
    lines = [*modern_headers(message).items(), (name, modern_headers(message)[name])]

    response = await web.http.post("/api/mcp", json=message, headers=lines)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == MISMATCH


async def test_a_refused_header_means_that_nothing_was_done(web: Surface) -> None:
    message = enveloped("tools/call", {"name": SIGNUP, "arguments": {"email": "ada@example.org"}})

    await say(web, message, headers=modern_headers(message) | {"Mcp-Name": PUBLIC})

    assert await count_rows(web, "signup_links") == 0


async def test_without_an_envelope_a_modern_header_is_a_bad_request(web: Surface) -> None:
    heard = await say(
        web, request("tools/list"), headers={"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    )

    assert (heard.error["code"], heard.status) == (-32602, 400)


async def test_a_version_header_that_nobody_knows_is_a_bad_request(web: Surface) -> None:
    for version in ("zzz", "", "2025-11-26", "2024-11-05 "):
        response = await web.http.post(
            "/api/mcp", json=request("ping"), headers={"MCP-Protocol-Version": version}
        )
        assert response.status_code in ((200, 400) if version.strip() in ("", "2024-11-05") else (400,))


async def test_a_modern_notification_is_accepted_and_one_of_an_unknown_version_is_not(web: Surface) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}

    assert (
        await web.http.post("/api/mcp", json=note, headers={"MCP-Protocol-Version": MODERN})
    ).status_code == 202
    refused = await web.http.post("/api/mcp", json=note, headers={"MCP-Protocol-Version": "2099-01-01"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, UNSUPPORTED)


# ── both eras on one pipe ────────────────────────────────────────────────────────────────────────


async def test_one_stdio_session_serves_both_eras_in_any_order(surface: Surface) -> None:
    modern = enveloped("tools/list") | {"id": "modern"}
    legacy = request("tools/list", request_id="legacy")
    hello = request("initialize", request_id="hello")

    answers = {a["id"]: a for a in await converse(surface, [modern, hello, legacy, modern | {"id": "again"}])}

    assert answers["modern"]["result"]["tools"] == answers["legacy"]["result"]["tools"]
    assert "resultType" not in answers["legacy"]["result"]
    assert answers["again"]["result"]["resultType"] == "complete"
