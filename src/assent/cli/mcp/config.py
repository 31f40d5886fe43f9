"""`assent mcp config`: prints a client's entry for this server, or writes it into the client's file."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from assent.cli.failures import Failure
from assent.cli.mcp.files import CLIENTS, CannotMerge, merge_entry, write_entry
from assent.cli.session import CommandSession, command
from assent.settings.load import Settings
from assent.settings.welcome import SERVER_NAME, cursor_http, key_command, mcp_url, stdio_entry, vs_code_http

app = typer.Typer(no_args_is_help=True)

KEY_VARIABLE = "ASSENT_KEY"


def config(
    session: CommandSession,
    client: Annotated[
        str, typer.Argument(metavar="CLIENT", help=f"{', '.join(CLIENTS)}.", show_default=False)
    ],
    http: Annotated[
        bool, typer.Option("--http", help="Connect to the running server by its address, with a key.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write it into the client's file, after showing the difference.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: do not ask.")] = False,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="The file, instead of the client's usual one."),
    ] = None,
) -> None:
    """Print what to put into a client's file so that it uses this server, or write it there.

    Without --http the client starts a process of its own on the same data and needs no key.
    """
    found = CLIENTS.get(client)
    if found is None:
        raise Failure(f"There is no client {client!r} here. Name one of: {', '.join(CLIENTS)}.")
    entry, top = build_entry(session.settings, client, is_http=http)
    path = Path(file) if file is not None else found.locate(Path.home(), Path.cwd())
    note = _describe_key(session.settings, client) if http else ""
    if not write:
        session.give(
            {"file": str(path), "entry": entry, **top}, write_entry(found, SERVER_NAME, entry, top).rstrip()
        )
        session.say(
            f"\nFor {path} ({found.label}). Let Assent merge it there: repeat the command with --write.{note}"
        )
        return
    before = _read(path)
    try:
        after = merge_entry(found, before, SERVER_NAME, entry, top)
    except CannotMerge as error:
        snippet = write_entry(found, SERVER_NAME, entry, top)
        raise Failure(
            f"{path} was not changed: {error}.\nMerge this yourself:\n\n{snippet}\nOr name another file with --file."
        ) from None
    if after == before:
        session.give({"file": str(path), "changed": False}, f"{path} has this entry already.{note}")
        return
    session.say(_compare(before, after, str(path)))
    if not (yes or _confirm(session, path)):
        raise Failure(f"{path} was not changed.")
    _replace(path, after)
    session.give(
        {"file": str(path), "changed": True}, f"Written: {path}. Restart {found.label} to load it.{note}"
    )


def build_entry(settings: Settings, client: str, *, is_http: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a client's entry, and what its file has beside the table of servers."""
    kind = {"type": "http" if is_http else "stdio"} if client in ("claude", "vscode") else {}
    if not is_http:
        return {**kind, **stdio_entry(settings)}, {}
    if client == "vscode":
        whole = vs_code_http(settings)
        return whole["servers"][SERVER_NAME], {"inputs": whole["inputs"]}
    if client == "codex":
        return {"url": mcp_url(settings), "bearer_token_env_var": KEY_VARIABLE}, {}
    variable = f"${{{KEY_VARIABLE}}}" if client == "claude" else f"${{env:{KEY_VARIABLE}}}"
    return {**kind, **cursor_http(settings), "headers": {"Authorization": f"Bearer {variable}"}}, {}


def _describe_key(settings: Settings, client: str) -> str:
    made = key_command(settings, client)
    if client == "vscode":
        return f"\nVS Code asks for the key once. Make it with: {made}"
    return f"\nThe client reads the key from {KEY_VARIABLE}: export {KEY_VARIABLE}=$({made})"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise Failure(
            f"{path} was not changed: it is not a text in UTF-8. Name another file with --file."
        ) from None


def _compare(before: str, after: str, name: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return "\n".join(lines)


def _confirm(session: CommandSession, path: Path) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failure(
            f"{path} was not changed: there is no terminal to ask at. Repeat the command with --yes."
        )
    sys.stderr.write(f"Write {path}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _replace(path: Path, text: str) -> None:
    """Write the file whole or not at all. A link stays a link, and the mode stays as it was."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    try:
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8"
        ) as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        draft.chmod(mode)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


command(app, "config")(config)
