"""How much the tests play that could play for hours: a little by default, all of it with `make prove`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

PROVE = os.environ.get("ASSENT_TEST_PROVE") == "1"
USUAL_MINUTES = 25
"""What a proof takes on two cores."""
MINUTES = float(os.environ.get("ASSENT_TEST_PROVE_MINUTES", USUAL_MINUTES))


def rounds(usual: int, proof: int) -> int:
    """The number for this run."""
    return proof if PROVE else usual


def share(usual: int, proof: int) -> int:
    """The number for this run; a proof of another duration than the usual one plays as much more or less."""
    return max(1, round(proof * MINUTES / USUAL_MINUTES)) if PROVE else usual


def pairs(first: Sequence[A], second: Sequence[B]) -> list[tuple[A, B]]:
    """Every value of both at least once; every pair of them in a proof."""
    return [*product(first, second)] if PROVE else [*zip(first, second, strict=True)]
