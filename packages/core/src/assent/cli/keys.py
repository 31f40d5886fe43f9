"""`assent keys`: the keys of a workspace. A new key is printed once, alone, to standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import (
    BY,
    check_name,
    describe_key,
    key_entropy,
    keys_table,
    read_keys,
    use_workspace,
)
from assent.engine.core import tenancy
from assent.engine.core.tenancy import IssuedKey, Workspace
from assent.kernel.ids import KeyId
from assent.kernel.limits import DAY_MS, HOUR_MS
from assent.kernel.toolsets import TOOLSETS

if TYPE_CHECKING:
    from assent.app import App

OfWorkspace = Annotated[
    str | None,
    typer.Option("--workspace", "-w", metavar="ID-OR-NAME", help="Which workspace (the local default one)."),
]
WhichKey = Annotated[
    str, typer.Argument(metavar="KEY-ID", help="The key's id, from `assent keys list`.", show_default=False)
]


def create(
    session: CommandSession,
    workspace: OfWorkspace = None,
    label: Annotated[str, typer.Option("--label", help="What it is for.")] = "default",
    dev: Annotated[
        bool, typer.Option("--dev", help="Make a clp_dev_ key: what it prepares or approves is never sent.")
    ] = False,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help=f"Limit it; may be repeated: {', '.join(tenancy.ALL_SCOPES)}."),
    ] = None,
    toolset: Annotated[
        list[str] | None,
        typer.Option(
            "--toolset",
            help=f"Tool sets that it lists, instead of the server's; may be repeated: {', '.join(TOOLSETS)}.",
        ),
    ] = None,
    expires_in_days: Annotated[
        int | None, typer.Option("--expires-in-days", min=1, max=36_500, help="When it ends (never).")
    ] = None,
    client_dialog: Annotated[
        bool,
        typer.Option(
            "--client-dialog/--no-client-dialog",
            help="Whether its client may be asked to show a dialog; some decline without showing it.",
        ),
    ] = True,
) -> None:
    """Make a key. It is shown now and never again."""
    session.require_data()
    scopes = tuple(dict.fromkeys(scope or tenancy.SCOPES))
    unknown = [each for each in scopes if each not in tenancy.ALL_SCOPES]
    if unknown:
        raise Failure(f"There is no scope {unknown[0]!r}.\nPossible: {', '.join(tenancy.ALL_SCOPES)}.")
    toolsets = tuple(dict.fromkeys(toolset or ()))
    if strange := [each for each in toolsets if each not in TOOLSETS]:
        raise Failure(f"There is no toolset {strange[0]!r}.\nPossible: {', '.join(TOOLSETS)}.")
    checked, entropy = check_name(label, "A label"), key_entropy()

    async def make(app: App, found: Workspace) -> IssuedKey:
        now_ms = app.clock.now_ms()
        expires_ms = None if expires_in_days is None else now_ms + expires_in_days * DAY_MS
        return await app.store.write(
            lambda: tenancy.issue_key(
                found.workspace_id,
                entropy,
                now_ms,
                mode="dev" if dev else "live",
                label=checked,
                scopes=scopes,
                expires_ms=expires_ms,
                toolsets=toolsets,
                client_dialog=client_dialog,
                by=BY,
            )
        )

    _show_once(session, use_workspace(session, workspace, make))


def list_all(session: CommandSession, workspace: OfWorkspace = None) -> None:
    """List the keys of a workspace, without their secrets."""
    session.require_data()
    found, keys = use_workspace(session, workspace, read_keys)
    views = list(map(describe_key, keys))
    session.give({"workspaceId": found.workspace_id, "keys": views}, keys_table(session, keys))


def revoke(session: CommandSession, key: WhichKey, workspace: OfWorkspace = None) -> None:
    """End a key, at once and for good."""
    session.require_data()
    key_id, of = _which(key, workspace)

    async def end(app: App, found: Workspace) -> tuple[Workspace, bool]:
        now_ms = app.clock.now_ms()
        return found, await app.store.write(
            lambda: tenancy.revoke_key(found.workspace_id, key_id, now_ms, by=BY)
        )

    found, ended = use_workspace(session, of, end)
    if not ended:
        raise _no_such_key(session, key_id, found)
    view = {"workspaceId": found.workspace_id, "keyId": key_id, "revoked": True}
    session.give(view, f"Key {key_id} is revoked.")


def rotate(
    session: CommandSession,
    key: WhichKey,
    workspace: OfWorkspace = None,
    overlap: Annotated[
        int,
        typer.Option(
            "--overlap", metavar="HOURS", min=0, max=8_760, help="Let the old key work so long (0)."
        ),
    ] = 0,
) -> None:
    """Make the successor of a key with the same rights, which is shown now and never again, and end the key: at
    once, or after --overlap hours."""
    session.require_data()
    (key_id, of), entropy = _which(key, workspace), key_entropy()

    async def replace(app: App, found: Workspace) -> tuple[Workspace, IssuedKey | None]:
        now_ms = app.clock.now_ms()
        return found, await app.store.write(
            lambda: tenancy.rotate_key(
                found.workspace_id, key_id, entropy, now_ms, by=BY, overlap_ms=overlap * HOUR_MS
            )
        )

    found, issued = use_workspace(session, of, replace)
    if issued is None:
        raise _no_such_key(session, key_id, found)
    _show_once(session, issued)


def _which(key: str, workspace: str | None) -> tuple[KeyId, str | None]:
    """A whole pasted key names both; its secret is not used."""
    public = tenancy.parse_key(key)
    return (KeyId(key), workspace) if public is None else (public.key_id, workspace or public.workspace_id)


def _no_such_key(session: CommandSession, key_id: str, workspace: Workspace) -> Failure:
    return Failure(
        f"Workspace {workspace.name!r} has no living key {key_id!r}.\n"
        f"See its keys: {session.again('keys', 'list', '--workspace', workspace.workspace_id)}"
    )


def _show_once(session: CommandSession, issued: IssuedKey) -> None:
    session.say(f"Key {issued.key_id} of workspace {issued.workspace_id}. It is not shown again:")
    view = {"workspaceId": issued.workspace_id, "keyId": issued.key_id, "apiKey": issued.api_key}
    session.give(view, issued.api_key)
