"""An engine with emulated Google and HubSpot, over the embedded store or over each kind."""

from __future__ import annotations

import io
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.support.connections.console import Console, open_console
from tests.support.connections.kit import Connected, connected
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import settings_for

from assent.settings.logs import configure_logging


@pytest.fixture
def database_url(own_database_url: str) -> str:
    """Everything here happens in the local workspace."""
    return own_database_url


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Connected]:
    async with connected(new_sqlite(tmp_path / "assent.db"), tmp_path) as made:
        yield made


@pytest.fixture
async def workspace_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[Connected]:
    async with connected(database_url, tmp_path) as made:
        yield made


@pytest.fixture
def whole_log(tmp_path: Path) -> Iterator[io.StringIO]:
    """Everything that this process logs, to the last detail, as a server writes it."""
    root, written = logging.getLogger(), io.StringIO()
    before = (root.handlers[:], root.level, logging.raiseExceptions)
    configure_logging(settings_for("sqlite:///unused.db", tmp_path, log_level="debug"), written)
    yield written
    root.handlers[:], root.level, logging.raiseExceptions = before


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with open_console(new_sqlite(tmp_path / "assent.db"), tmp_path) as made:
        yield made


@pytest.fixture
async def console_on_any_store(database_url: str, tmp_path: Path) -> AsyncIterator[Console]:
    async with open_console(database_url, tmp_path) as made:
        yield made
