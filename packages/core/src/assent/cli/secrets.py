"""`assent secret`: the secrets that HTTP effects send in their headers.

A secret comes from standard input. It is never an argument, which the list of processes would show.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from assent.cli.keys import OfWorkspace
from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import BY, use_workspace
from assent.engine.connections import named_secrets
from assent.engine.connections.named_secrets import SECRET_NAME, NamedSecret
from assent.engine.core.tenancy import Workspace
from assent.kernel.ids import WorkspaceId
from assent.kernel.times import iso_time

if TYPE_CHECKING:
    from assent.app import App

MAX_SECRET_CHARS: Final = 4_000

WhichSecret = Annotated[
    str, typer.Argument(metavar="NAME", help="Its name: small letters, digits, - and _.", show_default=False)
]


def store(session: CommandSession, name: WhichSecret, workspace: OfWorkspace = None) -> None:
    """Store a secret, which is read from standard input and never shown."""
    if SECRET_NAME.fullmatch(name) is None:
        raise Failure(f"{name!r} is no name of a secret.\nUse small letters, digits, - and _, at most 40.")
    value = read_hidden(f"Secret {name}", MAX_SECRET_CHARS)

    async def put(app: App, found: Workspace) -> WorkspaceId:
        seal, now_ms = app.vault.seal(1), app.clock.now_ms()
        await app.store.write(
            partial(named_secrets.put_secret, app.vault, found.workspace_id, name, value, seal, now_ms, by=BY)
        )
        return found.workspace_id

    workspace_id = use_workspace(session, workspace, put)
    session.give(
        {"workspaceId": workspace_id, "name": name, "stored": True},
        f"The secret {name} is stored in workspace {workspace_id}.",
    )


def show_names(session: CommandSession, workspace: OfWorkspace = None) -> None:
    """List the names of the stored secrets, without their values."""

    async def read(app: App, found: Workspace) -> tuple[NamedSecret, ...]:
        return await app.store.read(partial(named_secrets.list_secrets, found.workspace_id))

    rows = [(each.name, iso_time(each.changed_ms) or "") for each in use_workspace(session, workspace, read)]
    views = [{"name": name, "changedAt": at} for name, at in rows]
    session.give({"secrets": views}, session.table(("name", "changed"), rows))


def remove(session: CommandSession, name: WhichSecret, workspace: OfWorkspace = None) -> None:
    """Destroy a secret."""

    async def end(app: App, found: Workspace) -> tuple[WorkspaceId, bool]:
        gone = partial(
            named_secrets.remove_secret, app.vault, found.workspace_id, name, app.clock.now_ms(), by=BY
        )
        return found.workspace_id, await app.store.write(gone)

    workspace_id, removed = use_workspace(session, workspace, end)
    if not removed:
        raise Failure(
            f"Workspace {workspace_id} has no secret {name!r}.\n"
            f"See them: {session.again('secret', 'list', '--workspace', workspace_id)}"
        )
    session.give(
        {"workspaceId": workspace_id, "name": name, "removed": True},
        f"The secret {name} is destroyed in workspace {workspace_id}.",
    )


# Reads a secret from standard input: from a pipe, or from a prompt without echo.


def read_hidden(what: str, most: int) -> str:
    """Return one line of printable characters, at most `most`. Raises `Failure` for other input."""
    if sys.stdin.isatty():
        import getpass

        text = getpass.getpass(f"{what} (not shown): ")
    else:
        text = sys.stdin.read(most + 2)
    found = text.strip()
    if not found or len(found) > most or not found.isascii() or not found.isprintable():
        raise Failure(
            f"What came on standard input is not a {what.partition(' ')[0].lower()}: one line of printable characters "
            "is expected.\nPipe it in from a file that holds nothing else."
        )
    return found
