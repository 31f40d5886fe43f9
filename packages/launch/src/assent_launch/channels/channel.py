"""A channel as data: its limits, the habits of its readers and its words; and checks of a text by them.

A *problem* is something the channel would refuse or cut; *advice* is about readers' habits. Knows
nothing of the origin of a text or of which connectors are connected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from assent import Effect
from assent.platform import ByHand, HandField
from assent.sdk import Record
from assent_launch.content import counting
from assent_launch.content.counting import Count

Shape = Literal["post", "titled", "email", "page"]


class Limit(Record):
    most: int
    count: Count = counting.utf16
    unit: str = "characters"


def count_chars(most: int) -> Limit:
    """Return a limit in Unicode code points."""
    return Limit(most, counting.code_points)


class Size(Record):
    """Width and height of a picture in pixels. At this size the channel shows the whole picture,
    neither cut nor enlarged."""

    width: int
    height: int


class NoteForm(Record, kw_only=True):
    """How much a plain note of this server tells on a channel, and in which order."""

    sentences: int = 2
    """What changed and what the product is, or only one of them."""
    facts: int = 3
    """The most further facts, in a list."""
    product_first: bool = False
    """Whether it introduces the product instead of a change."""
    link: bool = True
    shows: str = ""
    """Begins the title of a note without a change."""
    advice: str = ""


POST_NOTE: Final = NoteForm()


class Channel(Record, kw_only=True):
    """One channel. `connectors`: in order of preference. `action`: whether it can be sent."""

    id: str
    label: str
    aliases: tuple[str, ...] = ()
    """Other names that people give it."""
    shape: Shape
    connectors: tuple[str, ...]
    verb: str
    body: Limit
    title: Limit | None = None
    title_name: str = "title"
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
    advise: Callable[[str], Iterable[str]] | None = None
    """Returns further advice about a text."""
    note: NoteForm = POST_NOTE
    preview: Literal["post", "text"] = "text"
    """Whether pages show the text as a post."""
    picture: Size | None = None
    """The size of its pictures; None: it takes text only."""
    look_at: str = ""
    """Where an account's own posts are listed."""
    by_hand: ByHand | None = None
    """The form in which a person publishes on it by hand."""
    fill_form: Callable[[ByHand, Effect], ByHand] | None = None
    """Returns the form of one effect, given the channel's form."""

    @property
    def connector(self) -> str:
        return self.connectors[0]

    @property
    def publishes_picture(self) -> bool:
        """Whether its posts can have a picture."""
        return self.action and self.picture is not None


def post_form(where: str, body: Limit, *advice: str) -> ByHand:
    """Return the form of a post: its text and its link."""
    return ByHand(
        where=where, fields=(HandField("text", "body", body.most), HandField("link", "link")), advice=advice
    )


def find_form(row: Channel | None, effect: Effect) -> ByHand | None:
    """Return the form in which a person publishes an effect by hand; None for a channel without one."""
    if row is None or row.by_hand is None:
        return None
    return row.by_hand if row.fill_form is None else row.fill_form(row.by_hand, effect)


_HASHTAG: Final = re.compile(r"(?<![\w&/])#(?=\w*[^\W\d])\w+")


class Check(Record):
    problems: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()


def check(
    row: Channel,
    body: str,
    *,
    title: str = "",
    preheader: str = "",
    parts: Sequence[str] = (),
) -> Check:
    """Check a text against the channel's limits. `title` is the subject of an e-mail; `parts` are
    the posts of a thread."""
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
        advice.append(
            f"The {row.title_name} has {len(title)} characters; beyond {row.title_advice} it is cut on many screens."
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
    if row.advise is not None:
        advice += row.advise(body)
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
