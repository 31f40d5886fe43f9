"""The servers of every client on a machine are wrapped and put back, and nothing else in their files changes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.__main__ import main, take_values
from assent.platform import ClientFile
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
    planned = machine.plan()
    said = [*describe(planned, trust=True)]
    apply(machine.folder, planned)

    found = json.loads(machine.read()[".vscode/mcp.json"])["servers"]["files"]
    assert open_profile(found).servers[0].name == "files-vscode"
    assert "  files, as files-vscode: reads pass, every other call asks" in said
    assert "  files: reads pass, every other call asks" in said


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


def test_a_file_that_its_owner_made_read_only_is_named_and_left(machine: Machine) -> None:
    machine.path("~/.cursor/mcp.json").chmod(0o444)

    planned = {each.path: each for each in machine.plan()}[machine.path("~/.cursor/mcp.json")]

    assert (planned.left, planned.changed) == ("it is read-only", ())


def test_a_file_behind_a_link_is_changed_and_the_link_stays(machine: Machine) -> None:
    link, real = machine.path("~/.cursor/mcp.json"), machine.home / "dotfiles.json"
    link.rename(real)
    link.symlink_to(real)

    apply(machine.folder, machine.plan())
    assert link.is_symlink() and real.read_bytes().decode() != CURSOR

    assert all(each.complete for each in restore(machine.folder))
    assert link.is_symlink() and machine.read() == FILES


def test_a_file_that_changes_between_the_plan_and_the_change_keeps_the_change(machine: Machine) -> None:
    planned = machine.plan()
    machine.edit("~/.claude.json", '"numStartups": 7', '"numStartups": 8')

    done = apply(machine.folder, planned)

    state = machine.path("~/.claude.json")
    assert state.read_bytes().decode() == CLAUDE_STATE.replace('"numStartups": 7', '"numStartups": 8')
    assert str(state) not in {each.file for each in done} and len(done) == len(FILES) - 1
    (missed,) = [each for each in planned if each.changed and each.left]
    assert missed.path == state
    kept = {each.name for each in machine.folder.iterdir()}
    assert kept == {Path(name).name for each in done for name in (each.copy, *each.configs)} | {
        clients.CHANGES
    }


def test_two_clients_that_read_one_file_do_not_undo_each_other(machine: Machine) -> None:
    both = '{"mcpServers": {"a": {"command": "a"}}, "servers": {"b": {"command": "b"}}}'
    machine.path("~/.cursor/mcp.json").write_text(both)
    machine.path(".vscode/mcp.json").unlink()
    machine.path(".vscode/mcp.json").symlink_to(machine.path("~/.cursor/mcp.json"))

    first = machine.plan()
    assert str(machine.path(".vscode/mcp.json")) not in {each.file for each in apply(machine.folder, first)}
    assert next(each.left for each in first if each.client == "vscode")
    apply(machine.folder, machine.plan())
    found = json.loads(machine.path("~/.cursor/mcp.json").read_bytes())
    assert found["mcpServers"]["a"]["command"] == found["servers"]["b"]["command"] == "/opt/assent"

    restore(machine.folder)
    assert machine.path("~/.cursor/mcp.json").read_text() == both


def test_servers_of_an_inline_table_are_named_and_left(machine: Machine) -> None:
    text = '[mcp_servers]\none = {command = "x"}\ntwo = {command = "y"}\n'
    machine.path("~/.codex/config.toml").write_text(text)

    planned = {each.path: each for each in machine.plan()}[machine.path("~/.codex/config.toml")]

    assert not planned.changed and [row.name for row in planned.entries] == ["one", "two"]
    assert {row.left for row in planned.entries} == {
        "it is written in a way that cannot be changed without loss"
    }


def test_a_text_with_half_a_character_is_left_and_nothing_of_a_file_moves_the_cursor(
    machine: Machine,
) -> None:
    a, b = '{"command": "x\\u001b[1A\\nfake"}', '{"command": "y", "args": ["\\ud800"]}'
    text = f'{{"mcpServers": {{"a\\u001b[2J": {a}, "b": {b}}}}}'
    machine.path("~/.cursor/mcp.json").write_text(text)

    planned = {each.path: each for each in machine.plan()}[machine.path("~/.cursor/mcp.json")]

    assert [bool(row.left) for row in planned.entries] == [False, True]
    said = [*describe([planned], trust=False)]
    assert all(line.isprintable() and line.encode() for line in said) and len(said) == 5
    apply(machine.folder, [planned])
    assert [*restore(machine.folder)] and machine.path("~/.cursor/mcp.json").read_text() == text


@pytest.mark.parametrize("env", [{"GIT_TOKEN": "b"}, {}], ids=["with a variable", "an empty table"])
def test_the_same_server_in_two_clients_has_one_name(machine: Machine, env: dict[str, str]) -> None:
    entry = {"command": "uvx", "args": ["mcp-server-git"], **({"env": env} if env else {})}
    machine.path("~/.cursor/mcp.json").write_text(json.dumps({"mcpServers": {"git": entry}}))
    machine.path(".vscode/mcp.json").write_text(
        json.dumps(
            {
                "servers": {
                    "git": {"type": "stdio", "env": env, **dict(reversed(entry.items())), "disabled": False}
                }
            }
        )
    )

    apply(machine.folder, machine.plan())

    rows = [machine.path("~/.cursor/mcp.json"), machine.path(".vscode/mcp.json")]
    found = [next(iter(next(iter(json.loads(each.read_bytes()).values())).values())) for each in rows]
    assert [open_profile(each).servers[0].name for each in found] == ["git", "git"]


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


@pytest.mark.parametrize("text", ["[1, 2", '{"a";1}', '{"a": }', "{1: 2}", '{"a": 1, "a": 2}', "nul", ""])
def test_a_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(CannotChange):
        read_json(text)


Run = Callable[..., tuple[int | str | None, str]]


@pytest.fixture
def run(machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on the machine: its exit status, and what it printed."""
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.chdir(machine.here)

    def run(*words: str) -> tuple[int | str | None, str]:
        with pytest.raises(SystemExit) as end:
            main([*words, "--data-dir", str(machine.folder.parent)])
        return end.value.code, capsys.readouterr().out

    return run


def test_the_commands_show_a_plan_then_wrap_and_unwrap(machine: Machine, run: Run) -> None:
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


def test_only_a_file_that_was_to_change_and_did_not_is_a_failure_of_the_command(
    machine: Machine, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.path(".mcp.json").chmod(0o444)
    closed, write = machine.path("~/.cursor/mcp.json"), ClientFile.replace

    def refuse(path: Path, content: bytes) -> None:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        write(path, content)

    with monkeypatch.context() as broken:
        broken.setattr(ClientFile, "replace", staticmethod(refuse))
        status, said = run("wrap", "--all", "--yes")
    assert status == 1, said
    assert f"Not changed: {closed}: " in said and "Not changed: .mcp.json" not in said
    status, said = run("wrap", "--all", "--yes")
    assert status == 0 and f"Changed: {closed}" in said and "it is read-only" in said


def test_a_file_that_may_not_be_read_is_named_and_the_others_are_wrapped(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, read = machine.path("~/.cursor/mcp.json"), Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)

    planned = {each.path: each for each in machine.plan()}

    assert "Permission denied" in planned[closed].left
    assert sum(bool(each.changed) for each in planned.values()) == len(FILES) - 1


def test_what_could_not_be_written_is_undone_by_doing_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, write = machine.path("~/.cursor/mcp.json"), ClientFile.replace

    def refuse(path: Path, content: bytes) -> None:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        write(path, content)

    monkeypatch.setattr(ClientFile, "replace", staticmethod(refuse))
    assert str(closed) not in {each.file for each in apply(machine.folder, machine.plan())}

    assert all(each.complete for each in restore(machine.folder))
    assert machine.read() == FILES and restore(machine.folder) == []


def test_unwrapping_that_was_killed_goes_on_where_it_was(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(machine.folder, machine.plan())
    with monkeypatch.context() as killed:
        write, left = clients._write_changes, [3]

        def die(*given: Any) -> None:
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            write(*given)

        killed.setattr(clients, "_write_changes", die)
        with pytest.raises(KeyboardInterrupt):
            restore(machine.folder)

    assert all(each.complete for each in restore(machine.folder))
    assert machine.read() == FILES


def test_a_wrapped_server_with_another_name_is_named_and_its_copy_stays(machine: Machine) -> None:
    apply(machine.folder, machine.plan())
    machine.edit(".mcp.json", '"files": {', '"notes": {')
    machine.edit("~/.codex/config.toml", "[mcp_servers.lone]", "[mcp_servers.alone]")

    results = {each.file: each for each in restore(machine.folder)}

    for name, server in ((".mcp.json", "notes"), ("~/.codex/config.toml", "alone")):
        found = results[str(machine.path(name))]
        assert not found.complete and server in found.said
    assert {CLAUDE, CODEX} <= {each.read_bytes().decode() for each in machine.folder.iterdir()}


def test_two_clients_with_one_server_keep_the_file_that_both_need(machine: Machine) -> None:
    tracker = json.dumps({"mcpServers": {"tracker": json.loads(CLAUDE)["mcpServers"]["tracker"]}})
    for name in (".mcp.json", "~/.cursor/mcp.json"):
        machine.path(name).write_text(tracker)
    planned = machine.plan()
    machine.path("~/.cursor/mcp.json").write_text(f"{tracker}\n")
    first = next(each for each in apply(machine.folder, planned) if each.configs)
    assert all(Path(each).is_file() for each in first.configs)

    apply(machine.folder, machine.plan())
    machine.path(".mcp.json").write_text("{ no json")
    restore(machine.folder)
    assert all(Path(each).is_file() for each in first.configs)
    assert machine.path("~/.cursor/mcp.json").read_text() == f"{tracker}\n"


def test_a_copy_is_never_that_of_another_file_with_the_same_content(machine: Machine) -> None:
    names = ("~/.cursor/mcp.json", ".cursor/mcp.json")
    for name in names:
        machine.path(name).parent.mkdir(parents=True, exist_ok=True)
        machine.path(name).write_text(DESKTOP)
    paths = [machine.path(name) for name in names]
    apply(machine.folder, [each for each in machine.plan() if each.path in paths])
    wrapped = machine.path(names[1]).read_bytes()
    machine.path(names[1]).write_text("{ no json")
    restore(machine.folder)

    apply(machine.folder, [each for each in machine.plan() if each.path == paths[0]])
    machine.path(names[1]).write_bytes(wrapped)
    assert all(each.complete for each in restore(machine.folder))
    assert {machine.path(name).read_text() for name in names} == {DESKTOP}


def plan_one(machine: Machine, name: str, text: str) -> PlannedFile:
    machine.path(name).write_bytes(text.encode())
    return next(each for each in machine.plan() if each.path == machine.path(name))


@pytest.mark.parametrize(
    ("trust", "asks"),
    [
        (True, "reads pass, every other call asks"),
        (False, "every call asks, until a rule or --trust says otherwise"),
    ],
)
def test_a_plan_says_of_each_server_what_asks_and_what_it_starts(
    machine: Machine, trust: bool, asks: str
) -> None:
    remote = '{"serverUrl": "http://localhost:9/mcp"}'
    text = f'{{"mcpServers": {{"time": {{"command": "x", "args": ["y"]}}, "near": {remote}, "odd": 7}}}}'
    planned = plan_one(machine, "~/.cursor/mcp.json", text)
    assert [*describe([planned], trust=trust)][1:] == [
        f"  time, as time-cursor: {asks}",
        "    x y",
        f"  near: {asks}",
        "    http://localhost:9/mcp",
        "  odd: left, it is no object",
    ]


def test_an_address_on_this_machine_needs_no_headers_and_an_entry_keeps_its_variables(
    machine: Machine,
) -> None:
    near = {"serverUrl": "http://localhost:9/mcp"}
    far = {"url": "https://far.example/é", "headers": {"x": "${TRACKER_TOKEN}"}, "env": {"MORE": "é"}}
    text = json.dumps({"mcpServers": {"near": near, "far": far}}, ensure_ascii=False)
    apply(machine.folder, [plan_one(machine, "~/.cursor/mcp.json", text)])

    after = machine.path("~/.cursor/mcp.json").read_bytes().decode()
    entries = json.loads(after)["mcpServers"]
    (remote,) = open_profile(entries["near"]).servers
    assert (remote.url, remote.headers) == ("http://localhost:9/mcp", {})
    assert entries["far"]["env"] == {"MORE": "é", "TRACKER_TOKEN": "${TRACKER_TOKEN}"} and "é" in after


@pytest.mark.parametrize(
    "entry",
    [
        '{"command": "x", "args": [1]}',
        '{"command": "x", "args": "y"}',
        '{"args": []}',
        '{"command": "x", "env": ["A"]}',
    ],
)
def test_an_entry_that_starts_no_command_of_texts_is_left(machine: Machine, entry: str) -> None:
    planned = plan_one(machine, "~/.cursor/mcp.json", f'{{"mcpServers": {{"a": {entry}}}}}')
    assert [row.left for row in planned.entries] == ["it has no command with a list of texts as args"]


def test_only_a_client_with_projects_has_servers_below_another_name(machine: Machine) -> None:
    text = '{"": {"x": {"mcpServers": {"a": {"command": "x"}}}}}'
    assert plan_one(machine, "~/.cursor/mcp.json", text).entries == []


def test_a_table_keeps_its_line_ends_and_gets_its_arguments_below_its_command(machine: Machine) -> None:
    def write(first: str, last: str) -> str:
        lines = ["[mcp_servers.a]", "timeout = 20", *first.splitlines(), "", "[mcp_servers.web]"]
        lines += ['url = "https://w.example"', "", "[mcp_servers.b]", *last.splitlines()]
        return "\r\n".join(lines)

    def wrap_as(name: str, command: str) -> str:
        args = json.dumps([*WORDS[1:], "--name", name, "--", command], ensure_ascii=False)
        return f'command = "/opt/assent"\nargs = {args}'

    planned = plan_one(machine, "~/.codex/config.toml", write('command = "é"', 'command = "y"'))
    assert [row.left for row in planned.entries] == ["", "Codex signs in to this address itself", ""]
    apply(machine.folder, [planned])
    after = machine.path("~/.codex/config.toml").read_bytes().decode()
    assert after == write(wrap_as("a", "é"), wrap_as("b", "y")) + "\r\n"


def test_what_is_planned_can_be_applied_in_a_folder_whose_parents_are_not_there(machine: Machine) -> None:
    folder = machine.folder / "not" / "there"
    files = plan(folder, machine.home, machine.here, WORDS, BASE_URL, trust=False)
    assert len(apply(folder, files)) == len(FILES)
