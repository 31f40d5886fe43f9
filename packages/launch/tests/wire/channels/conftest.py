"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.channels.fixtures import hosted
from tests.support.own_database import database_url
