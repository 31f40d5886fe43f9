"""Snippets that add this server to a client, and commands for its machine, ready to paste.

They name a person's own files, never a project's: a key in a repository leaks.
"""

from __future__ import annotations

import base64
import json
import shlex
from typing import Any, Final
from urllib.parse import quote

from assent.engine.core.services import Services
from assent.kernel.structs import Record

SERVER_NAME: Final = "assent"

PLACEHOLDER_KEY: Final = "YOUR_KEY"  # to be replaced


class Snippet(Record):
    client: str
    where: str
    text: str


def endpoint(base_url: str) -> str:
    return f"{base_url.rstrip('/')}/api/mcp"


def http_snippets(base_url: str, key: str) -> tuple[Snippet, ...]:
    """Snippets for clients that connect over HTTP."""
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


def stdio_snippets(services: Services, key: str | None) -> tuple[Snippet, ...]:
    """Return the snippet for clients that start a process on this server's data, if they can. Without a key it uses
    the local workspace. Readers on another machine are not shown this machine's paths."""
    if services.links.client_entry is None:
        return ()
    environment = {} if key is None else {"ASSENT_API_KEY": key}
    entry: dict[str, Any] = {"command": "assent", "args": ["stdio"], **({"env": environment} if key else {})}
    if services.links.only_here:
        entry = services.links.client_entry(environment)
    where = "The client starts Assent itself, on the computer of this server."
    return (Snippet("On this computer (stdio)", where, _json({"mcpServers": {SERVER_NAME: entry}})),)


class InstallLink(Record):
    """A link that opens a client and asks it to add this server."""

    client: str
    href: str


def install_links(base_url: str, local_entry: dict[str, Any] | None = None) -> tuple[InstallLink, ...]:
    """Return the links for a local process, or without its entry those for HTTP. A link never has a key: the system
    passes it on as an argument, which others could read. VS Code asks for the key, Cursor reads it from a variable."""
    if local_entry is not None:
        return cursor_link(local_entry), vs_code_link({"type": "stdio", **local_entry})
    ask = {
        "type": "promptString",
        "id": "assent-key",
        "description": "Assent workspace key",
        "password": True,
    }
    remote = {"type": "http", "url": endpoint(base_url)}
    in_cursor, in_vs_code = (
        {**remote, "headers": {"Authorization": f"Bearer {key}"}}
        for key in ("${env:ASSENT_KEY}", "${input:assent-key}")
    )
    return cursor_link(in_cursor), vs_code_link({"inputs": [ask], **in_vs_code})


def cursor_link(entry: dict[str, Any]) -> InstallLink:
    config = quote(base64.b64encode(json.dumps(entry).encode()).decode(), safe="")
    return InstallLink(
        "Cursor", f"cursor://anysphere.cursor-deeplink/mcp/install?name={SERVER_NAME}&config={config}"
    )


def vs_code_link(entry: dict[str, Any]) -> InstallLink:
    config = quote(json.dumps({"name": SERVER_NAME, **entry}), safe="")
    return InstallLink("VS Code", f"vscode:mcp/install?{config}")


def terminal_command(services: Services, *words: str) -> str:
    """A command with full paths if the reader is at the server's machine."""
    return (
        services.links.shell_command(*words) if services.links.only_here else shlex.join(["assent", *words])
    )


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
