"""The commands of wrapping as `--help` shows them. A client that starts one goes a shorter way."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from assent.sdk import Failure


def wrap(
    server: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND …]", help="The command of an MCP server.")
    ] = None,
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="A client's file with mcpServers, instead.")
    ] = None,
    rules: Annotated[
        str | None, typer.Option("--rules", metavar="FILE", help="Rules for the tools, in TOML.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The server's name in questions and rules.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME", help="A variable that the server gets, too. May be repeated."),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Believe the server which of its tools only read: those pass.")
    ] = False,
    data_dir: Annotated[
        str | None, typer.Option("--data-dir", metavar="DIR", help="The data directory of the server.")
    ] = None,
    observe: Annotated[
        bool,
        typer.Option("--observe", help="Ask nothing yet: make every call, record it, and propose rules."),
    ] = False,
) -> int:
    """Put any MCP server behind the gate: a client starts this instead of the server.

    Tools that only read can pass; every other call waits for a person, and the server on this data makes
    it once, with exactly the approved arguments. That server is started if none runs, and stays.
    """
    from assent.platform import LocalServer
    from assent_wrap import front

    given = {"--config": config, "--rules": rules, "--name": name}
    options = {flag: value for flag, value in given.items() if value is not None}
    switches = {"--trust": trust, "--observe": observe}
    chosen = frozenset(flag for flag, is_set in switches.items() if is_set)
    found = LocalServer.find({"data_dir": data_dir} if data_dir is not None else {})
    try:
        order = front.read_order(list(server or ()), options, chosen, os.environ, named=env or ())
        return front.wrap(found, order)
    except front.CannotWrap as error:
        raise Failure(str(error)) from None


def hook_claude_code(
    tools: Annotated[
        str | None,
        typer.Option(
            "--tools", help="The tools to ask about, such as 'Bash,mcp__*,!mcp__docs__*'. Default: all."
        ),
    ] = None,
    wait: Annotated[
        int | None, typer.Option("--wait", metavar="SECONDS", help="How long to wait for a decision.")
    ] = None,
    print_settings: Annotated[
        bool, typer.Option("--print-settings", help="Print the hooks for Claude Code's settings file.")
    ] = False,
    data_dir: Annotated[
        str | None, typer.Option("--data-dir", metavar="DIR", help="The data to work on without a key.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="The server to ask with ASSENT_API_KEY.")
    ] = None,
) -> None:
    """Answer an event of Claude Code on standard input: a tool runs once a person has approved its call.

    Whatever fails denies the call.
    """
    from assent_wrap.hook import run_hook

    given = {"--tools": tools, "--wait": wait, "--data-dir": data_dir, "--base-url": base_url}
    words = [word for flag, value in given.items() if value is not None for word in (flag, str(value))]
    raise typer.Exit(run_hook([*words, "--print-settings"] if print_settings else words))
