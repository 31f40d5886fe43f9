"""The channels without a connector of their own: posts by Zernio or by hand.

A new one is a `Channel` here and its name in `CHANNELS`.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from assent import Effect
from assent.platform import ByHand, HandField
from assent_launch.channels.channel import Channel, Limit, NoteForm, Size, count_chars, post_form
from assent_launch.content import counting

LINKEDIN_BODY: Final = Limit(3_000)

LINKEDIN: Final = Channel(
    id="linkedin",
    label="LinkedIn",
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=LINKEDIN_BODY,
    fold=210,
    short=1_300,
    hashtags_habit=3,
    links_habit=1,
    habits="The first two lines decide; short paragraphs; few hashtags, at the end; one link.",
    preview="post",
    picture=Size(1200, 627),
    look_at="https://www.linkedin.com/in/me/recent-activity/all/",
    by_hand=post_form("https://www.linkedin.com/feed/", LINKEDIN_BODY),
)

X_BODY: Final = Limit(280, counting.x_weight, "as X counts")


def _count_fields(form: ByHand, effect: Effect) -> ByHand:
    fields = (
        HandField(each.name, each.source, each.limit, _count_links(getattr(effect, each.source)))
        for each in form.fields
    )
    return msgspec.structs.replace(form, fields=tuple(fields))


def _count_links(text: str) -> int:
    return len(re.sub(r"https?://\S+", "x" * 23, text))


X: Final = Channel(
    id="x",
    label="X",
    aliases=("twitter",),
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=X_BODY,
    splits=True,
    hashtags_habit=2,
    links_habit=1,
    habits="One thought per post; a long text becomes a thread; hashtags are rare.",
    note=NoteForm(sentences=1, facts=0),
    preview="post",
    picture=Size(1600, 900),
    look_at="https://x.com/home",
    by_hand=post_form("https://x.com/compose/post", X_BODY, "X counts every link as 23 characters."),
    fill_form=_count_fields,
)

THREADS_BODY: Final = Limit(500, counting.threads_units)

THREADS: Final = Channel(
    id="threads",
    label="Threads",
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=THREADS_BODY,
    hashtags_habit=1,
    links_habit=1,
    links_most=5,
    habits="Conversational; one topic tag.",
    note=NoteForm(facts=0),
    preview="post",
    picture=Size(1080, 1080),
    look_at="https://www.threads.com/",
    by_hand=post_form("https://www.threads.com/", THREADS_BODY),
)

INSTAGRAM_BODY: Final = Limit(2_200)

INSTAGRAM: Final = Channel(
    id="instagram",
    label="Instagram",
    aliases=("ig",),
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=INSTAGRAM_BODY,
    fold=125,
    hashtags_most=30,
    hashtags_habit=5,
    links_habit=0,
    habits="The picture leads; a link in the caption cannot be clicked.",
    note=NoteForm(facts=0, product_first=True, link=False),
    preview="post",
    picture=Size(1080, 1080),
    look_at="https://www.instagram.com/",
    by_hand=post_form("https://www.instagram.com/", INSTAGRAM_BODY, "A picture or video is required."),
)

FACEBOOK_BODY: Final = Limit(63_206)

FACEBOOK: Final = Channel(
    id="facebook",
    label="Facebook",
    aliases=("fb",),
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=FACEBOOK_BODY,
    fold=477,
    short=500,
    hashtags_habit=2,
    links_habit=1,
    habits="Short and personal.",
    note=NoteForm(facts=0),
    preview="post",
    picture=Size(1200, 630),
    look_at="https://www.facebook.com/me",
    by_hand=post_form("https://www.facebook.com/", FACEBOOK_BODY),
)

TIKTOK_BODY: Final = Limit(2_200)

TIKTOK: Final = Channel(
    id="tiktok",
    label="TikTok",
    shape="post",
    connectors=("zernio",),
    verb="post",
    body=TIKTOK_BODY,
    fold=100,
    hashtags_habit=5,
    links_habit=0,
    habits="The film leads; the caption adds a line.",
    note=NoteForm(facts=0, product_first=True, link=False),
    preview="post",
    picture=Size(1080, 1920),
    look_at="https://www.tiktok.com/",
    by_hand=post_form("https://www.tiktok.com/upload", TIKTOK_BODY, "A video is required."),
)

REDDIT_BODY: Final = count_chars(40_000)
REDDIT_TITLE: Final = count_chars(300)


def _name_community(form: ByHand, effect: Effect) -> ByHand:
    community = (effect.target or {}).get("subreddit", "").removeprefix("r/")
    if re.fullmatch(r"\w{2,40}", community, re.ASCII) is None:
        return form
    return msgspec.structs.replace(form, where=f"https://www.reddit.com/r/{community}/submit")


REDDIT: Final = Channel(
    id="reddit",
    label="Reddit",
    shape="titled",
    connectors=("manual", "zernio"),
    verb="post",
    body=REDDIT_BODY,
    title=REDDIT_TITLE,
    title_required=True,
    title_advice=120,
    links_habit=2,
    habits="Speak as a member, say that it is yours, follow the rules of the subreddit; no marketing tone.",
    note=NoteForm(advice="Say in the post that the project is yours, and follow the rules of the subreddit."),
    picture=Size(1200, 628),
    look_at="https://www.reddit.com/user/me/submitted/",
    by_hand=ByHand(
        where="https://www.reddit.com/submit",
        fields=(
            HandField("title", "title", REDDIT_TITLE.most),
            HandField("link", "link"),
            HandField("body", "body", REDDIT_BODY.most),
        ),
        advice=("Read the community's rules on self-promotion first.",),
    ),
    fill_form=_name_community,
)

HN_TITLE: Final = count_chars(80)


def _advise(text: str) -> list[str]:
    return ["Hacker News removes emoji."] if counting.emoji_in(text) else []


HN: Final = Channel(
    id="hn",
    label="Hacker News",
    aliases=("hackernews", "hacker_news"),
    shape="titled",
    connectors=("manual",),
    verb="post",
    body=count_chars(2_000),
    title=HN_TITLE,
    title_required=True,
    habits="A factual title, 'Show HN:' for something people can try; no superlatives, no emoji.",
    advise=_advise,
    note=NoteForm(product_first=True, shows="Show HN: "),
    look_at="https://news.ycombinator.com/newest",
    by_hand=ByHand(
        where="https://news.ycombinator.com/submit",
        fields=(
            HandField("title", "title", HN_TITLE.most),
            HandField("url", "link"),
            HandField("text", "body"),
        ),
        advice=("Submit from your own account, and do not ask anyone for votes.",),
    ),
)

PRODUCT_HUNT_BODY: Final = count_chars(500)
PRODUCT_HUNT_TAGLINE: Final = count_chars(60)

PRODUCT_HUNT: Final = Channel(
    id="product_hunt",
    label="Product Hunt",
    aliases=("producthunt", "ph"),
    shape="titled",
    connectors=("manual",),
    verb="post",
    body=PRODUCT_HUNT_BODY,
    title=PRODUCT_HUNT_TAGLINE,
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
            HandField("tagline", "details.tagline", PRODUCT_HUNT_TAGLINE.most),
            HandField("link", "link"),
            HandField("description", "details.description", PRODUCT_HUNT_BODY.most),
            HandField("first comment", "body"),
        ),
    ),
)

LANDING: Final = Channel(
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
"""Copy for the product's own page, written and never sent. Its picture has the size of link previews
(Open Graph)."""

CHANNELS: Final = (
    LINKEDIN,
    X,
    THREADS,
    INSTAGRAM,
    FACEBOOK,
    TIKTOK,
    REDDIT,
    HN,
    PRODUCT_HUNT,
    LANDING,
)
