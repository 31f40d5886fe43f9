"""The bars of a session's timeline, what a run waits for, and the branches of a graph by number."""

from __future__ import annotations

import pytest
from packages.core.tests.unit.shell.test_session_graph import tree

from assent.engine.views.session_views import Moment, SessionRunLine, TimedStep, plain_title, time_steps
from assent.kernel.ids import RunId
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS
from assent.serving.web.sessions.cards import run_badge
from assent.serving.web.sessions.graph import count_tries, make_axis, number_branches, order_rows, page
from assent.serving.web.shell.times import short_span


def line(*, complete: bool = False, asks: bool = False, updated_ms: int = 0) -> SessionRunLine:
    return SessionRunLine(
        run_id=RunId("r"),
        session_id="s",
        workflow_id="w",
        name="Review",
        nodes=4,
        branches=2,
        is_complete=complete,
        asks_person=asks,
        created_ms=0,
        updated_ms=updated_ms,
    )


ROWS = [
    {"node": n, "parent": p, "step_key": f"s{n}", "title": f"S{n}", "is_complete": 0, "event_seq": n + 1}
    for n, p in enumerate((None, 0, 1, 1))
]
TREE = [{**row, "created_ms": 60_000 * number} for number, row in enumerate(ROWS)]


def test_a_step_takes_from_the_one_before_it_and_a_refused_attempt_is_a_mark_on_it() -> None:
    steps = time_steps(line(), TREE, (), ({"node": 1, "created_ms": 90_000},))
    assert [(each.kind, each.started_ms, each.ended_ms, each.off_way) for each in steps] == [
        ("started", 0, 0, False),
        ("step", 0, 60_000, False),
        ("step", 60_000, 120_000, True),
        ("step", 60_000, 180_000, False),
        ("pending", 180_000, None, False),
    ]
    assert [(each.node, each.marks) for each in steps if each.marks] == [(2, (Moment(90_000, "refused"),))]
    late = time_steps(line(), TREE, (), ({"node": 3, "created_ms": 200_000},))
    assert late[-1].marks == (Moment(200_000, "refused"),)
    assert time_steps(line(complete=True), TREE, (), ())[-1].kind == "step"


def test_long_pauses_are_cut_short_and_every_time_keeps_its_order() -> None:
    times = [0, MINUTE_MS, 2 * MINUTE_MS, 3 * MINUTE_MS, 2 * DAY_MS]
    axis = make_axis(times)
    places = [axis.place(each) for each in times]
    assert places == sorted(places) and (places[0], places[-1]) == (0.0, 100.0)
    assert places[1] > 5 and len(axis.cuts) == 1
    assert make_axis([5]).place(5) == 100.0


def test_a_page_has_a_row_for_each_day_and_waiting_comes_last() -> None:
    steps = tuple(time_steps(line(), TREE, (), ()))
    rows = order_rows(steps, (Moment(2 * DAY_MS, "noted", "Ada"),))
    assert [row.day_ms for row in rows if row.day_ms is not None] == [0, 2 * DAY_MS]
    assert rows[-1].step is not None and rows[-1].step.kind == "pending"
    shown = page(steps, (), ("r",), 3 * DAY_MS, None)
    assert all(bar.x >= 0 and bar.x + bar.width <= 100.01 for bar in shown.drawing.bars)


@pytest.mark.parametrize(
    ("run", "now_ms", "text"),
    [
        (line(complete=True), DAY_MS, "Complete"),
        (line(), MINUTE_MS, "The agent is at work"),
        (line(), 2 * DAY_MS, "Waiting for the agent, 2 days"),
        (line(asks=True), 3 * HOUR_MS, "Waiting for a person, 3 h"),
    ],
)
def test_a_run_says_what_it_waits_for_and_since_when(run: SessionRunLine, now_ms: int, text: str) -> None:
    assert run_badge(run, now_ms).text == text


def test_lengths_are_short_words() -> None:
    lengths = (-5, 40_000, 3 * MINUTE_MS, HOUR_MS, HOUR_MS + 5 * MINUTE_MS, DAY_MS, 9 * DAY_MS)
    assert [short_span(each) for each in lengths] == [
        "0 s",
        "40 s",
        "3 min",
        "1 h",
        "1 h 5 min",
        "1 day",
        "9 days",
    ]


def test_branches_are_numbered_by_their_ends_and_the_trunk_belongs_to_the_current_one() -> None:
    nodes = tree(None, 0, 1, 2, 1, 4)
    assert number_branches(nodes, 5) == {0: 2, 1: 2, 4: 2, 5: 2, 2: 1, 3: 1}
    assert number_branches(tree(None, 0, 1), 2) == {}


def test_passes_branches_and_refused_attempts_of_a_step_are_its_tries() -> None:
    def step(title: str, began: int, ended: int, refused: int = 0) -> TimedStep:
        marks = tuple(Moment(began, "refused") for _ in range(refused))
        return TimedStep(
            run_id="r", node=1, title=title, kind="step", started_ms=began, ended_ms=ended, marks=marks
        )

    steps = (
        step("Triage", 0, 10),
        step("Findings (pass 1)", 10, 30, refused=1),
        step("Findings (pass 2)", 30, 35),
        step("Verdict", 35, 40, refused=1),
    )
    found = [(each.title, each.tries, each.refused, each.took_ms) for each in count_tries(steps)]

    assert found == [("Findings", 3, 1, 25), ("Verdict", 2, 1, 5)]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("Check 1 of 2: [unset: check.name; check = unit tests]", "Check 1 of 2"),
        ("Do [work out: count + 1; count = 3] more", "Do more"),
        ("Plain: as it is", "Plain: as it is"),
        ("[unset: name]", "[unset: name]"),
    ],
)
def test_a_title_leaves_out_what_its_agent_had_not_set(stored: str, shown: str) -> None:
    assert plain_title(stored) == shown
