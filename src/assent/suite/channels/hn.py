"""Hacker News, by hand."""

from __future__ import annotations

from typing import Final

from assent.platform.effects import ByHand, HandField
from assent.suite.channels.channel import Channel, NoteForm, count_chars
from assent.suite.content import counting

TITLE: Final = count_chars(80)


def _advise(text: str) -> list[str]:
    return ["Hacker News removes emoji."] if counting.emoji_in(text) else []


CHANNEL: Final = Channel(
    id="hn",
    label="Hacker News",
    aliases=("hackernews", "hacker_news"),
    shape="titled",
    connectors=("manual",),
    verb="post",
    body=count_chars(2_000),
    title=TITLE,
    title_required=True,
    habits="A factual title, 'Show HN:' for something people can try; no superlatives, no emoji.",
    advise=_advise,
    note=NoteForm(product_first=True, shows="Show HN: "),
    look_at="https://news.ycombinator.com/newest",
    by_hand=ByHand(
        where="https://news.ycombinator.com/submit",
        fields=(
            HandField("title", "title", TITLE.most),
            HandField("url", "link"),
            HandField("text", "body"),
        ),
        advice=("Submit from your own account, and do not ask anyone for votes.",),
    ),
)
