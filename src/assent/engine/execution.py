"""Execute: claim, call, record.

1. One transaction judges the stored action and claims it: an attempt with a fence and a lease, its event, and the job
   that looks after it should this process die.
2. The connector is called outside any transaction, with a deadline shorter than the lease.
3. One transaction records the outcome where attempt and fence still match, and the answer under the caller's key.
4. A lease that ends without an outcome never executes again by itself: the outcome is unknown, and is looked into by
   what the connector declares (`assent.engine.reconciliation`).

A claimed execution is not the caller's to cancel: it runs to its recorded end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from assent.drafting import channels
from assent.engine import (
    actions,
    addressing,
    blocked,
    credits,
    jobs,
    measurement,
    notifications,
    once,
    recipients,
    refused_attempts,
    rest,
)
from assent.engine.confirming import refuse_confirmation
from assent.engine.failpoints import failpoint
from assent.engine.services import Services
from assent.engine.unsent import by_hand, not_live, refusal_for, unready
from assent.kernel import canonical
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import SECOND_MS
from assent.kernel.refusals import Problem, Reason, Recovery, Refusal, Replay
from assent.kernel.times import iso_time
from assent.lifecycle import gate
from assent.lifecycle.calls import SuggestedCall
from assent.lifecycle.cards import PLAIN, describe_outcome, next_calls
from assent.lifecycle.preflight import BLOCKING_GATES, Readiness, blocking_gate
from assent.lifecycle.records import Action, Attempt
from assent.lifecycle.review_link import LOOK, Scope
from assent.lifecycle.transitions import Move, follow, state_of
from assent.ports import REFERENCE, Connector, Delivered, NotSent, OutcomeUnknown, Transaction

log = logging.getLogger("assent.execution")

MANUAL: Final = "manual"
RECONCILE_JOB: Final = "reconcile_action"
EXECUTE_TOOL: Final = "chieflab_execute_approved_action"
PUBLISH_TOOL: Final = "chieflab_publish_approved_post"
SEND_TOOL: Final = "chieflab_send_approved_email"
LOOK_AGAIN_AFTER_MS: Final = 2 * SECOND_MS
"""A call that ended without an answer is looked into soon: no lease has to be waited for, and a provider recognises a
key for minutes only."""
Outcome = TypeVar("Outcome")

_running: Final[set[asyncio.Task[Any]]] = set()


class Executed(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The answer of every executor; a replay is equal to it but for `replay`."""

    ok: bool
    action_id: str
    run_id: str
    status: str
    external_id: str
    executed_at: str
    external_url: str | msgspec.UnsetType = msgspec.UNSET
    post_id: str | msgspec.UnsetType = msgspec.UNSET
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    partly: str | msgspec.UnsetType = msgspec.UNSET
    """What of it did not go out, in words for the human."""
    rest_action_id: str | msgspec.UnsetType = msgspec.UNSET
    """The action that offers the rest; it waits for approval like any other."""
    user_message: str = ""
    show: str = ""
    next: tuple[SuggestedCall, ...] = ()
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


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
        held = await claimed(services, order)
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


async def claimed(services: Services, order: ExecutionOrder) -> Action | Executed:
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
            return remembered(seen)
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


def credible(outcome: Delivered | NotSent | OutcomeUnknown) -> Delivered | NotSent | OutcomeUnknown:
    """What a connector returned, unless it is no delivery that could be shown to anybody (E68)."""
    if isinstance(outcome, NotSent | OutcomeUnknown):
        return outcome
    named = isinstance(outcome, Delivered) and isinstance(outcome.external_id, str) and outcome.external_id
    return outcome if named else OutcomeUnknown("the connector's answer names no effect")


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


def record(
    claimed: Action, outcome: Delivered | NotSent | OutcomeUnknown, now_ms: int
) -> Transaction[Executed | Refusal]:
    """Write the outcome down where the attempt is still ours; a late one is kept as evidence."""
    action, _ = yield from actions.lock(claimed.workspace_id, claimed.action_id)
    attempt = claimed.attempt
    if attempt is None or action.attempt is None or not same_call(action.attempt, attempt):
        yield from actions.note(claimed, "late_answer", {"outcome": said(outcome)}, now_ms)
        return gate.in_progress(action)
    move = MOVES[type(outcome)](outcome, action)
    if move is None:
        yield from actions.note(claimed, "late_answer", {"outcome": said(outcome)}, now_ms)
        return gate.unknown_outcome(action, None)
    reply = yield from settle(action, outcome, move, now_ms)
    if isinstance(outcome, OutcomeUnknown):
        soon_ms = now_ms + LOOK_AGAIN_AFTER_MS
        yield from jobs.hasten(action.workspace_id, RECONCILE_JOB, attempt.attempt_id, soon_ms)
    else:
        yield from jobs.cancel(action.workspace_id, RECONCILE_JOB, attempt.attempt_id)
    return reply


def same_call(attempt: Attempt, other: Attempt) -> bool:
    return (attempt.attempt_id, attempt.fence) == (other.attempt_id, other.fence)


def settle(
    action: Action, outcome: Delivered | NotSent | OutcomeUnknown, move: Move, now_ms: int
) -> Transaction[Executed | Refusal]:
    """Move a locked action by what became known, keep the id that the provider gave (E28), and remember the final
    answer under the attempt's key."""
    state = follow(state_of(action), move)
    facts = {"attemptId": action.attempt.attempt_id if action.attempt is not None else None, **said(outcome)}
    if isinstance(outcome, Delivered):
        changed = msgspec.structs.replace(
            action, executed_ms=now_ms, external_id=outcome.external_id, external_url=outcome.external_url
        )
        left = outcome.rest
        offered = rest.action_for(action, left, now_ms) if left is not None else None
        if left is not None and offered is not None:
            changed = rest.with_offer(changed, left, offered)
            facts["restOffered"] = offered.action_id
        done = yield from actions.put(changed, state, move, facts, now_ms)
        if offered is not None:
            yield from rest.offer(done, offered, now_ms)
        yield from credits.settle(done, now_ms)
        yield from measurement.schedule(done, now_ms)
        reply = executed(done)
        yield from keep(done, msgspec.json.encode(reply).decode(), now_ms)
        return reply
    note = said(outcome)["detail"]
    over = (
        msgspec.structs.replace(action.attempt, lease_until_ms=now_ms) if action.attempt is not None else None
    )
    known = {"lastAttempt": note}
    if isinstance(outcome, OutcomeUnknown) and outcome.reference is not None:
        known[REFERENCE] = outcome.reference
    changed = msgspec.structs.replace(action, attempt=over, metadata={**action.metadata, **known})
    changed = yield from actions.put(changed, state, move, facts, now_ms)
    if isinstance(outcome, NotSent):
        yield from credits.release(changed, now_ms)
        yield from notifications.ask_about_stopped(changed, now_ms)
    else:
        yield from notifications.ask(changed.workspace_id, changed.run_id, "unknown", now_ms)
    refusal = refusal_for(changed, outcome)
    if isinstance(outcome, NotSent) and not outcome.curable:
        yield from keep(changed, msgspec.json.encode(refusal.recovery()).decode(), now_ms)
    return refusal


def keep(action: Action, answer: str, now_ms: int) -> Transaction[None]:
    """The final answer of the attempt, for whoever repeats the call with its key."""
    attempt = action.attempt
    if attempt is not None and attempt.key is not None and attempt.request_digest is not None:
        yield from once.remember(
            action.workspace_id,
            attempt.tool,
            attempt.key,
            attempt.request_digest,
            answer,
            now_ms,
            holder=attempt.holder,
        )


def _delivered(outcome: Any, action: Action) -> Move | None:
    """Also where it was taken for not done: it must not be sent again."""
    found = dict.fromkeys(("outcome_unknown", "retryable"), Move.FOUND_DONE)
    return {"executing": Move.SUCCEED, **found}.get(action.execution_state)


def _not_sent(outcome: Any, action: Action) -> Move | None:
    by_state = {
        "executing": (Move.POSTPONE, Move.REFUSE),
        "outcome_unknown": (Move.FOUND_NOT_DONE, Move.FOUND_REFUSED),
    }.get(action.execution_state)
    return None if by_state is None else by_state[0 if outcome.curable else 1]


def _unknown(outcome: Any, action: Action) -> Move | None:
    return Move.LOSE if action.execution_state == "executing" else None


MOVES: Final[dict[type, Any]] = {Delivered: _delivered, NotSent: _not_sent, OutcomeUnknown: _unknown}


def said(outcome: Delivered | NotSent | OutcomeUnknown) -> dict[str, Any]:
    """What the connector said, for the journal."""
    if isinstance(outcome, Delivered):
        return {
            "outcome": "delivered",
            "detail": "",
            "externalId": outcome.external_id,
            "externalUrl": outcome.external_url,
            "evidence": outcome.evidence,
        }
    if isinstance(outcome, NotSent):
        return {
            "outcome": "not_sent",
            "detail": outcome.detail,
            "reason": outcome.reason,
            "curable": outcome.curable,
        }
    return {"outcome": "unknown", "detail": str(outcome)}


def executed(action: Action) -> Executed:
    """The executor's answer for an executed action."""
    external_id = action.external_id or ""
    mail = action.effect.verb in ("email", "send")
    row = channels.BY_ID.get(action.effect.channel)
    told = describe_outcome(action, row.label if row is not None else "", measurement.told_after(action))
    if (part := action.metadata.get(rest.PARTLY)) is not None:
        told = f"{told}\n{part}"
    return Executed(
        ok=True,
        action_id=action.action_id,
        run_id=action.run_id,
        status=action.status,
        external_id=external_id,
        executed_at=iso_time(action.executed_ms) or "",
        external_url=action.external_url if action.external_url is not None else msgspec.UNSET,
        post_id=msgspec.UNSET if mail else external_id,
        message_id=external_id if mail else msgspec.UNSET,
        partly=action.metadata.get(rest.PARTLY, msgspec.UNSET),
        rest_action_id=action.metadata.get(rest.OFFERED_AS, msgspec.UNSET),
        user_message=told.replace("\n", " "),
        show=told,
        next=next_calls(action.effect.channel, action, PLAIN),
    )


def remembered(text: str) -> Executed:
    """The answer given before: the same result, or the same refusal raised again."""
    if msgspec.json.decode(text).get("ok"):
        return msgspec.json.decode(text, type=Executed)
    raise Refusal.from_answer(msgspec.json.decode(text, type=Recovery))
