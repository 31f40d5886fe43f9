"""The servers of every client on a machine are wrapped and put back, and nothing else in their files changes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.__main__ import main, take_values
from assent_wrap import clients
from assent_wrap.client_files import CannotChange, read_json
from assent_wrap.clients import PlannedFile, apply, describe, plan, restore
from assent_wrap.front import FLAGS, SWITCHES
from assent_wrap.front import read_order as read_front
from assent_wrap.profiles import read_order

WORDS = ["/opt/assent", "wrap", "--data-dir", "/data"]
BASE_URL = "http://localhost:8080"

CLAUDE = (
    '{\r\n\t"mcpServers" : {\r\n\t\t"files": { "type": "stdio", "command":"npx",\r\n'
    '\t\t\t"args": ["-y", "@modelcontextprotocol/server-filesystem", "notes"] },\r\n\r\n'
    '\t\t"tracker": {"type": "http", "url": "https://tracker.example.com/mcp",\r\n'
    '\t\t\t"headers": {"Authorization": "Bearer ${TRACKER_TOKEN}"}}\r\n\t}\r\n}'
)
CLAUDE_STATE = json.dumps(
    {
        "numStartups": 7,
        "mcpServers": {},
        "projects": {"/work/x": {"mcpServers": {"db": {"command": "uvx", "args": ["mcp-server-sqlite"]}}}},
    },
    indent=2,
)
DESKTOP = '\ufeff{"mcpServers":{"time":{"command":"mcp-server-time"},"odd":7}}'
CURSOR = """// My servers.
{
  "mcpServers": {
    /* asks a person */ "git": {
      "command": "uvx", // the runner
      "args": ["mcp-server-git", "--repository", "a \\"quoted\\" path"],
      "env": {"GIT_TOKEN": "${env:GIT_TOKEN}", "HOME": "/tmp"},
    },
    "plain": {"args": [], "command": "x"},
    "commented": {"command": "x", "args": [
      "one", // the first
      "two"
    ]},
    "oauth": {"url": "https://mcp.example.com/mcp"},
    "assent": {"command": "/opt/assent", "args": ["stdio"]},
  },
}
"""
VS_CODE = """{
    "inputs": [{"id": "key", "type": "promptString"}],
    "servers": {
        "fetch": {"type": "stdio", "command": "uvx", "args": ["mcp-server-fetch"], "env": {"KEY": "${input:key}"}},
        "web": {"type": "http", "url": "https://web.example.com/mcp", "headers": {"X-Key": "${input:key}"}},
        "files": {"command": "npx", "args": ["other"], "envFile": ".env"}
    }
}
"""
CODEX = """# Codex
model = "any"   # as it is

[mcp_servers.docs]
command = 'docs-server'
args = [
    "--root", "a#b",
    "c",
]
startup_timeout_sec = 20

[mcp_servers.docs.env]
DOCS_TOKEN = "secret"

[mcp_servers . "bare"]
command = "bare" # a comment

[mcp_servers.lone]
command = "lone"
[profiles.x]
model = "y"
"""
FILES = {
    ".mcp.json": CLAUDE,
    "~/.claude.json": CLAUDE_STATE,
    "~/.config/Claude/claude_desktop_config.json": DESKTOP,
    "~/.cursor/mcp.json": CURSOR,
    ".vscode/mcp.json": VS_CODE,
    "~/.codex/config.toml": CODEX,
}


class Machine:
    """A home with the files of five clients."""

    def __init__(self, root: Path) -> None:
        self.home, self.here, self.folder = root / "home", root / "work", root / "data" / "wrapped"
        for name, text in FILES.items():
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_bytes(text.encode())
            self.path(name).chmod(0o640)

    def path(self, name: str) -> Path:
        return self.home / name[2:] if name.startswith("~/") else self.here / name

    def plan(self, *, trust: bool = False) -> list[PlannedFile]:
        return plan(self.folder, self.home, self.here, WORDS, BASE_URL, trust=trust)

    def read(self) -> dict[str, str]:
        return {name: self.path(name).read_bytes().decode() for name in FILES}

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.path(name).read_bytes().decode()
        assert text.count(old) == 1
        self.path(name).write_bytes(text.replace(old, new).encode())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path)


def open_profile(entry: dict[str, Any]) -> Any:
    """What the front of a wrapped entry asks the server for."""
    words = entry["args"][entry["args"].index("wrap") + 1 :]
    before = words[: words.index("--")] if "--" in words else words
    switches = frozenset(SWITCHES) & frozenset(before)
    given, _ = take_values([each for each in before if each not in switches], FLAGS)
    options = {flag: values[-1] for flag, values in given.items() if flag != "--env"}
    environ = {"GIT_TOKEN": "g", "DOCS_TOKEN": "d", "KEY": "k", "TRACKER_TOKEN": "t", "PATH": "/bin"}
    order = read_front(words[len(before) + 1 :], options, switches, environ, named=given.get("--env", ()))
    return read_order(msgspec.json.encode(order))


def test_a_plan_names_every_server_and_file_with_what_asks_and_what_is_left_and_changes_nothing(
    machine: Machine,
) -> None:
    planned = machine.plan()

    assert machine.read() == FILES and not machine.folder.exists()
    said = "\n".join(describe(planned, trust=False))
    assert all(str(machine.path(name)) in said for name in FILES)
    rows = {(each.client, row.name): row.left for each in planned for row in each.entries}
    left = {key: why for key, why in rows.items() if why}
    assert sorted(set(rows) - set(left)) == [
        ("claude", "db"),
        ("claude", "files"),
        ("claude", "tracker"),
        ("claude-desktop", "time"),
        ("codex", "docs"),
        ("codex", "lone"),
        ("cursor", "git"),
        ("cursor", "plain"),
        ("vscode", "fetch"),
    ]
    assert left[("cursor", "assent")] == "it is Assent itself"
    for key, why in {
        ("claude-desktop", "odd"): "no object",
        ("cursor", "commented"): "comment",
        ("cursor", "oauth"): "OAuth",
        ("vscode", "web"): "only its client knows",
        ("vscode", "files"): "envFile",
        ("codex", "bare"): "comment",
    }.items():
        assert why in left[key] and why in said


def test_a_wrapped_entry_starts_the_front_with_the_same_server(machine: Machine) -> None:
    apply(machine.folder, machine.plan(trust=True))

    after = machine.read()
    cursor = read_json(after["~/.cursor/mcp.json"]).value["mcpServers"]
    git = open_profile(cursor["git"])
    (spec,) = git.servers
    assert (cursor["git"]["command"], spec.name) == ("/opt/assent", "git")
    assert spec.command == ("uvx", "mcp-server-git", "--repository", 'a "quoted" path')
    assert git.named == ("GIT_TOKEN",) and git.passed["GIT_TOKEN"] == "g" and git.rules_for("git").trusted
    assert cursor["commented"]["command"] == "x" and "// the runner" in after["~/.cursor/mcp.json"]
    claude = json.loads(after[".mcp.json"])["mcpServers"]
    tracker = claude["tracker"]
    assert tracker["type"] == "stdio" and tracker["env"] == {"TRACKER_TOKEN": "${TRACKER_TOKEN}"}
    (remote,) = open_profile(tracker).servers
    assert (remote.url, remote.headers) == (
        "https://tracker.example.com/mcp",
        {"Authorization": "Bearer t"},
    )
    codex = tomllib.loads(after["~/.codex/config.toml"])
    assert open_profile(codex["mcp_servers"]["docs"]).servers[0].command == (
        "docs-server",
        "--root",
        "a#b",
        "c",
    )
    assert open_profile(codex["mcp_servers"]["docs"]).named == ("DOCS_TOKEN",)
    assert open_profile(codex["mcp_servers"]["lone"]).servers[0].command == ("lone",)
    state = json.loads(after["~/.claude.json"])
    assert open_profile(state["projects"]["/work/x"]["mcpServers"]["db"]).servers[0].name == "db"
    assert machine.path("~/.cursor/mcp.json").stat().st_mode & 0o777 == 0o640
    assert all(not row.wrapping for each in machine.plan() for row in each.entries), "wrapped once"


def test_two_servers_of_one_name_that_are_not_the_same_get_names_of_their_own(machine: Machine) -> None:
    machine.edit(".vscode/mcp.json", ', "envFile": ".env"', "")
    apply(machine.folder, machine.plan())

    found = json.loads(machine.read()[".vscode/mcp.json"])["servers"]["files"]
    assert open_profile(found).servers[0].name == "files-vscode"


def test_unwrapping_restores_every_file_byte_for_byte(machine: Machine) -> None:
    done = apply(machine.folder, machine.plan())
    assert len(done) == len(FILES) and machine.read() != FILES

    results = restore(machine.folder)

    assert machine.read() == FILES and all(each.complete for each in results)
    assert [each.name for each in machine.folder.iterdir()] == [clients.CHANGES]
    assert restore(machine.folder) == []


def test_a_file_that_was_changed_after_wrapping_keeps_the_change_and_gets_its_servers_back(
    machine: Machine,
) -> None:
    apply(machine.folder, machine.plan())
    machine.edit("~/.cursor/mcp.json", "// My servers.", "// My servers, and one more.")
    machine.edit("~/.claude.json", '"numStartups": 7', '"numStartups": 8')
    machine.edit("~/.codex/config.toml", 'model = "y"', 'model = "z"')

    results = {each.file: each for each in restore(machine.folder)}

    after = machine.read()
    assert after["~/.cursor/mcp.json"] == CURSOR.replace("// My servers.", "// My servers, and one more.")
    assert after["~/.claude.json"] == CLAUDE_STATE.replace('"numStartups": 7', '"numStartups": 8')
    assert after["~/.codex/config.toml"] == CODEX.replace('model = "y"', 'model = "z"')
    changed = results[str(machine.path("~/.cursor/mcp.json"))]
    assert changed.complete and "was changed after it was wrapped" in changed.said
    assert any(each.read_bytes().decode() == CURSOR for each in machine.folder.iterdir())


def test_a_wrapped_server_that_was_changed_itself_is_named_and_nothing_is_lost(machine: Machine) -> None:
    apply(machine.folder, machine.plan())
    machine.edit(".mcp.json", '"notes"]', '"notes", "more"]')
    machine.path("~/.codex/config.toml").unlink()
    machine.path("~/.claude.json").write_bytes(b"{ no json")

    results = {each.file: each for each in restore(machine.folder)}

    incomplete = [name for name in FILES if not results[str(machine.path(name))].complete]
    assert incomplete == [".mcp.json", "~/.claude.json", "~/.codex/config.toml"]
    assert "files" in results[str(machine.path(".mcp.json"))].said
    servers = json.loads(machine.path(".mcp.json").read_bytes())["mcpServers"]
    assert "more" in servers["files"]["args"] and servers["tracker"]["url"].startswith("https://tracker")
    kept = {each.read_bytes().decode() for each in machine.folder.iterdir()}
    assert {CLAUDE, CLAUDE_STATE, CODEX} <= kept
    assert len(restore(machine.folder)) == 3


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe{}", b"{", b'{"mcpServers": {"a": {}, "a": {}}}', b'{"a": 1} {}', b'{"a" 1}', b"[" * 9_000],
)
def test_a_file_that_cannot_be_read_is_named_and_left(machine: Machine, content: bytes) -> None:
    machine.path("~/.cursor/mcp.json").write_bytes(content)

    planned = {each.path: each for each in machine.plan()}[machine.path("~/.cursor/mcp.json")]

    assert planned.left and not planned.changed and planned.left in "\n".join(describe([planned], trust=True))
    apply(machine.folder, machine.plan())
    assert machine.path("~/.cursor/mcp.json").read_bytes() == content


def test_a_file_in_which_more_would_change_than_an_entry_is_left(machine: Machine) -> None:
    quoted = (
        'note = """\n[mcp_servers.docs]\ncommand = "in a text"\n[mcp_servers.none]\ncommand = "x"\n[x]\n"""\n'
    )
    text = f'{quoted}[mcp_servers.docs]\ncommand = "docs"\n'
    machine.path("~/.codex/config.toml").write_text(text)

    planned = {each.path: each for each in machine.plan()}[machine.path("~/.codex/config.toml")]

    assert not planned.changed and {row.left for row in planned.entries} == {
        "it is written in a way that cannot be changed without loss"
    }


@pytest.mark.parametrize("text", ["[1, 2", '{"a": }', "{1: 2}", '{"a": 1, "a": 2}', "nul", ""])
def test_a_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(CannotChange):
        read_json(text)


def test_the_commands_show_a_plan_then_wrap_and_unwrap(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.chdir(machine.here)
    place = ["--data-dir", str(machine.folder.parent)]

    def run(*words: str) -> tuple[int | str | None, str]:
        with pytest.raises(SystemExit) as end:
            main([*words, *place])
        return end.value.code, capsys.readouterr().out

    status, said = run("wrap", "--all")
    assert status == 0 and "Nothing was changed. To wrap 9 servers" in said and machine.read() == FILES
    status, said = run("wrap", "--all", "--yes", "--trust")
    assert status == 0 and "9 servers are wrapped" in said and "assent unwrap" in said
    entry = read_json(machine.read()["~/.cursor/mcp.json"]).value["mcpServers"]["git"]
    assert entry["args"][:2] == ["wrap", "--data-dir"] and "--trust" in entry["args"]
    status, said = run("wrap", "--all", "--yes")
    assert status == 0 and "9 servers are wrapped already" in said
    machine.edit("~/.cursor/mcp.json", '"git", "--trust"', '"git", "--observe"')
    status, said = run("unwrap")
    assert status == 1 and "Left, because they were changed, too: git" in said
    assert {**machine.read(), "~/.cursor/mcp.json": ""} == {**FILES, "~/.cursor/mcp.json": ""}
