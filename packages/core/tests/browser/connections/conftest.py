"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.connections.fixtures import whole_log
