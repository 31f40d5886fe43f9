"""Instagram, by Zernio."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, Limit, NoteForm, Size, post_form

BODY: Final = Limit(2_200)

CHANNEL: Final = Channel(
    id="instagram",
    label="Instagram",
    aliases=("ig",),
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=BODY,
    fold=125,
    hashtags_most=30,
    hashtags_habit=5,
    links_habit=0,
    habits="The picture leads; a link in the caption cannot be clicked.",
    note=NoteForm(facts=0, product_first=True, link=False),
    preview="post",
    picture=Size(1080, 1080),
    look_at="https://www.instagram.com/",
    by_hand=post_form("https://www.instagram.com/", BODY, "A picture or video is required."),
)
