"""The tree of a run as lanes."""

from __future__ import annotations

import random
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.engine.views.session_views import TreeNode, find_path, find_tip
from assent.serving.web.sessions.graph import (
    FOLDED_FROM,
    ROWS,
    LaidOutRow,
    draw,
    draw_overview,
    layout,
    order,
)


def tree(*parents: int | None, **at: dict[int, int]) -> tuple[TreeNode, ...]:
    """Nodes 0, 1, 2, … by their parents; `refused={3: 1}` says what happened where."""
    return tuple(
        TreeNode(
            node=number,
            parent=parent,
            step_key=f"s{number}",
            title=f"Step {number}",
            is_complete=False,
            latest=number + 1,
            created_ms=number,
            refused=at.get("refused", {}).get(number, 0),
            checkpoints=at.get("checkpoints", {}).get(number, 0),
        )
        for number, parent in enumerate(parents)
    )


def placed(rows: list[LaidOutRow] | tuple[LaidOutRow, ...]) -> list[tuple[int, int]]:
    return [(row.node.node, row.lane) for row in rows]


def straight(count: int) -> tuple[TreeNode, ...]:
    return tree(None, *range(count - 1))


@st.composite
def trees(draw: st.DrawFn) -> tuple[TreeNode, ...]:
    count = draw(st.integers(1, 60))
    return tree(None, *(draw(st.integers(0, number)) for number in range(count - 1)))


def test_the_way_to_the_tip_is_the_trunk_and_what_was_tried_stands_beside_it() -> None:
    nodes = tree(None, 0, 1, 2, 1, 4)
    assert placed(order(nodes, find_tip(nodes), 5)) == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 0), (5, 0)]


def test_branches_of_one_node_share_a_lane_one_after_the_other() -> None:
    nodes = tree(None, *[0] * 50)
    graph = layout(nodes, find_tip(nodes), 0)
    assert graph.lanes == 2
    assert placed(graph.rows)[:3] == [(0, 0), (1, 1), (2, 1)]
    assert placed(graph.rows)[-1] == (50, 0)


def test_a_long_straight_stretch_is_one_row_until_it_is_opened() -> None:
    nodes = straight(500)
    graph = layout(nodes, 499, 499)
    assert [row.folded for row in graph.rows if row.folded] == [497]
    assert len(graph.rows) == 4

    opened = layout(nodes, 499, 499, opened=frozenset({17}))
    assert opened.total == 500
    assert len(opened.rows) == ROWS
    assert opened.rows[-1].node.node == 499


def test_whatever_happened_is_never_folded_away() -> None:
    nodes = tree(None, *range(99), refused={30: 2}, checkpoints={60: 1})
    shown = {row.node.node for row in layout(nodes, 99, 99).rows if not row.folded}
    assert {0, 30, 60, 99} <= shown


def test_the_node_that_is_looked_at_is_on_the_page_with_its_neighbours() -> None:
    graph = layout(straight(2000), 1999, 1000)
    shown = [row.node.node for row in graph.rows if not row.folded]
    assert {999, 1000, 1001} <= set(shown)


def test_few_plain_steps_are_not_folded() -> None:
    graph = layout(straight(FOLDED_FROM + 2), FOLDED_FROM + 1, 0)
    assert not any(row.folded for row in graph.rows)


def test_pages_cover_every_row_once() -> None:
    nodes = tree(None, *[0] * 333)
    seen: list[int] = []
    first: int | None = 0
    while first is not None:
        graph = layout(nodes, find_tip(nodes), 0, first=first)
        seen += [row.node.node for row in graph.rows]
        first = graph.later
    assert sorted(seen) == list(range(334))


@given(trees())
def test_every_node_has_one_row_below_its_parent_and_lanes_meet(nodes: tuple[TreeNode, ...]) -> None:
    tip = find_tip(nodes)
    rows = order(nodes, tip, tip)
    places = {row.node.node: place for place, row in enumerate(rows)}
    assert sorted(places) == [each.node for each in nodes]
    open_lanes: set[int] = set()
    for row in rows:
        if row.node.parent is not None:
            above = rows[places[row.node.parent]]
            assert places[row.node.node] > places[row.node.parent]
            assert row.lane == above.lane + (0 if row.from_above else 1)
        if row.from_above:
            assert row.lane in open_lanes
        elif row.starts_branch:
            assert row.lane - 1 in row.through
        assert set(row.through) == open_lanes - {row.lane}
        open_lanes.discard(row.lane)
        if row.goes_on:
            open_lanes.add(row.lane)
    assert open_lanes == set()
    assert {row.node.node for row in rows if row.on_way} == {each.node for each in find_path(nodes, tip)}
    assert max(row.lane for row in rows) <= 1 + log2(len(nodes))


@pytest.mark.parametrize("seed", range(3))
def test_two_thousand_nodes_need_a_dozen_lanes_however_they_fork(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same trees every time
    nodes = tree(None, *(max(0, number - chance.choice([0, 0, 0, 1, 5, 40])) for number in range(1999)))
    graph = layout(nodes, find_tip(nodes), 1000)
    drawing = draw(graph)
    assert graph.lanes <= 12
    assert drawing.height == len(graph.rows) * 44
    assert len(drawing.lines) <= 2 * graph.lanes


def test_a_graph_of_several_pages_has_an_overview_of_all_rows_with_the_page_in_it() -> None:
    short = tree(None, *[0] * 50)
    assert draw_overview(layout(short, find_tip(short), 0)) is None
    nodes = tree(None, *[0] * 399, refused={7: 1})
    graph = layout(nodes, find_tip(nodes), 200, first=100)
    overview = draw_overview(graph)

    assert overview is not None
    assert overview.window == (25.0, 25.0)
    assert {part for part, _, _ in overview.dots} == set(range(100))
    assert (1, 1, "refused") in overview.dots
    assert overview.parts[25] == 100 and overview.lanes == 2
