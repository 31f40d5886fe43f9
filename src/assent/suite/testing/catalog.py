"""All tools of a server, for tests and benchmarks."""

from __future__ import annotations

from typing import Final

from assent.platform.tools import Catalog, arrange
from assent.suite.bundle import list_tools

ALL_TOOLS: Final = arrange(list_tools())


def full_catalog() -> Catalog:
    return Catalog(ALL_TOOLS)
