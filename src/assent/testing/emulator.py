"""A provider on real sockets that fails as a test plans, and records its effects in a ledger.

    POST /effects                 one effect; `Idempotency-Key` is recognised for a window, `naturalKey` always
    GET  /effects?reference=…     200 the effect, 404 none, 202 unknown: a call is still in progress
    POST /plan                    {"outcomes": […]}: outcomes of the next calls; later calls succeed
    GET  /ledger                  the ledger

Runs inside a test (`async with Emulator(…).serving() as url`) or as a process of its own (`assent.testing.process`).
An outcome with a timeout waits until the caller gives up.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from assent.testing.ledger import DoneEffect, Ledger, LedgerCall
from assent.testing.wire import LocalServer, Malformed, Message, read_message, response

KEY_WINDOW_MS: Final = 24 * 3600 * 1000
SLOW_SECONDS: Final = 0.05


class Outcome(enum.StrEnum):
    """The planned outcomes of a call."""

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


class OutcomeStep(enum.Enum):
    """The steps that make up an outcome."""

    EFFECT = enum.auto()
    PAUSE = enum.auto()
    ANSWER = enum.auto()
    REFUSE = enum.auto()
    ERROR = enum.auto()
    GARBAGE = enum.auto()
    WAIT_UNTIL_CALLER_LEAVES = enum.auto()
    RESET = enum.auto()


STEPS: Final[dict[Outcome, tuple[OutcomeStep, ...]]] = {
    Outcome.DELIVER: (OutcomeStep.EFFECT, OutcomeStep.ANSWER),
    Outcome.DELIVER_SLOWLY: (OutcomeStep.EFFECT, OutcomeStep.PAUSE, OutcomeStep.ANSWER),
    **{outcome: (OutcomeStep.REFUSE,) for outcome in Outcome if outcome.startswith("refuse_")},
    Outcome.TIMEOUT_BEFORE: (OutcomeStep.WAIT_UNTIL_CALLER_LEAVES,),
    Outcome.TIMEOUT_DURING: (OutcomeStep.WAIT_UNTIL_CALLER_LEAVES, OutcomeStep.EFFECT),
    Outcome.TIMEOUT_AFTER: (OutcomeStep.EFFECT, OutcomeStep.WAIT_UNTIL_CALLER_LEAVES),
    Outcome.ERROR_AFTER: (OutcomeStep.EFFECT, OutcomeStep.ERROR),
    Outcome.GARBAGE_AFTER: (OutcomeStep.EFFECT, OutcomeStep.GARBAGE),
    Outcome.RESET_AFTER: (OutcomeStep.EFFECT, OutcomeStep.RESET),
    Outcome.ERROR_BEFORE: (OutcomeStep.ERROR,),
    Outcome.RESET_BEFORE: (OutcomeStep.RESET,),
}


class Emulator(LocalServer):
    """A provider. Its state is its ledger, so a restarted one knows its earlier effects."""

    def __init__(
        self,
        ledger: Ledger,
        outcomes: Iterable[Outcome] = (),
        *,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        key_window_ms: int = KEY_WINDOW_MS,
    ) -> None:
        super().__init__()
        self.ledger = ledger
        self._plan = list(outcomes)
        self._now_ms = now_ms
        self._key_window_ms = key_window_ms
        self._busy: Counter[str] = Counter()
        self._idle = asyncio.Condition()

    def plan(self, *outcomes: Outcome) -> None:
        """Set the outcomes of the next calls, one each; later calls succeed."""
        self._plan = list(outcomes)

    async def settled(self) -> None:
        """Wait until no call is in progress."""
        async with self._idle:
            await self._idle.wait_for(lambda: not self._busy.total())

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, Malformed):
            request = await read_message(reader)
            method, target = request.start[0], urlsplit(request.start[1])
            if (method, target.path) == ("POST", "/effects"):
                await self._perform(request, reader, writer)
            else:
                await send_answer(
                    writer, *self._look(method, target.path, parse_qs(target.query), request.body)
                )
        writer.close()

    async def _perform(
        self, request: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        wanted = msgspec.json.decode(request.body)
        reference = str(wanted.get("reference", ""))
        outcome = self._plan.pop(0) if self._plan else Outcome.DELIVER
        self._busy[reference] += 1
        self._note("POST", "/effects", reference, outcome)
        try:
            for step in STEPS[outcome]:
                if step is OutcomeStep.EFFECT:
                    self._do(wanted, reference, request.headers.get("idempotency-key"))
                elif step is OutcomeStep.PAUSE:
                    await asyncio.sleep(SLOW_SECONDS)
                elif step is OutcomeStep.WAIT_UNTIL_CALLER_LEAVES:
                    with contextlib.suppress(ConnectionError):
                        await reader.read()
                elif step is OutcomeStep.RESET:
                    reset_connection(writer)
                else:
                    await send_answer(writer, *self._answer(step, outcome, reference))
        finally:
            async with self._idle:
                self._busy[reference] -= 1
                self._idle.notify_all()

    def _do(self, wanted: dict[str, Any], reference: str, key: str | None) -> None:
        """Record the effect, unless its key was seen before."""
        natural = wanted.get("naturalKey")
        now_ms = self._now_ms()
        for done in self.ledger.effects():
            if key is not None and done.key == key and now_ms - done.at_ms < self._key_window_ms:
                return
            if natural is not None and done.key == natural:
                return
        effect_id = f"eff_{len(self.ledger.effects()) + 1}"
        self.ledger.append(DoneEffect(effect_id, reference, key or natural, wanted.get("effect"), now_ms))

    def _answer(
        self, step: OutcomeStep, outcome: Outcome, reference: str
    ) -> tuple[int, bytes, dict[str, str]]:
        if step is OutcomeStep.REFUSE:
            status = int(outcome.removeprefix("refuse_"))
            headers = {"Retry-After": "7"} if status == 429 else {}
            return status, msgspec.json.encode({"error": f"refused with {status}"}), headers
        if step is OutcomeStep.ERROR:
            return 503, b'{"error": "out of order"}', {}
        if step is OutcomeStep.GARBAGE:
            return 200, b"<html>It works!</html>", {}
        done = self.ledger.effects(reference)[-1]
        return 201, msgspec.json.encode({"id": done.effect_id, "url": _address_of(done)}), {}

    def _look(
        self, method: str, path: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[int, bytes, dict[str, str]]:
        if (method, path) == ("POST", "/plan"):
            self.plan(*(Outcome(name) for name in msgspec.json.decode(body)["outcomes"]))
            return 200, b"{}", {}
        if (method, path) == ("GET", "/ledger"):
            return 200, msgspec.json.encode(self.ledger.entries()), {}
        if (method, path) != ("GET", "/effects"):
            return 404, b"{}", {}
        reference = query.get("reference", [""])[0]
        self._note("GET", path, reference, Outcome.DELIVER)
        if self._busy[reference]:
            return 202, b"{}", {}
        done = self.ledger.effects(reference)
        if not done:
            return 404, b"{}", {}
        return 200, msgspec.json.encode({"id": done[0].effect_id, "url": _address_of(done[0])}), {}

    def _note(self, method: str, path: str, reference: str, outcome: Outcome) -> None:
        number = len(self.ledger.entries()) + 1
        self.ledger.append(LedgerCall(number, method, path, reference, outcome.value, self._now_ms()))


def _address_of(done: DoneEffect) -> str:
    return f"https://provider.example/{done.effect_id}"


async def send_answer(
    writer: asyncio.StreamWriter, status: int, body: bytes, headers: dict[str, str]
) -> None:
    writer.write(response(status, body, headers))
    await writer.drain()


def reset_connection(writer: asyncio.StreamWriter) -> None:
    """Close the connection with a reset."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
