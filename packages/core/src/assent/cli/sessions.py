"""`assent session`: list, export and import sessions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.cli.keys import OfWorkspace
from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import use_workspace
from assent.engine.core.tenancy import Workspace
from assent.engine.workflows import bundles
from assent.engine.workflows.bundles import Imported
from assent.engine.workflows.store import Tampered
from assent.kernel.times import iso_time
from assent.ports import Rows, Single
from assent.sql.loader import statements
from assent.workflow import bundle as bundle_files
from assent.workflow import text
from assent.workflow.bundle import Bundle, BundleRefused

if TYPE_CHECKING:
    from assent.app import App

MOST_SESSIONS = 1_000


def list_sessions(session: CommandSession, workspace: OfWorkspace = None) -> None:
    """List the sessions of a workspace, freshest first."""

    async def run(app: App, found: Workspace) -> Rows:
        return await app.store.read(
            Single(statements.list_workflow_sessions(workspace_id=found.workspace_id, most=MOST_SESSIONS))
        )

    rows = [
        {"sessionId": row["session_id"], "runs": row["runs"], "updatedAt": iso_time(row["updated_ms"])}
        for row in use_workspace(session, workspace, run)
    ]
    lines = [(str(row["sessionId"]), str(row["runs"]), str(row["updatedAt"])) for row in rows]
    session.give({"sessions": rows}, session.table(("SESSION", "RUNS", "UPDATED"), lines))


def export(
    session: CommandSession,
    session_id: Annotated[str, typer.Argument(metavar="SESSION", help="From `assent session list`.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to (standard output). A name in .md gets Markdown."
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write Markdown for people instead of a bundle.")
    ] = False,
    workspace: OfWorkspace = None,
) -> None:
    """Write a session as one file that `assent session import` reads, or as Markdown."""

    async def run(app: App, found: Workspace) -> Bundle | None:
        now_ms = app.clock.now_ms()
        return await app.store.read(lambda: bundles.export(found.workspace_id, session_id, now_ms))

    try:
        made = use_workspace(session, workspace, run)
    except Tampered as tampered:
        raise Failure(
            f"Session {session_id} was changed outside the server: {tampered}.\n"
            f"Nothing was written. See what else was: {session.again('audit', 'verify')}"
        ) from None
    except (BundleRefused, ValueError) as error:
        raise Failure(
            f"Session {session_id} cannot be read: {error}\nNothing was written. "
            f"See why: {session.again('audit', 'verify')}"
        ) from None
    if made is None:
        raise Failure(
            f"There is no session {session_id!r}.\nSee the ones there are: {session.again('session', 'list')}"
        )
    if markdown or (output is not None and output.suffix.lower() in (".md", ".markdown")):
        raw = text.write_markdown(made, bundles.fold_lineage, iso_time).encode()
    else:
        raw = bundle_files.write(made)
    if output is None:
        sys.stdout.write(raw.decode())
        return
    try:
        output.write_bytes(raw)
    except OSError as error:
        raise Failure(f"{output} cannot be written: {error.strerror}.\nName another file with -o.") from None
    session.say(f"Session {session_id} is in {output}.")


def import_file(
    session: CommandSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A bundle of `assent session export`.")],
    workspace: OfWorkspace = None,
) -> None:
    """Import a session. If it exists already, it is imported as a new one."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise Failure(
            f"{file} cannot be read: {error.strerror}.\nName a bundle of `assent session export`."
        ) from None

    async def run(app: App, found: Workspace) -> Imported:
        now_ms = app.clock.now_ms()
        return await app.store.write(
            lambda: bundles.import_session(
                found.workspace_id,
                made,
                bundle_files.digest_of(raw),
                app.keys.workflow_tokens,
                app.services.new_id,
                now_ms,
            )
        )

    try:
        made = bundle_files.read(raw)
        done = use_workspace(session, workspace, run)
    except BundleRefused as refused:
        raise Failure(
            f"{file} was not imported. {refused}\nName a bundle of `assent session export`."
        ) from None
    data: dict[str, Any] = {"sessionId": done.session_id, "runs": list(done.runs), "renamed": done.renamed}
    session.give(data, f"Imported as session {done.session_id}: {len(done.runs)} run(s).")
