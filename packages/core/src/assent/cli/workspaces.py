"""`assent workspace`: create and list workspaces, and their rate, for the server's operator."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from assent.cli.session import CommandSession, Failure, T, find_workspace
from assent.engine.actions import policies
from assent.engine.core import tenancy
from assent.engine.core.tenancy import (
    KEY_ID_BYTES,
    SECRET_BYTES,
    IssuedKey,
    KeyEntropy,
    KeyMode,
    KeyRecord,
    Workspace,
)
from assent.kernel import ids
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_EMAIL_CHARS, MAX_NAME_CHARS
from assent.kernel.times import iso_time
from assent.ports import Transaction

if TYPE_CHECKING:
    from assent.app import App

WhichWorkspace = Annotated[
    str, typer.Argument(metavar="ID-OR-NAME", help="Which workspace.", show_default=False)
]

BY: Final = CommandSession.by


def create(
    session: CommandSession,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name.", show_default=False)],
    email: Annotated[str | None, typer.Option("--email", help="Whose it is.")] = None,
    dev: Annotated[
        bool, typer.Option("--dev", help="Make a clp_dev_ key: what it prepares or approves is never sent.")
    ] = False,
) -> None:
    """Make a workspace with a key. The key is shown now and never again."""
    checked = check_name(name, "The name of a workspace")
    if email is not None and (len(email) > MAX_EMAIL_CHARS or "@" not in email):
        raise Failure(f"{email!r} is not an e-mail address.\nWrite one such as ann@example.org.")
    mode: KeyMode = "dev" if dev else "live"
    entropy = key_entropy()

    async def make(app: App) -> IssuedKey:
        now_ms = app.clock.now_ms()
        workspace_id = WorkspaceId(ids.uuid7(now_ms, os.urandom(ids.RANDOM_BYTES)))

        def begin() -> Transaction[IssuedKey]:
            # The owner may give a name that the settings reserve.
            chosen = yield from tenancy.choose_name(checked, frozenset())
            yield from tenancy.create_workspace(workspace_id, chosen, now_ms, email=email, by=BY)
            preset = yield from policies.choose_first(app.services.limits.policy)
            yield from policies.begin(workspace_id, preset, now_ms, by=BY)
            return (yield from tenancy.issue_key(workspace_id, entropy, now_ms, mode=mode, by=BY))

        return await app.store.write(begin)

    issued = session.use_app(make)
    session.say(f"Workspace {checked!r} is {issued.workspace_id}. This is its key; it is not shown again:")
    made = {"workspaceId": issued.workspace_id, "apiKey": issued.api_key, "keyId": issued.key_id}
    session.give({**made, "name": checked}, issued.api_key)


def list_all(session: CommandSession) -> None:
    """List every workspace."""
    found = session.read(tenancy.list_workspaces)
    views = [_describe(each) for each in found]
    rows = [tuple(value or "" for value in view.values()) for view in views]
    session.give({"workspaces": views}, session.table(("id", "name", "e-mail", "made"), rows))


def show(
    session: CommandSession,
    workspace: WhichWorkspace,
) -> None:
    """Show a workspace and its keys."""
    found, keys = use_workspace(session, workspace, read_keys)
    view = _describe(found)
    facts = zip(("id", "name", "e-mail", "made"), (value or "" for value in view.values()), strict=True)
    text = session.table(("workspace", ""), facts) + "\n\n" + keys_table(session, keys)
    session.give({"workspace": view, "keys": list(map(describe_key, keys))}, text)


def use_workspace(
    session: CommandSession, wanted: str | None, work: Callable[[App, Workspace], Awaitable[T]]
) -> T:
    """`CommandSession.use_app` for one workspace."""

    async def run(app: App) -> T:
        return await work(app, await find_workspace(app, wanted))

    return session.use_app(run)


def key_entropy() -> KeyEntropy:
    return KeyEntropy(os.urandom(KEY_ID_BYTES), os.urandom(SECRET_BYTES))


def check_name(name: str, what: str) -> str:
    """Check that a name fits on every page and log line."""
    stripped = name.strip()
    if not stripped or len(stripped) > MAX_NAME_CHARS or not stripped.isprintable():
        raise Failure(f"{what} must have 1 to {MAX_NAME_CHARS} characters, all of them visible.")
    return stripped


async def read_keys(app: App, workspace: Workspace) -> tuple[Workspace, list[KeyRecord]]:
    return workspace, await app.store.read(lambda: tenancy.list_keys(workspace.workspace_id))


def _describe(workspace: Workspace) -> dict[str, str | None]:
    return {
        "workspaceId": workspace.workspace_id,
        "name": workspace.name,
        "email": workspace.email,
        "createdAt": iso_time(workspace.created_ms),
    }


def describe_key(key: KeyRecord) -> dict[str, Any]:
    """Empty `toolsets` stand for the server's default."""
    return {
        "keyId": key.key_id,
        "mode": key.mode,
        "label": key.label,
        "scopes": key.scopes,
        "createdAt": iso_time(key.created_ms),
        "expiresAt": iso_time(key.expires_ms),
        "revokedAt": iso_time(key.revoked_ms),
        "toolsets": key.toolsets,
        "clientDialog": key.client_dialog,
    }


def keys_table(session: CommandSession, keys: list[KeyRecord]) -> str:
    rows = [
        (
            key.key_id,
            tenancy.KEY_PREFIXES[key.mode],
            key.label,
            " ".join(key.scopes),
            iso_time(key.created_ms) or "",
            ", ".join(filter(None, (_describe_end(key), "" if key.client_dialog else "no dialog"))),
        )
        for key in keys
    ]
    return session.table(("key", "kind", "label", "scopes", "made", ""), rows)


def _describe_end(key: KeyRecord) -> str:
    if key.revoked_ms is not None:
        return f"revoked {iso_time(key.revoked_ms)}"
    return "" if key.expires_ms is None else f"until {iso_time(key.expires_ms)}"


# `assent workspace rate`: how many calls a workspace may make in a minute.


def rate(
    session: CommandSession,
    workspace: WhichWorkspace,
    per_minute: Annotated[
        int | None, typer.Option("--per-minute", metavar="N", min=1, help="Calls in a minute.")
    ] = None,
    default: Annotated[
        bool, typer.Option("--default", help="As many as the settings of the server say.")
    ] = False,
) -> None:
    """Let a workspace make more or fewer calls in a minute than the settings say. It holds for the next call."""
    if (per_minute is None) is not default:
        raise Failure(
            "Say how many: --per-minute N, or --default for as many as the settings of the server say."
        )
    session.require_data()

    async def change(app: App) -> str:
        found = await find_workspace(app, workspace)
        now_ms = app.clock.now_ms()
        await app.store.write(lambda: tenancy.set_rate(found.workspace_id, per_minute, now_ms, by=BY))
        return found.name

    name = session.use_app(change)
    most = per_minute or session.settings.rate_limit_per_minute
    session.give(
        {"workspace": name, "perMinute": most, "isDefault": per_minute is None},
        f"The workspace {name!r} may make {most} calls in a minute.",
    )
