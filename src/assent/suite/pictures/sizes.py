"""Which channels show a picture, and in which size: one table.

The sizes are those at which a channel shows the whole picture, neither cut nor blown up. Channels that are not here
take text alone.
"""

from __future__ import annotations

from typing import Final

import msgspec


class Size(msgspec.Struct, frozen=True):
    """Width and height in pixels."""

    width: int
    height: int


SIZES: Final[dict[str, Size]] = {
    "linkedin": Size(1200, 627),
    "x": Size(1600, 900),
    "threads": Size(1080, 1080),
    "bluesky": Size(1200, 675),
    "instagram": Size(1080, 1080),
    "facebook": Size(1200, 630),
    "tiktok": Size(1080, 1920),
    "reddit": Size(1200, 628),
    "product_hunt": Size(1270, 760),
    "site": Size(1200, 630),
    "landing": Size(1200, 630),
}
"""By channel id. `site` and `landing` are what link previews (Open Graph) show."""

DEFAULT_CHANNELS: Final = ("linkedin", "x", "instagram")
"""Wide, wider and square: enough to judge a headline by."""

PUBLISHES_PICTURES: Final = frozenset(SIZES) - {"landing"}
"""Channels whose posts can take a picture along."""
