"""Operators and effects as an extension declares them.

An `Operator` has effects. An effect is a function: its signature gives the arguments, its docstring
the description of the tool that prepares it, the decorator its risk and delivery. Declaring runs
nothing. `BadExtension` is raised at once, with the place of the mistake.

Functions that perform, look up and measure are called outside the server's event loop. A plain function gets a daemon
thread of its own. Coroutines of an operator run on an event loop of its own, in a thread: one that blocks stops only
its operator, and clients that it keeps between calls stay on one loop. The number of calls at a time is bounded,
because a call whose time limit has passed may still run.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import typing
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeVar, overload

import msgspec

from assent.engine.core.offloading import contain_error, start_thread
from assent.extensions.channels import (
    ChannelEffect,
    ChannelType,
    DeclaredConnector,
    DeclaredEffect,
    ProviderConnector,
    declare_channel,
    declare_connector,
)
from assent.extensions.hooks import BadExtension
from assent.extensions.options import (
    MAX_DOC_CHARS,
    MAX_ID_CHARS,
    MAX_LABEL_CHARS,
    MAX_SCHEMA_BYTES,
    MAX_TOOL_CHARS,
    EffectOptions,
    Receipt,
    add_part,
    check_options,
    check_undo,
    is_id,
    name_place,
    refuse_generator,
)
from assent.extensions.signatures import Signature, read_signature
from assent.gate.content.cleaning import printable
from assent.gate.effects import EXECUTE
from assent.gate.undo import RECEIPT
from assent.gate.views import Undo
from assent.ports import Delivered, Delivery, NotSent
from assent.sql.components import Component

log = logging.getLogger("assent.extensions")
T = TypeVar("T")

MOST_AT_ONCE: Final = 16
"""The most calls of one operator at a time, also those whose time limit has passed."""


class Busy(Exception):  # noqa: N818 - a state
    """The function was not called, because too many earlier calls are still running."""


class Caller:
    """Runs the functions of one operator."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._running = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, function: Callable[..., Any], call: Callable[[], Any]) -> Any:
        """Call a function of the operator outside the server's event loop: `call` has its arguments. Raises `NotSent`
        if it was not called."""
        try:
            if inspect.iscoroutinefunction(function):
                return await self.run_async(call)
            return await self.run_sync(call)
        except Busy as busy:
            raise NotSent(str(busy), retry=True) from None

    async def run_sync(self, function: Callable[[], T]) -> T:
        """Run a plain function in a thread. Raises `Busy` if it was not called."""
        self._begin()
        future = start_thread(self._name, function)
        future.add_done_callback(self._finish)
        return await asyncio.wrap_future(future)

    async def run_async(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the operator's event loop. Raises `Busy` if it was not called."""
        self._begin()
        start = _Start()
        future = asyncio.run_coroutine_threadsafe(_contain(make, start), self._own_loop())
        future.add_done_callback(self._finish)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if start.prevent():
                raise Busy(f"an earlier call of {self._name} blocks its event loop") from None
            raise

    def _begin(self) -> None:
        with self._lock:
            if self._running >= MOST_AT_ONCE:
                raise Busy(f"{self._running} earlier calls of {self._name} have not ended")
            self._running += 1

    def _finish(self, _: Future[Any]) -> None:
        with self._lock:
            self._running -= 1

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                name = f"extension-loop-{self._name}"
                threading.Thread(target=_keep_running, args=(self._loop,), name=name, daemon=True).start()
            return self._loop


def _keep_running(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop also after a function stopped it or a task tried to end the process."""
    while not loop.is_closed():
        try:
            loop.run_forever()
        except BaseException:
            log.exception("a task of an extension ended its event loop, which runs again")


class _Start:
    """Whether a call has started. One that has not can be prevented, so that it certainly had no
    effect."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = ""

    def begin(self) -> bool:
        return self._enter("begun")

    def prevent(self) -> bool:
        return self._enter("prevented")

    def _enter(self, state: str) -> bool:
        with self._lock:
            self._state = self._state or state
            return self._state == state


async def _contain(make: Callable[[], Coroutine[Any, Any, T]], start: _Start) -> T:
    """Run a coroutine. Its exception is that of `contain_error`, unless the caller cancelled it."""
    if not start.begin():
        raise Busy("the call was given up before it started")
    try:
        return await make()
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        contained = contain_error(error)
        raise contained from contained.__cause__


F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=ProviderConnector | type[ProviderConnector])


HOOKS: Final = ("describe", "check", "normalise", "facets", "observe", "look_up", "measure")
CALLS: Final = ("observe", "look_up", "measure")
"""Those that may be asynchronous: they ask a provider."""


class EffectFunction(DeclaredEffect):
    """A function behind the gate. Calling it calls the function."""

    def __init__(self, operator: Operator, function: Callable[..., Any], options: EffectOptions) -> None:
        signature = read_signature(function)
        description = _read_description(function, signature.place)
        _check_return(function, signature.place)
        self.declare(operator, options, signature, description, name=function.__name__)
        self.function = function
        self.__doc__ = function.__doc__

    def declare(
        self, operator: Operator, options: EffectOptions, signature: Signature, description: str, *, name: str
    ) -> None:
        """Set the parts that an effect has with or without a function."""
        self.operator = operator
        self.options = options
        self.place = signature.place
        self.signature = signature
        self.description = description
        self.hooks = {hook: [] for hook in HOOKS}
        self.reverse: tuple[EffectFunction, Undo] | None = None
        self.is_reverse = False
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def tool(self) -> str:
        """The name of the tool that prepares it, and of its connector."""
        return f"{self.operator.prefix}{self.options.verb}"

    @property
    def reads_back(self) -> bool:
        """Whether it can be asked if it happened."""
        return bool(self.hooks["look_up"])

    def without(self, *values: str) -> None:
        """Declare values that it never has: recipients, amount. A policy's rule about them does not match."""
        self.options = check_options(msgspec.structs.replace(self.options, without=values), self.place)

    @overload
    def undo(self, function: Callable[..., Any]) -> EffectFunction: ...

    @overload
    def undo(
        self, *, hours: float | None = None, leaves: str = "", delivery: Delivery | None = None
    ) -> Callable[[Callable[..., Any]], EffectFunction]: ...

    def undo(
        self,
        function: Callable[..., Any] | None = None,
        *,
        hours: float | None = None,
        leaves: str = "",
        delivery: Delivery | None = None,
    ) -> Any:
        """The function takes this effect back. Its parameters are arguments of this effect by name, and `receipt`,
        the id on the receipt. It is an effect of its own: it is approved, executed once and gives a receipt. `hours`:
        for how long it works; `leaves`: what it does not undo; its risk and its time limit are those of this effect."""
        undo = check_undo(hours, leaves, self.place)
        if function is None:
            return partial(self.undo, hours=hours, leaves=leaves, delivery=delivery)
        place = name_place(function)
        if not inspect.isfunction(function):
            raise BadExtension(
                f"undo of {self.__name__} is no function.", place=self.place, fix="Decorate a function."
            )
        refuse_generator(function)
        options = self.make_undo_options(delivery or Delivery("none"))
        made = EffectFunction(self.operator, function, check_options(options, place))
        self.set_reverse(made, undo)
        return made

    def make_undo_options(self, delivery: Delivery) -> EffectOptions:
        return msgspec.structs.replace(
            self.options,
            reversible=False,
            delivery=delivery,
            verb=f"undo_{self.options.verb}",
            schedulable=False,
            title=f"Undo: {self.options.title}"[:MAX_LABEL_CHARS],
        )

    def set_reverse(self, reverse: EffectFunction, undo: Undo) -> None:
        """Set what takes this effect back. Raises `BadExtension` for an argument that cannot be known."""
        place, known = reverse.place, {each.name: each.wire for each in self.signature.parameters}
        if self.reverse is not None:
            raise BadExtension(f"{self.__name__} has two functions for undo.", place=place, fix="Keep one.")
        for each in reverse.signature.parameters:
            is_receipt = each.name == RECEIPT and RECEIPT not in known and each.is_text
            if not is_receipt and known.get(each.name) != each.wire:
                wrong = "has another type there" if each.name in known else "is no argument of the effect"
                raise BadExtension(
                    f"undo of {self.__name__} has the parameter {each.name}, which {wrong}.",
                    place=place,
                    fix=f"Use {', '.join([*known, RECEIPT])} with the same types and limits; {RECEIPT} is a str.",
                )
        if len(reverse.tool) > MAX_TOOL_CHARS:
            raise BadExtension(
                f"its connector would be called {reverse.tool}, which is longer than {MAX_TOOL_CHARS} characters.",
                place=place,
                fix="Shorten the operator's id or the verb.",
            )
        self.reverse, reverse.is_reverse = (reverse, undo), True

    @property
    def with_reverses(self) -> Iterator[EffectFunction]:
        """This effect, and what takes it back."""
        yield self
        if self.reverse is not None:
            yield from self.reverse[0].with_reverses

    def look_up(self, function: F) -> F:
        """The function gets the context and arguments, and returns the `Receipt` of an effect that
        happened, or None if it certainly did not."""
        return self._add("look_up", function)

    def measure(self, function: F) -> F:
        """The function gets the `receipt` and arguments, and returns numbers by their names."""
        return self._add("measure", function)

    def _add(self, hook: str, function: F) -> F:
        context = {"ctx", self.signature.context or "ctx"}
        own = {"measure": {"receipt"}, "look_up": context, "observe": context}.get(hook, set())
        known = sorted({each.name for each in self.signature.parameters} | own)
        words = {"of": self.__name__, "place": self.place, "foreign": "no argument of the effect"}
        add_part(self.hooks, hook, function, known, may_wait=hook in CALLS, **words)
        return function


class Operator:
    """Everything that an extension offers under one name."""

    def __init__(
        self,
        id: str,
        label: str = "",
        function: str = "",
        *,
        version: int = 1,
        component: Component | None = None,
    ) -> None:
        """`label` is its name for people; `function` says in one sentence what it does. Raise `version`
        when an effect begins to mean something else: what was prepared before is not executed.
        `component` has its tables and statements, if it stores anything (`assent.sdk.Component`)."""
        for name, value in (("id", id), ("label", label), ("function", function)):
            if not isinstance(value, str):
                raise BadExtension(f"the {name} of an operator is a text, not {type(value).__name__}.")
        if not is_id(id):
            raise BadExtension(
                f"{id[:60]!r} is no operator id.",
                fix=f"Use small letters, digits and hyphens, at most {MAX_ID_CHARS}, such as acme-billing.",
            )
        if len(label) > MAX_LABEL_CHARS or not label.isprintable():
            raise BadExtension(f"the label of {id} is not one line of at most {MAX_LABEL_CHARS} characters.")
        if len(function) > MAX_DOC_CHARS:
            raise BadExtension(f"the function of {id} is not a text of at most {MAX_DOC_CHARS} characters.")
        if component is not None and not isinstance(component, Component):
            raise BadExtension(
                f"the component of {id} is {type(component).__name__}.", fix="Pass a Component."
            )
        if type(version) is not int or version < 1:
            raise BadExtension(f"the version of {id} is {version!r}.", fix="Write a whole number from 1 on.")
        self.id = id
        self.version = version
        self.component = component
        self.label = label or id.replace("-", " ").replace("_", " ").capitalize()
        self.does = " ".join(printable(function).split()) or f"{self.label}: actions that a person approves."
        self.effects: list[EffectFunction] = []
        self.channels: list[ChannelEffect] = []
        self.connectors: list[DeclaredConnector] = []
        self.caller = Caller(id)

    @property
    def prefix(self) -> str:
        return self.id.replace("-", "_") + "_"

    @property
    def declared(self) -> tuple[EffectFunction | ChannelEffect, ...]:
        """Everything that it has behind the gate."""
        return (*self.effects, *self.channels)

    def channel(self, declared: ChannelType) -> ChannelEffect:
        """Put a kind of message behind the gate. Connectors deliver it (`connector`)."""
        made = declare_channel(self, declared)
        self.channels.append(made)
        return made

    def connector(self, declared: C) -> C:
        """Add the code for a provider: a subclass of `assent.Connector`, or an object of one."""
        self.connectors.append(declare_connector(self, declared))
        return declared

    def effect(
        self,
        *wrong: Any,
        risk: str = "high",
        reversible: bool = False,
        delivery: Delivery | None = None,
        channel: str | None = None,
        verb: str | None = None,
        executor_tool: str = EXECUTE,
        approval_executes: bool = False,
        timeout_seconds: float | None = None,
        schedulable: bool = True,
        title: str = "",
    ) -> Callable[[Callable[..., Any]], EffectFunction]:
        """Put a function behind the gate. Without a declared risk it has high risk."""
        if wrong:
            raise BadExtension(
                "the options of an effect have names.",
                place=name_place(wrong[0]),
                fix='Write @operator.effect() with parentheses, such as @operator.effect(risk="low").',
            )

        def declare(function: Callable[..., Any]) -> EffectFunction:
            if not inspect.isfunction(function):
                raise BadExtension(
                    f"an effect of {self.id} is {type(function).__name__}.",
                    fix="Decorate a function: def or async def.",
                )
            refuse_generator(function)
            options = EffectOptions(
                risk=risk,  # type: ignore[arg-type]  # checked below
                reversible=reversible,
                delivery=delivery or Delivery("none"),
                channel=channel or self.id,
                verb=verb or function.__name__,
                executor_tool=executor_tool,
                approval_executes=approval_executes,
                timeout_seconds=timeout_seconds,
                schedulable=schedulable,
                title=title or function.__name__.replace("_", " ").capitalize(),
            )
            made = EffectFunction(self, function, check_options(options, name_place(function)))
            self.add(made)
            return made

        return declare

    def add(self, effect: EffectFunction) -> None:
        """Add an effect of this operator. Raises `BadExtension` if its tool's name is too long."""
        if len(effect.tool) > MAX_TOOL_CHARS:
            raise BadExtension(
                f"its tool would be called {effect.tool}, which is longer than {MAX_TOOL_CHARS} characters.",
                place=effect.place,
                fix="Shorten the operator's id or the verb.",
            )
        _check_size(effect)
        self.effects.append(effect)


def _read_description(function: Callable[..., Any], place: str) -> str:
    text = inspect.getdoc(function)
    if not text or not text.strip():
        raise BadExtension(
            "it has no docstring, which is what the agent reads before it calls.",
            place=place,
            fix='Write one, such as """Refund a customer. USE WHEN the user asks to pay money back.""".',
        )
    if len(text) > MAX_DOC_CHARS:
        raise BadExtension(
            f"its docstring has {len(text)} characters.", place=place, fix=f"Write at most {MAX_DOC_CHARS}."
        )
    return " ".join(printable(text).split())


def _check_return(function: Callable[..., Any], place: str) -> None:
    """Raise `BadExtension` for a function that says that it returns no receipt: its outcome would be
    unknown after every call."""
    kind = typing.get_type_hints(function).get("return", Receipt)
    if kind is Any or not isinstance(kind, type):
        return
    if not issubclass(kind, Receipt | Delivered) and not issubclass(Receipt, kind):
        name = "None" if kind is type(None) else kind.__name__
        raise BadExtension(
            f"it returns {name}.", place=place, fix="Write -> assent.Receipt, and return one with an id."
        )


def _check_size(effect: EffectFunction) -> None:
    """Raise `BadExtension` for arguments that a list of tools cannot hold."""
    try:
        size = len(msgspec.json.encode(msgspec.json.schema(effect.signature.request_type(effect.tool, []))))
    except (ValueError, TypeError) as error:
        raise BadExtension(
            f"its arguments cannot be published ({error}).",
            place=effect.place,
            fix="Correct their defaults and choices.",
        ) from None
    if size > MAX_SCHEMA_BYTES:
        raise BadExtension(
            f"the schema of its arguments has {size} bytes, which an agent reads with every list of tools.",
            place=effect.place,
            fix=f"Use fewer arguments or choices: at most {MAX_SCHEMA_BYTES} bytes.",
        )
