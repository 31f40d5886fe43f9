"""Tools to read runs and their results (E3, E4)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from assent.engine.actions import actions, hooks
from assent.engine.actions.staging import add_address
from assent.engine.views import run_views
from assent.engine.views.run_views import ActionCount
from assent.gate.audit import ActionRecord, build_record
from assent.gate.records import Asset, Run
from assent.kernel.ids import RunId, WorkspaceId, is_uuid, require_run_id
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Arguments, WireRecord, from_record
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.present.status_report import describe_run, run_status, state_in_run
from assent.tools.arguments import Cursor, PageSize, RunIdArgument
from assent.tools.definition import READS, Call, Tool


class ListRuns(Arguments, kw_only=True):
    cursor: Cursor | None = None
    limit: PageSize = 20


class RunSummary(WireRecord, kw_only=True):
    run_id: str
    about: str
    operator: str
    tool: str
    tenant_id: str | None
    status: str
    counts: dict[str, int]
    """How many actions are in which state."""
    parent_run_id: str | None
    created_at: str


class RunList(WireRecord, kw_only=True):
    ok: bool
    runs: tuple[RunSummary, ...]
    next_cursor: str | None


class GetRun(Arguments, kw_only=True):
    run_id: RunIdArgument


class AssetRecord(WireRecord, kw_only=True):
    id: str
    run_id: str
    workspace_id: str
    tenant_id: str | None
    type: str
    title: str
    body: str
    channel: str | None
    metadata: dict[str, Any]
    created_at: str


class RunRecord(WireRecord, kw_only=True):
    ok: bool
    run_id: str
    workspace_id: str
    tenant_id: str | None
    operator: str
    tool: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    status: str
    parent_run_id: str | None
    created_at: str
    assets: tuple[AssetRecord, ...]
    actions: tuple[ActionRecord, ...]
    review_url: str
    about: str
    measured_at: str | None
    """When the results were read, or will be."""


class ListAssets(Arguments, kw_only=True):
    run_id: RunIdArgument | None = None
    cursor: Cursor | None = None
    limit: PageSize = 20


class AssetList(WireRecord, kw_only=True):
    ok: bool
    assets: tuple[AssetRecord, ...]
    next_cursor: str | None


class GetAsset(Arguments, kw_only=True):
    asset_id: Annotated[str, msgspec.Meta(max_length=100, description="The asset's id.")]


async def list_runs(call: Call, request: ListRuns) -> RunList:
    workspace_id = call.caller.workspace_id
    page = await call.services.store.read(
        lambda: run_views.runs(
            workspace_id,
            call.services.effects,
            before=request.cursor or "",
            most=request.limit,
            now_ms=call.now_ms,
        )
    )
    return RunList(
        ok=True,
        runs=tuple(
            from_record(
                RunSummary,
                line,
                about=describe_run(line.inputs),
                counts=_counts(line.standings),
                created_at=iso_time(line.created_ms),
            )
            for line in page.runs
        ),
        next_cursor=page.older,
    )


def _counts(standings: tuple[ActionCount, ...]) -> dict[str, int]:
    plain = ("none", "done")
    return {
        each.status if each.execution_state in plain else each.execution_state: each.actions
        for each in standings
    }


async def get_run(call: Call, request: GetRun) -> RunRecord:
    workspace_id, run_id = call.caller.workspace_id, require_run_id(request.run_id)

    def begin() -> Transaction[Any]:
        run = yield from require_run(workspace_id, run_id)
        assets = yield from actions.run_assets(workspace_id, run_id)
        staged = yield from actions.run_actions(workspace_id, run_id)
        results = yield from hooks.read_results(workspace_id, (run_id,), call.services.effects)
        return run, assets, staged, results.get(run_id)

    run, assets, staged, result = await call.services.store.read(begin)
    states = (state_in_run(action, call.now_ms) for action in staged)
    measured = result is not None and result.is_read
    return from_record(
        RunRecord,
        run,
        ok=True,
        status=run_status(run.status, states, measured=measured),
        created_at=iso_time(run.created_ms),
        assets=tuple(map(asset_record, assets)),
        actions=tuple(build_record(action, call.now_ms) for action in staged),
        review_url=call.review_url(run_id),
        about=describe_run(run.inputs),
        measured_at=iso_time(result.read_ms or result.due_ms) if result is not None else None,
    )


async def list_assets(call: Call, request: ListAssets) -> AssetList:
    workspace_id = call.caller.workspace_id
    cursor = None
    if request.run_id is not None:
        run_id = require_run_id(request.run_id)
        shown = await call.services.store.read(lambda: actions.run_assets(workspace_id, run_id))
    else:
        recent = await call.services.store.read(
            lambda: actions.recent_assets(workspace_id, request.cursor or "", request.limit + 1)
        )
        shown = recent[: request.limit]
        if len(recent) > request.limit:
            cursor = shown[-1].asset_id
    found = tuple(asset_record(add_address(call.services, asset)) for asset in shown)
    return AssetList(ok=True, assets=found, next_cursor=cursor)


async def get_asset(call: Call, request: GetAsset) -> AssetRecord:
    workspace_id = call.caller.workspace_id
    if not is_uuid(request.asset_id):
        raise refuse_unknown_id("asset")
    found = await call.services.store.read(lambda: actions.find_asset(workspace_id, request.asset_id))
    if found is None:
        raise refuse_unknown_id("asset")
    return asset_record(add_address(call.services, found))


def require_run(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[Run]:
    """Return a run. Refuses an id that the workspace does not have."""
    run = yield from actions.find_run(workspace_id, run_id)
    if run is None:
        raise refuse_unknown_id("run")
    return run


def refuse_unknown_id(what: str) -> Refusal:
    """Return the refusal for unknown ids; those of other workspaces get the same one (E96)."""
    return Refusal(Reason.WRONG_WORKSPACE, user_message=f"This workspace has no {what} with that id.")


def asset_record(asset: Asset) -> AssetRecord:
    return from_record(AssetRecord, asset, id=asset.asset_id, created_at=iso_time(asset.created_ms))


TOOLS = (
    Tool(
        name="chieflab_list_runs",
        title="List runs",
        description="Lists earlier runs of this workspace, newest first: what each was about, its status and how its "
        "actions stand. USE WHEN you look for something prepared before.",
        behaviour=READS,
        request=ListRuns,
        reply=RunList,
        handler=list_runs,
    ),
    Tool(
        name="chieflab_get_run",
        title="Show a run",
        description="One run with its inputs, outputs, assets and actions as they are now. USE WHEN you need to pick "
        "up a run again.",
        behaviour=READS,
        request=GetRun,
        reply=RunRecord,
        handler=get_run,
    ),
    Tool(
        name="chieflab_list_assets",
        title="List assets",
        description="Lists texts and measurements that runs produced, newest first, or those of one run. USE WHEN you "
        "want to find a text or a result of an earlier run.",
        behaviour=READS,
        request=ListAssets,
        reply=AssetList,
        handler=list_assets,
    ),
    Tool(
        name="chieflab_get_asset",
        title="Show an asset",
        description="One asset in full, with the evidence and the memory that shaped it. USE WHEN you need the whole "
        "text of one that was listed.",
        behaviour=READS,
        request=GetAsset,
        reply=AssetRecord,
        handler=get_asset,
    ),
)
