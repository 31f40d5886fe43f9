"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.channels.fixtures import database_url, hosted

__all__ = ["database_url", "hosted"]
