"""Judges one run of the programme: its totals, and every breach of a promise."""

from __future__ import annotations

from dataclasses import dataclass

from proof.history import Evidence
from proof.promises import CHECKS, Breach, Case

PROMISES = ("P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was seen in a run. `lost` counts acknowledged actions, decisions and executions that are not there;
    `unresolved` counts actions that wait for a person's answer about their outcome."""

    calls: int
    answered: int
    succeeded: int
    actions: int
    effects: int
    double_effects: int
    lost: int
    unresolved: int
    breaches: tuple[Breach, ...]

    @property
    def clean(self) -> bool:
        return not self.breaches

    @property
    def promises(self) -> set[str]:
        """The promises that were broken."""
        return {breach.promise for breach in self.breaches}

    def describe(self, most: int = 12) -> str:
        return "\n".join(str(breach) for breach in self.breaches[:most]) or "clean"


def judge(evidence: Evidence) -> Verdict:
    """Judge a run by its evidence alone."""
    case = Case(evidence)
    breaches = tuple(breach for check in CHECKS for breach in check(case))
    return Verdict(
        calls=len(evidence.calls),
        answered=sum(call.answer is not None for call in evidence.calls),
        succeeded=sum(call.ok for call in evidence.calls),
        actions=len(case.known),
        effects=len(evidence.effects),
        double_effects=sum(len(each) - 1 for each in case.effects.values()),
        lost=sum(breach.what.startswith("lost: ") for breach in breaches),
        unresolved=sum(case.state(action_id) == "outcome_unknown" for action_id in case.known),
        breaches=breaches,
    )
