"""The page about checking a server: its commands, typed into an empty directory beside a running server."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.support.docs.pages import DOCS, block_of, blocks_of
from tests.support.processes.running import ASSENT, Serve, environment

from assent_conform.checks.catalog import ALL_CHECKS
from assent_conform.checks.checking import CheckOutcome, ConformanceReport
from assent_conform.command import conform

PAGE = "conform.md"
ADDRESS = "http://localhost:8080"
NO_LIMIT = {"ASSENT_RATE_LIMIT_PER_MINUTE": "100000"}


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["sh"] * 7 + ["json"]


def test_the_page_names_every_option() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    options = [
        f"--{name.replace('_', '-')}"
        for name in conform.__annotations__
        if name not in ("session", "target", "return")
    ]
    assert [option for option in options if f"`{option}" not in page] == []


def test_the_report_of_the_page_has_the_fields_of_a_report() -> None:
    shown = json.loads(block_of(PAGE, "json"))
    assert tuple(shown) == ConformanceReport.__struct_encode_fields__
    assert tuple(shown["outcomes"][1]) == CheckOutcome.__struct_encode_fields__
    known = {each.name: (each.title, list(each.rules)) for each in ALL_CHECKS}
    for each in shown["outcomes"]:
        assert (each["title"], each["rules"]) == known[each["name"]]


@pytest.mark.slow
def test_the_commands_of_the_page_check_a_server_and_a_command(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with Serve(tmp_path / "data", NO_LIMIT) as server:
        env = environment(
            {
                **NO_LIMIT,
                "ASSENT_DATA_DIR": str(tmp_path / "data"),
                "ASSENT_PORT": str(server.port),
                "PATH": os.pathsep.join([str(Path(ASSENT[0]).parent), os.environ["PATH"]]),
            }
        )
        results = []
        for language, block in blocks_of(PAGE):
            if language != "sh":
                continue
            done = subprocess.run(
                ["sh", "-e"],
                cwd=folder,
                env=env,
                input=block.replace(ADDRESS, server.base_url),
                capture_output=True,
                text=True,
                timeout=240,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            results.append([int(number) for number in re.findall(r"\d+", done.stdout)])
    assert results.pop() == []  # its answer is in a file
    open_to_all, with_keys, command, command_with_keys, safe, core = results
    assert all(len(result) == 3 and result[1] == 0 for result in results), results
    assert open_to_all[0] < safe[0] < with_keys[0]
    assert core[0] < command[0]
    assert command[0] < command_with_keys[0]
    assert (folder / "keys").stat().st_mode & 0o077 == 0
    report = json.loads((folder / "conform.json").read_text())
    assert [report["passed"], report["failed"], report["notRun"]] == command
    left_out = {each["name"]: each["detail"] for each in report["outcomes"] if each["status"] == "not_run"}
    assert left_out["foreign"] == "needs the key of a second workspace"
    assert left_out["discovery"] == json.loads(block_of(PAGE, "json"))["outcomes"][1]["detail"]
    assert (folder / "conform.xml").read_bytes().count(b"<testcase ") == len(ALL_CHECKS)
