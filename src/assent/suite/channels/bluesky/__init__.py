"""Bluesky, directly or by Zernio."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.bluesky.info import INFO
from assent.suite.channels.channel import Channel, Limit, NoteForm, Size, post_form
from assent.suite.content import counting

BODY: Final = Limit(300, counting.graphemes)

CHANNEL: Final = Channel(
    id="bluesky",
    label="Bluesky",
    shape="post",
    connectors=("bluesky", "zernio"),
    verb="post",
    body=BODY,
    bytes_most=3_000,
    hashtags_habit=2,
    links_habit=1,
    habits="Plain words, no hype.",
    note=NoteForm(facts=0),
    preview="post",
    picture=Size(1200, 675),
    look_at="https://bsky.app/profile",
    by_hand=post_form("https://bsky.app/", BODY),
)
CONNECTORS: Final = (INFO,)
