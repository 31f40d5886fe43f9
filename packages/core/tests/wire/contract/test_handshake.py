"""How a client and the server come to know each other, in every revision."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import (
    LEGACY,
    MODERN,
    PUBLIC,
    REVISIONS,
    SIGNUP,
    converse,
    count_rows,
    initialize_params,
    request,
    say,
    say_in,
    tool_call,
)
from tests.support.surfaces import Surface

import assent
from assent.kernel.ids import REQUEST_ID
from assent.kernel.toolsets import DEFAULT_TOOLSETS, TOOLSETS
from assent.serving.instructions import instructions
from assent.tools.catalog import Catalog
from assent_launch.words import WORDS

INSTRUCTIONS = instructions(DEFAULT_TOOLSETS, words=WORDS)


@pytest.mark.rule("E75", "E77")
async def test_initialize_without_params_is_answered_in_the_first_revision(surface: Surface) -> None:
    heard = await say(surface, {"jsonrpc": "2.0", "id": 1, "method": "initialize"})

    result = heard.result
    assert result["protocolVersion"] == "2024-11-05"
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert (result["serverInfo"]["name"], result["serverInfo"]["version"]) == ("assent", assent.__version__)
    assert result["instructions"] == INSTRUCTIONS
    assert heard.status in (200, None)


async def test_the_request_id_of_a_handshake_ends_with_it(surface: Surface) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}

    assert len(await converse(surface, [request("initialize"), ready])) == 1
    assert REQUEST_ID.get() is None


@pytest.mark.rule("E77")
async def test_every_legacy_revision_is_echoed(surface: Surface) -> None:
    for revision in LEGACY:
        heard = await say(surface, request("initialize", initialize_params(revision)))
        assert heard.result["protocolVersion"] == revision
        assert heard.result["capabilities"]["tools"]["listChanged"] is False


@pytest.mark.rule("E77")
async def test_a_revision_that_has_no_handshake_gets_a_counter_offer(surface: Surface) -> None:
    for asked in ["1999-01-01", "2099-12-31", "latest", "", MODERN]:
        heard = await say(surface, request("initialize", initialize_params(asked)))
        assert heard.result["protocolVersion"] == LEGACY[-1]


async def test_a_client_may_leave_out_or_add_what_it_likes(surface: Surface) -> None:
    offers: tuple[dict[str, Any], ...] = (
        {},
        {"protocolVersion": "2025-06-18"},
        {"clientInfo": {"name": "x", "version": "1", "title": "X", "extra": [1]}},
        {"capabilities": {"sampling": {}, "roots": {"listChanged": True}, "experimental": {"a": {}}}},
        {**initialize_params("2025-06-18"), "_meta": {"anything": 1}, "trace": "off"},
    )
    for params in offers:
        heard = await say(surface, request("initialize", params))

        assert heard.result["protocolVersion"] == params.get("protocolVersion", "2024-11-05")


@pytest.mark.rule("E87")
async def test_a_version_that_is_no_text_is_refused_plainly(surface: Surface) -> None:
    for version in (5, ["2025-06-18"], {"v": 1}, True):
        heard = await say(surface, request("initialize", {"protocolVersion": version}))

        assert heard.error["code"] == -32602
        assert "pydantic" not in str(heard.error)


@pytest.mark.rule("E78")
def test_the_instructions_fit_and_say_when_what_first_how_and_when_not() -> None:
    assert 1_000 <= len(INSTRUCTIONS) <= 1_600
    places = [INSTRUCTIONS.index(word) for word in ("USE WHEN", "FIRST CALL", "LOOP", "SAFETY", "DO NOT USE")]
    assert places == sorted(places)
    # C4: what is drafted is shown in the chat, and the link is only a way out.
    assert INSTRUCTIONS.index("renderInChat") < INSTRUCTIONS.index("reviewUrl")
    assert "reviewUrl is a fallback" in INSTRUCTIONS


@pytest.mark.rule("E78")
def test_the_instructions_say_how_to_start_what_one_yes_takes_and_what_the_server_cannot_do() -> None:
    for said in (
        "FIRST CALL: chieflab_launch_product({ productUrl, goal }) for a launch",
        "chieflab_status at the start of a conversation",
        "chiefmo_ works as a prefix",
        "agentGuide.renderInChat",
        "userMessage",
        "agentGuide.nextToolCalls",
        "stopRule",
        "titles",
        "{ actionId, digest }",
        "send: true",
        "`retry`",
        "idempotencyKey",
    ):
        assert said in INSTRUCTIONS
    assert "It cannot refund" in INSTRUCTIONS


@pytest.mark.parametrize("toolsets", [(), ("launch",), ("workflows",), DEFAULT_TOOLSETS, TOOLSETS])
def test_the_instructions_name_only_tools_that_are_listed(toolsets: tuple[str, ...]) -> None:
    named = set(re.findall(r"\b(?:chieflab|chiefmo|workflow)_[a-z_]+", instructions(toolsets, words=WORDS)))

    assert "chieflab_status" in named
    assert named <= Catalog(ALL_TOOLS, toolsets=toolsets).offered


async def test_ping_is_answered_with_an_empty_result(surface: Surface) -> None:
    for revision in LEGACY:
        heard = await say_in(surface, revision, "ping")
        assert heard.message == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_an_answer_carries_the_very_id_that_was_asked_with(surface: Surface) -> None:
    for request_id in (0, -1, 2**53, "a", "", "1", "null", "…" * 200):
        heard = await say(surface, request("ping", request_id=request_id))

        assert heard.message["id"] == request_id
        assert type(heard.message["id"]) is type(request_id)


@pytest.mark.rule("E75", "E81")
async def test_a_notification_gets_no_response(surface: Surface) -> None:
    methods = (
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/no_such",
        "ping",
        "tools/list",
    )
    shapes: tuple[dict[str, Any], ...] = ({}, {"params": {}}, {"params": {"requestId": 1}})
    for method, params in itertools.product(methods, shapes):
        answer, status, headers = await surface.send({"jsonrpc": "2.0", "method": method, **params})
        assert answer is None
        if surface.transport == "http":
            assert status == 202
            assert headers.get("content-length") == "0"


async def test_a_call_without_an_id_is_never_carried_out(surface: Surface) -> None:
    call = tool_call(SIGNUP, {"email": "ada@example.org"})
    del call["id"]

    answer, _, _ = await surface.send(call)

    assert answer is None
    assert await count_rows(surface, "signup_links") == 0


async def test_an_answer_to_a_question_nobody_asked_is_taken_in_silence(surface: Surface) -> None:
    strays: tuple[dict[str, Any], ...] = ({"result": {}}, {"error": {"code": 1, "message": "no"}})
    for stray in strays:
        answer, status, _ = await surface.send({"jsonrpc": "2.0", "id": 7, **stray})
        assert (answer, status) in [(None, 202), (None, None)]


@pytest.mark.rule("E75")
async def test_every_message_is_served_alone_without_a_handshake_or_a_session(surface: Surface) -> None:
    listed = await say(surface, request("tools/list"))
    called = await say(surface, tool_call(PUBLIC))

    assert listed.result["tools"]
    assert called.result["isError"] is False
    assert "mcp-session-id" not in called.headers


async def test_a_session_id_that_a_client_brings_changes_nothing(web: Surface) -> None:
    heard = await say(web, request("ping"), headers={"Mcp-Session-Id": "stolen"})

    assert heard.result == {}
    assert "mcp-session-id" not in heard.headers


@pytest.mark.rule("E87")
async def test_an_unknown_method_is_32601_in_every_revision(surface: Surface) -> None:
    methods = (
        "nope",
        "",
        "tools",
        "tools/List",
        "rpc.discover",
        "resources/list",
        "prompts/list",
        "__class__",
    )
    for revision, method in itertools.product(REVISIONS, methods):
        heard = await say_in(surface, revision, method)
        assert heard.error["code"] == -32601
        if surface.transport == "http":
            assert heard.status == (404 if revision == MODERN else 200)


async def test_a_stdio_session_goes_on_in_the_revision_it_agreed_on(surface: Surface) -> None:
    bad = tool_call(SIGNUP, {"email": 5}, request_id="bad")
    for revision, outcome in (("2025-06-18", "error"), ("2025-11-25", "result")):
        answers = await converse(surface, [request("initialize", initialize_params(revision), 0), bad])
        assert outcome in next(answer for answer in answers if answer["id"] == "bad")


async def test_a_refused_handshake_leaves_the_session_as_it_was(surface: Surface) -> None:
    bad = tool_call(SIGNUP, {"email": 5}, request_id="bad")
    answers = await converse(
        surface,
        [
            request("initialize", initialize_params("2025-11-25"), 0),
            request("initialize", {"protocolVersion": 5}, 1),
            bad,
        ],
    )

    assert "error" in answers[1]
    assert "result" in next(answer for answer in answers if answer["id"] == "bad")
