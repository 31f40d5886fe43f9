"""The floor under the gate: the four transactions of stage, approve, claim and record, written by hand on `sqlite3`.

The same tables and indexes, WAL and FULL, a log of the same length, and texts of the same length: they are those that a
real loop left behind. One thread, one prepared transaction after the other; it judges nothing, chains nothing and
answers nobody.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from assent.stores.sqlite_connection import CHECKPOINT_PAGES

RUN: Final = (
    "INSERT INTO runs VALUES (?1, ?2, NULL, 'testing', 'testing_stage', ?3, ?4, 'prepared', NULL, ?5, 0)"
)
ASSET: Final = "INSERT INTO assets VALUES (?1, ?2, ?3, NULL, 'site_post', ?4, ?5, 'site', '{}', ?6)"
ACTION: Final = (
    "INSERT INTO actions (workspace_id, action_id, run_id, asset_id, position, version, effect, digest, revision,"
    " executor_tool, status, execution_state, preflight, risk, created_ms, expires_ms, metadata, view, proposed_by)"
    " VALUES (?1, ?2, ?3, ?4, 0, 1, ?5, ?6, 1, 'chieflab_publish_approved_post', 'awaiting_approval', 'none', ?7, ?8,"
    " ?9, ?10, ?11, ?12, ?13)"
)
EVENT: Final = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
APPROVE: Final = (
    "UPDATE actions SET version = 2, status = 'approved', approval = ?3"
    " WHERE workspace_id = ?1 AND action_id = ?2 AND status = 'awaiting_approval'"
)
CLAIM: Final = (
    "UPDATE actions SET version = 3, execution_state = 'executing', attempt = ?3"
    " WHERE workspace_id = ?1 AND action_id = ?2 AND status = 'approved' AND execution_state = 'none'"
)
JOB: Final = (
    "INSERT INTO jobs (workspace_id, job_id, kind, key, payload, due_ms, state, attempts, fence, created_ms)"
    " VALUES (?1, ?2, 'reconcile_action', ?2, ?3, ?4, 'waiting', 0, 0, ?5)"
)
RECORD: Final = (
    "UPDATE actions SET version = 4, status = 'executed', execution_state = 'done', executed_ms = ?3, external_id = ?4,"
    " external_url = ?5 WHERE workspace_id = ?1 AND action_id = ?2 AND execution_state = 'executing'"
)

Statement = tuple[str, tuple[Any, ...]]
Loop = tuple[tuple[Statement, ...], ...]
"""The statements of four transactions, with their values."""


class Floor:
    """Writes loops like the one that a server left in `pattern`, into a file of its own."""

    def __init__(self, path: Path, pattern: Path) -> None:
        self.path = path
        self._made = 0
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        with closing(sqlite3.connect(pattern)) as left:
            left.row_factory = sqlite3.Row
            self._action = left.execute("SELECT * FROM actions WHERE status = 'executed'").fetchone()
            run = (self._action["run_id"],)
            self._run = left.execute("SELECT * FROM runs WHERE run_id = ?", run).fetchone()
            self._asset = left.execute("SELECT * FROM assets WHERE run_id = ?", run).fetchone()
            self._events = left.execute(
                "SELECT * FROM events WHERE stream_id = ? ORDER BY seq", run
            ).fetchall()

    def close(self) -> None:
        self._connection.close()

    def prepared(self, loops: int) -> list[Loop]:
        """So many loops with fresh ids, made before the clock runs."""
        self._made += loops
        return [self._loop(number) for number in range(self._made - loops, self._made)]

    def run(self, loops: list[Loop]) -> None:
        execute = self._connection.execute
        for loop in loops:
            for transaction in loop:
                execute("BEGIN IMMEDIATE")
                for sql, values in transaction:
                    execute(sql, values)
                execute("COMMIT")

    def _loop(self, number: int) -> Loop:
        action, run, asset = self._action, self._run, self._asset
        workspace_id, now_ms = action["workspace_id"], action["created_ms"]
        run_id, asset_id, action_id, attempt_id = (
            f"{action['action_id'][:20]}{kind:04x}{number:012x}" for kind in range(4)
        )
        events = [
            (EVENT, (workspace_id, run_id, seq, event["kind"], now_ms, event["body"], event["hash"]))
            for seq, event in enumerate(self._events, start=1)
        ]
        of_action = (workspace_id, action_id)
        payload = f'{{"actionId":"{action_id}","attemptId":"{attempt_id}"}}'
        return (
            (
                (RUN, (workspace_id, run_id, run["inputs"], run["outputs"], now_ms)),
                (ASSET, (workspace_id, asset_id, run_id, asset["title"], asset["body"], now_ms)),
                (
                    ACTION,
                    (
                        *of_action,
                        run_id,
                        asset_id,
                        *(action[name] for name in ("effect", "digest", "preflight", "risk", "created_ms")),
                        *(action[name] for name in ("expires_ms", "metadata", "view", "proposed_by")),
                    ),
                ),
                events[0],
            ),
            ((APPROVE, (*of_action, action["approval"])), events[1]),
            (
                (CLAIM, (*of_action, action["attempt"])),
                events[2],
                (JOB, (workspace_id, attempt_id, payload, now_ms + 60_000, now_ms)),
            ),
            ((RECORD, (*of_action, now_ms, action["external_id"], action["external_url"])), events[3]),
        )
