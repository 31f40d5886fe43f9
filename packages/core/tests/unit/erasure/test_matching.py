"""A person is found however their name is written, and only if they are named."""

from __future__ import annotations

import unicodedata

import pytest

from assent.engine.erasure.matching import Matcher

NAME, ADDRESS = "Zoë O'Brien", "zoe+1@example.org"


@pytest.mark.parametrize(
    "text",
    [
        unicodedata.normalize("NFD", NAME),
        "Zo%C3%AB%20O%27Brien",
        "<p>ZOË O&#39;BRIEN</p>",
        "<p>Zoë O&#x27;Brien</p>",
        '{"to":"Zoë\\nO\'Brien"}',
        '{"to":"Zo\\u00eb O\'Brien"}',
        "?to=zoe%2B1%40example.org&x=1",
        '{"zoe+1@example.org":1}',
        '{"via":"zoe+1@example.org"}',
    ],
)
def test_a_name_is_found_in_every_way_of_writing_it(text: str) -> None:
    assert Matcher([NAME, ADDRESS]).find((text,))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ada@x.example", "ada@x.example.org"),
        ("ada@x.example", "bada@x.example"),
        ("a_a@x.example", "aba@x.example"),
        ("Ada", "Canada"),
        ("Body", '{"body":"Your invoice is ready."}'),
        ("agent", '{"by":"key:1","assurance":"agent"}'),
        ("Email", '{"channel":"email","verb":"send"}'),
    ],
)
def test_another_name_and_a_word_of_the_server_name_no_person(name: str, text: str) -> None:
    matcher = Matcher([name])

    assert not matcher.find((text,))
    assert matcher.erase(text, (text,)) == text


def test_a_short_name_is_not_found_by_chance_in_the_bytes_of_a_picture() -> None:
    picture = b"\x89PNG\0 Ada \xff Lovelace\0"

    found = [Matcher([name]).find((picture,)) for name in ("Ada", "Lovelace")]

    assert found == [False, True]
