"""Commands that start, prepare, back up and restore a server, and those that an agent's program starts."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from assent.cli.session import BaseUrl, CommandSession, Failure, Host, Operators, Port, TlsCert, TlsKey
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.policy import RELAY
from assent.settings.client_config import claude_code_stdio
from assent.settings.load import Settings, hide_password
from assent.settings.secret_files import find_secrets


def init(session: CommandSession) -> None:
    """Make the data directory, its secrets, the database and the default workspace.

    Changes nothing where they exist. `serve` and `stdio` do the same at their first start.
    """
    from assent.app import open_app

    settings = session.settings

    async def prepare() -> None:
        async with open_app(settings):
            pass

    asyncio.run(prepare())
    steps = (session.again("serve"), claude_code_stdio(settings), session.again("doctor"))
    database = hide_password(settings.database_url)
    session.give(
        {
            "dataDir": str(settings.data_dir),
            "database": database,
            "workspaceId": LOCAL_WORKSPACE,
            "next": steps,
        },
        f"Ready: {database}, with the default workspace {LOCAL_WORKSPACE}.\n\nNext:\n"
        f"  Serve it:              {steps[0]}\n"
        f"  Add it to Claude Code: {steps[1]}\n"
        f"  Check it:              {steps[2]}",
    )


def serve(
    session: CommandSession,
    host: Host = None,
    port: Port = None,
    base_url: BaseUrl = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    operators: Operators = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", metavar="LEVEL", help="debug, info, warning or error.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option("--log-format", metavar="FORMAT", help="auto, json or text.")
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open your sign-in link in a browser.")
    ] = False,
) -> int:
    """Serve MCP, REST and the pages over HTTP, or HTTPS with a certificate, until stopped.

    On a terminal it shows a link by which you sign in, and opens it in your browser if you are not
    signed in yet.
    """
    from assent.processes import serve as processes

    session.add_flags(host=host, port=port, base_url=base_url, log_level=log_level, log_format=log_format)
    session.add_flags(operators=operators or None, open_browser=False if no_open else None)
    session.add_flags(tls_cert=tls_cert, tls_key=tls_key)
    loaded = session.loaded
    if chosen := ask_policy(loaded.settings):
        loaded = msgspec.structs.replace(
            loaded, settings=msgspec.structs.replace(loaded.settings, policy=chosen)
        )
    return processes.serve(loaded)


def stdio(session: CommandSession, operators: Operators = None) -> int:
    """Serve MCP on standard input and output, for a client that starts this command.

    Uses the key in ASSENT_API_KEY, or the local default workspace where none is set.
    """
    from assent.processes import stdio as stdio_process

    session.add_flags(operators=operators or None)
    return stdio_process.stdio(session.loaded)


def migrate(
    session: CommandSession,
    operators: Operators = None,
    distribute: Annotated[
        bool, typer.Option("--distribute", help="Spread the tables over the servers of a Citus database.")
    ] = False,
    shards: Annotated[
        int, typer.Option("--shards", metavar="N", min=1, help="Shards of each table, with --distribute.")
    ] = 32,
) -> int:
    """Bring the database up to date with this release and the loaded operators. A SQLite file is
    backed up first. Exits with 1 where an operator could not be loaded or its tables not be migrated."""
    from assent.app import list_components, load_operators
    from assent.stores.migrate import migrate as bring_up_to_date

    session.add_flags(operators=operators or None)
    operators_found = load_operators(session.settings)
    components = list_components(session.settings, operators_found)
    now_ms = time.time_ns() // 1_000_000
    report = asyncio.run(
        bring_up_to_date(session.settings.database_url, now_ms, components, shards if distribute else None)
    )
    if not report.applied:
        text = f"Up to date: schema version {report.to_version}."
    elif report.from_version == report.to_version:
        text = f"Applied {', '.join(report.applied)}."
    else:
        text = f"Migrated from schema version {report.from_version} to {report.to_version}."
    if report.placed:
        text += f" Spread {len(report.placed)} tables over the servers."
    failures = (
        *report.failures,
        *(f"{each.source} is left out: {each.why}" for each in operators_found.failures),
    )
    text = "\n".join([text, *failures])
    if report.backup_path is not None:
        text += f"\nThe database as it was: {report.backup_path}"
    session.give(
        {
            "fromVersion": report.from_version,
            "toVersion": report.to_version,
            "applied": report.applied,
            "backupPath": report.backup_path,
            **({"failures": failures} if failures else {}),
        },
        text,
    )
    return 1 if failures else 0


def backup(
    session: CommandSession,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
) -> None:
    """Write a backup of the database to a new file, while servers run. The secrets of the data
    directory are not in it."""
    from assent.processes import restoring
    from assent.stores.backup_files import BackupError

    try:
        asyncio.run(restoring.back_up(session.settings, file.absolute()))
    except BackupError as error:
        raise Failure(str(error)) from error
    size = file.stat().st_size
    session.give(
        {"path": str(file), "bytes": size},
        f"Wrote and verified {file} ({size / 1_000_000:.1f} MB).\n"
        "The secrets are not in it, and it cannot be used without them. Keep them elsewhere: "
        f"{', '.join(find_secrets(session.settings))}.",
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
    from assent.stores.backup_files import BackupError

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
    then = ", then answer what has an unknown outcome" if report.unknown else ""
    lines.append(f"Start the server{then}: {session.again('serve')}")
    session.give({"restored": report, "replaced": replaced}, "\n".join(lines))


# The question of a first start at a terminal: who may approve.

CHOICES: Final = {"1": RELAY, "2": "people"}
QUESTION: Final = """Who may approve what your agents prepare?

  1  Your agent may pass on your yes. For low and medium risk you say yes in the chat, and the agent
     tells the server. The server cannot see that it was you. High risk needs you, signed in.
  2  Only you, signed in. You decide everything on a page in your browser. No agent can approve.

You can change this later, at Settings > Policy or with `assent policy set`."""


def ask_policy(settings: Settings) -> str | None:
    """Ask for the preset of a new server. Returns None if the server has data, the settings name a
    preset, or no person is at a terminal."""
    path = settings.sqlite_path
    if path is None or path.exists() or settings.policy is not None:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(f"{QUESTION}\n")
    while True:
        sys.stderr.write("Choose 1 or 2 [1]: ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer:
            return None
        chosen = CHOICES.get(answer.strip() or "1")
        if chosen is not None:
            sys.stderr.write("\n")
            return chosen
