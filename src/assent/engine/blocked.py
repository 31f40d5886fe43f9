"""Looking again at an action that could not be performed when it was staged.

Where the connector has become ready, nothing but the preflight changes and an approval stays. Where an account can be
named that was missing, or another way out serves the channel now, that is another effect: a new revision, to be
approved again (C29).
"""

from __future__ import annotations

import asyncio
import contextlib

import msgspec

from assent.drafting import channels
from assent.engine import actions, addressing
from assent.engine.confirming import refuse_confirmation
from assent.engine.decisions import once_only, walk
from assent.engine.services import Services
from assent.engine.tenancy import Principal
from assent.kernel.ids import ActionId, WorkspaceId
from assent.lifecycle import gate
from assent.lifecycle.audit import ActionRecord, record_of
from assent.lifecycle.preflight import Readiness, preflight
from assent.lifecycle.records import Action, Effect, Preflight
from assent.lifecycle.transitions import TERMINAL, Move, state_of
from assent.ports import KeyChecked, Transaction

TOOL = "chieflab_retry_blocked_action"


async def look_again(
    services: Services, caller: Principal, action_id: ActionId, key: str | None
) -> ActionRecord:
    """The action as its connector stands now."""
    workspace_id, by = caller.workspace_id, caller.name
    action, _ = await services.store.read(lambda: actions.find(workspace_id, action_id))
    refuse_confirmation(action)
    effect, readiness = await way_out(services, workspace_id, action.effect)
    now_ms = services.clock.now_ms()

    def refresh() -> Transaction[ActionRecord]:
        changed = yield from _refresh(workspace_id, action, effect, readiness, by, now_ms)
        return record_of(changed, now_ms)

    return await services.store.write(
        lambda: once_only(caller, TOOL, key, {"actionId": action_id}, now_ms, ActionRecord, refresh)
    )


async def way_out(services: Services, workspace_id: WorkspaceId, effect: Effect) -> tuple[Effect, Readiness]:
    """The effect by the first connector of its channel that could perform it; as it is where none could."""
    channel = channels.BY_ID.get(effect.channel)
    others = channel.connectors if channel is not None else ()
    first: tuple[Effect, Readiness] | None = None
    for name in dict.fromkeys((effect.connector, *others)):
        if name not in services.connectors and name != effect.connector:
            continue
        await _look_around(services, workspace_id, name)
        other = name != effect.connector
        wanted = msgspec.structs.replace(effect, connector=name, target=None) if other else effect
        found, readiness = await addressing.address(services, workspace_id, wanted)
        if readiness.ready:
            return found, readiness
        first = first or (effect, readiness)
    return first or (effect, addressing.NOT_LIVE)


async def _look_around(services: Services, workspace_id: WorkspaceId, name: str) -> None:
    """Accounts that a human has connected at the provider itself since."""
    connector: object = services.connectors.get(name)
    if isinstance(connector, KeyChecked):
        timeout = services.connector_timeout_seconds
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(connector.look_around(workspace_id, timeout), timeout)


def _refresh(
    workspace_id: WorkspaceId, seen: Action, effect: Effect, readiness: Readiness, by: str, now_ms: int
) -> Transaction[Action]:
    action, _ = yield from actions.lock(workspace_id, seen.action_id)
    if state_of(action) in TERMINAL or action.digest != seen.digest:
        return action
    if effect != action.effect:
        return (yield from _revise(action, effect, readiness, by, now_ms))
    if action.preflight.connector_ready == readiness.ready:
        return action
    changed = msgspec.structs.replace(action, preflight=_judged(action, effect, readiness))
    stored = yield from actions.put_all(changed, (), now_ms)
    yield from actions.note(stored, "connector_rechecked", {"ready": readiness.ready, "by": by}, now_ms)
    return stored


def _revise(
    action: Action, effect: Effect, readiness: Readiness, by: str, now_ms: int
) -> Transaction[Action]:
    gate.judge_decision(action, Move.EDIT, now_ms, gate.no_link)
    changed = msgspec.structs.replace(
        action,
        effect=effect,
        digest=effect.digest(),
        revision=action.revision + 1,
        approval=None,
        attempt=None,
        preflight=_judged(action, effect, readiness),
    )
    names = [name for name in ("connector", "sender", "target") if _differ(name, action.effect, effect)]
    facts = {"by": by, "via": TOOL, "changed": names, "before": action.digest, "target": effect.target}
    return (yield from walk(changed, Move.EDIT, facts, now_ms))


def _differ(name: str, one: Effect, other: Effect) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def _judged(action: Action, effect: Effect, readiness: Readiness) -> Preflight:
    old = action.preflight
    return preflight(
        effect,
        readiness,
        declared=old.severity,
        warnings=old.warnings,
        recommendations=old.recommendations,
        gates=tuple(each for each in old.gates if each != "connector_not_ready"),
        cost_credits=old.estimated_cost_credits,
    )
