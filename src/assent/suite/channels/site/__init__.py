"""The workspace's own public feed."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, Size, count_chars
from assent.suite.channels.site.info import INFO

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
)
"""Its picture has the size of link previews (Open Graph)."""
CONNECTORS: Final = (INFO,)

UNPUBLISH: Final = "unpublish"
"""The verb that takes a page down."""
