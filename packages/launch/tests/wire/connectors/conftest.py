"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.connectors.fixtures import site, site_on_any_store
from tests.support.own_database import database_url
