"""The requests that `make bench` counts in tokens are carried out as they were recorded, and stay short to read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from benchmarks.rows.twenty_requests import MOST_CALLS, REQUESTS, carry_out

MOST_CHARS: Final = 1_900
"""Of an answer on average; `make bench` counts tokens."""


@pytest.mark.slow
async def test_twenty_requests_are_carried_out_as_they_were_recorded(tmp_path: Path) -> None:
    answers = await carry_out(tmp_path / "data")

    assert len(REQUESTS) == 20
    assert len(answers) <= MOST_CALLS
    assert sum(map(len, answers)) / len(answers) <= MOST_CHARS
