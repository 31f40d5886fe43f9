"""Facebook, by Zernio."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, Limit, NoteForm, Size, post_form

BODY: Final = Limit(63_206)

CHANNEL: Final = Channel(
    id="facebook",
    label="Facebook",
    aliases=("fb",),
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=BODY,
    fold=477,
    short=500,
    hashtags_habit=2,
    links_habit=1,
    habits="Short and personal.",
    note=NoteForm(facts=0),
    preview="post",
    picture=Size(1200, 630),
    look_at="https://www.facebook.com/me",
    by_hand=post_form("https://www.facebook.com/", BODY),
)
