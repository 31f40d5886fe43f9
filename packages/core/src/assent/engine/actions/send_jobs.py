"""The job that sends an approved action without a chat: at once, at its time, and again after a failure.

Each try is a job of its own under the approval that it was planned for. The stored plan (`gate.next_try`) names the
one that counts; `assent.jobs.kinds` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from assent.engine.core import jobs
from assent.engine.core.jobs import JobState
from assent.gate.next_try import plan_next_try, read_next_try
from assent.gate.records import Action
from assent.kernel.limits import SECOND_MS
from assent.kernel.structs import Record, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

SEND_JOB: Final = "send_approved_action"
SOON_MS: Final = 15 * SECOND_MS
"""A job that is due within this time counts as running."""


class SendJob(Record):
    """The newest job that sends an action."""

    key: str
    state: JobState
    due_ms: int
    last_error: str | None
    """Why it could not be tried: something that a person has to do first."""

    @property
    def is_open(self) -> bool:
        return self.state in (JobState.WAITING, JobState.RUNNING)

    def under_way(self, now_ms: int) -> bool:
        """Whether it runs or is about to, unlike one that waits for a later try."""
        return self.is_open and (self.state is JobState.RUNNING or self.due_ms <= now_ms + SOON_MS)


def enqueue(action: Action, due_ms: int, now_ms: int) -> Transaction[None]:
    """Enqueue the job that sends an approved action at a time."""
    since = action.approval.since if action.approval is not None else None
    payload: dict[str, Any] = {"actionId": action.action_id, "approval": since, "dueMs": due_ms}
    key = _key(action, due_ms)
    yield from jobs.enqueue(action.workspace_id, SEND_JOB, key, payload, due_ms=due_ms, now_ms=now_ms)


def _key(action: Action, due_ms: int) -> str:
    return f"{_begin_keys(action)}:{due_ms}"


def _begin_keys(action: Action) -> str:
    """Return how the keys of the jobs under the present approval begin."""
    since = action.approval.since if action.approval is not None else 0
    return f"{action.action_id}:{since}"


def try_again(action: Action, now_ms: int, wait_ms: int) -> Transaction[Action]:
    """Plan the next try of an approved action that was not sent. Returns the action with the plan, to be stored."""
    planned = plan_next_try(action, now_ms, wait_ms)
    found = read_next_try(planned)
    if found is not None and found.at_ms is not None:
        yield from enqueue(planned, found.at_ms, now_ms)
    return planned


def find(action: Action) -> Transaction[SendJob | None]:
    rows = yield statements.find_send_job(
        workspace_id=action.workspace_id,
        kind=SEND_JOB,
        first_key=f"{action.action_id}:",
        after_keys=f"{action.action_id};",
    )
    return from_row(SendJob, rows[0], state=JobState(rows[0]["state"])) if rows else None


def list_due(approved: Sequence[Action]) -> Transaction[dict[str, int]]:
    """Return when the server sends approved actions of a workspace, by their ids; nothing of the others."""
    beginnings = {_begin_keys(action): str(action.action_id) for action in approved}
    rows = yield statements.list_send_jobs(
        workspace_id=approved[0].workspace_id,
        kind=SEND_JOB,
        wanted=msgspec.json.encode(list(beginnings)).decode(),
    )
    return {beginnings[row["beginning"]]: row["due_ms"] for row in rows}


def send_now(action: Action, due_ms: int, now_ms: int) -> Transaction[None]:
    """Let an action that was approved before be sent: by the job of its next try, which does not wait any longer, or
    at `due_ms` by a new one if its jobs have ended or wait for a person."""
    job, planned = (yield from find(action)), read_next_try(action)
    if planned is not None and planned.at_ms is not None:
        yield from jobs.hasten(action.workspace_id, SEND_JOB, _key(action, planned.at_ms), due_ms)
    if job is None or not job.is_open or (job.last_error and not job.under_way(now_ms)):
        yield from enqueue(action, due_ms, now_ms)


def resume(action: Action, now_ms: int) -> Transaction[None]:
    """Let a job that waits for a person try now, because they may have done their part."""
    job = yield from find(action)
    if job is not None and (job.last_error or read_next_try(action) is not None):
        yield from jobs.hasten(action.workspace_id, SEND_JOB, job.key, now_ms)
