"""The operations page: how long things wait, how people decide, what fails, and which rules would ask
less. It changes nothing: a suggestion leads to the page on which a person changes the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from starlette.responses import Response

from assent.engine.views import names, operations
from assent.engine.views.names import ShownNames
from assent.engine.views.operations import Operations, RecordedDecision
from assent.gate.records import Action
from assent.gate.standing import plain_detail
from assent.kernel.limits import DAY_MS, SECOND_MS
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.serving.web.operations import words
from assent.serving.web.review.history import capital
from assent.serving.web.shell.charts import draw_rows, median
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.lists import with_query

# The figures of the operations page, from recorded decisions. Pure.

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


SHOWN: Final = 6
"""Rows of a list on the page."""


class OperationsPage(Record):
    """What the page shows: the operations, examples of suggestions, names of hasty approvals."""

    read: Operations
    repeated: list[Repeated]
    examples: dict[str, Action]
    names: ShownNames


async def show(visit: Visit) -> Response:
    period = visit.choice("period", dict(words.PERIODS)) or words.DEFAULT_PERIOD
    since_ms = visit.now_ms - int(period) * DAY_MS

    def look() -> Transaction[OperationsPage]:
        read = yield from operations.read_operations(visit.workspace_id, since_ms, visit.now_ms)
        repeated = list_repeated(read.decisions)
        examples = yield from operations.read_examples(
            visit.workspace_id, [each.example for each in repeated]
        )
        hasty = [one.action_id for one in list_hasty(read.decisions)[:SHOWN]]
        return OperationsPage(
            read, repeated, examples, (yield from names.read_names(visit.workspace_id, hasty, ()))
        )

    found = await visit.read(look)
    read, effects = found.read, visit.services.effects
    decided = [one for one in read.decisions if not one.is_step]
    middle = find_median(decided)
    hasty = list_hasty(decided)
    ages = draw_rows([float(count) for count in read.ages])
    values: dict[str, Any] = {
        "periods": [
            (label, with_query("/operations", {"period": id}), id == period) for id, label in words.PERIODS
        ],
        "waits": sum(read.ages),
        "waits_most": any(count >= operations.MOST_WAITING for count in read.ages),
        "ages": [
            {"name": name, "count": count, "length": length}
            for name, count, length in zip(words.AGES, read.ages, ages, strict=True)
        ],
        "decided": len(decided),
        "is_cut": len(read.decisions) >= operations.MOST_DECISIONS,
        "median": words.write_span(middle) if middle is not None else "",
        "by_channel": _rows(list_waits(decided, lambda one: effects.page_label(one.channel))),
        "by_person": _rows(list_waits(decided, lambda one: one.by)),
        "agents": [
            {
                "name": capital(words.name_agent(each.proposed_by, read.labels)),
                "record": each,
                "share": round(each.share),
            }
            for each in list_agents(decided)[: 2 * SHOWN]
        ],
        "hasty": [
            {
                "title": name.title if (name := found.names.actions.get(one.action_id)) else one.action_id,
                "by": one.by,
                "at": visit.when(one.at_ms),
                "span": words.write_span(one.looked_ms or 0),
                "href": f"/runs/{one.run_id}#action-{one.action_id}",
            }
            for one in hasty[:SHOWN]
        ],
        "hasty_count": len(hasty),
        "failures": _failures(visit, read.failed),
        "failed": len(read.failed),
        "unknown": [_row(visit, action) for action in read.unknown],
        "suggestions": [
            _suggest(visit, found, each) for each in found.repeated if each.example in found.examples
        ],
    }
    return visit.page("operations.html", values)


def _rows(waits: Sequence[Wait]) -> list[dict[str, Any]]:
    lengths = draw_rows([wait.median_ms for wait in waits[:SHOWN]])
    return [
        {"name": wait.name, "span": words.write_span(wait.median_ms), "count": wait.decided, "length": length}
        for wait, length in zip(waits[:SHOWN], lengths, strict=True)
    ]


def _row(visit: Visit, action: Action) -> dict[str, Any]:
    return {
        "title": names.name_view(action.view),
        "href": f"/runs/{action.run_id}#action-{action.action_id}",
        "at": visit.when(action.created_ms),
        "channel": action.view.label,
    }


def _failures(visit: Visit, failed: Sequence[Action]) -> list[dict[str, Any]]:
    """Failures by connector, the most first, each with its latest reason."""
    found: dict[str, list[Action]] = {}
    for action in failed:
        found.setdefault(action.effect.connector, []).append(action)
    ordered = sorted(found.items(), key=lambda each: -len(each[1]))
    lengths = draw_rows([float(len(each)) for _, each in ordered])
    effects = visit.services.effects
    return [
        {
            "name": effects.connector(connector).label,
            "count": len(each),
            "length": length,
            "why": plain_detail(str(each[0].metadata.get("lastAttempt", ""))),
            **_row(visit, each[0]),
        }
        for (connector, each), length in zip(ordered, lengths, strict=True)
    ]


def _suggest(visit: Visit, found: OperationsPage, each: Repeated) -> dict[str, Any]:
    agent = words.name_agent(each.proposed_by, found.read.labels)
    needed = found.read.policy.require(found.examples[each.example])
    advice, button, href = words.advise(needed)
    return {
        "what": words.describe_repeated(each, visit.services.effects.page_label(each.channel), agent),
        "advice": advice,
        "button": button,
        "href": href,
    }


SCREENS: Final = (Screen("/operations", show, "operations"),)
