"""`assent workspace`: create and list workspaces, for the server's operator."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import msgspec
import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command, timestamp
from assent.engine.core import api_keys, tenancy
from assent.engine.core.api_keys import KEY_ID_BYTES, SECRET_BYTES, Mode
from assent.engine.core.tenancy import IssuedKey, KeyEntropy, KeyRecord, Workspace
from assent.kernel import ids
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_EMAIL_CHARS, MAX_NAME_CHARS
from assent.ports import Store, Transaction

app = typer.Typer(no_args_is_help=True)

BY: str = "cli"
"""The journal's name for the operator at the command line."""


class CreatedView(msgspec.Struct, frozen=True, rename="camel"):
    workspace_id: str
    api_key: str
    key_id: str
    name: str


class WorkspaceView(msgspec.Struct, frozen=True, rename="camel"):
    workspace_id: str
    name: str
    email: str | None
    created_at: str | None


class KeyView(msgspec.Struct, frozen=True, rename="camel"):
    """A key in a JSON answer, without its secret."""

    key_id: str
    mode: str
    label: str
    scopes: tuple[str, ...]
    created_at: str | None
    expires_at: str | None
    revoked_at: str | None
    toolsets: tuple[str, ...] = ()
    """The toolsets that it lists; empty for the server's default."""


def create(
    session: CommandSession,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.", show_default=False)],
    email: Annotated[str | None, typer.Option("--email", help="Whose it is.")] = None,
    dev: Annotated[
        bool, typer.Option("--dev", help="Make a clp_dev_ key instead of a clp_live_ one.")
    ] = False,
) -> None:
    """Make a workspace with a key. The key is shown now and never again."""
    from assent.app import open_app

    checked = check_name(name, "The name of a workspace")
    if email is not None and (len(email) > MAX_EMAIL_CHARS or "@" not in email):
        raise Failure(f"{email!r} is not an e-mail address.")
    mode: Mode = "dev" if dev else "live"
    entropy = key_entropy()

    async def make() -> IssuedKey:
        async with open_app(session.settings) as app:
            now_ms = app.clock.now_ms()
            workspace_id = WorkspaceId(ids.uuid7(now_ms, os.urandom(ids.RANDOM_BYTES)))

            def both() -> Transaction[IssuedKey]:
                yield from tenancy.create_workspace(workspace_id, checked, now_ms, email=email, by=BY)
                return (yield from tenancy.issue_key(workspace_id, entropy, now_ms, mode=mode, by=BY))

            return await app.store.write(both)

    issued = asyncio.run(make())
    session.say(f"Workspace {checked!r} is {issued.workspace_id}. This is its key; it is not shown again:")
    session.give(CreatedView(issued.workspace_id, issued.api_key, issued.key_id, checked), issued.api_key)


def list_all(session: CommandSession) -> None:
    """List every workspace."""
    from assent.app import open_app

    async def read() -> list[Workspace]:
        async with open_app(session.settings) as app:
            return await app.store.read(tenancy.list_workspaces)

    views = [workspace_view(each) for each in asyncio.run(read())]
    rows = [(each.workspace_id, each.name, each.email or "", each.created_at or "") for each in views]
    session.give({"workspaces": views}, session.table(("id", "name", "e-mail", "made"), rows))


def show(
    session: CommandSession,
    workspace: Annotated[str, typer.Argument(metavar="ID-OR-NAME", help="Which one.", show_default=False)],
) -> None:
    """Show a workspace and its keys."""
    from assent.app import open_app

    async def read() -> tuple[Workspace, list[KeyRecord]]:
        async with open_app(session.settings) as app:
            found = await find_workspace(app.store, workspace)
            return found, await app.store.read(lambda: tenancy.list_keys(found.workspace_id))

    found, keys = asyncio.run(read())
    view, key_views = workspace_view(found), [key_view(each) for each in keys]
    facts = {
        "id": view.workspace_id,
        "name": view.name,
        "e-mail": view.email or "",
        "made": view.created_at or "",
    }
    text = session.table(("workspace", ""), facts.items()) + "\n\n" + keys_table(session, key_views)
    session.give({"workspace": view, "keys": key_views}, text)


command(app, "create")(create)
command(app, "list")(list_all)
command(app, "show")(show)


async def find_workspace(store: Store, wanted: str | None) -> Workspace:
    """Find a workspace by id or name, by default the local one."""
    known = await store.read(tenancy.list_workspaces)
    wanted = tenancy.LOCAL_WORKSPACE if wanted is None else wanted
    found = [each for each in known if wanted in (each.workspace_id, each.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise Failure(
            f"{len(found)} workspaces are called {wanted!r}.\nName one by its id; see: assent workspace list"
        )
    raise Failure(f"There is no workspace {wanted!r}.\nSee the ones there are: assent workspace list")


def key_entropy() -> KeyEntropy:
    return KeyEntropy(os.urandom(KEY_ID_BYTES), os.urandom(SECRET_BYTES))


def check_name(name: str, what: str) -> str:
    """Check that a name fits on every page and log line."""
    stripped = name.strip()
    if not stripped or len(stripped) > MAX_NAME_CHARS or not stripped.isprintable():
        raise Failure(f"{what} must have 1 to {MAX_NAME_CHARS} characters, all of them visible.")
    return stripped


def workspace_view(workspace: Workspace) -> WorkspaceView:
    return WorkspaceView(
        workspace.workspace_id, workspace.name, workspace.email, timestamp(workspace.created_ms)
    )


def key_view(key: KeyRecord) -> KeyView:
    return KeyView(
        key.key_id,
        key.mode,
        key.label,
        key.scopes,
        timestamp(key.created_ms),
        timestamp(key.expires_ms),
        timestamp(key.revoked_ms),
        key.toolsets,
    )


def keys_table(session: CommandSession, keys: list[KeyView]) -> str:
    rows = [
        (
            each.key_id,
            api_keys.PREFIXES["dev" if each.mode == "dev" else "live"],
            each.label,
            " ".join(each.scopes),
            each.created_at or "",
            f"revoked {each.revoked_at}"
            if each.revoked_at
            else f"until {each.expires_at}"
            if each.expires_at
            else "",
        )
        for each in keys
    ]
    return session.table(("key", "kind", "label", "scopes", "made", ""), rows)
