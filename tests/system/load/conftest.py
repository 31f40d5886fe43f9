"""What tests of processor time have in common."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def without_collection() -> Iterator[None]:
    """Leave the garbage of thousands of tests before this one out of its time: collecting it takes most of a second."""
    gc.disable()
    yield
    gc.enable()
