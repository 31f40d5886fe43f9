"""Patterns mean what the standard engine says they mean, and never take longer than the text deserves."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.kernel.limits import MAX_LOOK_AROUND_CHARS, MAX_STEP_PATTERNS
from assent.workflow.regex.patterns import Engine, TextTooLong, compile_pattern
from assent.workflow.regex.syntax import BadPattern, parse

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


LETTERS = "ab1 \n_éßſК٣²\u00a0\u2028ǅ中"
ENGINES: tuple[Engine, ...] = ("re2", "automaton")


@given(patterns, st.text(alphabet=LETTERS, max_size=12))
def test_a_pattern_finds_what_the_standard_engine_finds(pattern: str, text: str) -> None:
    found = {compile_pattern(pattern, engine=engine).search(text) for engine in ENGINES}
    assert found == {re.search(pattern, text) is not None}


@given(patterns, st.sampled_from(["i", "m", "s", "ims"]), st.text(alphabet=LETTERS, max_size=12))
def test_a_pattern_with_flags_finds_what_the_standard_engine_finds(
    pattern: str, flags: str, text: str
) -> None:
    wanted = re.search(f"(?{flags}){pattern}", text) is not None
    assert compile_pattern(pattern, flags).search(text) is wanted


@pytest.mark.filterwarnings("ignore:Possible :FutureWarning")
@given(st.text(alphabet="ab1()[]{}*+?|^$.\\-,:=!<>P#xims ", max_size=10))
def test_what_the_standard_engine_cannot_read_is_refused_and_nothing_else(pattern: str) -> None:
    try:
        re.compile(pattern)
        wanted = True
    except (re.error, OverflowError) as error:
        wanted = "look-behind" in str(error)  # of any width here
    try:
        parse(pattern, "")
        read = True
    except BadPattern as error:
        read = "Back references" in str(error) and wanted
    assert read is wanted


def test_letters_differ_by_their_case_as_they_do_for_the_standard_engine() -> None:
    cased = [char for char in map(chr, range(0x250)) if char.lower() != char or char.upper() != char]
    odd = [
        (one, other)
        for one in "sSkKıµßẞσςǆéÀ"
        for other in (*cased, "\u212a", "ẞ", "ς", "Σ", "μ")
        if compile_pattern(re.escape(one), "i").search(other)
        is not (re.search(re.escape(one), other, re.IGNORECASE) is not None)
    ]
    # The standard engine takes İ for an i: by its case it is an i and a dot.
    assert [pair for pair in odd if "İ" not in pair] == []


HUNDRED_KB = {
    "ascii": "word and line, nothing else\n" * 3_700,
    "western": "wörd änd line – nothing “else”\n" * 2_900,
    "chinese": "".join(map(chr, range(0x4E00, 0x4E00 + 3_500))) * 10,
}


@pytest.mark.parametrize("text", HUNDRED_KB.values(), ids=HUNDRED_KB)
def test_a_pattern_takes_milliseconds_for_a_hundred_kilobytes(text: str) -> None:
    patterns = [
        compile_pattern(rf"\b(todo|fixme)\s*:?\s*\d{{{n}}}$", "im") for n in range(1, MAX_STEP_PATTERNS + 1)
    ]
    begun = time.thread_time()
    assert not any(pattern.search(text) for pattern in patterns)
    assert (time.thread_time() - begun) * 1_000 < 10 * MAX_STEP_PATTERNS  # 347 each, on the automaton


def test_a_look_around_is_held_against_short_texts_and_says_so_of_long_ones() -> None:
    pattern = compile_pattern(r"^(?!.*TODO)", "s")
    assert pattern.search("a" * MAX_LOOK_AROUND_CHARS) and not pattern.search("a TODO")
    with pytest.raises(TextTooLong, match="looks ahead or behind"):
        pattern.search("a" * (MAX_LOOK_AROUND_CHARS + 1))


def test_a_pattern_that_names_more_characters_than_there_are_bytes_is_found_too() -> None:
    named = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
    assert compile_pattern(named).search(f"- {named} -") and not compile_pattern(named).search(named[1:])
    assert compile_pattern(rf"\b{named[:70]}\b").search(f"a {named[:70]} b")


@given(patterns, st.booleans(), st.booleans(), st.text(alphabet="ab1 \n_", max_size=12))
def test_the_ends_are_found_where_the_standard_engine_finds_them(
    inner: str, begins: bool, ends: bool, text: str
) -> None:
    pattern = "^" * begins + rf"(?:{inner}|b\Za?|_^)" + r"\Z" * ends
    assert compile_pattern(pattern).search(text) is (re.search(pattern, text) is not None)


def test_a_step_with_all_the_patterns_it_may_have_is_judged_while_an_agent_waits() -> None:
    text = "ab" * 30_000
    begun = time.process_time()
    assert not any(compile_pattern(f"(a|b|ab)*c{n}$").search(text) for n in range(MAX_STEP_PATTERNS))
    assert time.process_time() - begun < 3


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 60_000 + "b"),
        (r"(a|a)*$", "a" * 60_000 + "b"),
        (r"(.*)(.*)(.*)(.*)x$", "a" * 60_000),
        (r"(?!.*TODO)zzz", "a" * 8_000),
        (r"(\w+\s?)*$", "word " * 12_000 + "!"),
        (r"[ab]*a[ab]{400}z", "".join("ab"[n * n % 97 % 2] for n in range(60_000))),
    ],
)
def test_a_catastrophic_pattern_takes_linear_time(pattern: str, text: str) -> None:
    begun = time.process_time()
    assert compile_pattern(pattern).search(text) is (pattern == r"(\w+\s?)*$" or pattern.startswith("(a|a)*"))
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
        compile_pattern(pattern)


def test_flags_and_names_of_the_other_dialect_work() -> None:
    assert compile_pattern("^ab$", "im").search("x\nAB\ny")
    assert compile_pattern("a.b", "s").search("a\nb") and not compile_pattern("a.b").search("a\nb")
    assert compile_pattern(r"(?<word>\w+)\/").search("path/")
    with pytest.raises(BadPattern):
        compile_pattern("a", "q")


def test_the_end_of_the_text_forgives_no_line_break() -> None:
    assert not compile_pattern("^abc$").search("abc\n")


@given(patterns)
def test_a_sample_is_always_made(pattern: str) -> None:
    assert isinstance(compile_pattern(pattern).sample(), str)
