"""Execute an approved action, and say what became of it: by the server, by an agent that runs it, or by hand.

`write` is that of `use_cases.decisions`.
"""

from __future__ import annotations

from typing import Any, Literal

from assent.engine.actions import decisions, execution, reconciliation, recording, remainder
from assent.engine.actions import undo as reverses
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.core import freezes
from assent.engine.core.failpoints import failpoint
from assent.engine.core.jobs import Job, JobDeferred, JobFailed
from assent.engine.core.services import ExecutionServices
from assent.engine.core.tenancy import Principal
from assent.engine.views import review
from assent.gate.gate import Decider
from assent.gate.policy import suffices
from assent.gate.records import Action, Assurance, ExecutionState, Freeze, Proposal
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Clock, OutcomeUnknown, SendOutcome, Transaction
from assent.present.outlook import Executed
from assent.present.refusals import SIGNED_IN_ANSWER, needs_approval, refuse_missing_type, refuse_settled
from assent.use_cases.decisions import DecisionOrder, R, Write, require_seen

Outcome = Literal["happened", "did_not_happen", "not_yet_known"]


async def execute(services: ExecutionServices, order: ExecutionOrder) -> Executed:
    """Execute an approved action at most once (E72): claim, perform, record, as `engine.actions.execution` explains.
    A caller that goes away does not interrupt it."""
    return await services.background.executions.run(_execute(services, order))


async def _execute(services: ExecutionServices, order: ExecutionOrder) -> Executed:
    claimed = await _claim(services, order)
    if isinstance(claimed, Executed):
        return claimed
    failpoint("execute.claimed")
    services.background.record_head()
    outcome = await remainder.with_view(services, claimed, await execution.call_connector(services, claimed))
    failpoint("execute.performed")
    reply = await services.store.write(lambda: recording.record(claimed, outcome, services.clock.now_ms()))
    failpoint("execute.recorded")
    if isinstance(outcome, OutcomeUnknown):
        services.background.wake_jobs()
    if isinstance(reply, Refusal):
        raise reply
    return reply


async def _claim(services: ExecutionServices, order: ExecutionOrder) -> Action | Executed:
    """Claim an action, or return the stored answer. A refusal is kept as an attempt."""
    try:
        return await execution.claim_action(services, order)
    except Refusal as refusal:
        await recording.record_refused(services, order.workspace_id, refusal, by=order.by, tool=order.tool)
        raise


async def hand_out(services: ExecutionServices, caller: Principal, action_id: ActionId, tool: str) -> Action:
    """Claim an approved action for the agent that runs it itself, at most once. It is executing until the agent
    reports (`report`) or its lease ends."""
    order = ExecutionOrder(workspace_id=caller.workspace_id, action_id=action_id, tool=tool, by=caller.name)
    claimed = await services.background.executions.run(_claim(services, order))
    if not isinstance(claimed, Action):
        raise TypeError("a claim without an idempotency key has no stored answer")
    return execution.open_claim(claimed)


async def report(
    clock: Clock,
    workspace_id: WorkspaceId,
    action_id: ActionId,
    attempt_id: str,
    outcome: SendOutcome,
    write: Write[Action, R],
) -> R:
    """Record what an agent says about an action that was handed out to it."""
    now_ms = clock.now_ms()
    return await write(lambda: recording.record_report(workspace_id, action_id, attempt_id, outcome, now_ms))


async def resolve(
    clock: Clock,
    wish: DecisionOrder,
    outcome: Outcome,
    evidence: str,
    write: Write[Action, R],
) -> R:
    """Record what a person found out about an unknown outcome. That it did not happen allows a second send, so only a
    signed-in person may say that (C8)."""
    decider, action_id = wish.decider, wish.action.action_id
    if outcome == "did_not_happen" and not suffices(decider.assurance, Assurance.PERSON):
        if wish.action.execution_state is not ExecutionState.OUTCOME_UNKNOWN:
            raise refuse_settled(wish.action)
        raise needs_approval(wish.action, SIGNED_IN_ANSWER)
    facts: dict[str, Any] = {
        "by": decider.by,
        "assurance": decider.assurance,
        "via": decider.via,
        "evidence": evidence,
    }
    now_ms = clock.now_ms()

    def begin() -> Transaction[Action]:
        if outcome == "not_yet_known":
            return review.record_unknown(decider.workspace_id, action_id, facts, now_ms)
        return reconciliation.resolve(decider.workspace_id, action_id, outcome == "happened", facts, now_ms)

    return await write(begin)


async def reconcile(services: ExecutionServices, job: Job) -> None:
    """Find out what became of an attempt, as its job. Raises `JobFailed` or `JobDeferred` for a retry; returns if only
    a person can tell."""
    try:
        action = await services.store.write(
            lambda: reconciliation.mark_lost(services, job, services.clock.now_ms())
        )
    except Refusal as refusal:
        if refusal.reason is Reason.FROZEN:
            raise JobDeferred(freezes.LOOK_AGAIN_MS) from refusal
        raise
    failpoint("reconcile.admitted")
    if action is None:
        return
    if isinstance(action, Freeze):
        raise JobDeferred(freezes.LOOK_AGAIN_MS)
    connector = services.connectors.get(action.effect.connector)
    if connector is None:
        raise JobFailed(f"connector {action.effect.connector} is not registered")
    outcome = await reconciliation.ask_provider(services, connector, action)
    if outcome is not None:
        outcome = await remainder.with_view(services, action, outcome)
    failpoint("reconcile.looked")
    if outcome is None:
        return
    if isinstance(outcome, OutcomeUnknown):
        await services.store.write(lambda: reconciliation.release_lease(action, services.clock.now_ms()))
        raise JobFailed(f"still unknown: {outcome}")
    await services.store.write(lambda: recording.record(action, outcome, services.clock.now_ms()))
    failpoint("reconcile.recorded")


async def look_now(services: ExecutionServices, wish: DecisionOrder, write: Write[Action, R]) -> R:
    """Let the provider of an unknown outcome be asked at once."""
    decider, now_ms = wish.decider, services.clock.now_ms()
    facts = {"by": decider.by, "via": decider.via}
    done = await write(
        lambda: reconciliation.ask_again(decider.workspace_id, wish.action.action_id, facts, now_ms)
    )
    services.background.wake_jobs()
    return done


async def record_by_hand(
    services: ExecutionServices,
    wish: DecisionOrder,
    url: str | None,
    write: Write[Action, R],
    *,
    blocked: bool = False,
) -> R:
    """Record that a person did an approved action by hand, and where it is. `blocked`: its connector cannot do it."""
    refuse_missing_type(services.effects, wish.action)
    now_ms = services.clock.now_ms()
    decider, action_id, seals = wish.decider, wish.action.action_id, services.keys.seals

    def begin() -> Transaction[Action]:
        yield from require_seen(wish)
        return (
            yield from decisions.record_publish(decider, action_id, url, now_ms, seals=seals, blocked=blocked)
        )

    return await write(begin)


async def undo(
    services: ExecutionServices, decider: Decider, action: Action, proposal: Proposal, write: Write[Action, R]
) -> R:
    """Stage the reverse of an executed action, once. It waits for its own approval; `proposal` says who asks for it."""
    built: Action | Refusal
    try:
        built = await reverses.build(services, decider, action, proposal)
    except Refusal as refusal:
        built = refusal  # a repeated request gets its first answer all the same
    now_ms = services.clock.now_ms()
    return await write(lambda: reverses.stage(decider, built, now_ms))


async def try_again(clock: Clock, wish: DecisionOrder, write: Write[Action, R]) -> R:
    """Stage the effect of a failed action again. The new action waits for its own approval."""
    now_ms = clock.now_ms()
    return await write(lambda: remainder.stage_again(wish.decider, wish.action.action_id, now_ms))
