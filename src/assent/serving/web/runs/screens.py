"""Runs: the list with each run's status, and one run with its history beside its actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from starlette.responses import Response

from assent.engine.audit.views import AuditCursor
from assent.engine.learning.measured import decode, refresh_asset
from assent.engine.views import run_views
from assent.engine.views.run_views import ActionCount, ActionPlace, RunDetail
from assent.engine.views.session_views import like
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Asset, ExecutionState, Status
from assent.gate.standing import describe_run
from assent.gate.transitions import AWAITING, State, state_of
from assent.kernel.ids import RunId, is_uuid
from assent.kernel.texts import to_text
from assent.ports import Transaction
from assent.serving.web.audit.words import audit_lines
from assent.serving.web.review.words import (
    STATES,
    Badge,
    status_badge,
    web_address,
)
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.lists import whole_number, with_query
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.serving.web.shell.times import when
from assent.workflow.machine.history import cut

RUNS: Final = 50
ACTIONS: Final = 50
EVENTS: Final = 40

NO_SUCH_RUN: Final = PageProblem(
    404,
    "There is no such run",
    "It is not in the workspace you look at, or it never was.",
    "Look for the run in the list of all runs.",
    Link("/runs", "All runs"),
)

FILTERS: Final = (
    ("awaiting_approval", "Waits for approval"),
    ("outcome_unknown", "Outcome unknown"),
    ("approved", "Approved"),
    ("executed", "Done"),
    ("retryable", "To be tried again"),
    ("rejected", "Rejected"),
    ("failed", "Failed"),
)
"""The states of a run's actions, for the filter."""

RUN_STATUSES: Final = {
    "running": "In progress",
    "complete": "Complete",
    "awaiting_approval": "Waits for approval",
    "approved": "Approved, not sent",
    "executing": "Being sent",
    "outcome_unknown": "Outcome unknown",
    "partly_sent": "Partly sent",
    "executed": "Sent",
    "measured": "Sent and measured",
    "rejected": "Rejected",
    "failed": "Failed",
    "expired": "Expired",
}

ASSET_BYTES: Final = 4_000


def name_operator(effects: EffectTypes, operator: str) -> str:
    return effects.operators.get(operator) or (
        operator.removeprefix("chieflab-").replace("-", " ").capitalize()
    )


def standing_badges(standings: Iterable[ActionCount]) -> tuple[Badge, ...]:
    """`2 Done`, `1 Waits for approval`: in the order in which actions live."""
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


async def runs(visit: Visit) -> Response:
    effects = visit.services.effects
    search, operator = visit.query("q")[:200], visit.query("operator")
    state = visit.choice("state", dict(FILTERS))
    before = visit.cursor()
    found = await visit.read(
        lambda: run_views.runs(
            visit.workspace_id,
            operator=operator,
            state=state,
            search=search,
            before=before,
            most=RUNS,
            now_ms=visit.now_ms,
        )
    )
    asked = {"q": search, "operator": operator, "state": state}
    values = {
        "runs": [
            {
                "href": f"/runs/{line.run_id}/story",
                "goal": describe_run(line.inputs),
                "operator": name_operator(effects, line.operator),
                "tenant": line.tenant_id,
                "at": visit.when(line.created_ms),
                "badges": standing_badges(line.standings),
                "status": RUN_STATUSES.get(line.status, ""),
                "has_parent": line.parent_run_id is not None,
            }
            for line in found.runs
        ],
        "older": with_query("/runs", {**asked, "before": found.older}) if found.older else None,
        "newest": with_query("/runs", asked) if before else None,
        "is_filtered": bool(like(search) or operator or state),
        "search": search,
        "operator": operator,
        "state": state,
        "operators": sorted(effects.operators.items(), key=lambda each: each[1]),
        "filters": FILTERS,
    }
    return visit.page("runs.html", values)


def action_row(action: Action, now_ms: int) -> dict[str, Any]:
    return {
        "href": f"/runs/{action.run_id}#action-{action.action_id}",
        "title": action.view.heading,
        "summary": action.view.summary,
        "badge": status_badge(action, now_ms),
        "external_url": web_address(action.external_url),
        "at": when(action.executed_ms or action.created_ms, now_ms),
        "position": action.position,
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
    place, older, planned = found.after, found.history.older, found.measurement
    further = f"{place.position}:{place.action_id}" if place is not None else ""
    values = {
        "run": found.run,
        "goal": describe_run(found.run.inputs),
        "operator": name_operator(effects, found.run.operator),
        "started": visit.when(found.run.created_ms),
        "total": sum(each.actions for each in found.standings),
        "badges": standing_badges(found.standings),
        "status": RUN_STATUSES.get(found.status, ""),
        "actions": [action_row(action, visit.now_ms) for action in found.actions],
        "more_actions": with_query(here, {**kept, "after": further}) + "#actions" if further else None,
        "first_actions": with_query(here, kept) + "#actions" if after.position >= 0 else None,
        "filters": [(name, label) for name, label in FILTERS if _has(found, name)],
        "state": state,
        "waits": any(state_of(action) in WAITING for action in found.actions)
        or _has(found, "awaiting_approval"),
        "assets": [asset_row(effects, refresh_asset(asset, effects)) for asset in found.assets],
        "more_assets": found.more_assets,
        "children": [(child, name_operator(effects, child.operator)) for child in found.children],
        "events": audit_lines(effects, found.history.events, visit.now_ms),
        "titles": {action.action_id: action.view.heading for action in found.actions},
        "older_events": with_query(here, {**kept, "events": str(older.seq)}) + "#history" if older else None,
        "newest_events": with_query(here, {"state": state}) + "#history" if before.seq else None,
        "next_move": decode(planned.body, visit.services.effects).next_move
        if planned is not None and planned.body is not None
        else None,
        "due": visit.when(planned.due_ms) if planned is not None else None,
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
