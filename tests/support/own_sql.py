"""Statements of a test's own."""

from __future__ import annotations

from typing import Any

from assent.ports import Bound, Statement


def bind(sqlite: str, postgres: str, *values: Any) -> Bound:
    """A statement with values by position."""
    params = tuple(f"value_{place}" for place in range(len(values)))
    bound = Statement("of_the_test", sqlite, postgres, params).bound_type()
    return bound(**dict(zip(params, values, strict=True)))


def bind_marks(text: str, *values: Any) -> Bound:
    """A statement in which each `?` takes the next value."""
    numbered = text
    for number in range(1, len(values) + 1):
        numbered = numbered.replace("?", f"${number}", 1)
    return bind(text, numbered, *values)
