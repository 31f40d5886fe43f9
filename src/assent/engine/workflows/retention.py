"""Retention of sessions (W72).

A session is deleted as a whole when none of its runs was changed within the configured time and
none of its actions waits for a person. A program is deleted when no run is pinned to it. The
journal and the actions stay.
"""

from __future__ import annotations

from typing import Final

from assent.engine.core import journal
from assent.ports import Transaction
from assent.sql.loader import statements

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
