"""Check the rows of workflow runs against the seals in their logs (W67).

`engine.audit.log` checks the chains of the journal; this module checks steps, notes, checkpoints
and the pinned program.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from assent.engine.workflows import bundles
from assent.engine.workflows import store as stored
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Row, Rows, Single, Store, Transaction
from assent.sql.loader import statements
from assent.workflow.bundle import BundleRefused

PAGE: Final = 200


class RunFlaw(Record):
    """A run whose rows were changed outside the server."""

    workspace_id: str
    run_id: str
    what: str


async def find_flaws(store: Store, workspace_id: str | None = None) -> AsyncIterator[RunFlaw]:
    """Yield every run whose rows differ from its log, of one workspace or of all (W67)."""
    after = ("", "")
    while rows := await store.read(_page(*after, workspace_id or "")):
        for row in rows:
            if (what := await store.read(lambda row=row: _flaw(row))) is not None:  # type: ignore[misc]
                yield RunFlaw(row["workspace_id"], row["run_id"], what)
        after = (rows[-1]["workspace_id"], rows[-1]["run_id"])


def _page(after_workspace: str, after_run: str, workspace_id: str) -> Single:
    return Single(
        statements.list_runs_after(
            after_workspace=after_workspace, after_run=after_run, workspace_id=workspace_id, most=PAGE
        )
    )


def _flaw(row: Row) -> Transaction[str | None]:
    of = WorkspaceId(row["workspace_id"])
    found: Rows = yield statements.find_workflow_run(workspace_id=of, run_id=row["run_id"])
    if not found:
        return None
    try:
        run = yield from bundles.export_run(of, found[0])
        program = yield from stored.read_program(of, run.workflow_hash)
    except stored.Tampered as tampered:
        return str(tampered)
    except (BundleRefused, ValueError, LookupError, TypeError, AttributeError, msgspec.MsgspecError):
        return "a step of the run cannot be read"
    return None if program.id == run.workflow_id else "the run bears the name of another workflow"
