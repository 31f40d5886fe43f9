"""Plans: a step that passes once every action of a run is decided (W40).

A tool prepared the actions, and each gets an approval of its own; the step stages nothing and approves nothing. While
one of them waits, the advance is refused. An edited action waits again, with its new digest. A plan passes one step:
which one is kept on its first action, so that no other branch and no later run goes on with the same decisions.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core.journal import Head
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import WorkflowCall, build_refusal
from assent.engine.workflows.store import NodeRecord
from assent.gate import gate
from assent.gate.policy import Policy
from assent.gate.records import PASSED, WORKFLOW, Action, Status, name_of
from assent.kernel.ids import RunId, is_uuid
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.present import refusals, workflow_step
from assent.sql.loader import statements
from assent.workflow import Decision, Issue, NeedsConfirmation
from assent.workflow.machine.history import first_line
from assent.workflow.program import PLAN_RUN

UNKNOWN: Final = Issue(
    f"context.{PLAN_RUN}",
    "plan_unknown",
    "the runId of a run that has prepared actions, as the tool that prepared them answered",
)
USED: Final = Issue(
    f"context.{PLAN_RUN}",
    "plan_used",
    "the runId of a run with which no step has passed yet: prepare the actions again; they need approvals of their own",
)


class Plan(Record):
    """The actions of a run, in their order, the first one locked; those that wait, and why others are not approved."""

    actions: tuple[Action, ...]
    waiting: tuple[Action, ...]
    left: tuple[str, ...]

    @property
    def decision(self) -> Decision | None:
        """What was decided; None while an action waits. One approval is enough to go on."""
        if self.waiting:
            return None
        approved = len(self.left) < len(self.actions)
        return Decision("approved" if approved else "rejected", "; ".join(self.left))


def find(call: WorkflowCall, asked: NeedsConfirmation) -> Transaction[Plan]:
    """Lock and return the plan that a step names. Call this after locking the run: what locks an action locks no run
    of a workflow after it, but for the run's own confirmations, which are no plan. Raises `Refusal` for a run
    without actions, and for one with which a step has passed."""
    found: tuple[Action, ...] = ()
    if isinstance(asked.plan, str) and is_uuid(asked.plan):
        found = yield from actions.run_actions(call.workspace_id, RunId(asked.plan))
    if not found or found[0].effect.connector == WORKFLOW:
        raise build_refusal([UNKNOWN])
    first, policy, *_ = yield from actions.lock(call.workspace_id, found[0].action_id)
    if PASSED in first.metadata:
        raise build_refusal([USED])
    found = (first, *found[1:])
    waiting = tuple(each for each in found if _waits(call, each, policy))
    others = [each for each in found if each not in waiting]
    left = (f"“{name_of(each)}”: {why}" for each in others if (why := _explain_left(each)))
    return Plan(found, waiting, tuple(left))


def _waits(call: WorkflowCall, action: Action, policy: Policy) -> bool:
    """Whether it still needs a decision: also one whose approval does not count, or no longer does."""
    if action.status is Status.AWAITING_APPROVAL:
        return not action.is_expired(call.now_ms)
    needed = policy.require(action)
    return action.status is Status.APPROVED and not gate.is_approved(action, needed, call.now_ms, call.seals)


def _explain_left(action: Action) -> str:
    """Say why an action that does not wait is not approved; empty if it is."""
    if action.status is Status.AWAITING_APPROVAL:
        return "expired"
    return first_line(action.rejection or "rejected") if action.status is Status.REJECTED else ""


def ask(
    call: WorkflowCall, head: Head, node: NodeRecord, content: str, asked: NeedsConfirmation, plan: Plan
) -> Transaction[Refusal]:
    """Return the refusal of a step whose plan waits, or of which nothing was approved. That it was asked for is noted
    once for the same content."""
    known = yield statements.find_workflow_confirmation(
        workspace_id=call.workspace_id, run_id=node.run.run_id, node=node.node, content=content
    )
    if not known:
        yield from _note(call, head, node, content, asked.step_key, "plan_asked", plan)
        yield from stored.touch_run(call.workspace_id, node.run.run_id, call.now_ms)
    words = workflow_step.describe_plan(asked.title, plan.waiting, len(plan.actions), plan.left)
    return refusals.needs_approval((*plan.waiting, *plan.actions)[0], words)


def take(
    call: WorkflowCall, head: Head, node: NodeRecord, content: str, step_key: str, plan: Plan
) -> Transaction[Head]:
    """Let the plan pass this step and no other. Returns the new head of the locked run."""
    head = yield from _note(call, head, node, content, step_key, "plan_passed", plan)
    first = plan.actions[0]
    passed = {**first.metadata, PASSED: f"{node.run.run_id}#{node.run.nodes}"}
    yield from actions.put_without_event(msgspec.structs.replace(first, metadata=passed))
    return head


def _note(
    call: WorkflowCall, head: Head, node: NodeRecord, content: str, step_key: str, kind: str, plan: Plan
) -> Transaction[Head]:
    """Note what each action of the plan is at this step: its digest and its status."""
    states = {each.action_id: {"digest": each.digest, "status": each.status} for each in plan.actions}
    body = {"node": node.node, "stepKey": step_key, PLAN_RUN: plan.actions[0].run_id, "actions": states}
    head = yield from stored.log(head, kind, body, call.now_ms)
    for action_id in states:
        yield statements.set_workflow_confirmation(
            workspace_id=call.workspace_id,
            run_id=node.run.run_id,
            node=node.node,
            content=content,
            step_key=step_key,
            action_id=action_id,
            event_seq=head.seq,
        )
    return head
