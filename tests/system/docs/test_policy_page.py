"""The page about policies: its file and its commands work as they are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support import warm_processes
from tests.support.docs.pages import DOCS, block_of, blocks_of
from tests.support.processes.running import ASSENT, environment

from assent.gate.policy import PRESETS
from assent.gate.rules import source

PAGE = "policy.md"


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["sh", "toml", "sh"]


def test_the_page_names_every_preset_and_every_key() -> None:
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    tables = (source.MATCH_KEYS, source.CONDITION_KEYS, source.RECIPIENT_KEYS, source.ASK_KEYS)
    names = {*PRESETS, source.NO_PRESET, *(name for each in tables for name in each)}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_the_commands_of_the_page_work_with_its_file(tmp_path: Path) -> None:
    variables = environment({"ASSENT_DATA_DIR": str(tmp_path / "data")})

    def run(*words: str) -> str:
        done = warm_processes.run(
            [*ASSENT, *words],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said: str = done.stdout
        return said

    run("init")
    (tmp_path / "policy.toml").write_text(block_of(PAGE, "toml"))
    for block in (0, 1):
        for line in block_of(PAGE, "sh", block).splitlines():
            command, *words = line.split()
            assert command == "assent"
            run(*words)
    shown = json.loads(run("policy", "show", "--json"))
    assert shown["version"] == 2
    assert [re.match(r"[^:]+", line)[0] for line in shown["words"][-3:]] == [  # type: ignore[index]
        "Large refunds",
        "Mail to strangers",
        "No test charges",
    ]
    again = tmp_path / "again.toml"
    again.write_text(run("policy", "show", "--toml"))
    run("policy", "set", str(again))
    assert json.loads(run("policy", "show", "--json"))["digest"] == shown["digest"]
