"""A search for a suspicion is skipped only where its pattern cannot match."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.effort import rounds

from assent.gate.content.suspicion import _ANYWHERE


@pytest.mark.prove
@pytest.mark.parametrize(("parts", "pattern"), [(parts, sign) for _, parts, sign in _ANYWHERE])
def test_every_match_of_a_suspicion_has_one_of_its_parts(
    parts: tuple[str, ...], pattern: re.Pattern[str]
) -> None:
    @settings(
        max_examples=rounds(30, 500), deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.from_regex(pattern))
    def holds(text: str) -> None:
        if pattern.search(text) is not None:
            assert any(part in text.lower() for part in parts)

    holds()
