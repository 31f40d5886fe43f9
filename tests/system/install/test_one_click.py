"""One click: what the links, the plugins and the registry entry install is this server, in this version."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from tests.support.warm_processes import ASSENT

from assent import __version__
from assent.serving.web.shell.clients import install_links
from assent_wrap.hook import DEFAULT_TOOLS, SPARE_SECONDS, WAIT_SECONDS

ROOT = Path(__file__).parents[3]
CLAUDE = next(iter(ROOT.glob(".node/node_modules/@anthropic-ai/claude-code-linux-*/claude")), None)
LOCAL = {"command": "/opt/as sent/assent", "args": ["stdio", "--data-dir", "/data/ä+/?&#"]}


def read_json(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def decode(href: str) -> dict[str, Any]:
    """Return what a client reads from a link, also from one that a web page of its maker passes on."""
    parts = urlsplit(href)
    if parts.netloc == "vscode.dev":
        (href,) = parse_qs(parts.query)["url"]
        parts = urlsplit(href)
    if parts.scheme == "vscode":
        assert parts.path == "mcp/install"
        return dict(json.loads(unquote(parts.query)))
    assert (parts.netloc + parts.path) in ("anysphere.cursor-deeplink/mcp/install", "cursor.com/install-mcp")
    asked = parse_qs(parts.query)
    return {"name": asked["name"][0], **json.loads(base64.b64decode(asked["config"][0]))}


def test_a_link_holds_the_entry_of_its_client_and_no_key() -> None:
    cursor, vs_code = (decode(each.href) for each in install_links("http://localhost:8080", LOCAL))
    assert cursor == {"name": "assent", **LOCAL}
    assert vs_code == {"name": "assent", "type": "stdio", **LOCAL}
    cursor, vs_code = (decode(each.href) for each in install_links("https://assent.example.com"))
    assert cursor["url"] == vs_code["url"] == "https://assent.example.com/api/mcp"
    assert cursor["headers"] == {"Authorization": "Bearer ${env:ASSENT_KEY}"}
    (asked,) = vs_code["inputs"]
    assert vs_code["headers"] == {"Authorization": f"Bearer ${{input:{asked['id']}}}"} and asked["password"]


def test_the_buttons_of_the_readme_hold_what_the_pages_of_make_run_hold() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [decode(each) for each in re.findall(r"\[Add to [\w ]+\]\((\S+)\)", readme)]
    assert found == [decode(each.href) for each in install_links("http://localhost:8080")]


def test_registry_entry_plugins_snippets_and_container_agree() -> None:
    server, market = read_json("server.json"), read_json(".claude-plugin/marketplace.json")
    plugins = [read_json(f"{each['source'][2:]}/.claude-plugin/plugin.json") for each in market["plugins"]]
    assert [each["name"] for each in market["plugins"]] == [each["name"] for each in plugins]
    assert {server["version"], *(each["version"] for each in plugins)} == {__version__}
    assert plugins[0]["description"] == server["description"]
    assert plugins[0]["mcpServers"] == {"assent": {"command": "${user_config.command}", "args": ["stdio"]}}
    page = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
    assert '"assent": { "command": "/path/to/assent", "args": ["stdio"] }' in page
    container = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8")
    assert re.search(r"^(?:ENTRYPOINT|CMD) .*\bassent\b", container, re.MULTILINE)


def test_the_hook_of_the_plugin_asks_as_the_printed_settings_do() -> None:
    (options, hooks) = (
        read_json(f"plugins/assent-hook/{each}")
        for each in (".claude-plugin/plugin.json", "hooks/hooks.json")
    )
    assert options["userConfig"]["tools"]["default"] == DEFAULT_TOOLS
    (before,) = hooks["hooks"]["PreToolUse"][0]["hooks"]
    assert (before["timeout"], before["onFailure"]) == (WAIT_SECONDS + SPARE_SECONDS, "block")
    commands = {each["command"] for [entry] in hooks["hooks"].values() for each in entry["hooks"]}
    assert commands == {before["command"]} and f"--wait {WAIT_SECONDS}" in before["command"]


@pytest.mark.slow
@pytest.mark.skipif(CLAUDE is None, reason="Claude Code could not be had; `make test` says so")
def test_claude_code_validates_installs_and_lists_the_plugins_and_reaches_the_server(tmp_path: Path) -> None:
    market = tmp_path / "market"
    for part in (".claude-plugin", "plugins"):
        shutil.copytree(ROOT / part, market / part)
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def claude(*words: str) -> str:
        done = subprocess.run(
            [str(CLAUDE), *words],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for folder in (market, market / "plugins/assent", market / "plugins/assent-hook"):
        claude("plugin", "validate", "--strict", str(folder))
    claude("plugin", "marketplace", "add", str(market))
    for name in ("assent", "assent-hook"):
        claude("plugin", "install", f"{name}@assent", "--config", f"command={ASSENT}")
    listed = json.loads(claude("plugin", "list", "--json"))
    assert {(each["id"], each["version"], each["enabled"]) for each in listed} == {
        ("assent@assent", __version__, True),
        ("assent-hook@assent", __version__, True),
    }
    (line,) = [
        each for each in claude("mcp", "list").splitlines() if each.startswith("plugin:assent:assent:")
    ]
    assert line.endswith("Connected") and ASSENT in line
