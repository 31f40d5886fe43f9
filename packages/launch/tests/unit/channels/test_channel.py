"""Every channel counts as it counts, and says what it would refuse."""

from __future__ import annotations

from typing import Any

import pytest

from assent_launch.channels import channel as checks
from assent_launch.channels.registry import ALIASES, BY_ID, TABLE, find_channel
from assent_launch.content import counting


def check(channel: str, body: str, **given: Any) -> checks.Check:
    return checks.check(BY_ID[channel], body, **given)


X_VECTORS = [
    ("", 0),
    ("hello", 5),
    ("á", 1),
    ("a\u0301", 1),
    ("ñandú", 5),
    ("Привет", 6),
    ("مرحبا", 5),
    ("日本語", 6),
    ("안녕하세요", 10),
    ("ｈｉ", 4),
    ("“quoted” – text", 15),
    ("…", 2),
    ("€", 2),
    ("😀", 2),
    ("👍🏽", 2),
    ("👨‍👩‍👧‍👦", 2),
    ("🏳️‍🌈", 2),
    ("🇩🇪", 2),
    ("🇩🇪🇫🇷", 4),
    ("1️⃣", 2),
    ("❤️", 2),
    ("©", 1),
    ("https://x.com", 23),
    ("https://example.com/a/very/long/path/that/goes/on?and=on#forever", 23),
    ("see https://example.com/a.", 4 + 23 + 1),
    ("(https://example.com/a_(b))", 1 + 23 + 1),
    ("example.com", 23),
    ("go to example.com/path now", 6 + 23 + 4),
    ("a@example.com", 13),
    ("http://a.example http://b.example", 47),
    ("日本語https://example.com日本", 6 + 23 + 4),
    ("e.g. this", 9),
    ("3.5 and 4.2", 11),
]


@pytest.mark.parametrize(("text", "weight"), X_VECTORS)
def test_x_counts_as_x_counts(text: str, weight: int) -> None:
    assert BY_ID["x"].body.count(text) == weight


GRAPHEMES = [
    ("", 0),
    ("abc", 3),
    ("e\u0301", 1),
    ("👨‍👩‍👧‍👦", 1),
    ("👍🏽👍", 2),
    ("🇩🇪🇫🇷", 2),
    ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 1),
    ("한국", 2),
    ("\u1112\u1161\u11ab", 1),
    ("नि", 1),
    ("กำ", 2),
    ("\r\n", 1),
    ("日本", 2),
]


@pytest.mark.parametrize(("text", "count"), GRAPHEMES)
def test_bluesky_counts_what_people_see(text: str, count: int) -> None:
    assert BY_ID["bluesky"].body.count(text) == count


def test_others_count_their_own_way() -> None:
    assert BY_ID["linkedin"].body.count("a😀") == 3
    assert BY_ID["threads"].body.count("a😀") == 5
    assert BY_ID["reddit"].body.count("a😀") == 2


def test_emoji_are_found_and_taken_out_with_their_space() -> None:
    assert counting.emoji_in("a 🎉 b 👩🏽‍💻.") == ["🎉", "👩🏽‍💻"]
    assert counting.without_emoji("Ready 🎉 now. Go 🚀!") == "Ready now. Go!"
    assert counting.without_emoji("no pictures  here") == "no pictures  here"


LIMITS = [
    ("x", 280),
    ("bluesky", 300),
    ("threads", 500),
    ("linkedin", 3_000),
    ("instagram", 2_200),
    ("tiktok", 2_200),
    ("facebook", 63_206),
    ("reddit", 40_000),
]


@pytest.mark.parametrize(("channel", "most"), LIMITS)
def test_a_text_at_the_limit_is_taken_and_one_more_is_not(channel: str, most: int) -> None:
    assert check(channel, "a" * most, title="T").problems == ()
    assert len(check(channel, "a" * (most + 1), title="T").problems) == 1


@pytest.mark.parametrize(("channel", "most"), [("hn", 80), ("product_hunt", 60), ("reddit", 300)])
def test_a_title_is_needed_and_limited(channel: str, most: int) -> None:
    assert check(channel, "text", title="t" * most).problems == ()
    assert len(check(channel, "text", title="t" * (most + 1)).problems) == 1
    assert len(check(channel, "text").problems) == 1
    assert len(check(channel, "text", title="two\nlines").problems) == 1


def test_hashtags_and_links_are_counted() -> None:
    assert check("instagram", "#a " * 31).problems
    assert not check("instagram", "#a " * 30).problems
    assert check("instagram", "#a " * 6).advice
    assert check("linkedin", "#a #b #c #d").advice
    assert not check("linkedin", "C# and #1 are no tags").advice
    assert check("instagram", "https://example.com").advice
    assert check("threads", " ".join(f"https://{n}.example" for n in range(6))).problems


def test_habits_are_advice_and_no_problem() -> None:
    long = check("linkedin", "a" * 1_500)
    assert long.problems == () and len(long.advice) == 2
    mail = check("email", "Text.", title="s" * 61, preheader="p" * 91)
    assert mail.problems == () and len(mail.advice) == 2


def test_an_empty_text_is_a_problem_everywhere() -> None:
    for row in TABLE:
        assert check(row.id, " \n", title="T").problems


def test_channels_are_known_by_their_usual_names() -> None:
    for said, meant in (
        ("Twitter", "x"),
        ("Hacker News", "hn"),
        ("product hunt", "product_hunt"),
        ("X", "x"),
    ):
        row = find_channel(said)
        assert row is not None and row.id == meant
    assert find_channel("myspace") is None


def test_the_table_holds_every_channel_once() -> None:
    assert [row.id for row in TABLE] == [
        "linkedin", "x", "threads", "instagram", "facebook", "tiktok", "reddit", "hn", "product_hunt", "landing",
        "bluesky", "slack", "email", "site",
    ]  # fmt: skip
    assert {row.id for row in TABLE if row.connector == "manual" and row.action} == {
        "reddit",
        "hn",
        "product_hunt",
    }
    assert [row.id for row in TABLE if not row.action] == ["landing"]
    assert set(ALIASES.values()) <= set(BY_ID)
