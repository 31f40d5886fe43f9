"""Numbers in words: each is told under its own name, and none is made from numbers that count different things."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.gate.effects import EffectType, EffectTypes
from assent.ports import Reading
from assent_launch.effect_types import effect_types
from assent_launch.learning.measurement import Measurement, assess_run, describe_reading
from assent_launch.learning.metrics import (
    METRICS,
    describe_number,
    find_metric,
    read_numbers,
    select_credible,
)
from assent_launch.learning.recommend import assess, group_numbers
from assent_launch.learning.reports import summarise

LABELLED = EffectTypes(effect_types())


class Kinds(EffectTypes):
    """The channels of the suite, with their ids as labels."""

    def label(self, channel: str) -> str:
        return channel


KINDS = Kinds(effect_types())
CHANNELS = ("linkedin", "x", "email", "site", "hn", "web", "search")
NAMES = (*METRICS, "karma", "revenue_eur", "engagementRate")
NUMBERS = st.one_of(st.integers(0, 10**6), st.floats(0, 10**6), st.just(0))
READINGS = st.lists(
    st.builds(
        lambda channel, metrics: Reading(source="s", channel=channel, status="ok", metrics=metrics),
        st.sampled_from(CHANNELS),
        st.dictionaries(st.sampled_from(NAMES), NUMBERS, min_size=1, max_size=6),
    ),
    min_size=1,
    max_size=5,
).map(tuple)


def reading(channel: str, **metrics: float) -> Reading:
    return Reading(source="s", channel=channel, status="ok", metrics=dict(metrics))


def test_advice_from_numbers_that_were_told_says_so() -> None:
    told = Reading(source="recorded by hand: Sam", channel="hn", status="ok", metrics={"points": 34})
    found = [assess([each], LABELLED).next_move for each in (told, reading("hn", points=34))]
    assert ["said to have responded" in each.move for each in found] == [True, False]
    assert ["told, not read" in each.why for each in found] == [True, False]
    assert describe_reading(told).endswith("(as told: “Sam”)")


def leftover(text: str, numbers: list[tuple[str, float]]) -> str:
    """A text without the numbers that it may tell, each with its name."""
    for phrase in sorted((describe_number(*each) for each in numbers), key=len, reverse=True):
        text = text.replace(phrase, "")
    return re.sub(r"over \d+ earlier runs", "", text)


@pytest.mark.rule("E100", "E32")
@given(READINGS, st.lists(READINGS, max_size=3))
def test_every_number_of_a_measurement_is_given_added_or_averaged_within_one_metric(
    readings: tuple[Reading, ...], earlier: list[tuple[Reading, ...]]
) -> None:
    past = [assess_run("", each, LABELLED) for each in earlier]
    found = assess_run("", readings, LABELLED, earlier)

    for each in readings:
        for short in (True, False):
            told = describe_reading(each, short=short)
            assert not re.search(r"\d", leftover(told, list(each.metrics.items()))), told
    grouped = group_numbers(readings)
    for sentence in re.split(r"(?<=\.) |; ", found.next_move.why):
        channel = next((each for each in CHANNELS if sentence.startswith(LABELLED.label(each))), None)
        may_tell = list(grouped.get(channel or "", {}).items())
        may_tell += [(each.metric, each.average) for each in found.baseline if each.channel == channel]
        assert not re.search(r"\d", leftover(sentence, may_tell)), found.next_move.why
    _averages_are_true(found, past)
    for name, total in found.totals.items():
        assert find_metric(name) is not None
        assert total == pytest.approx(sum(each[name] for each in grouped.values() if name in each))
    assert found.next_move.move


def _averages_are_true(found: Measurement, past: list[Measurement]) -> None:
    for usual in found.baseline:
        values = [
            numbers[usual.channel][usual.metric]
            for numbers in (group_numbers(each.sources) for each in past)
            if usual.metric in numbers.get(usual.channel, {})
        ]
        assert usual.runs == len(values)
        assert usual.average == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"impressions": 1234, "views": 1300, "reach": 1000}, "1,234 impressions"),
        ({"views": 1300, "reach": 1000}, "1,300 views"),
        ({"impressions": 0, "views": 1300}, "1,300 views"),
        ({"impressions": 0, "likes": 5}, "5 likes"),
        ({"impressions": 0, "likes": 0}, "0 impressions, 0 likes"),
        ({"impressions": 1, "likes": 1, "engagements": 1}, "1 impression, 1 like"),
        ({"engagements": 161}, "161 engagements"),
        ({"engagementRate": 0.05}, "engagement rate 0.05"),
        ({"delivered": 1}, "1 delivered; opens and clicks are not known"),
        ({"delivered": 3, "opened": 2}, "3 delivered, 2 opened; clicks are not known"),
        ({"revenue": 12.5}, "revenue in no known currency"),
        ({"revenue_eur": 12.5}, "revenue 12.5 EUR"),
        ({"karma": 7}, "karma 7"),
        ({"impressions": 500, "revenue_eur": 12.5}, "500 impressions, revenue 12.5 EUR"),
        ({"clicks": 3, "revenue_eur": 12.5, "ctr": 0.1}, "3 clicks, revenue 12.5 EUR"),
        ({"delivered": 10, "openRate": 0.4}, "10 delivered, open rate 0.4; clicks are not known"),
        ({"delivered": 10, "ctr": 0.1}, "10 delivered, click-through rate 0.1; opens are not known"),
        ({}, "no numbers"),
    ],
)
def test_a_source_is_summarised_by_one_exposure_and_its_responses(
    metrics: dict[str, float], said: str
) -> None:
    assert read_numbers(metrics).summarise() == said


@pytest.mark.parametrize("name", ["engagementRate", "engagement_rate", "Engagement-Rate", "engagement rate"])
def test_spellings_of_a_name_are_one_metric(name: str) -> None:
    assert find_metric(name) is METRICS["engagement rate"]


def test_impossible_values_are_named_and_what_is_no_number_is_not_a_metric() -> None:
    given = {"views": 3, "likes": -1, "reach": float("nan"), "clicks": "many", "shares": True, "saves": 1e13}
    kept, left_out = select_credible(
        {**given, "lastUpdated": "2026-01-01", "platforms": [], "comments": None}
    )

    assert kept == {"views": 3}
    assert [each.split()[0] for each in left_out] == ["likes", "people", "clicks", "shares", "saves"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"delivered": 10, "opened": 0, "clicked": 2}, {"delivered": 10, "clicked": 2}),
        ({"views": 0, "clicks": 5}, {"clicks": 5}),
        ({"views": 0, "revenue_eur": 5}, {"revenue_eur": 5}),
        ({"impressions": 0, "views": 9, "video views": 0}, {"views": 9, "video views": 0}),
        ({"impressions": 9, "views": 0, "clicks": 5}, {"impressions": 9, "views": 0, "clicks": 5}),
        ({"impressions": 0, "clicks": 0}, {"impressions": 0, "clicks": 0}),
    ],
)
def test_an_exposure_of_zero_that_other_numbers_contradict_is_left_out(
    given: dict[str, float], kept: dict[str, float]
) -> None:
    assert select_credible(given)[0] == kept


def test_totals_leave_out_rates_money_people_and_channels_that_overlap() -> None:
    rows = (
        reading("linkedin", views=100, clicks=4, reach=50, engagementRate=0.05, revenue_eur=3),
        reading("x", views=10, reach=50, engagementRate=0.05, karma=2),
        reading("site", clicks=3),
        reading("web", sessions=9),
    )
    assert assess(rows, KINDS).totals == {"views": 110, "sessions": 9}


def test_two_messages_on_one_channel_have_the_sum_of_what_both_report() -> None:
    rows = (reading("email", delivered=2, opened=1), reading("email", delivered=3))
    assert group_numbers(rows) == {"email": {"delivered": 5}}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"impressions": 100, "likes": 3}, {"impressions": 200}, "Responses to all messages together"),
        ({"impressions": 100}, {"views": 200}, "How often all messages together were seen"),
    ],
)
def test_what_one_of_two_messages_gives_is_not_called_unknown(
    first: dict[str, float], second: dict[str, float], said: str
) -> None:
    found = assess((reading("linkedin", **first), reading("linkedin", **second)), KINDS).next_move

    assert said in found.why
    assert "Responses are not known" not in found.why and "it was seen is not known" not in found.why


@pytest.mark.parametrize(
    ("readings", "best"),
    [
        (({"impressions": 150, "clicks": 1}, {"impressions": 15_000, "clicks": 49}), None),
        (({"impressions": 150, "clicks": 30}, {"impressions": 15_000, "clicks": 49}), "linkedin"),
        (
            ({"impressions": 500, "clicks": 0, "likes": 200}, {"impressions": 500, "clicks": 2, "likes": 0}),
            None,
        ),
        (
            ({"impressions": 500, "clicks": 0, "likes": 90}, {"impressions": 500, "clicks": 20, "likes": 0}),
            None,
        ),
        (
            ({"impressions": 500, "clicks": 1, "likes": 3}, {"impressions": 500, "clicks": 20, "likes": 4}),
            "x",
        ),
    ],
)
def test_a_better_channel_needs_enough_more_responses_and_no_contrary_one(
    readings: tuple[dict[str, float], dict[str, float]], best: str | None
) -> None:
    found = assess((reading("linkedin", **readings[0]), reading("x", **readings[1])), KINDS).next_move

    assert found.channel == best
    assert found.move.startswith("Write the next one") is (best is not None)


def test_a_page_is_not_compared_with_the_channels_that_lead_to_it() -> None:
    rows = (reading("linkedin", views=1000, clicks=10), reading("site", views=1000, clicks=90))

    assert assess(rows, KINDS).next_move.channel is None


@pytest.mark.parametrize(
    ("metrics", "move"),
    [
        ({"sent": 2, "delivered": 0, "bounced": 2}, "every message came back"),
        ({"delivered": 0, "bounced": 1}, "every message came back"),
        ({"delivered": 1, "bounced": 1}, "Measure again later"),
        ({"delivered": 10, "clicked": 0}, "Tell me how often it was seen"),
        ({"delivered": 10, "openRate": 0.4}, "Tell me the clicks"),
        ({"impressions": 500, "revenue_eur": 12.5}, "Post a follow-up"),
        ({"impressions": 500, "ctr": 0}, "Try another opening"),
        ({"impressions": 500, "clicks": 0.00001}, "Try another opening"),
    ],
)
def test_the_next_move_follows_from_rates_money_and_returned_mail(
    metrics: dict[str, float], move: str
) -> None:
    found = assess((reading("email", **metrics),), KINDS).next_move

    assert move in found.move
    assert "Responses are not known" not in found.why or "openRate" in metrics


def test_an_exposure_of_zero_is_told_only_where_nothing_contradicts_it() -> None:
    assert read_numbers({"impressions": 0}).exposure == "impressions"
    assert read_numbers({"impressions": 0, "clicks": 1}).exposure is None


def test_a_channel_of_a_foreign_extension_is_compared_and_its_pages_are_not() -> None:
    kinds = EffectTypes(
        (
            EffectType(channel="radio", verb="air"),
            EffectType(channel="stage", verb="play"),
            EffectType(channel="shop", verb="open", counts_visits=True),
        )
    )
    rows = [reading(name, views=1000, clicks=clicks) for name, clicks in (("radio", 90), ("stage", 10))]
    visitors = [reading(name, views=9000, clicks=5000) for name in ("shop", "turnstile")]

    found = assess((*rows, *visitors), kinds)

    assert found.next_move.channel == "radio"
    assert found.next_move.move == "Write the next one for Radio first."
    assert "views" not in found.totals


def test_your_site_has_no_capital_within_a_sentence() -> None:
    reading = Reading(source="s", channel="site", status="ok", metrics={"views": 3})
    assert summarise(assess_run("", (reading,), LABELLED, ()), LABELLED) == "3 views on your site"
