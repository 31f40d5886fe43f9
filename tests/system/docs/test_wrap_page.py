"""The page about wrapped servers: its commands, its files, and what it says of the limits."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import msgspec
import pytest
from tests.support.docs.pages import DOCS, block_of, blocks_of

from assent.__main__ import main, take_values
from assent.cli import run
from assent.cli.mcp_config import CLIENTS
from assent.extensions.hooks import list_own_settings
from assent.settings.load import load_settings
from assent_wrap.front import FLAGS, SWITCHES, read_order
from assent_wrap.gateway import CALLS, read_files
from assent_wrap.listing import MAX_TOOLS, OfferedTool
from assent_wrap.orders import PASSED
from assent_wrap.profiles import RULE_KEYS, SERVER_KEYS, Profile, read_config, read_rules
from assent_wrap.profiles import read_order as read_profile
from assent_wrap.proposals import HOLD_SECONDS
from assent_wrap.rules import KEYS, PROPOSED_MS, Observed, describe_rule, propose_rules
from assent_wrap.rules import read_rules as read_workspace_rules

PAGE = "wrap.md"
NAMED = {"TARGET": "staging", "AWS_PROFILE": "dev"}
VARIABLES = {"TRACKER_TOKEN": "theirs", "PATH": "/usr/bin", "OTHER": "not theirs", **NAMED}


def test_every_block_of_the_page_is_executed_here() -> None:
    kinds = [language for language, _ in blocks_of(PAGE)]
    assert kinds == ["sh", "sh", "sh", "json", "sh", "toml", "sh", "toml", "toml", "sh", "toml"]


def order(command: str, folder: Path) -> Profile:
    """What a command of the page asks to wrap."""
    program, subcommand, *words = shlex.split(command)
    assert (program, subcommand) == ("assent", "wrap")
    before, _, behind = " ".join(words).partition("-- ")
    switches = set(SWITCHES) & set(before.split())
    given, rest = take_values([word for word in before.split() if word not in switches], FLAGS)
    assert rest == []
    named = given.pop("--env", [])
    files = {flag: value if flag == "--name" else str(folder / value) for flag, (value,) in given.items()}
    made = read_order(behind.split(), files, frozenset(switches), VARIABLES, named=named)
    return read_profile(msgspec.json.encode(made))


def test_the_first_command_wraps_a_trusted_server(tmp_path: Path) -> None:
    profile = order(block_of(PAGE, "sh"), tmp_path)
    (server,) = profile.servers
    assert (server.name, server.command[0]) == ("filesystem", "npx")
    assert profile.rules_for("filesystem").trusted


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", DOCS / PAGE], ids=lambda page: page.name)
def test_what_a_command_loads_from_a_registry_has_a_version(page: Path) -> None:
    loaded = re.findall(r'(?:npx -y|"-y",|uvx) "?([^\s"]+)', page.read_text())
    assert loaded and all(re.search(r"[^@]@\d+\.\d", each) for each in loaded)


def test_the_second_command_exists(capsys: pytest.CaptureFixture[str]) -> None:
    _, name = block_of(PAGE, "sh", 1).split()
    assert run([name, "--help"]) == 0


def test_the_files_of_the_page_are_read_by_the_third_command_and_by_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mcp.json").write_text(block_of(PAGE, "json"))
    (tmp_path / "rules.toml").write_text(block_of(PAGE, "toml", 1))
    profile = order(block_of(PAGE, "sh", 3), tmp_path)
    assert [each.name for each in profile.servers] == ["files", "tracker"]
    assert profile.servers[1].headers == {"Authorization": "Bearer theirs"}
    rules = profile.rules_for("files")
    assert [(rule.match, rule.mode, rule.risk) for rule in rules.tools] == [
        ("write_file", None, "high"),
        ("create_directory", None, "low"),
        ("move_*", "hide", "high"),
    ]
    assert profile.rules_for("tracker").tools[0].repeat

    config = tmp_path / "assent.toml"
    config.write_text(block_of(PAGE, "toml", 0))
    monkeypatch.setenv("TRACKER_TOKEN", "theirs")
    loaded = load_settings({"config": str(config), "data_dir": str(tmp_path)}, added=list_own_settings())
    assert loaded.settings.added["wrap_config"] is not None
    assert len(loaded.settings.added["wrap_workspaces"]) == 1
    assert read_files(tmp_path / "mcp.json", tmp_path / "rules.toml").rules == profile.rules
    assert tomllib.loads(block_of(PAGE, "toml", 1)).keys() == {"files", "tracker"}
    assert read_rules("", frozenset({"files"})) == {}
    assert len(read_config(block_of(PAGE, "json"), VARIABLES)) == len(
        json.loads(block_of(PAGE, "json"))["mcpServers"]
    )


def test_the_page_names_every_variable_that_is_passed_and_its_command_passes_two_more(tmp_path: Path) -> None:
    profile = order(block_of(PAGE, "sh", 4), tmp_path)
    assert profile.passed == {**NAMED, "PATH": "/usr/bin"}
    section = (
        (DOCS / PAGE).read_text(encoding="utf-8").partition("## Which variables")[2].partition("\n## ")[0]
    )
    named = set(re.findall(r"`([A-Za-z_]+)`", section.partition("```")[0]))
    assert {name for name in named if PASSED.fullmatch(name)} == named
    assert len(named) == 15 and "`LC_*`" in section


def test_the_page_names_every_key_of_a_rule_and_the_numbers_that_hold() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    assert [key for key in (*RULE_KEYS, *SERVER_KEYS - {"tools"}) if f"`{key}`" not in page] == []
    assert f"up to {HOLD_SECONDS} seconds" in page and f"{CALLS} calls a minute" in page
    assert f"Up to\n  {MAX_TOOLS} of a server" in page


def test_the_rules_of_the_workspace_are_set_listed_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = block_of(PAGE, "toml", 2)
    (tmp_path / "reports.toml").write_text(text)
    place = ["--data-dir", str(tmp_path / "data")]
    assert run(["init", *place]) == 0
    capsys.readouterr()
    said = []
    for line in block_of(PAGE, "sh", 5).splitlines():
        program, *words = shlex.split(line)
        assert program == "assent" and run([*words, *place]) == 0
        said.append(capsys.readouterr().out)

    rules = read_workspace_rules(tomllib.loads(text))
    assert said[0].splitlines() == [describe_rule(each) for each in rules]
    assert all(each.name in said[1] for each in rules) and rules[0].name in said[2]
    section = (DOCS / PAGE).read_text().partition("## Rules of the workspace")[2].partition("\n## ")[0]
    assert {*re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)} == KEYS


def test_the_proposed_rule_of_the_page_is_one_that_is_proposed() -> None:
    shown = block_of(PAGE, "toml", 3)
    (rule,) = read_workspace_rules(tomllib.loads(shown))
    definition = {"name": "read_query", "inputSchema": {"properties": {"query": {}}}}
    offered = OfferedTool(
        name="read_query",
        server="db",
        tool="read_query",
        mode="gate",
        rule=None,
        definition=definition,
        pin="",
    )
    calls = [("", "", 40), ("query", "SELECT", 30), ("query", "WITH", 8)]
    observed = [Observed("read_query", argument, beginning, each) for argument, beginning, each in calls]
    assert rule.until_ms is not None
    assert shown.strip() in propose_rules("db", [offered], observed, rule.until_ms - PROPOSED_MS)


def test_the_servers_of_every_client_are_wrapped_and_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".mcp.json"
    file.write_text('{"mcpServers": {"files": {"command": "npx", "args": ["files"]}}}')
    before, after = file.read_text(), []
    for line in block_of(PAGE, "sh", 2).splitlines():
        with pytest.raises(SystemExit) as end:
            main([*shlex.split(line)[1:], "--data-dir", str(tmp_path / "data")])
        assert not end.value.code
        after.append(file.read_text())
    assert after[0] == after[2] == before
    assert "--trust" in json.loads(after[1])["mcpServers"]["files"]["args"]
    section = (DOCS / PAGE).read_text().partition("## Every server you have")[2].partition("\n## ")[0]
    assert all(each.label in section for each in CLIENTS.values())
