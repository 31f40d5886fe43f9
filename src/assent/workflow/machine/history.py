"""The recap that a resumed agent reads, and the tip of a run.

Notes are stored whole. Only the displayed text is cut, between code points and with a marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from assent.kernel.limits import RECAP_BYTES

_LEAST_SHOWN: Final = 200
"""A note is left out if less than this many bytes of it would fit."""


class Note(msgspec.Struct, frozen=True):
    """Notes of a completed step or a checkpoint, named by `title`."""

    title: str
    text: str


class Recap(msgspec.Struct, frozen=True):
    """The notes that fit, oldest first, and how many older ones did not."""

    text: str
    shown: int
    omitted: int


def cut(text: str, most_bytes: int) -> str:
    """Cut a text to at most `most_bytes`, between two code points, with a marker for the missing part (W50)."""
    raw = text.encode()
    if len(raw) <= most_bytes:
        return text
    marker = f" [… cut, {len(raw)} bytes in all]"
    end = max(0, most_bytes - len(marker.encode()))
    while end > 0 and raw[end] & 0xC0 == 0x80:
        end -= 1
    return raw[:end].decode() + marker


def first_line(text: str, most_chars: int = 160) -> str:
    """Return the first line with text, without heading and list marks."""
    for line in text.splitlines():
        if said := " ".join(line.replace("**", "").replace("`", "").strip().lstrip("#>*-").split()):
            return said if len(said) <= most_chars else said[: most_chars - 1].rstrip() + "…"
    return ""


def recap(notes: Sequence[Note], left_out: int = 0) -> Recap:
    """Return the newest notes within the budget, including checkpoints (W20, W46). `notes` are oldest first; `left_out`
    counts older ones that were not read."""
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
    """A node without children, with the number of its latest event in the log."""

    node: str
    latest_event: int


def find_tip(leaves: Iterable[Leaf]) -> Leaf | None:
    """Return the leaf with the latest event by number, not by time; ties are broken by the node's name (W27)."""
    return max(leaves, key=lambda leaf: (leaf.latest_event, leaf.node), default=None)
