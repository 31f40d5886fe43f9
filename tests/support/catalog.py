"""All tools, of the core and of launch, in the order of the list."""

from __future__ import annotations

from typing import Final

from assent.tools.catalog import Catalog, arrange
from assent_launch.extension import list_tools
from assent_launch.words import WORDS

ALL_TOOLS: Final = arrange(list_tools())


def full_catalog() -> Catalog:
    return Catalog(ALL_TOOLS, words=WORDS)
