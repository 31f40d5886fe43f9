"""An engine with emulated Google and HubSpot, over the embedded store or over each kind."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.connections.console import open_console
from tests.support.connections.kit import connected
from tests.support.opened import on_any_store, on_embedded_store
from tests.support.surfaces import settings_for

from assent.settings.logs import configure_logging

workspace = on_embedded_store(connected)
workspace_on_any_store = on_any_store(connected)


@pytest.fixture
def whole_log(tmp_path: Path) -> Iterator[io.StringIO]:
    """Everything that this process logs, to the last detail, as a server writes it."""
    root, written = logging.getLogger(), io.StringIO()
    before = (root.handlers[:], root.level, logging.raiseExceptions)
    configure_logging(settings_for("sqlite:///unused.db", tmp_path, log_level="debug"), written)
    yield written
    root.handlers[:], root.level, logging.raiseExceptions = before


console = on_embedded_store(open_console)
console_on_any_store = on_any_store(open_console)
