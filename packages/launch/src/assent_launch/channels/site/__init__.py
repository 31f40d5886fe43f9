"""The workspace's own public feed."""

from __future__ import annotations

from typing import Final

from assent.platform import ByHand, ConnectorInfo, HandField
from assent_launch.channels.channel import Channel, Size, count_chars

# Describes the connector of the workspace's own feed. Imports nothing slow.

INFO: Final = ConnectorInfo(
    id="site",
    label="Own site",
    icon="globe",
    description="Posts become pages of the workspace's public feed on this server, not of another website or blog.",
    auth_mode="none",
    channels=("site",),
    does=("publish", "measure"),
    sends_link=True,
)


CHANNEL: Final = Channel(
    id="site",
    label="Site",
    aliases=("website", "blog"),
    shape="page",
    connectors=("site",),
    verb="publish",
    body=count_chars(100_000),
    title=count_chars(200),
    title_required=True,
    title_advice=70,
    habits="A permanent page; tell the whole story.",
    picture=Size(1200, 630),
    by_hand=ByHand(
        where="your own website, where you write its pages",
        fields=(HandField("title", "title"), HandField("text", "body"), HandField("link", "link")),
    ),
)
"""Its picture has the size of link previews (Open Graph)."""
CHANNELS: Final = (CHANNEL,)
CONNECTORS: Final = (INFO,)

UNPUBLISH: Final = "unpublish"
"""The verb that takes a page down."""
