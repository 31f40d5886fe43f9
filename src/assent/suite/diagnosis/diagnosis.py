"""The values of a diagnosis: facts about running campaigns, findings with suggestions, and their
order and text.

A finding rests on numbers and names their source and time. Without numbers there is no finding; the
diagnosis says instead where numbers would come from (E100). The rules are
`assent.suite.diagnosis.rules`.

Pure. Knows nothing of where the facts come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

from assent.platform.effects import SuggestedCall
from assent.platform.values import Record, WireRecord, iso_time

Weight = Literal["high", "medium", "low"]

WINDOW_DAYS: Final = 90
"""How many days back actions count."""

OWN_RECORD: Final = "this server's record of actions"
"""The source name of facts about decisions and deliveries of this server."""


class Observation(WireRecord, kw_only=True):
    """Numbers of one channel of one run, from one source at one time."""

    channel: str
    source: str
    at_ms: int
    run_id: str
    metrics: dict[str, float]


class Silence(WireRecord, kw_only=True):
    """A source without numbers, and the reason. Never read as zero."""

    channel: str
    source: str
    reason: str


class ActionFacts(Record, kw_only=True):
    action_id: str
    run_id: str
    channel: str
    connector: str
    status: str
    execution_state: str
    created_ms: int
    executed_ms: int | None = None
    expired: bool = False
    ready: bool = True
    rejection: str = ""
    last_attempt: str = ""


class Learned(WireRecord, kw_only=True):
    """A recorded lesson, with its author and time."""

    entry_id: str
    body: str
    source: str
    at: str


class DiagnosisFacts(Record, kw_only=True):
    """The facts of a diagnosis. Observations and actions are newest first."""

    now_ms: int
    goal: str = ""
    observations: tuple[Observation, ...] = ()
    silences: tuple[Silence, ...] = ()
    actions: tuple[ActionFacts, ...] = ()
    due_ms: tuple[int, ...] = ()
    """The times at which runs that were sent are measured automatically."""
    lessons: tuple[Learned, ...] = ()
    unconnected: tuple[str, ...] = ()
    """Sources of numbers that this server has and this workspace has not connected."""
    labels: dict[str, str] = {}
    """The names of connectors and channels for people, by id."""

    def label(self, name: str) -> str:
        return self.labels.get(name, name)


class Finding(WireRecord, kw_only=True):
    """A problem: the numbers that show it, their source and time, and a suggestion."""

    rule: str
    weight: Weight
    problem: str
    numbers: dict[str, float]
    source: str
    read_at: str
    channel: str | None
    run_id: str | None
    try_next: str
    call: SuggestedCall


class DiagnosisRule(Record):
    """A rule: its name, the weight of its findings, and the function that finds them."""

    id: str
    weight: Weight
    look: Callable[[DiagnosisRule, DiagnosisFacts], Iterable[Finding]]


def make_finding(
    rule: DiagnosisRule,
    facts: DiagnosisFacts,
    of: Observation | ActionFacts,
    numbers: dict[str, float],
    problem: str,
    try_next: str,
    call: SuggestedCall,
) -> Finding:
    """Return a finding about a reading, or about a decision or delivery of this server."""
    return Finding(
        rule=rule.id,
        weight=rule.weight,
        problem=problem,
        numbers=numbers,
        source=of.source if isinstance(of, Observation) else OWN_RECORD,
        read_at=iso_time(of.at_ms if isinstance(of, Observation) else facts.now_ms),
        channel=of.channel,
        run_id=of.run_id,
        try_next=try_next,
        call=call,
    )


class Missing(WireRecord, kw_only=True):
    """Missing numbers, why they are missing, and what would provide them."""

    what: str
    how: str
    call: SuggestedCall


class Diagnosis(WireRecord, kw_only=True):
    """The findings. `has_data` is about an audience's numbers, not the server's record."""

    has_data: bool
    window_days: int
    findings: tuple[Finding, ...]
    missing_data: tuple[Missing, ...]
    observations: tuple[Observation, ...]
    lessons: tuple[Learned, ...]


WEIGHTS: Final[tuple[Weight, ...]] = ("high", "medium", "low")


def order(findings: Iterable[Finding], goal: str) -> tuple[Finding, ...]:
    """Sort findings by weight; within a weight, those about the goal first."""
    words = set(re.findall(r"\w+", goal.lower()))

    def rank(finding: Finding) -> tuple[int, int]:
        names = {name.lower() for name in (*finding.numbers, finding.channel or "")}
        return WEIGHTS.index(finding.weight), 0 if names & words else 1

    return tuple(sorted(findings, key=rank))


def as_text(found: Diagnosis) -> str:
    parts = [_opening(found)]
    parts += [
        f"{number}. {each.problem} ({each.source}, read {each.read_at[:10]})\n   Try: {each.try_next}"
        for number, each in enumerate(found.findings, start=1)
    ]
    if found.lessons:
        learned = (f"- {each.body} ({each.source}, {each.at[:10]})" for each in found.lessons)
        parts.append("\n".join(["What was learned before:", *learned]))
    if found.missing_data:
        known = "What would bring more numbers:" if found.has_data else "What would bring numbers:"
        parts.append("\n".join([known, *(f"- {each.what} {each.how}" for each in found.missing_data)]))
    return "\n\n".join(parts)


def summarise(found: Diagnosis) -> str:
    """Summarise the diagnosis: the state, and the heaviest finding."""
    first = found.findings[:1]
    return " ".join([_opening(found), *(f"{each.problem} Try: {each.try_next}" for each in first)])


def _opening(found: Diagnosis) -> str:
    days, count = found.window_days, len(found.findings)
    things = "one thing is" if count == 1 else f"{count} things are"
    if found.has_data and count:
        return f"From the numbers and decisions of the last {days} days, {things} worth changing."
    if found.has_data:
        read = len(found.observations)
        return f"{read} reading(s) of the last {days} days were looked at, and none shows anything wrong."
    blind = f"There are no numbers from the last {days} days, so I cannot say what your audience does or does not do."
    return f"{blind} From what was decided and sent here, {things} worth changing." if count else blind


def date_of(ms: int) -> str:
    return iso_time(ms)[:10]
