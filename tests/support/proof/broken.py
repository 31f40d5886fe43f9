"""Builds of the server with one mistake each, and the promise that the judge must find broken.

A build is a patch that a process of the proof applies when it starts. Each takes away one thing that the theory of
operation of execution, decisions, idempotency, workflows, measurement or the journal says.
"""

from __future__ import annotations

import asyncio
import itertools
import string
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from assent.engine.actions import actions, decisions, execution, idempotency, reconciliation
from assent.engine.core import journal
from assent.engine.workflows import sessions
from assent.gate import gate
from assent.gate.gate import SeenVersion
from assent.gate.records import ExecutionState, Status
from assent.gate.seals import Seals
from assent.gate.transitions import EXECUTING
from assent.kernel.ids import ActionId
from assent.kernel.limits import HOUR_MS
from assent.kernel.refusals import Refusal
from assent.tools import workflows
from assent_launch.learning import measuring


def retry_through_approved() -> None:
    """An attempt that did not report back makes the action approved again, not unknown."""
    real = reconciliation.mark_lost

    def mark_lost(services: Any, job: Any, now_ms: int) -> Any:
        action, *_ = yield from actions.lock(job.workspace_id, ActionId(job.payload["actionId"]))
        if action.execution_state is not ExecutionState.EXECUTING:
            return (yield from real(services, job, now_ms))
        again = msgspec.structs.replace(action, execution_state=ExecutionState.NONE)
        yield from actions.put_without_event(again)
        return None

    _set(reconciliation, "mark_lost", mark_lost)


def check_then_set_claim() -> None:
    """The claim judges what it read before, and not what is stored."""
    judge, claim = gate.judge_execution, execution.claim_action

    async def claim_action(services: Any, order: Any) -> Any:
        action, policy = await services.store.read(lambda: actions.find(order.workspace_id, order.action_id))
        now_ms = services.clock.now_ms()
        judge(action, policy.require(action), now_ms, services.keys.seals, by_hand=False)
        await asyncio.sleep(0.01)
        return await claim(services, order)

    _set(execution, "claim_action", claim_action)
    _set(gate, "judge_execution", lambda *_, **__: None)
    _set(execution, "path", lambda action, move: ((move, EXECUTING),))


def blind_retry() -> None:
    """An unknown outcome is sent again, whatever the provider recognises."""
    _set(reconciliation, "repeatable", lambda *_: True)


def approval_without_digest() -> None:
    """An approval counts for what is stored, not for what the approver saw."""
    judge = gate.judge_approval

    def judge_approval(action: Any, policy: Any, decider: Any, seen: Any, now_ms: int) -> Any:
        return judge(action, policy, decider, SeenVersion(digest=action.digest), now_ms)

    _set(gate, "judge_approval", judge_approval)


def edit_keeps_approval() -> None:
    """An edit moves the approval to the new content."""
    edit = decisions.edit

    def keep(decider: Any, action_id: ActionId, *rest: Any, **options: Any) -> Any:
        before, *_ = yield from actions.lock(decider.workspace_id, action_id)
        done = yield from edit(decider, action_id, *rest, **options)
        if before.approval is None:
            return done
        approval = msgspec.structs.replace(before.approval, digest=done.digest)
        kept = msgspec.structs.replace(done, approval=approval, status=Status.APPROVED)
        return (yield from actions.put_without_event(kept))

    _set(decisions, "edit", keep)
    _set(Seals, "hold", lambda self, action: True)


def key_ignored() -> None:
    """No answer is replayed."""

    def recall(*_: Any, **__: Any) -> Any:
        return None
        yield

    _set(idempotency, "recall", recall)


def advance_counts_again() -> None:
    """An advance that is sent twice passes the step twice."""
    read_content: Any = vars(sessions)["read_content"]
    sent = itertools.count()

    def read(*content: Any) -> Any:
        value, digest = read_content(*content)
        return value, f"{digest} {next(sent)}"

    _set(sessions, "read_content", read)


def token_cut_short() -> None:
    """The last character of a workflow token is not compared."""
    real: Any = vars(workflows)["read"]

    def read(keys: Any, text: str, kind: Any) -> Any:
        for last in string.ascii_letters + string.digits + "-_":
            with suppress(Refusal):
                return real(keys, text[:-1] + last, kind)
        return real(keys, text, kind)

    _set(workflows, "read", read)


def measured_twice() -> None:
    """A measurement is stored, and its job is not completed with it."""

    def complete(*_: Any) -> Any:
        return
        yield

    _set(measuring, "complete_job", complete)


def measurement_skipped() -> None:
    """A measurement whose time went by while no server ran is left out."""
    measure = measuring.measure_job

    async def measure_in_time(services: Any, job: Any) -> bool:
        late_ms = services.clock.now_ms() - job.due_ms
        return False if late_ms > HOUR_MS else await measure(services, job)

    _set(measuring, "measure_job", measure_in_time)


def event_dropped() -> None:
    """Approvals are stored and have no event."""
    append = journal.append_to

    def append_to(head: Any, events: Any, now_ms: int) -> Any:
        return append(head, [event for event in events if event.kind != "action_approve"], now_ms)

    _set(journal, "append_to", append_to)


def event_not_covered() -> None:
    """The hash of an event leaves out its body, so that a rewritten one would pass the server's own check."""
    link: Any = journal.link
    _set(journal, "link", lambda *parts: link(*parts[:5], b"{}", parts[6]))


def rejection_not_stored() -> None:
    """A rejection is acknowledged and rolled back."""

    def reject(decider: Any, action_id: ActionId, reason: str, *rest: Any) -> Any:
        action, *_ = yield from actions.lock(decider.workspace_id, action_id)
        return msgspec.structs.replace(action, status=Status.REJECTED, rejection=reason)

    _set(decisions, "reject", reject)


def _set(module: Any, name: str, value: Any) -> None:
    setattr(module, name, value)


BUILDS: dict[str, tuple[str, Callable[[], None]]] = {
    "retry through approved": ("P2", retry_through_approved),
    "check-then-set claim": ("P2", check_then_set_claim),
    "blind retry after an unknown outcome": ("P2", blind_retry),
    "approval without a digest": ("P1", approval_without_digest),
    "edit that keeps its approval": ("P5", edit_keeps_approval),
    "idempotency key ignored": ("P3", key_ignored),
    "advance counted every time it is sent": ("P6", advance_counts_again),
    "workflow token compared without its end": ("P6", token_cut_short),
    "measurement fired twice": ("P7", measured_twice),
    "measurement skipped": ("P7", measurement_skipped),
    "event dropped": ("P4", event_dropped),
    "event not covered by its hash": ("P8", event_not_covered),
    "rejection acknowledged and not stored": ("P5", rejection_not_stored),
}


def break_build(name: str) -> None:
    """Apply the mistake of this name; none for the real build."""
    if name:
        BUILDS[name][1]()
