"""LinkedIn, by Zernio."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, Limit, Size, post_form

BODY: Final = Limit(3_000)

CHANNEL: Final = Channel(
    id="linkedin",
    label="LinkedIn",
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=BODY,
    fold=210,
    short=1_300,
    hashtags_habit=3,
    links_habit=1,
    habits="The first two lines decide; short paragraphs; few hashtags, at the end; one link.",
    preview="post",
    picture=Size(1200, 627),
    look_at="https://www.linkedin.com/in/me/recent-activity/all/",
    by_hand=post_form("https://www.linkedin.com/feed/", BODY),
)
