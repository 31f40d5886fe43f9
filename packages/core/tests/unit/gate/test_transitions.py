"""The table of states: every move, and every one that does not exist."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.builders import put_in

from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    STATES,
    TABLE,
    TERMINAL,
    UNKNOWN,
    IllegalMove,
    Move,
    State,
    Step,
    path,
    state_of,
)

WITHDRAWN: list[tuple[State, Move, State]] = [
    (APPROVED, Move.APPROVE, APPROVED),
    (APPROVED, Move.REJECT, REJECTED),
    (RETRYABLE, Move.APPROVE, APPROVED),
    (RETRYABLE, Move.REJECT, REJECTED),
    (RETRYABLE, Move.EDIT, AWAITING),
]
"""Moves that take two steps, because the approval ends first."""

PATHS: dict[tuple[State, Move], tuple[Step, ...]] = {
    **{(state, move): ((move, after),) for (state, move), after in TABLE.items()},
    **{(state, move): ((Move.WITHDRAW, AWAITING), (move, after)) for state, move, after in WITHDRAWN},
}


@pytest.mark.rule("E10")
@pytest.mark.parametrize("state", STATES)
def test_a_state_has_the_moves_of_the_table_and_no_other(state: State) -> None:
    action = put_in(state)
    assert state_of(action) == state
    for move in Move:
        if (state, move) in PATHS:
            assert path(action, move) == PATHS[state, move]
        else:
            with pytest.raises(IllegalMove) as illegal:
                path(action, move)
            assert (illegal.value.state, illegal.value.move) == (state, move)


@pytest.mark.rule("E23", "E67", "E68")
def test_no_move_leads_out_of_a_final_state_and_every_other_state_has_one() -> None:
    assert {state for state, _ in TABLE} == {*STATES} - TERMINAL
    assert {REJECTED, EXECUTED, FAILED} == TERMINAL


def test_an_action_is_sent_only_after_it_was_approved_and_claimed() -> None:
    assert {state for (state, _), after in TABLE.items() if after == EXECUTING} == {APPROVED, RETRYABLE}
    assert {state for (state, _), after in TABLE.items() if after == APPROVED} == {AWAITING}
    assert {move for (_, move), after in TABLE.items() if after == UNKNOWN} == {Move.LOSE, Move.RESTORE}


@given(st.lists(st.sampled_from(list(Move)), max_size=12))
def test_whatever_is_tried_nothing_is_executed_without_an_approval_before(tried: list[Move]) -> None:
    state, approved = AWAITING, False
    for move in tried:
        try:
            steps = path(put_in(state), move)
        except IllegalMove:
            continue
        for each, after in steps:
            approved = each is Move.APPROVE or (approved and after != AWAITING)
            state = after
            assert approved or state in (AWAITING, REJECTED)
