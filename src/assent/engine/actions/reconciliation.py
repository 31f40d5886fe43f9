"""What becomes of an attempt whose outcome is not known (C10, C30).

The job is enqueued with the claim and due when its lease ends, so a process that died is looked after by whichever
lives. It first says what is true: the outcome is unknown. Then it finds out what it can by what the connector
declares: repeat under the same key where the provider recognises it, look where it can be asked, and otherwise leave
it to a human. An effect is never sent again on a guess.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions
from assent.engine.actions.execution import certain
from assent.engine.actions.recording import credible, record, settle
from assent.engine.core.failpoints import failpoint
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.services import Services
from assent.gate import gate
from assent.gate.records import OUTCOME_TOLD, Action, Attempt, ExecutionState
from assent.gate.refusal_words import NOT_IN_QUESTION
from assent.gate.transitions import Move
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Connector, Delivered, NotSent, OutcomeUnknown, Transaction


async def reconcile(services: Services, job: Job) -> None:
    """Handle the job. Raises to be tried again on its schedule; ends quietly when only a human can say."""
    action = await services.store.write(lambda: admit_loss(services, job, services.clock.now_ms()))
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
        await services.store.write(lambda: let_go(action, services.clock.now_ms()))
        raise JobFailed(f"still unknown: {outcome}")
    await services.store.write(lambda: record(action, outcome, services.clock.now_ms()))
    failpoint("reconcile.recorded")


def admit_loss(services: Services, job: Job, now_ms: int) -> Transaction[Action | None]:
    """The action, if this attempt's outcome is unknown; an attempt past its lease becomes so here.

    Where the effect is going to be repeated, the action is held as by a claim: what the first process says too late
    is evidence only, and nobody answers, edits or sends while a call may be on its way.
    """
    workspace_id, action_id = job.workspace_id, ActionId(job.payload["actionId"])
    action, _ = yield from actions.lock(workspace_id, action_id)
    if action.attempt is None or action.attempt.attempt_id != job.payload["attemptId"]:
        return None
    if action.execution_state is ExecutionState.EXECUTING and action.attempt.lease_until_ms <= now_ms:
        lost = OutcomeUnknown("the process that sent it did not report back")
        yield from settle(action, lost, Move.LOSE, now_ms)
        action, _ = yield from actions.lock(workspace_id, action_id)
    if action.execution_state is not ExecutionState.OUTCOME_UNKNOWN or action.attempt is None:
        return None
    if is_held(action, now_ms):
        raise JobFailed("another look is under way")
    connector = services.connectors.get(action.effect.connector)
    if not repeatable(connector, action.attempt, now_ms) or not services.seals().hold(action):
        return action
    lease_until_ms = now_ms + int(services.execution_lease_seconds * 1000)
    attempt = msgspec.structs.replace(
        action.attempt, fence=action.attempt.fence + 1, lease_until_ms=lease_until_ms
    )
    return (yield from actions.put_all(msgspec.structs.replace(action, attempt=attempt), (), now_ms))


def is_held(action: Action, now_ms: int) -> bool:
    """Whether a repetition may be on its way."""
    return action.attempt is not None and action.attempt.lease_until_ms > now_ms


def let_go(held: Action, now_ms: int) -> Transaction[None]:
    """The repetition is over and nothing is known: whoever knows may say so again."""
    action, _ = yield from actions.lock(held.workspace_id, held.action_id)
    if action.attempt is not None and action.attempt == held.attempt:
        attempt = msgspec.structs.replace(action.attempt, lease_until_ms=now_ms)
        yield from actions.put_all(msgspec.structs.replace(action, attempt=attempt), (), now_ms)


def repeatable(connector: Connector | None, attempt: Attempt, now_ms: int) -> bool:
    """Whether the provider would recognise the same call."""
    if connector is None:
        return False
    delivery, age_ms = connector.delivery, now_ms - attempt.started_ms
    # Half the window: the provider's clock and ours need not agree, and the call itself takes time.
    return delivery.kind == "natural_key" or (
        delivery.kind == "native_key" and delivery.window_ms is not None and age_ms < delivery.window_ms // 2
    )


async def look_into(
    services: Services, connector: Connector, action: Action
) -> Delivered | NotSent | OutcomeUnknown | None:
    """What can be known, or None where only a human can say."""
    approved, timeout = gate.open_gate(action), services.connector_timeout_seconds
    if is_held(action, services.clock.now_ms()):
        return _read_repeat(await certain(services, connector, connector.perform(approved, timeout)))
    if connector.delivery.kind == "read_back":
        found = await certain(services, connector, connector.look_up(approved, timeout))
        if found is None:
            return NotSent(Reason.CONNECTOR_FAILED, "the provider has no such effect", curable=True)
        return _read_repeat(found)
    if connector.delivery.searches:
        # Past the window, and finding nothing proves nothing: then it is for a human.
        found = await certain(services, connector, connector.look_up(approved, timeout))
        return _read_repeat(found) if found is not None and _is_about_the_effect(found) else None
    return None


def _read_repeat(outcome: Delivered | NotSent | OutcomeUnknown) -> Delivered | NotSent | OutcomeUnknown:
    """What asking again says about the first send: that the asking was refused says nothing."""
    outcome = credible(outcome)
    refused = isinstance(outcome, NotSent) and not outcome.of_the_effect
    return OutcomeUnknown(str(outcome)) if refused else outcome


def _is_about_the_effect(found: Delivered | NotSent | OutcomeUnknown | None) -> bool:
    return isinstance(found, Delivered) or (isinstance(found, NotSent) and found.of_the_effect)


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
            words=NOT_IN_QUESTION,
            status=action.status,
            external_id=action.external_id,
            action_id=action.action_id,
        )
    if is_held(action, now_ms):
        raise gate.in_progress(action)
    yield from actions.note(action, "outcome_answered", {"happened": happened, **facts}, now_ms)
    if happened:
        evidence = str(facts["evidence"])
        told = {OUTCOME_TOLD: str(facts.get("assurance", ""))}
        action = msgspec.structs.replace(action, metadata={**action.metadata, **told})
        url = evidence if evidence.startswith(("https://", "http://")) else None
        outcome: Delivered | NotSent = Delivered(evidence, url, {"answeredBy": facts["by"]})
        yield from settle(action, outcome, Move.FOUND_DONE, now_ms)
    else:
        outcome = NotSent(Reason.CONNECTOR_FAILED, "a person says it did not happen", curable=True)
        yield from settle(action, outcome, Move.FOUND_NOT_DONE, now_ms)
    action, _ = yield from actions.lock(workspace_id, action_id)
    return action
