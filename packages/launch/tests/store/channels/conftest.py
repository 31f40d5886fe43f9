"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.channels.fixtures import database_url, impatient, providers

__all__ = ["database_url", "impatient", "providers"]
