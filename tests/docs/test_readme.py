"""The README: its function is a gated tool, its commands exist, and it names every page of the documentation."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs.pages import DOCS, block_of, blocks_of

from assent.cli.commands import app
from assent.extensions.loading import load_extensions

README = DOCS.parent / "README.md"


def test_the_function_of_the_page_is_loaded_as_an_effect(tmp_path: Path) -> None:
    code = tmp_path / "billing.py"
    code.write_text(block_of("../README.md", "python"))
    loaded = load_extensions((str(code),))
    assert loaded.failures == () and [each.tool for each in loaded.effects] == ["acme_billing_refund"]


@pytest.mark.parametrize(
    "line", [line for kind, text in blocks_of("../README.md") if kind == "sh" for line in text.splitlines()]
)
def test_a_command_of_the_page_exists(line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        makefile = (DOCS.parent / "Makefile").read_text()
        assert re.search(rf"^{words[1]}:.*##", makefile, re.MULTILINE)
        return
    group: Any = typer.main.get_command(app)
    for word in words[1:]:
        if not hasattr(group, "commands"):
            break
        assert word in group.commands, word
        group = group.commands[word]
    flags = {word for word in words[: words.index("--") if "--" in words else None] if word.startswith("--")}
    assert flags <= {name for parameter in group.params for name in parameter.opts}


def test_the_page_leads_to_every_page_of_the_documentation() -> None:
    named = set(re.findall(r"\(docs/([\w/-]+\.md)\)", README.read_text()))
    pages = (*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"))
    assert named == {path.relative_to(DOCS).as_posix() for path in pages}
