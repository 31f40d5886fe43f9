"""The state machine of an action. `TABLE` is what code and tests read; the diagram shows its usual moves.

    awaiting_approval ──reject──► rejected
       │  ▲  ▲
       │  │  └──edit (revision + 1; also from approved)
       │  └─────withdraw (from approved, before it is claimed)
    approve
       ▼
    approved, retryable ──claim──► executing ──succeed──► executed
                                     │  │  │
                                     │  │  └──refuse──► failed
                                     │  └──lose──► outcome_unknown ──found done──► executed
                                     │                │  └──found refused──► failed
                                     │             found not done
                                     │                ▼
                                     └──postpone──► retryable ──found done──► executed

    approved, retryable ──hand over──► executed (a person published it by hand)
    approved, retryable ──restore──► outcome_unknown (the store is older than what may have been sent)
    retryable ──withdraw──► awaiting_approval

`executing`, `outcome_unknown` and `retryable` are execution states besides the status `approved`
(C10). An approval that has expired changes no state: it no longer counts when it is used (`gate.policy`).
A refused move changes nothing.
"""

from __future__ import annotations

import enum
from typing import Final

from assent.gate.records import Action, ExecutionState, Status
from assent.kernel.structs import Record


class State(Record):
    """Status and execution state together; only the pairs below exist."""

    status: Status
    execution: ExecutionState


class Move(enum.StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    WITHDRAW = "withdraw"
    CLAIM = "claim"
    SUCCEED = "succeed"
    REFUSE = "refuse"
    POSTPONE = "postpone"
    LOSE = "lose"
    FOUND_DONE = "found_done"
    FOUND_REFUSED = "found_refused"
    FOUND_NOT_DONE = "found_not_done"
    HAND_OVER = "hand_over"
    """A person published it by hand and recorded where (manual channels)."""
    RESTORE = "restore"
    """The store was put back to an earlier state, so it may have been sent since."""


AWAITING: Final = State(Status.AWAITING_APPROVAL, ExecutionState.NONE)
APPROVED: Final = State(Status.APPROVED, ExecutionState.NONE)
EXECUTING: Final = State(Status.APPROVED, ExecutionState.EXECUTING)
UNKNOWN: Final = State(Status.APPROVED, ExecutionState.OUTCOME_UNKNOWN)
RETRYABLE: Final = State(Status.APPROVED, ExecutionState.RETRYABLE)
REJECTED: Final = State(Status.REJECTED, ExecutionState.NONE)
EXECUTED: Final = State(Status.EXECUTED, ExecutionState.DONE)
FAILED: Final = State(Status.FAILED, ExecutionState.DONE)

STATES: Final = (AWAITING, APPROVED, EXECUTING, UNKNOWN, RETRYABLE, REJECTED, EXECUTED, FAILED)
TERMINAL: Final = frozenset({REJECTED, EXECUTED, FAILED})

TABLE: Final[dict[tuple[State, Move], State]] = {
    (AWAITING, Move.APPROVE): APPROVED,
    (AWAITING, Move.REJECT): REJECTED,
    (AWAITING, Move.EDIT): AWAITING,
    (APPROVED, Move.EDIT): AWAITING,
    (APPROVED, Move.WITHDRAW): AWAITING,
    (RETRYABLE, Move.WITHDRAW): AWAITING,
    (APPROVED, Move.CLAIM): EXECUTING,
    (RETRYABLE, Move.CLAIM): EXECUTING,
    (APPROVED, Move.HAND_OVER): EXECUTED,
    (RETRYABLE, Move.HAND_OVER): EXECUTED,
    (EXECUTING, Move.SUCCEED): EXECUTED,
    (EXECUTING, Move.REFUSE): FAILED,
    (EXECUTING, Move.POSTPONE): RETRYABLE,
    (EXECUTING, Move.LOSE): UNKNOWN,
    (APPROVED, Move.RESTORE): UNKNOWN,
    (RETRYABLE, Move.RESTORE): UNKNOWN,
    (UNKNOWN, Move.FOUND_DONE): EXECUTED,
    (UNKNOWN, Move.FOUND_REFUSED): FAILED,
    (UNKNOWN, Move.FOUND_NOT_DONE): RETRYABLE,
    (RETRYABLE, Move.FOUND_DONE): EXECUTED,
}


Step = tuple[Move, State]
"""A move and the state after it."""


class IllegalMove(Exception):  # noqa: N818 - what was asked for
    """The table has no such move from this state."""

    def __init__(self, state: State, move: Move) -> None:
        super().__init__(f"{move} from {state.status}/{state.execution}")
        self.state = state
        self.move = move


def state_of(action: Action) -> State:
    return State(action.status, action.execution_state)


def path(action: Action, move: Move) -> tuple[Step, ...]:
    """Return the moves that lead to a decision or an outcome, each with the state after it.
    Rejecting or editing an approved action withdraws it first. Raises `IllegalMove` for a move that
    is not in the table, so no stage is skipped (E10).

    Only approving, rejecting and editing leave `awaiting_approval`, and an edit leads back to it
    (E22). No move leads out of `rejected` (E23, E67) or out of `executed` (E68).
    """
    state = state_of(action)
    if (state, move) in TABLE:
        return ((move, TABLE[state, move]),)
    withdrawn = TABLE.get((state, Move.WITHDRAW), state)  # itself where nothing can be withdrawn
    if (withdrawn, move) in TABLE:
        return (Move.WITHDRAW, withdrawn), (move, TABLE[withdrawn, move])
    raise IllegalMove(state, move)
