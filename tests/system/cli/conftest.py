"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.cli.fixtures import bare_environment, own_logging
