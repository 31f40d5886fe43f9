"""Ids are UUIDv7 strings in one spelling, and sort by the time they were made at."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.kernel.ids import RANDOM_BYTES, SYSTEM_WORKSPACE, is_uuid, uuid7

times = st.integers(min_value=0, max_value=(1 << 48) - 1)
entropy = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)


@given(times, entropy)
def test_an_id_is_a_version_7_uuid_with_its_time_in_front(now_ms: int, random: bytes) -> None:
    made = uuid7(now_ms, random)

    parsed = uuid.UUID(made)
    assert str(parsed) == made
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == now_ms
    assert is_uuid(made)


@given(times, times, entropy, entropy)
def test_ids_sort_as_text_by_the_millisecond_they_were_made_at(
    one_ms: int, other_ms: int, one: bytes, other: bytes
) -> None:
    if one_ms != other_ms:
        assert (uuid7(one_ms, one) < uuid7(other_ms, other)) == (one_ms < other_ms)


@given(times, st.integers(0, 73))
def test_each_of_74_random_bits_makes_another_id(now_ms: int, bit: int) -> None:
    # 80 bits come in; the version and variant take the place of six of them.
    used = [n for n in range(80) if n not in range(74, 80)]
    flipped = (1 << used[bit]).to_bytes(RANDOM_BYTES, "big")

    assert uuid7(now_ms, flipped) != uuid7(now_ms, bytes(RANDOM_BYTES))


def test_the_example_of_rfc_9562_comes_out_as_printed_there() -> None:
    # Appendix A.6: unix_ts_ms 0x017F22E279B0, rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F.
    tail = 0xCC3 << 62 | 0x18C4DC0C0C07398F

    assert uuid7(0x017F22E279B0, tail.to_bytes(RANDOM_BYTES, "big")) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@pytest.mark.parametrize("size", [0, 9, 11, 16])
def test_any_other_amount_of_randomness_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="random bytes"):
        uuid7(0, bytes(size))


@pytest.mark.parametrize("now_ms", [-1, 1 << 48])
def test_a_time_that_does_not_fit_is_refused_instead_of_wrapped(now_ms: int) -> None:
    with pytest.raises(ValueError, match="time"):
        uuid7(now_ms, bytes(RANDOM_BYTES))


GOOD = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD.upper(),
        GOOD.replace("-", ""),
        "{" + GOOD + "}",
        "urn:uuid:" + GOOD,
        GOOD[:-1],
        GOOD + "0",
        GOOD + "\n",
        " " + GOOD,
        GOOD.replace("7", "٧", 1),
        GOOD.replace("-", "–"),
        GOOD[:8] + "--" + GOOD[10:],
        "g" + GOOD[1:],
    ],
)
def test_a_uuid_in_any_other_spelling_is_no_id(text: str) -> None:
    assert is_uuid(GOOD)
    assert not is_uuid(text)


def test_the_fixed_workspaces_are_ids_and_older_than_any_real_one() -> None:
    assert is_uuid(SYSTEM_WORKSPACE)
    assert is_uuid(LOCAL_WORKSPACE)
    assert SYSTEM_WORKSPACE < LOCAL_WORKSPACE < uuid7(1, bytes(RANDOM_BYTES))
