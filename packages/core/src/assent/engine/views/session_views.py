"""Read model of workflow sessions: the list, a run's tree, one step, a comparison of two branches,
the timeline.

Every statement includes the workspace and a run's id: a foreign run and an unknown one both give no
rows (W8). The caller checks access.

In the timeline a step begins when the one before it ends: the journal knows when an agent finished a step, not when it
began to think about it.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import msgspec

from assent.engine.actions import search
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import IssueView, WorkflowAnswer
from assent.engine.workflows.store import SessionNote
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.structs import Record, from_record, from_row
from assent.ports import Row, Rows, Transaction
from assent.sql.loader import statements
from assent.workflow import Pending, pending
from assent.workflow.machine.state import decode as decode_snapshot
from assent.workflow.program import Ask

RUNS_SHOWN: Final = 50
"""The most recent runs of a session in its sidebar."""

SHOWN_AT_A_STEP: Final = 20
"""Blocked attempts or checkpoints of a node on its page."""

AWAITING: Final = "awaiting_approval"

_MARKER: Final = re.compile(r"\[(?:unset|work out): [^\]]*\]")


def plain_title(title: str) -> str:
    """Return the title of a step without the markers of values that its agent had not set, which are for the agent."""
    return " ".join(_MARKER.sub("", title).split()).rstrip(" :–-") or title


_ANSWER: Final = msgspec.json.Decoder(WorkflowAnswer)
_ARTIFACTS: Final = msgspec.json.Decoder(list[dict[str, Any]])


class SessionRunLine(Record, kw_only=True):
    run_id: RunId
    session_id: str
    workflow_id: str
    name: str
    nodes: int
    branches: int
    is_complete: bool
    asks_person: bool
    """Whether a person's approval is missing where the run stands."""
    created_ms: int
    updated_ms: int


class SessionLine(Record, kw_only=True):
    """A session in a list, with its most recent runs."""

    session_id: str
    created_ms: int
    updated_ms: int
    run_count: int
    runs: tuple[SessionRunLine, ...]


class SessionPage(Record):
    sessions: tuple[SessionLine, ...]
    more: bool


class TreeNode(Record, kw_only=True):
    node: int
    parent: int | None
    step_key: str
    title: str
    is_complete: bool
    latest: int
    created_ms: int
    refused: int = 0
    checkpoints: int = 0


class Confirmation(Record):
    node: int
    step_key: str
    action_id: str
    status: str
    execution_state: str


class RunView(Record):
    """One run of a session with its tree, and the session around it."""

    run: stored.StoredRun
    nodes: tuple[TreeNode, ...]
    tip: int
    confirmations: tuple[Confirmation, ...]
    siblings: tuple[SessionRunLine, ...]
    run_count: int
    notes: tuple[SessionNote, ...]
    planned: int
    """Steps of the workflow's definition. Loops and conditions make a run longer or shorter."""
    outputs: bool
    """Whether a step on the way to the tip sent structured output."""


class RefusedAdvance(Record):
    at_ms: int
    reason: str
    issues: tuple[IssueView, ...]


class CheckpointNote(Record):
    notes: str
    at_ms: int


class StepView(Record, kw_only=True):
    node: int
    parent: int | None
    step_key: str
    title: str
    is_complete: bool
    created_ms: int
    asked: Pending | None
    """The completed step; None at the start."""
    notes: str
    artifacts: tuple[dict[str, Any], ...]
    context: dict[str, Any]
    checkpoints: tuple[CheckpointNote, ...]
    following: Pending | None
    """The pending step."""
    refused: tuple[RefusedAdvance, ...]


class Passage(Record, kw_only=True):
    """A step of a compared branch."""

    node: int
    took_ms: int
    step_key: str
    title: str
    notes: str
    artifacts: tuple[dict[str, Any], ...]


class ComparedBranch(Record):
    """The steps of a branch after the divergence, and its final context."""

    end: TreeNode
    passages: tuple[Passage, ...]
    left_out: int
    context: dict[str, Any]


class Comparison(Record):
    view: RunView
    common: TreeNode
    left: ComparedBranch
    right: ComparedBranch


def sessions(
    workspace_id: WorkspaceId, *, text: str, before: tuple[int, str], most: int
) -> Transaction[SessionPage]:
    """List sessions before a cursor (time and name), most recent first."""
    matches: frozenset[str] | None = None
    if text.strip():
        matches = frozenset(row["run_id"] for row in (yield from search.find((workspace_id,), text)))
    rows = yield statements.list_session_page(
        workspace_id=workspace_id,
        **search.narrow(matches),
        updated_ms=before[0],
        before=before[1],
        most=most + 1,
    )
    found = []
    for row in rows[:most]:
        session_id = row["session_id"]
        counted = yield statements.count_session_runs(workspace_id=workspace_id, session_id=session_id)
        runs = yield statements.list_latest_session_runs(
            workspace_id=workspace_id, session_id=session_id, most=3
        )
        lines = []
        for run in runs:
            lines.append((yield from _line(workspace_id, run)))
        found.append(
            SessionLine(
                session_id=session_id,
                created_ms=row["created_ms"],
                updated_ms=row["updated_ms"],
                run_count=counted[0]["runs"],
                runs=tuple(lines),
            )
        )
    return SessionPage(tuple(found), len(rows) > most)


def run(workspace_id: WorkspaceId, run_id: str) -> Transaction[RunView | None]:
    """Return a run with its tree and its session."""
    rows = yield statements.find_workflow_run(workspace_id=workspace_id, run_id=run_id)
    if not rows:
        return None
    record = stored.read_run(rows[0])
    record = msgspec.structs.replace(
        record, created_ms=rows[0]["created_ms"], updated_ms=rows[0]["updated_ms"]
    )
    named = {"workspace_id": workspace_id, "run_id": run_id}
    tree = yield statements.list_workflow_tree(**named)
    refused = yield statements.count_refused_attempts(**named)
    kept = yield statements.count_node_checkpoints(**named)
    nodes = build_tree(tree, refused, kept)
    asked = yield statements.list_run_confirmations(**named)
    latest = yield statements.list_latest_session_runs(
        workspace_id=workspace_id, session_id=record.session_id, most=RUNS_SHOWN
    )
    counted = yield statements.count_session_runs(workspace_id=workspace_id, session_id=record.session_id)
    own = line_of(rows[0], nodes, asked)
    program = yield from stored.load_program(workspace_id, record.workflow_hash)
    way = [each.node for each in find_path(nodes, find_tip(nodes))]
    sent = yield statements.list_nodes_with_output(**named)
    siblings = []
    for row in latest:
        if row["run_id"] == run_id:
            siblings.append(own)
        else:
            siblings.append((yield from _line(workspace_id, row)))
    if own not in siblings:
        siblings.append(own)
    noted = yield from stored.list_notes(workspace_id, record.session_id)
    return RunView(
        run=record,
        nodes=nodes,
        tip=find_tip(nodes),
        confirmations=tuple(from_row(Confirmation, row) for row in asked),
        siblings=tuple(sorted(siblings, key=lambda each: (each.created_ms, each.run_id))),
        run_count=counted[0]["runs"],
        notes=noted,
        planned=sum(isinstance(each, Ask) for each in program.nodes),
        outputs=any(row["node"] in way for row in sent),
    )


def build_tree(tree: Rows, refused: Rows, kept: Rows) -> tuple[TreeNode, ...]:
    """Build the nodes with their events."""
    attempts = {row["node"]: row["refused"] for row in refused}
    noted = {row["node"]: (row["checkpoints"], row["noted_seq"]) for row in kept}
    nodes = []
    for row in tree:
        node = row["node"]
        checkpoints, seq = noted.get(node, (0, 0))
        nodes.append(
            from_row(
                TreeNode,
                row,
                title=plain_title(row["title"]),
                is_complete=bool(row["is_complete"]),
                latest=max(row["event_seq"], seq),
                refused=attempts.get(node, 0),
                checkpoints=checkpoints,
            )
        )
    return tuple(nodes)


def find_tip(nodes: tuple[TreeNode, ...]) -> int:
    """Return the leaf with the latest event by number (W27)."""
    parents = {each.parent for each in nodes}
    return max((each for each in nodes if each.node not in parents), key=lambda n: (n.latest, n.node)).node


def line_of(row: Row, nodes: tuple[TreeNode, ...], asked: Rows) -> SessionRunLine:
    parents = {each.parent for each in nodes}
    tip = find_tip(nodes)
    return from_row(
        SessionRunLine,
        row,
        branches=sum(each.node not in parents for each in nodes),
        is_complete=next(each.is_complete for each in nodes if each.node == tip),
        asks_person=any(each["node"] == tip and each["status"] == AWAITING for each in asked),
    )


def _line(workspace_id: WorkspaceId, row: Row) -> Transaction[SessionRunLine]:
    leaves = yield statements.list_run_leaves(workspace_id=workspace_id, run_id=row["run_id"])
    tip = max(leaves, key=lambda leaf: (max(leaf["event_seq"], leaf["noted_seq"] or 0), leaf["node"]))
    return from_row(
        SessionRunLine,
        row,
        branches=len(leaves),
        is_complete=bool(tip["is_complete"]),
        asks_person=tip["questions"] > 0,
    )


def step(workspace_id: WorkspaceId, run: stored.StoredRun, node: int) -> Transaction[StepView | None]:
    named = {"workspace_id": workspace_id, "run_id": run.run_id}
    rows = yield statements.read_workflow_step(**named, node=node)
    if not rows:
        return None
    row = rows[0]
    program = yield from stored.load_program(workspace_id, run.workflow_hash)
    snapshot = decode_snapshot(row["snapshot"])
    asked = None
    if row["parent"] is not None:
        before = yield statements.read_workflow_step(**named, node=row["parent"])
        asked = pending(program, decode_snapshot(before[0]["snapshot"]))
    refused = yield statements.list_refused_attempts(**named, node=node, most=SHOWN_AT_A_STEP)
    kept = yield statements.list_node_checkpoints(**named, node=node, most=SHOWN_AT_A_STEP)
    return from_row(
        StepView,
        row,
        title=plain_title(row["title"]),
        node=node,
        is_complete=bool(row["is_complete"]),
        asked=asked,
        artifacts=tuple(_ARTIFACTS.decode(row["artifacts"])),
        context=snapshot.context,
        checkpoints=tuple(CheckpointNote(each["notes"], each["created_ms"]) for each in kept),
        following=pending(program, snapshot),
        refused=tuple(_read_refused(each) for each in refused),
    )


def _read_refused(row: Row) -> RefusedAdvance:
    answer = _ANSWER.decode(row["answer"])
    return RefusedAdvance(row["created_ms"], str(answer.reason or ""), tuple(answer.issues or ()))


def find_path(nodes: tuple[TreeNode, ...], end: int) -> tuple[TreeNode, ...]:
    """Return the path from the start to a node."""
    by_number = {each.node: each for each in nodes}
    found: list[TreeNode] = []
    at: int | None = end
    while at is not None:
        found.append(by_number[at])
        at = by_number[at].parent
    return tuple(reversed(found))


def outputs(
    workspace_id: WorkspaceId, view: RunView, end: int
) -> Transaction[tuple[tuple[str, dict[str, Any]], ...]]:
    """Return the structured outputs on the way to a node, in the order they were sent, with the key of
    their step."""
    way = {each.node: each.step_key for each in find_path(view.nodes, end)}
    rows = yield statements.list_nodes_with_output(workspace_id=workspace_id, run_id=view.run.run_id)
    return tuple(
        (way[row["node"]], artifact)
        for row in rows
        if row["node"] in way
        for artifact in _ARTIFACTS.decode(row["artifacts"])
    )


def compare(
    workspace_id: WorkspaceId, run_id: str, left: int, right: int, most: int
) -> Transaction[Comparison | None]:
    """Compare two branches, the older one on the left: at most the last `most` steps of each."""
    view = yield from run(workspace_id, run_id)
    known = {each.node: each.latest for each in view.nodes} if view is not None else {}
    if view is None or left not in known or right not in known:
        return None
    left, right = sorted((left, right), key=lambda node: (known[node], node))
    ways = find_path(view.nodes, left), find_path(view.nodes, right)
    shared = [a for a, b in zip(*ways, strict=False) if a.node == b.node]
    branches = []
    for each in ways:
        branches.append((yield from _branch(workspace_id, view, each[len(shared) :], each[-1], most)))
    return Comparison(view, shared[-1], branches[0], branches[1])


def _branch(
    workspace_id: WorkspaceId, view: RunView, after: tuple[TreeNode, ...], end: TreeNode, most: int
) -> Transaction[ComparedBranch]:
    named = {"workspace_id": workspace_id, "run_id": view.run.run_id}
    passages = []
    by_number = {each.node: each for each in view.nodes}
    for each in after[-most:]:
        before = by_number.get(each.parent) if each.parent is not None else None
        rows = yield statements.read_workflow_step(**named, node=each.node)
        passages.append(
            from_record(
                Passage,
                each,
                took_ms=each.created_ms - before.created_ms if before is not None else 0,
                notes=rows[0]["notes"],
                artifacts=tuple(_ARTIFACTS.decode(rows[0]["artifacts"])),
            )
        )
    rows = yield statements.read_workflow_step(**named, node=end.node)
    snapshot = decode_snapshot(rows[0]["snapshot"])
    return ComparedBranch(end, tuple(passages), max(0, len(after) - most), snapshot.context)


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
    view = yield from run(workspace_id, run_id)
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
    nodes = build_tree(tree, (), ())
    by_number = {each.node: each for each in nodes}
    latest = {row["node"]: row["event_seq"] for row in kept}
    tip = find_tip(
        tuple(
            msgspec.structs.replace(each, latest=max(each.latest, latest.get(each.node, 0))) for each in nodes
        )
    )
    way = {each.node for each in find_path(nodes, tip)}
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
