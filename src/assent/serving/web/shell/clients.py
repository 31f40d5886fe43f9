"""How to add this server to a client, and what to run on its machine, as text that works when pasted.

The files named are a person's own, never a project's: a key in a repository is soon everybody's.
"""

from __future__ import annotations

import json
import shlex
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from assent.engine.core.services import Services

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


def stdio_snippet(services: Services, key: str | None) -> Snippet:
    """For clients that start a process of their own on this server's data; without a key it works in the local
    workspace. A reader at another machine learns nothing of this one's folders."""
    environment = {} if key is None else {"ASSENT_API_KEY": key}
    entry: dict[str, Any] = {"command": "assent", "args": ["stdio"], **({"env": environment} if key else {})}
    if on_this_machine(services):
        entry = services.links.client_entry(environment)
    return Snippet(
        "On this machine (stdio)",
        "The client starts Assent itself, on the machine of this server.",
        _json({"mcpServers": {SERVER_NAME: entry}}),
    )


def on_this_machine(services: Services) -> bool:
    """Whether only people at the machine of this server see its pages."""
    return urlsplit(services.links.base_url).hostname in ("127.0.0.1", "::1", "localhost")


def terminal_command(services: Services, *words: str) -> str:
    """A command for the person who runs this server: whole where they are at its machine."""
    return (
        services.links.shell_command(*words) if on_this_machine(services) else shlex.join(["assent", *words])
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
