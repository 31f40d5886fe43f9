"""A provider on its page: the visitor, the workspace and the state of the connection."""

from __future__ import annotations

import dataclasses
from typing import Final
from urllib.parse import urlencode

from assent.engine.connections.oauth_access import OAuthAccess, find_access
from assent.gate.connection import Connection, ConnectionState, ConnectorInfo, ProviderWords
from assent.kernel.structs import Record
from assent.ports import Choosing
from assent.serving.web.connections import words as connections_words
from assent.serving.web.connections.words import UNKNOWN_PLACE, UNKNOWN_PROVIDER, find_words
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.shell.console import Visit
from assent.serving.web.shell.problems import PageRefused


class ProviderView(Record):
    """A provider as its page shows it, with the workspace's connection to it."""

    info: ConnectorInfo
    words: ProviderWords
    connector: object
    connection: Connection | None

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def access(self) -> OAuthAccess | None:
        return find_access(self.connector)

    @property
    def is_mail_server(self) -> bool:
        """Whether the person enters a mail server instead of a key."""
        return self.info.auth_mode == "password"

    @property
    def for_everybody(self) -> bool:
        """Whether it works for every workspace without a connection."""
        return bool(getattr(self.connector, "for_everybody", False))

    @property
    def live(self) -> bool:
        return self.connection is not None and self.connection.live

    @property
    def needs_set_up(self) -> bool:
        """Whether the person who runs the server has to register it with the provider first."""
        return self.access is not None and not self.access.provider.configured

    @property
    def state(self) -> tuple[str, str]:
        """The connection's state in words, and its tone."""
        if self.needs_set_up:
            return connections_words.NOT_SET_UP_SHORT, ""
        if self.connection is None or self.connection.state is ConnectionState.REVOKED:
            return (
                (connections_words.BY_THIS_SERVER, "ok")
                if self.for_everybody
                else (connections_words.NOT_CONNECTED, "")
            )
        if self.connection.state is ConnectionState.EXPIRED:
            return connections_words.CONNECT_AGAIN, "danger"
        if isinstance(self.connector, Choosing) and self.connector.chosen(self.connection) is None:
            return connections_words.ONE_THING_TO_CHOOSE, "warn"
        return "Connected", "ok"


def at_workspace(visit: Visit) -> Visit:
    """The visit, at the workspace named in the query."""
    wished = visit.query("workspace")
    if not wished:
        return visit
    for place in visit.places:
        if place.workspace_id == wished:
            return dataclasses.replace(visit, place=place)
    raise PageRefused(UNKNOWN_PLACE)


def address(visit: Visit, provider: str = "", **more: str) -> str:
    """The path of a provider's page in this workspace."""
    path = f"/connect/{provider}" if provider else "/connectors"
    return f"{path}?{urlencode({'workspace': visit.workspace_id, **more})}"


async def find_provider(visit: Visit, provider: str) -> ProviderView:
    info = visit.services.effects.connectors.get(provider)
    words = find_words(info) if info is not None else None
    connector = visit.services.connectors.get(provider)
    if info is None or words is None or connector is None:
        raise PageRefused(UNKNOWN_PROVIDER)
    return ProviderView(
        info, words, connector, await visit.services.connections.find(visit.workspace_id, provider)
    )


async def open_form(visit: Visit) -> tuple[Visit, ProviderView, dict[str, str]]:
    """The visit at its workspace, the provider, and the fields of a form about it."""
    visit = at_workspace(visit)
    at = await find_provider(visit, visit.part("provider"))
    return visit, at, await visit.form(subject(visit, at.id))


SECRET_FIELDS: Final = frozenset({"key", "password"})


async def confirm(
    visit: Visit, view: ProviderView, form: dict[str, str], verb: str, text: str, *, danger: bool = False
) -> None:
    """Require that a person does this with a provider (`Visit.confirm`)."""
    facts = (("Workspace", visit.place.name), ("Provider", view.info.label))
    title = f"{verb} {view.info.label}?"
    what = Consequence(title, text, f"{verb} it", facts, danger=danger, secret_fields=SECRET_FIELDS)
    await visit.confirm(form, what)


def subject(visit: Visit, provider: str) -> str:
    """The nonce subject of a form on these pages."""
    return f"connect {provider} {visit.workspace_id}"
