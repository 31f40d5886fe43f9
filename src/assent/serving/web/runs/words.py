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


# run.html
OPEN_THE_DRAFTS: Final = "Open the drafts"
FOR: Final = "for {tenant_id}"
FROM_AN_EARLIER_RUN: Final = "From an earlier run"
CONTINUED_AS: Final = "Continued as {name}"
PIPELINE: Final = "Pipeline"
DRAFTS: Final = "Drafts"
ALL: Final = "All"
MORE_DRAFTS: Final = "More drafts"
FIRST_DRAFTS: Final = "First drafts"
NO_DRAFT_OF_THIS_RUN: Final = "No draft of this run is in that state."
THIS_RUN_HAS_NOTHING: Final = "This run has nothing to send."
WHAT_TO_DO_NEXT: Final = "What to do next"
ALL_RESULTS: Final = "All results"
TEXTS_AND_DOCUMENTS: Final = "Texts and documents"
THE_FIRST_OF_THEM: Final = "The first {assets} of them."
TOOL: Final = "Tool"
WHAT_HAPPENED: Final = "What happened"
EARLIER: Final = "Earlier"
LATEST: Final = "Latest"
AND_MORE: Final = "and {objects} more"
NOTHING_YET: Final = "Nothing yet."

# runs.html
SEARCH_RUNS_AND_DRAFTS: Final = "Search runs and drafts"
FOR_TENANT: Final = "for {tenant}"
FOLLOWS_ANOTHER_RUN: Final = "follows another run"
NO_RUN_OF_THIS_WORKSPACE: Final = "No run of this workspace matches."
SHOW_ALL_RUNS: Final = "Show all runs"
THE_LATEST_1_000_RUNS: Final = "None of the latest 1,000 runs of this period matches."
NO_RUNS_YET: Final = "No runs yet"
EVERYTHING_AN_AGENT_PREPARES: Final = (
    "Everything an agent prepares is a run: its drafts, the actions that wait for you, and their results."
)
SAY_TO_YOUR_AGENT_DRAFT: Final = (
    "Say to your agent: “Draft a post about what we built today, and let me approve it.”"
)

# pipeline.py
NOTHING_TO_SEND: Final = "Nothing to send"
TO_GO: Final = "to go"
NOTHING_DONE_YET: Final = "Nothing yet"
A_DAY_AFTER: Final = "A day after it is sent"
NUMBERS_ARE_IN: Final = "Numbers are in"
NO_NUMBERS_YET: Final = "No numbers yet"

# screens.py
SEARCH_FURTHER_BACK: Final = "Search further back"
