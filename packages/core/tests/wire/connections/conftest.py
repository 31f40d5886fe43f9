"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.connections.fixtures import (
    console,
    console_on_any_store,
    whole_log,
    workspace,
    workspace_on_any_store,
)
from tests.support.own_database import database_url
