"""People's notes on a session. Written by signed-in people, never by a tool."""

from __future__ import annotations

from assent.engine.core import journal
from assent.engine.workflows import store as stored
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import WireRecord, from_row
from assent.ports import Transaction
from assent.sql.loader import statements
from assent.workflow import check_notes


class SessionNote(WireRecord):
    note_id: str
    author: str
    notes: str
    created_ms: int


def add(workspace_id: WorkspaceId, session_id: str, note: SessionNote) -> Transaction[None]:
    """Store a note on an existing session."""
    check_notes(note.notes)
    found = yield statements.find_workflow_session(workspace_id=workspace_id, session_id=session_id)
    if not found or not note.notes.strip():
        path, wanted = ("notes", "some text") if found else ("sessionId", "a session of this workspace")
        raise bad_argument(path, wanted, "nothing")
    yield from keep(workspace_id, session_id, note)
    yield statements.touch_workflow_session(
        workspace_id=workspace_id, session_id=session_id, now_ms=note.created_ms
    )


def keep(workspace_id: WorkspaceId, session_id: str, note: SessionNote) -> Transaction[None]:
    """Store a note with its own time, and its event. An import uses this too."""
    event = journal.NewEvent(
        "session_noted",
        {
            "sessionId": session_id,
            "noteId": note.note_id,
            "by": note.author,
            "digest": stored.notes_digest(note.notes),
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
