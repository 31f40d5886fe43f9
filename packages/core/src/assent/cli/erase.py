"""`assent erase person`: take a person's data out of drafts, memory, contacts, answers and the journal.

It first shows where the person was found. The hashes of the journal stay, and `assent audit verify`
passes afterwards. What left this server cannot be erased from here; the command names it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from assent.cli.session import CommandSession, Failure, find_workspace
from assent.cli.workspaces import BY
from assent.kernel.structs import WireRecord
from assent.ports import StoreUnavailable

if TYPE_CHECKING:
    from assent.app import App
    from assent.engine.erasure.persons import ErasureReport, LeftRow, PersonEraser


class PersonErasure(WireRecord):
    """The result of `erase person`."""

    erased: bool
    found: dict[str, int]
    rejected: int
    left: tuple[LeftRow, ...]
    beyond_reach: tuple[str, ...]


def person(
    session: CommandSession,
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="Their e-mail address, or another name.", show_default=False),
    ],
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="NAME", help="Another name or id of them; may be repeated."),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace", "-w", metavar="ID-OR-NAME", help="Only in this workspace (the whole server)."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without asking.")] = False,
) -> int:
    """Erase what names a person. Shows first where it was found, and asks."""
    from assent.engine.erasure.matching import MIN_CHARS
    from assent.stores.backups import rewrite

    session.require_data()
    names = [each.strip() for each in (address, *(also or ()))]
    for name in names:
        if len(name) < MIN_CHARS:
            raise Failure(
                f"{name!r} is too short: it would be found in texts about other people. Give an e-mail address or a "
                "full name."
            )

    async def find(app: App) -> ErasureReport:
        return await (await _make_eraser(app, names, workspace)).find()

    async def erase(app: App) -> ErasureReport:
        return await (await _make_eraser(app, names, workspace)).erase()

    found = session.use_app(find)
    if not found.found:
        if yes:
            # An earlier request may have ended before the file was rewritten.
            asyncio.run(rewrite(session.settings.database_url))
        session.give(_report(session, found, erased=False), f"Nothing here names {' or '.join(names)}.")
        return 0
    session.say(_describe_found(found))
    if not yes:
        session.confirm("Erase this for good?", "Nothing was erased")
    done = session.use_app(erase)
    view = _report(session, done, erased=True)
    try:
        asyncio.run(rewrite(session.settings.database_url))
    except StoreUnavailable as error:
        unwritten = f"Free space of the file: {error}. Stop the server and run this command again with --yes."
        view = msgspec.structs.replace(view, beyond_reach=(unwritten, *view.beyond_reach))
        session.give(view, _describe_done(view))
        return 1
    session.give(view, _describe_done(view))
    return 1 if done.left else 0


async def _make_eraser(app: App, names: list[str], workspace: str | None) -> PersonEraser:
    from assent.app import list_components
    from assent.engine.erasure.persons import PersonEraser
    from assent.engine.erasure.places import PLACES

    await app.store.open()
    workspace_id = (await find_workspace(app, workspace)).workspace_id if workspace is not None else ""
    places = [
        *PLACES,
        *(place for each in list_components(app.settings, app.extensions) for place in each.personal),
    ]
    return PersonEraser(app.services, places, names, workspace_id=workspace_id, by=BY)


def _report(session: CommandSession, report: ErasureReport, *, erased: bool) -> PersonErasure:
    return PersonErasure(
        erased,
        report.found,
        report.rejected,
        report.left,
        tuple(_list_beyond_reach(session)) if erased else (),
    )


def _describe_found(report: ErasureReport) -> str:
    rows = [f"  {table}: {count}" for table, count in report.found.items()]
    left = [f"  stays: {each.what} ({each.rows}). {each.advice}." for each in report.left]
    return "\n".join(["Found, in rows of each table:", *rows, *left])


def _describe_done(view: PersonErasure) -> str:
    lines = [f"Erased from {sum(view.found.values())} rows. The hashes of the journal are as they were."]
    if view.rejected:
        lines.append(
            f"{view.rejected} waiting or approved "
            + ("action was" if view.rejected == 1 else "actions were")
            + " rejected, because the content is gone."
        )
    lines += [f"Not erased: {each.what} ({each.rows}). {each.advice}." for each in view.left]
    lines += ["What this command cannot reach:", *(f"  {each}" for each in view.beyond_reach)]
    return "\n".join(lines)


def _list_beyond_reach(session: CommandSession) -> list[str]:
    """Say what has left the server, with the backups that are beside the database."""
    path: Path | None = session.settings.sqlite_path
    reach = ["Messages and posts that were sent: ask their receivers and providers."]
    beside = sorted(path.parent.glob(f"{path.name}.*")) if path is not None else []
    kept = [each.name for each in beside if each.name.endswith(".backup") or ".replaced-" in each.name]
    if kept:
        reach.append(
            f"Copies of the database beside it: {', '.join(kept)}. Delete them when you need them no more."
        )
    reach.append("Backups and exported files elsewhere, and log files. After a restore, erase again.")
    if path is None:
        reach.append(
            "Old versions of rows in the files of PostgreSQL: run VACUUM FULL, and let its archive expire."
        )
    return reach
