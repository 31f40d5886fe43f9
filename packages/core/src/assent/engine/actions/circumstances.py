"""Read the circumstances of an action: rights of the caller, policy, account and readiness of the connector (C29, E24).

Reads only stored data and calls no provider. What is read is an `Outlook`, which `assent.present.outlook` puts into
words.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from assent.engine.actions import actions, policies, send_jobs
from assent.engine.core.services import EffectServices
from assent.engine.core.tenancy import Principal
from assent.gate.effects import MANUAL, EffectTypes
from assent.gate.next_try import read_next_try
from assent.gate.policy import Policy
from assent.gate.preflight import Readiness
from assent.gate.records import OPEN, WORKFLOW, Action, Effect, ExecutionState, Freeze, Status
from assent.gate.review_link import LOOK
from assent.gate.undo import is_take_down
from assent.kernel.guide import make_guide
from assent.kernel.ids import ActionId, RunId, WorkspaceId, is_uuid
from assent.kernel.refusals import Reason, Recovery, Refusal
from assent.ports import Addressed, Connector, Preparation, StoreUnavailable, Transaction
from assent.present.calls import wait_call
from assent.present.cards import describe_foreign_sender
from assent.present.next_steps import Circumstances
from assent.present.outlook import NOT_LIVE, READY, SHOWN, Outlook, RunLinks, Unready, key_of_account

ABOUT_AN_ACTION: Final = SHOWN | {
    Reason.ACTION_CLOSED,
    Reason.ACTION_EXPIRED,
    Reason.CONNECTOR_FAILED,
    Reason.MISSING_CONNECTOR,
    Reason.OUTCOME_UNKNOWN,
    Reason.PROVIDER_NOT_LIVE,
}
"""Refusals that list the next possible calls."""


async def read_action(
    services: EffectServices, caller: Principal, action_id: ActionId
) -> tuple[Action, Outlook]:
    """Read an action together with the facts for an answer. Raises like `actions.find`."""
    workspace_id = caller.workspace_id

    def look() -> Transaction[tuple[Action, Policy, Freeze | None]]:
        found, policy, frozen = yield from actions.find_with_freeze(workspace_id, action_id)
        (weighed,) = yield from actions.weigh(workspace_id, (found,), services.clock.now_ms())
        return weighed, policy, frozen

    action, policy, frozen = await services.store.read(look)
    connector, unready = services.connectors.get(action.effect.connector), {}
    if action.status in OPEN and not getattr(connector, "always_ready", False):
        readiness = await ask_readiness(services, workspace_id, action.effect)
        if not readiness.ready:
            unready[key_of_account(action.effect)] = action.effect, readiness
    return action, _outlook(services, caller, (action,), policy, (frozen,) if frozen else (), unready)


async def read_outlook(
    services: EffectServices,
    caller: Principal,
    shown: Iterable[Action],
    known: Mapping[str, Readiness] | None = None,
) -> Outlook:
    """Read policy and readiness of these actions once. `known` is by action id."""
    listed = tuple(shown)
    approved = [
        action
        for action in listed
        if action.status is Status.APPROVED
        and action.execution_state is ExecutionState.NONE
        and action.schedule_ms is None
        and read_next_try(action) is None
    ]

    def begin() -> Transaction[tuple[Policy, tuple[Freeze, ...], dict[str, int]]]:
        known = yield from policies.find_with_freezes(caller.workspace_id)
        return *known, (yield from send_jobs.list_due(approved)) if approved else {}

    policy, frozen, due = await services.store.read(begin)
    found: dict[tuple[object, ...], tuple[Effect, Readiness]] = {}
    asked: dict[tuple[object, ...], Effect] = {}
    for action in listed:
        effect = action.effect
        if known is not None and action.action_id in known:
            found[key_of_account(effect)] = effect, known[action.action_id]
        elif action.status in OPEN:
            asked.setdefault(key_of_account(effect), effect)
    answers = await asyncio.gather(
        *(ask_readiness(services, caller.workspace_id, effect) for effect in asked.values())
    )
    found = {**dict(zip(asked, zip(asked.values(), answers, strict=True), strict=True)), **found}
    unready = {key: of for key, of in found.items() if not of[1].ready}
    outlook = _outlook(services, caller, listed, policy, frozen, unready)
    return msgspec.structs.replace(outlook, due=due)


def _outlook(
    services: EffectServices,
    caller: Principal,
    shown: tuple[Action, ...],
    policy: Policy,
    frozen: tuple[Freeze, ...],
    unready: Mapping[tuple[object, ...], tuple[Effect, Readiness]],
) -> Outlook:
    now_ms = services.clock.now_ms()
    pictured = {action.run_id for action in shown if any(media.digest for media in action.effect.media)}
    return Outlook(
        caller=caller.name,
        rights=caller.scopes,
        client_dialog=caller.client_dialog,
        policy=policy,
        unready={key: explain_unready(services, caller.workspace_id, *of) for key, of in unready.items()},
        effects=services.effects,
        missing=services.effects.find_missing(shown),
        frozen=frozen,
        links={
            run_id: RunLinks(
                sign_link(services, caller, run_id),
                services.links.review_url(caller.workspace_id, run_id, now_ms, LOOK).partition("token=")[2]
                if run_id in pictured
                else "",
            )
            for run_id in {action.run_id for action in shown}
        },
        now_ms=now_ms,
    )


def sign_link(services: EffectServices, caller: Principal, run_id: RunId) -> str:
    """Return the review link of a run, with the rights of the caller."""
    now_ms = services.clock.now_ms()
    return services.links.review_url(caller.workspace_id, run_id, now_ms, caller.link_scope)


async def read_circumstances(
    services: EffectServices, caller: Principal, shown: Iterable[Action]
) -> dict[str, Circumstances]:
    """Return the circumstances of each action, by action id."""
    listed = tuple(shown)
    found = await read_outlook(services, caller, listed)
    return {action.action_id: found.describe(action) for action in listed}


async def complete(services: EffectServices, caller: Principal, refusal: Refusal, arguments: Any) -> Refusal:
    """Return a refusal with what its texts mention: content, next calls, link. Returns the given one if
    that cannot be read. Runs after the transaction that refused, where a refusal becomes an answer."""
    recovery = refusal.recovery()
    with contextlib.suppress(StoreUnavailable):
        if refusal.reason is Reason.INSUFFICIENT_SCOPE:
            return Refusal.from_answer(await _with_link(services, caller, recovery, arguments))
        known = recovery.agent_guide is not msgspec.UNSET
        if refusal.reason in ABOUT_AN_ACTION and isinstance(recovery.action_id, str) and not known:
            action, outlook = await read_action(services, caller, ActionId(recovery.action_id))
            return Refusal.from_answer(outlook.complete(recovery, action))
    return refusal


async def _with_link(
    services: EffectServices, caller: Principal, recovery: Recovery, arguments: Any
) -> Recovery:
    """Add the link to the run, so that a person can do what the key may not."""
    given = arguments if isinstance(arguments, dict) else {}
    action_id, run_id = given.get("actionId"), given.get("runId")
    workspace_id = caller.workspace_id
    if isinstance(action_id, str) and is_uuid(action_id):
        with contextlib.suppress(Refusal):
            action, _ = await services.store.read(lambda: actions.find(workspace_id, ActionId(action_id)))
            url = sign_link(services, caller, action.run_id)
            calls = [wait_call(action)] if action.status is Status.AWAITING_APPROVAL else []
            return msgspec.structs.replace(
                recovery,
                review_url=url,
                action_id=action_id,
                status=action.status,
                agent_guide=make_guide({}, calls),
            )
    elif isinstance(run_id, str) and is_uuid(run_id):
        run = await services.store.read(lambda: actions.find_run(workspace_id, RunId(run_id)))
        if run is not None:
            return msgspec.structs.replace(recovery, review_url=sign_link(services, caller, run.run_id))
    return recovery


async def ask_readiness(services: EffectServices, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
    if effect.connector == WORKFLOW:
        return READY
    connector = services.connectors.get(effect.connector)
    if connector is None:
        return NOT_LIVE
    return await readiness_of(connector, workspace_id, effect)


def connect_page(services: EffectServices, workspace_id: WorkspaceId, effect: Effect) -> str | None:
    """Return the page on which a person connects the connector of an effect, or another one of its
    channel. None where no page is served."""
    address = services.links.page_address()
    effects = services.effects
    found = effects.find(effect)
    ways = (effect.connector, *(found.via if found is not None else ()))
    provider = next(
        (name for name in ways if effects.connector(name).on_page and name in services.connectors), None
    )
    if address is None or provider is None:
        return None
    return f"{address}/connect/{provider}?workspace={workspace_id}"


def explain_unready(
    services: EffectServices, workspace_id: WorkspaceId, effect: Effect, readiness: Readiness
) -> Unready:
    """Return why an effect cannot be performed, with the page that connects it if connecting would help."""
    url = connect_page(services, workspace_id, effect) if readiness.connectable else None
    if url is not None and readiness.summary is not None:
        said = name_ways(services.effects, effect, readiness.summary)
        readiness = msgspec.structs.replace(readiness, summary=said)
    return Unready(readiness, url)


def name_ways(effects: EffectTypes, effect: Effect, summary: str) -> str:
    """Return what is in the way after the names of the connectors through which an effect can go out, its own first.
    None is named where there is only one of the same name."""
    kind = effects.find(effect)
    known = [each for each in (kind.via if kind is not None else ()) if each in effects.connectors]
    ways = [each for each in dict.fromkeys((effect.connector, *known)) if each != MANUAL]
    names = [effects.connector(each).name_inside for each in ways]
    if kind is None or set(names) <= {kind.label}:
        return summary
    said, first = f"{kind.label} goes out through {' or '.join(names)}", f"{names[0]} "
    if len(names) == 1 and summary.startswith(first):
        return f"{said}, which {summary.removeprefix(first)}"
    return f"{said}. {summary}"


def rereads(services: EffectServices, effect: Effect) -> bool:
    """Whether its connector is asked again for what an effect shows of its target."""
    return getattr(services.connectors.get(effect.connector), "rereads", False)


async def address(
    services: EffectServices, workspace_id: WorkspaceId, effect: Effect
) -> tuple[Effect, Readiness]:
    """Return the effect with its account, and the readiness for it. A take-down keeps that of what it takes down."""
    connector = services.connectors.get(effect.connector)
    if connector is None:
        return effect, NOT_LIVE
    if (by_account := _by_account(connector)) is not None and not is_take_down(effect):
        effect = await by_account.addressed(workspace_id, effect)
    return effect, await readiness_of(connector, workspace_id, effect)


async def with_targets(
    services: EffectServices, workspace_id: WorkspaceId, preparation: Preparation
) -> tuple[Preparation, list[Readiness]]:
    """Set the account of each effect, so that it is shown and approved."""
    found = [await address(services, workspace_id, staged.effect) for staged in preparation.effects]
    effects = tuple(
        [
            msgspec.structs.replace(
                staged,
                effect=effect,
                warnings=(*staged.warnings, *await warn_of_sender(services, workspace_id, effect)),
            )
            for staged, (effect, _) in zip(preparation.effects, found, strict=True)
        ]
    )
    return msgspec.structs.replace(preparation, effects=effects), [readiness for _, readiness in found]


async def warn_of_sender(
    services: EffectServices, workspace_id: WorkspaceId, effect: Effect
) -> tuple[str, ...]:
    """Warn of a sender in another domain than the one from which the workspace sends."""
    by_account = _by_account(services.connectors.get(effect.connector))
    if not effect.sender or by_account is None:
        return ()
    bare = msgspec.structs.replace(effect, sender="")
    own = (await by_account.addressed(workspace_id, bare)).sender
    domains = {
        mailbox.rpartition("@")[2].rstrip("> ").lower() for mailbox in (own or effect.sender, effect.sender)
    }
    return (describe_foreign_sender(effect.sender, own),) if len(domains) > 1 else ()


async def readiness_of(connector: Connector, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
    """Return a connector's readiness for this effect; most have one for all effects."""
    if (by_account := _by_account(connector)) is not None:
        return await by_account.readiness_for(workspace_id, effect)
    return await connector.readiness(workspace_id)


_has_accounts: Final[dict[type, bool]] = {}
"""Cached by class, because isinstance of a protocol is slow."""


def _by_account(connector: object | None) -> Addressed | None:
    kind = type(connector)
    if kind not in _has_accounts:
        _has_accounts[kind] = issubclass(kind, Addressed)
    return cast("Addressed", connector) if _has_accounts[kind] else None
