"""Connections to a wrapped server whose bytes are given: what is an answer, and what is known without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from assent_wrap import transports
from assent_wrap.http_transport import INVALID_REQUEST, SERVER_ERROR, HttpLink
from assent_wrap.profiles import UpstreamSpec
from assent_wrap.transports import (
    MAX_MESSAGE_BYTES,
    MAX_UNASKED,
    MAX_UNREADABLE,
    RpcError,
    StdioLink,
    Unanswered,
    Unsent,
    read_answer,
)

SPEC = UpstreamSpec(name="files", command=(), url="https://files.example/mcp", headers={"x-own": "1"})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Person:
    """What a server asks and tells its client."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []

    async def asked(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "ping":
            raise RpcError(-32601, "not offered")
        return {"pong": params}

    def tell(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))


@pytest.mark.parametrize(
    ("message", "code", "said"),
    [
        ({"error": {"code": 7, "message": "no", "data": 1}}, 7, "no"),
        ({"error": {"code": "7", "message": "no"}, "result": {}}, -32000, "no"),
        ({"result": []}, -32000, "The server answered without a result."),
        ({}, -32000, "The server answered without a result."),
    ],
)
def test_an_answer_without_a_result_is_an_error(message: dict[str, Any], code: int, said: str) -> None:
    with pytest.raises(RpcError) as error:
        read_answer(message)
    assert (error.value.code, error.value.message) == (code, said)


def test_a_result_is_read_as_it_is() -> None:
    assert read_answer({"result": {}}) == {}
    assert read_answer({"result": {"a": 1}, "error": None}) == {"a": 1}


# Over HTTP

Handle = Callable[[httpx.Request], httpx.Response]


@asynccontextmanager
async def at_address(handle: Handle, person: Person | None = None) -> AsyncIterator[HttpLink]:
    heard = person or Person()
    link = HttpLink(SPEC, heard.asked, heard.tell)
    await link._client.aclose()
    link._client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    yield link
    await link.close()


def answer_json(content: Any, status: int = 200, **headers: str) -> Handle:
    return lambda _: httpx.Response(status, json=content, headers=headers)


def answer_events(*events: Any, text: str = "") -> Handle:
    body = text or "".join(
        f"event: message\ndata: {msgspec.json.encode(each).decode()}\n\n" for each in events
    )
    return lambda _: httpx.Response(
        200, text=body, headers={"content-type": "text/event-stream; charset=utf-8"}
    )


DONE = {"jsonrpc": "2.0", "id": 1, "result": {"done": True}}


@pytest.mark.parametrize(
    "handle",
    [
        answer_json(DONE),
        answer_json(DONE, 500),
        answer_events(DONE),
        answer_events({"jsonrpc": "2.0", "id": 2, "result": {}}, 7, DONE),
        answer_events({"jsonrpc": "2.0", "id": 1, "method": "ping"}, DONE),
        answer_events(text='data: {"jsonrpc":"2.0","id":1,\r\ndata: "result":{"done":true}}\r\n\r\n'),
        answer_events(text='data: {"jsonrpc":"2.0","id":1,"result":{"done":true}}\n'),
    ],
)
async def test_an_answer_is_the_message_with_the_number_of_the_request(handle: Handle) -> None:
    async with at_address(handle) as link:
        assert await link.request("tools/list", {}, 5) == {"done": True}


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        (answer_json({"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": "no"}}), 7),
        (answer_json({"other": 1}, 200), SERVER_ERROR),
        (answer_json([], 399), SERVER_ERROR),
        (answer_json([], 400), INVALID_REQUEST),
        (answer_json([], 499), INVALID_REQUEST),
        (answer_json([], 500), SERVER_ERROR),
    ],
)
async def test_only_a_clients_error_says_that_nothing_was_called(handle: Handle, code: int) -> None:
    async with at_address(handle) as link:
        with pytest.raises(RpcError) as error:
            await link.request("tools/call", {"name": "store"}, 5)
        assert error.value.code == code
        assert link.closed is None


@pytest.mark.parametrize(
    ("raised", "known"),
    [
        (httpx.ConnectError("refused"), Unsent),
        (httpx.ConnectTimeout("late"), Unsent),
        (httpx.UnsupportedProtocol("ftp"), Unsent),
        (httpx.ReadTimeout("late"), Unanswered),
        (httpx.RemoteProtocolError("broken"), Unanswered),
    ],
)
async def test_a_request_is_unsent_only_if_there_was_no_connection(
    raised: Exception, known: type[Exception]
) -> None:
    def handle(_: httpx.Request) -> httpx.Response:
        raise raised

    async with at_address(handle) as link:
        with pytest.raises(known):
            await link.request("tools/call", {"name": "store"}, 5)


async def test_an_event_stream_that_ends_without_an_answer_leaves_the_outcome_open() -> None:
    async with at_address(answer_events({"jsonrpc": "2.0", "method": "hello"})) as link:
        with pytest.raises(Unanswered):
            await link.request("tools/call", {"name": "store"}, 5)


async def test_a_server_that_never_answers_is_left_after_the_time() -> None:
    async def wait(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with at_address(cast(Any, wait)) as link:
        with pytest.raises(Unanswered, match=r"within 0\.01 seconds"):
            await link.request("tools/call", {"name": "store"}, 0.01)


@pytest.mark.parametrize(("over", "ends"), [(0, False), (1, True)])
async def test_messages_that_answer_nothing_are_read_up_to_a_bound(over: int, ends: bool) -> None:
    noise = [{"jsonrpc": "2.0", "method": "hello"}] * (MAX_UNASKED + over)
    async with at_address(answer_events(*noise, DONE)) as link:
        if ends:
            with pytest.raises(Unanswered, match="without end"):
                await link.request("tools/list", {}, 30)
        else:
            assert await link.request("tools/list", {}, 30) == {"done": True}


def text_of_size(size: int) -> bytes:
    around = b'{"jsonrpc":"2.0","id":1,"result":{"a":""}}'
    return around.replace(b'""', b'"' + b"x" * (size - len(around)) + b'"')


@pytest.mark.parametrize(("over", "ends"), [(0, False), (1, True)])
async def test_one_message_is_read_up_to_its_most_bytes(over: int, ends: bool) -> None:
    body = text_of_size(MAX_MESSAGE_BYTES + over)
    async with at_address(lambda _: httpx.Response(200, content=body)) as link:
        if ends:
            with pytest.raises(Unanswered, match="bytes"):
                await link.request("tools/list", {}, 30)
        else:
            assert len((await link.request("tools/list", {}, 30))["a"]) > 1_000_000


async def test_an_event_without_end_is_left_at_its_most_bytes() -> None:
    async with at_address(answer_events(text="data: " + "x" * (MAX_MESSAGE_BYTES + 1))) as link:
        with pytest.raises(Unanswered, match="bytes"):
            await link.request("tools/list", {}, 30)


async def test_a_session_is_kept_until_the_server_does_not_know_it() -> None:
    seen: list[str | None] = []
    answers = iter([(200, {"mcp-session-id": "s1"}), (200, {}), (404, {})])

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("mcp-session-id"))
        status, headers = next(answers)
        number = msgspec.json.decode(request.content)["id"]
        body = {"id": number, "result": {}} if status == 200 else {}
        return httpx.Response(status, json=body, headers=headers)

    async with at_address(handle) as link:
        await link.request("initialize", {}, 5)
        await link.request("tools/list", {}, 5)
        with pytest.raises(RpcError):
            await link.request("tools/list", {}, 5)
        assert seen == [None, "s1", "s1"]
        assert link.closed == "files has ended the session"


async def test_an_address_that_is_not_found_is_no_ended_session() -> None:
    async with at_address(answer_json({}, 404)) as link:
        with pytest.raises(RpcError):
            await link.request("tools/list", {}, 5)
        assert link.closed is None


@pytest.mark.parametrize(
    ("modern", "version", "method", "params", "headers"),
    [
        (False, "", "tools/call", {"name": "store"}, {}),
        (False, "v1", "tools/call", {"name": "store"}, {"mcp-protocol-version": "v1"}),
        (True, "", "tools/call", {"name": "store"}, {"mcp-method": "tools/call", "mcp-name": "store"}),
        (True, "", "resources/read", {"uri": "a:b"}, {"mcp-method": "resources/read", "mcp-name": "a:b"}),
        (True, "", "tools/call", {"name": 7}, {"mcp-method": "tools/call"}),
        (True, "", "tools/list", {"name": "store"}, {"mcp-method": "tools/list"}),
    ],
)
async def test_the_modern_era_repeats_method_and_name_in_headers(
    modern: bool, version: str, method: str, params: dict[str, Any], headers: dict[str, str]
) -> None:
    sent: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json=DONE)

    async with at_address(handle) as link:
        link.begin(version, modern=modern)
        await link.request(method, params, 5)
    (request,) = sent
    assert {name: text for name, text in request.headers.items() if name.startswith("mcp-")} == headers
    assert request.headers["x-own"] == "1"
    assert request.headers["content-type"] == "application/json"


async def test_what_a_server_tells_and_asks_in_an_answer_is_taken() -> None:
    posted: list[Any] = []
    stream = [
        {"jsonrpc": "2.0", "method": "hello", "params": {"a": 1}},
        {"jsonrpc": "2.0", "method": "bare", "params": 7},
        {"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"b": 2}},
        {"jsonrpc": "2.0", "id": 6, "method": "roots/list"},
        {"jsonrpc": "2.0", "id": 7},
        DONE,
    ]

    def handle(request: httpx.Request) -> httpx.Response:
        message = msgspec.json.decode(request.content)
        if message.get("method") != "tools/list":
            posted.append(message)
            if message["id"] == 6:
                raise httpx.ReadTimeout("late")
            return httpx.Response(202)
        return answer_events(*stream)(request)

    person = Person()
    async with at_address(handle, person) as link:
        assert await link.request("tools/list", {}, 5) == {"done": True}
    assert person.told == [("hello", {"a": 1}), ("bare", {})]
    assert posted == [
        {"jsonrpc": "2.0", "id": 5, "result": {"pong": {"b": 2}}},
        {"jsonrpc": "2.0", "id": 6, "error": {"code": -32601, "message": "not offered"}},
    ]


async def test_the_first_reason_of_an_end_is_kept() -> None:
    link = HttpLink(SPEC, Person().asked, Person().tell)
    # Its headers hold credentials, which go to no other address and through no proxy of this server's user.
    assert (link._client.follow_redirects, link._client.trust_env) == (False, False)
    await link.close()
    assert link.closed == "files was closed"
    link.closed = "it ended"
    await link.close()
    assert link.closed == "it ended"


# Over pipes


class Pipe:
    """The input of a process. It keeps what is written, and may be full or broken."""

    def __init__(self, fault: str) -> None:
        self.lines: list[dict[str, Any]] = []
        self.written = asyncio.Semaphore(0)
        self._fault = fault
        self._closed = False

    def write(self, data: bytes) -> None:
        self.lines.append(msgspec.json.decode(data))
        self.written.release()

    async def drain(self) -> None:
        if self._fault == "full":
            await asyncio.Event().wait()
        if self._fault == "broken":
            raise BrokenPipeError

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True


class Process:
    """A process whose output is given. It never existed: its group cannot be killed."""

    pid = 2**22 + 1
    """Above the largest process id of Linux."""

    def __init__(self, fault: str = "") -> None:
        self.stdin = Pipe(fault)
        self.stdout = asyncio.StreamReader()
        self.stderr = asyncio.StreamReader()

    async def wait(self) -> int:
        return 3

    def say(self, *messages: Any) -> None:
        for each in messages:
            self.stdout.feed_data((each if isinstance(each, bytes) else msgspec.json.encode(each)) + b"\n")

    def end(self, last_words: bytes = b"") -> None:
        if last_words:
            self.stderr.feed_data(last_words)
        self.stderr.feed_eof()
        self.stdout.feed_eof()


@asynccontextmanager
async def at_process(process: Process, person: Person | None = None) -> AsyncIterator[StdioLink]:
    heard = person or Person()
    link = StdioLink(cast(Any, process), "files", heard.asked, heard.tell)
    yield link
    process.end()
    await link.close()


async def send(link: StdioLink, process: Process, **params: Any) -> asyncio.Task[dict[str, Any]]:
    """Return a request that has been written and waits for its answer."""
    task = asyncio.create_task(link.request("tools/call", params, 30))
    await process.stdin.written.acquire()
    return task


async def test_answers_over_pipes_find_their_requests_in_any_order() -> None:
    process = Process()
    async with at_process(process) as link:
        asked = [await send(link, process, n=1), await send(link, process, n=2)]
        process.say(
            b"hello", b"", {"id": 1, "result": {"a": 0}}, {"jsonrpc": "2.0", "id": "1", "result": {"a": 0}}
        )
        process.say(
            {"jsonrpc": "2.0", "id": 2, "result": {"a": 2}}, {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}
        )
        process.say({"jsonrpc": "2.0", "id": 1, "result": {"a": 9}})
        assert await asyncio.gather(*asked) == [{"a": 1}, {"a": 2}]
        assert [(each["id"], each["params"]) for each in process.stdin.lines] == [
            (1, {"n": 1}),
            (2, {"n": 2}),
        ]
        again = await send(link, process)
        process.say({"jsonrpc": "2.0", "id": 3, "result": {}})
        async with asyncio.timeout(5):
            assert await again == {}
        assert link.closed is None


def ends_with(lines: Iterable[Any]) -> Callable[[Process], None]:
    return lambda process: process.say(*lines)


@pytest.mark.parametrize(
    ("speak", "why"),
    [
        (ends_with([b"hello"] * MAX_UNREADABLE), None),
        (ends_with([b"hello"] * (MAX_UNREADABLE + 1)), "writes something else than JSON-RPC"),
        (ends_with([b"7"] * (MAX_UNREADABLE + 1)), "writes something else than JSON-RPC"),
        (ends_with([b"  "] * (MAX_UNREADABLE + 1)), None),
        (ends_with([{"jsonrpc": "2.0", "method": "a"}] * MAX_UNASKED), None),
        (ends_with([{"jsonrpc": "2.0", "method": "a"}] * (MAX_UNASKED + 1)), "sends messages without end"),
        (ends_with([{"jsonrpc": "2.0", "id": 99, "result": {}}] * MAX_UNASKED), None),
        (
            ends_with([{"jsonrpc": "2.0", "id": 99, "result": {}}] * (MAX_UNASKED + 1)),
            "sends messages without end",
        ),
        (lambda process: process.stdout.feed_data(b"x" * (MAX_MESSAGE_BYTES + 1)), "sent a message over"),
        (
            lambda process: process.end(b"first\nno such file\n\n"),
            r"has stopped \(exit code 3\): no such file$",
        ),
        (lambda process: process.end(), r"has stopped \(exit code 3\)$"),
    ],
)
async def test_a_server_that_exceeds_a_bound_or_ends_is_disconnected_with_the_reason(
    speak: Callable[[Process], None], why: str | None
) -> None:
    process = Process()
    async with at_process(process) as link:
        waiting = await send(link, process)
        speak(process)
        if why is None:
            process.say({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}})
            assert await waiting == {"a": 1}
        else:
            with pytest.raises(Unanswered, match=why):
                await waiting
            with pytest.raises(Unsent, match=why):
                await link.request("tools/call", {}, 30)


async def test_noise_before_each_answer_is_counted_from_the_last_answer() -> None:
    process = Process()
    async with at_process(process) as link:
        for number in (1, 2):
            waiting = await send(link, process)
            process.say(*[{"jsonrpc": "2.0", "method": "a"}] * MAX_UNASKED)
            process.say({"jsonrpc": "2.0", "id": number, "result": {}})
            assert await waiting == {}


async def test_a_request_that_is_not_answered_in_time_may_have_had_its_effect() -> None:
    async with at_process(Process()) as link:
        with pytest.raises(Unanswered, match=r"within 0\.01 seconds"):
            await link.request("tools/call", {}, 0.01)
        assert link.closed is None


@pytest.mark.parametrize(("fault", "why"), [("full", "does not read"), ("broken", "has stopped")])
async def test_a_server_that_does_not_take_a_request_is_disconnected(
    fault: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "STOP_SECONDS", 0.01)
    async with at_process(Process(fault)) as link:
        with pytest.raises(Unanswered, match=why):
            await link.request("tools/call", {}, 0.01)
        assert link.closed is not None


async def test_after_its_input_has_ended_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "STOP_SECONDS", 0.01)
    process = Process()
    async with at_process(process) as link:
        process.stdin.close()
        with pytest.raises(Unsent, match="files has stopped"):
            await link.request("tools/call", {}, 5)
        assert process.stdin.lines == []


async def test_a_cancelled_request_is_taken_back() -> None:
    process = Process()
    async with at_process(process) as link:
        waiting = await send(link, process)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        cancelled = process.stdin.lines[-1]
        assert (cancelled["method"], cancelled["params"]["requestId"]) == ("notifications/cancelled", 1)


async def test_what_a_server_tells_and_asks_over_pipes_is_taken() -> None:
    process, person = Process(), Person()
    async with at_process(process, person):
        process.say(
            {"jsonrpc": "2.0", "method": "hello", "params": {"a": 1}},
            {"jsonrpc": "2.0", "method": "bare", "params": 7},
            {"jsonrpc": "2.0", "id": "p", "method": "ping", "params": {"b": 2}},
            {"jsonrpc": "2.0", "id": 0, "method": "roots/list"},
        )
        await process.stdin.written.acquire()
        await process.stdin.written.acquire()
    assert person.told == [("hello", {"a": 1}), ("bare", {})]
    assert [each for each in process.stdin.lines if "method" not in each] == [
        {"jsonrpc": "2.0", "id": "p", "result": {"pong": {"b": 2}}},
        {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "not offered"}},
    ]


async def test_a_request_over_pipes_that_are_closed_is_refused_at_once_with_the_reason() -> None:
    process = Process()
    async with at_process(process) as link:
        link.closed = "it ended"
        with pytest.raises(Unsent, match="it ended"):
            async with asyncio.timeout(transports.STOP_SECONDS / 2):
                await link.request("tools/call", {}, 30)
        assert process.stdin.lines == []
    assert link.closed == "it ended"


@pytest.mark.parametrize(
    ("command", "folder", "why"),
    [
        ("/no/such/command", "", "No such file or directory"),
        ("/bin/sh", "/no/such/folder", "No such file or directory"),
        ("a\0b", "", "embedded null byte"),
    ],
)
async def test_a_command_that_cannot_be_started_is_named_with_the_reason_alone(
    command: str, folder: str, why: str
) -> None:
    person = Person()
    with pytest.raises(Unsent) as error:
        await StdioLink.start(replace(SPEC, command=(command,), cwd=folder), {}, person.asked, person.tell)
    assert str(error.value) == f"{command} cannot be started: {why}"


async def test_a_server_is_answered_so_many_requests_at_a_time() -> None:
    class Busy(Person):
        free = asyncio.Event()

        async def asked(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
            await self.free.wait()
            return {}

    process, person = Process(), Busy()
    async with at_process(process, person) as link:
        process.say(*({"jsonrpc": "2.0", "id": each, "method": "ping"} for each in range(MAX_UNREADABLE + 1)))
        waiting = await send(link, process)
        process.say({"jsonrpc": "2.0", "id": 1, "result": {}})
        await waiting  # by then its requests are read
        person.free.set()
        for _ in range(MAX_UNREADABLE):
            await process.stdin.written.acquire()
    answered = [each["id"] for each in process.stdin.lines if "method" not in each]
    assert answered == list(range(MAX_UNREADABLE))


async def test_a_connection_is_closed_while_its_server_says_nothing() -> None:
    process, person = Process(), Person()
    link = StdioLink(cast(Any, process), "files", person.asked, person.tell)
    waiting = await send(link, process)
    await link.close()
    assert (link.closed, process.stdin.is_closing()) == ("files was closed", True)
    with pytest.raises(Unanswered, match="files was closed"):
        await waiting
