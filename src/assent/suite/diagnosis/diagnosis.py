"""What is known about running campaigns, what is wrong with them, and what to try: values, order and words.

A finding rests on numbers and names their source and time; where there is no number
there is no finding, and what would bring one is said instead (E100). The rules are `assent.suite.diagnosis.rules`.

Pure. Deliberately unaware of where facts come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

import msgspec

from assent.gate.calls import SuggestedCall
from assent.kernel.times import iso_time

Weight = Literal["high", "medium", "low"]

WINDOW_DAYS: Final = 90
"""How far back is looked: what went out before that says little about what to do now."""

OWN_RECORD: Final = "this server's record of actions"
"""The source of what was decided, sent, refused or lost here."""


class Observation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Numbers of one channel of one run, as one source gave them at one time."""

    channel: str
    source: str
    at_ms: int
    run_id: str
    metrics: dict[str, float]


class Silence(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A source that had no numbers, and why. Never a zero."""

    channel: str
    source: str
    reason: str


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """One action of the window, as far as it matters here."""

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


class Learned(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that was written down, by whom and when."""

    entry_id: str
    body: str
    source: str
    at: str


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a diagnosis may rest on: observations and deeds are newest first."""

    now_ms: int
    goal: str = ""
    observations: tuple[Observation, ...] = ()
    silences: tuple[Silence, ...] = ()
    deeds: tuple[Deed, ...] = ()
    due_ms: tuple[int, ...] = ()
    """When runs that went out are measured by themselves."""
    lessons: tuple[Learned, ...] = ()
    """What was written down as learned, newest first."""
    unconnected: tuple[str, ...] = ()
    """Sources of numbers that this server has and this workspace has not connected."""
    labels: dict[str, str] = {}
    """The names of connectors and channels for people, by id."""

    def label(self, name: str) -> str:
        return self.labels.get(name, name)


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that is wrong: which numbers say so, who gave them and when, and what to try."""

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


class DiagnosisRule(msgspec.Struct, frozen=True):
    """One row of the table: what it is called, how heavy what it finds is, and how it looks."""

    id: str
    weight: Weight
    look: Callable[[DiagnosisRule, Facts], Iterable[Finding]]


class Missing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Numbers that are not there, why not, and what would bring them."""

    what: str
    how: str
    call: SuggestedCall


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was found. `has_data` is about numbers from an audience: our own record of actions is always there."""

    has_data: bool
    window_days: int
    findings: tuple[Finding, ...]
    missing_data: tuple[Missing, ...]
    observations: tuple[Observation, ...]
    lessons: tuple[Learned, ...]


WEIGHTS: Final[tuple[Weight, ...]] = ("high", "medium", "low")


def order(findings: Iterable[Finding], goal: str) -> tuple[Finding, ...]:
    """The heaviest first; within a weight, what the goal speaks of."""
    words = set(re.findall(r"\w+", goal.lower()))

    def rank(finding: Finding) -> tuple[int, int]:
        names = {name.lower() for name in (*finding.numbers, finding.channel or "")}
        return WEIGHTS.index(finding.weight), 0 if names & words else 1

    return tuple(sorted(findings, key=rank))


def as_text(found: Diagnosis) -> str:
    """The diagnosis for a human to read."""
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
    """The diagnosis in a short paragraph: the state, and the heaviest finding."""
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
    """The day of a moment, for a sentence."""
    return iso_time(ms)[:10]
