"""Execution of an approved action: claim, perform, record.

Theory of operation

An effect in the outside world cannot be part of a database transaction. Execution therefore has
three phases, and the database states before the call that a call may happen.

1. Claim (`claim`, one transaction). It locks the action's row. If the caller's idempotency key has a
   stored answer, that answer is returned and nothing else happens. Otherwise the gate judges the stored
   action: status, digest, seal of the approval, policy, schedule. A refusal rolls the transaction back,
   including the claim on the key. If all checks pass, the action moves to `executing` with a new
   attempt: an id, a fence (one more than the last attempt's) and a lease (the end of the time the call
   may take). The same transaction appends the event and enqueues the job `reconcile_action`, due when
   the lease ends.
2. Perform (`call_connector`, no transaction). The connector gets an `ApprovedAction`, which only the gate can
   make. The call has a timeout shorter than the lease. If too little of the lease is left, for example
   after the machine slept, nothing is sent. `await_outcome` maps every end of the call to one of three
   outcomes: `Delivered`, `NotSent` (certainly not done; curable or not) or `OutcomeUnknown`. A timeout,
   any undeclared exception and a delivery without the provider's id are unknown.
3. Record (`recording.record`, one transaction). It locks the action again and writes the outcome only
   if attempt id and fence still match. A mismatch is kept as the event `late_answer`, and the action
   does not change.

A connector that is not `always_ready` is asked for its readiness before the claim, and what the
approval relied on is observed again (`engine.actions.drift_probe`), outside any transaction. Only the stored action
names the connector, so a guard of the first `claim` asks (`engine.actions.guards`): the claim rolls back and is
repeated with the answer. If account, recipients, price or target differ from the approval, the claim rolls back
and the action waits for a new approval.

Outcomes. Delivered: `executed`, with the provider's id. NotSent, curable: `retryable`; the approval
still holds and a later call may claim again. NotSent, not curable: `failed`. OutcomeUnknown:
`outcome_unknown`; no executor may claim this action. The final answers (delivered, failed) are
stored under the caller's key. The other two are not final, so a repeated call is judged again.

Unknown outcomes (`reconciliation`). The job runs when the lease ends, or two seconds after an
unknown outcome was recorded. An attempt that is still `executing` after its lease becomes
`outcome_unknown`. Then the connector's declared delivery decides:

- the provider recognises our key (`native_key` within half its window, `natural_key`): raise the fence,
  take a new lease and send the same effect under the same provider key;
- the provider can be asked (`read_back`): look the effect up; not found means not sent;
- the provider can be searched (`searches`): a find counts, finding nothing proves nothing;
- otherwise a person answers, with evidence (`reconciliation.resolve`).

The raised fence makes a result of the first process, should it still arrive, a `late_answer`.

A restored store. An action may have been sent after the backup was taken. `assent.engine.recovery`
holds such actions; one in doubt is claimed only if the provider would recognise the repetition.

An agent's own tool. `use_cases.executions.hand_out` claims in the same way and performs nothing: the
agent runs the tool and reports under the id of its attempt (`recording.record_report`). Without a report
the lease ends, and the outcome is unknown; a person answers.

Cancellation. `use_cases.executions.execute` runs in its own task behind `asyncio.shield`: a client that
disconnects does not interrupt a claimed execution. A stopping process waits for these tasks
(`ShieldedTasks.finish`). A process that dies leaves the claim and its job, and any process
reconciles it.

Invariants

1. No connector performs without a committed claim, and a claim needs an approval of exactly the stored
   content.
2. At most one attempt of an action may be in flight: `executing` and `outcome_unknown` cannot be
   claimed (E29).
3. An effect is sent again only if the provider recognises the repetition, or after it was recorded as
   not done.
4. A claim commits together with the job that reconciles it if no outcome is recorded.
5. A call's outcome changes the action only under the latest attempt id and fence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from functools import partial
from typing import Final, TypeVar, assert_never

import msgspec

from assent.engine.actions import (
    account_binding,
    actions,
    approvals,
    circumstances,
    doubts,
    drift_probe,
    guards,
    hooks,
    pictures,
)
from assent.engine.actions import idempotency as once
from assent.engine.actions.guards import (
    Ask,
    ClaimFacts,
    HasDrifted,
    HaveApproversLeft,
    IsReady,
    ReadinessAnswer,
    Refuse,
    WasSent,
)
from assent.engine.actions.recording import RECONCILE_JOB, check_delivery, replay_answer, suspend_doubted
from assent.engine.core import freezes, jobs, journal
from assent.engine.core.failpoints import failpoint
from assent.engine.core.services import EffectServices, ExecutionServices
from assent.gate import gate
from assent.gate.content.cleaning import printable
from assent.gate.records import Action, Attempt, find_stop, is_test
from assent.gate.transitions import Move, path
from assent.kernel import canonical
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.redaction import Redactor
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record
from assent.kernel.times import iso_time
from assent.ports import (
    TOO_LATE,
    Connector,
    Context,
    Delivered,
    NotSent,
    OutcomeUnknown,
    SendOutcome,
    StoreUnavailable,
    Transaction,
)
from assent.present import refusals
from assent.present.outlook import Executed, advise, describe_binding

log = logging.getLogger("assent.execution")

T = TypeVar("T")

FAILURE_CHARS: Final = 200
"""How much of the text of an undeclared exception people are shown."""


class ExecutionOrder(Record, kw_only=True):
    """A request to execute an action: the caller, the tool and the idempotency key."""

    workspace_id: WorkspaceId
    action_id: ActionId
    tool: str
    by: str
    key: str | None = None
    approval: int | None = None
    """For a job: `Approval.since` of the approval that scheduled it. Another approval is
    refused."""
    holder: str | None = None
    """The API key that owns the stored answer (`Principal.holder`)."""

    @property
    def agent(self) -> str:
        """The agent that asks, as a freeze names it (`Principal.agent`)."""
        return f"key:{self.holder}" if self.holder and self.by.startswith("key:") else self.by

    def digest(self) -> str:
        return canonical.digest({"actionId": self.action_id})


async def claim_action(services: ExecutionServices, order: ExecutionOrder) -> Action | Executed:
    """Claim the action, after answering what a guard asks. Returns the claimed action, or the stored answer of a
    replay."""
    asked: ReadinessAnswer | None = None
    while True:
        now_ms = services.clock.now_ms()
        begin = partial(claim, services, order, services.new_id(now_ms), now_ms, asked)
        try:
            return await services.store.write(begin)
        except GuardAsked as unanswered:
            question = unanswered.question
        if isinstance(question, IsReady):
            asked = await _ask_connector(services, order, question)
        else:
            raise await _put_aside(services, order, question)


async def _ask_connector(
    services: EffectServices, order: ExecutionOrder, question: IsReady
) -> ReadinessAnswer:
    """Ask a connector for its readiness, and what the approval relied on. Raises `Refusal` if the action needs a new
    approval."""
    action, connector = question.action, question.connector
    observed = None
    readiness = await circumstances.readiness_of(connector, order.workspace_id, action.effect)
    if not readiness.ready:
        bound, readiness = await account_binding.bind(services, action, by=order.by, via=order.tool)
        if bound is not None:
            raise refuse_new_account(bound)
    if readiness.ready:
        await account_binding.reread(services, action, by=order.by, via=order.tool)
        observed = await drift_probe.observe(services, action, ready=True)
    else:
        unready = circumstances.explain_unready(services, order.workspace_id, action.effect, readiness)
        readiness = msgspec.structs.replace(readiness, fix_hint=advise(unready))
    return ReadinessAnswer(connector.id, action.digest, readiness, observed)


async def _put_aside(
    services: ExecutionServices, order: ExecutionOrder, question: HaveApproversLeft | HasDrifted | WasSent
) -> Refusal:
    """Let an action wait for the answer of a person, or of its provider. Returns the refusal."""
    now_ms, seen = services.clock.now_ms(), question.action
    if isinstance(question, HaveApproversLeft):
        again = partial(approvals.reopen, seen, order.by, order.tool, now_ms)
        return refusals.needs_approval(await services.store.write(again), refusals.APPROVER_LEFT)
    if isinstance(question, HasDrifted):
        now, changes = question.now, question.changes
        changed = await drift_probe.send_back(services, seen, now, changes, by=order.by, via=order.tool)
        return refusals.refuse_drift(changed, changes, approved=True)
    if isinstance(question, WasSent):
        suspend = partial(suspend_doubted, seen, services.new_id(now_ms), now_ms)
        unknown = await services.store.write(suspend)
        services.background.wake_jobs()
        return refusals.unknown_outcome(unknown)
    assert_never(question)


def refuse_new_account(bound: Action) -> Refusal:
    """Build the refusal for an action that was bound to an account just now: it needs a new
    approval with that account."""
    return Refusal(
        Reason.REQUIRES_APPROVAL,
        status=bound.status,
        action_id=bound.action_id,
        user_message=describe_binding(bound),
    )


class GuardAsked(Exception):  # noqa: N818 - control flow
    """Rolls a claim back, because a guard has a question."""

    def __init__(self, question: IsReady | HaveApproversLeft | HasDrifted | WasSent) -> None:
        super().__init__(type(question).__name__)
        self.question = question


def claim(
    services: ExecutionServices,
    order: ExecutionOrder,
    attempt_id: str,
    now_ms: int,
    asked: ReadinessAnswer | None = None,
) -> Transaction[Action | Executed]:
    """Judge and claim an action, so that at most one attempt is in flight (E29). A repeated
    idempotency key returns the stored answer (E27, E49). Raises `Refusal`, or `GuardAsked` if a guard asks."""
    yield from freezes.begin_claim(order.workspace_id)
    action, policy, head, _ = yield from actions.lock(order.workspace_id, order.action_id)
    request_digest = order.digest() if order.key is not None else None
    if order.key is not None and request_digest is not None:
        stored = yield from once.recall(
            order.workspace_id, order.tool, order.key, request_digest, now_ms, holder=order.holder
        )
        if stored is not None:
            return replay_answer(stored)
    action = yield from actions.judge(action, now_ms)
    needed = policy.require(action)
    times: tuple[int, ...] = (now_ms,)
    if doubts.DOUBT in action.metadata:
        times = (now_ms, (yield from journal.find_latest(action.workspace_id, now_ms)))
    early = guards.is_early(action, now_ms)
    connector = services.connectors.get(action.effect.connector)
    verdict = guards.judge(
        ClaimFacts(
            action=action,
            needed=needed,
            voices=(yield from approvals.list_present(action, needed)),
            frozen=find_stop((yield from freezes.list_in(order.workspace_id)), action) if early else None,
            times=times,
            tool=order.tool,
            approval=order.approval,
            asked=asked,
            effects=services.effects,
            connector=connector,
            prices=services.limits.credit_prices,
            seals=services.keys.seals,
        )
    )
    if isinstance(verdict, Refuse):
        raise verdict.refusal
    if isinstance(verdict, Ask):
        raise GuardAsked(verdict.question)
    lease_ms = services.limits.lease_ms_for(connector)
    attempt = Attempt(
        attempt_id=attempt_id,
        fence=action.attempt.fence + 1 if action.attempt is not None else 1,
        started_ms=now_ms,
        lease_until_ms=now_ms + lease_ms,
        tool=order.tool,
        key=order.key,
        request_digest=request_digest,
        holder=order.holder if order.key is not None else None,
    )
    changed = msgspec.structs.replace(action, attempt=attempt)
    facts = {
        "by": order.by,
        "attemptId": attempt_id,
        "fence": attempt.fence,
        "providerKey": action.provider_key,
        "leaseUntil": iso_time(attempt.lease_until_ms),
        **({"test": True} if is_test(action) else {}),
    }
    claimed = yield from actions.put(changed, path(action, Move.CLAIM), facts, now_ms, head, order.agent)
    yield from jobs.enqueue(
        action.workspace_id,
        RECONCILE_JOB,
        attempt_id,
        {"actionId": action.action_id, "attemptId": attempt_id},
        due_ms=attempt.lease_until_ms,
        now_ms=now_ms,
    )
    yield from hooks.on_claimed(claimed, order.by, now_ms)
    return claimed


def open_claim(claimed: Action) -> Action:
    """Return a claimed action for the agent that runs it, as the gate lets it pass."""
    return gate.open_gate(claimed).action


async def call_connector(services: EffectServices, claimed: Action) -> SendOutcome:
    """Call the connector with a claimed action and return the outcome, also of a failure."""
    connector = services.connectors.get(claimed.effect.connector)
    if connector is None:
        return NotSent(
            "the connector is not registered any more", retry=True, reason=Reason.PROVIDER_NOT_LIVE
        )
    timeout_seconds = services.limits.timeout_for(connector)
    if claimed.attempt is None or _is_too_late(claimed.attempt, timeout_seconds, services.clock.now_ms()):
        return NotSent(TOO_LATE, retry=True)
    ctx = Context(gate.open_gate(claimed), timeout_seconds)
    return check_delivery(await await_outcome(connector, ctx, perform(services, connector, ctx)))


async def perform(services: EffectServices, connector: Connector, ctx: Context) -> Delivered:
    """Have the connector perform the effect, with its pictures exactly as approved."""
    try:
        ctx.pictures = await pictures.of_action(services.store, ctx.action)
    except StoreUnavailable as unavailable:
        raise NotSent("the pictures could not be read", retry=True) from unavailable
    return await connector.perform(ctx, ctx.action.effect)


def _is_too_late(attempt: Attempt, timeout_seconds: float, now_ms: int) -> bool:
    """Whether a call that starts now could outlive the lease."""
    return now_ms + int(timeout_seconds * 1000) > attempt.lease_until_ms


async def await_outcome(
    connector: Connector, ctx: Context, call: Awaitable[T]
) -> T | NotSent | OutcomeUnknown:
    """Await a connector's call and turn every exception into an outcome. No request can begin
    afterwards."""
    try:
        failpoint("execute.calling")
        async with asyncio.timeout(ctx.timeout_seconds):
            return await call
    except NotSent as not_sent:
        return not_sent
    except OutcomeUnknown as unknown:
        return unknown
    except TimeoutError:
        return _judge_failure(connector, ctx, f"no answer within {ctx.timeout_seconds:g} seconds")
    except Exception as error:
        log.exception("connector %s failed in an undeclared way", connector.id)
        # It is stored and shown to reviewers: an address or a header in it may have a secret.
        said = " ".join(printable(Redactor().text(str(error))[:FAILURE_CHARS]).split())
        named = f"{type(error).__name__}: {said}" if said else type(error).__name__
        return _judge_failure(connector, ctx, f"the connector failed: {named}")
    finally:
        ctx.close()


def _judge_failure(connector: Connector, ctx: Context, said: str) -> NotSent | OutcomeUnknown:
    """Return the outcome of a call that ended in an undeclared way. The effect did not happen if
    the connector marks its requests and had begun none."""
    sent = ctx.close()
    if getattr(connector, "uses_sending", False) and not sent:
        return NotSent(said, retry=True)
    return OutcomeUnknown(said)
