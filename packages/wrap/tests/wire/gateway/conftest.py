"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.own_database import database_url
from tests.support.wrap.fixtures import client, no_caches, wrapped
