"""The brief for a human: the approved words exactly, where to paste them, and what does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from assent.gate.records import Effect, Media
from assent.present.cards import ManualBrief, manual_brief
from assent_launch.channels.registry import TABLE
from assent_launch.testing import any_effects


def effect(channel: str, **changes: Any) -> Effect:
    given: dict[str, Any] = {
        "verb": "post",
        "connector": "manual",
        "body": "It ships.\n\n  Twice.",
        **changes,
    }
    return Effect(channel=channel, **given)


def brief_for(given: Effect) -> ManualBrief:
    return manual_brief(given, any_effects().describe(given, workspace_id="w", base_url=""))


@pytest.mark.parametrize("channel", [*(row.id for row in TABLE if row.by_hand), "mastodon"])
def test_every_channel_has_a_brief_with_the_exact_text(channel: str) -> None:
    brief = brief_for(effect(channel))
    assert brief.channel == channel and brief.where and brief.label
    assert "It ships.\n\n  Twice." in [field.text for field in brief.fields]
    assert "It ships.\n\n  Twice." in brief.text and brief.where in brief.text
    assert brief.warnings == ()


def test_fields_follow_the_form_of_the_channel() -> None:
    brief = brief_for(effect("hn", title="Show HN: Assent", link="https://assent.example"))
    assert [(field.field, field.text) for field in brief.fields] == [
        ("title", "Show HN: Assent"),
        ("url", "https://assent.example"),
        ("text", "It ships.\n\n  Twice."),
    ]


def test_what_does_not_fit_is_said_and_not_cut() -> None:
    brief = brief_for(effect("hn", title="x" * 81))
    (title, _) = brief.fields
    assert (title.text, title.length, title.limit, title.fits) == ("x" * 81, 81, 80, False)
    assert len(brief.warnings) == 1 and brief.warnings[0] in brief.text


def test_x_counts_a_link_as_23() -> None:
    long_link = f"https://assent.example/{'a' * 300}"
    fits = brief_for(effect("x", body="y" * 256 + " " + long_link))
    assert fits.fields[0].length == 280 and fits.fields[0].fits
    assert not brief_for(effect("x", body="y" * 257 + " " + long_link)).fields[0].fits


@pytest.mark.parametrize(
    ("community", "where"),
    [
        ("python", "https://www.reddit.com/r/python/submit"),
        ("r/python", "https://www.reddit.com/r/python/submit"),
        ("../evil", "https://www.reddit.com/submit"),
    ],
)
def test_reddit_names_the_community(community: str, where: str) -> None:
    assert brief_for(effect("reddit", title="Hi", target={"subreddit": community})).where == where


def test_mail_and_media_are_in_the_brief() -> None:
    brief = brief_for(
        effect(
            "email",
            subject="Dark mode",
            recipients=("a@example.org", "b@example.org"),
            media=(Media("image", "https://assent.example/a.png", "A screen"),),
        )
    )
    assert {field.field: field.text for field in brief.fields} == {
        "to": "a@example.org, b@example.org",
        "subject": "Dark mode",
        "text": "It ships.\n\n  Twice.",
    }
    assert brief.media == ("image: https://assent.example/a.png (A screen)",)
    assert "Attach image: https://assent.example/a.png (A screen)" in brief.text
