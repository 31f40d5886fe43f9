"""The commands of wrapping as `--help` shows them. A client that starts one goes a shorter way."""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assent.sdk import CommandSession, Failure

if TYPE_CHECKING:
    from assent.sdk import Services, WorkspaceId

OfWorkspace = Annotated[
    str | None, typer.Option("--workspace", metavar="ID-OR-NAME", help="Which workspace: the local one.")
]


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
    every: Annotated[
        bool,
        typer.Option("--all", help="Show how the servers of every client on this machine would be wrapped."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --all: change the files. `assent unwrap` puts them back.")
    ] = False,
) -> int:
    """Put any MCP server behind the gate: a client starts this instead of the server.

    Tools that only read can pass; every other call waits for a person, and the server on this data makes
    it once, with exactly the approved arguments. That server is started if none runs, and stays.
    """
    from assent.platform import LocalServer
    from assent_wrap import front

    if every:
        if server or config or rules or name or env or observe:
            raise Failure("--all takes --trust, --yes and --data-dir alone: it finds the servers itself.")
        return _wrap_all(data_dir, trust=trust, yes=yes)

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


def _wrap_all(data_dir: str | None, *, trust: bool, yes: bool) -> int:
    from assent.platform import LocalServer
    from assent_wrap import clients

    found = LocalServer.find({"data_dir": data_dir} if data_dir is not None else {})
    folder, words = found.data_dir.absolute() / clients.FOLDER, shlex.split(found.write_command("wrap"))
    files = clients.plan(folder, Path.home(), Path.cwd(), words, found.base_url, trust=trust)
    lines, failed = [*clients.describe(files, trust=trust)], False
    count, already = clients.count_wrapped(files)
    if not count:
        lines.append(
            f"Nothing to wrap: {already} servers are wrapped already." if already else "No server was found."
        )
    elif yes:
        done = clients.apply(folder, files)
        missed = [each for each in files if each.changed and each.left]
        lines += [f"Changed: {each.file} (as it was: {each.copy})" for each in done]
        lines += [f"Not changed: {each.path}: {each.left}" for each in missed]
        wrapped = sum(len(each.entries) for each in done)
        lines.append(
            f"{wrapped} servers are wrapped. Restart their clients. To go back: {found.name_program()} unwrap"
        )
        failed = bool(missed)
    else:
        lines.append(
            f"Nothing was changed. To wrap {count} servers, repeat this with --yes; copies go to {folder}."
        )
    sys.stdout.write("\n".join(lines) + "\n")
    return int(failed)


def unwrap(
    data_dir: Annotated[
        str | None, typer.Option("--data-dir", metavar="DIR", help="The data directory of the server.")
    ] = None,
) -> None:
    """Put back the servers that `assent wrap --all` wrapped, byte for byte.

    A file that was changed since keeps its changes: only the wrapped servers are put back.
    """
    from assent.platform import LocalServer
    from assent_wrap import clients

    found = LocalServer.find({"data_dir": data_dir} if data_dir is not None else {})
    results = clients.restore(found.data_dir.absolute() / clients.FOLDER)
    said = [f"{each.file}: {each.said}" for each in results] or [
        "Nothing is wrapped by `assent wrap --all` here."
    ]
    sys.stdout.write("\n".join(said) + "\n")
    if not all(each.complete for each in results):
        raise typer.Exit(1)


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

    Any failure denies the call.
    """
    from assent_wrap.hook import run_hook

    given = {"--tools": tools, "--wait": wait, "--data-dir": data_dir, "--base-url": base_url}
    words = [word for flag, value in given.items() if value is not None for word in (flag, str(value))]
    raise typer.Exit(run_hook([*words, "--print-settings"] if print_settings else words))


def list_rules(session: CommandSession, workspace: OfWorkspace = None) -> None:
    """List the rules for wrapped tools, and how often each let a call pass."""
    from assent.sdk import iso_time
    from assent_wrap import rulebook
    from assent_wrap.rules import StandingRule, describe_rule

    async def read(services: Services, workspace_id: WorkspaceId) -> tuple[StandingRule, ...]:
        return await rulebook.list_rules(services, workspace_id)

    session.require_data()
    standing = session.in_workspace(workspace, read)
    views = [
        {
            **each.rule.source,
            "says": describe_rule(each.rule),
            "setBy": each.by,
            "setAt": iso_time(each.at_ms),
            "used": each.used,
            "lastUsedAt": iso_time(each.last_ms),
        }
        for each in standing
    ]
    rows = [(each.rule.name, describe_rule(each.rule), str(each.used)) for each in standing]
    session.give({"rules": views}, session.table(("name", "rule", "used"), rows))


def set_rules(
    session: CommandSession,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A TOML file of rules.", show_default=False),
    ],
    workspace: OfWorkspace = None,
) -> None:
    """Set the rules of a file, each in place of the one with its name. They hold at once."""
    from assent_wrap import rulebook
    from assent_wrap.profiles import BadProfile
    from assent_wrap.rules import WorkspaceRule, describe_rule

    async def save(services: Services, workspace_id: WorkspaceId) -> tuple[WorkspaceRule, ...]:
        return await rulebook.set_rules(services, workspace_id, source, by=session.by)

    session.require_data()
    try:
        source = tomllib.loads(Path(file).read_text(encoding="utf-8"))
        rules = session.in_workspace(workspace, save)
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{file} cannot be read: {error}.") from None
    except (tomllib.TOMLDecodeError, BadProfile) as error:
        raise Failure(f"{file}: {error}\nNothing was set. Correct that, then run this again.") from None
    said = [describe_rule(each) for each in rules]
    session.give({"set": [each.name for each in rules], "says": said}, "\n".join(said))


def end_rule(
    session: CommandSession,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name.", show_default=False)],
    workspace: OfWorkspace = None,
) -> None:
    """End a rule for wrapped tools, at once."""
    from assent_wrap import rulebook

    async def end(services: Services, workspace_id: WorkspaceId) -> bool:
        return await rulebook.end_rule(services, workspace_id, name, by=session.by)

    session.require_data()
    if not session.in_workspace(workspace, end):
        raise Failure(f"There is no rule {name!r}. List them: {session.again('rules', 'list')}")
    session.give({"ended": name}, f"Ended: {name}.")
