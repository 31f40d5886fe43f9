"""The record of an emulated provider's effects, outside the server under test.

Append-only lines in a file, one write each, so they survive a kill of the writer. Every test about
effects compares with it; it knows nothing of the server's records.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from assent.kernel.structs import WireRecord


class LedgerCall(WireRecord, tag="call", tag_field="kind"):
    """A request that reached the provider, and its planned outcome."""

    number: int
    method: str
    path: str
    reference: str | None
    outcome: str
    at_ms: int


class DoneEffect(WireRecord, tag="effect", tag_field="kind"):
    effect_id: str
    reference: str | None
    key: str | None
    content: Any
    at_ms: int


Entry = LedgerCall | DoneEffect
_DECODER = msgspec.json.Decoder(Entry)


class Ledger:
    """The file. Any number of processes may read while one appends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: list[Entry] = []
        self._offset = 0
        path.touch()

    def append(self, entry: Entry) -> None:
        line = msgspec.json.encode(entry) + b"\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """Return all entries; a line that a kill cut short is left out."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._read += [_DECODER.decode(line) for line in whole.splitlines()]
        return list(self._read)

    def calls(self, reference: str | None = None) -> list[LedgerCall]:
        """Return the requests that could have had an effect."""
        return [
            entry
            for entry in self.entries()
            if isinstance(entry, LedgerCall) and entry.method == "POST" and _matches(entry, reference)
        ]

    def effects(self, reference: str | None = None) -> list[DoneEffect]:
        return [
            entry for entry in self.entries() if isinstance(entry, DoneEffect) and _matches(entry, reference)
        ]


def _matches(entry: Entry, reference: str | None) -> bool:
    return reference is None or entry.reference == reference
