"""Read model of runs: the list with the state of their actions, and one run.

Every statement includes the workspace: a foreign run and an unknown one both give no rows (C1). The
caller checks access.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, hooks, search
from assent.engine.actions.hooks import RunResult
from assent.engine.audit import views as audit_views
from assent.engine.audit.views import AuditCursor, RecordedEvent
from assent.engine.views import names
from assent.engine.views.names import FirstAction, ShownNames
from assent.gate.effects import EffectTypes
from assent.gate.records import Action, Asset, ExecutionState, Run, Status
from assent.kernel.ids import RunId, WorkspaceId, first_uuid7
from assent.kernel.structs import Record, from_row
from assent.ports import Rows, Transaction
from assent.present.status_report import EXPIRED, may_expire, run_status
from assent.sql.loader import statements

ASSETS_SHOWN: Final = 30
CHILDREN_SHOWN: Final = 20
SEARCHED: Final = 1_000
"""How many runs a filter reads at once."""
LAST_ID: Final = "z"
"""Later than any id."""
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


class ActionCount(Record):
    status: str
    execution_state: str
    actions: int
    overdue: int = 0
    """How many of them are past their expiry, in any state."""


class RunLine(Record, kw_only=True):
    run_id: RunId
    tenant_id: str | None
    operator: str
    tool: str
    inputs: dict[str, Any]
    parent_run_id: str | None
    created_ms: int
    standings: tuple[ActionCount, ...]
    status: str
    result: RunResult | None


class RunPage(Record):
    runs: tuple[RunLine, ...]
    older: str | None
    firsts: dict[str, tuple[FirstAction, ...]]
    """The first actions of each run."""
    reached: bool = True
    """Whether all runs of the period were looked at; else the search continues at `older`."""


class Period(Record):
    """A time from its first millisecond to the one after its last."""

    since_ms: int = 0
    until_ms: int | None = None


EVER: Final = Period()


class ChildRun(Record):
    run_id: str
    operator: str
    created_ms: int


class ActionPlace(Record):
    """The last action of a page; the next page begins after it."""

    position: int = -1
    action_id: str = ""


class RunDetail(Record, kw_only=True):
    """One run with a page of its actions and of its history."""

    run: Run
    status: str
    standings: tuple[ActionCount, ...]
    actions: tuple[Action, ...]
    after: ActionPlace | None
    assets: tuple[Asset, ...]
    more_assets: bool
    children: tuple[ChildRun, ...]
    history: tuple[RecordedEvent, ...]
    """The newest first."""
    older: AuditCursor | None
    names: ShownNames
    """Of the actions in the history."""
    firsts: tuple[FirstAction, ...]
    result: RunResult | None
    is_workflow: bool


def runs(
    workspace_id: WorkspaceId,
    effects: EffectTypes,
    *,
    operator: str = "",
    state: str = "",
    text: str = "",
    tenant: str = "",
    period: Period = EVER,
    before: str,
    most: int,
    now_ms: int,
) -> Transaction[RunPage]:
    """List the runs of a period, newest first; with a filter, those of one window that fit. Runs of
    memory and connecting stage nothing and are listed only if their operator is asked for."""
    ends = [before] if before else []
    ends += [first_uuid7(period.until_ms)] if period.until_ms is not None else []
    here = {"since": first_uuid7(period.since_ms), "before": min(ends, default=LAST_ID)}
    end: Rows = ()
    matches: frozenset[str] | None = None
    if text.strip():
        matches = frozenset(row["run_id"] for row in (yield from search.find((workspace_id,), text)))
    elif operator or state or tenant:
        end = yield statements.find_run_window(workspace_id=workspace_id, **here, last=SEARCHED - 1)
        here["since"] = end[0]["run_id"] if end else here["since"]
    rows = yield statements.list_run_page(
        workspace_id=workspace_id,
        operator=operator,
        state=state,
        tenant=tenant,
        **search.narrow(matches),
        **here,
        most=most + 1,
        now_ms=now_ms,
    )
    results = yield from hooks.read_results(
        workspace_id, dict.fromkeys(row["run_id"] for row in rows), effects
    )
    found = _lines(rows, results)
    firsts = yield from names.read_first_actions(
        workspace_id, [line.run_id for line in found[:most]], with_effect=bool(text.strip())
    )
    if len(found) > most:
        return RunPage(found[:most], found[most - 1].run_id, firsts)
    return RunPage(found, end[0]["run_id"] if end else None, firsts, reached=not end)


def count_days(
    workspace_id: WorkspaceId, days: Sequence[tuple[int, int]], most: int
) -> Transaction[list[int]]:
    """Count the runs of each day, up to a number. A day is its first millisecond and the one after its
    last."""
    bounds = [(first_uuid7(start), first_uuid7(end)) for start, end in days]
    rows = yield statements.count_run_days(
        workspace_id=workspace_id, days=msgspec.json.encode(bounds).decode(), most=most
    )
    return [row["counted"] for row in sorted(rows, key=lambda row: int(row["day"]))]


def _lines(rows: Rows, results: dict[str, RunResult]) -> tuple[RunLine, ...]:
    standings: dict[str, list[ActionCount]] = {}
    first: dict[str, Any] = {}
    for row in rows:
        first.setdefault(row["run_id"], row)
        counted = standings.setdefault(row["run_id"], [])
        if row["actions"]:
            counted.append(from_row(ActionCount, row, status=row["action_status"]))
    return tuple(
        from_row(
            RunLine,
            row,
            inputs=_OBJECT.decode(row["inputs"]),
            standings=tuple(standings[run_id]),
            result=(result := results.get(run_id)),
            status=compute_status(
                row["status"], standings[run_id], measured=result is not None and result.is_read
            ),
        )
        for run_id, row in first.items()
    )


def compute_status(stored: str, standings: Iterable[ActionCount], *, measured: bool) -> str:
    """Compute the status of a run from its actions."""
    states = []
    for each in standings:
        expired = each.overdue if may_expire(each.status, each.execution_state) else 0
        states += [(each.status, each.execution_state)] if each.actions > expired else []
        states += [(EXPIRED, each.execution_state)] if expired else []
    return run_status(stored, states, measured=measured)


def run(
    workspace_id: WorkspaceId,
    run_id: RunId,
    effects: EffectTypes,
    *,
    state: str = "",
    after: ActionPlace,
    before: AuditCursor,
    most_actions: int,
    most_events: int,
    now_ms: int,
) -> Transaction[RunDetail | None]:
    """Return a run with a page of its actions and a page of its history."""
    found = yield from actions.find_run(workspace_id, run_id)
    if found is None:
        return None
    named = {"workspace_id": workspace_id, "run_id": run_id}
    counted = yield statements.count_run_states(**named, now_ms=now_ms)
    page: dict[str, Any] = {"position": after.position, "after": after.action_id, "most": most_actions + 1}
    if state:
        rows = yield statements.list_run_actions_in(**named, **page, state=state)
    else:
        rows = yield statements.list_run_actions_page(**named, **page)
    shown = tuple(actions.action_of(row) for row in rows[:most_actions])
    assets = yield statements.list_run_assets_page(**named, most=ASSETS_SHOWN + 1)
    children = yield statements.list_run_children(**named, most=CHILDREN_SHOWN)
    history = yield from audit_views.stream_events(workspace_id, run_id, before=before, most=most_events)
    firsts = yield from names.read_first_actions(workspace_id, [run_id], most=1)
    result = (yield from hooks.read_results(workspace_id, (run_id,), effects)).get(run_id)
    is_workflow = yield statements.find_workflow_run(**named)
    standings = tuple(from_row(ActionCount, row) for row in counted)
    measured = result is not None and result.is_read
    return RunDetail(
        run=found,
        status=compute_status(found.status, standings, measured=measured),
        standings=standings,
        actions=shown,
        after=ActionPlace(shown[-1].position, shown[-1].action_id) if len(rows) > most_actions else None,
        assets=tuple(actions.asset_of(workspace_id, row) for row in assets[:ASSETS_SHOWN]),
        more_assets=len(assets) > ASSETS_SHOWN,
        children=tuple(from_row(ChildRun, row) for row in children),
        history=history.events,
        older=history.older,
        names=(yield from names.read_event_names(workspace_id, history.events)),
        firsts=firsts.get(run_id, ()),
        result=result,
        is_workflow=bool(is_workflow),
    )


class RunHead(Record, kw_only=True):
    """What a run was about, and when it went out."""

    run_id: RunId
    operator: str
    name: str
    created_ms: int
    sent_ms: int | None
    """When its first action went out."""
    undone: tuple[str, ...]
    """The channels of what was taken back."""


def read_heads(workspace_id: WorkspaceId, run_ids: Iterable[str]) -> Transaction[dict[str, RunHead]]:
    """Read what some runs were about. Unknown ids have none."""
    wanted = list(run_ids)
    rows = yield statements.list_run_heads(
        workspace_id=workspace_id, wanted=msgspec.json.encode(wanted).decode()
    )
    firsts = yield from names.read_first_actions(workspace_id, wanted, most=1)
    return {
        row["run_id"]: from_row(
            RunHead,
            row,
            name=names.name_run(_OBJECT.decode(row["inputs"]), firsts.get(row["run_id"], ())),
            undone=tuple((row["undone"] or "").split()),
        )
        for row in rows
    }


class DraftCount(Record):
    """Drafts whose actions are in one state."""

    status: str | None
    changed: int
    """1 if a person changed them, else 0."""
    drafts: int


def count_drafts(
    workspace_id: WorkspaceId, drafts: Iterable[tuple[str, str]]
) -> Transaction[tuple[DraftCount, ...]]:
    """Count drafts by what became of their actions. A draft is named by its run and its asset."""
    wanted = msgspec.json.encode(list(drafts)).decode()
    rows = yield statements.count_drafts(workspace_id=workspace_id, wanted=wanted)
    return tuple(from_row(DraftCount, row) for row in rows)


class SentCounts(Record):
    """How many actions of a workspace went out, failed, or have an unknown outcome."""

    sent: int
    failed: int
    unknown: int


def count_sent(
    workspace_id: WorkspaceId, since_ms: int, most: int, tenant_id: str = ""
) -> Transaction[SentCounts]:
    """Count each of them since a time, up to a number; of one tenant if it is named."""
    since = first_uuid7(max(0, since_ms))
    if tenant_id:
        of = partial(actions.list_in_status, workspace_id, tenant_id, since=since, most=most)
        sent, failed = (yield from of(Status.EXECUTED)), (yield from of(Status.FAILED))
        approved = yield from of(Status.APPROVED)
        unknown = [each for each in approved if each.execution_state is ExecutionState.OUTCOME_UNKNOWN]
        return SentCounts(len(sent), len(failed), len(unknown))
    rows = yield statements.count_sent(workspace_id=workspace_id, since_ms=since_ms, since=since, most=most)
    return from_row(SentCounts, rows[0])
