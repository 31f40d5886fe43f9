"""Checks again whether an action can be delivered that was blocked when it was staged.

If its connector has become ready, only the preflight changes and an approval stays valid. If a
missing account can be named now, or another connector serves the channel, the effect changes: a new
revision that needs a new approval (C29). A person who approves or sends such an action sees that
revision first.
"""

from __future__ import annotations

import asyncio
import contextlib

import msgspec

from assent.engine.actions import actions, approvals, circumstances, drift_probe, hooks
from assent.engine.actions.content import describe
from assent.engine.actions.hooks import Decided
from assent.engine.core.services import EffectServices
from assent.gate import gate
from assent.gate.connection import API_KEY, ConnectionState
from assent.gate.preflight import Readiness, preflight
from assent.gate.records import OPEN, Action, Effect, Preflight
from assent.gate.rules import drift
from assent.gate.transitions import TERMINAL, Move, state_of
from assent.gate.undo import is_take_down
from assent.kernel.ids import WorkspaceId
from assent.ports import KeyChecked, NotSent, OutcomeUnknown, Transaction
from assent.present import refusals
from assent.present.outlook import NOT_LIVE
from assent.present.refusals import refuse_missing_type


async def bind(
    services: EffectServices, action: Action, *, by: str, via: str
) -> tuple[Action | None, Readiness]:
    """Bind an action that cannot be delivered to an account, if one is known now.

    Returns the new revision, which needs approval, or None if the action stays unchanged; and the
    present readiness. Raises `Refusal` if its type is not registered any more.
    """
    refuse_missing_type(services.effects, action)
    effect, readiness = await choose_connector(services, action.workspace_id, action.effect)
    if not readiness.ready or effect == action.effect:
        return None, readiness
    now_ms = services.clock.now_ms()
    wanted = await _describe_bound(services, action, effect, readiness)
    bound = await services.store.write(lambda: _refresh(action, wanted, readiness, by, via, now_ms))
    return (bound if bound.digest != action.digest else None), readiness


async def _describe_bound(
    services: EffectServices, action: Action, effect: Effect, readiness: Readiness
) -> Action:
    """Return the action with this effect, its view and what is observed of it."""
    view = await describe(services, action.workspace_id, effect)
    foreign = await circumstances.warn_of_sender(services, action.workspace_id, effect)
    found = msgspec.structs.replace(
        action.preflight, warnings=tuple(dict.fromkeys((*action.preflight.warnings, *foreign)))
    )
    bound = msgspec.structs.replace(action, effect=effect, view=view, preflight=found)
    observed = await drift_probe.observe(services, bound, ready=readiness.ready, described=True)
    return drift.with_observation(bound, msgspec.structs.replace(observed, since_ms=services.clock.now_ms()))


async def check_before_approval(services: EffectServices, action: Action, *, by: str, via: str) -> None:
    """Look again at what a person is about to approve. Raises `Refusal` if it is not as it was shown;
    the next look shows it."""
    await reread(services, action, by=by, via=via)
    await drift_probe.check_before_approval(services, action, by=by, via=via)


async def reread(services: EffectServices, action: Action, *, by: str, via: str) -> None:
    """Ask again for what an action shows of its target, if its connector `rereads`. Raises `Refusal`
    if that has changed: the action then has a new revision, which waits for an approval."""
    if action.status not in OPEN or not circumstances.rereads(services, action.effect):
        return
    bound, _ = await bind(services, action, by=by, via=via)
    if bound is not None:
        changes = drift.compare_shown(action.effect, bound.effect)
        raise refusals.refuse_drift(bound, changes, approved=action.approval is not None)


async def choose_connector(
    services: EffectServices, workspace_id: WorkspaceId, effect: Effect
) -> tuple[Effect, Readiness]:
    """Return the effect with its channel's first ready connector; unchanged if none is ready."""
    kind = services.effects.find(effect)
    others = kind.via if kind is not None and not is_take_down(effect) else ()
    first: tuple[Effect, Readiness] | None = None
    for name in dict.fromkeys((effect.connector, *others)):
        if name not in services.connectors and name != effect.connector:
            continue
        await _look_around(services, workspace_id, name)
        other = name != effect.connector
        wanted = msgspec.structs.replace(effect, connector=name, target=None) if other else effect
        found, readiness = await circumstances.address(services, workspace_id, wanted)
        if readiness.ready:
            return found, readiness
        first = first or (effect, readiness)
    return first or (effect, NOT_LIVE)


async def _look_around(services: EffectServices, workspace_id: WorkspaceId, name: str) -> None:
    """Ask the provider again whether it accepts a key that it rejected, and refresh the accounts that a person
    connected there."""
    connector: object = services.connectors.get(name)
    if isinstance(connector, KeyChecked):
        timeout_seconds = services.limits.connector_timeout_seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await _check_rejected(services, workspace_id, name, connector, timeout_seconds)
                await connector.look_around(workspace_id, timeout_seconds)


async def _check_rejected(
    services: EffectServices,
    workspace_id: WorkspaceId,
    name: str,
    connector: KeyChecked,
    timeout_seconds: float,
) -> None:
    """Use an expired connection again if its key is accepted now: the provider may only have had a bad minute."""
    held = await services.connections.access(workspace_id, name, ConnectionState.EXPIRED)
    key = held.secrets.get(API_KEY) if held is not None else None
    if held is None or key is None:
        return
    verify = connector.verify
    if held.connection.any_address:
        verify = getattr(connector, "verify_anywhere", verify)
    try:
        await verify(key, timeout_seconds)
    except (NotSent, OutcomeUnknown):
        return
    await services.connections.renew(held.connection, held.secrets, held.connection.expires_ms)


def _refresh(
    seen: Action, wanted: Action, readiness: Readiness, by: str, via: str, now_ms: int
) -> Transaction[Action]:
    action, *_ = yield from actions.lock(seen.workspace_id, seen.action_id)
    if state_of(action) in TERMINAL or action.digest != seen.digest:
        return action
    if wanted.effect != action.effect:
        return (yield from _revise(action, wanted, readiness, by, via, now_ms))
    if action.preflight.connector_ready == readiness.ready:
        return action
    changed = msgspec.structs.replace(action, preflight=_redo_preflight(action, wanted, readiness))
    stored = yield from actions.put_without_event(changed)
    yield from actions.note(stored, "connector_rechecked", {"ready": readiness.ready, "by": by}, now_ms)
    return stored


def _revise(
    action: Action, wanted: Action, readiness: Readiness, by: str, via: str, now_ms: int
) -> Transaction[Action]:
    effect = wanted.effect
    with refusals.wording():
        steps = gate.judge_decision(action, Move.EDIT, gate.ANY_CONTENT, now_ms)
    changed = msgspec.structs.replace(
        drift.with_observation(action, gate.read_observation(wanted)),
        effect=effect,
        digest=effect.digest(),
        revision=action.revision + 1,
        preflight=_redo_preflight(action, wanted, readiness),
        view=wanted.view,
    )
    names = [
        name for name in ("connector", "sender", "target", "details") if _differ(name, action.effect, effect)
    ]
    facts = {"by": by, "via": via, "changed": names, "before": action.digest, "target": effect.target}
    facts["view"] = wanted.view.digest()
    yield from actions.revise(action, changed)
    bound = yield from approvals.end_approval(action, changed, steps, facts, now_ms, keep=True)
    yield from hooks.on_decided(
        Decided(before=action, action=bound, move=Move.EDIT, facts=facts, at_ms=now_ms, changed=tuple(names))
    )
    return bound


def _differ(name: str, one: Effect, other: Effect) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def _redo_preflight(action: Action, wanted: Action, readiness: Readiness) -> Preflight:
    old = action.preflight
    return preflight(
        wanted.effect,
        wanted.view,
        readiness,
        declared=old.severity,
        warnings=wanted.preflight.warnings,
        recommendations=old.recommendations,
        gates=tuple(each for each in old.gates if each != "connector_not_ready"),
        cost_credits=wanted.preflight.estimated_cost_credits,
    )
