"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.connectors.fixtures import database_url, harness

__all__ = ["database_url", "harness"]
