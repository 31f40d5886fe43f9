"""Channels as an extension declares them: a type of message, delivered by one of several connectors.

`ChannelType` is the declaration, `ChannelEffect` the same behind the gate: decorators add its other
parts, as for a function. Declaring runs nothing. `BadExtension` is raised at once.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from assent.extensions.messages import MessageShape, check_shape
from assent.extensions.options import MAX_DOC_CHARS, MAX_TOOL_CHARS, EffectOptions, check_options
from assent.extensions.problems import BadExtension, name_place, refuse_generator
from assent.gate.content.cleaning import printable
from assent.gate.effects import EXECUTE
from assent.kernel.structs import Record
from assent.ports import Delivery

if TYPE_CHECKING:
    from assent.extensions.operators import Operator

F = TypeVar("F", bound=Callable[..., Any])

HOOKS: Final = ("describe", "check", "normalise", "facets", "observe")
PARTS: Final = ("body", "title", "subject", "link", "recipients", "media")
"""The parts of a message that these functions take by name, beside the whole `effect`."""
MAX_WORDS_CHARS: Final = 200


class ChannelType(Record):
    """A kind of message on a channel. `via` names its connectors, in order of preference."""

    channel: str
    verb: str
    description: str
    """The description of the tool, which the agent reads before it calls: "Publish a release. USE WHEN
    …"."""
    via: tuple[str, ...]
    shape: MessageShape = MessageShape()
    risk: str = "high"
    reversible: bool = False
    label: str = ""
    """The channel's name for people."""
    noun: str = ""
    """The kind of action in a few words; the channel and the verb if empty."""
    done: str = "Published"
    executor_tool: str = EXECUTE
    approval_executes: bool = False
    schedulable: bool = True
    without: tuple[str, ...] = ()
    """Which values that `facets` may name it never has: recipients, amount."""
    look_at: str = ""
    """Where a person can see whether it happened."""
    by_hand: str = ""
    """Where a person publishes it by hand."""
    advice: tuple[str, ...] = ()
    """For the person who publishes by hand."""


class ChannelEffect:
    """A message of a channel behind the gate. Decorators add its other parts."""

    def __init__(self, operator: Operator, declared: ChannelType, options: EffectOptions, place: str) -> None:
        self.operator = operator
        self.declared = declared
        self.options = options
        self.place = place
        self.label = declared.label or declared.channel.replace("-", " ").replace("_", " ").capitalize()
        self.noun = declared.noun or f"{self.label} {declared.verb.replace('_', ' ')}"
        self.description = " ".join(printable(declared.description).split())
        self.hooks: dict[str, list[Callable[..., Any]]] = {hook: [] for hook in HOOKS}
        self.__name__ = self.type_id

    @property
    def type_id(self) -> str:
        return f"{self.options.channel}_{self.options.verb}"

    @property
    def tool(self) -> str:
        """The name of the tool that prepares it."""
        return f"{self.operator.prefix}{self.type_id.replace('-', '_')}"

    def describe(self, function: F) -> F:
        """The function gets parts of the message by name and returns a `View` or its title."""
        return self._add("describe", function)

    def check(self, function: F) -> F:
        """The function gets parts of the message by name, and raises or returns `Problem` for one that
        does not fit."""
        return self._add("check", function)

    def normalise(self, function: F) -> F:
        """The function gets parts of the message by name and returns a dictionary of the texts that it
        changes."""
        return self._add("normalise", function)

    def facets(self, function: F) -> F:
        """The function gets parts of the message by name and returns `Facets`: amount, currency,
        recipients, target."""
        return self._add("facets", function)

    def observe(self, function: F) -> F:
        """The function gets parts of the message by name and returns the state of what it would change:
        texts and numbers by name. It computes; a connector's own `observe` asks the provider."""
        return self._add("observe", function)

    def _add(self, hook: str, function: F) -> F:
        if not callable(function):
            raise BadExtension(
                f"{hook} of {self.type_id} is no function.", place=self.place, fix="Decorate a function."
            )
        place = name_place(function)
        refuse_generator(function, may_yield=hook == "check")
        if inspect.iscoroutinefunction(function):
            raise BadExtension(
                f"{hook} of {self.type_id} is asynchronous, but it only computes.",
                place=place,
                fix="Write def instead of async def.",
            )
        if self.hooks[hook] and hook != "check":
            raise BadExtension(f"{self.type_id} has two functions for {hook}.", place=place, fix="Keep one.")
        for each in inspect.signature(function).parameters.values():
            if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) or each.name in ("effect", *PARTS):
                continue
            raise BadExtension(
                f"{hook} of {self.type_id} has the parameter {each.name}, which is no part of a message.",
                place=place,
                fix=f"Use effect, {', '.join(PARTS)}, or **_ for the others.",
            )
        self.hooks[hook].append(function)
        return function


def declare_channel(operator: Operator, declared: Any) -> ChannelEffect:
    """Return the channel of an operator. Raises `BadExtension`."""
    place = _name_caller()
    if not isinstance(declared, ChannelType):
        raise BadExtension(
            f"a channel of {operator.id} is {type(declared).__name__}.",
            place=place,
            fix="Write operator.channel(assent.EffectType(…)).",
        )
    options = EffectOptions(
        risk=declared.risk,  # type: ignore[arg-type]  # checked below
        reversible=declared.reversible,
        delivery=Delivery("none"),
        channel=declared.channel,
        verb=declared.verb,
        executor_tool=declared.executor_tool,
        approval_executes=declared.approval_executes,
        timeout_seconds=None,
        schedulable=declared.schedulable,
        title=declared.noun,
        without=declared.without,
    )
    options = check_options(options, place)
    check_shape(declared.shape, place)
    _check_via(declared.via, place)
    _check_words(declared, place)
    made = ChannelEffect(operator, declared, options, place)
    if len(made.tool) > MAX_TOOL_CHARS:
        raise BadExtension(
            f"its tool would be called {made.tool}, which is longer than {MAX_TOOL_CHARS} characters.",
            place=place,
            fix="Shorten the operator's id, the channel or the verb.",
        )
    return made


def _name_caller() -> str:
    """Return `file:line` of the code that declares a channel: the caller of `Operator.channel`."""
    frame = sys._getframe(3)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _check_via(via: Any, place: str) -> None:
    names = via if isinstance(via, tuple | list) else ()
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadExtension(
            f"via is {via!r}, which names no connectors.",
            place=place,
            fix='Write a tuple of the ids of connectors, such as via=("pressroom",).',
        )


def _check_words(declared: ChannelType, place: str) -> None:
    """Raise `BadExtension` for words that are missing or no single line."""
    if not isinstance(declared.description, str) or not declared.description.strip():
        raise BadExtension(
            "it has no description, which is what the agent reads before it calls.",
            place=place,
            fix='Write one, such as description="Publish a release. USE WHEN the user wants to announce it.".',
        )
    if len(declared.description) > MAX_DOC_CHARS:
        raise BadExtension(
            f"its description has {len(declared.description)} characters.",
            place=place,
            fix=f"Write at most {MAX_DOC_CHARS}.",
        )
    advice = declared.advice if isinstance(declared.advice, tuple | list) else (None,)
    names = ("label", "noun", "done", "look_at", "by_hand", "executor_tool")
    said = [(name, getattr(declared, name)) for name in names] + [("advice", each) for each in advice]
    for name, text in said:
        if not isinstance(text, str) or not text.isprintable() or len(text) > MAX_WORDS_CHARS:
            raise BadExtension(
                f"{name} is not one line of text.",
                place=place,
                fix=f"Write at most {MAX_WORDS_CHARS} characters.",
            )
