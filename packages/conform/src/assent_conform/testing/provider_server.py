"""The base of every emulated provider: HTTP routes on loopback, a ledger, planned faults, a
settable clock.

    POST /plan      {"outcomes": […]}: outcomes of the next API calls; later calls succeed
    GET  /ledger    the ledger

A fault wraps the whole call (`STEPS`): a handler may have its effect while its answer is lost. An
outcome with a timeout waits until the caller gives up. Pages for people have no faults. Knows no
provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from assent.kernel.structs import Record
from assent_conform.testing.ledger import DoneEffect, Ledger, LedgerCall

# The HTTP/1.1 that an emulator and its connector need: one request per connection.

MAX_BODY_BYTES: Final = 4 * 1_048_576


class Malformed(Exception):  # noqa: N818 - what it is
    """The input is no HTTP message."""


class Message(Record):
    """A request or a response: its first line's words, headers in lower case, and body."""

    start: tuple[str, ...]
    headers: dict[str, str]
    body: bytes


async def read_message(reader: asyncio.StreamReader) -> Message:
    """Read a message. Raises `Malformed`, or `IncompleteReadError` if the peer closes early."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
        }
        size = int(headers.get("content-length", "0"))
    except (ValueError, asyncio.LimitOverrunError) as error:
        raise Malformed("no HTTP message") from error
    if not 0 <= size <= MAX_BODY_BYTES:
        raise Malformed("no length to believe")
    return Message(tuple(first.split(" ", 2)), headers, await reader.readexactly(size))


def request(method: str, target: str, host: str, body: bytes, headers: dict[str, str]) -> bytes:
    return _message(f"{method} {target} HTTP/1.1", body, {"Host": host, **headers})


def response(status: int, body: bytes, headers: dict[str, str]) -> bytes:
    return _message(f"HTTP/1.1 {status} Emulated", body, headers)


def _message(first: str, body: bytes, headers: dict[str, str]) -> bytes:
    every = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    lines = [first, *(f"{name}: {value}" for name, value in every.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


HTML: Final = "text/html; charset=utf-8"
RETRY_AFTER: Final = {"Retry-After": "7"}
SLOW_SECONDS: Final = 0.05


class Outcome(enum.StrEnum):
    DELIVER = "deliver"
    DELIVER_SLOWLY = "deliver_slowly"
    REFUSE_400 = "refuse_400"
    REFUSE_401 = "refuse_401"
    REFUSE_403 = "refuse_403"
    REFUSE_404 = "refuse_404"
    REFUSE_422 = "refuse_422"
    REFUSE_429 = "refuse_429"
    TIMEOUT_BEFORE = "timeout_before"
    TIMEOUT_DURING = "timeout_during"
    TIMEOUT_AFTER = "timeout_after"
    ERROR_AFTER = "error_after"
    GARBAGE_AFTER = "garbage_after"
    RESET_AFTER = "reset_after"
    ERROR_BEFORE = "error_before"
    RESET_BEFORE = "reset_before"


OutcomeStep = Literal["effect", "pause", "answer", "refuse", "error", "garbage", "wait", "reset"]
"""`wait`: until the caller leaves."""

STEPS: Final[dict[Outcome, tuple[OutcomeStep, ...]]] = {
    Outcome.DELIVER: ("effect", "answer"),
    Outcome.DELIVER_SLOWLY: ("effect", "pause", "answer"),
    **{outcome: ("refuse",) for outcome in Outcome if outcome.startswith("refuse_")},
    Outcome.TIMEOUT_BEFORE: ("wait",),
    Outcome.TIMEOUT_DURING: ("wait", "effect"),
    Outcome.TIMEOUT_AFTER: ("effect", "wait"),
    Outcome.ERROR_AFTER: ("effect", "error"),
    Outcome.GARBAGE_AFTER: ("effect", "garbage"),
    Outcome.RESET_AFTER: ("effect", "reset"),
    Outcome.ERROR_BEFORE: ("error",),
    Outcome.RESET_BEFORE: ("reset",),
}


class ProviderRequest(Record):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def bearer(self) -> str:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""


class ProviderAnswer(Record):
    status: int
    body: bytes
    headers: dict[str, str] = {}


def json_answer(status: int, value: Any, headers: dict[str, str] | None = None) -> ProviderAnswer:
    return ProviderAnswer(status, msgspec.json.encode(value), headers or {})


def page_answer(html: str, status: int = 200) -> ProviderAnswer:
    return ProviderAnswer(status, html.encode(), {"Content-Type": HTML})


def redirect(address: str) -> ProviderAnswer:
    return ProviderAnswer(302, b"", {"Location": address})


Handler = Callable[..., ProviderAnswer]


class Route(Record):
    """The method and path of a handler; the groups of `path` are its arguments. A page is for
    people: it has no faults and needs no key."""

    method: str
    path: str
    handler: Handler
    is_page: bool = False
    is_open: bool = False
    """Whether the handler answers without a key."""


class ProviderServer:
    """A provider on a local port, with one exchange per connection. Subclasses define their routes and the bodies of
    refusals."""

    name = "provider"

    def __init__(
        self, ledger: Ledger, *, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        self.url = ""
        self._open: set[asyncio.Task[None]] = set()
        self.ledger = ledger
        self.now_ms = now_ms
        self._plan: list[Outcome] = []
        self._news = asyncio.Event()
        self._busy: Counter[str] = Counter()
        self._idle = asyncio.Condition()

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[str]:
        """Serve for the block; yields the address."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self.url
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._converse(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    def routes(self) -> tuple[Route, ...]:
        raise NotImplementedError

    def refusal(self, status: int) -> Any:
        return {"error": f"refused with {status}"}

    def refuse_caller(self, asked: ProviderRequest) -> ProviderAnswer | None:
        return None

    def read_reference(self, asked: ProviderRequest) -> str | None:
        """Return the name that the caller gives the effect."""
        return None

    def plan(self, *outcomes: Outcome) -> None:
        """Set the outcomes of the next calls, one each; later calls succeed."""
        self._plan = list(outcomes)

    def done(self, kind: str | None, content: Any, reference: str | None = None) -> DoneEffect:
        number = len(self.ledger.effects()) + 1
        effect = DoneEffect(f"{self.name}_{number}", reference, kind, content, self.now_ms())
        self.ledger.append(effect)
        self._news.set()
        return effect

    def happened(self, kind: str) -> list[DoneEffect]:
        return [each for each in self.ledger.effects() if each.key == kind]

    async def until(self, kind: str) -> None:
        while not self.happened(kind):
            self._news.clear()
            await self._news.wait()

    async def settled(self) -> None:
        async with self._idle:
            await self._idle.wait_for(lambda: not self._busy.total())

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, Malformed):
            asked = _read_asked(await read_message(reader))
            said = self.control(asked)
            found = self._find(asked) if said is None else None
            if found is None:
                await _send(writer, said or json_answer(404, {"error": "there is nothing here"}))
            elif found[0].is_page:
                self._note(asked, Outcome.DELIVER)
                await _send(writer, found[0].handler(asked, *found[1]))
            else:
                await self._answer(asked, *found, reader, writer)
        writer.close()

    def _find(self, asked: ProviderRequest) -> tuple[Route, list[str]] | None:
        for each in self.routes():
            match = re.fullmatch(each.path, asked.path)
            if each.method == asked.method and match is not None:
                return each, [unquote(part) for part in match.groups()]
        return None

    def _note(self, asked: ProviderRequest, outcome: Outcome) -> None:
        number, reference = len(self.ledger.entries()) + 1, self.read_reference(asked)
        call = LedgerCall(number, asked.method, asked.path, reference, outcome.value, self.now_ms())
        self.ledger.append(call)

    async def _answer(
        self,
        asked: ProviderRequest,
        route: Route,
        arguments: list[str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        outcome = self._plan.pop(0) if self._plan else Outcome.DELIVER
        reference = self.read_reference(asked) or ""
        self._busy[reference] += 1
        self._note(asked, outcome)
        said = None
        try:
            for step in STEPS[outcome]:
                if step == "effect":
                    said = None if route.is_open else self.refuse_caller(asked)
                    said = said or route.handler(asked, *arguments)
                elif step == "pause":
                    await asyncio.sleep(SLOW_SECONDS)
                elif step == "wait":
                    with contextlib.suppress(ConnectionError):
                        await reader.read()
                elif step == "reset":
                    _reset_connection(writer)
                else:
                    await _send(writer, self._said(step, outcome, said))
        finally:
            async with self._idle:
                self._busy[reference] -= 1
                self._idle.notify_all()

    def _said(self, step: OutcomeStep, outcome: Outcome, said: ProviderAnswer | None) -> ProviderAnswer:
        if step == "refuse":
            status = int(outcome.removeprefix("refuse_"))
            return json_answer(status, self.refusal(status), RETRY_AFTER if status == 429 else None)
        if step == "garbage":
            return ProviderAnswer(200, b"<html>It works!</html>")
        return said if said and step == "answer" else json_answer(503, self.refusal(503))

    def control(self, asked: ProviderRequest) -> ProviderAnswer | None:
        """Handle a request to the emulator itself; the ledger leaves it out."""
        if (asked.method, asked.path) == ("POST", "/plan"):
            self.plan(*(Outcome(name) for name in asked.json["outcomes"]))
            return json_answer(200, {})
        if (asked.method, asked.path) == ("GET", "/ledger"):
            return json_answer(200, self.ledger.entries())
        return None


def _read_asked(message: Message) -> ProviderRequest:
    target = urlsplit(message.start[1])
    query = dict(parse_qsl(target.query, keep_blank_values=True))
    return ProviderRequest(message.start[0], target.path, query, message.headers, message.body)


async def _send(writer: asyncio.StreamWriter, answer: ProviderAnswer) -> None:
    writer.write(response(answer.status, answer.body, answer.headers))
    await writer.drain()


def _reset_connection(writer: asyncio.StreamWriter) -> None:
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def all_serving(servers: Iterable[ProviderServer]) -> AsyncIterator[dict[str, str]]:
    """Serve several providers for the block; yields their addresses by name."""
    async with contextlib.AsyncExitStack() as stack:
        yield {server.name: await stack.enter_async_context(server.serving()) for server in servers}
