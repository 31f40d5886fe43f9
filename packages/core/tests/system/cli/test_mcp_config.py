"""`assent mcp config`: the entry of a client is printed, or merged into its file after a diff."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.support.cli.fixtures import Assent

pytestmark = pytest.mark.usefixtures("bare_environment")
OVER_HTTP = ["claude", "cursor", "vscode", "codex"]
CLIENTS = [*OVER_HTTP, "claude-desktop"]
KEYS = {
    "claude": "mcpServers",
    "claude-desktop": "mcpServers",
    "cursor": "mcpServers",
    "vscode": "servers",
    "codex": "mcp_servers",
}


def read(client: str, text: str) -> dict[str, Any]:
    found = tomllib.loads(text) if client == "codex" else json.loads(text)
    return dict(found[KEYS[client]])


@pytest.mark.parametrize("client", CLIENTS)
def test_the_printed_entry_starts_this_server_on_its_data(
    assent: Assent, data_dir: Path, client: str
) -> None:
    done = assent("mcp", "config", client)
    entry = read(client, done.out)["assent"]
    assert Path(entry["command"]).is_file()
    assert entry["args"] == ["stdio", "--data-dir", str(data_dir)]


def test_what_a_person_must_fill_in_is_said(assent: Assent, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "YOUR_" not in assent("mcp", "config", "claude").err
    monkeypatch.setenv("ASSENT_DATABASE_URL", "postgresql://me:hunter2@db/assent")
    done = assent("mcp", "config", "claude")
    names = ("ASSENT_DATABASE_URL", "ASSENT_SECRET", "RUN_TOKEN_SECRET")
    assert sorted(read("claude", done.out)["assent"]["env"]) == sorted(names)
    assert all(value in done.err for value in read("claude", done.out)["assent"]["env"].values())


def test_a_client_whose_file_has_no_addresses_is_offered_none(assent: Assent) -> None:
    done = assent("mcp", "config", "claude-desktop", "--http")
    assert done.code == 1 and "--http" in done.err


@pytest.mark.parametrize("client", OVER_HTTP)
def test_an_entry_over_http_has_the_address_and_no_key(assent: Assent, client: str) -> None:
    done = assent("mcp", "config", client, "--http")
    entry = read(client, done.out)["assent"]
    assert entry["url"].endswith("/api/mcp")
    assert "clp_live_" not in done.out and "keys create --label" in done.err


@pytest.mark.parametrize("client", CLIENTS)
def test_a_new_file_is_written_with_the_printed_entry_and_only_once(
    assent: Assent, tmp_path: Path, client: str
) -> None:
    path = tmp_path / "made" / "file"
    assert assent("mcp", "config", client, "--write", "--yes", "--file", str(path)).code == 0
    assert path.read_text().strip() == assent("mcp", "config", client).out.strip()
    again = assent("mcp", "config", client, "--write", "--file", str(path))
    assert again.code == 0 and "already" in again.out


def test_other_servers_and_the_order_and_indentation_of_a_json_file_stay(
    assent: Assent, tmp_path: Path
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(
        '{\n    "theme": "dä",\n    "mcpServers": {\n        "files": {"command": "x"}\n    }\n}\n'
    )
    path.chmod(0o640)
    done = assent("mcp", "config", "cursor", "--write", "--yes", "--file", str(path))
    found = json.loads(path.read_text())
    assert list(found) == ["theme", "mcpServers"] and list(found["mcpServers"]) == ["files", "assent"]
    assert found["mcpServers"]["files"] == {"command": "x"} and '    "theme": "dä"' in path.read_text()
    assert '+            "command"' in done.err or '+        "assent"' in done.err
    assert path.stat().st_mode & 0o777 == 0o640


CODEX = """# my settings
model = "o9"

[mcp_servers.assent]
command = "old"

[mcp_servers.assent.env]
A = "b"

[mcp_servers.files] # keep
command = "x"
"""


def test_the_lines_of_a_toml_file_stay_but_for_the_entry(assent: Assent, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(CODEX)
    assert assent("mcp", "config", "codex", "--write", "--yes", "--file", str(path)).code == 0
    text = path.read_text()
    assert text.startswith('# my settings\nmodel = "o9"\n') and "[mcp_servers.files] # keep\n" in text
    servers = read("codex", text)
    assert servers["files"] == {"command": "x"} and "env" not in servers["assent"] and "old" not in text


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("vscode", '{ // mine\n "servers": {} }'),
        ("cursor", '{"mcpServers": [1]}'),
        ("cursor", '{"mcpServers": {}, "mcpServers": {"a": 1}}'),
        ("claude", "[]"),
        ("codex", "mcp_servers = { assent = { command = 'x' } }\n"),
        ("codex", "no toml"),
    ],
)
def test_a_file_that_cannot_be_merged_stays_and_the_message_has_the_entry(
    assent: Assent, tmp_path: Path, client: str, text: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    done = assent("mcp", "config", client, "--write", "--yes", "--file", str(path))
    assert done.code == 1 and path.read_text() == text
    assert "was not changed" in done.err and "stdio" in done.err


def test_without_a_terminal_nothing_is_written_unless_yes_is_given(assent: Assent, tmp_path: Path) -> None:
    path = tmp_path / "file"
    done = assent("mcp", "config", "claude", "--write", "--file", str(path))
    assert done.code == 1 and "--yes" in done.err and not path.exists()


def test_a_link_to_a_file_stays_a_link(assent: Assent, tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}")
    link.symlink_to(real)
    assert assent("mcp", "config", "claude", "--write", "--yes", "--file", str(link)).code == 0
    assert link.is_symlink() and "assent" in read("claude", real.read_text())


def test_an_unknown_client_is_refused_with_the_known_ones(assent: Assent) -> None:
    done = assent("mcp", "config", "emacs")
    assert done.code == 1 and "claude, claude-desktop, cursor, vscode, codex" in done.err
