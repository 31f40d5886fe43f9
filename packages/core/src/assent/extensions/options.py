"""What an effect declares beside its function or its shape, also about repeated calls, its receipt, and
the error about the arguments of a call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any, Final

from assent.extensions.hooks import BadExtension
from assent.gate.views import OPTIONAL_VALUES, Severity, Undo
from assent.kernel.limits import HOUR_MS, MINUTE_MS
from assent.kernel.structs import Record
from assent.ports import Delivery


class ArgumentProblem(Exception):  # noqa: N818 - `assent.Problem`
    """Raised by a check: the argument `field` is not `expected`. The agent can correct its call."""

    def __init__(self, field: str, expected: str, got: Any = None) -> None:
        super().__init__(f"{field}: expected {expected}")
        self.field = field
        self.expected = expected
        self.got = got


def name_place(function: Any) -> str:
    """Return `file:line, function name` of a function, as far as they are known."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", None) or repr(function)[:80]
    return f"{code.co_filename}:{code.co_firstlineno}, {name}" if code is not None else name


def refuse_generator(function: Any, *, may_yield: bool = False) -> None:
    """Raise `BadExtension` for a generator function: calling it runs nothing. With `may_yield` only an
    asynchronous one is refused."""
    is_generator = inspect.isgeneratorfunction(function) and not may_yield
    if is_generator or inspect.isasyncgenfunction(function):
        raise BadExtension(
            "it is a generator, so that a call would run nothing.",
            place=name_place(function),
            fix="Write return instead of yield.",
        )


def add_part(
    parts: dict[str, list[Callable[..., Any]]],
    part: str,
    function: Any,
    known: Collection[str],
    *,
    of: str,
    place: str,
    may_wait: bool = False,
    foreign: str,
) -> None:
    """Add a function as a part of an effect, such as its check, of which it may have several. Raises `BadExtension`
    for one that could not be called with the known parameters."""
    if not callable(function):
        raise BadExtension(f"{part} of {of} is no function.", place=place, fix="Decorate a function.")
    place = name_place(function)
    refuse_generator(function, may_yield=part == "check")
    if inspect.iscoroutinefunction(function) and not may_wait:
        raise BadExtension(
            f"{part} of {of} is asynchronous, but it only computes.",
            place=place,
            fix="Write def instead of async def.",
        )
    if parts[part] and part != "check":
        raise BadExtension(f"{of} has two functions for {part}.", place=place, fix="Keep one.")
    for each in inspect.signature(function).parameters.values():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) or each.name in known:
            continue
        raise BadExtension(
            f"{part} of {of} has the parameter {each.name}, which is {foreign}.",
            place=place,
            fix=f"Use {', '.join(known) or 'no parameters'}, or **_ for the others.",
        )
    parts[part].append(function)


_ID: Final = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
MAX_ID_CHARS: Final = 40
MAX_TOOL_CHARS: Final = 64
"""The longest tool name that every client accepts."""
MAX_LABEL_CHARS: Final = 80
MAX_DOC_CHARS: Final = 2_000
"""The longest description that an agent reads before it calls."""
MAX_SCHEMA_BYTES: Final = 50_000
"""The longest schema of an effect's arguments: an agent reads it with every list of tools."""
MAX_TIMEOUT_SECONDS: Final = 3_600.0


class EffectOptions(Record, kw_only=True):
    """The declaration of an effect beside its function."""

    risk: Severity
    reversible: bool
    delivery: Delivery
    channel: str
    verb: str
    executor_tool: str
    approval_executes: bool
    timeout_seconds: float | None
    schedulable: bool
    title: str
    without: tuple[str, ...] = ()
    """The values that it never has, as a policy reads them (`EffectType.without`)."""


MAX_LEAVES_CHARS: Final = 300


def check_undo(hours: Any, leaves: Any, place: str) -> Undo:
    """Return what is declared about taking an effect back. Raises `BadExtension`."""
    if hours is not None and (type(hours) not in (int, float) or not 0 < hours * HOUR_MS < 2**53):
        raise BadExtension(f"hours is {hours!r}.", place=place, fix="Write a number, such as hours=24.")
    if not isinstance(leaves, str) or not leaves.isprintable() or len(leaves) > MAX_LEAVES_CHARS:
        fix = f"Write at most {MAX_LEAVES_CHARS} characters that say what stays."
        raise BadExtension("leaves is not one line of text.", place=place, fix=fix)
    return Undo(int(hours * HOUR_MS) if hours is not None else None, leaves)


def is_id(value: Any) -> bool:
    """Whether a value is a name of small letters, digits, - and _."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None and len(value) <= MAX_ID_CHARS


def is_time_limit(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= MAX_TIMEOUT_SECONDS


def check_options(options: EffectOptions, place: str) -> EffectOptions:
    """Return the options with a checked risk. Raises `BadExtension`."""

    def refuse(why: str, fix: str) -> BadExtension:
        return BadExtension(why, place=place, fix=fix)

    if options.risk not in list(Severity):
        raise refuse(f"the risk is {options.risk!r}.", "Write low, medium or high.")
    if not isinstance(options.delivery, Delivery):
        raise refuse(
            f"the delivery is {type(options.delivery).__name__}.",
            "Write assent.native_key(hours=…), natural_key(), read_back() or no_key().",
        )
    for name in ("reversible", "approval_executes", "schedulable"):
        if not isinstance(getattr(options, name), bool):
            raise refuse(f"{name} is {getattr(options, name)!r}.", "Write True or False.")
    for name in ("channel", "verb"):
        value = getattr(options, name)
        if not is_id(value):
            raise refuse(
                f"the {name} {value!r} is no name of small letters, digits, - and _.",
                f"Declare another with {name}=….",
            )
    without = options.without
    if not isinstance(without, list | tuple) or not all(each in OPTIONAL_VALUES for each in without):
        names = ", ".join(OPTIONAL_VALUES)
        raise refuse(f"without is {without!r}.", f"Write a list with some of {names}.")
    seconds = options.timeout_seconds
    if seconds is not None and not is_time_limit(seconds):
        raise refuse(f"timeout_seconds is {seconds!r}.", f"Write a number up to {MAX_TIMEOUT_SECONDS:g}.")
    title = options.title
    if not isinstance(title, str) or not title.isprintable() or len(title) > MAX_LABEL_CHARS:
        raise refuse("the title is not one line of text.", f"Write at most {MAX_LABEL_CHARS} characters.")
    return EffectOptions(
        **{name: getattr(options, name) for name in options.__struct_fields__ if name != "risk"},
        risk=Severity(options.risk),
    )


MAX_RECEIPT_ID_CHARS: Final = 500
MAX_URL_CHARS: Final = 2_000


class Receipt(Record):
    """The proof that an effect happened: the provider's id, its address, and `output` (JSON) for the
    agent."""

    id: str
    url: str | None = None
    output: Any = None


def native_key(*, hours: float = 0, minutes: float = 0, searches: bool = False) -> Delivery:
    """The provider recognises `ctx.key` for this long, so a repetition has no second effect."""
    window_ms = int(hours * HOUR_MS + minutes * MINUTE_MS)
    if window_ms <= 0:
        raise ValueError("native_key needs the hours or minutes for which the provider recognises the key")
    return Delivery("native_key", window_ms, searches)


def natural_key() -> Delivery:
    """The effect is unique, such as an upsert: a repetition finds the first."""
    return Delivery("natural_key")


def read_back() -> Delivery:
    """The provider can be asked whether the effect happened. Needs `look_up`."""
    return Delivery("read_back")


def no_key() -> Delivery:
    """Only a person can tell whether the effect happened. The default."""
    return Delivery("none")
