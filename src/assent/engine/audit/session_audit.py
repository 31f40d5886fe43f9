"""Check the rows of workflow runs against the seals in their logs (W67).

`engine.audit.log` checks the chains of the journal; this module checks steps, notes, checkpoints
and the pinned program.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from assent.engine.audit.actions import explain, walk
from assent.engine.workflows import bundles
from assent.engine.workflows import store as stored
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Rows, Store, StoreUnavailable, Transaction
from assent.sql.loader import statements

PAGE: Final = 200


class RunFlaw(Record):
    """A run whose rows were changed outside the server."""

    workspace_id: str
    run_id: str
    what: str


async def find_flaws(store: Store, workspace_id: str | None = None) -> AsyncIterator[RunFlaw]:
    """Yield every run whose rows differ from its log, of one workspace or of all (W67)."""
    async for of, run_id in walk(store, partial(_list_runs, workspace_id or "")):
        try:
            what = await store.read(partial(_find_flaw, WorkspaceId(of), run_id))
        except StoreUnavailable:
            raise
        except stored.Tampered as tampered:
            what = str(tampered)
        except Exception as error:
            what = f"a step of the run cannot be decoded: {explain(error)}"
        if what is not None:
            yield RunFlaw(of, run_id, what)


def _list_runs(workspace_id: str, after_workspace: str, after_run: str, skip: int) -> Transaction[Rows]:
    return (
        yield statements.list_runs_after(
            after_workspace=after_workspace,
            after_run=after_run,
            workspace_id=workspace_id,
            skip=skip,
            most=PAGE,
        )
    )


def _find_flaw(workspace_id: WorkspaceId, run_id: str) -> Transaction[str | None]:
    """Compare a run with its log in one snapshot. Raises what its rows cause."""
    found = yield statements.find_workflow_run(workspace_id=workspace_id, run_id=run_id)
    if not found:
        return None
    run = yield from bundles.export_run(workspace_id, found[0])
    program = yield from stored.read_program(workspace_id, run.workflow_hash)
    return None if program.id == run.workflow_id else "the run bears the name of another workflow"
