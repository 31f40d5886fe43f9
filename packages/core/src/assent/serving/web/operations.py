"""The operations page: how long things wait, how people decide, what fails, and which rules would ask
less. It changes nothing: a suggestion leads to the page on which a person changes the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, Final, TypeVar

from starlette.responses import Response

from assent.engine.views import names, operations
from assent.engine.views.names import ShownNames
from assent.engine.views.operations import Operations, RecordedDecision
from assent.gate.policy import RANK, Requirement
from assent.gate.records import Action, Assurance
from assent.kernel.limits import DAY_MS, SECOND_MS
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.rule_text import describe_need
from assent.present.status_report import plain_detail
from assent.serving.web.review.history import capital
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.lists import with_query
from assent.serving.web.shell.times import short_span

AGES: Final = ("Under 1 hour", "1 to 4 hours", "4 to 24 hours", "1 to 3 days", "3 to 7 days", "Over 7 days")
"""The names of the ages, the youngest first."""
RISKS: Final = ("High-risk", "Medium-risk", "Low-risk")
PERIODS: Final = (("7", "7 days"), ("28", "28 days"), ("91", "3 months"))
"""The periods by their name in the address."""


def name_agent(proposed_by: str, labels: dict[str, str]) -> str:
    """Name the agent that proposed something, by the label of its key."""
    if proposed_by in labels:
        return labels[proposed_by]
    if proposed_by.startswith("key:"):
        return f"Key {proposed_by.removeprefix('key:')[:8]}"
    return {"local": "your agent on this computer", "": "an agent"}.get(proposed_by, proposed_by)


def describe_repeated(found: Repeated, channel: str, agent: str) -> str:
    """`Low-risk LinkedIn posts by Claude were approved unchanged 41 of 41 times.`"""
    place = channel[0].lower() + channel[1:] if channel.startswith("Your ") else channel
    kind = f"{RISKS[found.risk]} actions on {place} by {agent}"
    return f"{kind} were approved unchanged {found.approved} of {found.approved} times."


def advise(needed: Requirement) -> tuple[str, str, str]:
    """What would ask less, given what the policy asks now: the advice, a button and where it leads."""
    asked = describe_need(needed)
    if needed.rules:
        named = ", ".join(f"“{name}”" for name in needed.rules)
        return f"Your rule {named} asks for {asked}. It could ask for less here.", "Open the policy", POLICY
    if RANK[needed.assurance] > RANK[Assurance.AGENT] or needed.approvers > 1:
        return (
            (
                f"Your policy asks for {asked}. With “Your agent passes on your "
                "yes” you could answer these in the chat."
            ),
            "Open the policy",
            POLICY,
        )
    return (
        "Your agent may already pass on your yes. Decide them together: select the whole group in the inbox.",
        "Open the inbox",
        "/inbox",
    )


POLICY: Final = "/settings/policy"


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
        Wait(name, len(each), median(one.waited_ms for one in each))
        for name, each in _group(decisions, key).items()
    ]
    return sorted(found, key=lambda wait: (-wait.median_ms, wait.name))


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
    period = visit.choice("period", dict(PERIODS)) or "28"
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
    hasty = list_hasty(decided)
    ages = draw_rows([float(count) for count in read.ages])
    values: dict[str, Any] = {
        "periods": [
            (label, with_query("/operations", {"period": id}), id == period) for id, label in PERIODS
        ],
        "waits": sum(read.ages),
        "waits_most": any(count >= operations.MOST_WAITING for count in read.ages),
        "ages": [
            {"name": name, "count": count, "length": length}
            for name, count, length in zip(AGES, read.ages, ages, strict=True)
        ],
        "decided": len(decided),
        "is_cut": len(read.decisions) >= operations.MOST_DECISIONS,
        "median": short_span(round(median(one.waited_ms for one in decided))) if decided else "",
        "by_channel": _rows(list_waits(decided, lambda one: effects.page_label(one.channel))),
        "by_person": _rows(list_waits(decided, lambda one: one.by)),
        "agents": [
            {
                "name": capital(name_agent(each.proposed_by, read.labels)),
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
                "span": short_span(one.looked_ms or 0),
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


def draw_rows(values: Sequence[float]) -> tuple[float, ...]:
    """The length of each value in percent of the longest. All values are of one metric."""
    most = max((*values, 0.0))
    return tuple(round(100 * max(0.0, value) / most, 1) if most > 0 else 0.0 for value in values)


def _rows(waits: Sequence[Wait]) -> list[dict[str, Any]]:
    lengths = draw_rows([wait.median_ms for wait in waits[:SHOWN]])
    return [
        {
            "name": wait.name,
            "span": short_span(round(wait.median_ms)),
            "count": wait.decided,
            "length": length,
        }
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
    agent = name_agent(each.proposed_by, found.read.labels)
    needed = found.read.policy.require(found.examples[each.example])
    advice, button, href = advise(needed)
    return {
        "what": describe_repeated(each, visit.services.effects.page_label(each.channel), agent),
        "advice": advice,
        "button": button,
        "href": href,
    }


SCREENS: Final = (Screen("/operations", show, "operations"),)
