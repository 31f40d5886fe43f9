"""Runs: the list, searched in content and by days; and one run: its pipeline, its timeline, its drafts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

from starlette.responses import Response

from assent.engine.actions import hooks, indexing
from assent.engine.actions.hooks import RunResult
from assent.engine.actions.search import split_words
from assent.engine.audit.views import AuditCursor
from assent.engine.core import tenancy
from assent.engine.views import names, run_views
from assent.engine.views.names import FirstAction
from assent.engine.views.run_views import ActionCount, ActionPlace, RunDetail, RunLine, RunPage
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Asset, ExecutionState, Freeze, Status, find_stop
from assent.gate.transitions import AWAITING, State, state_of
from assent.kernel.ids import RunId, is_uuid
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.ports import Transaction
from assent.present.next_steps import Circumstances
from assent.present.refusals import describe_freeze
from assent.present.status_report import Section, explain, find_section
from assent.serving.web.audit.lines import audit_lines, fold_lines
from assent.serving.web.review.naming import STATES, status_badge, web_address
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.lists import (
    MOST_PER_DAY,
    day_bounds,
    draw_days,
    preset_links,
    read_range,
    whole_number,
    with_query,
)
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.serving.web.shell.rendering import Badge
from assent.serving.web.shell.times import When, when
from assent.workflow.machine.history import cut

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


RUNS: Final = 50
ACTIONS: Final = 50
EVENTS: Final = 40
MATCHES: Final = 2
"""Actions that the row of a found run shows."""
ASSET_BYTES: Final = 4_000
EXPLAINED: Final = (Section.UNKNOWN, Section.FAILED, Section.REJECTED, Section.EXPIRED)
"""Sections whose actions say why they did not go out."""


async def runs(visit: Visit) -> Response:
    effects = visit.services.effects
    search, operator = visit.query("q").strip()[:200], visit.query("operator")
    tenant = visit.query("tenant").strip()[:64]
    state = visit.choice("state", dict(FILTERS))
    days, before = read_range(visit.query, visit.now_ms), visit.cursor()

    def look() -> Transaction[tuple[RunPage, list[int], list[tenancy.Tenant]]]:
        found = yield from run_views.runs(
            visit.workspace_id,
            effects,
            operator=operator,
            state=state,
            text=search,
            tenant=tenant,
            period=days.period(),
            before=before,
            most=RUNS,
            now_ms=visit.now_ms,
        )
        counts = yield from run_views.count_days(
            visit.workspace_id, day_bounds(days.shown_days()), MOST_PER_DAY
        )
        return found, counts, (yield from tenancy.list_tenants(visit.workspace_id))

    if search:
        await indexing.catch_up(visit.services.store, (visit.workspace_id,))
    found, counts, tenants = await visit.read(look)
    kept = {"q": search, "operator": operator, "state": state, "tenant": tenant}
    asked = {**kept, **days.query}
    values = {
        "runs": [run_row(visit, line, found.firsts.get(line.run_id, ()), search) for line in found.runs],
        "older": with_query("/runs", {**asked, "before": found.older}) if found.older else None,
        "older_label": "Older" if found.reached else "Search further back",
        "newest": with_query("/runs", asked) if before else None,
        "is_filtered": any(asked.values()),
        "reached": found.reached,
        "search": search,
        "operator": operator,
        "tenant": tenant,
        "tenants": tenants,
        "operators": sorted(effects.operators.items(), key=lambda each: each[1]),
        "states": [
            {"label": label, "href": with_query("/runs", {**asked, "state": id}), "chosen": id == state}
            for id, label in (("", "All"), *FILTERS)
        ],
        "state": state,
        "days": draw_days(days, counts, "/runs", kept),
        "presets": preset_links(days, "/runs", kept),
        "dates": days.query,
        "period": days.describe(),
    }
    return visit.page("runs.html", values)


def run_row(visit: Visit, line: RunLine, firsts: tuple[FirstAction, ...], search: str) -> dict[str, Any]:
    effects, words = visit.services.effects, split_words(search)
    operator = effects.name_operator(line.operator)
    title = names.name_run(line.inputs, firsts) or operator
    first = firsts[0].name.title if firsts else ""
    return {
        "href": f"/runs/{line.run_id}/story",
        "title": title,
        # Runs with one goal differ by what they prepared.
        "first": first if first not in title else "",
        "operator": operator,
        "drafts": sum(each.actions for each in line.standings),
        "tenant": line.tenant_id,
        "at": visit.when(line.created_ms),
        "channels": list(dict.fromkeys(each.channel for each in firsts if each.channel)),
        "badges": standing_badges(line.standings),
        "status": RUN_STATUSES.get(line.status, NOTHING),
        "result": line.result.summary if line.result is not None else "",
        "has_parent": line.parent_run_id is not None,
        "matches": [
            {
                "title": each.name.title,
                "kind": each.name.kind,
                "href": f"/runs/{line.run_id}#action-{each.name.action_id}",
                "badge": STATES[State(Status(each.status), ExecutionState(each.execution_state))],
            }
            for each in firsts
            if words and all(word in f"{each.name.title} {each.effect}".lower() for word in words)
        ][:MATCHES],
    }


def action_row(action: Action, frozen: tuple[Freeze, ...], now_ms: int) -> dict[str, Any]:
    around = Circumstances(frozen=describe_freeze(find_stop(frozen, action), action))
    return {
        "href": f"/runs/{action.run_id}#action-{action.action_id}",
        "title": names.name_view(action.view),
        "kind": action.view.noun,
        "why": explain(action, around, now_ms) if find_section(action, now_ms) in EXPLAINED else "",
        "badge": status_badge(action, now_ms),
        "external_url": web_address(action.external_url),
        "at": when(action.executed_ms or action.created_ms, now_ms),
    }


def asset_row(effects: EffectTypes, asset: Asset) -> dict[str, Any]:
    return {
        "title": asset.title or asset.type.replace("_", " ").capitalize(),
        "type": asset.type.replace("_", " "),
        "channel": effects.page_label(asset.channel) if asset.channel else "",
        "body": cut(asset.body, ASSET_BYTES),
    }


async def story(visit: Visit) -> Response:
    """`/runs/{run_id}/story`: a run's history beside its drafts."""
    run_id, effects = visit.part("run_id"), visit.services.effects
    state = visit.choice("state", dict(FILTERS))
    after = _after(visit.query("after"))
    before = AuditCursor(seq=whole_number(visit.query("events"), 15) or 0)

    def look() -> Transaction[RunDetail]:
        found = None
        if is_uuid(run_id):
            found = yield from run_views.run(
                visit.workspace_id,
                RunId(run_id),
                effects,
                state=state,
                after=after,
                before=before,
                most_actions=ACTIONS,
                most_events=EVENTS,
                now_ms=visit.now_ms,
            )
        if found is None:
            raise PageRefused(NO_SUCH_RUN)
        return found

    found = await visit.read(look)
    here = f"/runs/{run_id}/story"
    kept = {"state": state, "events": str(before.seq or "")}
    place, older, result = found.after, found.older, found.result
    further = f"{place.position}:{place.action_id}" if place is not None else ""
    operator = effects.name_operator(found.run.operator)
    values = {
        "run": found.run,
        "title": names.name_run(found.run.inputs, found.firsts) or operator,
        "operator": operator,
        "stages": draw_pipeline(found, visit.now_ms),
        "result": result.summary if result is not None else "",
        "total": sum(each.actions for each in found.standings),
        "badges": standing_badges(found.standings),
        "status": RUN_STATUSES.get(found.status, NOTHING),
        "actions": [action_row(action, visit.frozen, visit.now_ms) for action in found.actions],
        "more_actions": with_query(here, {**kept, "after": further}) + "#actions" if further else None,
        "first_actions": with_query(here, kept) + "#actions" if after.position >= 0 else None,
        "filters": [(name, label) for name, label in FILTERS if _has(found, name)],
        "state": state,
        "waits": any(state_of(action) in WAITING for action in found.actions)
        or _has(found, "awaiting_approval"),
        "assets": [asset_row(effects, asset) for asset in found.assets],
        "more_assets": found.more_assets,
        "children": [(child, effects.name_operator(child.operator)) for child in found.children],
        "events": fold_lines(audit_lines(effects, found.history, found.names, visit.now_ms)),
        "older_events": with_query(here, {**kept, "events": str(older.seq)}) + "#history" if older else None,
        "newest_events": with_query(here, {"state": state}) + "#history" if before.seq else None,
        "advice": result.advice if result is not None else None,
        "is_workflow": found.is_workflow,
        "inputs": [(name, to_text(value)) for name, value in sorted(found.run.inputs.items())],
    }
    return visit.page("run.html", values)


WAITING: Final = frozenset(
    state
    for state in STATES
    if state.status is Status.AWAITING_APPROVAL or state.execution == "outcome_unknown"
)


def _has(found: RunDetail, name: str) -> bool:
    return any(name in (each.status, each.execution_state) for each in found.standings)


def _after(text: str) -> ActionPlace:
    given, _, action_id = text.partition(":")
    position = whole_number(given)
    return ActionPlace(position, action_id) if position is not None and is_uuid(action_id) else ActionPlace()


SCREENS: Final = (
    Screen("/runs", runs, "runs"),
    Screen("/runs/{run_id}/story", story, "runs"),
)


# The pipeline of a run, prepare, approve, send, measure: what is done, since when, and what it waits for. Pure.

Progress = Literal["done", "now", "failed", "ask", "later"]


class Stage(Record):
    name: str
    progress: Progress
    text: str
    at: When | None = None


def draw_pipeline(found: RunDetail, now_ms: int) -> tuple[Stage, ...]:
    """The stages of a run: the last one where results are read. A run that stages nothing has one."""
    total = sum(each.actions for each in found.standings)
    drafts = f"{total:,} {'draft' if total == 1 else 'drafts'}" if total else "Nothing to send"
    prepared = Stage("Prepared", "done", drafts, when(found.run.created_ms, now_ms))
    if not total:
        return (prepared,)
    approved_ms = [each.approval.at_ms for each in found.actions if each.approval is not None]
    sent_ms = [each.executed_ms for each in found.actions if each.executed_ms is not None]
    return (
        prepared,
        _draw_approval(found.standings, total, _latest(approved_ms, now_ms)),
        _draw_sending(found.standings, _latest(sent_ms, now_ms)),
        *((_draw_result(found.result, now_ms),) if hooks.gives_results() else ()),
    )


def _latest(times: Iterable[int], now_ms: int) -> When | None:
    return when(max(times, default=None), now_ms)


def _count(standings: Iterable[ActionCount], *names: str) -> int:
    return sum(each.actions for each in standings if {each.status, each.execution_state} & set(names))


def _draw_approval(standings: tuple[ActionCount, ...], total: int, at: When | None) -> Stage:
    waiting, rejected = _count(standings, Status.AWAITING_APPROVAL), _count(standings, Status.REJECTED)
    decided = total - waiting
    if waiting:
        return Stage("Approve", "now", f"{decided:,} of {total:,} decided", at)
    if rejected == total:
        return Stage("Approve", "failed", "Rejected", at)
    text = f"{total - rejected:,} approved" + (f", {rejected:,} rejected" if rejected else "")
    return Stage("Approved", "done", text, at)


def _draw_sending(standings: tuple[ActionCount, ...], at: When | None) -> Stage:
    sent, failed = _count(standings, Status.EXECUTED), _count(standings, Status.FAILED)
    unknown = _count(standings, ExecutionState.OUTCOME_UNKNOWN)
    ready = _count(standings, Status.APPROVED) - unknown
    parts = ((sent, "sent"), (failed, "failed"), (unknown, "unknown"), (ready, "to go"))
    text = ", ".join(f"{count:,} {word}" for count, word in parts if count)
    if unknown:
        return Stage("Send", "ask", text, at)
    if failed:
        return Stage("Send", "failed", text, at)
    if ready:
        return Stage("Send", "now", text, at)
    return Stage("Sent", "done", text, at) if sent else Stage("Send", "later", "Nothing yet", at)


def _draw_result(result: RunResult | None, now_ms: int) -> Stage:
    if result is None:
        return Stage("Measure", "later", "A day after it is sent")
    if result.read_ms is not None:
        return Stage("Measured", "done", "Numbers are in", when(result.read_ms, now_ms))
    due = result.due_ms <= now_ms
    return Stage("Measure", "now" if due else "later", "No numbers yet", when(result.due_ms, now_ms))
