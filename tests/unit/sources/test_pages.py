"""The parts of the documentation that are made from tables of the code are as the code makes them now."""

from __future__ import annotations

from tests.support.docs.script import load_script

pages = load_script("pages")
MADE = {
    "approving",
    "tools",
    "commands",
    "events",
    "effects",
    "rules",
    "definitions",
    "reasons",
    "performance",
    "scale",
    "settings",
}


def test_every_made_page_is_as_the_code_makes_it() -> None:
    found = pages.list_pages()
    assert {page.stem for page in found} == MADE
    stale = [page.name for page in found if pages.fill(page.read_text()) != page.read_text()]
    assert stale == [], "run: .venv/bin/python scripts/pages.py"
