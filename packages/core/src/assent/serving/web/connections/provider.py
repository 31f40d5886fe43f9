"""A provider on its page: the visitor, the workspace and the state of the connection."""

from __future__ import annotations

import dataclasses
from typing import Final
from urllib.parse import urlencode

from assent.engine.connections.oauth import OAuthAccess, find_access
from assent.gate.connection import Connection, ConnectionState, ConnectorInfo, KeyWords, ProviderWords
from assent.kernel.structs import Record
from assent.ports import Choosing
from assent.serving.web.shell.console import Visit
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused

UNKNOWN_PROVIDER: Final = PageProblem(
    404,
    "There is no such provider",
    "This server knows no provider of that name that could be connected.",
    "Choose one from the list.",
    Link("/connectors", "All connections"),
)


UNKNOWN_PLACE: Final = PageProblem(
    404,
    "There is no such workspace here",
    "The link names a workspace that is not here or that you are not in.",
    "Ask the person who sent the link, or choose a provider for a workspace of yours.",
    Link("/connectors", "All connections"),
)


def find_words(info: ConnectorInfo) -> ProviderWords | None:
    """Return the words of a provider's page. A connector with a key that has none describes
    itself; None if a person connects nothing."""
    if info.connect is not None or info.auth_mode != "api_key":
        return info.connect
    key = KeyWords(f"Where {info.label} gives out keys.", "Enter it whole.")
    return ProviderWords(gives=info.description, asks=f"A key of {info.label}.", key=key)


def find_connect_path(info: ConnectorInfo | None, workspace_id: str) -> str:
    """The path where a person of a workspace connects a provider; empty if there is none."""
    if info is None or find_words(info) is None:
        return ""
    return f"/connect/{info.id}?workspace={workspace_id}"


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
            return "Not set up", ""
        if self.connection is None or self.connection.state is ConnectionState.REVOKED:
            return ("By this server", "ok") if self.for_everybody else ("Not connected", "")
        if self.connection.state is ConnectionState.EXPIRED:
            return "Connect again", "danger"
        if isinstance(self.connector, Choosing) and self.connector.chosen(self.connection) is None:
            return "One thing to choose", "warn"
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
    title, button = f"{verb} {view.info.label}?", f"{verb} it"
    await visit.confirm(form, title, text, button, facts, danger=danger, secret_fields=SECRET_FIELDS)


def subject(visit: Visit, provider: str) -> str:
    """The nonce subject of a form on these pages."""
    return f"connect {provider} {visit.workspace_id}"
