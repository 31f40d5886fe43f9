"""Execute: claim, call, record.

1. One transaction judges the stored action and claims it: an attempt with a fence and a lease, its event, and the job
   that looks after it should this process die.
2. The connector is called outside any transaction, with a deadline shorter than the lease.
3. One transaction records the outcome where attempt and fence still match, and the answer under the caller's key.
4. A lease that ends without an outcome never executes again by itself: the outcome is unknown, and is looked into by
   what the connector declares (`assent.engine.actions.reconciliation`).

A claimed execution is not the caller's to cancel: it runs to its recorded end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from assent.engine.actions import actions, addressing, blocked, credits, recipients
from assent.engine.actions.confirming import refuse_confirmation
from assent.engine.actions.recording import RECONCILE_JOB, Executed, credible, record, replay_answer
from assent.engine.actions.unsent import by_hand, not_live, unready
from assent.engine.audit import refused_attempts
from assent.engine.core import idempotency as once
from assent.engine.core import jobs
from assent.engine.core.failpoints import failpoint
from assent.engine.core.services import Services
from assent.gate import gate
from assent.gate.preflight import BLOCKING_GATES, Readiness, blocking_gate
from assent.gate.records import Action, Attempt
from assent.gate.review_link import LOOK, Scope
from assent.gate.transitions import Move, follow, state_of
from assent.kernel import canonical
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.times import iso_time
from assent.ports import Connector, Delivered, NotSent, OutcomeUnknown, Transaction

log = logging.getLogger("assent.execution")

MANUAL: Final = "manual"
EXECUTE_TOOL: Final = "chieflab_execute_approved_action"
PUBLISH_TOOL: Final = "chieflab_publish_approved_post"
SEND_TOOL: Final = "chieflab_send_approved_email"
Outcome = TypeVar("Outcome")

_running: Final[set[asyncio.Task[Any]]] = set()


class ExecutionOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for which action to be executed, by which tool and under which key."""

    workspace_id: WorkspaceId
    action_id: ActionId
    tool: str
    by: str
    key: str | None = None
    approval: int | None = None
    """The one approval that asked for this, where it is a job's: another does not count (`Approval.since`)."""
    holder: str | None = None
    """Whose the answer under the key is (`Principal.holder`)."""
    link_scope: Scope = LOOK
    """What the review link of a refusal may do; a job shows it to nobody."""

    def digest(self) -> str:
        return canonical.digest({"actionId": self.action_id})


async def execute(services: Services, order: ExecutionOrder) -> Executed:
    """Fire an approved action at most once (E72), or refuse."""
    task = asyncio.create_task(_execute(services, order))
    _running.add(task)
    task.add_done_callback(_running.discard)
    return await asyncio.shield(task)


async def finish_running() -> None:
    """Wait for the executions in flight; a stopping process does this before it closes its store."""
    if _running:
        await asyncio.wait(set(_running))


async def _execute(services: Services, order: ExecutionOrder) -> Executed:
    try:
        held = await claim_action(services, order)
    except Refusal as refusal:
        await refused_attempts.record(services, order.workspace_id, refusal, by=order.by, tool=order.tool)
        raise
    if isinstance(held, Executed):
        return held
    failpoint("execute.claimed")
    outcome = await perform(services, held)
    failpoint("execute.performed")
    reply = await services.store.write(lambda: record(held, outcome, services.clock.now_ms()))
    failpoint("execute.recorded")
    if isinstance(outcome, OutcomeUnknown):
        services.wake_jobs()
    if isinstance(reply, Refusal):
        raise reply
    return reply


async def claim_action(services: Services, order: ExecutionOrder) -> Action | Executed:
    """Claim, asking the connector first where it has to be asked.

    Which connector that is only the stored action says, so the first try finds out and takes itself back.
    """
    asked: ReadinessAnswer | None = None
    while True:
        now_ms = services.clock.now_ms()
        begin = partial(claim, services, order, services.new_id(now_ms), now_ms, asked)
        try:
            return await services.store.write(begin)
        except _AskFirst as ask:
            effect = ask.action.effect
            readiness = await addressing.readiness_of(ask.connector, order.workspace_id, effect)
            if not readiness.ready:
                bound, readiness = await blocked.bind(services, ask.action, by=order.by, via=order.tool)
                if bound is not None:
                    raise newly_bound(services, order, bound) from None
                advice = addressing.advise(services, order.workspace_id, effect, readiness)
                readiness = msgspec.structs.replace(readiness, fix_hint=advice)
            asked = ReadinessAnswer(ask.connector.id, ask.action.digest, readiness)


def newly_bound(services: Services, order: ExecutionOrder, bound: Action) -> Refusal:
    """The account was named just now: a human sees the action with it before it goes out."""
    now_ms = services.clock.now_ms()
    return Refusal(
        Reason.REQUIRES_APPROVAL,
        status=bound.status,
        action_id=bound.action_id,
        review_url=services.review_url(bound.workspace_id, bound.run_id, now_ms, order.link_scope),
        user_message=blocked.describe_binding(bound),
    )


class ReadinessAnswer(msgspec.Struct, frozen=True):
    """What a connector said just now about performing an effect."""

    connector_id: str
    digest: str
    readiness: Readiness


class _AskFirst(Exception):  # noqa: N818 - what to do
    """Takes a claim back: nobody may be claimed for a connector that has not said it is ready."""

    def __init__(self, connector: Connector, action: Action) -> None:
        super().__init__(connector.id)
        self.connector = connector
        self.action = action


def _obstacle(services: Services, action: Action, asked: ReadinessAnswer | None) -> Refusal | None:
    """What keeps the connector from performing an approved action (E24)."""
    if action.effect.connector == MANUAL:
        return by_hand(action)
    connector = services.connectors.get(action.effect.connector)
    if connector is None:
        return not_live(action)
    if getattr(connector, "always_ready", False):
        return None
    if asked is None or (asked.connector_id, asked.digest) != (connector.id, action.digest):
        raise _AskFirst(connector, action)
    return unready(action, asked.readiness) if not asked.readiness.ready else None


def claim(
    services: Services,
    order: ExecutionOrder,
    attempt_id: str,
    now_ms: int,
    asked: ReadinessAnswer | None = None,
) -> Transaction[Action | Executed]:
    """Judge and claim, so that at most one attempt is in flight (E29), or answer what was answered before under the
    same idempotency key (E27, E49)."""
    action, policy = yield from actions.lock(order.workspace_id, order.action_id)
    if order.key is not None:
        seen = yield from once.recall(
            order.workspace_id, order.tool, order.key, order.digest(), now_ms, holder=order.holder
        )
        if seen is not None:
            return replay_answer(seen)
    action = yield from recipients.judge(action, now_ms)
    gate.judge_execution(
        action,
        policy,
        now_ms,
        lambda held: services.review_url(held.workspace_id, held.run_id, now_ms, order.link_scope),
        services.seals(),
        by_hand=action.effect.connector == MANUAL,
    )
    if order.approval is not None and (action.approval is None or action.approval.since != order.approval):
        raise gate.needs_approval(action, None)
    refuse_wrong_tool(action, order.tool)
    if (missing := blocking_gate(action.effect)) is not None:
        raise Refusal(
            Reason.VALIDATION_ERROR,
            action_id=action.action_id,
            user_message=BLOCKING_GATES[missing],
            problems=[Problem("actionId", "an action that has a recipient", "one without any")],
            fix="STOP. Ask who gets it and change the action with the recovery tool; it then needs a new approval.",
            stop_rule="Do not execute this action before the user has approved the changed version.",
            recovery_tool="chieflab_edit_action",
            recovery_args={"actionId": action.action_id},
            recovery_needs={"to": "who gets it"},
        )
    if (obstacle := _obstacle(services, action, asked)) is not None:
        raise obstacle
    lease_ms = int(services.execution_lease_seconds * 1000)
    attempt = Attempt(
        attempt_id=attempt_id,
        fence=action.attempt.fence + 1 if action.attempt is not None else 1,
        started_ms=now_ms,
        lease_until_ms=now_ms + lease_ms,
        tool=order.tool,
        key=order.key,
        request_digest=order.digest() if order.key is not None else None,
        holder=order.holder if order.key is not None else None,
    )
    changed = msgspec.structs.replace(action, attempt=attempt)
    state = follow(state_of(action), Move.CLAIM)
    facts = {
        "by": order.by,
        "attemptId": attempt_id,
        "fence": attempt.fence,
        "providerKey": action.provider_key,
        "leaseUntil": iso_time(attempt.lease_until_ms),
    }
    claimed = yield from actions.put(changed, state, Move.CLAIM, facts, now_ms)
    yield from jobs.enqueue(
        action.workspace_id,
        RECONCILE_JOB,
        attempt_id,
        {"actionId": action.action_id, "attemptId": attempt_id},
        due_ms=attempt.lease_until_ms,
        now_ms=now_ms,
    )
    yield from credits.reserve(claimed, order.by, now_ms)
    return claimed


def refuse_wrong_tool(action: Action, tool: str) -> None:
    """A bound executor fires its own kind only; the general one fires all that can be fired."""
    refuse_confirmation(action)
    bound = SEND_TOOL if action.effect.verb in ("email", "send") else PUBLISH_TOOL
    if tool not in (action.executor_tool, bound, EXECUTE_TOOL):
        raise Refusal(
            Reason.VALIDATION_ERROR,
            action_id=action.action_id,
            problems=[Problem("actionId", f"an action that {tool} fires", action.effect.type)],
        )


async def perform(services: Services, claimed: Action) -> Delivered | NotSent | OutcomeUnknown:
    """Call the connector with a claimed action. Whatever is not certain is unknown."""
    connector = services.connectors.get(claimed.effect.connector)
    if connector is None:
        return NotSent(Reason.PROVIDER_NOT_LIVE, "the connector is not registered any more", curable=True)
    timeout_seconds = services.connector_timeout_seconds
    if claimed.attempt is None or _too_late(claimed.attempt, timeout_seconds, services.clock.now_ms()):
        return NotSent(Reason.CONNECTOR_FAILED, "there was no time left to send it", curable=True)
    call = connector.perform(gate.open_gate(claimed), timeout_seconds)
    return credible(await certain(services, connector, call))


def _too_late(attempt: Attempt, timeout_seconds: float, now_ms: int) -> bool:
    """Whether a call made now could outlive its lease: a process that slept since the claim has lost it."""
    return now_ms + int(timeout_seconds * 1000) > attempt.lease_until_ms


async def certain(
    services: Services, connector: Connector, call: Awaitable[Outcome]
) -> Outcome | NotSent | OutcomeUnknown:
    try:
        failpoint("execute.calling")
        async with asyncio.timeout(services.connector_timeout_seconds):
            return await call
    except NotSent as not_sent:
        return not_sent
    except OutcomeUnknown as unknown:
        return unknown
    except TimeoutError:
        return OutcomeUnknown(f"no answer within {services.connector_timeout_seconds:g} seconds")
    except Exception as error:
        log.exception("connector %s failed in an undeclared way", connector.id)
        return OutcomeUnknown(f"the connector failed: {type(error).__name__}")
