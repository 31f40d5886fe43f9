"""Record refused attempts to execute as events of the action, for reports.

The same refusal of the same revision is recorded at most once an hour, so that a caller cannot fill
the journal.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core import journal
from assent.engine.core.services import Services
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import StoreUnavailable, Transaction
from assent.present.refusals import is_step

KIND: Final = "execution_refused"

RECORDED: Final = frozenset(
    {
        Reason.REQUIRES_APPROVAL,
        Reason.ACTION_EXPIRED,
        Reason.MISSING_CONNECTOR,
        Reason.PROVIDER_NOT_LIVE,
        Reason.MISSING_CREDITS,
        Reason.OUTCOME_UNKNOWN,
    }
)
"""Refusals about the action. Invalid calls and lost races are not recorded."""

LOOKED_BACK: Final = 100
"""Events at the end of a run's stream that are searched for the same refusal."""


async def record(
    services: Services, workspace_id: WorkspaceId, refusal: Refusal, *, by: str, tool: str
) -> None:
    """Record that an executor was refused. A failure to record it is ignored."""
    if refusal.reason not in RECORDED or refusal.action_id is None:
        return
    begin = partial(
        append,
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


def append(
    workspace_id: WorkspaceId, action_id: ActionId, facts: dict[str, str], now_ms: int
) -> Transaction[None]:
    """Append the event unless it is recorded. Workflow steps are skipped: an executor called for
    one is an invalid call."""
    action, *_ = yield from actions.lock(workspace_id, action_id)
    if is_step(action):
        return
    head = yield from journal.lock_head(workspace_id, action.run_id, now_ms)
    same = {"actionId": action_id, "revision": action.revision, "reason": facts["reason"]}
    for event in (yield from journal.read_latest(head, LOOKED_BACK)):
        if event.kind == KIND and abs(now_ms - event.at_ms) < HOUR_MS:
            known = msgspec.json.decode(event.body)
            if all(known.get(name) == value for name, value in same.items()):
                return
    body = {**same, "digest": action.digest, "status": action.status, **facts}
    yield from journal.append_to(head, [journal.NewEvent(KIND, body)], now_ms)
