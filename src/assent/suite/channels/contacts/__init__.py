"""Contacts in HubSpot. Nothing is drafted for this channel."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.contacts.info import INFO

CONNECTORS: Final = (INFO,)

CHANNEL_ID: Final = "contacts"
