"""The page of reasons says what the table says."""

from __future__ import annotations

from pathlib import Path

from assent.cli.pages.reasons import page
from assent.kernel.refusals import Reason

PAGE = Path(__file__).parents[2] / "docs" / "reasons.md"


def test_the_page_is_as_the_table_makes_it() -> None:
    assert PAGE.read_text() == page(), "run: python -m assent.cli.pages.reasons > docs/reasons.md"


def test_every_reason_has_a_section() -> None:
    text = PAGE.read_text()

    assert [reason for reason in Reason if f"### `{reason}`" not in text] == []
