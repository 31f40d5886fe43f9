"""The page about workflows: its files and commands work as they are printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.cli.fixtures import Assent, assent, bare_environment, data_dir, own_logging  # noqa: F401
from tests.support.docs.pages import block_of, blocks_of

PAGE = "workflows.md"


def test_the_commands_of_the_page_work_with_its_files(
    assent: Assent,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["sh", "yaml", "yaml", "sh"]
    monkeypatch.chdir(tmp_path)
    Path("small-release.yaml").write_text(block_of(PAGE, "yaml", 0))
    Path("small-release.answers.yaml").write_text(block_of(PAGE, "yaml", 1))
    said = []
    for line in (block_of(PAGE, "sh", 0) + block_of(PAGE, "sh", 1)).splitlines():
        command, *words = line.split()
        done = assent(*words)
        assert command == "assent" and done.code == 0, done.err
        said.append(done.out)
    assert "Release notes is complete" in said[2]
    assert "→ rejected" in said[3] and "Tag 1.1.0." in said[3]
    assert json.loads(said[4])["title"] == "Workflow definition"
