"""Refused attempts to execute, recorded as events of the action, so that a report can show them.

Bounded: the same refusal of the same revision is recorded once an hour. A retry that changes nothing is no news, and a
caller does not get to fill the journal.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core import journal
from assent.engine.core.services import Services
from assent.gate.refusal_words import is_step
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import StoreUnavailable, Transaction

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
"""Refusals about the action. A mistake in the call and the loser of a race are not among them."""

LOOKED_BACK: Final = 100
"""So many events before the end of a run's stream are searched for the same refusal."""


async def record(
    services: Services, workspace_id: WorkspaceId, refusal: Refusal, *, by: str, tool: str
) -> None:
    """Record that an executor was refused. The refusal counts, recorded or not."""
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
    """Append the event, unless the same is recorded already. Nothing is ever sent for a step of a workflow, so that
    calling an executor for one is a mistake in the call."""
    action, _ = yield from actions.lock(workspace_id, action_id)
    if is_step(action):
        return
    head = yield from journal.lock_head(workspace_id, action.run_id, now_ms)
    before = max(0, head.seq - LOOKED_BACK)
    latest = yield from journal.read_stream(workspace_id, action.run_id, after_seq=before, limit=LOOKED_BACK)
    same = {"actionId": action_id, "revision": action.revision, "reason": facts["reason"]}
    for event in latest:
        if event.kind == KIND and now_ms - event.at_ms < HOUR_MS:
            known = msgspec.json.decode(event.body)
            if all(known.get(name) == value for name, value in same.items()):
                return
    body = {**same, "digest": action.digest, "status": action.status, **facts}
    yield from journal.append_to(head, [journal.NewEvent(KIND, body)], now_ms)
