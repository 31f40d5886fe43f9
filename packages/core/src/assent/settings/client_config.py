"""The start-up text for the server's owner: its address, and how to add it to each client.

Every snippet works when pasted. Over stdio a client starts its own process and needs no key; over
HTTP the snippet creates its key. Prints nothing.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from assent.gate.policy import DEFAULT, PEOPLE, RELAY, Policy, name_preset
from assent.kernel.distribution import DISTRIBUTION, PARTS, uvx_words
from assent.present.rule_text import describe_policy, name_policy
from assent.settings.load import SQLITE_SCHEME, Settings
from assent.settings.secret_files import HOMES
from assent.settings.table import CONFIG_FILE

MCP_PATH: Final = "/api/mcp"
SERVER_NAME: Final = "assent"
DRAFTS_ONLY: Final = ("runs:write",)
"""Scopes of a key that prepares and reads, but cannot decide or send."""


def welcome_text(settings: Settings, policy: Policy = DEFAULT) -> str:
    """The text that `assent serve` shows once it listens."""
    return "\n".join(
        [
            f"{first_line(settings)} Stop it with Ctrl+C.",
            "",
            *(_local_lines(settings) if settings.sqlite_path is not None else _describe_sharing(settings)),
            *_http_lines(settings),
            *(
                [f"Other people ask for a key at {settings.base_url}/get-key", ""]
                * bool(settings.signups_per_hour)
            ),
            *_consent_lines(settings, policy),
        ]
    )


def first_line(settings: Settings) -> str:
    """Where the server listens, and the address by which it is reached."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return (
        f"Assent is serving at {settings.base_url} and listens on {host}:{settings.port} "
        f"(MCP: {mcp_url(settings)})."
    )


def _http_lines(settings: Settings) -> tuple[str, ...]:
    """How clients connect to the address: where they can sign in, without a key."""
    cursor = {"mcpServers": {SERVER_NAME: cursor_http(settings)}}
    remote = {"type": "http", "url": mcp_url(settings)}
    if settings.oauth:
        claude, vs_code, line = "opens your browser to sign in", "the same", _add_to_vs_code(remote)
    else:
        claude, vs_code = "makes its key as you paste", "asks for a key; in .vscode/mcp.json"
        line = json.dumps(vs_code_http(settings))
    return (
        "Over HTTP:",
        "",
        f"  Claude Code ({claude})",
        f"    {claude_code_http(settings)}",
        f"  VS Code ({vs_code})",
        f"    {line}",
        "  Cursor (~/.cursor/mcp.json), with a key that this command shows once:",
        f"    {key_command(settings, 'editor')}",
        f"    {json.dumps(cursor)}",
        "",
    )


def _consent_lines(settings: Settings, policy: Policy) -> tuple[str, ...]:
    """Which policy holds, what it means and how to change it."""
    change = in_shell(own_command(settings, "policy", "set"))
    lines = [f"Who may approve: {name_policy(policy)}.", *(f"  {line}" for line in describe_policy(policy))]
    preset = name_preset(policy)
    other = RELAY if preset == PEOPLE else PEOPLE
    lines += [f"Change it at {settings.base_url}/settings/policy, or with:", f"    {change} {other}"]
    if preset == RELAY:
        lines += [
            "Or give an agent a key that cannot decide:",
            f"    {key_command(settings, 'drafts-only', *DRAFTS_ONLY)}",
        ]
    return tuple(lines)


def owner_text(settings: Settings, link: str) -> str:
    """The text with the owner's link, for a terminal only."""
    return (
        "Sign in as the owner of this server, to decide in the browser (works once, for 15 minutes; later ones:\n"
        f"{in_shell(own_command(settings, 'owner-link'))}):\n\n  {link}"
    )


def _local_lines(settings: Settings) -> tuple[str, ...]:
    return (
        "On this machine a client starts its own process on the same data and needs no key:",
        "",
        "  Claude Code",
        f"    {claude_code_stdio(settings)}",
        "  VS Code",
        f"    {vs_code_stdio(settings)}",
        "  Cursor (~/.cursor/mcp.json) and Claude Desktop (Settings > Developer > Edit Config)",
        f"    {json.dumps({'mcpServers': {SERVER_NAME: stdio_entry(settings)}})}",
        "",
    )


def _describe_sharing(settings: Settings) -> tuple[str, ...]:
    if FROM_ENVIRONMENT not in same_settings(settings):
        return ()
    return (
        "The address of the database holds a password and is not shown. Set ASSENT_DATABASE_URL, ASSENT_SECRET and",
        "RUN_TOKEN_SECRET as for this server in the shell in which you run these commands.",
        "",
    )


def mcp_url(settings: Settings) -> str:
    return settings.base_url + MCP_PATH


UV_CACHE: Final = ("archive-v", "environments-v")
"""How uv names the folders of its cache with the environments of `uvx`."""


def this_command() -> list[str]:
    """The command of this installation, independent of the client's PATH where that is possible. An environment of
    `uvx` vanishes when uv cleans its cache, so it is `uvx` that is named."""
    in_cache = any(part.startswith(UV_CACHE) for part in Path(sys.prefix).parts)
    if in_cache and (words := uvx_words(_find_origins())):
        return [shutil.which("uvx") or "uvx", *words]
    script = Path(sys.executable).parent / "assent"
    return [str(script)] if script.is_file() else [sys.executable, "-m", "assent"]


def _find_origins() -> list[str]:
    """The wheels or folders that this was installed from, if all are on this machine."""
    from importlib.metadata import distributions

    origins: list[str] = []
    for name in (DISTRIBUTION, *PARTS):
        found = next(iter(distributions(name=name)), None)
        recorded = found and found.read_text("direct_url.json")
        url = urlsplit(json.loads(recorded)["url"] if recorded else "")
        if url.scheme != "file":
            return []
        path = unquote(url.path)
        if not path.startswith(tuple(f"{each}/" for each in origins)):  # a folder has its parts inside
            origins.append(path)
    return origins


def name_program() -> str:
    """This command as a person types it: its name if the shell finds this installation by it, else its path."""
    first, *rest = this_command()
    found = shutil.which("assent")
    is_found = found is not None and Path(found).resolve() == Path(first).resolve()
    return "assent" if is_found and not rest else in_shell([first, *rest])


FROM_ENVIRONMENT: Final = "$ASSENT_DATABASE_URL"
"""Replaces a URL with a password; the shell substitutes it."""


def same_settings(settings: Settings) -> list[str]:
    """The flags for another process on the same data, without secrets."""
    flags = ["--data-dir", str(settings.data_dir)]
    if settings.config_file is not None and settings.config_file != settings.data_dir / CONFIG_FILE:
        flags += ["--config", str(settings.config_file)]
    own_file = f"{SQLITE_SCHEME}{settings.data_dir / 'assent.db'}"
    if settings.sqlite_path is not None and settings.database_url != own_file:
        flags += ["--database-url", settings.database_url]
    if settings.sqlite_path is None and not settings.database_in_file:
        flags += [
            "--database-url",
            FROM_ENVIRONMENT if has_password(settings.database_url) else settings.database_url,
        ]
    return flags


def has_password(database_url: str) -> bool:
    parts = urlsplit(database_url)
    return parts.password is not None or "password" in parts.query


def in_shell(words: Iterable[str]) -> str:
    """Quote a command for the shell."""
    return " ".join(f'"{word}"' if word == FROM_ENVIRONMENT else shlex.quote(word) for word in words)


def own_command(settings: Settings, *words: str) -> list[str]:
    """A command of this installation on the same data; one that serves has the same operators."""
    serves = words[0] in ("serve", "stdio")
    named = [word for each in settings.operators for word in ("--operators", each)] if serves else []
    return [*this_command(), *words, *named, *same_settings(settings)]


def stdio_command(settings: Settings) -> list[str]:
    return own_command(settings, "stdio")


def stdio_entry(settings: Settings) -> dict[str, Any]:
    """The entry of a local server for Claude Desktop and Cursor."""
    return client_entry(stdio_command(settings))


def client_entry(words: list[str], environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """No shell reads the entry, so variables go into its `env`."""
    command, *args = words
    env = dict(environment or {})
    if FROM_ENVIRONMENT in args:
        at = args.index(FROM_ENVIRONMENT)
        args = args[: at - 1] + args[at + 1 :]
        env["ASSENT_DATABASE_URL"] = "YOUR_DATABASE_URL"
        env |= {home.env: f"YOUR_{home.env}" for home in HOMES}
    return {"command": command, "args": args, **({"env": env} if env else {})}


def claude_code_stdio(settings: Settings) -> str:
    add = ["claude", "mcp", "add", "--transport", "stdio", "--scope", "user", SERVER_NAME, "--"]
    return in_shell([*add, *stdio_command(settings)])


def vs_code_stdio(settings: Settings) -> str:
    return _add_to_vs_code({"type": "stdio", **stdio_entry(settings)})


def _add_to_vs_code(entry: Mapping[str, Any]) -> str:
    return shlex.join(["code", "--add-mcp", json.dumps({"name": SERVER_NAME, **entry})])


def key_command(settings: Settings, label: str, *scopes: str) -> str:
    """Without scopes the key may do everything."""
    limits = [word for scope in scopes for word in ("--scope", scope)]
    return in_shell(own_command(settings, "keys", "create", "--label", label, *limits))


def claude_code_http(settings: Settings) -> str:
    add = ["claude", "mcp", "add", "--transport", "http", "--scope", "user", SERVER_NAME, mcp_url(settings)]
    if settings.oauth:
        return shlex.join(add)
    key = key_command(settings, "claude-code")
    return f'{shlex.join(add)} --header "Authorization: Bearer $({key})"'


def cursor_http(settings: Settings) -> dict[str, Any]:
    return {"url": mcp_url(settings), "headers": {"Authorization": "Bearer YOUR_KEY"}}


def vs_code_http(settings: Settings) -> dict[str, Any]:
    """VS Code asks for the key once, so that the file can be shared."""
    ask = {
        "type": "promptString",
        "id": "assent-key",
        "description": "Assent workspace key",
        "password": True,
    }
    headers = {"Authorization": "Bearer ${input:assent-key}"}
    return {
        "inputs": [ask],
        "servers": {SERVER_NAME: {"type": "http", "url": mcp_url(settings), "headers": headers}},
    }
