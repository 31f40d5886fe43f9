"""The four tutorials: a newcomer who types what they say gets what they print."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.support.docs.newcomer import play
from tests.support.docs.pages import DOCS

PAGES = sorted((DOCS / "tutorials").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_newcomer_who_types_the_page_gets_what_it_prints(page: Path) -> None:
    with TemporaryDirectory() as folder:  # the name of a socket below tmp_path would be too long
        play(f"tutorials/{page.name}", Path(folder))
