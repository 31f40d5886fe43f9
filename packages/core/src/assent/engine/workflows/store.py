"""Workflow runs in the store: programs, nodes, answers, checkpoints, confirmations, people's notes.

A run is a tree of nodes. An advance reads one node and writes one, so it costs the same at step
1,000 as at step 1 (W74). The log of a run is its stream in the journal, whose lock serialises
changes of the run.

A session is deleted as a whole when none of its runs was changed within the configured time and none of its actions
waits for a person (W72). A program is deleted when no run is pinned to it. The journal and the actions stay.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from assent.engine.core import journal
from assent.engine.core.journal import Head
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import Record, WireRecord, from_row
from assent.ports import Row, Transaction
from assent.sql.loader import statements
from assent.workflow import check_notes
from assent.workflow.machine.state import Snapshot
from assent.workflow.machine.state import decode as decode_snapshot
from assent.workflow.machine.state import encode as encode_snapshot
from assent.workflow.program import Program
from assent.workflow.program import decode as decode_program
from assent.workflow.program import encode as encode_program
from assent.workflow.program import workflow_hash as digest_of
from assent.workflow.tokens import TokenClaims, Tokens

OPERATOR: Final = "workflow"
RUNNING: Final = "running"
COMPLETE: Final = "complete"
"""Status of a run with at least one complete branch; other branches may go on (W28)."""


class StoredRun(Record, kw_only=True):
    run_id: RunId
    session_id: str
    workflow_id: str
    workflow_hash: str
    name: str
    nodes: int
    series: int = 0
    """Token series. Imported runs get a new series, so old tokens stop matching (W71)."""
    created_ms: int = 0
    updated_ms: int = 0


class NodeRecord(Record, kw_only=True):
    """A stored node with its run and the program that the run is pinned to."""

    run: StoredRun
    program: Program
    node: int
    snapshot: Snapshot
    children: int
    stored: str
    """The snapshot's text as read."""
    head: Head | None
    """The head of the run's log when the node was read."""


class NewNode(Record, kw_only=True):
    """A node to store: completed step, content, and the snapshot after it, as JSON texts."""

    node: int
    parent: int | None
    step_key: str
    title: str
    notes: str
    artifacts: str
    snapshot: str
    is_complete: bool


def seal(new: NewNode) -> str:
    """Digest of a node's content. The log holds it, so that verification finds an altered node
    (W67). The count of blocked attempts in the snapshot must be 0: it changes in place."""
    parts = (new.parent, new.step_key, new.title, new.notes, new.artifacts, new.snapshot)
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def artifacts_text(artifacts: Sequence[dict[str, Any]]) -> str:
    """Encode artifacts with sorted keys."""
    return msgspec.json.encode(artifacts, order="deterministic").decode()


def notes_digest(notes: str) -> str:
    """The identity of a checkpoint."""
    return hashlib.sha256(notes.encode()).hexdigest()


class KeptAnswer(Record):
    """A stored answer that cannot be computed again."""

    child: int | None
    answer: str
    text: str


class FirstTransition(Record):
    """The first transition from a node: the edge, the child, and the issued tokens, which another
    key would not reproduce (W10). The rest of that answer is computed from the child (W11)."""

    edge: str
    child: int
    tokens: Tokens


class Tampered(Exception):  # noqa: N818 - a state of the store
    """Stored data was altered outside the server (W67)."""


def read_program(workspace_id: WorkspaceId, workflow_hash: str) -> Transaction[Program]:
    """Read a pinned program. Raises `Tampered` if it is missing or does not match its hash."""
    rows = yield statements.find_program(workspace_id=workspace_id, workflow_hash=workflow_hash)
    if not rows:
        raise Tampered(f"the program {workflow_hash} that runs are pinned to is gone")
    try:
        program = decode_program(rows[0]["program"].encode())
    except msgspec.DecodeError as error:
        raise Tampered(f"the stored program {workflow_hash} cannot be read") from error
    if digest_of(program) != workflow_hash:
        raise Tampered(f"the stored program {workflow_hash} is not what was pinned")
    return program


_programs: dict[str, Program] = {}
_KEPT_PROGRAMS = 64
_keeping = threading.Lock()
"""Guards both caches: transactions run on several threads."""


def load_program(workspace_id: WorkspaceId, workflow_hash: str) -> Transaction[Program]:
    """Return a pinned program; needs no file (W17, W56). Cached by hash (W7)."""
    if (known := _programs.get(workflow_hash)) is not None:
        return known
    program = yield from read_program(workspace_id, workflow_hash)
    with _keeping:
        if len(_programs) >= _KEPT_PROGRAMS:
            _programs.pop(next(iter(_programs)))
        _programs[workflow_hash] = program
    return program


_texts: dict[str, str] = {}


def _encode_once(workflow_hash: str, program: Program) -> str:
    """Return the stored text of a program, cached by hash."""
    if (known := _texts.get(workflow_hash)) is None:
        known = encode_program(program).decode()
        with _keeping:
            if len(_texts) >= _KEPT_PROGRAMS:
                _texts.pop(next(iter(_texts)))
            _texts[workflow_hash] = known
    return known


def pin(workspace_id: WorkspaceId, workflow_hash: str, program: Program, now_ms: int) -> Transaction[None]:
    """Store a program under its hash unless it exists."""
    yield statements.pin_program(
        workspace_id=workspace_id,
        workflow_hash=workflow_hash,
        workflow_id=program.id,
        program=_encode_once(workflow_hash, program),
        created_ms=now_ms,
    )


def find_pin(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[tuple[str, str] | None]:
    """Return the workflow id and the pinned hash of a run. Neither ever changes."""
    rows = yield statements.find_workflow_run(workspace_id=workspace_id, run_id=run_id)
    return (rows[0]["workflow_id"], rows[0]["workflow_hash"]) if rows else None


def insert_run(workspace_id: WorkspaceId, run: StoredRun, now_ms: int) -> Transaction[None]:
    yield statements.touch_workflow_session(
        workspace_id=workspace_id, session_id=run.session_id, now_ms=now_ms
    )
    yield statements.insert_workflow_run(
        workspace_id=workspace_id,
        run_id=run.run_id,
        session_id=run.session_id,
        workflow_id=run.workflow_id,
        workflow_hash=run.workflow_hash,
        name=run.name,
        series=run.series,
        now_ms=now_ms,
    )


def grow(
    head: Head,
    kind: str,
    body: dict[str, Any],
    new: NewNode,
    now_ms: int,
    transition: FirstTransition | None = None,
) -> Transaction[None]:
    """Insert a node of a locked run as `insert_node` does, and append its event, with its seal."""
    event = journal.NewEvent(kind, body | {"seal": seal(new)})
    yield from insert_node(head, new, transition=transition, event_seq=head.seq + 1, now_ms=now_ms)
    yield from journal.append_to(head, [event], now_ms)


def insert_node(
    head: Head, new: NewNode, *, transition: FirstTransition | None, event_seq: int, now_ms: int
) -> Transaction[None]:
    """Insert a node. `transition` links it as first child if no whole answer must be stored."""
    run = {"workspace_id": head.workspace_id, "run_id": head.stream_id}
    yield statements.insert_workflow_node(
        **run,
        node=new.node,
        parent=new.parent,
        step_key=new.step_key,
        title=new.title,
        notes=new.notes,
        artifacts=new.artifacts,
        snapshot=new.snapshot,
        is_complete=1 if new.is_complete else 0,
        event_seq=event_seq,
        created_ms=now_ms,
    )
    if new.parent is None:
        return
    if transition is None:
        yield statements.count_workflow_child(**run, node=new.parent)
    else:
        given = {"state": transition.tokens.state_token, "ack": transition.tokens.ack_token}
        yield statements.take_first_way(
            **run, node=new.parent, edge=transition.edge, child=transition.child, **given
        )
    yield statements.grow_workflow_run(**run, now_ms=now_ms)


def find_place(workspace_id: WorkspaceId, state: TokenClaims) -> Transaction[NodeRecord | None]:
    """Return the node of a token; None if there is none or its series differs (W8, W71)."""
    found = yield from find_node(workspace_id, state.run_id, state.node)
    return found if found is not None and found.run.series == state.series else None


def find_node(workspace_id: WorkspaceId, run_id: RunId, node: int) -> Transaction[NodeRecord | None]:
    rows = yield statements.find_workflow_node(workspace_id=workspace_id, run_id=run_id, node=node)
    if not rows:
        return None
    program = yield from load_program(workspace_id, rows[0]["workflow_hash"])
    return _node(workspace_id, rows[0], program)


def find_step(
    workspace_id: WorkspaceId, state: TokenClaims, edge: str
) -> Transaction[NodeRecord | FirstTransition | KeptAnswer | None]:
    """Return the node of a token, or the earlier answer to the same edge, or None."""
    rows = yield statements.find_workflow_node(
        workspace_id=workspace_id, run_id=state.run_id, node=state.node
    )
    if not rows or rows[0]["series"] != state.series:
        return None
    row = rows[0]
    program = yield from load_program(workspace_id, row["workflow_hash"])
    found = _node(workspace_id, row, program)
    if row["next_edge"] != edge and not (found.children or found.snapshot.blocked):
        return found  # no answer was given here yet
    return (yield from _find_answer(workspace_id, found, row, edge)) or found


def _find_answer(
    workspace_id: WorkspaceId, node: NodeRecord, row: Row, edge: str
) -> Transaction[FirstTransition | KeptAnswer | None]:
    if row["next_edge"] == edge:
        return FirstTransition(edge, row["next_node"], Tokens(row["next_state"], row["next_ack"]))
    kept = yield statements.find_workflow_answer(
        workspace_id=workspace_id, run_id=node.run.run_id, node=node.node, edge=edge
    )
    return KeptAnswer(kept[0]["child"], kept[0]["answer"], kept[0]["text"]) if kept else None


def reread_node(
    workspace_id: WorkspaceId, seen: NodeRecord, edge: str
) -> Transaction[NodeRecord | FirstTransition | KeptAnswer | None]:
    """Read the node again under the run's lock. Returns like `find_step`."""
    rows = yield statements.find_workflow_changes(
        workspace_id=workspace_id,
        run_id=seen.run.run_id,
        node=seen.node,
        nodes=seen.run.nodes,
        children=seen.children,
        snapshot=seen.stored,
    )
    if not rows:
        return seen
    row = rows[0]
    if row["node"] is None:
        return None
    now = msgspec.structs.replace(
        seen,
        run=msgspec.structs.replace(seen.run, nodes=row["nodes"]),
        children=row["children"],
        snapshot=decode_snapshot(row["snapshot"]),
        stored=row["snapshot"],
    )
    return (yield from _find_answer(workspace_id, now, row, edge)) or now


def _node(workspace_id: WorkspaceId, row: Row, program: Program) -> NodeRecord:
    ended = row["seq"] is not None
    return NodeRecord(
        run=read_run(row),
        program=program,
        node=row["node"],
        snapshot=decode_snapshot(row["snapshot"]),
        children=row["children"],
        stored=row["snapshot"],
        head=Head(workspace_id, row["run_id"], row["seq"], row["hash"], row["updated_at"]) if ended else None,
    )


def lock_place(
    workspace_id: WorkspaceId, state: TokenClaims, now_ms: int
) -> Transaction[tuple[Head, NodeRecord] | None]:
    """Lock the run of a state token. Return the head of its event stream and the token's node, or
    None if there is no such run or node (W8)."""
    rows = yield statements.find_workflow_run(workspace_id=workspace_id, run_id=state.run_id)
    if not rows:
        return None
    head = yield from journal.lock_head(workspace_id, state.run_id, now_ms)
    found = yield from find_place(workspace_id, state)
    return (head, found) if found is not None else None


def store_snapshot(
    workspace_id: WorkspaceId, run_id: RunId, node: int, snapshot: Snapshot
) -> Transaction[None]:
    yield statements.store_workflow_snapshot(
        workspace_id=workspace_id, run_id=run_id, node=node, snapshot=encode_snapshot(snapshot)
    )


def touch_run(workspace_id: WorkspaceId, run_id: RunId, now_ms: int) -> Transaction[None]:
    """Update the time of a run's last change, for a change without a new node (W72)."""
    yield statements.touch_workflow_run(workspace_id=workspace_id, run_id=run_id, now_ms=now_ms)


def keep_answer(
    workspace_id: WorkspaceId, run_id: RunId, node: int, edge: str, kept: KeptAnswer, now_ms: int
) -> Transaction[None]:
    yield statements.keep_workflow_answer(
        workspace_id=workspace_id,
        run_id=run_id,
        node=node,
        edge=edge,
        child=kept.child,
        answer=kept.answer,
        text=kept.text,
        created_ms=now_ms,
    )


def log(head: Head, kind: str, body: dict[str, Any], now_ms: int) -> Transaction[Head]:
    """Append one event to the log of a locked run."""
    return (yield from journal.append_to(head, [journal.NewEvent(kind, body)], now_ms))


def read_run(row: Row) -> StoredRun:
    return StoredRun(
        run_id=RunId(row["run_id"]),
        session_id=row["session_id"],
        workflow_id=row["workflow_id"],
        workflow_hash=row["workflow_hash"],
        name=row["name"],
        nodes=row["nodes"],
        series=row["series"],
    )


class SessionNote(WireRecord):
    note_id: str
    author: str
    notes: str
    created_ms: int


def add_note(workspace_id: WorkspaceId, session_id: str, note: SessionNote) -> Transaction[None]:
    """Store a note on an existing session."""
    check_notes(note.notes)
    found = yield statements.find_workflow_session(workspace_id=workspace_id, session_id=session_id)
    if not found or not note.notes.strip():
        path, wanted = ("notes", "some text") if found else ("sessionId", "a session of this workspace")
        raise bad_argument(path, wanted, "nothing")
    yield from keep_note(workspace_id, session_id, note)
    yield statements.touch_workflow_session(
        workspace_id=workspace_id, session_id=session_id, now_ms=note.created_ms
    )


def keep_note(workspace_id: WorkspaceId, session_id: str, note: SessionNote) -> Transaction[None]:
    """Store a note with its own time, and its event. An import uses this too."""
    event = journal.NewEvent(
        "session_noted",
        {
            "sessionId": session_id,
            "noteId": note.note_id,
            "by": note.author,
            "digest": notes_digest(note.notes),
        },
    )
    yield from journal.append(workspace_id, f"session:{session_id}", [event], note.created_ms)
    yield statements.insert_session_note(
        workspace_id=workspace_id,
        session_id=session_id,
        note_id=note.note_id,
        author=note.author,
        notes=note.notes,
        created_ms=note.created_ms,
    )


def list_notes(workspace_id: WorkspaceId, session_id: str) -> Transaction[tuple[SessionNote, ...]]:
    """List the notes of a session, oldest first."""
    rows = yield statements.list_session_notes(workspace_id=workspace_id, session_id=session_id)
    return tuple(from_row(SessionNote, row) for row in rows)


FORGET_JOB: Final = "forget_old_sessions"


def forget_old_sessions(before_ms: int, now_ms: int, most: int) -> Transaction[int]:
    """Delete up to `most` sessions unchanged since `before_ms` (W72). Returns how many it read."""
    rows = yield statements.list_stale_sessions(before_ms=before_ms, now_ms=now_ms, most=most)
    for row in rows:
        named = {"workspace_id": row["workspace_id"], "session_id": row["session_id"]}
        runs = yield statements.list_session_runs(**named)
        for run in runs:
            # An advance holds this lock too, so none can run in between.
            yield from journal.lock_head(row["workspace_id"], run["run_id"], now_ms)
        fresh = yield statements.list_session_runs(**named)
        if len(fresh) != len(runs) or any(run["updated_ms"] >= before_ms for run in fresh):
            continue
        session = yield statements.find_workflow_session(**named)
        if not session or session[0]["updated_ms"] >= before_ms:
            continue
        yield from _forget(**named)
        yield statements.forget_programs(workspace_id=row["workspace_id"], before_ms=before_ms)
    return len(rows)


def forget_session_of(workspace_id: str, name: str, now_ms: int, *, is_run: bool) -> Transaction[None]:
    """Delete the session of a run, or the named one, because it names a person who is erased."""
    session_id = name
    if is_run:
        found = yield statements.find_workflow_run(workspace_id=workspace_id, run_id=name)
        if not found:
            return
        session_id = found[0]["session_id"]
    for run in (yield statements.list_session_runs(workspace_id=workspace_id, session_id=session_id)):
        yield from journal.lock_head(workspace_id, run["run_id"], now_ms)
    yield from _forget(workspace_id, session_id)


def _forget(workspace_id: str, session_id: str) -> Transaction[None]:
    """Delete a session whose runs are locked."""
    named = {"workspace_id": workspace_id, "session_id": session_id}
    yield statements.forget_session_nodes(**named)
    yield statements.forget_session_answers(**named)
    yield statements.forget_session_checkpoints(**named)
    yield statements.forget_session_confirmations(**named)
    yield statements.forget_session_runs(**named)
    yield statements.forget_session_notes(**named)
    yield statements.forget_session(**named)
