"""Canonical JSON is RFC 8785 to the byte, and what has no canonical form is refused."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.kernel.canonical import DIGEST_PREFIX, NotCanonical, canonical, depth, digest, short_digest
from assent.kernel.limits import MAX_WRAPPED_DEPTH

# RFC 8785, section 3.2.2 and 3.2.4: the sample object and its canonical bytes.
SAMPLE = {
    "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": '€$\x0f\nA\'B"\\\\"/',
    "literals": [None, True, False],
}
SAMPLE_BYTES = (
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
).encode()


def test_the_sample_of_the_rfc_comes_out_byte_for_byte() -> None:
    assert canonical(SAMPLE) == SAMPLE_BYTES


def test_keys_are_ordered_by_utf_16_units_and_not_by_code_points() -> None:
    # Section 3.2.3: U+1F600 is a surrogate pair (D83D …) and so comes before U+FB33.
    scrambled = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }

    ordered = list(json.loads(canonical(scrambled)).values())

    assert ordered == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        # Appendix B: IEEE 754 patterns and their one spelling.
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_have_the_spelling_of_the_rfc(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))

    assert canonical(value) == text.encode()


@pytest.mark.parametrize(
    ("character", "text"),
    [
        ("\x00", "\\u0000"),
        ("\x07", "\\u0007"),
        ("\b", "\\b"),
        ("\t", "\\t"),
        ("\n", "\\n"),
        ("\x0b", "\\u000b"),
        ("\f", "\\f"),
        ("\r", "\\r"),
        ("\x1f", "\\u001f"),
        ('"', '\\"'),
        ("\\", "\\\\"),
        ("/", "/"),
        ("\x7f", "\x7f"),
        ("\u0080", "\u0080"),
        ("\u2028", "\u2028"),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_only_what_must_be_escaped_is_escaped(character: str, text: str) -> None:
    assert canonical(character) == f'"{text}"'.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_not_are_refused_and_never_become_null(value: float) -> None:
    for holder in (value, [value], {"a": value}):
        with pytest.raises(NotCanonical):
            canonical(holder)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**64, 10**400])
def test_an_integer_that_a_double_cannot_hold_is_refused(value: int) -> None:
    with pytest.raises(NotCanonical):
        canonical({"n": value})


@pytest.mark.parametrize("value", [2**53 - 1, -(2**53) + 1])
def test_the_largest_safe_integers_are_kept(value: int) -> None:
    assert canonical(value) == str(value).encode()


@pytest.mark.parametrize("text", ["\ud800", "a\udc00b", "\udfff\ud800"])
def test_a_lone_surrogate_is_refused_in_a_value_and_in_a_key(text: str) -> None:
    with pytest.raises(NotCanonical):
        canonical({"a": text})
    with pytest.raises(NotCanonical):
        canonical({text: 1})


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def test_the_deepest_allowed_nesting_is_kept_and_one_more_is_refused() -> None:
    canonical(nested(MAX_WRAPPED_DEPTH))
    with pytest.raises(NotCanonical):
        canonical(nested(MAX_WRAPPED_DEPTH + 1))


def test_depth_is_counted_without_recursion() -> None:
    # Made by hand: no reader of ours would let this in.
    value: Any = []
    for _ in range(200_000):
        value = [value]

    assert depth(value) == 200_001
    while value:  # taken apart from outside, so that freeing it does not recurse either
        value = value[0]


texts = st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=200)
@given(json_values)
def test_canonical_bytes_read_back_as_the_same_value_and_are_their_own_canonical_form(value: Any) -> None:
    made = canonical(value)

    # A number is a double to the RFC, also one that is written without a point.
    again = json.loads(made, parse_int=lambda text: int(text) if abs(int(text)) < 2**53 else float(text))
    assert again == value
    assert canonical(again) == made


@pytest.mark.slow
@settings(max_examples=300)
@given(json_values | st.dictionaries(st.text(st.characters(max_codepoint=127)), json_values, max_size=5))
def test_what_the_codec_writes_is_what_the_library_for_the_rfc_writes(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_every_character_is_written_as_the_library_for_the_rfc_writes_it() -> None:
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)

    assert canonical(every) == rfc8785.dumps(every)
    assert canonical({every[:128]: 1}) == rfc8785.dumps({every[:128]: 1})


@given(
    st.dictionaries(texts, st.integers(0, 9), max_size=8),
    st.randoms(),
)
def test_the_order_in_which_an_object_was_made_does_not_show(value: dict[str, int], random: Any) -> None:
    names = list(value)
    random.shuffle(names)

    assert digest({name: value[name] for name in names}) == digest(value)


def test_equal_numbers_of_different_types_have_one_digest() -> None:
    assert digest({"n": 1}) == digest({"n": 1.0})


def test_a_struct_is_digested_as_its_wire_form() -> None:
    class Post(msgspec.Struct, rename="camel"):
        post_title: str

    assert digest(Post("hello")) == digest({"postTitle": "hello"})


def test_a_digest_is_the_sha_256_of_the_canonical_bytes() -> None:
    full = digest(SAMPLE)

    assert full == DIGEST_PREFIX + hashlib.sha256(SAMPLE_BYTES).hexdigest()
    assert full == DIGEST_PREFIX + full.removeprefix("sha256:")
    assert short_digest(full) == hashlib.sha256(SAMPLE_BYTES).hexdigest()[:16]
