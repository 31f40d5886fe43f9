"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.connectors.fixtures import harness
from tests.support.own_database import database_url
