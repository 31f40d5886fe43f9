"""`assent connect` and `assent disconnect`: connect a provider without a browser.

The key comes from standard input, is checked with the provider and sealed. It is never an argument,
which the list of processes would show, and never written unsealed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from assent.cli.keys import OfWorkspace
from assent.cli.owner import pages_address
from assent.cli.session import CommandSession, Failure, Operators, find_workspace
from assent.cli.workspaces import BY, use_workspace
from assent.engine.connections import named_secrets
from assent.engine.connections.named_secrets import SECRET_NAME, NamedSecret
from assent.engine.core.tenancy import Workspace
from assent.gate.connection import ANY_ADDRESS, Connection
from assent.kernel.ids import WorkspaceId
from assent.kernel.times import iso_time
from assent.net.mail_server import Mailbox
from assent.ports import KeyChecked, NotSent, OutcomeUnknown

if TYPE_CHECKING:
    from assent.app import App
    from assent.ports import Connector

MAX_KEY_CHARS: Final = 512
"""Longer than any provider's key. Longer input is something else."""

WhichProvider = Annotated[
    str,
    typer.Argument(
        metavar="PROVIDER", help="Such as bluesky, resend, slack, smtp or zernio.", show_default=False
    ),
]


def connect(
    session: CommandSession,
    provider: WhichProvider,
    workspace: OfWorkspace = None,
    key_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the provider's key from standard input.")
    ] = False,
    account: Annotated[
        list[str] | None,
        typer.Option(
            "--account", metavar="ID", help="Use this account; may be repeated (else one per platform)."
        ),
    ] = None,
    sender: Annotated[
        str | None,
        typer.Option("--from", metavar="MAILBOX", help="The sender of this workspace's e-mails."),
    ] = None,
    operators: Operators = None,
) -> None:
    """Connect a workspace to a provider by its key, which is read from standard input and never
    shown.

    The key of smtp is the address of a mail server: smtp://user:password@mail.example.org:587
    """
    from assent.use_cases import connections

    session.add_flags(operators=operators or None)
    if sender is not None:
        try:
            Mailbox.parse(sender)
        except ValueError as error:
            raise Failure(
                f'{sender!r} is no sender: {error}.\nWrite: --from "Ann <ann@example.org>"'
            ) from None

    async def wire(app: App) -> Connection:
        found = await find_workspace(app, workspace)
        services = app.services.for_workspace(found.workspace_id)
        connector = _key_checked(services.connectors, provider)
        if services.effects.connector(provider).auth_mode == "password" and sender is None:
            raise Failure(
                'A mail server sends in the name of an address, and none is given.\nAdd: --from "Ann <ann@example.org>"'
            )
        key = _read_key(session, key_stdin, provider)
        # A person with the terminal may name a mail server of this network.
        verify = getattr(connector, "verify_anywhere", connector.verify)
        try:
            verified = await verify(key, session.settings.connector_timeout_seconds)
        except NotSent as refused:
            raise Failure(f"{provider} was not connected: {refused.detail}") from None
        except OutcomeUnknown as unknown:
            raise Failure(f"{provider} was not connected: {unknown}.\nTry again later.") from None
        known = [each.id for each in verified.accounts]
        if unknown_ids := [each for each in account or () if each not in known]:
            raise Failure(f"{provider} has no account {unknown_ids[0]!r}. Possible: {', '.join(known)}.")
        more: dict[str, Any] = {"from": sender} if sender is not None else {}
        if verify != connector.verify:
            more[ANY_ADDRESS] = True
        made = await connections.connect_with_key(
            app.connections, found.workspace_id, provider, key, verified, more, by=BY
        )
        if account:
            made = await connections.choose(app.connections, found.workspace_id, provider, account, by=BY)
        return made

    def _key_checked(connectors: Mapping[str, Connector], name: str) -> KeyChecked:
        connector: object = connectors.get(name)
        if isinstance(connector, KeyChecked):
            return connector
        by_key = sorted(each for each, one in connectors.items() if isinstance(one, KeyChecked))
        where = f"{pages_address(session.settings) or session.settings.base_url}/connect/{name}"
        other = f"\nIt is connected in a browser: {where}" if connector is not None else ""
        raise Failure(f"{name!r} is not connected by a key. Possible: {', '.join(by_key)}.{other}")

    made = session.use_app(wire)
    rows = [(each.id, each.platform, each.name, "default" if each.default else "") for each in made.accounts]
    table = session.table(("account", "platform", "name", ""), rows) if rows else "No accounts."
    session.give(_describe(made), f"{made.label} is connected to workspace {made.workspace_id}.\n{table}")


def disconnect(session: CommandSession, provider: WhichProvider, workspace: OfWorkspace = None) -> None:
    """End a workspace's connection to a provider and destroy its secrets."""
    from assent.use_cases import connections

    async def end(app: App, found: Workspace) -> tuple[str, bool]:
        services = app.services.for_workspace(found.workspace_id)
        write = app.store.write
        return found.workspace_id, await connections.disconnect(
            services, found.workspace_id, provider, write, by=BY
        )

    workspace_id, ended = use_workspace(session, workspace, end)
    if not ended:
        raise Failure(
            f"Workspace {workspace_id} is not connected to {provider!r}.\n"
            f"See what is connected: {session.again('doctor')}"
        )
    session.give(
        {"workspaceId": workspace_id, "provider": provider, "disconnected": True},
        f"{provider} is disconnected from workspace {workspace_id}; its secrets are destroyed.",
    )


def _describe(connection: Connection) -> dict[str, Any]:
    """Without secrets. Effects go to the default accounts."""
    return {
        "workspaceId": connection.workspace_id,
        "provider": connection.provider,
        "connected": connection.live,
        "state": connection.state,
        "label": connection.label,
        "accounts": [
            {
                "id": each.id,
                "platform": each.platform,
                "name": each.name,
                "default": each.default,
                "active": each.active,
            }
            for each in connection.accounts
        ],
    }


def _read_key(session: CommandSession, key_stdin: bool, provider: str) -> str:
    """Read the key from a pipe, or from a prompt without echo."""
    if not key_stdin:
        raise Failure(
            "The key is read from standard input only: on a command line, others could see it.\n"
            f"Run: {session.again('connect', provider, '--key-stdin')} < key-file"
        )
    key = read_hidden(f"Key of {provider}", MAX_KEY_CHARS)
    if " " in key:
        raise Failure("What came on standard input is not a key: a key has no spaces. Copy it again, alone.")
    return key


# `assent secret`: the secrets that HTTP effects send in their headers.
#
# A secret comes from standard input. It is never an argument, which the list of processes would show.

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
