"""Two texts compared, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.serving.web.word_diff import MAX_WORDS, Piece, changed, word_diff


def texts(old: str, new: str) -> tuple[str, str]:
    """The two texts, read back from their difference."""
    pieces = word_diff(old, new)
    return (
        "".join(piece.text for piece in pieces if piece.change != "added"),
        "".join(piece.text for piece in pieces if piece.change != "removed"),
    )


def test_one_changed_word_is_marked_and_the_rest_stays() -> None:
    assert word_diff("It is a small test.", "It is a large test.") == (
        Piece("same", "It is a "),
        Piece("removed", "small"),
        Piece("added", "large"),
        Piece("same", " test."),
    )


def test_the_same_text_has_no_changes_and_two_empty_ones_nothing_at_all() -> None:
    assert not changed(word_diff("a\nb", "a\nb"))
    assert word_diff("", "") == ()


def test_a_passage_too_long_to_match_is_shown_as_replaced() -> None:
    old, new = "a " * (MAX_WORDS + 1), "b " * (MAX_WORDS + 1)
    assert [piece.change for piece in word_diff(old, new)] == ["removed", "added"]


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_of_either_text_is_lost(old: str, new: str) -> None:
    assert texts(old, new) == (old, new)
