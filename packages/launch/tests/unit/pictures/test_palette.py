"""Colours of pictures: whatever the brand's are, the words can be read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent_launch.pictures import palette

COLOURS = st.integers(0, 0xFFFFFF).map("#{:06x}".format)


@given(main=COLOURS, accent=st.none() | COLOURS)
@settings(max_examples=150, deadline=None)
def test_every_text_stands_out_from_its_ground_in_any_brand(main: str, accent: str | None) -> None:
    for name, colours in palette.palettes(main, accent).items():
        for text in (colours.text, colours.quiet):
            assert palette.contrast(text, colours.ground) >= palette.TEXT_CONTRAST, (name, text)
        assert palette.contrast(colours.on_accent, colours.accent) >= palette.TEXT_CONTRAST, name


def test_a_brand_keeps_its_own_colour() -> None:
    made = palette.palettes("#ffd400", None)

    assert made["solid"].ground == made["light"].accent == "#ffd400"


def test_a_name_has_the_same_colour_every_time_and_others_have_others() -> None:
    assert palette.derive_colour("Ledgerleaf") == palette.derive_colour("LEDGERLEAF")
    assert len({palette.derive_colour(name) for name in ("Ledgerleaf", "Acme", "Kontor", "帳簿")}) == 4


@pytest.mark.parametrize(
    ("text", "colour"),
    [("#0b6e4f", "#0b6e4f"), ("0B6E4F", "#0b6e4f"), (" #abc ", "#aabbcc"), ("red", None), ("#12345", None)],
)
def test_a_colour_is_read_or_refused(text: str, colour: str | None) -> None:
    assert palette.parse(text) == colour


def test_contrast_is_that_of_wcag() -> None:
    assert palette.contrast("#ffffff", "#000000") == pytest.approx(21)
    assert palette.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
