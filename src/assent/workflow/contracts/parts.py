"""Building blocks of the shapes of output contracts."""

from __future__ import annotations

from typing import Any, Final

from assent.workflow.contracts.shapes import Shape
from assent.workflow.definition.format import listing, text

Entry = tuple[str, Shape, dict[str, Any]]
"""The kind of a contract, its shape, and an example without the kind."""

LINE: Final = text(1, 2_000)
LINES: Final = listing(LINE, unique=False, maxItems=200)
BAND: Final[Shape] = {"enum": ["high", "medium", "low"]}
VERSION: Final[Shape] = {"const": 1}


def open_ended(shape: Shape) -> Shape:
    """Return the shape with additional fields allowed."""
    return {**shape, "additionalProperties": True}


def kind_of(kind: str) -> Shape:
    return {"const": kind, "hint": f'The kind is "{kind}".'}
