"""What becomes of an attempt whose outcome is not known (C10, C30).

The job is enqueued with the claim and due when its lease ends, so a process that died is looked after by whichever
lives. It first says what is true: the outcome is unknown. Then it finds out what it can by what the connector
declares: repeat under the same key where the provider recognises it, look where it can be asked, and otherwise leave
it to a human. An effect is never sent again on a guess.
"""

from __future__ import annotations

from typing import Any

from assent.engine import actions, execution
from assent.engine.execution import certain, credible, record, settle
from assent.engine.failpoints import failpoint
from assent.engine.jobs import Job, JobFailed
from assent.engine.services import Services
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.lifecycle import gate
from assent.lifecycle.gate import ApprovedAction
from assent.lifecycle.records import Action, ExecutionState
from assent.lifecycle.transitions import Move
from assent.ports import Connector, Delivered, NotSent, OutcomeUnknown, Transaction


async def reconcile(services: Services, job: Job) -> None:
    """Handle the job. Raises to be tried again on its schedule; ends quietly when only a human can say."""
    workspace_id, action_id = job.workspace_id, ActionId(job.payload["actionId"])
    attempt_id: str = job.payload["attemptId"]
    action = await services.store.write(
        lambda: admit_loss(workspace_id, action_id, attempt_id, services.clock.now_ms())
    )
    failpoint("reconcile.admitted")
    if action is None:
        return
    connector = services.connectors.get(action.effect.connector)
    if connector is None:
        raise JobFailed(f"connector {action.effect.connector} is not registered")
    outcome = await look_into(services, connector, action)
    failpoint("reconcile.looked")
    if outcome is None:
        return
    if isinstance(outcome, OutcomeUnknown):
        raise JobFailed(f"still unknown: {outcome}")
    await services.store.write(lambda: record(action, outcome, services.clock.now_ms()))
    failpoint("reconcile.recorded")


def admit_loss(
    workspace_id: WorkspaceId, action_id: ActionId, attempt_id: str, now_ms: int
) -> Transaction[Action | None]:
    """The action, if this attempt's outcome is unknown; an attempt past its lease becomes so here."""
    action, _ = yield from actions.lock(workspace_id, action_id)
    if action.attempt is None or action.attempt.attempt_id != attempt_id:
        return None
    if action.execution_state is ExecutionState.EXECUTING and action.attempt.lease_until_ms <= now_ms:
        lost = OutcomeUnknown("the process that sent it did not report back")
        yield from settle(action, lost, Move.LOSE, now_ms)
        action, _ = yield from actions.lock(workspace_id, action_id)
    return action if action.execution_state is ExecutionState.OUTCOME_UNKNOWN else None


async def look_into(
    services: Services, connector: Connector, action: Action
) -> Delivered | NotSent | OutcomeUnknown | None:
    """What can be known, or None where only a human can say."""
    delivery, timeout = connector.delivery, services.connector_timeout_seconds
    approved = gate.opened(action)
    if delivery.kind == "natural_key":
        return await _repeated(services, connector, approved)
    if delivery.kind == "native_key" and action.attempt is not None:
        age_ms = services.clock.now_ms() - action.attempt.started_ms
        # Half the window: the provider's clock and ours need not agree, and the call itself takes time.
        if delivery.window_ms is not None and age_ms < delivery.window_ms // 2:
            return await _repeated(services, connector, approved)
        return None
    if delivery.kind == "read_back":
        found = await certain(services, connector, connector.look_up(approved, timeout))
        if found is None:
            return NotSent(Reason.CONNECTOR_FAILED, "the provider has no such effect", curable=True)
        return _found(found)
    return None


async def _repeated(
    services: Services, connector: Connector, approved: ApprovedAction
) -> Delivered | OutcomeUnknown:
    """The answer to the same call under the same key, which the provider recognises."""
    timeout_seconds = services.connector_timeout_seconds
    return _found(await certain(services, connector, connector.perform(approved, timeout_seconds)))


def _found(outcome: Delivered | NotSent | OutcomeUnknown) -> Delivered | OutcomeUnknown:
    """What asking again says about the first send: that the asking was refused says nothing."""
    outcome = credible(outcome)
    return OutcomeUnknown(outcome.detail) if isinstance(outcome, NotSent) else outcome


def resolve(
    workspace_id: WorkspaceId, action_id: ActionId, happened: bool, facts: dict[str, Any], now_ms: int
) -> Transaction[Action]:
    """A human's answer with evidence. `facts` say who, how sure, and what they saw."""
    action, _ = yield from actions.lock(workspace_id, action_id)
    if action.execution_state is not ExecutionState.OUTCOME_UNKNOWN:
        raise Refusal(
            Reason.ACTION_CLOSED
            if action.execution_state is ExecutionState.DONE
            else Reason.REQUIRES_APPROVAL,
            facts={"status": action.status},
            status=action.status,
            external_id=action.external_id,
            action_id=action.action_id,
            user_message="The outcome of this action is not in question.",
        )
    yield from actions.note(action, "outcome_answered", {"happened": happened, **facts}, now_ms)
    if happened:
        evidence = str(facts["evidence"])
        url = evidence if evidence.startswith(("https://", "http://")) else None
        outcome: Delivered | NotSent = Delivered(evidence, url, {"answeredBy": facts["by"]})
        yield from settle(action, outcome, Move.FOUND_DONE, now_ms)
    else:
        outcome = NotSent(Reason.CONNECTOR_FAILED, "a person says it did not happen", curable=True)
        yield from settle(action, outcome, Move.FOUND_NOT_DONE, now_ms)
    action, _ = yield from actions.lock(workspace_id, action_id)
    return action


__all__ = ["execution", "look_into", "reconcile", "resolve"]
