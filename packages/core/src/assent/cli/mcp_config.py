"""`assent mcp config`: prints a client's entry for this server, or writes it into the client's file."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from assent.cli.session import CommandSession, Failure
from assent.gate.rules.source import write_toml
from assent.kernel.structs import Record
from assent.settings.client_config import (
    SERVER_NAME,
    cursor_http,
    key_command,
    mcp_url,
    stdio_entry,
    vs_code_http,
)
from assent.settings.load import Settings

# The files in which MCP clients keep their servers: where each is, and how an entry is merged into it.
#
# A merge changes one entry and keeps the rest as it is. JSON is read and written again, so a file with comments is
# refused rather than stripped of them. In TOML only the lines of the entry are replaced. Pure: text in, text out.


class CannotMerge(Exception):  # noqa: N818 - the text is for a person
    """The file cannot be changed without losing something. The message says why."""


class ClientFile(Record):
    """Where a client keeps its servers."""

    label: str
    path: str
    """Below the home directory if it begins with `~`, else below the present directory."""
    key: str
    """The table of servers in the file."""
    is_toml: bool = False
    also: tuple[str, ...] = ()
    """Other files in which it has servers."""
    nested: str = ""
    """An object of the file whose values have tables of servers, too."""
    has_http: bool = True
    """Whether its file can name a server by its address."""

    def locate(self, home: Path, here: Path) -> Path:
        return _locate(self.path, home, here)

    def locate_all(self, home: Path, here: Path) -> list[Path]:
        """Return every file in which it may have servers."""
        return [_locate(each, home, here) for each in (self.path, *self.also)]

    @staticmethod
    def list_known() -> Mapping[str, ClientFile]:
        """Return the clients by the names that `assent mcp config` takes."""
        return CLIENTS

    @staticmethod
    def replace(path: Path, content: bytes) -> None:
        """Write a file whole or not at all. A link stays a link, and the mode stays as it was."""
        _replace(path, content)


def _locate(path: str, home: Path, here: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else here / path


SUPPORT: Final = "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
CLIENTS: Final = {
    "claude": ClientFile(
        "Claude Code", ".mcp.json", "mcpServers", also=("~/.claude.json",), nested="projects"
    ),
    "claude-desktop": ClientFile(
        "Claude Desktop", f"{SUPPORT}/Claude/claude_desktop_config.json", "mcpServers", has_http=False
    ),
    "cursor": ClientFile("Cursor", "~/.cursor/mcp.json", "mcpServers", also=(".cursor/mcp.json",)),
    "vscode": ClientFile("VS Code", ".vscode/mcp.json", "servers", also=(f"{SUPPORT}/Code/User/mcp.json",)),
    "codex": ClientFile("Codex", "~/.codex/config.toml", "mcp_servers", is_toml=True),
}


def write_entry(client: ClientFile, name: str, entry: Mapping[str, Any], top: Mapping[str, Any]) -> str:
    """Return the text of a file that has only this entry, and `top` beside the table of servers."""
    if client.is_toml:
        return write_toml_entry(client, name, entry)
    return json.dumps({**top, client.key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"


def write_toml_entry(client: ClientFile, name: str, entry: Mapping[str, Any]) -> str:
    return f"[{client.key}.{name}]\n{write_toml(entry)}"


def merge_entry(
    client: ClientFile, text: str, name: str, entry: Mapping[str, Any], top: Mapping[str, Any]
) -> str:
    """Return the text of the file with the entry in it. Raises CannotMerge."""
    if not text.strip():
        return write_entry(client, name, entry, top)
    return (
        _merge_toml(client, text, name, entry)
        if client.is_toml
        else _merge_json(client, text, name, entry, top)
    )


def _merge_json(
    client: ClientFile, text: str, name: str, entry: Mapping[str, Any], top: Mapping[str, Any]
) -> str:
    try:
        found = json.loads(text, object_pairs_hook=_refuse_duplicates)
    except ValueError as error:
        raise CannotMerge(f"it is no plain JSON ({error}); a file with comments is not rewritten") from None
    if not isinstance(found, dict) or not isinstance(found.setdefault(client.key, {}), dict):
        raise CannotMerge(f"it has no object “{client.key}” at the top")
    found[client.key][name] = dict(entry)
    for key, listed in top.items():
        known = found.setdefault(key, [])
        if not isinstance(known, list):
            raise CannotMerge(f"its “{key}” is no list")
        named = {each["id"] for each in listed}
        found[key] = [
            each for each in known if not (isinstance(each, dict) and each.get("id") in named)
        ] + listed
    indent = re.search(r"\n([ \t]+)\"", text)
    return json.dumps(found, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _merge_toml(client: ClientFile, text: str, name: str, entry: Mapping[str, Any]) -> str:
    before = _read_toml(text)
    own = re.compile(rf"\[\s*{client.key}\s*\.\s*[\"']?{name}[\"']?\s*(?:\.[^\]]*)?\]\s*(?:#.*)?")
    kept: list[str] = []
    at: int | None = None
    is_own = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            is_own = own.fullmatch(line.strip()) is not None
        if not is_own:
            kept.append(line)
        elif at is None:
            at = len(kept)
    added = write_toml_entry(client, name, entry)
    head = "".join(kept[:at])
    tail = "".join(kept[at:]) if at is not None else ""
    head += "" if head.endswith("\n\n") or not head else "\n" if head.endswith("\n") else "\n\n"
    merged = head + added + ("\n" + tail if tail else "")
    expected = {**before, client.key: {**before.get(client.key, {}), name: dict(entry)}}
    if _read_toml(merged) != expected:
        raise CannotMerge(f"its servers are not tables of the form [{client.key}.NAME]")
    return merged


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotMerge(f"it is no TOML ({error})") from None


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
    if http and not found.has_http:
        raise Failure(f"{found.label} starts its servers itself. Leave --http out.")
    entry, top = build_entry(session.settings, client, is_http=http)
    path = Path(file) if file is not None else found.locate(Path.home(), Path.cwd())
    note = _describe_access(session.settings, client) if http else _name_blanks(entry)
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
    if not yes:
        session.confirm(f"Write {path}?", f"{path} was not changed")
    _replace(path, after.encode())
    session.give(
        {"file": str(path), "changed": True}, f"Written: {path}. Restart {found.label} to load it.{note}"
    )


def build_entry(settings: Settings, client: str, *, is_http: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a client's entry, and what its file has beside the table of servers."""
    kind = {"type": "http" if is_http else "stdio"} if client in ("claude", "vscode") else {}
    if not is_http:
        return {**kind, **stdio_entry(settings)}, {}
    if _signs_in(settings, client):
        return {**kind, "url": mcp_url(settings)}, {}
    if client == "vscode":
        whole = vs_code_http(settings)
        return whole["servers"][SERVER_NAME], {"inputs": whole["inputs"]}
    if client == "codex":
        return {"url": mcp_url(settings), "bearer_token_env_var": KEY_VARIABLE}, {}
    variable = f"${{{KEY_VARIABLE}}}" if client == "claude" else f"${{env:{KEY_VARIABLE}}}"
    return {**kind, **cursor_http(settings), "headers": {"Authorization": f"Bearer {variable}"}}, {}


def _signs_in(settings: Settings, client: str) -> bool:
    """Whether a client gets in without a key: its way back leads to an address that the server accepts."""
    return settings.oauth and client in ("claude", "vscode")


def _describe_access(settings: Settings, client: str) -> str:
    made = key_command(settings, client)
    if _signs_in(settings, client):
        return f"\nIt opens your browser once, to sign in. With a key instead: {made}"
    if client == "vscode":
        return f"\nVS Code asks for the key once. Make it with: {made}"
    return f"\nThe client reads the key from {KEY_VARIABLE}: export {KEY_VARIABLE}=$({made})"


def _name_blanks(entry: Mapping[str, Any]) -> str:
    if not (blanks := ", ".join(entry.get("env", {}).values())):
        return ""
    return (
        f"\nPut the values of this server in place of {blanks}. An agent that reads the file can then do what the "
        "server can; a client that connects over HTTP needs none of them."
    )


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


def _replace(path: Path, content: bytes) -> None:
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.chmod(mode)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
