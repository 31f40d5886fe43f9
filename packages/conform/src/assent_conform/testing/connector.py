"""A connector to the emulated provider over HTTP, with any kind of delivery.

Sends the provider key as its delivery declares: as `Idempotency-Key`, as a natural key, as a
reference to query later, or not at all.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import quote, urlsplit

import msgspec

from assent.gate.outcomes import NotSent, failure
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.ports import Context, Delivered, Delivery, OutcomeUnknown, action_of
from assent_conform.testing.ledger import DoneEffect, Ledger
from assent_conform.testing.provider_server import (
    Malformed,
    Message,
    ProviderAnswer,
    ProviderRequest,
    ProviderServer,
    Route,
    json_answer,
    read_message,
    request,
)

# A provider with one kind of effect, which it records in its ledger.
#
#     POST /effects                 one effect; `Idempotency-Key` is recognised for a window, `naturalKey` always
#     GET  /effects?reference=…     200 the effect, 404 none, 202 unknown: a call is still in progress
#
# Runs inside a test (`async with Emulator(…).serving() as url`) or as a process of its own
# (`assent_conform.testing.standalone`). Its state is its ledger, so a restarted one knows its earlier effects.

KEY_WINDOW_MS: Final = 24 * 3600 * 1000


class Emulator(ProviderServer):
    name = "eff"

    def __init__(self, ledger: Ledger, *, key_window_ms: int = KEY_WINDOW_MS, **options: Any) -> None:
        super().__init__(ledger, **options)
        self._key_window_ms = key_window_ms

    def routes(self) -> tuple[Route, ...]:
        return (
            Route("POST", "/effects", self.perform),
            Route("GET", "/effects", self.look_up, is_page=True),
        )

    def read_reference(self, asked: ProviderRequest) -> str | None:
        if asked.method == "POST":
            return str(asked.json.get("reference", ""))
        return asked.query.get("reference", "")

    def perform(self, asked: ProviderRequest) -> ProviderAnswer:
        """Record the effect, unless its key was seen before."""
        wanted, key, now_ms = asked.json, asked.headers.get("idempotency-key"), self.now_ms()
        natural, reference = wanted.get("naturalKey"), self.read_reference(asked)
        known = any(
            (key is not None and done.key == key and now_ms - done.at_ms < self._key_window_ms)
            or (natural is not None and done.key == natural)
            for done in self.ledger.effects()
        )
        if not known:
            self.done(key or natural, wanted.get("effect"), reference)
        return json_answer(201, _describe(self.ledger.effects(reference)[-1]))

    def look_up(self, asked: ProviderRequest) -> ProviderAnswer:
        reference = asked.query.get("reference", "")
        if self._busy[reference]:
            return json_answer(202, {})
        done = self.ledger.effects(reference)
        return json_answer(200, _describe(done[0])) if done else json_answer(404, {})


def _describe(done: DoneEffect) -> dict[str, str]:
    return {"id": done.effect_id, "url": f"https://provider.example/{done.effect_id}"}


DELIVERIES: Final = (
    Delivery("native_key", KEY_WINDOW_MS),
    Delivery("natural_key"),
    Delivery("read_back"),
    Delivery("none"),
)
"""One declaration of each kind, as the emulator supports them."""


class EmulatedConnector:
    def __init__(
        self,
        url: str,
        delivery: Delivery,
        *,
        connector_id: str = "emulated",
        readiness: Readiness = Readiness(ready=True),  # noqa: B008 - a frozen value
    ) -> None:
        self.id = connector_id
        self.delivery = delivery
        self.ready = readiness
        self.url = url

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return self.ready

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        body: dict[str, Any] = {"reference": ctx.key, "effect": msgspec.to_builtins(effect)}
        headers = {"Idempotency-Key": ctx.key} if self.delivery.kind == "native_key" else {}
        if self.delivery.kind == "natural_key":
            body["naturalKey"] = ctx.key
        answer = await self._exchange("POST", "/effects", msgspec.json.encode(body), headers, ctx.left())
        return _read_delivered(answer)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        action_of(ctx, effect)
        if self.delivery.kind != "read_back":
            raise OutcomeUnknown("this provider cannot be asked")
        target = f"/effects?reference={quote(ctx.key)}"
        answer = await self._exchange("GET", target, b"", {}, ctx.left())
        status = _status(answer)
        if status == 404:
            return None
        if status == 202:
            raise OutcomeUnknown("the provider is still working on it")
        return _read_delivered(answer)

    async def _exchange(
        self, method: str, target: str, body: bytes, headers: dict[str, str], seconds: float
    ) -> Message:
        """Send a request. Without a connection nothing was sent, with one the outcome is
        unknown."""
        address = urlsplit(self.url)
        host, port = address.hostname or "", address.port or 80
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                reader, writer = await asyncio.open_connection(host, port)
        except (OSError, TimeoutError) as error:
            raise NotSent(f"{host}:{port} cannot be reached ({type(error).__name__})", retry=True) from error
        try:
            async with asyncio.timeout_at(deadline):
                writer.write(request(method, target, f"{host}:{port}", body, headers))
                return await read_message(reader)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, Malformed) as error:
            raise OutcomeUnknown(f"no whole answer ({type(error).__name__})") from error
        finally:
            writer.close()


def _status(answer: Message) -> int:
    try:
        return int(answer.start[1])
    except (IndexError, ValueError) as error:
        raise OutcomeUnknown("an answer without a status") from error


def _read_delivered(answer: Message) -> Delivered:
    """Read a well-formed success; the table judges anything else."""
    status = _status(answer)
    if not 200 <= status < 300:
        raise failure(status, answer.body.decode("utf-8", "replace"), answer.headers.get("retry-after"))
    try:
        said = msgspec.json.decode(answer.body)
        return Delivered(said["id"], said.get("url"), {"status": status})
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise OutcomeUnknown("a success that cannot be read") from error
