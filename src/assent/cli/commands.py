"""Registers every command: `assent --help` lists this file."""

from __future__ import annotations

import sys
from functools import cache
from typing import Annotated, cast

import typer
import typer.core
import typer.main

from assent import __version__
from assent.cli import (
    audit,
    conform,
    connect,
    credits,
    demo,
    doctor,
    keys,
    new,
    open,
    owner,
    people,
    policy,
    secrets,
    server,
    sessions,
    webhooks,
    workflows,
    workspaces,
)
from assent.cli.mcp import config as mcp_config
from assent.cli.operating import boundary, erase, freeze


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
    """Lets AI agents do real work in the world, with a human's consent that the server enforces."""


server.register(app)
owner.register(app)
open.register(app)
webhooks.register(workspaces.app)
credits.register(workspaces.app)
workspaces.register(workspaces.app)
connect.register(app)
doctor.register(app)
freeze.register(app)
boundary.register(app)
conform.register(app)
demo.register(app)
app.add_typer(workspaces.app, name="workspace", help="Make, list and show workspaces.")
app.add_typer(people.app, name="people", help="Invite people, list them, take their access away.")
app.add_typer(policy.app, name="policy", help="Show, check, set and replay who may approve what.")
app.add_typer(
    mcp_config.app, name="mcp", help="Add this server to a client: Claude Code, Cursor, VS Code, Codex."
)
app.add_typer(keys.app, name="keys", help="Make, list, revoke and rotate the keys of a workspace.")
app.add_typer(secrets.app, name="secret", help="Store, list and remove the secrets of HTTP effects.")
app.add_typer(new.app, name="new", help="Write an operator of your own.")
app.add_typer(erase.app, name="erase", help="Erase the data of a person.")
app.add_typer(audit.app, name="audit", help="Verify and export the journal.")
app.add_typer(workflows.app, name="workflow", help="Write, list, check, test and try workflows.")
app.add_typer(sessions.app, name="session", help="List, export and import sessions of workflows.")


@cache
def build_parser() -> typer.core.TyperGroup:
    """The parser of every command."""
    return cast(typer.core.TyperGroup, typer.main.get_command(app))
