"""The job that executes an action without a chat: *approve and send now*, scheduled actions, and what failed before.

It calls the same executor as every caller, which judges all of it. What certainly did not happen is planned again
where it is recorded (`engine.actions.recording`). What cannot be tried before a person has done something, such as
connecting an account or adding credits, is looked at again by this job. While sending is frozen, it waits.
"""

from __future__ import annotations

from typing import Final

from assent.engine.actions import actions
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.core import freezes
from assent.engine.core.jobs import Job, JobDeferred, JobFailed
from assent.engine.core.services import ExecutionServices
from assent.engine.people import notifications
from assent.gate.effects import EXECUTE
from assent.gate.next_try import is_tried_again, read_next_try
from assent.gate.records import Action, ExecutionState, Status
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Transaction
from assent.present import notes
from assent.use_cases import executions

SERVER: Final = "the server"
"""Who acts, in the journal."""

NEEDS_PERSON: Final = frozenset({Reason.MISSING_CONNECTOR, Reason.MISSING_CREDITS})


async def send(services: ExecutionServices, job: Job) -> None:
    """Handle the job. Raises `JobFailed` or `JobDeferred` to be tried again later."""
    action_id = ActionId(job.payload["actionId"])
    action, _, frozen = await services.store.read(
        lambda: actions.find_with_freeze(job.workspace_id, action_id)
    )
    if frozen is not None:
        raise JobDeferred(freezes.LOOK_AGAIN_MS)
    planned = read_next_try(action)
    if planned is not None and planned.at_ms is not None and job.payload.get("dueMs", 0) < planned.at_ms:
        return  # it was tried meanwhile, and a later try is planned
    order = _make_order(job, action)
    try:
        await executions.execute(services, order)
    except Refusal as refusal:
        if refusal.reason is Reason.FROZEN:
            raise JobDeferred(freezes.LOOK_AGAIN_MS) from refusal
        now_ms = services.clock.now_ms()
        action = await services.store.write(lambda: _notify_unsent(order, now_ms))
        approved = action.status is Status.APPROVED and action.execution_state is ExecutionState.NONE
        early_ms = (action.effect.schedule_ms or 0) - now_ms if approved else 0
        if early_ms > 0:
            raise JobDeferred(early_ms) from refusal  # the clock was set back
        recovery = refusal.recovery()
        waits = refusal.reason in NEEDS_PERSON and not is_tried_again(action, now_ms)
        if waits and (recovery.retryable or refusal.reason is Reason.MISSING_CREDITS):
            raise JobFailed(recovery.summary_for_user) from refusal


def _make_order(job: Job, action: Action) -> ExecutionOrder:
    """Return the order of a try. A repeated try serves the caller of the first one: its answer is kept under their
    idempotency key."""
    first = action.attempt if read_next_try(action) is not None else None
    keyed = first if first is not None and first.key is not None else None
    return ExecutionOrder(
        workspace_id=job.workspace_id,
        action_id=action.action_id,
        tool=keyed.tool if keyed is not None else EXECUTE,
        by=SERVER,
        key=keyed.key if keyed is not None else f"job:{job.key}",
        approval=job.payload.get("approval"),
        holder=keyed.holder if keyed is not None else None,
    )


def _notify_unsent(order: ExecutionOrder, now_ms: int) -> Transaction[Action]:
    """Notify people of an approved action that was not sent and is not tried again soon. Returns it."""
    action, _ = yield from actions.find(order.workspace_id, order.action_id)
    if notes.is_unsent(action, now_ms):
        yield from notifications.ask_about_stopped(action, now_ms)
    return action
