"""A server with its people and providers, over each kind of store or over the embedded one."""

from __future__ import annotations

from tests.support.opened import on_any_store, on_embedded_store
from tests.support.review.kit import Server

server = on_embedded_store(Server)
server_on_any_store = on_any_store(Server)
