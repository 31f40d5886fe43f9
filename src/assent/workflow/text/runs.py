"""Describes the runs that a search found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

ENTER: Final = "To go on with one, call workflow_advance with its stateToken alone."


class RunFacts(Protocol):
    """The facts of a run in the text."""

    @property
    def session_id(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state_token(self) -> str: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def step(self) -> str: ...
    @property
    def noted(self) -> str: ...
    @property
    def words_found(self) -> int: ...


def tell_latest(runs: Sequence[RunFacts]) -> str:
    """Write the answer to a search without a match: the latest runs, so that none is started a second time."""
    if not runs:
        return (
            "# No runs yet\nThis workspace has no run of a workflow. workflow_list shows what can be started."
        )
    return "\n".join(
        [
            "# No run fits that",
            "These are the latest runs. Ask the user whether one of them is meant before you start a new one.",
            *map(_line, runs),
            ENTER,
        ]
    )


def tell_found(resumed: str, best: RunFacts, runs: Sequence[RunFacts], words: int) -> str:
    """Write the best match, and the others in a line each."""
    others = [each for each in runs if each.run_id != best.run_id]
    missed = f"Of the {words} words of the query, {best.words_found} occur in this run.\n\n"
    head = missed if best.words_found < words else ""
    tail = "\n".join(["\n\n## Other runs that were found", *map(_line, others), ENTER]) if others else ""
    return f"{head}{resumed}{tail}"


def _line(run: RunFacts) -> str:
    came = "complete" if run.is_complete else f"at “{run.step}”" if run.step else "under way"
    noted = f", last noted “{run.noted}”" if run.noted else ""
    return f"- {run.name}, session {run.session_id}, {came}{noted}; stateToken {run.state_token}"
