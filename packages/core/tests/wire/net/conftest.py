"""A far side on loopback for every test here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.net.far_side import FarSide, far_side


@pytest.fixture
def side() -> Iterator[FarSide]:
    with far_side() as running:
        yield running
