"""Times for people."""

from __future__ import annotations

import pytest

from assent.kernel.times import parse_time, read_offset, zoned_time


@pytest.mark.parametrize(
    ("given", "offset", "said"),
    [
        ("2026-11-19T09:00:00+01:00", "+01:00", "Thu 19 Nov 2026, 9:00 (+01:00) = 08:00 UTC"),
        ("2026-11-19T00:30:00+01:00", "+01:00", "Thu 19 Nov 2026, 0:30 (+01:00) = Wed 18 Nov, 23:30 UTC"),
        ("2026-11-19T09:00:00-03:30", "-03:30", "Thu 19 Nov 2026, 9:00 (-03:30) = 12:30 UTC"),
        ("2026-11-19T08:00:00Z", "", "Thu 19 Nov 2026, 08:00 UTC"),
    ],
)
def test_a_planned_time_is_said_in_the_zone_it_was_given_in(given: str, offset: str, said: str) -> None:
    ms = parse_time(given)
    assert ms is not None
    assert (read_offset(given), zoned_time(ms, read_offset(given))) == (offset, said)
