"""Product Hunt, by hand."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ByHand, HandField
from assent.suite.channels.channel import Channel, NoteForm, Size, count_chars

BODY: Final = count_chars(500)
TAGLINE: Final = count_chars(60)

CHANNEL: Final = Channel(
    id="product_hunt",
    label="Product Hunt",
    aliases=("producthunt", "ph"),
    shape="titled",
    connectors=("manual",),
    verb="post",
    body=BODY,
    title=TAGLINE,
    title_name="tagline",
    title_required=True,
    habits="The tagline says what it does; the maker's comment tells why.",
    note=NoteForm(product_first=True),
    picture=Size(1270, 760),
    look_at="https://www.producthunt.com/my/products",
    by_hand=ByHand(
        where="https://www.producthunt.com/posts/new",
        fields=(
            HandField("name", "title", 40),
            HandField("tagline", "details.tagline", TAGLINE.most),
            HandField("link", "link"),
            HandField("description", "details.description", BODY.most),
            HandField("first comment", "body"),
        ),
    ),
)
