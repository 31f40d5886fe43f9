"""Read model of a session's timeline: the steps of its runs with the time each took, and marks.

A step begins when the one before it ends: the journal knows when an agent finished a step, not when
it began to think about it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from assent.engine.views import session_views
from assent.engine.views.session_views import RunView, SessionRunLine
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Rows, Transaction
from assent.sql.loader import statements


class Moment(Record):
    """A mark on the timeline of a session: a refused attempt, a checkpoint, or a person's note."""

    at_ms: int
    kind: Literal["refused", "kept", "noted"]
    text: str = ""


class TimedStep(Record, kw_only=True):
    """A step of a run with the time that it took. `ended_ms` is None for the step that is pending."""

    run_id: str
    node: int
    """The node that the step led to; for a pending one the node where the run stands."""
    title: str
    kind: Literal["started", "step", "complete", "pending"]
    started_ms: int
    ended_ms: int | None
    marks: tuple[Moment, ...] = ()
    off_way: bool = False
    """Whether it is on a branch that was abandoned."""


class Timeline(Record):
    view: RunView
    steps: tuple[TimedStep, ...]
    """Of the most recent runs of the session, in chronological order."""
    notes: tuple[Moment, ...]


def timeline(workspace_id: WorkspaceId, run_id: str) -> Transaction[Timeline | None]:
    """Return the timeline of a run's session over its most recent runs, in order."""
    view = yield from session_views.run(workspace_id, run_id)
    if view is None:
        return None
    steps: list[TimedStep] = []
    for line in view.siblings:
        named = {"workspace_id": workspace_id, "run_id": line.run_id}
        tree = yield statements.list_workflow_tree(**named)
        kept = yield statements.list_workflow_checkpoints(**named)
        refused = yield statements.list_run_refusals(**named)
        steps += time_steps(line, tree, kept, refused)
    notes = tuple(Moment(each.created_ms, "noted", each.author) for each in view.notes)
    return Timeline(view, tuple(sorted(steps, key=lambda each: (each.started_ms, each.node))), notes)


def time_steps(line: SessionRunLine, tree: Rows, kept: Rows, refused: Rows) -> list[TimedStep]:
    """Time the steps of one run. A step begins when the one before it ends. A refused attempt is a mark
    on the step that it was meant to finish: the first one from its node that ended later."""
    nodes = session_views.build_tree(tree, (), ())
    by_number = {each.node: each for each in nodes}
    latest = {row["node"]: row["event_seq"] for row in kept}
    tip = session_views.find_tip(
        tuple(
            msgspec.structs.replace(each, latest=max(each.latest, latest.get(each.node, 0))) for each in nodes
        )
    )
    way = {each.node for each in session_views.find_path(nodes, tip)}
    marks: dict[int | None, list[Moment]] = {}
    for row in refused:
        after = [
            each.node for each in nodes if each.parent == row["node"] and each.created_ms >= row["created_ms"]
        ]
        marks.setdefault(after[0] if after else None, []).append(Moment(row["created_ms"], "refused"))
    for row in kept:
        marks.setdefault(row["node"], []).append(Moment(row["created_ms"], "kept"))
    steps = [
        TimedStep(
            run_id=line.run_id,
            node=each.node,
            title=each.title or each.step_key,
            kind="started" if each.parent is None else "complete" if each.is_complete else "step",
            started_ms=by_number[each.parent].created_ms if each.parent is not None else each.created_ms,
            ended_ms=each.created_ms,
            marks=tuple(marks.get(each.node, ())),
            off_way=each.node not in way,
        )
        for each in nodes
    ]
    if not line.is_complete:
        start = by_number[tip].created_ms
        steps.append(
            TimedStep(
                run_id=line.run_id,
                node=tip,
                title="",
                kind="pending",
                started_ms=start,
                ended_ms=None,
                marks=tuple(marks.get(None, ())),
            )
        )
    return steps
