"""The literals of the patterns of risks leave out no match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.suite.content.claims import RISKS, find_literals, fold

WORDS = sorted(
    {word for _, _, pattern in RISKS for word in re.findall(r"[^\W_]+", re.sub(r"\\.", " ", pattern.pattern))}
)
PHRASES = (
    "faster than Excel",
    "alternative to",
    "VS. Others",
    "compared with Rows",
    "users said",
    "#1",
    "no. 1",
)


@pytest.mark.parametrize("name", [name for name, _, _ in RISKS if name != "number"])
def test_a_match_contains_a_literal_of_its_pattern(name: str) -> None:
    pattern = next(pattern for each, _, pattern in RISKS if each == name)
    literals = find_literals(pattern)

    @settings(max_examples=150, deadline=None)
    @given(
        st.lists(st.sampled_from([*WORDS, *PHRASES, "#", "İ", "ſ", "ı", "100", "1", "A", "  "]), max_size=8)
    )
    def holds(words: list[str]) -> None:
        for text in (
            " ".join(words),
            "".join(words),
            " ".join(words).upper(),
            " ".join(words).replace("i", "ı"),
        ):
            if (match := pattern.search(text)) is not None:
                assert any(literal in fold(match[0]) for literal in literals), match[0]

    holds()
    for phrase in PHRASES:
        holds.hypothesis.inner_test([phrase])  # type: ignore[attr-defined]


def test_a_pattern_that_needs_no_literal_has_none() -> None:
    assert find_literals(re.compile(r"\d+|(?:abc)?|x*")) == frozenset()
    assert find_literals(re.compile(r"(?:versus|vs\.?) [a-z]", re.IGNORECASE)) == {"versus", "vs"}
