"""How often the tests that play by the number play: a few rounds by default, many with `make prove`."""

from __future__ import annotations

import os

PROVE = os.environ.get("ASSENT_TEST_PROVE") == "1"


def rounds(usual: int, proof: int) -> int:
    """The number for this run."""
    return proof if PROVE else usual
