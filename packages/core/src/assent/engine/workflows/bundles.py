"""Export and import of sessions (W71). Imported runs get tokens of this server and a new log.

Export and import both check a run's nodes against its log (W67). Actions are not exported: they are
effects of the exporting server, and an approval from a file has no approver.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, search
from assent.engine.core import journal
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import WorkflowAnswer
from assent.engine.workflows.store import COMPLETE, OPERATOR, RUNNING, SessionNote, StoredRun
from assent.gate.records import Run
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.structs import WireRecord, from_record, from_row
from assent.kernel.tokens import TokenInvalid
from assent.ports import Row, Transaction
from assent.sql.loader import statements
from assent.workflow import ContentRefused, Snapshot, pending
from assent.workflow.bundle import (
    EVENT_KINDS,
    MAX_SESSION_ID_CHARS,
    Bundle,
    BundleRefused,
    ExportedAnswer,
    ExportedCheckpoint,
    ExportedEvent,
    ExportedNode,
    ExportedRun,
    ExportedSessionNote,
)
from assent.workflow.machine.history import Lineage, fold
from assent.workflow.machine.state import SNAPSHOT_FORMAT
from assent.workflow.machine.state import encode as encode_snapshot
from assent.workflow.program import Program, UnknownFormat, workflow_hash
from assent.workflow.program import decode as decode_program
from assent.workflow.program import encode as encode_program
from assent.workflow.tokens import Kind, TokenClaims, mint, mint_tokens, place

MOST_EVENTS: Final = 1_000_000
_STATE_MARK: Final = "<this server's stateToken>"
_ACK_MARK: Final = "<this server's ackToken>"
_BRANCH_MARK: Final = re.compile(r"<this server's stateToken of node ([0-9]{1,9})>")
_OWN: Final = ("stateToken", "ackToken", "session")
_BRANCHES: Final = ("branches", "otherBranches")


def export(workspace_id: WorkspaceId, session_id: str, now_ms: int) -> Transaction[Bundle | None]:
    """Export a session; None if the workspace has none of that name."""
    rows = yield statements.list_session_runs(workspace_id=workspace_id, session_id=session_id)
    if not rows:
        return None
    runs, programs = [], {}
    for row in rows:
        runs.append((yield from export_run(workspace_id, row)))
        program = yield from stored.read_program(workspace_id, row["workflow_hash"])
        programs[row["workflow_hash"]] = json.loads(encode_program(program))
    noted = yield from stored.list_notes(workspace_id, session_id)
    return Bundle(
        session_id=session_id,
        exported_ms=now_ms,
        programs=programs,
        runs=runs,
        notes=[from_record(ExportedSessionNote, note) for note in noted],
    )


def export_run(workspace_id: WorkspaceId, row: Row) -> Transaction[ExportedRun]:
    """Export a run. Raises `Tampered` if its rows differ from its log (W67)."""
    run_id = RunId(row["run_id"])
    named = {"workspace_id": workspace_id, "run_id": run_id}
    events = yield from journal.read_stream(workspace_id, run_id, limit=MOST_EVENTS)
    head = yield from journal.read_head(workspace_id, run_id)
    erased = yield from journal.read_erased(workspace_id, run_id)
    if (problem := journal.verify_chain(events, head, erased=erased)) is not None:
        raise stored.Tampered(f"the log of run {run_id} does not hold at event {problem.seq}")
    nodes = yield statements.list_workflow_nodes(**named)
    answers = yield statements.list_workflow_answers(**named)
    checkpoints = yield statements.list_workflow_checkpoints(**named)
    # Renumbered: other events of the log are not exported, and no gap reveals them.
    kept = [event for event in events if event.kind in EVENT_KINDS]
    numbers = {event.seq: number for number, event in enumerate(kept, 1)}
    if not {row["event_seq"] for row in (*nodes, *checkpoints)} <= numbers.keys():
        raise stored.Tampered(f"run {run_id} has steps that its log does not know")
    exported = from_row(
        ExportedRun,
        row,
        run_id=run_id,
        nodes=[_node(each, numbers) for each in nodes],
        answers=[_answer(each, run_id) for each in answers],
        checkpoints=[
            from_row(ExportedCheckpoint, each, event_seq=numbers[each["event_seq"]]) for each in checkpoints
        ],
        events=[
            ExportedEvent(numbers[event.seq], event.kind, event.at_ms, json.loads(event.body))
            for event in kept
        ],
    )
    if (flaw := find_flaw(exported) or _find_misplaced(row, nodes, exported)) is not None:
        raise stored.Tampered(f"run {run_id}: {flaw}")
    return exported


def _find_misplaced(row: Row, nodes: Sequence[Row], run: ExportedRun) -> str | None:
    """Describe the first contradiction between a run's rows and its log; None if they agree."""
    started = run.events[0].body
    if (started.get("sessionId"), started.get("workflowHash")) != (row["session_id"], row["workflow_hash"]):
        return "it is not in the session or pinned to the workflow that its log says"
    if [bool(node["is_complete"]) for node in nodes] != [_snapshot(node).is_complete for node in run.nodes]:
        return "a step is marked complete that is not, or the other way round"
    taken, kept = _steps_taken(fold_lineage(run)), _answers_kept(run)
    children = Counter(parent for parent, _ in taken)
    if row["nodes"] != len(nodes) or any(node["children"] != children[node["node"]] for node in nodes):
        return "its steps or its branches are counted wrong"
    transitions = {
        (node["node"], node["next_edge"]): node["next_node"] for node in nodes if node["next_edge"]
    }
    if not transitions.items() <= taken.items() or not taken.keys() <= transitions.keys() | kept.keys():
        return "a step leads elsewhere than its log says"
    if not all(
        _gives_tokens(RunId(row["run_id"]), row["series"], node) for node in nodes if node["next_edge"]
    ):
        return "a step gives the tokens of another"
    return None


def _gives_tokens(run_id: RunId, series: int, node: Row) -> bool:
    """Whether the tokens stored with a transition name its child."""
    try:
        named = [place(t, run_id) for t in (node["next_state"], node["next_ack"]) if t is not None]
    except TokenInvalid:
        return False
    kinds: tuple[Kind, ...] = ("st", "ack")
    return named == [TokenClaims(kind, run_id, node["next_node"], series) for kind in kinds[: len(named)]]


def _node(row: Row, numbers: dict[int, int]) -> ExportedNode:
    return from_row(
        ExportedNode,
        row,
        artifacts=json.loads(row["artifacts"]),
        snapshot=json.loads(row["snapshot"]),
        event_seq=numbers[row["event_seq"]],
    )


def _answer(row: Row, run_id: RunId) -> ExportedAnswer:
    given = json.loads(row["answer"])
    state, ack = given["stateToken"], given["ackToken"]
    text, kept = (
        row["text"].replace(state, _STATE_MARK),
        json.dumps({key: value for key, value in given.items() if key not in _OWN}),
    )
    for branch in (each for name in _BRANCHES for each in given.get(name, ()) if "stateToken" in each):
        mark = f"<this server's stateToken of node {place(branch['stateToken'], run_id).node}>"
        text, kept = (part.replace(branch["stateToken"], mark) for part in (text, kept))
    return from_row(
        ExportedAnswer,
        row,
        at=place(state, run_id).node,
        attempt=place(ack, run_id).attempt if ack is not None else 0,
        answer=json.loads(kept) | {"ackToken": ack is not None},
        text=text.replace(ack, _ACK_MARK) if ack is not None else text,
    )


def fold_lineage(run: ExportedRun) -> Lineage:
    """Read the lineage of an exported run from its log."""
    return fold((event.seq, event.kind, event.at_ms, event.body) for event in run.events)


def find_flaw(run: ExportedRun) -> str | None:
    """Describe the first contradiction between nodes and log; None if they agree."""
    lineage = fold_lineage(run)
    steps = {step.node: step for step in lineage.steps}
    if [node.node for node in run.nodes] != sorted(steps):
        return "its nodes are not those of its log"
    for node in run.nodes:
        sealed = stored.seal(_new_node(node, msgspec.structs.replace(_snapshot(node), blocked=0)))
        if (steps[node.node].parent, steps[node.node].seal) != (node.parent, sealed):
            return f"node {node.node} is not what its log says"
    taken, answered = _steps_taken(lineage), _answers_kept(run)
    if not answered.items() <= taken.items():
        return "it has an answer that its log does not know"
    if any(given.at != (given.node if given.child is None else given.child) for given in run.answers):
        return "it has an answer with the tokens of another step"
    if not taken.keys() <= answered.keys() | _first(lineage):
        return "the answer to a branch is missing"
    kept = {(step.node, digest) for step in steps.values() for digest in step.checkpoints}
    if {(each.node, each.digest) for each in run.checkpoints} != kept or any(
        stored.notes_digest(each.notes) != each.digest for each in run.checkpoints
    ):
        return "its checkpoints are not those of its log"
    return None


Edge = tuple[int | None, str]
"""A node and the hash of the content submitted there."""


def _steps_taken(lineage: Lineage) -> dict[Edge, int]:
    """Map each advance in the log to its child node."""
    return {(step.parent, step.edge): step.node for step in lineage.steps if step.parent is not None}


def _first(lineage: Lineage) -> set[Edge]:
    """Return the first transition out of each node. Its answer is not stored: the node that it leads
    to determines it."""
    transitions: dict[int | None, Edge] = {}
    for step in lineage.steps:
        transitions.setdefault(step.parent, (step.parent, step.edge))
    return set(transitions.values())


def _answers_kept(run: ExportedRun) -> dict[Edge, int]:
    """Return the advances whose answers are stored whole."""
    return {(given.node, given.edge): given.child for given in run.answers if given.child is not None}


def _snapshot(node: ExportedNode) -> Snapshot:
    if node.snapshot.get("format") != SNAPSHOT_FORMAT:
        raise BundleRefused(f"Node {node.node} was written by another version of this server.")
    return msgspec.convert(node.snapshot, Snapshot)


def _new_node(node: ExportedNode, snapshot: Snapshot) -> stored.NewNode:
    return from_record(
        stored.NewNode,
        node,
        artifacts=stored.artifacts_text(node.artifacts),
        snapshot=encode_snapshot(snapshot),
        is_complete=snapshot.is_complete,
    )


class Imported(WireRecord):
    """The result of an import."""

    session_id: str
    runs: tuple[str, ...]
    renamed: bool


def check(bundle: Bundle) -> dict[str, Program]:
    """Check a bundle and return its programs by hash. Raises `BundleRefused`."""
    programs: dict[str, Program] = {}
    try:
        for name, given in bundle.programs.items():
            programs[name] = decode_program(msgspec.json.encode(given))
            if workflow_hash(programs[name]) != name:
                raise BundleRefused(f"The workflow {name} is not what its hash says.")
        for run in bundle.runs:
            if run.workflow_hash not in programs or programs[run.workflow_hash].id != run.workflow_id:
                raise BundleRefused(f"The workflow of run {run.run_id} is missing.")
            if (flaw := find_flaw(run)) is not None:
                raise BundleRefused(f"Run {run.run_id}: {flaw}.")
            for node in run.nodes:
                pending(programs[run.workflow_hash], _snapshot(node))
    except (UnknownFormat, ContentRefused, msgspec.ValidationError, ValueError, LookupError) as error:
        raise BundleRefused(f"This bundle cannot be read: {error}.") from error
    return programs


def import_session(
    workspace_id: WorkspaceId,
    bundle: Bundle,
    digest: str,
    keys: tuple[bytes, ...],
    new_id: Callable[[int], str],
    now_ms: int,
) -> Transaction[Imported]:
    """Store a session with tokens of this server (W71). If the session exists, it is stored under
    another name with new run ids."""
    programs = check(bundle)
    session_id, number = bundle.session_id, 1
    while (yield statements.find_workflow_session(workspace_id=workspace_id, session_id=session_id)):
        number += 1
        suffix = f" ({number})"
        session_id = bundle.session_id[: MAX_SESSION_ID_CHARS - len(suffix)] + suffix
    taken = renamed = session_id != bundle.session_id
    for run in bundle.runs:
        # In any workspace, also of a removed session: pages and ledger identify a run by its id
        # alone.
        taken = taken or bool((yield statements.find_run_anywhere(run_id=run.run_id)))
    for name, program in programs.items():
        yield from stored.pin(workspace_id, name, program, now_ms)
    # A new series, so that the tokens differ from the original ones even under the same key.
    series = int(new_id(now_ms)[-8:], 16)
    run_ids = []
    for run in bundle.runs:
        run_id = RunId(new_id(now_ms) if taken else run.run_id)
        yield from _import_run(workspace_id, session_id, run_id, run, digest, keys, series, now_ms)
        run_ids.append(run_id)
    for note in bundle.notes:
        yield from stored.keep_note(workspace_id, session_id, from_record(SessionNote, note))
    # An import counts as activity, so that retention does not remove an old session at once (W72).
    yield statements.touch_workflow_session(workspace_id=workspace_id, session_id=session_id, now_ms=now_ms)
    return Imported(session_id, tuple(run_ids), renamed)


def _import_run(
    workspace_id: WorkspaceId,
    session_id: str,
    run_id: RunId,
    run: ExportedRun,
    digest: str,
    keys: tuple[bytes, ...],
    series: int,
    now_ms: int,
) -> Transaction[None]:
    record = StoredRun(
        run_id=run_id,
        session_id=session_id,
        workflow_id=run.workflow_id,
        workflow_hash=run.workflow_hash,
        name=run.name,
        nodes=1,
        series=series,
    )
    yield from stored.insert_run(workspace_id, record, run.created_ms)
    made = Run(
        workspace_id=workspace_id,
        run_id=run_id,
        tenant_id=None,
        operator=OPERATOR,
        tool="session_import",
        inputs={"workflowId": run.workflow_id, "sessionId": session_id},
        outputs={"workflowHash": run.workflow_hash, "bundle": digest},
        status=COMPLETE if any(node.snapshot.get("at") is None for node in run.nodes) else RUNNING,
        parent_run_id=None,
        created_ms=run.created_ms,
    )
    yield from actions.insert_run(made)
    yield from search.index(made, name=run.name)
    head = journal.new_head(workspace_id, run_id)
    numbers: dict[int, int] = {}
    for event in run.events:
        head = yield from stored.log(head, event.kind, _name_session(event, session_id), event.at_ms)
        numbers[event.seq] = head.seq
    yield from stored.log(head, "session_imported", {"bundle": digest, "from": run.run_id}, now_ms)
    transitions = _list_first_transitions(run, keys, record)
    for node in run.nodes:
        yield from stored.insert_node(
            head,
            _new_node(node, _snapshot(node)),
            transition=transitions.get(node.node),
            event_seq=numbers[node.event_seq],
            now_ms=node.created_ms,
        )
    for each in run.checkpoints:
        yield from_record(
            statements.insert_workflow_checkpoint,
            each,
            workspace_id=workspace_id,
            run_id=run_id,
            event_seq=numbers[each.event_seq],
        )
    yield statements.touch_workflow_run(workspace_id=workspace_id, run_id=run_id, now_ms=run.updated_ms)
    for given in run.answers:
        kept = _mint(given, keys, record)
        yield from stored.keep_answer(workspace_id, run_id, given.node, given.edge, kept, given.created_ms)


def _list_first_transitions(
    run: ExportedRun, keys: tuple[bytes, ...], record: StoredRun
) -> dict[int, stored.FirstTransition]:
    """Return the first transitions without a stored answer, by child, with new tokens."""
    lineage = fold_lineage(run)
    first = _first(lineage) - _answers_kept(run).keys()
    complete = {node.node for node in run.nodes if _snapshot(node).is_complete}
    transitions = {}
    for (parent, edge), child in _steps_taken(lineage).items():
        if (parent, edge) in first:
            at = TokenClaims("st", record.run_id, child, record.series)
            tokens = mint_tokens(keys, at, None if child in complete else 0)
            transitions[child] = stored.FirstTransition(edge, child, tokens)
    return transitions


def _name_session(event: ExportedEvent, session_id: str) -> dict[str, Any]:
    if event.kind != "workflow_started":
        return event.body
    return {**event.body, "sessionId": session_id}


def _mint(given: ExportedAnswer, keys: tuple[bytes, ...], run: StoredRun) -> stored.KeptAnswer:
    """Replace the tokens of a stored answer with tokens of this server."""
    at = TokenClaims("st", run.run_id, given.at, run.series)
    minted = mint_tokens(keys, at, given.attempt if given.answer["ackToken"] else None)
    state, ack = minted.state_token, minted.ack_token
    own: dict[str, Any] = {
        "stateToken": state,
        "ackToken": ack,
        "session": {"sessionId": run.session_id, "runId": run.run_id},
    }

    def token(match: re.Match[str]) -> str:
        return mint(keys, TokenClaims("st", run.run_id, int(match[1]), run.series))

    kept = _BRANCH_MARK.sub(token, json.dumps(given.answer))
    try:
        answer = msgspec.convert({**json.loads(kept), **own}, WorkflowAnswer)
    except msgspec.ValidationError as error:
        raise BundleRefused(f"An answer in this bundle cannot be read: {error}.") from error
    text = _BRANCH_MARK.sub(token, given.text).replace(_STATE_MARK, state).replace(_ACK_MARK, ack or "")
    return stored.KeptAnswer(given.child, msgspec.json.encode(answer).decode(), text)
