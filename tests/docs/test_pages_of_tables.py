"""Pages that are made from tables of the code say what the tables say."""

from __future__ import annotations

import pytest
from tests.docs.script import load_script

pages = load_script("pages")


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_as_its_table_makes_it(name: str) -> None:
    assert (pages.DOCS / name).read_text() == pages.PAGES[name](), "run: python scripts/pages.py"
