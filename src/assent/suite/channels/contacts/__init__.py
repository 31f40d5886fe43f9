"""Contacts in HubSpot. Nothing is drafted for this channel."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ConnectorInfo, ProviderWords

# Describes the connector of HubSpot. Imports nothing slow.

INFO: Final = ConnectorInfo(
    id="hubspot",
    label="HubSpot",
    icon="people",
    description="Creates contacts and keeps them up to date.",
    auth_mode="oauth",
    channels=("contacts",),
    does=("contacts",),
    activities=("keeps contacts",),
    needed="You sign in at HubSpot and allow contacts.",
    on_page=True,
    connect=ProviderWords(
        gives="Keeps approved contacts in your HubSpot.",
        asks="Reading and writing contacts, and nothing else.",
    ),
)


CONNECTORS: Final = (INFO,)

CHANNEL_ID: Final = "contacts"
