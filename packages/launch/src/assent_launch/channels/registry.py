"""Lists the channels and providers. A new folder is listed here; a channel without a folder, in `networks`."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Final

from assent.platform import BY_HAND, ConnectorInfo
from assent_launch.channels import bluesky, contacts, email, google, networks, site, slack, zernio
from assent_launch.channels.channel import Channel, Size

MODULES: Final[tuple[ModuleType, ...]] = (networks, bluesky, slack, email, site, zernio, google, contacts)
"""In the order of lists."""

CONNECTOR_ORDER: Final = ("site", BY_HAND.id, "smtp", "zernio", "bluesky", "slack", "resend")
"""The connectors that lists begin with. The others follow in the order of their modules."""


def list_channels(modules: Iterable[ModuleType]) -> tuple[Channel, ...]:
    """Return the channels that modules define."""
    return tuple(row for module in modules for row in getattr(module, "CHANNELS", ()))


def list_connectors(modules: Iterable[ModuleType]) -> tuple[ConnectorInfo, ...]:
    """Return the connectors that modules describe, and the one by hand: public metadata, without
    secrets and workspace data (E86)."""
    found = [info for module in modules for info in getattr(module, "CONNECTORS", ())]
    return tuple(sorted((BY_HAND, *found), key=lambda info: rank_connector(info.id)))


def rank_connector(connector_id: str) -> int:
    """Return the position of a connector in lists."""
    known = connector_id in CONNECTOR_ORDER
    return CONNECTOR_ORDER.index(connector_id) if known else len(CONNECTOR_ORDER)


TABLE: Final = list_channels(MODULES)
BY_ID: Final = {row.id: row for row in TABLE}
ALIASES: Final = {name: row.id for row in TABLE for name in row.aliases}
CONNECTORS: Final = list_connectors(MODULES)
SIZES: Final[dict[str, Size]] = {row.id: row.picture for row in TABLE if row.picture is not None}
"""The picture sizes by channel id."""
PUBLISHES_PICTURES: Final = frozenset(row.id for row in TABLE if row.publishes_picture)


def name_connectors(*activities: str) -> tuple[str, ...]:
    """Return the ids of the connectors that do one of these activities."""
    return tuple(info.id for info in CONNECTORS if not set(activities).isdisjoint(info.does))


def find_channel(name: str) -> Channel | None:
    """Return the channel of an id or another name; None if there is none."""
    key = name.strip().lower().replace(" ", "_")
    return BY_ID.get(ALIASES.get(key, key))


def label_of(channel_id: str) -> str:
    row = BY_ID.get(channel_id)
    return row.label if row is not None else channel_id.replace("_", " ").strip().capitalize()
