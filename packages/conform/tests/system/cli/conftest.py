"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.cli.fixtures import assent, bare_environment, data_dir, own_logging
