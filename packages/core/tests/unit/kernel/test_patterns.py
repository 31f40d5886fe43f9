"""An author's pattern is read in one way, or refused by name, and never takes longer than the text deserves."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.kernel.limits import MAX_STEP_PATTERNS
from assent.kernel.patterns import BadPattern, compile_pattern, is_ascii_only, list_patterns

ATOMS = r"a b 1 . [ab] [^a] \d \w \s \b ^ a|b (?:ab)"
patterns = st.recursive(
    st.sampled_from(ATOMS.split()),
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | inner.map(lambda part: f"({part})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        )
    ),
    max_leaves=6,
)


@given(patterns, st.sampled_from(["", "i", "m", "s", "ims"]), st.text(alphabet="abA1 \n_-", max_size=12))
def test_a_pattern_finds_what_the_standard_engine_finds(pattern: str, flags: str, text: str) -> None:
    wanted = re.search(f"(?a{flags}){pattern}", text) is not None
    assert compile_pattern(pattern, flags).search(text) is wanted


READ = [
    # The pattern is searched for, wherever it is in the text.
    ("b", "", "abc", True),
    # The end is the end of the text, and no line break before it is forgiven.
    ("^abc$", "", "abc\n", False),
    ("^abc$", "", "x\nabc", False),
    ("^abc$", "m", "x\nabc\ny", True),
    (r"abc\z", "", "abc\n", False),
    ("a.b", "", "a\nb", False),
    ("a.b", "s", "a\nb", True),
    # Words, digits and blanks are those of ASCII.
    (r"\w", "", "é", False),
    (r"\d", "", "٣", False),
    (r"\s", "", "\u00a0\v", False),
    (r"^[^\s\v]$", "", "\v", False),
    (r"^\\C$", "", r"\C", True),
    (r"a\b", "", "aé", True),
    (r"^[\p{L}\p{N}]+$", "", "é中٣", True),
    # Case is that of every script.
    ("É", "i", "é", True),
    ("ab", "iguyvd", "AB", True),
    # Names of groups in both dialects, and characters by their number.
    (r"(?<one>a)(?P<two>b)\/\x{20AC}", "", "ab/€", True),
    # A lone negative look-ahead is a search that must not find.
    ("(?!.*TODO)", "", "a TODO", False),
    ("(?!.*TODO)", "", "a\nTODO", False),
    ("(?!.*TODO)", "", "a", True),
    ("^(?!.*TODO)", "", "a\nTODO", True),
    ("^(?!.*TODO)", "s", "a\nTODO", False),
    ("^(?!.*todo)", "im", "a\nb TODO", False),
    (r"^(?!(a|b)\))", "", "b)", False),
    # Half a pair of surrogates is a character like others.
    ("^.a", "", "\ud800a", True),
]


@pytest.mark.parametrize(("pattern", "flags", "text", "found"), READ)
def test_a_pattern_is_read_in_one_way(pattern: str, flags: str, text: str, found: bool) -> None:
    assert compile_pattern(pattern, flags).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (r"a(?=b)", "a look-ahead"),
        (r"(?!a)b", "a negative look-ahead"),
        (r"(?!a)(b)", "a negative look-ahead"),
        (r"^(?!a(?=b))", "a negative look-ahead"),
        (r"(?<=a)b", "a look-behind"),
        (r"(?<!a)b", "a negative look-behind"),
        (r"(a)\1", "a back reference"),
        (r"(?P<n>a)(?P=n)", "a back reference"),
        (r"(?<n>a)\k<n>", "a back reference"),
        (r"(?>a)", "an atomic group"),
        (r"(a)?(?(1)b|c)", "a conditional group"),
        (r"(?#why)a", "a comment"),
        (r"a++", "a possessive repetition"),
        (r"a{2}+", "a possessive repetition"),
        (r"a\Z", r"\Z"),
        (r"\u20ac", r"\u"),
        (r"\Q[\E", r"\Q"),
        (r"a\C", r"\C"),
        (r"(?!\C)", "a negative look-ahead"),
        (r"[\C]", r"\C"),
        ("(", "missing )"),
        ("a)(b", "unexpected )"),
        ("[b-a]", "b-a"),
        ("(?x)a", "(?x"),
        ("a{130}", "too large"),
        ("(?:[^a]{25}|.{25}){3}", "too large"),
        (r"\Q[\E" + "[ab]{900}" * 3 + "]", r"\Q"),
        ("(a{50}){50}", "repetition size"),
        ("(?:){100000000}", "repetition size"),
        ("x" * 600, "600 characters"),
        (r"\pL{400}", "too large"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(pattern: str, name: str) -> None:
    with pytest.raises(BadPattern) as refused:
        compile_pattern(pattern)
    assert name in str(refused.value)


def test_an_unknown_flag_is_refused() -> None:
    with pytest.raises(BadPattern):
        compile_pattern("a", "q")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [(r"\d", True), (r"a\\\S", True), (r"[\w-]", True), (r"\\d", False), (r"\p{L}\b", False), ("dsw", False)],
)
def test_a_class_of_ascii_is_noticed(pattern: str, said: bool) -> None:
    assert is_ascii_only(pattern) is said


def test_the_patterns_of_a_schema_are_found_at_any_depth() -> None:
    text = {"type": "string", "pattern": "b"}
    schema = {"properties": {"pattern": {"anyOf": [{"pattern": "a"}, {"items": text}]}}}
    assert list(list_patterns(schema)) == ["a", "b"]


AB = "".join(random.Random(1).choices("ab", k=100_000))  # noqa: S311 - no secret
LARGEST = {
    "one of two": ("[ab]*a[ab]{120}z", AB),
    "any": ("[ab]*a.{120}z", AB),
    "all but one": ("[ab]*a[^c]{120}z", AB),
    "letters": (r"[ab]*a\pL{60}z", AB),
    "optional": ("(?:a?){40}a{40}z", "a" * 100_000),
    "choices": ("[ab]*a(?:a|b|ab|ba){23}z", AB),
}


@pytest.mark.parametrize(("pattern", "text"), LARGEST.values(), ids=LARGEST)
def test_the_largest_patterns_take_a_bounded_time_for_each_character(pattern: str, text: str) -> None:
    found = compile_pattern(pattern)
    begun = time.thread_time()
    assert not found.search(text)
    assert (time.thread_time() - begun) * 1_000 < 300  # 160 at most on two slow cores


def test_a_step_with_all_the_patterns_it_may_have_is_judged_while_an_agent_waits() -> None:
    text = "wörd änd line – nothing “else”\n" * 2_900
    found = [
        compile_pattern(rf"\b(todo|fixme)\s*:?\s*\d{{{n}}}$", "im") for n in range(1, MAX_STEP_PATTERNS + 1)
    ]
    begun = time.thread_time()
    assert not any(pattern.search(text) for pattern in found)
    assert (time.thread_time() - begun) * 1_000 < 10 * MAX_STEP_PATTERNS
