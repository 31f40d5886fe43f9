"""TikTok, by Zernio."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, Limit, NoteForm, Size, post_form

BODY: Final = Limit(2_200)

CHANNEL: Final = Channel(
    id="tiktok",
    label="TikTok",
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=BODY,
    fold=100,
    hashtags_habit=5,
    links_habit=0,
    habits="The film leads; the caption adds a line.",
    note=NoteForm(facts=0, product_first=True, link=False),
    preview="post",
    picture=Size(1080, 1920),
    look_at="https://www.tiktok.com/",
    by_hand=post_form("https://www.tiktok.com/upload", BODY, "A video is required."),
)
