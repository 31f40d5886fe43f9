"""Reconcile attempts whose outcome is unknown (C10, C30).

The job (`use_cases.executions.reconcile`) is enqueued with the claim and due when the lease ends, so any live process
takes over from one that died. It first records that the outcome is unknown. Then it uses the delivery that the
connector declares: repeat under the same key, look the effect up, or leave the answer to a person.
`assent.engine.actions.execution` describes the protocol.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions, doubts, guards
from assent.engine.actions.execution import await_outcome, perform
from assent.engine.actions.recording import RECONCILE_JOB, check_delivery, settle
from assent.engine.core import freezes, jobs, journal
from assent.engine.core.jobs import Job, JobDeferred, JobFailed
from assent.engine.core.services import EffectServices, ExecutionServices
from assent.gate import gate
from assent.gate.records import OUTCOME_TOLD, Action, ExecutionState, Freeze, find_stop
from assent.gate.transitions import Move
from assent.kernel.ids import ActionId, WorkspaceId
from assent.ports import Connector, Context, Delivered, NotSent, OutcomeUnknown, SendOutcome, Transaction
from assent.present import refusals


def mark_lost(services: ExecutionServices, job: Job, now_ms: int) -> Transaction[Action | Freeze | None]:
    """Return the action if the outcome of the job's attempt is unknown, else None. An attempt past
    its lease becomes unknown here. Returns the freeze where a repetition must wait for its end.

    If the effect will be repeated, the attempt gets a new fence and lease, as a claim would give
    it: a late result of the first process becomes evidence only, and no one can resolve, edit or
    execute the action during the call.
    """
    workspace_id, action_id = job.workspace_id, ActionId(job.payload["actionId"])
    yield from freezes.begin_claim(workspace_id)
    action, policy, *_ = yield from actions.lock(workspace_id, action_id)
    if action.attempt is None or action.attempt.attempt_id != job.payload["attemptId"]:
        return None
    if action.execution_state is ExecutionState.EXECUTING:
        if action.attempt.is_held(now_ms):
            raise JobDeferred(action.attempt.lease_until_ms - now_ms)
        lost = OutcomeUnknown("the process that sent it did not report back")
        yield from settle(_bar(action, now_ms), lost, Move.LOSE, now_ms)
        action, policy, *_ = yield from actions.lock(workspace_id, action_id)
    if action.execution_state is not ExecutionState.OUTCOME_UNKNOWN or action.attempt is None:
        return None
    if is_held(action, now_ms):
        raise JobFailed("another look is under way")
    connector = services.connectors.get(action.effect.connector)
    # By both times: a clock that was set back must not make the provider's key look fresh.
    latest_ms = max(action.attempt.taken_ms, (yield from journal.find_latest(workspace_id, now_ms)))
    if not all(repeatable(connector, action, at_ms) for at_ms in (now_ms, latest_ms)):
        return action
    if not services.keys.seals.hold(action):
        return action
    if policy.require(action).denied:
        return action  # a repetition may be what makes it happen; a person answers
    if (frozen := find_stop((yield from freezes.list_in(workspace_id)), action)) is not None:
        return frozen
    lease_until_ms = now_ms + services.limits.lease_ms_for(connector)
    attempt = msgspec.structs.replace(
        action.attempt, fence=action.attempt.fence + 1, leased_ms=now_ms, lease_until_ms=lease_until_ms
    )
    changed = msgspec.structs.replace(action, attempt=attempt)
    return (yield from actions.put_claim(changed))


def is_held(action: Action, now_ms: int) -> bool:
    """Whether a repeated call may be in flight."""
    return action.attempt is not None and action.attempt.is_held(now_ms)


def _bar(action: Action, now_ms: int) -> Action:
    """Bar a new attempt for the length of the lease, if the lease is over by a clock that was set back."""
    attempt = action.attempt
    if attempt is None or attempt.lease_until_ms <= now_ms:
        return action
    barred_until_ms = now_ms + attempt.lease_until_ms - attempt.taken_ms
    return msgspec.structs.replace(
        action, attempt=msgspec.structs.replace(attempt, barred_until_ms=barred_until_ms)
    )


def release_lease(held: Action, now_ms: int) -> Transaction[None]:
    """End the lease after a repetition without a result, so that a person can resolve it."""
    action, *_ = yield from actions.lock(held.workspace_id, held.action_id)
    if action.attempt is not None and action.attempt == held.attempt:
        attempt = msgspec.structs.replace(action.attempt, lease_until_ms=now_ms)
        yield from actions.put_without_event(msgspec.structs.replace(action, attempt=attempt))


def repeatable(connector: Connector | None, action: Action, now_ms: int) -> bool:
    """Whether the provider would recognise a repetition of the action's attempt. After a restore an
    earlier send counts, too; an attempt that a restore made up is never repeated."""
    attempt, doubt = action.attempt, doubts.find_doubt(action)
    if attempt is None or attempt.restored or not guards.may_reach(action, connector):
        return False
    since_ms = attempt.started_ms if doubt is None else min(doubt.since_ms, attempt.started_ms)
    return doubts.recognises(connector, since_ms, now_ms)


async def ask_provider(services: EffectServices, connector: Connector, action: Action) -> SendOutcome | None:
    """Ask the provider and return the outcome, or None where only a person can tell."""
    ctx = Context(gate.open_gate(action), services.limits.timeout_for(connector))
    if is_held(action, services.clock.now_ms()):
        return _read_repeat(await await_outcome(connector, ctx, perform(services, connector, ctx)))
    if connector.delivery.kind == "read_back":
        found = await await_outcome(connector, ctx, connector.look_up(ctx, ctx.action.effect))
        if found is None:
            return NotSent("the provider has no such effect", retry=True)
        return _read_repeat(found)
    if connector.delivery.searches:
        # Past the window. Finding nothing proves nothing, so a person decides.
        found = await await_outcome(connector, ctx, connector.look_up(ctx, ctx.action.effect))
        return _read_repeat(found) if found is not None and _is_about_the_effect(found) else None
    return None


def _read_repeat(outcome: SendOutcome) -> SendOutcome:
    """Read the outcome of a repetition or look-up as that of the first send. A refusal of the new
    request alone leaves it unknown."""
    outcome = check_delivery(outcome)
    refused = isinstance(outcome, NotSent) and not outcome.of_the_effect
    return OutcomeUnknown(str(outcome)) if refused else outcome


def _is_about_the_effect(found: SendOutcome | None) -> bool:
    return isinstance(found, Delivered) or (isinstance(found, NotSent) and found.of_the_effect)


def ask_again(
    workspace_id: WorkspaceId, action_id: ActionId, facts: dict[str, Any], now_ms: int
) -> Transaction[Action]:
    """Let the provider be asked now, with all retries, whatever became of earlier looks. `facts` hold who
    wants it. Raises `Refusal` where the outcome is not unknown or a repetition is in flight."""
    action = yield from _lock_unknown(workspace_id, action_id, now_ms)
    attempt_id = action.attempt.attempt_id if action.attempt is not None else ""
    payload = {"actionId": action_id, "attemptId": attempt_id}
    yield from jobs.restart(workspace_id, RECONCILE_JOB, attempt_id, payload, now_ms)
    yield from actions.note(action, "outcome_asked", facts, now_ms)
    return action


def can_be_asked(connector: Connector | None) -> bool:
    """Whether a look may find out what became of an effect."""
    return connector is not None and connector.delivery.kind != "none"


def _lock_unknown(workspace_id: WorkspaceId, action_id: ActionId, now_ms: int) -> Transaction[Action]:
    """Lock an action whose outcome is unknown and of which no call is in flight. Raises `Refusal`."""
    action, *_ = yield from actions.lock(workspace_id, action_id)
    if action.execution_state is not ExecutionState.OUTCOME_UNKNOWN:
        raise refusals.refuse_settled(action)
    if is_held(action, now_ms):
        raise refusals.in_progress(action)
    return action


def resolve(
    workspace_id: WorkspaceId, action_id: ActionId, happened: bool, facts: dict[str, Any], now_ms: int
) -> Transaction[Action]:
    """Record a person's answer to an unknown outcome. `facts` hold the person, the assurance and
    the evidence. Raises `Refusal` where the outcome is not unknown or a repetition is in flight."""
    action = yield from _lock_unknown(workspace_id, action_id, now_ms)
    yield from actions.note(action, "outcome_answered", {"happened": happened, **facts}, now_ms)
    if happened:
        evidence = str(facts["evidence"])
        told = {OUTCOME_TOLD: str(facts.get("assurance", ""))}
        action = msgspec.structs.replace(action, metadata={**action.metadata, **told})
        url = evidence if evidence.startswith(("https://", "http://")) else None
        outcome: Delivered | NotSent = Delivered(evidence, url, {"answeredBy": facts["by"]})
        yield from settle(action, outcome, Move.FOUND_DONE, now_ms)
    else:
        outcome = NotSent(f"{facts['by']} says it did not happen", retry=True)
        yield from settle(action, outcome, Move.FOUND_NOT_DONE, now_ms)
    action, *_ = yield from actions.lock(workspace_id, action_id)
    return action
