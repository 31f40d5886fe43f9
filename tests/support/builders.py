"""Plain records for unit tests: actions in every state, and approvals that this server sealed."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from assent.engine.core.jobs import Job, JobState
from assent.gate.policy import DEFAULT, Policy
from assent.gate.records import Action, Approval, Assurance, Attempt, Effect, ExecutionState, Status
from assent.gate.seals import Seals
from assent.gate.transitions import State
from assent.kernel.ids import JobId, WorkspaceId
from assent_conform.testing.connector_contract import CHECKED_AT_MS, claim_action

NOW_MS: Final = CHECKED_AT_MS
SEALS: Final = Seals.of((b"a secret of thirty-two characters",))
REFUND: Final = Effect(channel="acme", verb="refund", connector="acme", body="Refund 12.50 EUR")


def write_mail(**changes: Any) -> Effect:
    """An e-mail to one person."""
    written = Effect(
        channel="email",
        verb="send",
        connector="smtp",
        subject="Lunch",
        body="See you at lunch on Friday.\n",
        recipients=("grace@example.org",),
    )
    return replace(written, **changes)


def stage(effect: Effect = REFUND, **changes: Any) -> Action:
    """An action that waits for its approval."""
    waiting = replace(
        claim_action(effect),
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        approval=None,
        attempt=None,
        schedule_ms=effect.schedule_ms,
    )
    return replace(waiting, **changes)


def approve(action: Action, policy: Policy = DEFAULT, **said: Any) -> Action:
    """The action with an approval of a signed-in person, which this server sealed."""
    given: dict[str, Any] = {"by": "Ada", "at_ms": NOW_MS, "assurance": Assurance.PERSON, "person_id": "ada"}
    approval = Approval(**{"digest": action.digest, **given, **said})
    return SEALS.seal(replace(action, status=Status.APPROVED), approval, policy)


def put_in(state: State, effect: Effect = REFUND, **changes: Any) -> Action:
    """An action in this state, with the approval and the attempt that come before it."""
    action = stage(effect)
    if state.status is not Status.AWAITING_APPROVAL:
        action = approve(action)
    if state.execution is not ExecutionState.NONE:
        action = replace(action, attempt=begin())
    return replace(action, status=state.status, execution_state=state.execution, **changes)


def begin(**changes: Any) -> Attempt:
    """An attempt that began a minute ago and whose lease ended just now."""
    begun = Attempt(
        attempt_id="attempt", fence=1, started_ms=NOW_MS - 60_000, lease_until_ms=NOW_MS, tool="execute"
    )
    return replace(begun, **changes)


def claim_job(kind: str, payload: dict[str, Any], **changes: Any) -> Job:
    """A job at its first attempt."""
    job = Job(
        workspace_id=WorkspaceId("workspace"),
        job_id=JobId("job"),
        kind=kind,
        key="key",
        payload=payload,
        due_ms=NOW_MS,
        state=JobState.RUNNING,
        attempts=1,
        lease_until_ms=None,
        fence=1,
        worker=None,
        last_error=None,
        created_ms=NOW_MS,
        finished_ms=None,
    )
    return replace(job, **changes)
