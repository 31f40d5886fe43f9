"""Text in a box: whole, inside, and as large as it gets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assent_launch.pictures.graphics import Box, Fitted, TooLong, fit

BOX = Box(width=1000, height=500, largest=100, smallest=40, line_height=1.2)


def measure(text: str) -> float:
    """Every character half as wide as high, wide ones as wide as high."""
    return sum(1.0 if ord(char) > 0x2E80 else 0.5 for char in text)


WORDS = st.lists(
    st.text(st.sampled_from("abcdefgh本日は晴天なり、。ァッ-"), min_size=1, max_size=14),
    min_size=1,
    max_size=30,
)


@given(words=WORDS)
@settings(max_examples=200, deadline=None)
def test_nothing_is_lost_cut_or_outside(words: list[str]) -> None:
    text = " ".join(words)

    fitted = fit(text, BOX, measure)

    if isinstance(fitted, TooLong):
        return
    assert "".join("".join(fitted.lines).split()) == "".join(text.split())
    assert BOX.smallest <= fitted.size <= BOX.largest
    assert all(measure(line) * fitted.size <= BOX.width + 0.01 for line in fitted.lines)
    assert len(fitted.lines) * fitted.size * BOX.line_height <= BOX.height + 0.1


def test_a_text_that_is_too_long_says_how_much_would_fit() -> None:
    text = "word " * 100

    short = fit(text.strip(), BOX, measure)

    assert isinstance(short, TooLong)
    assert isinstance(fit(text[: short.most].strip(), BOX, measure), Fitted)
    assert short.word == ""


def test_a_word_that_is_too_wide_is_named() -> None:
    wide = "x" * 60

    assert fit(f"a {wide} b", BOX, measure) == TooLong(1, wide)


def test_lines_are_about_as_long_as_each_other() -> None:
    fitted = fit("one two three four five six", BOX, measure)

    assert isinstance(fitted, Fitted)
    assert fitted.lines == ("one two three", "four five six")


def test_japanese_breaks_after_phrases_and_begins_no_line_with_a_full_stop() -> None:
    fitted = fit("銀行の明細をそのまま取り込み、会費の照合は自動で終わります。", BOX, measure)

    assert isinstance(fitted, Fitted)
    assert not any(line[0] in "、。っャ" for line in fitted.lines)
    assert all(line[-1] in "のをまはで、。み" for line in fitted.lines)


def test_few_words_are_as_large_as_they_may_be() -> None:
    assert fit("Ship it.", BOX, measure) == Fitted(("Ship it.",), 100, BOX.line_height)
