"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.examples.fixtures import open_example
