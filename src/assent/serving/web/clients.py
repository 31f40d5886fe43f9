"""How to add this server to a client, as text that works when pasted. Pure: an address, a key, text.

The files named are a person's own, never a project's: a key in a repository is soon everybody's.
"""

from __future__ import annotations

import json
import shlex
from typing import Any, Final

import msgspec

SERVER_NAME: Final = "assent"

PLACEHOLDER_KEY: Final = "YOUR_KEY"  # a word to replace


class Snippet(msgspec.Struct, frozen=True):
    """One client: its name, where the text goes, the text."""

    client: str
    where: str
    text: str


def endpoint(base_url: str) -> str:
    """Where clients connect."""
    return f"{base_url.rstrip('/')}/api/mcp"


def http_snippets(base_url: str, key: str) -> tuple[Snippet, ...]:
    """For clients that reach the server by its address."""
    url = endpoint(base_url)
    authorization = f"Bearer {key}"
    command = ["claude", "mcp", "add", "--transport", "http", "--scope", "user", SERVER_NAME, url, "--header"]
    remote: dict[str, Any] = {"url": url, "headers": {"Authorization": authorization}}
    return (
        Snippet(
            "Claude Code",
            "Run in a terminal.",
            f'{shlex.join(command)} "Authorization: {authorization}"',
        ),
        Snippet(
            "Cursor",
            "Put into ~/.cursor/mcp.json.",
            _json({"mcpServers": {SERVER_NAME: remote}}),
        ),
        Snippet(
            "VS Code",
            "Run the command “MCP: Open User Configuration” and put this there.",
            _json({"servers": {SERVER_NAME: {"type": "http", **remote}}}),
        ),
        Snippet(
            "Another client",
            "Any MCP client that can send a header.",
            f"{url}\nAuthorization: {authorization}",
        ),
    )


def stdio_snippet(key: str | None) -> Snippet:
    """For clients that start the server themselves; without a key it works in the local workspace."""
    entry: dict[str, Any] = {"command": "assent", "args": ["stdio"]}
    if key is not None:
        entry["env"] = {"ASSENT_API_KEY": key}
    return Snippet(
        "On this machine (stdio)",
        "The client starts Assent itself, where Assent is installed.",
        _json({"mcpServers": {SERVER_NAME: entry}}),
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
