"""Numbers in words: each is told under its own name, and none is made from numbers that count different things."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.engine.learning.measured import Measurement, describe, describe_reading, draw_up
from assent.ports import Reading
from assent.suite.content.channels import label_of
from assent.suite.measurement.metrics import (
    METRICS,
    describe_number,
    find_metric,
    name_exposure,
    select_credible,
    summarise_numbers,
)
from assent.suite.measurement.recommend import group_numbers, total_numbers

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
    past = [draw_up("", each) for each in earlier]
    found = draw_up("", readings, past)

    for each in readings:
        for short in (True, False):
            told = describe_reading(each, short=short)
            assert not re.search(r"\d", leftover(told, list(each.metrics.items()))), told
    grouped = group_numbers(readings)
    for sentence in re.split(r"(?<=\.) |; ", found.next_move.why):
        channel = next((each for each in CHANNELS if sentence.startswith(label_of(each))), None)
        may_tell = list(grouped.get(channel or "", {}).items())
        may_tell += [(each.metric, each.average) for each in found.baseline if each.channel == channel]
        assert not re.search(r"\d", leftover(sentence, may_tell)), found.next_move.why
    _averages_are_true(found, past)
    for name, total in found.totals.items():
        assert find_metric(name) is not None
        assert total == pytest.approx(sum(each[name] for each in grouped.values() if name in each))
    assert found.next_move.move and describe(found)


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
        ({}, "no numbers"),
    ],
)
def test_a_source_is_summarised_by_one_exposure_and_its_responses(
    metrics: dict[str, float], said: str
) -> None:
    assert summarise_numbers(metrics) == said


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


def test_totals_leave_out_rates_money_people_and_channels_that_overlap() -> None:
    rows = (
        reading("linkedin", views=100, clicks=4, reach=50, engagementRate=0.05, revenue_eur=3),
        reading("x", views=10, reach=50, engagementRate=0.05, karma=2),
        reading("site", clicks=3),
        reading("web", sessions=9),
    )
    assert total_numbers(rows) == {"views": 110, "sessions": 9}


def test_two_messages_on_one_channel_have_the_sum_of_what_both_report() -> None:
    rows = (reading("email", delivered=2, opened=1), reading("email", delivered=3))
    assert group_numbers(rows) == {"email": {"delivered": 5}}


def test_an_exposure_of_zero_is_told_only_where_nothing_contradicts_it() -> None:
    assert name_exposure({"impressions": 0}) == "impressions"
    assert name_exposure({"impressions": 0, "clicks": 1}) is None
