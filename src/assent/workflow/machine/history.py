"""What came before: the recap that a resumed agent reads, and which leaf of a run is its tip.

Notes are stored whole; only what is shown is cut, between code points and with a marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from assent.kernel.limits import RECAP_BYTES

_LEAST_SHOWN: Final = 200
"""A note of which less than this would be shown is left out instead."""


class Note(msgspec.Struct, frozen=True):
    """Notes of a completed step or a checkpoint. `title` says which."""

    title: str
    text: str


class Recap(msgspec.Struct, frozen=True):
    """The notes that fit, oldest first, and how many older ones did not."""

    text: str
    shown: int
    omitted: int


def cut(text: str, most_bytes: int) -> str:
    """At most so many bytes of a text, ending between two code points, with a marker that says how much is missing
    (W50)."""
    raw = text.encode()
    if len(raw) <= most_bytes:
        return text
    marker = f" [… cut, {len(raw)} bytes in all]"
    end = max(0, most_bytes - len(marker.encode()))
    while end > 0 and raw[end] & 0xC0 == 0x80:
        end -= 1
    return raw[:end].decode() + marker


def first_line(text: str, most_chars: int = 160) -> str:
    """The first line that says something, without marks of a heading or a list."""
    for line in text.splitlines():
        if said := " ".join(line.replace("**", "").replace("`", "").strip().lstrip("#>*-").split()):
            return said if len(said) <= most_chars else said[: most_chars - 1].rstrip() + "…"
    return ""


def recap(notes: Sequence[Note], left_out: int = 0) -> Recap:
    """The newest notes within the budget, those of checkpoints too (W20, W46). `notes` come oldest first; `left_out`
    older ones were not even read."""
    blocks: list[str] = []
    left = RECAP_BYTES
    for note in reversed(notes):
        if not note.text.strip():
            continue
        block = f"### {note.title}\n{note.text}"
        need = len(block.encode()) + 2
        if need > left:
            if left < _LEAST_SHOWN:
                break
            block, need = cut(block, left - 2), left
        blocks.append(block)
        left -= need
    total = sum(bool(note.text.strip()) for note in notes)
    return Recap("\n\n".join(reversed(blocks)), len(blocks), total - len(blocks) + left_out)


class Leaf(msgspec.Struct, frozen=True):
    """A node of a run that nothing follows, with the number of its latest event in the log."""

    node: str
    latest_event: int


def find_tip(leaves: Iterable[Leaf]) -> Leaf | None:
    """The leaf with the latest event in the log, whatever any clock says; ties go to the node's name (W27)."""
    return max(leaves, key=lambda leaf: (leaf.latest_event, leaf.node), default=None)
