"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.stores.fixtures import pytest_generate_tests, store, store_url
