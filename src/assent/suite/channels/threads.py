"""Threads, by Zernio."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, Limit, NoteForm, Size, post_form
from assent.suite.content import counting

BODY: Final = Limit(500, counting.threads_units)

CHANNEL: Final = Channel(
    id="threads",
    label="Threads",
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=BODY,
    hashtags_habit=1,
    links_habit=1,
    links_most=5,
    habits="Conversational; one topic tag.",
    note=NoteForm(facts=0),
    preview="post",
    picture=Size(1080, 1080),
    look_at="https://www.threads.com/",
    by_hand=post_form("https://www.threads.com/", BODY),
)
