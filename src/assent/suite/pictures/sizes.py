"""One table of the channels that show a picture, and its size.

At these sizes a channel shows the whole picture, neither cut nor enlarged. Other channels take text
only.
"""

from __future__ import annotations

from typing import Final

from assent.kernel.structs import Record


class Size(Record):
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
"""By channel id. `site` and `landing` have the size of link previews (Open Graph)."""

DEFAULT_CHANNELS: Final = ("linkedin", "x", "instagram")
"""Wide, wider and square: enough to judge a headline."""

PUBLISHES_PICTURES: Final = frozenset(SIZES) - {"landing"}
"""Channels whose posts can have a picture."""
