"""Drafts for twelve launches of real projects: what a maker would publish as it is, on every channel."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import pytest
from tests.suite.content.launch_data import LAUNCHES, Launch

from assent.suite.channels.channel import check
from assent.suite.channels.registry import BY_ID
from assent.suite.composer.composer import compose
from assent.suite.content.records import Composed

EACH = pytest.mark.parametrize("place", range(len(LAUNCHES)), ids=[launch.name for launch in LAUNCHES])
CHANNELS: Final = tuple(BY_ID)
WITHOUT_LINK: Final = ("instagram", "tiktok")

FRAME: Final = ("hi,", "hallo,", "also in this update:", "ausserdem in diesem update:")
"""The lines that state nothing."""
LEADS: Final = (
    r"(?:new|fixed|improved|removed|neu|behoben|verbessert|entfernt)(?: (?:in|from|aus) {name}(?: [\d.]+)?)?(?:: |\. )",
    r"(?:show hn: )?{name}(?: [\d.]+)?(?:: |：| – |\. )",
    r"(?:made for|who it is for:|für|für wen:) ",
    r"{name}(?: [\d.]+)? now (?=\w+s )",
)
"""What may stand before a statement of the evidence."""

NOT_FOR_READERS: Final = re.compile(
    r"licen[cs]e|(?:pip3?|npm|brew|choco|get) install|#\d+|@\w+|:\w+:|curious|feedback|^an? update"
)


@cache
def draft(place: int, channel: str) -> Composed:
    written = compose(channel, LAUNCHES[place].evidence())
    assert isinstance(written, Composed), f"{channel}: {written}"
    return written


def texts(place: int) -> list[tuple[str, str, Composed]]:
    """Each channel's draft with everything that a reader sees of it."""
    found = []
    for channel in CHANNELS:
        made = draft(place, channel)
        # A preheader may end where a mail program would cut it, and a tagline where Product Hunt would.
        above = [made.title, made.subject, made.preheader]
        found.append((channel, "\n".join([*(each.rstrip("…") for each in above), made.body]), made))
    return found


def plain(text: str) -> str:
    """Without markup, breaks and capitals."""
    bare = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    bare = re.sub(r"</?[a-zA-Z][^>]*>|[`*_]", "", bare)
    return " ".join(bare.split()).casefold()


def handed_in(launch: Launch) -> str:
    """All that a draft may quote: not the commits, which readers of a launch do not know."""
    given = [launch.repo.get(name, "") for name in ("whatChanged", "readme", "targetCustomer")]
    told = ["\n".join(each) if isinstance(each, list) else each for each in given]
    return plain("\n".join([*told, launch.brand.get("audience", ""), launch.url]))


def is_stated(piece: str, launch: Launch, handed: str) -> bool:
    """Whether a piece of a draft is in what was handed in, alone or behind a frame."""
    name = re.escape(launch.name.casefold())
    if piece.rstrip(".。!") in handed or piece in [
        each.replace("{name}", launch.name.casefold()) for each in FRAME
    ]:
        return True
    rests = [
        piece[match.end() :] for lead in LEADS if (match := re.match(lead.replace("{name}", name), piece))
    ]
    # "show help" is told as "now shows help".
    rests += [re.sub(r"^(\w+)s ", r"\1 ", rest) for rest in rests]
    return any(rest and is_stated(rest, launch, handed) for rest in rests)


def pieces(text: str) -> list[str]:
    """The lines of a draft without their marks."""
    lines = [re.sub(r"^\s*(?:[-•*]|#{1,3})\s+|^\d+/\d+$", "", line) for line in text.splitlines()]
    return [plain(line) for line in lines if line.strip()]


def test_the_twelve_launches_name_no_address_outside_the_example_domains() -> None:
    assert len({launch.name for launch in LAUNCHES}) == 12
    for launch in LAUNCHES:
        hosts = re.findall(r"https?://([^/\s)\"'>\]]+)", str(launch).replace("\\n", "\n"))
        assert [host for host in hosts if not re.search(r"(?:^|\.)example\.org\.?$|^localhost", host)] == []


@EACH
def test_every_sentence_is_from_the_evidence_or_the_frame(place: int) -> None:
    launch = LAUNCHES[place]
    handed = handed_in(launch)
    for channel, text, _ in texts(place):
        for line in pieces(text):
            parts = (
                [line] if is_stated(line, launch, handed) else re.split(r"(?<=[.!?])\s+|(?<=。)(?=.)", line)
            )
            assert [part for part in parts if not is_stated(part, launch, handed)] == [], f"{channel}: {line}"


@EACH
def test_the_change_is_stated_or_what_the_product_is_where_nothing_changed(place: int) -> None:
    launch = LAUNCHES[place]
    for channel, text, _ in texts(place):
        missing = [words for words in launch.states if words.casefold() not in text.casefold()]
        assert missing == [], f"{channel}: {text}"


@EACH
def test_at_most_three_facts_stand_beside_the_change_and_the_product(place: int) -> None:
    for channel, _, made in texts(place):
        listed = re.findall(r"(?m)^\s*[-•*]\s+\S", made.body)
        assert len(listed) <= 3, f"{channel}: {made.body}"
        assert len(made.claims) <= 6, f"{channel}: {made.body}"


@EACH
def test_the_link_is_given_once_and_no_other_address(place: int) -> None:
    for channel, text, made in texts(place):
        assert made.body.count(LAUNCHES[place].url) == (channel not in WITHOUT_LINK), (
            f"{channel}: {made.body}"
        )
        assert set(re.findall(r"https?://\S+", text)) <= {LAUNCHES[place].url}, channel


@EACH
def test_no_badge_commit_licence_or_install_step_is_told(place: int) -> None:
    launch = LAUNCHES[place]
    commits = [plain(commit) for commit in launch.repo["recentCommits"] if len(commit.split()) > 2]
    for channel, text, _ in texts(place):
        said = plain(text)
        assert [words for words in launch.absent if words in text] == [], f"{channel}: {text}"
        assert [commit for commit in commits if commit in said] == [], f"{channel}: {text}"
        assert NOT_FOR_READERS.findall(said) == [], f"{channel}: {text}"


@EACH
def test_a_title_says_something_whole(place: int) -> None:
    name = LAUNCHES[place].name.casefold()
    for channel, _, made in texts(place):
        title = made.title or made.subject
        if BY_ID[channel].title_required:
            said = re.sub(
                rf"\b(?:new in|neu in|{re.escape(name)})\b|v?\d+(?:\.\d+)+|\W", "", title.casefold()
            )
            assert said and (channel == "product_hunt" or not title.endswith("…")), f"{channel}: {title}"


@EACH
def test_a_draft_fits_its_channel(place: int) -> None:
    for channel, _, made in texts(place):
        title = made.title or made.subject
        checked = check(BY_ID[channel], made.body, title=title, preheader=made.preheader, parts=made.parts)
        assert (checked.problems, made.problems) == ((), ()), channel
