"""Makes the two sources of Google, which share a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.platform.connections import Connector, OAuthAccess, OAuthClient, make_access
from assent.suite.channels.google.ga4 import Ga4Connector
from assent.suite.channels.google.search_console import SearchConsoleConnector
from assent.suite.channels.google.source import GOOGLE, GoogleSource

if TYPE_CHECKING:
    from assent.suite.channels.making import ConnectorParts


def make_connectors(parts: ConnectorParts) -> tuple[Connector, ...]:
    settings = parts.settings
    client = OAuthClient(settings["google_client_id"], settings["google_client_secret"])

    def ask_google(source: type[GoogleSource]) -> OAuthAccess:
        return make_access(
            parts.services, source.info, GOOGLE, source.scopes, client, settings["google_oauth_url"]
        )

    return (
        Ga4Connector(ask_google(Ga4Connector), settings["ga4_url"]),
        SearchConsoleConnector(ask_google(SearchConsoleConnector), settings["search_console_url"]),
    )
