"""The words of the runs screens. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.engine.views.run_views import ActionCount
from assent.gate.effects import EffectTypes
from assent.gate.records import ExecutionState, Status
from assent.gate.transitions import AWAITING, State
from assent.serving.web.review.words import STATES, Badge
from assent.serving.web.shell.problems import Link, PageProblem

NO_SUCH_RUN: Final = PageProblem(
    404,
    "There is no such run",
    "It is not in the workspace you look at, or it never was.",
    "Look for the run in the list of all runs.",
    Link("/runs", "All runs"),
)

FILTERS: Final = (
    ("awaiting_approval", "Waiting"),
    ("outcome_unknown", "Unknown outcome"),
    ("failed", "Failed"),
    ("retryable", "To be tried again"),
    ("approved", "Approved"),
    ("executed", "Sent"),
    ("rejected", "Rejected"),
)
"""The states of a run's actions, for the filter."""

RUN_STATUSES: Final = {
    "running": Badge("In progress", "info"),
    "complete": Badge("Complete", "ok"),
    "awaiting_approval": Badge("Waits for you", "warn"),
    "approved": Badge("Approved, not sent", "warn"),
    "executing": Badge("Being sent", "info"),
    "outcome_unknown": Badge("Did it go out?", "ask"),
    "partly_sent": Badge("Partly sent", "warn"),
    "executed": Badge("Sent", "ok"),
    "measured": Badge("Sent and measured", "ok"),
    "rejected": Badge("Rejected"),
    "failed": Badge("Failed", "danger"),
    "expired": Badge("Expired"),
}
NOTHING: Final = Badge("Nothing to send")


def name_operator(effects: EffectTypes, operator: str) -> str:
    return effects.operators.get(operator) or (
        operator.removeprefix("chieflab-").replace("-", " ").capitalize()
    )


def standing_badges(standings: Iterable[ActionCount]) -> tuple[Badge, ...]:
    """`2 done`, `1 waiting for approval`: in the order in which actions live."""
    order = list(STATES)
    known = sorted(
        (
            (State(Status(each.status), ExecutionState(each.execution_state)), each.actions)
            for each in standings
        ),
        key=lambda each: order.index(each[0]),
    )
    return tuple(Badge(f"{count:,} {_several(state)}", STATES[state].tone) for state, count in known)


def _several(state: State) -> str:
    """Return the state of several actions, as words after their number."""
    return "waiting for approval" if state == AWAITING else STATES[state].text.lower()


# pipeline.py
NOTHING_TO_SEND: Final = "Nothing to send"
TO_GO: Final = "to go"
NOTHING_DONE_YET: Final = "Nothing yet"
A_DAY_AFTER: Final = "A day after it is sent"
NUMBERS_ARE_IN: Final = "Numbers are in"
NO_NUMBERS_YET: Final = "No numbers yet"

# screens.py
SEARCH_FURTHER_BACK: Final = "Search further back"
