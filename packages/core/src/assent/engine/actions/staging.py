"""The records of a preparation, the transaction that stores them, and the answer with the drafts to show.

Nothing here can reach a provider: connectors are asked for their readiness, which is a read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain, count
from typing import Any, Final, TypeVar

import msgspec

from assent.engine.actions import actions, circumstances, drift_probe, flood, hooks, search
from assent.engine.actions.content import describe
from assent.engine.actions.hooks import Staged
from assent.engine.core import journal
from assent.engine.core.services import EffectServices
from assent.engine.core.tenancy import Principal, add_tenant
from assent.gate.preflight import Readiness, explain_expiry, extend_expiry, preflight
from assent.gate.records import (
    IMAGE,
    MEASURE_AFTER,
    NAME,
    OWN_WORDS,
    PROPOSAL,
    REASON,
    Action,
    Asset,
    Effect,
    ExecutionState,
    Run,
    Status,
    make_media,
    name_of,
    name_path,
    reached_addresses,
)
from assent.gate.review_link import LOOK
from assent.kernel.guide import SuggestedCall
from assent.kernel.ids import ActionId, AssetId, RunId, TenantId
from assent.kernel.limits import ACTION_TTL_MS
from assent.kernel.refusals import Replay
from assent.kernel.structs import Record, WireRecord, from_record
from assent.ports import THIS_RUN, Draft, Picture, Preparation, StagedEffect, Transaction
from assent.present import guidance
from assent.present.guidance import ActionView, AgentGuide, AssetView
from assent.present.next_steps import Circumstances, rewrite_call
from assent.present.outlook import Outlook

PREPARED: Final = "prepared"
FETCHED: Final = "productPage"
"""A key of a run's outputs: the page that was read, when, and its status."""


class PreparedRun(WireRecord, kw_only=True, omit_defaults=True):
    """The answer of every operator's primary tool, all fields filled (S0 §3.1, S4; E12, E46,
    E101)."""

    ok: bool
    run_id: str
    workspace_id: str
    tenant_id: str | None = None
    assets: tuple[AssetView, ...]
    actions: tuple[ActionView, ...]
    review_url: str
    agent_guide: AgentGuide
    stop_rule: str
    side_effects_prepared_but_not_fired: tuple[str, ...]
    """The names of the staged actions."""
    external_actions_executed: int
    status: str
    writing: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Facts and rules for the agent, to write better texts than plain notes."""
    held: bool | msgspec.UnsetType = msgspec.UNSET
    """Set if this caller proposed so much that people are asked about all of it at once."""
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


Reply = TypeVar("Reply", bound=PreparedRun)


class Request(Record, kw_only=True):
    """The operator, its caller and its arguments."""

    principal: Principal
    operator: str
    tool: str
    inputs: dict[str, Any]
    tenant_id: TenantId | None = None
    parent_run_id: RunId | None = None
    key: str | None = None
    reason: str = ""
    """Why the agent wants this, in its own words."""
    webhook_url: str | None = None
    run_id: RunId | None = None
    """A run that was begun before and is finished now."""
    metered: bool = True
    """Whether it counts for the storage quota of the workspace; not if its size and number are bounded."""


class StagedRun(Record):
    """The records of a preparation, complete before any is stored."""

    run: Run
    assets: tuple[Asset, ...]
    actions: tuple[Action, ...]
    pictures: tuple[Picture, ...]


async def build(
    services: EffectServices,
    request: Request,
    preparation: Preparation,
    readiness: list[Readiness],
    now_ms: int,
) -> StagedRun:
    """Build the run, its assets and its actions. Reads the store and writes nothing."""
    workspace_id = request.principal.workspace_id
    outputs = preparation.outputs
    if preparation.fetched is not None:
        outputs = {**outputs, FETCHED: preparation.fetched}
    run = Run(
        workspace_id=workspace_id,
        run_id=request.run_id or RunId(services.new_id(now_ms)),
        tenant_id=request.tenant_id,
        operator=request.operator,
        tool=request.tool,
        inputs=request.inputs,
        outputs=outputs,
        status=PREPARED,
        parent_run_id=request.parent_run_id,
        created_ms=now_ms,
    )
    assets = tuple(
        Asset(
            workspace_id=workspace_id,
            asset_id=AssetId(services.new_id(now_ms)),
            run_id=run.run_id,
            tenant_id=request.tenant_id,
            type=draft.type,
            title=draft.title,
            body=draft.body,
            channel=draft.channel,
            metadata={**draft.metadata, **describe_picture(services, run, draft)},
            created_ms=now_ms,
        )
        for draft in preparation.drafts
    )
    proposal = request.principal.propose(request.operator)
    names: list[str] = []
    if preparation.effects:
        taken = set(await services.store.read(lambda: actions.list_names(workspace_id, now_ms)))
        names = [choose_name(each.effect.channel, taken) for each in preparation.effects]
    staged = tuple(
        [
            await new_action(
                services,
                run,
                assets,
                effect,
                position,
                readiness[position],
                proposal,
                names[position],
                request.reason,
            )
            for position, effect in enumerate(preparation.effects)
        ]
    )
    if any(map(reached_addresses, staged)):
        others = await services.store.read(lambda: actions.list_recent(workspace_id, "", now_ms))
        counted = filter(actions.is_counted, staged)
        others |= frozenset().union(*(reached_addresses(action) for action in counted))
        staged = tuple(actions.with_people(action, others) for action in staged)
    if any(action.may_lack_credits for action in staged):
        staged = await services.store.read(partial(hooks.weigh, workspace_id, staged))
    made = tuple(draft.picture for draft in preparation.drafts if draft.picture is not None)
    return StagedRun(run, assets, staged, made)


def choose_name(wanted: str, taken: set[str]) -> str:
    """Return the name, such as a channel, with a number if it is in use."""
    name = next(each for each in chain([wanted], (f"{wanted}:{n}" for n in count(2))) if each not in taken)
    taken.add(name)
    return name


async def answer(
    services: EffectServices,
    request: Request,
    preparation: Preparation,
    readiness: list[Readiness],
    built: StagedRun,
    shape: type[Reply],
    more: Callable[[tuple[Asset, ...], tuple[Action, ...]], dict[str, Any]],
) -> Reply:
    """Build the operator's answer, which is stored with the run for repeated calls."""
    run, assets, staged = built.run, built.assets, built.actions
    known: dict[str, Readiness] = {
        action.action_id: ready for action, ready in zip(staged, readiness, strict=True)
    }
    outlook = await circumstances.read_outlook(services, request.principal, staged, known)
    following = tuple(name_run(call, run.run_id) for call in preparation.next_calls)
    preparation = msgspec.structs.replace(
        preparation, next_calls=(*offer_rewrites(staged, preparation, outlook), *following)
    )
    base = answer_prepared(services, request.principal, run, assets, staged, preparation, outlook)
    return from_record(shape, base, **more(assets, staged))


def name_run(call: SuggestedCall, run_id: RunId) -> SuggestedCall:
    """Fill the id of the new run into a suggested call."""
    args = {name: run_id if value == THIS_RUN else value for name, value in call.args.items()}
    return msgspec.structs.replace(call, args=args)


def offer_rewrites(
    staged: tuple[Action, ...], preparation: Preparation, outlook: Outlook
) -> tuple[SuggestedCall, ...]:
    """Return the calls that replace a plain note by the agent's own text."""
    return tuple(
        rewrite_call(action, wanted.rewrite)
        for action, wanted in zip(staged, preparation.effects, strict=True)
        if wanted.rewrite and outlook.describe(action).may_edit
    )


def store(staged: StagedRun, caller: Principal, most: int, *, begun: bool) -> Transaction[bool]:
    """Store a preparation and its event. The row of a run begun before exists. Returns whether its
    actions are held, because the caller has more than `most` proposals that wait."""
    run, now_ms = staged.run, staged.run.created_ms
    proposer, hold, heard = caller.agent, None, True
    if staged.actions:
        hold, heard = yield from flood.judge(run.workspace_id, proposer, most, now_ms)
    if run.tenant_id is not None:
        yield from add_tenant(run.workspace_id, run.tenant_id, run.tenant_id, now_ms)
    if not begun:
        yield from actions.insert_run(run)
    for asset in staged.assets:
        yield from actions.insert_asset(asset)
    for action in staged.actions:
        yield from actions.insert_action(action, proposed_by=proposer, held=hold is not None)
    yield from search.queue(run)
    body = {
        "operator": run.operator,
        "tool": run.tool,
        "by": caller.name,
        "actions": [
            {
                "actionId": a.action_id,
                "type": a.effect.type,
                "digest": a.digest,
                "severity": a.preflight.severity,
                "view": a.view.digest(),
            }
            for a in staged.actions
        ],
        "assets": [asset.asset_id for asset in staged.assets],
    }
    if FETCHED in run.outputs:
        body[FETCHED] = run.outputs[FETCHED]
    if begun:
        head = yield from journal.lock_head(run.workspace_id, run.run_id, now_ms)
    else:
        head = journal.new_head(run.workspace_id, run.run_id)
    yield from journal.append_to(head, [journal.NewEvent("run_prepared", body)], now_ms)
    yield from hooks.on_staged(
        Staged(
            workspace_id=run.workspace_id,
            run_id=run.run_id,
            actions=staged.actions,
            at_ms=now_ms,
            assets=staged.assets,
            pictures=staged.pictures,
            proposer=proposer,
            held=hold,
        ),
        heard=heard,
    )
    return hold is not None


def say_held(reply: Reply) -> Reply:
    """Return the answer of a run whose actions are held: it tells the agent to stop."""
    said, stop = guidance.HELD, guidance.STOP_PROPOSING
    told = f"{said} {reply.agent_guide.user_message}"
    guide = msgspec.structs.replace(reply.agent_guide, user_message=told, stop_rule=stop)
    return msgspec.structs.replace(reply, agent_guide=guide, stop_rule=stop, held=True)


async def new_action(
    services: EffectServices,
    run: Run,
    assets: tuple[Asset, ...],
    staged: StagedEffect,
    position: int,
    readiness: Readiness,
    proposal: dict[str, Any],
    name: str,
    reason: str = "",
) -> Action:
    now_ms = run.created_ms
    effect = msgspec.structs.replace(
        attach_picture(services, run, assets, staged),
        schedule_ms=staged.schedule_ms,
        schedule_offset=staged.schedule_offset,
    )
    kind = services.effects.find(effect)
    lasts_ms = kind.expires_ms if kind is not None and kind.expires_ms is not None else ACTION_TTL_MS
    usual_ms = staged.expires_ms if staged.expires_ms is not None else now_ms + lasts_ms
    expires_ms = extend_expiry(usual_ms, staged.schedule_ms)
    measured = hooks.gives_results() and kind is not None and kind.measured
    view = await describe(services, run.workspace_id, effect)
    action = Action(
        workspace_id=run.workspace_id,
        action_id=ActionId(services.new_id(now_ms)),
        run_id=run.run_id,
        tenant_id=run.tenant_id,
        asset_id=assets[staged.draft].asset_id if staged.draft is not None else None,
        position=position,
        version=1,
        effect=effect,
        digest=effect.digest(),
        revision=1,
        executor_tool=staged.executor_tool,
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        preflight=preflight(
            effect,
            view,
            readiness,
            declared=staged.severity,
            warnings=staged.warnings,
            recommendations=(*staged.recommendations, *explain_expiry(usual_ms, expires_ms)),
            gates=staged.gates,
            cost_credits=staged.cost_credits or services.limits.credit_prices.get(staged.effect.connector, 0),
        ),
        created_ms=now_ms,
        expires_ms=expires_ms,
        schedule_ms=staged.schedule_ms,
        metadata={
            **staged.metadata,
            **({OWN_WORDS: True} if staged.own_words else {}),
            **({MEASURE_AFTER: services.limits.measure_after_ms} if measured else {}),
            **({REASON: reason} if reason else {}),
            PROPOSAL: proposal,
            NAME: name,
        },
        view=view,
    )
    return await drift_probe.observe_staged(services, action, ready=readiness.ready)


def answer_prepared(
    services: EffectServices,
    caller: Principal,
    run: Run,
    assets: tuple[Asset, ...],
    staged: tuple[Action, ...],
    preparation: Preparation,
    outlook: Outlook | None = None,
) -> PreparedRun:
    """Build the answer before anything is stored, so that it can be stored, too.

    It has the review link of the run (E6), and its stop rule is that of the guide (E15).
    """
    around: dict[str, Circumstances] = {}
    links = outlook.links.get(run.run_id) if outlook is not None else None
    if outlook is not None:
        around = {action.action_id: outlook.describe(action) for action in staged}
    visible = tuple(add_address(services, asset) for asset in assets)
    guide = guidance.agent_guide(
        staged,
        visible,
        preparation.next_calls,
        around,
        preparation.notes,
        preparation.user_message,
    )
    if preparation.shown and not staged:
        said, calls = preparation.user_message, preparation.next_calls
        guide = guidance.guide_unstaged(preparation.shown, said, calls)
    return PreparedRun(
        ok=True,
        run_id=run.run_id,
        workspace_id=run.workspace_id,
        tenant_id=run.tenant_id,
        assets=tuple(guidance.brief_view(asset) for asset in visible),
        actions=tuple(guidance.action_view(action) for action in staged),
        review_url=links.review_url if links else circumstances.sign_link(services, caller, run.run_id),
        agent_guide=guide,
        stop_rule=guide.stop_rule,
        side_effects_prepared_but_not_fired=tuple(map(name_of, staged)),
        external_actions_executed=0,
        status=PREPARED,
        writing=preparation.writing or msgspec.UNSET,
    )


# The pictures of a run: their metadata, their attachment to posts, their views in answers.


def describe_picture(services: EffectServices, run: Run, draft: Draft) -> dict[str, Any]:
    """Build the metadata of a picture asset."""
    picture = draft.picture
    if picture is None:
        return {}
    return {
        "url": services.links.base_url + name_path(run.run_id, picture.digest),
        "digest": picture.digest,
        "contentType": picture.content_type,
        "width": picture.width,
        "height": picture.height,
        "bytes": len(picture.content),
        "alt": picture.alt,
    }


def add_address(services: EffectServices, asset: Asset) -> Asset:
    """Return a picture asset with a read-only URL that is valid as long as the review link of its
    run. The stored asset has no token."""
    if asset.type != IMAGE or "url" not in asset.metadata:
        return asset
    url = services.links.review_url(asset.workspace_id, asset.run_id, asset.created_ms, LOOK)
    token = url.partition("token=")[2]
    view_url = f"{asset.metadata['url']}?token={token}"
    return msgspec.structs.replace(asset, metadata={**asset.metadata, "viewUrl": view_url})


def attach_picture(
    services: EffectServices, run: Run, assets: tuple[Asset, ...], staged: StagedEffect
) -> Effect:
    if staged.picture is None:
        return staged.effect
    media = make_media(assets[staged.picture], run.run_id, services.links.base_url)
    return msgspec.structs.replace(staged.effect, media=(media,)) if media is not None else staged.effect
