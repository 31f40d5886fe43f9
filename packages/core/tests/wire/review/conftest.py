"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.own_database import database_url
from tests.support.review.fixtures import server, server_on_any_store
