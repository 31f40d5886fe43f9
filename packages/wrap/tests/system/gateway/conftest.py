"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.wrap.fixtures import database_url, wrapped

__all__ = ["database_url", "wrapped"]
