"""Copy for the product's own page. It is written and never sent."""

from __future__ import annotations

from typing import Final

from assent.suite.channels.channel import Channel, NoteForm, Size, count_chars

CHANNEL: Final = Channel(
    id="landing",
    label="Landing page",
    aliases=("landing_page",),
    shape="page",
    connectors=("manual",),
    verb="copy",
    body=count_chars(20_000),
    title=count_chars(120),
    title_advice=70,
    action=False,
    habits="One promise, three reasons, one call to action.",
    note=NoteForm(product_first=True),
    picture=Size(1200, 630),
)
"""Its picture has the size of link previews (Open Graph)."""
