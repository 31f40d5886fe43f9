"""The order in which a line is drawn, by UAX #9."""

from __future__ import annotations

import pytest

from assent_launch.pictures import bidi


def drawn(text: str, base: int | None = None) -> list[tuple[str, bool]]:
    base = int(bidi.is_rtl(text)) if base is None else base
    return [(run.text, run.rtl) for run in bidi.visual(text, bidi.levels(text, base), base)]


def test_latin_is_one_run() -> None:
    assert drawn("Hello, world: 50%") == [("Hello, world: 50%", False)]


def test_latin_inside_hebrew_stands_between_its_neighbours() -> None:
    assert drawn("שלום Ledgerleaf היום") == [(" היום", True), ("Ledgerleaf", False), ("שלום ", True)]


def test_a_number_after_arabic_keeps_its_digits_in_order() -> None:
    assert drawn("أسرع 50 مرة") == [(" مرة", True), ("50", False), ("أسرع ", True)]


def test_brackets_go_with_what_they_hold() -> None:
    assert drawn("برنامج Foo (beta)") == [("Foo (beta)", False), ("برنامج ", True)]
    assert drawn("مع Foo (تجريبي)") == [(" (تجريبي)", True), ("Foo", False), ("مع ", True)]


def test_a_bracket_without_its_pair_breaks_no_other_pair() -> None:
    assert drawn("[)50.abcשלום]مرحبا") == [
        ("[)50.abc", False),
        ("שלום", True),
        ("]", False),
        ("مرحبا", True),
    ]


def test_a_line_of_latin_in_an_arabic_paragraph_ends_on_the_left() -> None:
    assert drawn("Ledgerleaf (تجريبي)", base=1) == [(" (تجريبي)", True), ("Ledgerleaf", False)]


def test_a_full_stop_of_a_right_to_left_line_is_on_its_left() -> None:
    assert drawn("שלום.") == [("שלום.", True)]
    assert drawn("hello.", base=1) == [(".", True), ("hello", False)]


def test_arabic_inside_latin_is_turned_alone() -> None:
    assert drawn("Say مرحبا بك now") == [("Say ", False), ("مرحبا بك", True), (" now", False)]


@pytest.mark.parametrize(
    ("text", "rtl"), [("abc", False), ("123 אב", True), ("…", False), ("", False), ("ä אב", False)]
)
def test_a_paragraph_runs_as_its_first_strong_character(text: str, rtl: bool) -> None:
    assert bidi.is_rtl(text) is rtl
