"""The files in which MCP clients keep their servers: where each is, and how an entry is merged into it.

A merge changes one entry and keeps the rest as it is. JSON is read and written again, so a file with
comments is refused rather than stripped of them. In TOML only the lines of the entry are replaced.
Pure: text in, text out.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from assent.gate.rules.toml import write_toml
from assent.kernel.structs import Record


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

    def locate(self, home: Path, here: Path) -> Path:
        return home / self.path[2:] if self.path.startswith("~/") else here / self.path


CLIENTS: Final = {
    "claude": ClientFile("Claude Code", ".mcp.json", "mcpServers"),
    "cursor": ClientFile("Cursor", "~/.cursor/mcp.json", "mcpServers"),
    "vscode": ClientFile("VS Code", ".vscode/mcp.json", "servers"),
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
