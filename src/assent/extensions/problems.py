"""Errors of an extension: at its loading, and about the arguments of a call."""

from __future__ import annotations

import inspect
from typing import Any


class BadExtension(Exception):  # noqa: N818 - what it is
    """An extension cannot be used. `place` is where the mistake is, `fix` what to do."""

    def __init__(self, why: str, *, place: str = "", fix: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.place = place
        self.fix = fix

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.why}{f' {self.fix}' if self.fix else ''}"


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
