"""Record the outcome of an execution once, with the answer that a repeated call gets.

`assent.engine.actions.execution` describes the protocol.

A refused attempt to execute is an event of the action, for reports. The same refusal of the same revision is recorded
at most once an hour, so that a caller cannot fill the journal.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, doubts, hooks, send_jobs
from assent.engine.actions import idempotency as once
from assent.engine.actions import remainder as rest
from assent.engine.actions.hooks import Settled
from assent.engine.core import jobs, journal
from assent.engine.core.journal import Head
from assent.engine.core.services import StoreServices
from assent.gate.records import OUTPUT, REFUSED_PEOPLE, Action, Attempt
from assent.gate.transitions import APPROVED, EXECUTED, FAILED, RETRYABLE, UNKNOWN, Move, path, state_of
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import HOUR_MS, SECOND_MS
from assent.kernel.refusals import Reason, Recovery, Refusal, bad_argument
from assent.kernel.times import iso_time
from assent.ports import (
    REFERENCE,
    Delivered,
    NotSent,
    OutcomeUnknown,
    SendOutcome,
    StoreUnavailable,
    Transaction,
)
from assent.present import refusals
from assent.present.outlook import Executed, answer_executed
from assent.present.refusals import refusal_for

RECONCILE_JOB: Final = "reconcile_action"
RESTORE_TOOL: Final = "restore"
LOOK_AGAIN_AFTER_MS: Final = 2 * SECOND_MS
"""Delay before reconciliation. Short, because some providers keep a key for minutes only."""


def check_delivery(outcome: SendOutcome) -> SendOutcome:
    """Return the outcome, or `OutcomeUnknown` for a delivery without an external id (E68)."""
    if isinstance(outcome, NotSent | OutcomeUnknown):
        return outcome
    named = isinstance(outcome, Delivered) and isinstance(outcome.external_id, str) and outcome.external_id
    return outcome if named else OutcomeUnknown("the connector's answer names no effect")


def record(claimed: Action, outcome: SendOutcome, now_ms: int) -> Transaction[Executed | Refusal]:
    """Record the outcome if attempt id and fence still match; otherwise keep it as the event
    `late_answer`. Returns the caller's answer; a refusal is returned, not raised, so that the
    transaction commits."""
    action, _, head, heard = yield from actions.lock(claimed.workspace_id, claimed.action_id)
    attempt, held = claimed.attempt, action.attempt
    is_late = (
        attempt is None
        or held is None
        or (attempt.attempt_id, attempt.fence) != (held.attempt_id, held.fence)
    )
    move = _find_move(outcome, action) if not is_late else None
    if attempt is None or move is None:
        yield from actions.note(claimed, "late_answer", {"outcome": outcome_facts(outcome)}, now_ms)
        return refusals.in_progress(action) if is_late else refusals.unknown_outcome(action)
    reply = yield from settle(action, outcome, move, now_ms, head, heard=heard, again=not attempt.restored)
    if isinstance(outcome, OutcomeUnknown):
        soon_ms = now_ms + LOOK_AGAIN_AFTER_MS
        yield from jobs.hasten(action.workspace_id, RECONCILE_JOB, attempt.attempt_id, soon_ms)
    else:
        yield from jobs.cancel(action.workspace_id, RECONCILE_JOB, attempt.attempt_id)
    return reply


def record_report(
    workspace_id: WorkspaceId, action_id: ActionId, attempt_id: str, outcome: SendOutcome, now_ms: int
) -> Transaction[Action]:
    """Record what became of an action that was handed out, and return it. A repeated report of the same
    outcome changes nothing. Raises `Refusal` for another attempt and for another outcome."""
    action, *_ = yield from actions.lock(workspace_id, action_id)
    held = action.attempt.attempt_id if action.attempt is not None else None
    if action.view.executes != "agent" or held != attempt_id:
        raise bad_argument("claimId", "the id that the claim of this action answered", "another one")
    told = {Delivered: EXECUTED, NotSent: FAILED, OutcomeUnknown: UNKNOWN}[type(outcome)]
    if state_of(action) == told:
        return action
    if _find_move(outcome, action) is None:
        raise refusals.refuse_closed(action, Reason.ACTION_CLOSED)
    yield from record(action, outcome, now_ms)
    action, *_ = yield from actions.lock(workspace_id, action_id)
    return action


def settle(
    action: Action,
    outcome: SendOutcome,
    move: Move,
    now_ms: int,
    head: Head | None = None,
    *,
    heard: bool = True,
    again: bool = False,
) -> Transaction[Executed | Refusal]:
    """Move a locked action by its outcome, store the provider's id (E28), and store a final answer
    under the attempt's idempotency key. `head` and `heard` are those of `lock`; `again`: the server tries again what
    was not sent and can be cured."""
    steps = path(action, move)
    facts = {
        "attemptId": action.attempt.attempt_id if action.attempt is not None else None,
        **outcome_facts(outcome),
    }
    if isinstance(outcome, Delivered):
        changed = msgspec.structs.replace(
            action, executed_ms=now_ms, external_id=outcome.external_id, external_url=outcome.external_url
        )
        if outcome.output is not None:
            changed = msgspec.structs.replace(changed, metadata={**changed.metadata, OUTPUT: outcome.output})
        left = outcome.rest
        offered = rest.build_action(action, left, now_ms) if left is not None else None
        if left is not None and offered is not None:
            changed = rest.with_offer(changed, left, offered)
            facts["restOffered"] = offered.action_id
        done = yield from actions.put(changed, steps, facts, now_ms, head)
        if offered is not None:
            yield from rest.offer(done, offered, now_ms)
        settled = Settled(action=done, move=move, facts=facts, at_ms=now_ms)
        yield from hooks.on_settled(settled, heard=heard)
        reply = answer_executed(done)
        yield from keep(done, reply, now_ms)
        return reply
    note = outcome_facts(outcome)["detail"]
    over = (
        msgspec.structs.replace(action.attempt, lease_until_ms=now_ms) if action.attempt is not None else None
    )
    known: dict[str, Any] = {"lastAttempt": note}
    if isinstance(outcome, NotSent) and outcome.refused:
        known[REFUSED_PEOPLE] = outcome.refused
    if isinstance(outcome, OutcomeUnknown) and outcome.reference is not None:
        known[REFERENCE] = outcome.reference
    if move is Move.FOUND_NOT_DONE:
        action = msgspec.structs.replace(action, metadata=doubts.drop_doubt(action.metadata))
    changed = msgspec.structs.replace(action, attempt=over, metadata={**action.metadata, **known})
    if again and isinstance(outcome, NotSent) and outcome.curable:
        barred_ms = over.barred_until_ms - now_ms if over is not None else 0
        wait_ms = max(barred_ms, (outcome.retry_after_seconds or 0) * SECOND_MS)
        changed = yield from send_jobs.try_again(changed, now_ms, wait_ms)
    changed = yield from actions.put(changed, steps, facts, now_ms, head)
    settled = Settled(action=changed, move=move, facts=facts, at_ms=now_ms)
    yield from hooks.on_settled(settled, heard=heard)
    refusal = refusal_for(changed, outcome, now_ms)
    if isinstance(outcome, NotSent) and not outcome.curable:
        yield from keep(changed, refusal.recovery(), now_ms)
    return refusal


def suspend(action: Action, since_ms: int, why: str, attempt_id: str, now_ms: int) -> Transaction[Action]:
    """Make the outcome of a locked, approved action unknown, and ask the provider where it can be
    asked."""
    fence = action.attempt.fence + 1 if action.attempt is not None else 1
    attempt = Attempt(
        attempt_id=attempt_id,
        fence=fence,
        started_ms=since_ms,
        lease_until_ms=now_ms,
        tool=RESTORE_TOOL,
        restored=True,
        lost_by_restore=True,
    )
    metadata: dict[str, Any] = {**doubts.drop_doubt(action.metadata), "lastAttempt": why}
    changed = msgspec.structs.replace(action, attempt=attempt, metadata=metadata)
    facts = {"attemptId": attempt_id, "outcome": "unknown", "detail": why, "since": iso_time(since_ms)}
    changed = yield from actions.put(changed, path(action, Move.RESTORE), facts, now_ms)
    yield from jobs.enqueue(
        action.workspace_id,
        RECONCILE_JOB,
        attempt_id,
        {"actionId": action.action_id, "attemptId": attempt_id},
        due_ms=now_ms,
        now_ms=now_ms,
    )
    yield from hooks.on_settled(Settled(action=changed, move=Move.RESTORE, facts=facts, at_ms=now_ms))
    return changed


def suspend_doubted(action: Action, attempt_id: str, now_ms: int) -> Transaction[Action]:
    """As `suspend`, for an action whose doubt stopped an executor."""
    held, *_ = yield from actions.lock(action.workspace_id, action.action_id)
    doubt = doubts.find_doubt(held)
    if doubt is None or state_of(held) not in (APPROVED, RETRYABLE):
        return held  # another caller was faster
    return (yield from suspend(held, doubt.since_ms, doubts.explain(doubt.since_ms), attempt_id, now_ms))


def keep(action: Action, answer: Executed | Recovery, now_ms: int) -> Transaction[None]:
    """Store the final answer under the attempt's idempotency key, if it has one."""
    attempt = action.attempt
    if attempt is not None and attempt.key is not None and attempt.request_digest is not None:
        yield from once.remember(
            action.workspace_id,
            attempt.tool,
            attempt.key,
            attempt.request_digest,
            msgspec.json.encode(answer).decode(),
            now_ms,
            holder=attempt.holder,
        )


def _find_move(outcome: SendOutcome, action: Action) -> Move | None:
    """Return the move for an outcome; None if the action's state is no longer open to it. An extension
    may raise a subclass of an outcome."""
    state = action.execution_state
    if isinstance(outcome, Delivered):
        # A delivery also counts for an action taken for not done, so that it is not sent again.
        found = dict.fromkeys(("outcome_unknown", "retryable"), Move.FOUND_DONE)
        return {"executing": Move.SUCCEED, **found}.get(state)
    if isinstance(outcome, NotSent):
        by_state = {
            "executing": (Move.POSTPONE, Move.REFUSE),
            "outcome_unknown": (Move.FOUND_NOT_DONE, Move.FOUND_REFUSED),
        }.get(state)
        return None if by_state is None else by_state[0 if outcome.curable else 1]
    return Move.LOSE if state == "executing" else None


def outcome_facts(outcome: SendOutcome) -> dict[str, Any]:
    """Describe an outcome for the journal."""
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


def replay_answer(text: str) -> Executed:
    """Return the stored result of a replayed call, or raise its stored refusal."""
    if msgspec.json.decode(text).get("ok"):
        return msgspec.json.decode(text, type=Executed)
    raise Refusal.from_answer(msgspec.json.decode(text, type=Recovery))


REFUSED: Final = "execution_refused"

RECORDED: Final = frozenset(
    {
        Reason.REQUIRES_APPROVAL,
        Reason.ACTION_EXPIRED,
        Reason.DENIED_BY_POLICY,
        Reason.MISSING_CONNECTOR,
        Reason.PROVIDER_NOT_LIVE,
        Reason.MISSING_CREDITS,
        Reason.OUTCOME_UNKNOWN,
    }
)
"""Refusals about the action. Invalid calls and lost races are not recorded."""

LOOKED_BACK: Final = 100
"""Events at the end of a run's stream that are searched for the same refusal."""


async def record_refused(
    services: StoreServices, workspace_id: WorkspaceId, refusal: Refusal, *, by: str, tool: str
) -> None:
    """Record that an executor was refused. A store that cannot take it now is ignored."""
    if refusal.reason not in RECORDED or refusal.action_id is None:
        return
    begin = partial(
        append_refused,
        workspace_id,
        ActionId(refusal.action_id),
        {
            "reason": refusal.reason,
            "detail": refusal.recovery().summary_for_user,
            "by": by,
            "tool": tool,
        },
        services.clock.now_ms(),
    )
    with contextlib.suppress(StoreUnavailable):
        await services.store.write(begin)


def append_refused(
    workspace_id: WorkspaceId, action_id: ActionId, facts: dict[str, str], now_ms: int
) -> Transaction[None]:
    """Append the event unless it is recorded. Workflow steps are skipped: an executor called for
    one is an invalid call."""
    action, *_ = yield from actions.lock(workspace_id, action_id)
    if action.is_step:
        return
    head = yield from journal.lock_head(workspace_id, action.run_id, now_ms)
    same = {"actionId": action_id, "revision": action.revision, "reason": facts["reason"]}
    for event in (yield from journal.read_latest(head, LOOKED_BACK)):
        if event.kind == REFUSED and abs(now_ms - event.at_ms) < HOUR_MS:
            known = msgspec.json.decode(event.body)
            if all(known.get(name) == value for name, value in same.items()):
                return
    body = {**same, "digest": action.digest, "status": action.status, **facts}
    yield from journal.append_to(head, [journal.NewEvent(REFUSED, body)], now_ms)
