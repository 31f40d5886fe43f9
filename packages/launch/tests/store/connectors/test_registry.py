"""Who may be a connector, and what the public list says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import settings_for

from assent.app import App
from assent.engine.connections.registry import ManualConnector, RegistrationRefused, register
from assent.ports import Delivery
from assent_launch.channels.registry import CONNECTORS


class Undeclared(ManualConnector):
    delivery = None  # type: ignore[assignment]


class Vague(ManualConnector):
    delivery = "exactly_once"  # type: ignore[assignment]


class Nameless(ManualConnector):
    id = ""


class Other(ManualConnector):
    id = "other"
    delivery = Delivery("read_back")


def test_connectors_are_taken_in_by_their_id() -> None:
    manual, other = ManualConnector(), Other()
    assert register([manual, other]) == {"manual": manual, "other": other}


@pytest.mark.parametrize("kind", [Undeclared, Vague, Nameless])
def test_one_that_does_not_say_what_it_promises_is_refused(kind: type[ManualConnector]) -> None:
    with pytest.raises(RegistrationRefused):
        register([kind()])


def test_two_with_one_id_are_refused() -> None:
    with pytest.raises(RegistrationRefused):
        register([ManualConnector(), Other(), ManualConnector()])


def test_a_native_key_has_a_window_and_nothing_else_has() -> None:
    with pytest.raises(ValueError, match="window"):
        Delivery("native_key")
    with pytest.raises(ValueError, match="window"):
        Delivery("none", 1000)


WRAPPED = {"mcp", "mcp-repeatable", "mcp-tools", "agent"}
"""Connectors of foreign tools, which no one connects to an account."""


def test_the_list_is_what_a_fresh_server_has(tmp_path: Path) -> None:
    app = App(settings_for(new_sqlite(tmp_path / "assent.db"), tmp_path))
    listed = {info.id for info in CONNECTORS} | WRAPPED
    assert listed == set(app.owner_services.connectors) >= {"site", "manual", "smtp", "ga4", "hubspot"}
