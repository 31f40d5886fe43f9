"""Works off the queue of runs that the search does not find yet.

A search does so before it reads, so it finds what was staged a moment ago; a job does it every few minutes, so that no
search has much to do. A batch holds the lock of its workspace's words and reads the present content under it. An edit
and an erasure take that lock as well, so the last to store words has read the last content.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Final

from assent.engine.actions import actions, search
from assent.kernel.ids import RunId, WorkspaceId
from assent.kernel.limits import MINUTE_MS
from assent.ports import Single, Store, Transaction
from assent.sql.loader import statements

EVERY_MS: Final = 5 * MINUTE_MS
BATCH: Final = 50
"""Runs of one transaction, because other writers wait for it."""
MOST_BATCHES: Final = 200
"""Of one workspace in one search: as many runs as agents stage in five minutes at 33 a second. After more, a search
does not find the newest ones before the job was there."""


async def catch_up(
    store: Store, workspace_ids: Collection[str] | None = None, most: int = MOST_BATCHES
) -> None:
    """Index what was staged since the last time, in some workspaces or in all."""
    for row in await store.read(Single(statements.list_queued_workspaces())):
        workspace_id = WorkspaceId(row["workspace_id"])
        if workspace_ids is None or workspace_id in workspace_ids:
            for _ in range(most):
                if await store.write(partial(index_batch, workspace_id)) < BATCH:
                    break


def index_batch(workspace_id: WorkspaceId) -> Transaction[int]:
    """Index the oldest runs of the queue. Returns how many."""
    yield from search.lock(workspace_id)
    rows = yield statements.take_from_search_queue(workspace_id=workspace_id, most=BATCH)
    for run_id in sorted(RunId(row["run_id"]) for row in rows):  # the index returns the newest first
        run = yield from actions.find_run(workspace_id, run_id)
        if run is not None:
            yield from search.index(run, (yield from actions.run_actions(workspace_id, run_id)))
    return len(rows)
