"""The job that executes an action without a chat: *approve and send now*, and scheduled actions.

It calls the same executor as every caller. It is tried again only if the effect certainly did not
happen, or while credits are missing. While sending is frozen, it waits.
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
from assent.gate.records import ExecutionState, Status
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Transaction
from assent.present import notes
from assent.use_cases import executions

CURABLE: Final = frozenset({Reason.RATE_LIMITED, Reason.MISSING_CONNECTOR, Reason.CONNECTOR_FAILED})


async def send(services: ExecutionServices, job: Job) -> None:
    """Handle the job. Raises `JobFailed` or `JobDeferred` to be tried again later."""
    if await services.store.read(lambda: freezes.find(job.workspace_id)) is not None:
        raise JobDeferred(freezes.LOOK_AGAIN_MS)
    order = ExecutionOrder(
        workspace_id=job.workspace_id,
        action_id=ActionId(job.payload["actionId"]),
        tool=EXECUTE,
        by="approve_and_send",
        key=f"job:{job.key}",
        approval=job.payload.get("approval"),
    )
    try:
        await executions.execute(services, order)
    except Refusal as refusal:
        if refusal.reason is Reason.FROZEN:
            raise JobDeferred(freezes.LOOK_AGAIN_MS) from refusal
        early_ms = await services.store.write(lambda: _notify_unsent(services, order))
        if early_ms > 0:
            raise JobDeferred(early_ms) from refusal  # the clock was set back
        recovery = refusal.recovery()
        if (recovery.reason in CURABLE and recovery.retryable) or refusal.reason is Reason.MISSING_CREDITS:
            raise JobFailed(recovery.summary_for_user) from refusal


def _notify_unsent(services: ExecutionServices, order: ExecutionOrder) -> Transaction[int]:
    """Notify people of an approved action that was not sent. Returns how long it is too early for it."""
    now_ms = services.clock.now_ms()
    action, _ = yield from actions.find(order.workspace_id, order.action_id)
    if notes.is_unsent(action, now_ms):
        yield from notifications.ask_about_stopped(action, now_ms)
    approved = action.status is Status.APPROVED and action.execution_state is ExecutionState.NONE
    return action.effect.schedule_ms - now_ms if approved and action.effect.schedule_ms is not None else 0
