"""`assent backup` and `assent restore`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command
from assent.settings.secret_files import HOMES


def register(app: typer.Typer) -> None:
    command(app, "backup")(backup)
    command(app, "restore")(restore)


def backup(
    session: CommandSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
) -> None:
    """Write a backup of the database to a new file, while servers run. The secrets of the data
    directory are not in it."""
    from assent.processes import restoring
    from assent.stores.backups import BackupError

    try:
        asyncio.run(restoring.back_up(session.settings, file.absolute()))
    except BackupError as error:
        raise Failure(str(error)) from error
    size = file.stat().st_size
    kept = ", ".join(str(session.settings.data_dir / home.file_name) for home in HOMES)
    session.give(
        {"path": str(file), "bytes": size},
        f"Wrote and verified {file} ({size / 1_000_000:.1f} MB).\n"
        f"The secrets are not in it, and it cannot be used without them. Keep them elsewhere: {kept}, or the "
        "variables that hold them.",
    )


def restore(
    session: CommandSession,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A file of `assent backup`.")] = None,
    as_it_is: Annotated[
        bool, typer.Option("--as-it-is", help="Use the database that is there, although it lacks writes.")
    ] = False,
) -> None:
    """Put a backup in the place of the database, which is kept under another name. Nothing that may
    have been sent after the backup is sent again."""
    from assent.processes import restoring
    from assent.stores.backups import BackupError

    if (file is None) != as_it_is:
        raise Failure(
            "Name the backup to restore, or use --as-it-is for a database that was put back already.\n"
            f"For example: {session.again('restore', 'FILE')}"
        )
    try:
        if file is None:
            report, replaced = asyncio.run(restoring.accept(session.settings)), None
        else:
            done = asyncio.run(restoring.restore(session.settings, file.absolute()))
            report, replaced = done.report, done.replaced
    except BackupError as error:
        raise Failure(str(error)) from error
    if report is None:
        session.give(
            {"restored": None}, "The database lacks nothing that this server knows of. Nothing was changed."
        )
        return
    lines = [report.describe()]
    if replaced is not None:
        lines.append(f"The replaced database is kept as {replaced}. Remove it when you no longer need it.")
    lines.append(f"Start the server, then answer what has an unknown outcome: {session.again('serve')}")
    session.give({"restored": report, "replaced": replaced}, "\n".join(lines))
