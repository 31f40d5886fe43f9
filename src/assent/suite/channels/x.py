"""X, by Zernio. A long text becomes a thread."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from assent.platform.effects import ByHand, Effect, HandField
from assent.suite.channels.channel import Channel, Limit, NoteForm, Size, post_form
from assent.suite.content import counting

BODY: Final = Limit(280, counting.x_weight, "as X counts")


def _count_fields(form: ByHand, effect: Effect) -> ByHand:
    fields = (
        HandField(each.name, each.source, each.limit, _count_links(getattr(effect, each.source)))
        for each in form.fields
    )
    return msgspec.structs.replace(form, fields=tuple(fields))


def _count_links(text: str) -> int:
    return len(re.sub(r"https?://\S+", "x" * 23, text))


CHANNEL: Final = Channel(
    id="x",
    label="X",
    aliases=("twitter",),
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=BODY,
    splits=True,
    hashtags_habit=2,
    links_habit=1,
    habits="One thought per post; a long text becomes a thread; hashtags are rare.",
    note=NoteForm(sentences=1, facts=0),
    preview="post",
    picture=Size(1600, 900),
    look_at="https://x.com/home",
    by_hand=post_form("https://x.com/compose/post", BODY, "X counts every link as 23 characters."),
    fill_form=_count_fields,
)
