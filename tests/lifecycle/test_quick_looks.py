"""A quick look that ends the judging of a text early never hides what the full look would have seen."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.lifecycle.theater import cards, tasks
from assent.lifecycle.theater.page import Page, says_something, sentences_of, visible, without_markup

pytestmark = pytest.mark.slow

ASCII = st.characters(codec="ascii")
MARKUP = st.lists(
    st.sampled_from([*"ab1 \n\t#*-_=~|>`<&;/!:.", "<p>", "<br>", "&nbsp;", "<!--", "-->", "```py"])
).map("".join)
PIECES = st.sampled_from([*string.ascii_lowercase[:6], *'.!?"“”‘’`> \n', ". ", "\n> ", "```", "«", "»", "「"])


@settings(max_examples=600)
@given(st.from_regex(tasks.TASK, alphabet=ASCII))
def test_whatever_is_a_task_may_set_one(text: str) -> None:
    assert tasks.may_set_task(text)


@settings(max_examples=300)
@given(st.from_regex(cards.ADDRESS, alphabet=ASCII) | st.from_regex(cards.WAITING, alphabet=ASCII))
def test_whatever_has_an_address_or_waits_may_point(text: str) -> None:
    assert cards.may_point(text)


def test_letters_beyond_ascii_are_never_passed_over() -> None:
    # Patterns that ignore case take these for s, k and i.
    assert tasks.may_set_task("propoſe a poſt about the release")
    assert cards.may_point("aſſet ıd of the draft")


@settings(max_examples=500)
@given(MARKUP)
def test_a_text_says_something_when_something_is_left_without_its_markup(text: str) -> None:
    assert says_something(text) == visible(without_markup(text))


@settings(max_examples=500)
@given(st.lists(PIECES).map("".join))
def test_the_last_sentences_of_a_short_text_are_its_sentences(text: str) -> None:
    page = Page(text)

    assert page.last_sentences == sentences_of(page.unquoted)[-8:]
