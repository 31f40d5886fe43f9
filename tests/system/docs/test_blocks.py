"""Every block of code on a page is executed by the test of the page, marked as output, or checked here.

Checked are pages whose commands belong to another machine, program or user: their `assent` and `make` commands exist
with these options, and their files can be read.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests.support.docs.pages import DOCS
from tests.support.rules_manifest import find_test_folders

from assent.cli.commands import app

ROOT = DOCS.parent
BLOCK = re.compile(r"^ *```(\S*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
OUTPUT = "output"
NAVIGATION = "{toctree}"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
TESTS = [
    file.read_text(encoding="utf-8")
    for folder in find_test_folders(ROOT)
    for file in folder.rglob("test_*.py")
]
CHECKED_ONLY = {"README.md": "its commands install, serve and test; its function is loaded by test_readme.py"}


def is_executed(page: Path) -> bool:
    """Whether a test takes its blocks."""
    name = re.compile(rf'"[\w./-]*\b{re.escape(page.name)}"')
    taken = any(("blocks_of(" in text or "block_of(" in text) and name.search(text) for text in TESTS)
    return page.parent.name == "tutorials" or (taken and page.name not in CHECKED_ONLY)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [
        (language, text)
        for language, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if language not in (OUTPUT, NAVIGATION)
    ]


def check_command(line: str) -> None:
    """An `assent` or `make` command exists, with its options; another program is only split into words."""
    words = shlex.split(line, comments=True)
    while words and ("=" in words[0] or words[0] in ("sudo", "export")):
        words = words[1:]
    if words[:1] == ["make"]:
        assert re.search(rf"^{words[1]}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE), line
    if words[:1] != ["assent"]:
        return
    group: Any = typer.main.get_command(app)
    for word in words[1:]:
        if not hasattr(group, "commands"):
            break
        assert word in group.commands, line
        group = group.commands[word]
    flags = {word for word in words[: words.index("--") if "--" in words else None] if word.startswith("--")}
    assert flags <= {name for parameter in group.params for name in parameter.opts}, line


def check(language: str, text: str) -> None:
    if language == "sh":
        for line in text.replace("\\\n", " ").splitlines():
            for command in line.split(" && "):
                check_command(command)
    elif language == "json":
        json.loads(text)
    elif language == "toml":
        tomllib.loads(text)
    elif language == "yaml":
        yaml.safe_load(text)
    elif language == "python":
        compile(text, "block", "exec")
    else:
        raise AssertionError(f"not executed, not output, and cannot be checked: {language}\n{text}")


def test_every_block_is_executed_checked_or_output() -> None:
    wrong = []
    for page in PAGES:
        # The trees of ARCHITECTURE.md are compared with the disk by test_architecture.py.
        if is_executed(page) or page.name == "ARCHITECTURE.md":
            continue
        for language, text in blocks(page):
            try:
                check(language, text)
            except (AssertionError, ValueError, SyntaxError) as error:
                wrong.append(f"{page.relative_to(ROOT)}: {error}")
    assert wrong == []


def test_no_block_asks_for_an_action_again_and_again() -> None:
    """A person may take minutes to decide, and a workspace has 60 calls in each."""
    asked = [text for page in PAGES for _, text in blocks(page) if "chieflab_get_action" in text]
    assert asked and not [text for text in asked if "waitSeconds" not in text]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("", "assent workflow list"),
        ("sh", "assent lunch"),
        ("sh", "assent serve --prot 1"),
        ("sh", "make everything"),
        ("json", "{"),
        ("toml", "a = "),
        ("python", "def"),
    ],
)
def test_a_block_that_cannot_work_is_found(language: str, text: str) -> None:
    with pytest.raises((AssertionError, ValueError, SyntaxError)):
        check(language, text)
