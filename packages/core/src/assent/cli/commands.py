"""Registers every command: `assent --help` lists this file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, wraps
from typing import Annotated, Any, Final, cast

import typer
import typer.core
import typer.main

from assent import __version__
from assent.cli import (
    audit,
    boundary,
    connect,
    demo,
    doctor,
    erase,
    freeze,
    keys,
    mcp_config,
    new,
    owner,
    people,
    policy,
    server,
    sessions,
    webhooks,
    workflows,
    workspaces,
)
from assent.cli.session import add_command, read_help
from assent.extensions.hooks import CORE, Command, load_extensions, own_name, refuse_taken


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"assent {__version__}\n")
        raise typer.Exit


app = typer.Typer(
    name="assent",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Your agent asks. You say yes. It happens once."""


Body = Callable[..., int | None]

COMMANDS: Final[dict[str, Body]] = {
    "init": server.init,
    "serve": server.serve,
    "stdio": server.stdio,
    "migrate": server.migrate,
    "backup": server.backup,
    "restore": server.restore,
    "owner-link": owner.owner_link,
    "open": owner.open_pages,
    "connect": connect.connect,
    "disconnect": connect.disconnect,
    "doctor": doctor.doctor,
    "freeze": freeze.freeze,
    "unfreeze": freeze.unfreeze,
    "boundary": boundary.boundary,
    "demo": demo.demo,
}

GROUPS: Final[dict[str, tuple[str, dict[str, Body]]]] = {
    "workspace": (
        "Make, list and show workspaces.",
        {
            "create": workspaces.create,
            "list": workspaces.list_all,
            "show": workspaces.show,
            "webhook-secret": webhooks.secret,
            "webhook-hosts": webhooks.hosts,
            "webhook-subscribe": webhooks.subscribe,
            "webhook-subscriptions": webhooks.list_subscriptions,
            "webhook-unsubscribe": webhooks.unsubscribe,
            "webhooks": webhooks.deliveries,
            "webhook-resend": webhooks.resend,
            "rate": workspaces.rate,
        },
    ),
    "people": (
        "Invite people, list them, take their access away.",
        {"apply": people.apply, "invite": people.invite, "list": people.list_all, "remove": people.remove},
    ),
    "policy": (
        "Show, check, set and replay who may approve what.",
        {"show": policy.show, "check": policy.check, "set": policy.set_policy, "replay": policy.replay},
    ),
    "mcp": (
        "Add this server to a client: Claude Code, Cursor, VS Code, Codex.",
        {"config": mcp_config.config},
    ),
    "keys": (
        "Make, list, revoke and rotate the keys of a workspace.",
        {"create": keys.create, "list": keys.list_all, "revoke": keys.revoke, "rotate": keys.rotate},
    ),
    "secret": (
        "Store, list and remove the secrets of HTTP effects.",
        {"set": connect.store, "list": connect.show_names, "remove": connect.remove},
    ),
    "new": ("Write an operator of your own.", {"operator": new.operator}),
    "erase": ("Erase the data of a person.", {"person": erase.person}),
    "audit": (
        "Verify and export the journal.",
        {"verify": audit.verify, "checkpoint": audit.write_checkpoint, "export": audit.export},
    ),
    "workflow": (
        "Write, list, check, test and try workflows.",
        {
            "list": workflows.list_workflows,
            "validate": workflows.validate,
            "run": workflows.run,
            "test": workflows.test,
            "schema": workflows.schema,
            "new": workflows.new,
        },
    ),
    "session": (
        "List, export and import sessions of workflows.",
        {"list": sessions.list_sessions, "export": sessions.export, "import": sessions.import_file},
    ),
}

WITHOUT_JSON: Final = (
    server.serve,
    server.stdio,
    audit.export,
    workflows.run,
    workflows.schema,
    sessions.export,
)
"""Commands whose output has a form of its own."""


_groups: Final[dict[str, typer.Typer]] = {}


def _add(command: Command) -> None:
    """Add a command, with its group if that is new."""
    *group, name = command.name.split()
    target = app
    if group:
        if group[0] not in _groups:
            _groups[group[0]] = typer.Typer(no_args_is_help=True)
            app.add_typer(_groups[group[0]], name=group[0], help=command.group_help)
        target = _groups[group[0]]
    if command.has_common_flags:
        add_command(target, name, command.run, json=command.has_json)
    else:
        target.command(name, help=read_help(command.run))(_exit_with_status_of(command.run))


def _exit_with_status_of(run: Callable[..., int | None]) -> Callable[..., None]:
    @wraps(run)
    def entry(*given: Any, **options: Any) -> None:
        raise typer.Exit(run(*given, **options) or 0)

    return entry


def _list_core() -> Iterator[Command]:
    named = [(name, "", body) for name, body in COMMANDS.items()]
    for group, (help_text, commands) in GROUPS.items():
        named += [(f"{group} {name}", help_text, body) for name, body in commands.items()]
    for name, help_text, body in named:
        yield Command(
            name=name,
            run=body,
            group_help=help_text,
            has_json=body not in WITHOUT_JSON,
        )


for _command in (
    *_list_core(),
    *(each for extension in load_extensions() for each in extension.list_commands()),
):
    _add(_command)


def _is_within(name: str, other: str) -> bool:
    """Whether two commands have one name, or one of them is called as the group of the other."""
    return name == other or other.startswith(f"{name} ") or name.startswith(f"{other} ")


@cache
def build_parser(named: tuple[str, ...] = ()) -> typer.core.TyperGroup:
    """The parser of every command, with those of extensions that the settings name."""
    extensions = load_extensions(named)
    added = [(each, command) for each in extensions for command in each.list_commands()]
    known = ((command.name, CORE) for command in _list_core())
    refuse_taken("command", (*known, *((each.name, own_name(by)) for by, each in added)), _is_within)
    for extension, command in added:
        if extension not in load_extensions():
            _add(command)
    return cast(typer.core.TyperGroup, typer.main.get_command(app))
