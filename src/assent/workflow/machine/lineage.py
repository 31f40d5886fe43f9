"""The lineage of a run, computed from its log (W67): its nodes and how they follow from one
another.

A pure function of events: equal logs give equal lineages, so a node that differs from the log is
detected.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from assent.kernel.structs import Record, WireRecord


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
