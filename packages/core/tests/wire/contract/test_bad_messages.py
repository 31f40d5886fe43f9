"""Bytes that are no message, messages that are no request: each gets one plain answer, and the next is served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.contract.talk import PUBLIC, SIGNUP, Heard, converse, count_rows, request, say, tool_call
from tests.support.surfaces import Surface

from assent.kernel.limits import MAX_BODY_BYTES, MAX_JSON_DEPTH
from assent.serving.arguments import TooDeep
from assent.serving.edge import Credentials, RequestContext
from assent.serving.jsonrpc_errors import TOO_LONG, Unreadable
from assent.serving.mcp import parse

PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602


def call_nested(inner: int) -> bytes:
    """A call with an argument that nests this deep."""
    return (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chieflab_list_connectors","arguments":{"x":'
        + b"[" * inner
        + b"]" * inner
        + b"}}}"
    )


NOT_JSON = (
    b"{",
    b"nonsense",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"} trailing',
    b"{'jsonrpc':'2.0'}",
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
    b'{"jsonrpc":"2.0","id":"\xff\xfe","method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\x00","method":"ping"}',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
    "{jsonrpc}".encode("utf-16"),
    b"[" * 10_000,
    b"[" * 10_000 + b"]" * 10_000,
)

UNDER_ITS_ID: tuple[tuple[bytes, Any], ...] = (
    (call_nested(10_000), 1),
    (
        b'{"jsonrpc":"2.0","method":"tools/call","params":'
        + b'{"a":' * 5_000
        + b"1"
        + b"}" * 5_000
        + b',"id":"x-1"}',
        "x-1",
    ),
    (
        b'{"params":'
        + b"[" * 2_000
        + b"]" * 2_000
        + b', "id": -5, "jsonrpc": "2.0", "method": "tools/call"}',
        -5,
    ),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"k":"\\ud83d"}}}', 7),
    (
        b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"\\udc00":1}}}',
        "a",
    ),
    (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","arguments":{"k":NaN}}}', 8),
    (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","arguments":{"k":-1e999}}}', 9),
)
"""JSON that no tool can be given, in a message that somebody waits for."""

NOT_A_REQUEST: tuple[tuple[bytes, int, Any], ...] = (
    (b"null", REQUEST, None),
    (b"5", REQUEST, None),
    (b'"ping"', REQUEST, None),
    (b"[]", REQUEST, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', REQUEST, None),
    (b"{}", REQUEST, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', REQUEST, None),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', REQUEST, None),
    (b'{"id":1,"method":"ping"}', REQUEST, 1),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', REQUEST, 1),
    (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', REQUEST, 1),
    (b'{"jsonrpc":"2.0","id":1}', REQUEST, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":5}', REQUEST, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":null}', REQUEST, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":null}}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}', PARAMS, 1),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * 100 + b"]" * 100 + b"}}", REQUEST, 1),
)


def assert_plain(heard: Heard) -> None:
    """An error is short, in our words, and shows neither what was sent nor how we are made."""
    text = str(heard.error)
    assert set(heard.message) == {"jsonrpc", "id", "error"}
    assert len(text) < 400
    for telltale in ("Traceback", "pydantic", "msgspec", "validation error", 'File "', "Error("):
        assert telltale not in text


@pytest.mark.rule("E87")
async def test_bytes_that_are_no_json_are_a_parse_error_without_an_id(surface: Surface) -> None:
    for body in NOT_JSON:
        heard = await say(surface, body)
        assert (heard.error["code"], heard.message["id"]) == (PARSE, None), body[:80]
        assert heard.status in (400, None)
        assert_plain(heard)


@pytest.mark.rule("W49", "W54")
async def test_what_cannot_be_read_in_a_request_is_said_to_whoever_waits_for_its_answer(
    surface: Surface,
) -> None:
    for body, request_id in UNDER_ITS_ID:
        heard = await say(surface, body)
        assert (heard.error["code"], heard.message["id"]) == (PARSE, request_id), body[:80]
        assert heard.error["data"]["reason"] == "validation_error"
        assert heard.error["message"] != "Parse error: the body must be one JSON object"


@pytest.mark.rule("E87")
async def test_json_that_is_no_request_is_refused_under_its_id_where_it_has_one(surface: Surface) -> None:
    for body, code, request_id in NOT_A_REQUEST:
        heard = await say(surface, body)
        assert (heard.error["code"], heard.message["id"]) == (code, request_id), body[:80]
        assert heard.status in (400, None), body[:80]
        assert_plain(heard)


@pytest.mark.rule("W49")
async def test_the_deepest_argument_that_is_allowed_is_read_and_a_deeper_one_is_refused_by_name(
    surface: Surface,
) -> None:
    heard = await say(surface, call_nested(MAX_JSON_DEPTH))

    assert heard.error["data"]["problems"] == [
        {"path": "x", "expected": "no arguments", "got": "an unknown argument"}
    ]
    for levels in (MAX_JSON_DEPTH + 1, MAX_JSON_DEPTH + 20, 900):
        refused = (await say(surface, call_nested(levels))).message["result"]["structuredContent"]
        assert (refused["reason"], [problem["path"] for problem in refused["problems"]]) == (
            "validation_error",
            ["x"],
        )


async def test_an_empty_body_is_a_parse_error_and_an_empty_line_is_nothing(surface: Surface) -> None:
    if surface.transport == "http":
        assert (await say(surface, b"")).error["code"] == PARSE
    else:
        assert await converse(surface, [b"", b"   ", b"\r", request("ping")]) == [
            {"jsonrpc": "2.0", "id": 1, "result": {}}
        ]


async def test_no_bad_line_ends_a_stdio_session(surface: Surface) -> None:
    bad = [*NOT_JSON, *(body for body, _, _ in NOT_A_REQUEST), None]

    answers = await converse(surface, [*bad, request("ping", request_id="still here")])

    assert len(answers) == len(bad) + 1
    assert {"jsonrpc": "2.0", "id": "still here", "result": {}} in answers


async def test_a_line_that_is_too_long_is_refused_without_being_read(surface: Surface) -> None:
    (answer,) = await converse(surface, [Unreadable(TOO_LONG, 3)])

    assert (answer["error"]["code"], answer["id"]) == (REQUEST, 3)
    assert str(MAX_BODY_BYTES) in answer["error"]["message"]


# ── size, over HTTP ──────────────────────────────────────────────────────────────────────────────

PATHS = ("/api/mcp", "/mcp", f"/api/tools/{PUBLIC}")


async def test_a_body_of_exactly_the_limit_is_served_and_one_byte_more_is_413(web: Surface) -> None:
    message = msgspec.json.encode(request("ping"))
    padded = message + b" " * (MAX_BODY_BYTES - len(message))

    assert (await web.http.post("/api/mcp", content=padded)).json()["result"] == {}
    for path in PATHS:
        response = await web.http.post(path, content=padded + b" ")
        assert response.status_code == 413
        assert response.headers["content-type"] == "application/json"


async def test_a_body_without_a_stated_length_is_refused_as_soon_as_it_is_too_large(web: Surface) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        for _ in range(1_000):
            taken += 1
            yield b" " * 65_536

    for path in PATHS:
        taken = 0
        response = await web.http.post(path, content=endless())
        assert response.status_code == 413
        assert taken <= MAX_BODY_BYTES // 65_536 + 2


@pytest.mark.parametrize("length", [str(MAX_BODY_BYTES + 1), "9" * 30, "-1", "abc"])
async def test_a_stated_length_past_the_limit_is_refused_before_a_byte_is_read(
    web: Surface, length: str
) -> None:
    for path in PATHS:
        response = await web.http.post(path, content=b"{}", headers={"Content-Length": length})
        assert response.status_code in (400, 413)


async def test_a_refused_body_has_no_effect(web: Surface) -> None:
    call = msgspec.json.encode(tool_call(SIGNUP, {"email": "ada@example.org"}))

    await web.http.post("/api/mcp", content=call + b" " * MAX_BODY_BYTES)

    assert await count_rows(web, "signup_links") == 0


# ── anything at all ──────────────────────────────────────────────────────────────────────────────

json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
methods = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/x"]
)
envelope = st.fixed_dictionaries(
    {
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(["2026-07-28", "2025-11-25"]) | json_value,
        "io.modelcontextprotocol/clientCapabilities": st.just({}) | json_value,
    }
)
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([PUBLIC, "chieflab_get_workspace", "nope"]) | json_value,
        "arguments": json_value,
        "_meta": envelope | json_value,
        "protocolVersion": json_value,
        "capabilities": json_value,
        "clientInfo": json_value,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | json_value},
    optional={
        "id": st.integers() | json_value,
        "method": methods | json_value,
        "params": params | json_value,
    },
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "mcp-protocol-version": st.sampled_from(["2025-06-18", "2025-11-25", "2026-07-28", "x", ""]),
        "mcp-method": methods,
        "mcp-name": st.sampled_from([PUBLIC, "nope", "=?base64?!!?="]),
    },
)
anything = st.binary(max_size=60) | json_value.map(msgspec.json.encode) | messages.map(msgspec.json.encode)


@pytest.mark.parametrize("levels", [1, MAX_JSON_DEPTH, MAX_JSON_DEPTH + 1, MAX_JSON_DEPTH * 2])
def test_only_arguments_that_nest_too_deep_are_replaced(levels: int) -> None:
    parsed: Any = parse(call_nested(levels))

    assert isinstance(parsed["params"]["arguments"], TooDeep) == (levels > MAX_JSON_DEPTH)


def test_brackets_in_text_and_in_breadth_are_no_depth() -> None:
    wide = {"text": "[{" * 500, "list": [[]] * 500}
    call = tool_call(PUBLIC, wide)

    assert parse(msgspec.json.encode(call)) == call


KNOWN_CODES = {PARSE, REQUEST, METHOD, PARAMS, -32000, -32020, -32021, -32022}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(anything, headers)
async def test_whatever_comes_gets_a_well_formed_answer_or_none(
    web: Surface, body: bytes, headers: dict[str, str]
) -> None:
    context = RequestContext(Credentials(), "203.0.113.9", "test")
    for reply in (
        await web.surfaces.messages.over_http(body, list(headers.items()), context),
        await web.surfaces.messages.over_stdio(body, "2025-11-25", context),
    ):
        if reply.body is None:
            assert reply.status == 202
            continue
        answer = msgspec.json.decode(msgspec.json.encode(reply.body))
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
        if "error" in answer:
            assert answer["error"]["code"] in KNOWN_CODES
            # An internal fault is a bug of ours, whatever was sent.
            assert (answer["error"]["code"], answer["error"].get("data", {}) == {}) != (-32000, True)
