"""What did not go out, as a separate action: the remainder of a partly delivered effect for the accounts
that were not reached, or the whole effect of an action that failed.

The first action stays as it is. The new one needs its own approval: part of the content is public by
then, or the provider has refused it once.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.actions import actions, hooks
from assent.engine.actions.content import describe, edit_effect
from assent.engine.actions.decisions import describe_decider
from assent.engine.actions.hooks import Staged
from assent.engine.core.services import EffectServices
from assent.gate.effects import ARGUMENTS
from assent.gate.gate import Decider
from assent.gate.preflight import Readiness, preflight
from assent.gate.records import (
    OBSERVED,
    OFFERED_AS,
    OUTCOME_TOLD,
    PARTLY,
    REACHED,
    REFUSED_PEOPLE,
    REST_OF,
    Action,
    Effect,
    ExecutionState,
    Preflight,
    Status,
    is_erased,
)
from assent.gate.rules.drift import DRIFTED
from assent.gate.transitions import FAILED, state_of
from assent.gate.undo import is_reverse
from assent.kernel.ids import ActionId, derive_uuid7
from assent.kernel.limits import ACTION_TTL_MS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.texts import indent_json
from assent.ports import Delivered, Remainder, SendOutcome, Transaction
from assent.present.next_steps import warn_of_part, warn_of_rest

AGAIN_AS: Final = "againActionId"
OF_THE_FIRST: Final = frozenset(
    {OBSERVED, OUTCOME_TOLD, DRIFTED, "lastAttempt", REFUSED_PEOPLE, PARTLY, REACHED, OFFERED_AS}
)
"""Metadata about the sending of the first action, which the new one does not take over."""


def build_action(action: Action, left: Remainder, now_ms: int) -> Action:
    """Build the action for the remainder."""
    effect = msgspec.structs.replace(left.effect, schedule_ms=None)  # its time has passed
    copied = _copy(action, effect, "rest", now_ms)
    old = action.preflight
    return msgspec.structs.replace(
        copied,
        view=left.view,
        preflight=preflight(
            effect,
            left.view,
            Readiness(ready=True),
            declared=old.severity,
            warnings=(warn_of_rest(left), *old.warnings),
            recommendations=old.recommendations,
            gates=_keep_gates(old),
            cost_credits=0,  # paid with the first action
        ),
        metadata={**copied.metadata, REST_OF: action.action_id},
    )


def stage_again(decider: Decider, action_id: ActionId, now_ms: int) -> Transaction[Action]:
    """Stage the effect of a failed action as a new action of its run, once. Raises `Refusal` unless it failed and
    still has its content. A reverse is asked for again on the action that it takes back, which knows of one alone."""
    action, *_ = yield from actions.lock(decider.workspace_id, action_id)
    if (known := action.metadata.get(AGAIN_AS)) is not None:
        found, _ = yield from actions.find(decider.workspace_id, ActionId(known))
        return found
    if state_of(action) != FAILED or is_erased(action) or is_reverse(action.effect):
        raise Refusal(Reason.STALE_REVISION)
    effect = msgspec.structs.replace(action.effect, schedule_ms=None)  # its time has passed
    copied = _copy(action, effect, "again", now_ms)
    old = action.preflight
    again = msgspec.structs.replace(
        copied,
        preflight=preflight(
            effect,
            action.view,
            Readiness(ready=True),
            declared=old.severity,
            warnings=old.warnings,
            recommendations=old.recommendations,
            gates=_keep_gates(old),
            cost_credits=old.estimated_cost_credits,
        ),
        metadata={**copied.metadata, "againOf": action.action_id},
    )
    yield from actions.insert_action(again)
    yield from hooks.on_staged(_follow(again, now_ms))
    facts = {"againOf": action.action_id, "digest": again.digest, "view": again.view.digest()}
    yield from actions.note(again, "action_staged", {**facts, **describe_decider(decider)}, now_ms)
    marked = msgspec.structs.replace(action, metadata={**action.metadata, AGAIN_AS: again.action_id})
    yield from actions.put_without_event(marked)
    return again


def _follow(action: Action, now_ms: int) -> Staged:
    return Staged(workspace_id=action.workspace_id, run_id=action.run_id, actions=(action,), at_ms=now_ms)


def _copy(action: Action, effect: Effect, as_what: str, now_ms: int) -> Action:
    """Copy an action as if it were just staged. Its id is derived from the first one's, because a store may
    run a transaction twice."""
    name = f"{action.action_id}:{action.revision}:{as_what}"
    return msgspec.structs.replace(
        action,
        action_id=ActionId(derive_uuid7(now_ms, name.encode())),
        version=1,
        effect=effect,
        digest=effect.digest(),
        revision=1,
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        created_ms=now_ms,
        expires_ms=now_ms + ACTION_TTL_MS,
        schedule_ms=None,
        approval=None,
        rejection=None,
        attempt=None,
        executed_ms=None,
        external_id=None,
        external_url=None,
        metadata={name: each for name, each in action.metadata.items() if name not in OF_THE_FIRST},
    )


def _keep_gates(old: Preflight) -> tuple[str, ...]:
    """The gates of the first action, without that of its connector's state then."""
    return tuple(gate for gate in old.gates if gate != "connector_not_ready")


def with_offer(action: Action, left: Remainder, offered: Action) -> Action:
    """Return the delivered action with a note of the remainder."""
    warning = warn_of_part(left)
    warned = msgspec.structs.replace(action.preflight, warnings=(warning, *action.preflight.warnings))
    metadata = {**action.metadata, PARTLY: warning, OFFERED_AS: offered.action_id}
    if people := len(action.effect.everyone):
        metadata[REACHED] = f"{people - len(left.effect.everyone)} of {people}"
    return msgspec.structs.replace(action, preflight=warned, metadata=metadata)


def offer(done: Action, offered: Action, now_ms: int) -> Transaction[None]:
    """Store the action for the remainder, with the event that names its origin."""
    yield from actions.insert_action(offered)
    yield from hooks.on_offered(_follow(offered, now_ms))
    facts = {
        "restOf": done.action_id,
        "digest": offered.digest,
        "view": offered.view.digest(),
        "why": offered.preflight.warnings[0],
    }
    yield from actions.note(offered, "action_staged", facts, now_ms)


async def with_view(services: EffectServices, held: Action, outcome: SendOutcome) -> SendOutcome:
    """Return the outcome with the view of a remainder, which becomes an action of its own. The effect
    has happened: if the code of its type fails, the remainder gets the general view."""
    if not isinstance(outcome, Delivered) or outcome.rest is None:
        return outcome
    effect = await _write(services, outcome.rest.effect)
    try:
        view = await describe(services, held.workspace_id, effect)
    except Refusal:
        own, base_url = services.effects.select_trusted(), services.links.base_url
        view = own.describe(effect, workspace_id=held.workspace_id, base_url=base_url)
    rest = msgspec.structs.replace(outcome.rest, effect=effect, view=view)
    return msgspec.structs.replace(outcome, rest=rest)


async def _write(services: EffectServices, effect: Effect) -> Effect:
    """Return the effect of a remainder. If it has arguments, its text follows from them."""
    if not effect.arguments:
        return effect
    try:
        return await edit_effect(services, effect, {ARGUMENTS: {}})
    except Refusal:
        return msgspec.structs.replace(effect, body=indent_json(effect.arguments))
