"""Google Analytics and Search Console."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.google.info import GA4, SEARCH_CONSOLE

CONNECTORS: Final = (GA4, SEARCH_CONSOLE)
