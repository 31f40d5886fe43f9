"""The history of a run: the recap that a resumed agent reads, and the other branches.

Notes are stored whole. Only the displayed text is cut, between code points and with a marker. Nodes
are numbered in order of creation, so a parent's number is smaller than its child's.

The lineage of a run is computed from its log (W67): equal logs give equal lineages, so a node that differs
from the log is detected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from assent.kernel.limits import RECAP_BYTES
from assent.kernel.structs import Record, WireRecord
from assent.kernel.texts import truncate

_LEAST_SHOWN: Final = 200
"""A note is left out if less than this many bytes of it would fit."""


class Note(Record):
    """Notes of a completed step or a checkpoint, named by `title`."""

    title: str
    text: str


class Recap(Record):
    """The notes that fit, oldest first, and how many older ones did not."""

    text: str
    shown: int
    omitted: int


def cut(text: str, most_bytes: int) -> str:
    """Cut a text to `most_bytes`, between code points, with a marker (W50)."""
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
            return truncate(said, most_chars)
    return ""


def recap(notes: Sequence[Note], left_out: int = 0) -> Recap:
    """Return the newest notes within the budget, including checkpoints (W20, W46). `notes` are
    oldest first; `left_out` counts older ones that were not read."""
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


class Branch(Record):
    """`nodes` lead from its first node off the path to the given node to its newest leaf."""

    nodes: tuple[int, ...]


class Branches(Record):
    """Branches, oldest first."""

    from_here: tuple[Branch, ...]
    elsewhere: tuple[Branch, ...]


def find_branches(parents: Mapping[int, int | None], node: int) -> Branches:
    """Find every branch that does not contain the node. `parents` may lack the oldest nodes of a
    long run; a branch from a missing node counts as diverging there."""
    path = set()
    at: int | None = node
    while at is not None:
        path.add(at)
        at = parents.get(at)
    inner = set(parents.values())
    parted: dict[int, int] = {}
    tips: dict[int, int] = {}
    for each in sorted(parents):
        parent = parents[each]
        if each in path or parent is None:
            continue
        parted[each] = parted.get(parent, each)
        if each not in inner:
            tips[parted[each]] = each
    found = [Branch(tuple(_walk(parents, first, tip))[::-1]) for first, tip in sorted(tips.items())]
    return Branches(
        tuple(each for each in found if parents[each.nodes[0]] == node),
        tuple(each for each in found if parents[each.nodes[0]] != node),
    )


def _walk(parents: Mapping[int, int | None], first: int, tip: int) -> Iterator[int]:
    """Yield the nodes from a leaf back to the first of its branch."""
    at: int | None = tip
    while at is not None and at >= first:
        yield at
        at = parents[at]


class LineageStep(WireRecord):
    """A node according to the log. `edge` led to it; `latest` is the number of its last event."""

    node: int
    parent: int | None
    step_key: str
    is_complete: bool
    at_ms: int
    latest: int
    seal: str
    edge: str = ""
    checkpoints: tuple[str, ...] = ()


class Lineage(Record):
    """The nodes of a run in order of creation."""

    steps: tuple[LineageStep, ...]


def fold(events: Iterable[tuple[int, str, int, dict[str, Any]]]) -> Lineage:
    """Compute the lineage from events (number, kind, time, body)."""
    steps: dict[int, LineageStep] = {}
    for seq, kind, at_ms, body in events:
        if kind == "workflow_started":
            steps[0] = LineageStep(
                0, None, "", bool(body.get("complete")), at_ms, seq, str(body.get("seal", ""))
            )
        elif kind == "step_acked":
            steps[body["node"]] = LineageStep(
                body["node"],
                body["parent"],
                body["stepKey"],
                body["complete"],
                at_ms,
                seq,
                str(body.get("seal", "")),
                str(body.get("ackHash", "")),
            )
        elif kind == "checkpoint_kept" and body["node"] in steps:
            step = steps[body["node"]]
            steps[body["node"]] = msgspec.structs.replace(
                step, latest=seq, checkpoints=(*step.checkpoints, body["digest"])
            )
    return Lineage(tuple(steps[node] for node in sorted(steps)))
