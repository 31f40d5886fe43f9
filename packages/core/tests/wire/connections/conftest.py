"""The fixtures that the tests here share with others."""

from __future__ import annotations

from tests.support.connections.fixtures import (
    database_url,
    desk,
    desk_on_any_store,
    whole_log,
    world,
    world_on_any_store,
)

__all__ = ["database_url", "desk", "desk_on_any_store", "whole_log", "world", "world_on_any_store"]
