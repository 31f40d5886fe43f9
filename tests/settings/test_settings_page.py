"""The settings page of the docs is made from the table."""

from __future__ import annotations

from pathlib import Path

from assent.settings.page import settings_page

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_settings_page_is_current() -> None:
    assert PAGE.read_text() == settings_page(), "run: python -m assent.settings.page > docs/settings.md"
