"""One wrapped server: its lists page by page, how it is greeted, what it may ask, and when it is started again."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from tests.support.surfaces import ManualClock

from assent_wrap import upstreams
from assent_wrap.profiles import UpstreamSpec
from assent_wrap.transports import RpcError, Unanswered, Unsent
from assent_wrap.upstreams import (
    FIRST_PAUSE_SECONDS,
    IDLE_MS,
    LONGEST_PAUSE_SECONDS,
    MAX_UNPASSED,
    METHOD_NOT_FOUND,
    NOTHING,
    PassedOn,
    Upstream,
)


class Scripted(Upstream):
    """A server whose answers to list requests are given, by cursor."""

    def __init__(self, pages: Mapping[str | None, dict[str, Any] | RpcError]) -> None:
        super().__init__(UpstreamSpec(name="files", command=("files",)), {}, ManualClock(), tuple)
        self._pages = pages
        self.asked: list[str | None] = []

    async def request(
        self, method: str, params: Mapping[str, Any], seconds: float, passed: PassedOn = NOTHING, **_: Any
    ) -> dict[str, Any]:
        cursor = params.get("cursor")
        self.asked.append(cursor)
        answer = self._pages[cursor]
        if isinstance(answer, RpcError):
            raise answer
        return answer


async def test_a_list_is_read_to_its_last_page() -> None:
    server = Scripted({None: {"tools": [1], "nextCursor": "two"}, "two": {"tools": [2], "nextCursor": ""}})
    assert await server._list_all("tools/list") == [1, 2]
    assert server.asked == [None, "two"]


async def test_a_server_without_prompts_has_none_but_one_without_tools_is_an_error() -> None:
    missing = RpcError(METHOD_NOT_FOUND, "no such method")
    assert await Scripted({None: missing})._list_all("prompts/list") == []
    with pytest.raises(RpcError):
        await Scripted({None: missing})._list_all("tools/list")


async def test_any_other_error_of_a_list_is_told() -> None:
    with pytest.raises(RpcError):
        await Scripted({None: RpcError(-32603, "broken")})._list_all("prompts/list")


@pytest.mark.parametrize("cursor", [None, "", 7])
async def test_what_is_no_cursor_ends_a_list(cursor: Any) -> None:
    server = Scripted({None: {"tools": "none", "nextCursor": cursor}})
    assert await server._list_all("tools/list") == []
    assert server.asked == [None]


def make_server(url: str = "", unpassed: tuple[str, ...] = ()) -> Upstream:
    spec = UpstreamSpec(name="files", command=() if url else ("files",), url=url)
    return Upstream(spec, {}, ManualClock(), lambda: unpassed)


class ScriptedLink:
    """A connection whose answers are given by method. It keeps what was sent."""

    def __init__(self, **answers: Any) -> None:
        self.closed: str | None = None
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self._answers = answers

    async def request(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        self.sent.append((method, params))
        answer = self._answers[method.rpartition("/")[2]]
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, dict)
        return answer

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self.sent.append((method, params))

    def begin(self, version: str, *, modern: bool) -> None:
        self.begun = (version, modern)

    async def close(self) -> None:
        self.closed = "closed"


HELLO = {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {"tools": {}}}
MODERN = {"supportedVersions": list(MODERN_PROTOCOL_VERSIONS), "capabilities": {"tools": {}}}


@pytest.mark.parametrize(
    ("discovered", "modern"),
    [
        (MODERN, True),
        ({"supportedVersions": ["2020-01-01"]}, False),
        ({"supportedVersions": MODERN_PROTOCOL_VERSIONS[-1]}, False),
        ({}, False),
        (RpcError(METHOD_NOT_FOUND, "no such method"), False),
        (Unanswered("no answer"), False),
    ],
)
async def test_a_server_is_modern_if_it_says_so_and_is_greeted_otherwise(
    discovered: Any, modern: bool
) -> None:
    server, link = make_server(), ScriptedLink(discover=discovered, initialize=HELLO)
    await server._negotiate(link)
    greeted = [method for method, _ in link.sent]
    assert server.modern is modern
    assert link.begun == (MODERN_PROTOCOL_VERSIONS[-1] if modern else LATEST_HANDSHAKE_VERSION, modern)
    assert server.capabilities == {"tools": {}}
    assert greeted == (
        ["server/discover"] if modern else ["server/discover", "initialize", "notifications/initialized"]
    )
    assert ("_meta" in server._envelop({}, 1, NOTHING)) is modern


async def test_a_server_that_ended_at_its_first_question_is_not_greeted() -> None:
    link = ScriptedLink(discover=Unanswered("it ended"), initialize=HELLO)
    link.closed = "it ended"
    with pytest.raises(Unanswered):
        await make_server()._negotiate(link)


async def test_a_server_of_an_unknown_version_is_not_used() -> None:
    link = ScriptedLink(discover={}, initialize={"protocolVersion": "2020-01-01"})
    with pytest.raises(Unsent, match="2020-01-01"):
        await make_server()._negotiate(link)


async def test_what_a_client_puts_into_its_envelope_does_not_reach_the_server() -> None:
    own = {"own": 1, "progressToken": "theirs", PROTOCOL_VERSION_META_KEY: "theirs"}
    given = {"name": "read", "_meta": own}
    server = make_server()
    assert server._envelop(given, 3, NOTHING) == {"name": "read", "_meta": {"own": 1}}
    assert server._envelop({"_meta": {"progressToken": "theirs"}}, 3, NOTHING) == {}
    assert server._envelop({"_meta": 7}, 3, PassedOn(progress=print)) == {"_meta": {"progressToken": 3}}
    await server._negotiate(ScriptedLink(discover=MODERN))
    sent = server._envelop(given, 3, PassedOn(capabilities={"elicitation": {}}))["_meta"]
    assert sent["own"] == 1
    assert sent[PROTOCOL_VERSION_META_KEY] == MODERN_PROTOCOL_VERSIONS[-1]
    assert sent[CLIENT_CAPABILITIES_META_KEY] == {"elicitation": {}}


async def answer(params: dict[str, Any], seconds: float) -> dict[str, Any]:
    return {"action": "accept", **params}


@pytest.mark.parametrize(
    ("method", "calls", "answered"),
    [
        ("ping", [], {}),
        ("elicitation/create", [PassedOn(ask=answer)], {"action": "accept", "message": "?"}),
        ("elicitation/create", [PassedOn(ask=answer), PassedOn(ask=answer)], None),
        ("elicitation/create", [NOTHING], None),
        ("elicitation/create", [], None),
        ("sampling/createMessage", [PassedOn(ask=answer)], None),
    ],
)
async def test_a_server_may_ask_only_during_its_one_open_call(
    method: str, calls: list[PassedOn], answered: dict[str, Any] | None
) -> None:
    server = make_server()
    server._in_flight = dict(enumerate(calls))
    if answered is not None:
        assert await server._asked(method, {"message": "?"} if calls else {}) == answered
    else:
        with pytest.raises(RpcError) as refused:
            await server._asked(method, {"message": "?"})
        assert refused.value.code == METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("token", "passed", "told"),
    [(1, True, [{"progress": 2}]), (2, True, []), ("1", True, []), (None, True, []), (1, False, [])],
)
def test_progress_reaches_the_call_that_it_names(
    token: Any, passed: bool, told: list[dict[str, Any]]
) -> None:
    server, heard = make_server(), list[dict[str, Any]]()
    server._in_flight = {1: PassedOn(progress=heard.append) if passed else NOTHING}
    server._told("notifications/progress", {"progressToken": token, "progress": 2})
    server._told("notifications/message", {"progressToken": token, "progress": 2})
    assert heard == told


def test_a_changed_list_is_read_again_and_the_others_are_not() -> None:
    server = make_server()
    server._listed_at = {"tools/list": 1.0, "prompts/list": 2.0}
    server._told("notifications/tools/list_changed", {})
    assert server._listed_at == {"prompts/list": 2.0}


@pytest.mark.parametrize(
    ("url", "unpassed", "said", "names"),
    [
        ("", (), "", ""),
        ("https://files.example", ("TOKEN",), "", ""),
        ("", ("A", "TOKEN"), "TOKEN is not set", "TOKEN, A."),
        ("", tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: MAX_UNPASSED + 1]), "", " and 1 more"),
    ],
)
def test_a_process_that_did_not_start_is_told_with_the_variables_it_may_miss(
    url: str, unpassed: tuple[str, ...], said: str, names: str
) -> None:
    hint = make_server(url, unpassed)._name_unpassed(said)
    assert names in hint
    assert bool(hint) is bool(names)
    assert ("more" in hint) is (len(unpassed) > MAX_UNPASSED)


def test_the_first_restart_is_at_once_and_each_later_one_waits_twice_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(upstreams, "time", SimpleNamespace(monotonic=lambda: 0.0))
    server, pauses = make_server(), list[float]()
    for _ in range(20):
        server._note_failure("it ended")
        pauses.append(server._retry_at)
    assert pauses[:4] == [0.0, FIRST_PAUSE_SECONDS, 2 * FIRST_PAUSE_SECONDS, 4 * FIRST_PAUSE_SECONDS]
    assert pauses[-1] == LONGEST_PAUSE_SECONDS


async def test_a_server_that_failed_is_not_asked_during_its_pause() -> None:
    server = make_server()
    server._note_failure("it ended")
    server._note_failure("it ended again")
    with pytest.raises(Unsent, match="it ended again"):
        await server._connect()


@pytest.mark.parametrize(
    ("idle_ms", "in_flight", "idle"),
    [(IDLE_MS, {}, False), (IDLE_MS + 1, {}, True), (IDLE_MS + 1, {1: NOTHING}, False)],
)
def test_a_server_is_idle_once_it_was_not_used_for_long(
    idle_ms: int, in_flight: dict[int, PassedOn], idle: bool
) -> None:
    clock = ManualClock()
    server = Upstream(UpstreamSpec(name="files", command=("files",)), {}, clock, tuple)
    clock.advance(seconds=idle_ms / 1000)
    server._in_flight = in_flight
    assert server.is_idle() is idle


async def test_a_list_of_what_a_server_does_not_offer_is_empty_and_is_not_asked_for() -> None:
    server, link = (
        make_server(),
        ScriptedLink(list={"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}),
    )
    server._link, server.capabilities = link, {"tools": {}}
    assert [each["name"] for each in await server.list_tools()] == ["read"]
    assert await server.list_entries("prompts/list") == ()
    assert await server.list_tools() is await server.list_tools()
    assert len(link.sent) == 1
    listed = await server.list_tools()
    assert await server.list_entries("tools/list", again=True) is listed
    assert len(link.sent) == 2
