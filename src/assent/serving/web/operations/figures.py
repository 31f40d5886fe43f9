"""The figures of the operations page, from recorded decisions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from assent.engine.views.operations import RecordedDecision
from assent.kernel.limits import SECOND_MS
from assent.kernel.structs import Record
from assent.serving.web.shell.charts import median

HASTY_MS: Final = 2 * SECOND_MS
"""A page that was open for less was hardly read."""
HIGH: Final = 0
ENOUGH: Final = 10
"""Decisions about one kind of action before a suggestion is made of them."""
MOST_SUGGESTIONS: Final = 5

Key = TypeVar("Key")


class AgentRecord(Record):
    """How people decided about what one agent proposed."""

    proposed_by: str
    decided: int
    unchanged: int
    changed: int
    rejected: int

    @property
    def share(self) -> float:
        """Approved unchanged, in percent."""
        return 100 * self.unchanged / self.decided


class Wait(Record):
    """How long decisions of one sort took, in the middle."""

    name: str
    decided: int
    median_ms: float


class Repeated(Record):
    """Proposals of one kind by one agent that were approved unchanged each time."""

    proposed_by: str
    channel: str
    verb: str
    risk: int
    approved: int
    example: str
    """The action that was decided last."""


def list_agents(decisions: Iterable[RecordedDecision]) -> list[AgentRecord]:
    """The record of each agent, the busiest first."""
    return sorted(
        (
            AgentRecord(
                proposed_by=agent,
                decided=len(each),
                unchanged=sum(1 for one in each if one.approved and one.unchanged),
                changed=sum(1 for one in each if one.approved and not one.unchanged),
                rejected=sum(1 for one in each if not one.approved),
            )
            for agent, each in _group(decisions, lambda one: one.proposed_by).items()
        ),
        key=lambda record: (-record.decided, record.proposed_by),
    )


def list_waits(decisions: Iterable[RecordedDecision], key: Callable[[RecordedDecision], str]) -> list[Wait]:
    """The median time to a decision of each sort, the slowest first."""
    found = [
        Wait(name, len(each), median([one.waited_ms for one in each]) or 0.0)
        for name, each in _group(decisions, key).items()
    ]
    return sorted(found, key=lambda wait: (-wait.median_ms, wait.name))


def find_median(decisions: Sequence[RecordedDecision]) -> float | None:
    return median([one.waited_ms for one in decisions])


def list_hasty(decisions: Iterable[RecordedDecision]) -> list[RecordedDecision]:
    """Approvals of high risk on a page that was open for less than two seconds, the latest first."""
    return [
        one
        for one in decisions
        if one.approved and one.risk == HIGH and one.looked_ms is not None and one.looked_ms < HASTY_MS
    ]


def list_repeated(decisions: Iterable[RecordedDecision]) -> list[Repeated]:
    """Kinds of proposals that people always approved unchanged, the most frequent first. High risk is
    never among them: a person should look."""
    groups = _group(
        (one for one in decisions if not one.is_step),
        lambda one: (one.proposed_by, one.channel, one.verb, one.risk),
    )
    found = [
        Repeated(*kind, approved=len(each), example=each[0].action_id)
        for kind, each in groups.items()
        if len(each) >= ENOUGH and kind[3] != HIGH and all(one.approved and one.unchanged for one in each)
    ]
    return sorted(found, key=lambda each: (-each.approved, each.channel))[:MOST_SUGGESTIONS]


def _group(
    decisions: Iterable[RecordedDecision], key: Callable[[RecordedDecision], Key]
) -> dict[Key, list[RecordedDecision]]:
    found: dict[Key, list[RecordedDecision]] = {}
    for one in decisions:
        found.setdefault(key(one), []).append(one)
    return found
