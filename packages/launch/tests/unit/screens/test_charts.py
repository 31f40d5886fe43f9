"""The geometry of charts, and the figures that they draw."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.engine.views.operations import RecordedDecision
from assent.serving.web import operations as screens
from assent.serving.web.shell.lists import SHOWN_DAYS, DayRange, day_bounds, draw_days, read_range
from assent.serving.web.shell.times import day_start, find_zone, list_zones, read_in, when
from assent_launch.screens import charts
from assent_launch.screens.results import (
    RunNumbers,
    average_by_time,
    find_value,
    list_channels,
    list_metrics,
    make_series,
    sum_channels,
    sum_funnel,
)


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1e12), max_size=20), st.booleans())
def test_an_axis_begins_at_zero_reaches_every_value_and_has_few_round_steps(
    values: list[float], whole: bool
) -> None:
    axis = charts.make_axis(values, whole=whole)
    assert axis.ticks[0] == 0
    assert axis.most >= max((*values, 0)) * (1 - 1e-9)
    assert 2 <= len(axis.ticks) <= charts.TICKS + 1
    assert all(0 <= axis.scale(value) <= charts.HEIGHT for value in values)
    if whole:
        assert all(float(tick).is_integer() for tick in axis.ticks)


def test_columns_have_one_scale_and_draw_nothing_for_what_was_not_measured() -> None:
    drawn = charts.draw_columns([500, None, 2_000], 1_000)
    assert list(drawn.axis.ticks) == [0, 500, 1_000, 1_500, 2_000]
    assert [column.height for column in drawn.columns] == [25, 0, 100]
    assert [column.has_value for column in drawn.columns] == [True, False, True]
    assert (drawn.baseline_y, drawn.lines[0], drawn.lines[-1]) == (50, 100, 0)
    assert charts.draw_columns([3, 4]).baseline_y is None
    assert charts.draw_lengths([0, 5, 10]) == (0, 50, 100)
    assert charts.draw_lengths([0, 0]) == (0, 0)


def test_a_funnel_has_the_share_of_the_step_before() -> None:
    drawn = charts.draw_funnel([("Sent", 200), ("Opened", 100), ("Clicked", 25)])
    assert [(step.length, step.share) for step in drawn] == [(100, None), (50, 50), (12.5, 25)]
    assert charts.draw_funnel([("Sent", 0), ("Opened", 3)])[1].share is None


def test_a_metric_is_added_over_runs_only_if_its_counts_may_be() -> None:
    runs = [
        RunNumbers({"a": {"impressions": 10, "reach": 8}, "b": {"impressions": 5}}, {"impressions": 15}),
        RunNumbers(
            {"a": {"impressions": 30, "comments": 2}, "b": {"engagement rate": 0.1}}, {"impressions": 30}
        ),
        RunNumbers({"a": {"visits": 7}, "b": {"visits": 9}}, {}),
    ]
    assert list_metrics(runs) == ["impressions", "comments"]
    assert find_value(runs[2], "visits") is None
    series = make_series("impressions", runs, runs[:1])
    assert list(series.values) == [15, 30, None]
    assert (series.total, series.average, series.usual, series.usual_runs) == (45, 22.5, 15, 1)
    assert sum_channels("impressions", runs) == {"a": 40, "b": 5}


def test_the_funnel_of_mail_adds_runs_that_report_the_same_steps() -> None:
    whole = {"sent": 10.0, "delivered": 9.0, "opened": 4.0, "bounced": 1.0}
    runs = [
        RunNumbers({"m": whole}, {}),
        RunNumbers({"m": {"sent": 100.0}}, {}),
        RunNumbers({"m": whole}, {}),
    ]
    found = sum_funnel(runs)
    assert found is not None
    assert list(found.steps) == [("Sent", 20), ("Delivered", 18), ("Opened", 8)]
    assert (found.lost, found.runs) == ((("bounced", 2),), 2)
    assert sum_funnel([RunNumbers({"m": {"impressions": 3.0}}, {})]) is None


def decision(number: int, **more: object) -> RecordedDecision:
    known: dict[str, object] = {
        "action_id": f"a{number}",
        "run_id": "r",
        "at_ms": number,
        "approved": True,
        "unchanged": True,
        "waited_ms": 1_000 * number,
        "looked_ms": 9_000,
        "risk": 2,
        "proposed_by": "key:1",
        "channel": "site",
        "verb": "post",
        "by": "Ada",
        "is_step": False,
    }
    return RecordedDecision(**{**known, **more})  # type: ignore[arg-type]


def test_what_is_always_approved_unchanged_is_suggested_and_high_risk_never_is() -> None:
    alike = [decision(number) for number in range(screens.ENOUGH)]
    assert [(each.approved, each.example) for each in screens.list_repeated(alike)] == [(10, "a0")]
    assert screens.list_repeated(alike[1:]) == []
    for spoiled in ({"approved": False}, {"unchanged": False}):
        assert screens.list_repeated([*alike, decision(99, **spoiled)]) == []
    assert screens.list_repeated([decision(number, risk=0) for number in range(20)]) == []
    assert screens.list_repeated([decision(number, is_step=True) for number in range(20)]) == []


def test_hasty_are_approvals_of_high_risk_on_a_page_that_was_hardly_open() -> None:
    found = [
        decision(1, risk=0, looked_ms=1_999),
        decision(2, risk=0, looked_ms=2_000),
        decision(3, risk=0, looked_ms=None),
        decision(4, risk=1, looked_ms=100),
        decision(5, risk=0, looked_ms=100, approved=False),
    ]
    assert [each.action_id for each in screens.list_hasty(found)] == ["a1"]
    agents = screens.list_agents([*found, decision(6, unchanged=False), decision(7, proposed_by="local")])
    assert [
        (each.proposed_by, each.decided, each.unchanged, each.changed, each.rejected) for each in agents
    ] == [
        ("key:1", 6, 4, 1, 1),
        ("local", 1, 1, 0, 0),
    ]
    assert [wait.median_ms for wait in screens.list_waits(found, lambda one: one.by)] == [3_000]


@pytest.mark.parametrize("zone", ["", "Europe/Oslo", "America/Sao_Paulo", "Asia/Kolkata", "Pacific/Apia"])
def test_a_day_is_that_of_the_reader_and_its_bounds_meet(zone: str) -> None:
    read_in(zone)
    try:
        days = DayRange(None, None, date(2026, 11, 17)).shown_days()
        bounds = day_bounds(days)
        assert len(days) == SHOWN_DAYS
        assert all(end == start for (_, end), (start, _) in pairwise(bounds))
        assert [when(start, 0).day for start, _ in bounds[-1:]] == ["17 November 2026"]
    finally:
        read_in("")


def test_times_name_their_zone_and_an_unknown_zone_is_utc() -> None:
    expected = {
        "Europe/Oslo": "26 October 2026, 08:33 CET",
        "America/Sao_Paulo": "26 October 2026, 04:33 UTC-3",
        "Asia/Kathmandu": "26 October 2026, 13:18 UTC+5:45",
        "../etc/passwd": "26 October 2026, 07:33 UTC",
    }
    try:
        for zone, text in expected.items():
            read_in(zone)
            assert when(1_793_000_000_000, 0).text == text
        read_in("Europe/Oslo")
        # The day on which the clocks go back has 25 hours.
        assert day_start(date(2026, 10, 26)) - day_start(date(2026, 10, 25)) == 25 * 3_600_000
    finally:
        read_in("")
    assert find_zone("Europe/Oslo") == "Europe/Oslo"
    assert [find_zone(each) for each in ("", "UTC", "Europe/", "Europe/Nowhere", "posixrules")] == [""] * 5
    assert sum(map(len, list_zones().values())) > 400


def test_a_period_is_read_from_the_address_and_each_day_leads_to_itself() -> None:
    query = {"from": "2026-11-10", "to": "2026-11-01"}
    asked = read_range(lambda name: query.get(name, ""), 1_794_900_000_000)
    assert (asked.first, asked.last) == (date(2026, 11, 1), date(2026, 11, 10))
    assert asked.period().until_ms == day_start(date(2026, 11, 11))
    counts = [0] * (SHOWN_DAYS - 2) + [4, 1]
    bars = draw_days(asked, counts, "/runs", {"q": "a b"})
    assert bars[-1].href == "/runs?q=a+b&from=2026-11-10&to=2026-11-10"
    assert [bar.height for bar in bars[-3:]] == [0, 100, 25]
    assert sum(bar.chosen for bar in bars) == 10
    for odd in ("", "x", "0001-01-01", "9999-12-31"):
        open_range = read_range(lambda name, odd=odd: odd, 1_794_900_000_000)  # type: ignore[misc]
        assert open_range.is_open
        assert open_range.shown_days()[-1] - open_range.shown_days()[0] == timedelta(days=SHOWN_DAYS - 1)


def test_small_charts_of_one_metric_share_a_scale_and_keep_their_gaps() -> None:
    runs = [
        RunNumbers({"linkedin": {"views": 100.0}, "x": {"views": 25.0}}, {}),
        RunNumbers({"linkedin": {"views": 50.0}}, {}),
    ]
    series = list_channels("views", runs)
    assert series == {"linkedin": (100.0, 50.0), "x": (25.0, None)}
    linkedin, x = charts.draw_multiples(list(series.values()))
    assert [each.height for each in linkedin.columns] == [100.0, 50.0]
    assert [(each.height, each.has_value) for each in x.columns] == [(25.0, True), (0.0, False)]


def test_a_heat_map_averages_by_weekday_and_hour_and_says_nothing_about_few_runs() -> None:
    monday = datetime(2026, 11, 16, 9, tzinfo=UTC)
    moments = [
        monday,
        monday + timedelta(hours=1),
        monday + timedelta(hours=8),
        None,
        monday + timedelta(days=1),
    ]
    values = [10.0, 30.0, 5.0, 99.0, None]
    assert average_by_time(values, moments) == {}
    found = average_by_time([*values, 40.0], [*moments, monday + timedelta(days=2)])

    assert {place: (cell.runs, cell.average) for place, cell in found.items()} == {
        (0, 2): (2, 20.0),
        (0, 4): (1, 5.0),
        (2, 2): (1, 40.0),
    }
    assert [charts.shade(value, 40.0) for value in (0.0, 5.0, 20.0, 40.0)] == [0, 1, 2, 4]


def test_a_number_that_is_always_zero_is_offered_last_and_what_people_saw_first() -> None:
    runs = [
        RunNumbers({"site": {"views": 0.0, "clicks": 3.0}, "x": {"impressions": 9.0}}, {}),
        RunNumbers({"site": {"views": 0.0, "clicks": 1.0}}, {}),
    ]
    assert list_metrics(runs) == ["impressions", "clicks", "views"]
