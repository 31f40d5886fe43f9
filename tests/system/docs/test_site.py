"""The documentation site: it builds without a warning, finds words, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.docs.pages import DOCS

ROOT = DOCS.parent
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc="([^"]*)"|<link[^>]*\shref="([^"]*)"|url\(([^)]*)\)"""
)
ELSEWHERE = ("http:", "https:", "//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs")
    (recipe,) = re.findall(r"^docs: .*\n\t@(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    command = recipe.replace("build/docs", str(folder / "cache")).replace("dist/docs", str(folder / "site"))
    program, *words = command.split()
    assert program == ".venv/bin/sphinx-build"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return folder / "site"


@pytest.mark.slow
def test_the_site_has_every_page_finds_its_words_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = {page.relative_to(ROOT).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")}
    assert [page for page in sorted(pages) if not (site / page).is_file()] == []

    index = (site / "searchindex.js").read_text(encoding="utf-8")
    words = ("idempot", "reviewurl", "outcome_unknown", "kubernet", "requireconfirm")
    assert [word for word in words if f"{word}:" not in index and f'"{word}":' not in index] == []

    foreign = {
        f"{file.relative_to(site)}: {address}"
        for file in site.rglob("*")
        if file.suffix in (".html", ".css")
        for found in LOADED.finditer(file.read_text(encoding="utf-8"))
        for address in found.groups()
        if address is not None and address.strip("\"'").startswith(ELSEWHERE)
    }
    assert foreign == set()
