"""Two texts compared, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.serving.web.review.matching import Steps, compare
from assent.serving.web.shell.word_diff import MAX_WORDS, PAGE_STEPS, Piece, differs, word_diff


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
    assert not differs(word_diff("a\nb", "a\nb"))
    assert word_diff("", "") == ()


def test_a_passage_too_long_to_match_is_shown_as_replaced() -> None:
    old, new = "a " * (MAX_WORDS + 1), "b " * (MAX_WORDS + 1)
    assert [piece.change for piece in word_diff(old, new)] == ["removed", "added"]


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_of_either_text_is_lost(old: str, new: str) -> None:
    assert texts(old, new) == (old, new)


def test_texts_that_repeat_themselves_are_shown_as_replaced_when_the_steps_are_used_up() -> None:
    old, new = "go go go " * 130, "go go on " * 130
    steps = Steps(10_000)

    pieces = word_diff(old, new, steps)

    assert steps.left < 0
    assert texts(old, new) == (old, new)
    assert {piece.change for piece in pieces} == {"same", "removed", "added"}


def test_without_steps_left_nothing_is_compared_and_all_of_it_counts_as_replaced() -> None:
    old, new = list("abab"), list("baba")

    assert list(compare(old, new, Steps(1))) == [("replace", 0, 4, 0, 4)]
    assert [kind for kind, *_ in compare(old, new, Steps(100))] == ["insert", "equal", "delete"]


def test_a_long_text_with_one_changed_word_takes_a_small_part_of_the_steps() -> None:
    words = [f"word{number % 97} " for number in range(800)]
    old, new = "".join(words[:390]), "".join([*words[:200], "another ", *words[201:390]])
    steps = Steps(PAGE_STEPS)

    assert [piece.change for piece in word_diff(old, new, steps)] == ["same", "removed", "added", "same"]
    assert steps.left > 0.99 * PAGE_STEPS
