"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.shell.fixtures import screen, server
