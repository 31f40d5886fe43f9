"""The connector of an effect that is a function: it performs by calling the function.

A coroutine runs on the operator's own event loop, a plain function in a thread of its own. The
engine's time limit applies: after it the outcome is unknown, unless the function marks its request
with `ctx.sending()` and had not reached it. What it stores are bound statements, no generator: the code of
an extension never runs in the store's writer.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from types import CodeType
from typing import Any, Final

import msgspec

from assent.extensions.calling import Busy
from assent.extensions.effect_types import make_connector_info
from assent.extensions.operators import EffectFunction
from assent.extensions.options import MAX_RECEIPT_ID_CHARS, MAX_URL_CHARS, Receipt
from assent.extensions.registry import quote_error
from assent.extensions.requests import GuardedHttp, MarkedCall, ReadingCall
from assent.extensions.signatures import encode_value, select_arguments
from assent.gate.measurement.metrics import select_credible
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.ports import (
    Bound,
    ConnectionContext,
    Context,
    Delivered,
    NotSent,
    OutcomeUnknown,
    Reading,
    Rows,
    Store,
    Transaction,
)
from assent.sql.components import Component


class GuardedStore:
    """Runs statements of one component on the server's event loop."""

    def __init__(self, store: Store, component: Component, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._own = f"{component.name}."
        self._loop = loop

    async def read(self, *statements: Bound) -> Rows:
        return await self._run(self._store.read, statements)

    async def write(self, *statements: Bound) -> Rows:
        return await self._run(self._store.write, statements)

    async def _run(
        self,
        run: Callable[[Callable[[], Transaction[Rows]]], Coroutine[Any, Any, Rows]],
        given: tuple[Bound, ...],
    ) -> Rows:
        for bound in given:
            if not isinstance(bound, Bound) or not bound.statement.name.startswith(self._own):
                raise TypeError(f"the store runs statements of {self._own[:-1]}, not {bound!r:.80}")

        def transaction() -> Transaction[Rows]:
            rows: Rows = []
            for bound in given:
                rows = yield bound
            return rows

        done = asyncio.run_coroutine_threadsafe(run(transaction), self._loop)
        return await asyncio.wrap_future(done)


def read_stored_receipt(action: Action) -> Receipt:
    """Return the receipt of a delivered effect."""
    return Receipt(action.external_id or "", action.external_url, action.metadata.get("output"))


def read_metrics(source: str, channel: str, found: Any) -> Reading:
    """Return the reading of numbers by their names. Implausible ones are left out (E100)."""
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        why = f"{source} returned {type(found).__name__} instead of numbers by their names"
        return Reading(source=source, channel=channel, status="unavailable", reason=why)
    numbers, left_out = select_credible(found)
    if not numbers and not left_out:
        return Reading(
            source=source, channel=channel, status="unavailable", reason=f"{source} gave no numbers"
        )
    return Reading(source=source, channel=channel, status="ok", metrics=numbers, left_out=left_out)


log = logging.getLogger("assent.extensions")

MAX_OUTPUT_BYTES: Final = 50_000
"""The longest output of an effect: an agent reads it."""


class FunctionConnector:
    """Performs one effect of an extension."""

    always_ready = True

    def __init__(
        self, effect: EffectFunction, allow_hosts: tuple[str, ...] = (), store: Store | None = None
    ) -> None:
        self.id = effect.tool
        self.info = make_connector_info(effect)
        self.delivery = effect.options.delivery
        self.timeout_seconds = effect.options.timeout_seconds
        self.uses_sending = marks_sending(effect.function)
        self.observes = bool(effect.hooks["observe"])
        self._effect = effect
        self._allow_hosts = allow_hosts
        self._store = store

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        signature = self._effect.signature
        answer = await self._call(self._effect.function, effect, self._own(ctx), signature.read_approved)
        return read_receipt(self._effect.__name__, answer)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        functions = self._effect.hooks["look_up"]
        if not functions:
            raise OutcomeUnknown("this effect cannot be looked up")
        answer = await self._call(functions[0], effect, self._own(ctx))
        return None if answer is None else read_receipt(self._effect.__name__, answer)

    async def observe(self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float) -> Any:
        """Call `observe` of the extension (`assent.ports.Observing`)."""
        own = self._equip(ConnectionContext(), ReadingCall(timeout_seconds))
        return await self._call(self._effect.hooks["observe"][0], effect, own)

    def _own(self, ctx: Context) -> dict[str, Any]:
        return self._equip(ctx, ctx)

    def _equip(self, ctx: ConnectionContext, call: MarkedCall) -> dict[str, Any]:
        component, store = self._effect.operator.component, None
        if self._store is not None and component is not None:
            store = GuardedStore(self._store, component, asyncio.get_running_loop())
        ctx.equip(GuardedHttp(call, self._allow_hosts), store=store)
        return {"ctx": ctx, self._effect.signature.context or "ctx": ctx}

    async def _call(
        self,
        function: Callable[..., Any],
        effect: Effect,
        own: dict[str, Any],
        read: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
    ) -> Any:
        """Call a function of the extension with the approved arguments and those of `own` that it has.
        Raises `NotSent` if it was not called."""
        caller = self._effect.operator.caller
        reading = partial(read or self._effect.signature.read, effect.arguments)
        try:
            # Not on the server's event loop: building a dataclass runs code of the extension.
            values = await caller.run_sync(reading)
        except Busy as busy:
            raise NotSent(Reason.CONNECTOR_FAILED, str(busy), curable=True) from None
        except Exception as problem:
            said = f"the operator has changed and no longer takes these arguments ({quote_error(problem)})"
            raise NotSent(Reason.CONNECTOR_FAILED, said, curable=True) from None
        names = inspect.signature(function).parameters
        given = {name: value for name, value in own.items() if name in names}
        call = partial(function, **select_arguments(function, values), **given)
        try:
            if inspect.iscoroutinefunction(function):
                return await caller.run_async(call)
            return await caller.run_sync(call)
        except Busy as busy:
            raise NotSent(Reason.CONNECTOR_FAILED, str(busy), curable=True) from None


class MeasuredConnector(FunctionConnector):
    """Performs one effect of an extension and measures it."""

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        function = self._effect.hooks["measure"][0]
        found = await self._call(function, action.effect, {"receipt": read_stored_receipt(action)})
        return read_metrics(self.id, action.effect.channel, found)


def make_connector(
    effect: EffectFunction, allow_hosts: tuple[str, ...] = (), store: Store | None = None
) -> FunctionConnector:
    return (MeasuredConnector if effect.hooks["measure"] else FunctionConnector)(effect, allow_hosts, store)


def marks_sending(function: Callable[..., Any]) -> bool:
    """Whether the code of a function marks its request with `sending`. Then an error before the mark
    means that nothing was sent."""
    row = [function.__code__] if inspect.isfunction(function) else []
    while row:
        code = row.pop()
        if "sending" in code.co_names:
            return True
        row += [each for each in code.co_consts if isinstance(each, CodeType)]
    return False


def read_receipt(name: str, answer: Any) -> Delivered:
    """Return the delivery that a function reports. The effect has happened, so that a wrong answer
    makes the outcome unknown, and an output that cannot be stored is left out."""
    if isinstance(answer, Delivered):
        return answer
    if not isinstance(answer, Receipt):
        raise _doubt(f"{name} returned {type(answer).__name__}, not a Receipt")
    given: Any = answer.id  # a stranger's code has no type checker
    found = str(given) if type(given) is int else given
    if not isinstance(found, str) or not found or len(found) > MAX_RECEIPT_ID_CHARS or "\0" in found:
        raise _doubt(
            f"the receipt of {name} has no usable id: a text of at most {MAX_RECEIPT_ID_CHARS} characters"
        )
    url = answer.url
    if url is not None and not (
        isinstance(url, str) and url.startswith(("https://", "http://")) and len(url) <= MAX_URL_CHARS
    ):
        log.error("the receipt of %s has an unusable url, which is left out", name)
        url = None
    return Delivered(found, url, output=_read_output(name, answer.output))


def _doubt(why: str) -> OutcomeUnknown:
    log.error("the outcome is unknown: %s", why)
    return OutcomeUnknown(why)


def _read_output(name: str, output: Any) -> Any:
    if output is None:
        return None
    try:
        text = msgspec.json.encode(output, enc_hook=encode_value)
        plain = msgspec.json.decode(text)
        if len(text) <= MAX_OUTPUT_BYTES and b"\\u0000" not in text:
            return plain
        why = f"it has {len(text)} bytes" if len(text) > MAX_OUTPUT_BYTES else "it has a NUL character"
    except (TypeError, ValueError, RecursionError, NotImplementedError) as error:
        why = str(error)[:200]
    log.error("the output of %s is left out: %s", name, why)
    return None
