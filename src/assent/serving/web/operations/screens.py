"""The operations page: how long things wait, how people decide, what fails, and which rules would ask
less. It changes nothing: a suggestion leads to the page on which a person changes the policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from assent.engine.views import names, operations
from assent.engine.views.names import ShownNames
from assent.engine.views.operations import Operations
from assent.gate.records import Action
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present.status_report import plain_detail
from assent.serving.web.operations import figures, words
from assent.serving.web.operations.figures import Repeated, Wait
from assent.serving.web.review.history import capital
from assent.serving.web.shell.charts import draw_rows
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.lists import with_query

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
        repeated = figures.list_repeated(read.decisions)
        examples = yield from operations.read_examples(
            visit.workspace_id, [each.example for each in repeated]
        )
        hasty = [one.action_id for one in figures.list_hasty(read.decisions)[:SHOWN]]
        return OperationsPage(
            read, repeated, examples, (yield from names.read_names(visit.workspace_id, hasty, ()))
        )

    found = await visit.read(look)
    read, effects = found.read, visit.services.effects
    decided = [one for one in read.decisions if not one.is_step]
    middle = figures.find_median(decided)
    hasty = figures.list_hasty(decided)
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
        "by_channel": _rows(figures.list_waits(decided, lambda one: effects.page_label(one.channel))),
        "by_person": _rows(figures.list_waits(decided, lambda one: one.by)),
        "agents": [
            {
                "name": capital(words.name_agent(each.proposed_by, read.labels)),
                "record": each,
                "share": round(each.share),
            }
            for each in figures.list_agents(decided)[: 2 * SHOWN]
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
