"""A server over each kind of store."""

from __future__ import annotations

from tests.support.opened import on_any_store
from tests.support.review.kit import Server

server = on_any_store(Server)
