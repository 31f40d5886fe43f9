"""The sources of the product, for tests that look at all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOR_TESTS: Final = "conform"
"""The distribution that no server runs."""


def list_modules() -> dict[str, Path]:
    """Return the modules of every distribution that a server runs, by their paths below their sources."""
    return {
        path.relative_to(source).as_posix(): path
        for source in sorted(ROOT.glob("packages/*/src"))
        if source.parent.name != FOR_TESTS
        for path in sorted(source.rglob("*.py"))
    }
