"""What agents and pages say about a product is read in bounded time, whatever it is made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from assent_launch.content.evidence import read_changes, read_commit, read_readme
from assent_launch.content.note import announces, asks_otherwise

CALL_MS = 250
CHARS = 64 * 1_024
PIECES = (
    " ", "\t", "a-", "`", ".", "(", "**", "a ", "- ", "[a](", "_", "> ", "a (b) ", "feat: a\n", "- a\n  b ", "# a\n",
    "`a <b>`_ ", "a\n", "fix ", "(#", "@a ", ":a:", "![", " |", "~~~\n",
)  # fmt: skip

READERS: dict[str, Callable[[str], Any]] = {
    "a README": read_readme,
    "release notes": lambda text: read_changes(text.splitlines()),
    "a commit": read_commit,
    "a goal": announces,
    "the goal of something else": asks_otherwise,
}


@pytest.mark.parametrize("reader", READERS)
def test_no_evidence_takes_long_to_read(reader: str) -> None:
    slow = {}
    for piece in PIECES:
        text = (piece * CHARS)[:CHARS] + "!"
        began = time.process_time()
        READERS[reader](text)
        spent_ms = (time.process_time() - began) * 1_000
        if spent_ms > CALL_MS:
            slow[piece] = round(spent_ms)
    assert slow == {}
