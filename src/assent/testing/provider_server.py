"""The base of every emulated provider: HTTP routes on loopback, a ledger, planned faults, a settable clock.

    POST /plan      {"outcomes": […]}: outcomes of the next API calls; later calls succeed
    GET  /ledger    the ledger

A fault wraps the whole call (`assent.testing.emulator.STEPS`): a handler may have its effect while its answer is lost.
Pages for people have no faults. Knows no provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from assent.testing.emulator import SLOW_SECONDS, STEPS, Outcome, OutcomeStep, reset_connection, send_answer
from assent.testing.ledger import DoneEffect, Ledger, LedgerCall
from assent.testing.wire import LocalServer, Malformed, Message, read_message

HTML: Final = "text/html; charset=utf-8"
RETRY_AFTER: Final = {"Retry-After": "7"}


class ProviderRequest(msgspec.Struct, frozen=True):
    """A request to a handler."""

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


class ProviderAnswer(msgspec.Struct, frozen=True):
    """The provider's answer."""

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


class Route(msgspec.Struct, frozen=True):
    """The method and path of a handler; the groups of `path` are its arguments. A page is for people and has no
    faults."""

    method: str
    path: re.Pattern[str]
    handler: Handler
    is_page: bool = False


def route(method: str, path: str, handler: Handler, *, is_page: bool = False) -> Route:
    return Route(method, re.compile(path), handler, is_page)


class ProviderServer(LocalServer):
    """A provider. Subclasses define their routes and the bodies of refusals."""

    name = "provider"

    def __init__(
        self, ledger: Ledger, *, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        super().__init__()
        self.ledger = ledger
        self.now_ms = now_ms
        self._plan: list[Outcome] = []
        self._news = asyncio.Event()

    def routes(self) -> tuple[Route, ...]:
        raise NotImplementedError

    def refusal(self, status: int) -> Any:
        """Return the body of a planned refusal."""
        return {"error": f"refused with {status}"}

    def plan(self, *outcomes: Outcome) -> None:
        """Set the outcomes of the next calls, one each; later calls succeed."""
        self._plan = list(outcomes)

    def done(self, kind: str, content: Any, reference: str | None = None) -> DoneEffect:
        """Record an effect."""
        number = len(self.ledger.effects()) + 1
        effect = DoneEffect(f"{self.name}_{number}", reference, kind, content, self.now_ms())
        self.ledger.append(effect)
        self._news.set()
        return effect

    def happened(self, kind: str) -> list[DoneEffect]:
        """Return the effects of one kind."""
        return [each for each in self.ledger.effects() if each.key == kind]

    async def until(self, kind: str) -> None:
        """Wait until an effect of a kind has happened."""
        while not self.happened(kind):
            self._news.clear()
            await self._news.wait()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, Malformed):
            asked = _read_asked(await read_message(reader))
            found = self.control(asked)
            if found is not None:
                await _send(writer, found)
            else:
                await self._answer(asked, reader, writer)
        writer.close()

    async def _answer(
        self, asked: ProviderRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        for each in self.routes():
            match = each.path.fullmatch(asked.path)
            if each.method == asked.method and match is not None:
                arguments = [unquote(part) for part in match.groups()]
                break
        else:
            await _send(writer, json_answer(404, {"error": "there is nothing here"}))
            return
        outcome = self._plan.pop(0) if self._plan and not each.is_page else Outcome.DELIVER
        number = len(self.ledger.entries()) + 1
        self.ledger.append(LedgerCall(number, asked.method, asked.path, None, outcome.value, self.now_ms()))
        said = json_answer(503, {"error": "out of order"})
        for step in STEPS[outcome]:
            if step is OutcomeStep.EFFECT:
                said = each.handler(asked, *arguments)
            elif step is OutcomeStep.PAUSE:
                await asyncio.sleep(SLOW_SECONDS)
            elif step is OutcomeStep.WAIT_UNTIL_CALLER_LEAVES:
                with contextlib.suppress(ConnectionError):
                    await reader.read()
            elif step is OutcomeStep.RESET:
                reset_connection(writer)
            else:
                await _send(writer, self._said(step, outcome, said))

    def _said(self, step: OutcomeStep, outcome: Outcome, said: ProviderAnswer) -> ProviderAnswer:
        if step is OutcomeStep.REFUSE:
            status = int(outcome.removeprefix("refuse_"))
            return json_answer(status, self.refusal(status), RETRY_AFTER if status == 429 else None)
        if step is OutcomeStep.ERROR:
            return json_answer(503, self.refusal(503))
        return ProviderAnswer(200, b"<html>It works!</html>") if step is OutcomeStep.GARBAGE else said

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
    await send_answer(writer, answer.status, answer.body, answer.headers)


@asynccontextmanager
async def all_serving(servers: Iterable[ProviderServer]) -> AsyncIterator[dict[str, str]]:
    """Serve several providers for the block; yields their addresses by name."""
    async with contextlib.AsyncExitStack() as stack:
        yield {server.name: await stack.enter_async_context(server.serving()) for server in servers}
