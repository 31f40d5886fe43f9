"""All channels in one table: their connectors, their limits, and the habits of their readers.

A *problem* is something the channel would refuse or cut; *advice* is about readers' habits. Knows
nothing of the origin of a text or of which connectors are connected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from assent.kernel.structs import Record
from assent.suite.content import counting
from assent.suite.content.counting import Count

Shape = Literal["post", "titled", "email", "page"]


class Limit(Record):
    most: int
    count: Count = counting.utf16
    unit: str = "characters"


def _chars(most: int) -> Limit:
    return Limit(most, counting.code_points)


class Channel(Record, kw_only=True):
    """One row. `connectors`: in order of preference. `action`: whether it can be sent."""

    id: str
    label: str
    shape: Shape
    connectors: tuple[str, ...]
    verb: str
    body: Limit
    title: Limit | None = None
    title_required: bool = False
    bytes_most: int | None = None
    splits: bool = False
    """Whether a long text is sent as numbered posts."""
    fold: int | None = None
    """How much readers see before they press "more"."""
    short: int | None = None
    """The length above which readers leave."""
    hashtags_most: int | None = None
    hashtags_habit: int = 0
    links_habit: int | None = None
    links_most: int | None = None
    preheader_advice: int | None = None
    title_advice: int | None = None
    action: bool = True
    habits: str = ""

    @property
    def connector(self) -> str:
        return self.connectors[0]

    @property
    def title_name(self) -> str:
        return {"email": "subject", "product_hunt": "tagline"}.get(self.id, "title")


TABLE: Final[tuple[Channel, ...]] = (
    Channel(
        id="linkedin", label="LinkedIn", shape="post", connectors=("zernio",), verb="post",
        body=Limit(3_000), fold=210, short=1_300, hashtags_habit=3, links_habit=1,
        habits="The first two lines decide; short paragraphs; few hashtags, at the end; one link.",
    ),
    Channel(
        id="x", label="X", shape="post", connectors=("zernio",), verb="post",
        body=Limit(280, counting.x_weight, "as X counts"), splits=True, hashtags_habit=2, links_habit=1,
        habits="One thought per post; a long text becomes a thread; hashtags are rare.",
    ),
    Channel(
        id="threads", label="Threads", shape="post", connectors=("zernio",), verb="post",
        body=Limit(500, counting.threads_units), hashtags_habit=1, links_habit=1, links_most=5,
        habits="Conversational; one topic tag.",
    ),
    Channel(
        id="bluesky", label="Bluesky", shape="post", connectors=("bluesky", "zernio"), verb="post",
        body=Limit(300, counting.graphemes), bytes_most=3_000, hashtags_habit=2, links_habit=1,
        habits="Plain words, no hype.",
    ),
    Channel(
        id="instagram", label="Instagram", shape="post", connectors=("zernio",), verb="post",
        body=Limit(2_200), fold=125, hashtags_most=30, hashtags_habit=5, links_habit=0,
        habits="The picture leads; a link in the caption cannot be clicked.",
    ),
    Channel(
        id="facebook", label="Facebook", shape="post", connectors=("zernio",), verb="post",
        body=Limit(63_206), fold=477, short=500, hashtags_habit=2, links_habit=1,
        habits="Short and personal.",
    ),
    Channel(
        id="tiktok", label="TikTok", shape="post", connectors=("zernio",), verb="post",
        body=Limit(2_200), fold=100, hashtags_habit=5, links_habit=0,
        habits="The film leads; the caption adds a line.",
    ),
    Channel(
        id="slack", label="Slack", shape="post", connectors=("slack",), verb="post",
        body=_chars(40_000), short=4_000, hashtags_habit=0, links_habit=2,
        habits="For people who know each other: what changed, what they can do now, one link.",
    ),
    Channel(
        id="reddit", label="Reddit", shape="titled", connectors=("manual", "zernio"), verb="post",
        body=_chars(40_000), title=_chars(300), title_required=True,
        title_advice=120, hashtags_habit=0, links_habit=2,
        habits="Speak as a member, say that it is yours, follow the rules of the subreddit; no marketing tone.",
    ),
    Channel(
        id="hn", label="Hacker News", shape="titled", connectors=("manual",), verb="post",
        body=_chars(2_000), title=_chars(80), title_required=True,
        hashtags_habit=0,
        habits="A factual title, 'Show HN:' for something people can try; no superlatives, no emoji.",
    ),
    Channel(
        id="product_hunt", label="Product Hunt", shape="titled", connectors=("manual",), verb="post",
        body=_chars(500), title=_chars(60), title_required=True,
        hashtags_habit=0,
        habits="The tagline says what it does; the maker's comment tells why.",
    ),
    Channel(
        id="email", label="E-mail", shape="email", connectors=("resend", "smtp"), verb="send",
        body=_chars(100_000), title=_chars(255), title_required=True,
        title_advice=60, preheader_advice=90, short=2_500, hashtags_habit=0, links_habit=2,
        habits="A subject that names the content; one call to action.",
    ),
    Channel(
        id="site", label="Site", shape="page", connectors=("site",), verb="publish",
        body=_chars(100_000), title=_chars(200), title_required=True,
        title_advice=70, hashtags_habit=0,
        habits="A permanent page; tell the whole story.",
    ),
    Channel(
        id="landing", label="Landing page", shape="page", connectors=("manual",), verb="copy",
        body=_chars(20_000), title=_chars(120), title_advice=70, action=False,
        hashtags_habit=0,
        habits="One promise, three reasons, one call to action.",
    ),
)  # fmt: skip

BY_ID: Final = {row.id: row for row in TABLE}
ALIASES: Final = {
    "twitter": "x",
    "hackernews": "hn",
    "hacker_news": "hn",
    "producthunt": "product_hunt",
    "ph": "product_hunt",
    "mail": "email",
    "e-mail": "email",
    "website": "site",
    "blog": "site",
    "landing_page": "landing",
    "fb": "facebook",
    "ig": "instagram",
}

_HASHTAG: Final = re.compile(r"(?<![\w&/])#(?=\w*[^\W\d])\w+")


class Check(Record):
    problems: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def channel(name: str) -> Channel | None:
    key = name.strip().lower().replace(" ", "_")
    return BY_ID.get(ALIASES.get(key, key))


def label_of(channel_id: str) -> str:
    row = BY_ID.get(channel_id)
    return row.label if row is not None else channel_id.replace("_", " ").strip().capitalize()


def check(
    channel_id: str,
    body: str,
    *,
    title: str = "",
    preheader: str = "",
    parts: Sequence[str] = (),
) -> Check:
    """Check a text against the channel's limits. `title` is the subject of an e-mail; `parts` are
    the posts of a thread."""
    row = BY_ID[channel_id]
    problems = [*_length(row, body, parts), *title_problems(row, title)]
    advice = [*_habits(row, body, parts)]
    tags = len(_HASHTAG.findall(body))
    if row.hashtags_most is not None and tags > row.hashtags_most:
        problems.append(f"{row.label} takes {row.hashtags_most} hashtags; there are {tags}.")
    elif tags > row.hashtags_habit:
        usual = f"about {row.hashtags_habit}" if row.hashtags_habit else "none"
        advice.append(f"{tags} hashtags; {usual} is usual on {row.label}.")
    links = sum(1 for _ in counting.addresses(body))
    if row.links_most is not None and links > row.links_most:
        problems.append(f"{row.label} takes {row.links_most} links; there are {links}.")
    elif row.links_habit is not None and links > row.links_habit:
        advice.append(
            f"{links} links; {row.label} readers expect at most {row.links_habit}."
            if row.links_habit
            else f"A link in a {row.label} caption cannot be clicked."
        )
    if row.title_advice is not None and len(title) > row.title_advice:
        what = "subject" if row.shape == "email" else "title"
        advice.append(
            f"The {what} has {len(title)} characters; beyond {row.title_advice} it is cut on many screens."
        )
    if row.preheader_advice is not None and len(preheader) > row.preheader_advice:
        advice.append(f"The preheader has {len(preheader)} characters; {row.preheader_advice} are shown.")
    return Check(tuple(problems), tuple(advice))


def _length(row: Channel, body: str, parts: Sequence[str]) -> list[str]:
    problems = []
    if not body.strip():
        problems.append("There is no text.")
    pieces = list(parts) if row.splits and parts else [body]
    for number, piece in enumerate(pieces, 1):
        length = row.body.count(piece)
        if length > row.body.most:
            which = f"Part {number}" if len(pieces) > 1 else "The text"
            problems.append(f"{which} has {length:,} {row.body.unit}; {row.label} takes {row.body.most:,}.")
    if row.bytes_most is not None and len(body.encode()) > row.bytes_most:
        problems.append(f"The text has {len(body.encode()):,} bytes; {row.label} takes {row.bytes_most:,}.")
    return problems


def title_problems(row: Channel, title: str) -> list[str]:
    if row.title is None:
        return []
    what = row.title_name
    if row.title_required and not title.strip():
        return [f"{row.label} needs a {what}."]
    if "\n" in title or "\r" in title:
        return [f"The {what} must be one line."]
    length = row.title.count(title)
    if length > row.title.most:
        return [f"The {what} has {length} characters; {row.label} takes {row.title.most}."]
    return []


def _habits(row: Channel, body: str, parts: Sequence[str]) -> list[str]:
    advice = []
    if row.short is not None and row.body.count(body) > row.short:
        advice.append(f"Long for {row.label}: most readers stay for about {row.short:,} characters.")
    first = body.strip().partition("\n")[0]
    if row.fold is not None and len(first) > row.fold:
        advice.append(
            f"Only about {row.fold} characters are seen before 'see more'; the first paragraph is longer."
        )
    if row.id == "hn" and counting.emoji_in(body):
        advice.append("Hacker News removes emoji.")
    if row.splits and len(parts) > 10:
        advice.append(f"A thread of {len(parts)} posts; few readers follow more than ten.")
    return advice


def needs(row: Channel) -> str:
    """Describe the required form of a draft to the agent that is asked to write it."""
    rules = [f"at most {row.body.most:,} {row.body.unit}"]
    if row.title is not None and row.title_required:
        rules.append(f"a {row.title_name} of at most {row.title.most}")
    if row.hashtags_most is not None:
        rules.append(f"at most {row.hashtags_most} hashtags")
    return f"{row.label}: {', '.join(rules)}. {row.habits}"
