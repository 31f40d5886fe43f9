"""Patterns mean what the standard engine says they mean, and never take longer than the text deserves."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.kernel.limits import MAX_STEP_PATTERNS
from assent.workflow.patterns import BadPattern, compiled

ATOMS = r"a b 1 . [ab] [^a] \d \w \s \b ^ a|b (?:ab) (?=a) (?!b) (?<=a) (?<!b)"
atoms = st.sampled_from(ATOMS.split())
patterns = st.recursive(
    atoms,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | inner.map(lambda part: f"({part})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        )
    ),
    max_leaves=6,
)


@given(patterns, st.text(alphabet="ab1 \n_", max_size=12))
def test_a_pattern_finds_what_the_standard_engine_finds(pattern: str, text: str) -> None:
    assert compiled(pattern).search(text) is (re.search(pattern, text) is not None)


@given(patterns, st.booleans(), st.booleans(), st.text(alphabet="ab1 \n_", max_size=12))
def test_the_ends_are_found_where_the_standard_engine_finds_them(
    inner: str, begins: bool, ends: bool, text: str
) -> None:
    pattern = "^" * begins + rf"(?:{inner}|b\Za?|_^)" + r"\Z" * ends
    assert compiled(pattern).search(text) is (re.search(pattern, text) is not None)


def test_a_step_with_all_the_patterns_it_may_have_is_judged_while_an_agent_waits() -> None:
    text = "ab" * 30_000
    begun = time.process_time()
    assert not any(compiled(f"(a|b|ab)*c{n}$").search(text) for n in range(MAX_STEP_PATTERNS))
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 60_000 + "b"),
        (r"(a|a)*$", "a" * 60_000 + "b"),
        (r"(.*)(.*)(.*)(.*)x$", "a" * 60_000),
        (r"(?!.*TODO)zzz", "a" * 60_000),
        (r"(\w+\s?)*$", "word " * 12_000 + "!"),
        (r"[ab]*a[ab]{400}z", "".join("ab"[n * n % 97 % 2] for n in range(60_000))),
    ],
)
def test_a_catastrophic_pattern_takes_linear_time(pattern: str, text: str) -> None:
    begun = time.process_time()
    assert compiled(pattern).search(text) is (pattern == r"(\w+\s?)*$" or pattern.startswith("(a|a)*"))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(",
        "a{600}",
        "(a{50}){50}",
        "(?:){100000000}",
        "((?:){500}){500}" * 3,
        "x" * 600,
        "(?=.*[ab]{100}z)" * 6,
        "(?=a)" * 17,
    ],
)
def test_what_no_automaton_can_do_in_bounds_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compiled(pattern)


def test_flags_and_names_of_the_other_dialect_work() -> None:
    assert compiled("^ab$", "im").search("x\nAB\ny")
    assert compiled("a.b", "s").search("a\nb") and not compiled("a.b").search("a\nb")
    assert compiled(r"(?<word>\w+)\/").search("path/")
    with pytest.raises(BadPattern):
        compiled("a", "q")


def test_the_end_of_the_text_forgives_no_line_break() -> None:
    assert not compiled("^abc$").search("abc\n")


@given(patterns)
def test_a_sample_is_always_made(pattern: str) -> None:
    assert isinstance(compiled(pattern).sample(), str)
