"""The reverse of an executed action: prepared with exact arguments from its receipt, staged once beside it, and noted
on it once it has happened (`assent.gate.undo`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions, circumstances, decisions, hooks, staging
from assent.engine.actions.decisions import describe_decider
from assent.engine.actions.hooks import Settled, Staged
from assent.engine.core.offloading import call_extension
from assent.engine.core.services import EffectServices
from assent.gate.effects import EXECUTE
from assent.gate.gate import ANY_CONTENT, Decider
from assent.gate.records import Action, Effect, Proposal, Status, is_test, name_of, read_proposal
from assent.gate.transitions import TERMINAL, UNKNOWN, state_of
from assent.gate.undo import (
    UNDO_AS,
    UNDO_NAME,
    UNDO_OF,
    can_be_undone,
    is_spent,
    mark_undone,
    name_reverse,
    when_too_late,
)
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.ports import StagedEffect, Transaction
from assent.present import refusals
from assent.present.refusals import refuse_missing_type

REPLACED: Final = "It expired or was a test, and another undo was asked for."


async def build(services: EffectServices, decider: Decider, action: Action, proposal: Proposal) -> Action:
    """Return the reverse of an executed action, as it would be staged. Raises `Refusal` for any other."""
    now_ms, workspace_id = services.clock.now_ms(), action.workspace_id
    require(action, now_ms)
    refuse_missing_type(services.effects, action)
    kind = services.effects.find(action.effect)
    reverse = kind.find_reverse(action.effect) if kind is not None else None
    if kind is None or reverse is None:
        raise refusals.refuse_undo(action, now_ms)
    made: Effect = await call_extension(kind.operator, f"the undo of {kind.id}", lambda: reverse.make(action))
    named = name_reverse(made, action, reverse.leaves)
    effect, ready = await circumstances.address(services, workspace_id, named)
    run, of_run, taken = await services.store.read(lambda: _read_run(action, now_ms))
    wanted = StagedEffect(effect=effect, executor_tool=EXECUTE, expires_ms=when_too_late(action))
    said = msgspec.structs.replace(proposal, operator=kind.operator, test=proposal.test or is_test(action))
    staged = await staging.new_action(
        services,
        msgspec.structs.replace(run, created_ms=now_ms),
        (),
        wanted,
        max(each.position for each in of_run) + 1,
        ready,
        msgspec.to_builtins(said),
        staging.choose_name(UNDO_NAME + name_of(action), set(taken)),
    )
    return msgspec.structs.replace(staged, metadata={**staged.metadata, UNDO_OF: action.action_id})


def _read_run(action: Action, now_ms: int) -> Transaction[Any]:
    run = yield from actions.find_run(action.workspace_id, action.run_id)
    of_run = yield from actions.run_actions(action.workspace_id, action.run_id)
    return run, of_run, (yield from actions.list_names(action.workspace_id, now_ms))


def require(action: Action, now_ms: int) -> None:
    """Raise `Refusal` unless an action certainly happened and can still be undone."""
    if state_of(action) == UNKNOWN:
        raise refusals.unknown_outcome(action)
    if not can_be_undone(action, now_ms):
        raise refusals.refuse_undo(action, now_ms)


def stage(decider: Decider, built: Action | Refusal, now_ms: int) -> Transaction[Action]:
    """Store a reverse, linked with the action that it takes back. While an earlier one can still happen, return that
    one instead, and close one that expired: an action is taken back at most once."""
    if isinstance(built, Refusal):
        raise built
    action, *_ = yield from actions.lock(built.workspace_id, ActionId(built.metadata[UNDO_OF]))
    if (known := action.metadata.get(UNDO_AS)) is not None:
        earlier, _ = yield from actions.find(built.workspace_id, ActionId(known))
        if not is_spent(earlier, now_ms, test=is_test(built)):
            return earlier
        if state_of(earlier) not in TERMINAL:
            # Also with the clock set back it must not happen beside the one that replaces it.
            yield from decisions.reject(decider, earlier.action_id, REPLACED, ANY_CONTENT, now_ms)
    require(action, now_ms)
    proposer = read_proposal(built).caller
    yield from actions.insert_action(built, proposed_by=proposer)
    yield from hooks.on_staged(
        Staged(
            workspace_id=built.workspace_id,
            run_id=built.run_id,
            actions=(built,),
            at_ms=now_ms,
            proposer=proposer or decider.by,
        )
    )
    facts = {"undoOf": action.action_id, "digest": built.digest, "view": built.view.digest()}
    yield from actions.note(built, "action_staged", {**facts, **describe_decider(decider)}, now_ms)
    linked = {**action.metadata, UNDO_AS: built.action_id}
    yield from actions.put_without_event(msgspec.structs.replace(action, metadata=linked))
    return built


def note_undone(settled: Settled) -> Transaction[None]:
    """Note on an action that its reverse has happened."""
    reverse = settled.action
    of = reverse.metadata.get(UNDO_OF)
    if of is None or reverse.status is not Status.EXECUTED:
        return
    action = yield from actions.lock_known(reverse.workspace_id, ActionId(of))
    if (
        action is not None
        and can_be_undone(action, action.executed_ms or 0)
        and (is_test(action) or not is_test(reverse))
    ):
        yield from actions.put_without_event(mark_undone(action, reverse, settled.at_ms))
