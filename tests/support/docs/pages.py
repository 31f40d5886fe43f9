"""The blocks of code on a page of the documentation, for tests that execute them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"

_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of each block, in order."""
    return [(found[1], found[2]) for found in _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))]


def block_of(page: str, language: str, position: int = 0) -> str:
    """One block of a language."""
    return [text for kind, text in blocks_of(page) if kind == language][position]
