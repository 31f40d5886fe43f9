"""Confirmations: a step that needs a person's approval becomes an action in the approval machine
(W40).

The advance that passes all other checks stages the action. Its body is the submitted content, and
its digest covers step, node and content. Actions do not belong to a branch: a call that returns to
an earlier node gets a warning about decisions of the same step elsewhere, and needs a new approval
(C31).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, hooks
from assent.engine.actions.hooks import Settled, Staged
from assent.engine.core.journal import Head
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import ADVANCE, WorkflowCall
from assent.engine.workflows.store import NodeRecord
from assent.gate import gate
from assent.gate.effects import describe_confirmation
from assent.gate.policy import Policy
from assent.gate.preflight import Readiness, preflight
from assent.gate.records import (
    CALL,
    PROPOSAL,
    REASON,
    SUBMITTED,
    SUPERSEDED,
    WORKFLOW,
    Action,
    Effect,
    ExecutionState,
    Status,
    is_rewritten,
    list_change_requests,
)
from assent.gate.transitions import Move, path
from assent.kernel.ids import ActionId, RunId
from assent.kernel.limits import ACTION_TTL_MS, MAX_CONTENT_CHARS
from assent.kernel.refusals import Refusal, bad_argument
from assent.kernel.structs import Record
from assent.kernel.texts import indent_json
from assent.ports import Transaction
from assent.present import refusals, workflow_step
from assent.sql.loader import statements
from assent.workflow import Content, Decision, NeedsConfirmation, Pending, Warning
from assent.workflow.tokens import TokenClaims, mint_tokens

_OVER: Final = (Status.EXECUTED, Status.FAILED)
MAX_CALL_CHARS: Final = 4_096
"""Longest content that is stored for the repeated call; the agent has longer content."""


class OpenQuestion(Record):
    """The action for exactly this content of this node. It may be changed only if `locked`."""

    action: Action
    policy: Policy
    locked: bool


def lock(call: WorkflowCall, state: TokenClaims, content: str) -> Transaction[OpenQuestion | None]:
    """Lock and return the staged action, if there is one. Call this before locking the run:
    decisions take the locks in this order too."""
    action_id = yield from _action_id(call, state, content)
    if action_id is None:
        return None
    action, policy, *_ = yield from actions.lock(call.workspace_id, action_id)
    return OpenQuestion(action, policy, locked=True)


def settle(
    call: WorkflowCall, state: TokenClaims, content: str, asked: OpenQuestion | None
) -> Transaction[OpenQuestion | None]:
    """Return the staged action after the run is locked. An action that another call staged in the
    meantime is returned unlocked."""
    action_id = yield from _action_id(call, state, content)
    if action_id is None or (asked is not None and asked.action.action_id == action_id):
        return asked
    action, policy = yield from actions.find(call.workspace_id, action_id)
    return OpenQuestion(action, policy, locked=False)


def _action_id(call: WorkflowCall, state: TokenClaims, content: str) -> Transaction[ActionId | None]:
    rows = yield statements.find_workflow_confirmation(
        workspace_id=call.workspace_id, run_id=state.run_id, node=state.node, content=content
    )
    return ActionId(rows[0]["action_id"]) if rows else None


def decision(call: WorkflowCall, asked: OpenQuestion) -> Decision | None:
    """Return the decision about this content, or None. Raises if an approval is not enough."""
    if not asked.locked:
        return None
    action = asked.action
    if action.status is Status.REJECTED:
        return Decision("rejected", action.rejection or "")
    if action.status is not Status.APPROVED or action.is_expired(call.now_ms) or is_rewritten(action):
        return None
    with refusals.wording():
        gate.judge_execution(action, asked.policy.require(action), call.now_ms, call.seals)
    return Decision("approved")


def ask(
    call: WorkflowCall,
    head: Head,
    node: NodeRecord,
    content: Content,
    digest: str,
    outcome: NeedsConfirmation,
    asked: OpenQuestion | None,
    ack: TokenClaims,
) -> Transaction[Refusal]:
    """Stage the action for a person's approval, once for the same content (W40), and return the
    refusal. After a rejection, new content needs a new approval."""
    if asked is None or asked.action.is_expired(call.now_ms) or asked.action.status in _OVER:
        action = stage(call, node, content, digest, outcome, _call(call, ack, content))
        yield from actions.insert_action(action)
        yield from hooks.on_staged(
            Staged(workspace_id=call.workspace_id, run_id=action.run_id, actions=(action,), at_ms=call.now_ms)
        )
        body = {
            "node": node.node,
            "stepKey": outcome.step_key,
            "actionId": action.action_id,
            "digest": action.digest,
            "view": action.view.digest(),
        }
        head = yield from stored.log(head, "confirmation_asked", body, call.now_ms)
        yield statements.set_workflow_confirmation(
            workspace_id=call.workspace_id,
            run_id=node.run.run_id,
            node=node.node,
            content=digest,
            step_key=outcome.step_key,
            action_id=action.action_id,
            event_seq=head.seq,
        )
        yield from stored.touch_run(call.workspace_id, node.run.run_id, call.now_ms)
    else:
        action = asked.action
    if action.status is Status.AWAITING_APPROVAL:
        yield from supersede(call, head, node, action.action_id)
    earlier = yield from _earlier(call, node.run.run_id, node.node, outcome.step_key, action.action_id)
    if action.status is Status.APPROVED and not is_rewritten(action):
        return workflow_step.refuse_passing(action, outcome.title)
    asked_for = list_change_requests(action)
    wish = asked_for[-1]["text"] if asked_for else None
    words = workflow_step.describe_waiting(action, outcome.title, wish, earlier)
    return refusals.needs_approval(action, words)


def supersede(call: WorkflowCall, head: Head, node: NodeRecord, by: ActionId) -> Transaction[Head]:
    """Expire waiting actions for other content of the same node. Approved actions stay. Returns the
    new head of the locked run."""
    rows = yield statements.lock_waiting_confirmations(
        workspace_id=call.workspace_id, run_id=node.run.run_id, node=node.node, but=by, now_ms=call.now_ms
    )
    for row in rows:
        action, _ = yield from actions.find(call.workspace_id, ActionId(row["action_id"]))
        ended = msgspec.structs.replace(
            action, expires_ms=call.now_ms, metadata={**action.metadata, SUPERSEDED: by}
        )
        yield from actions.put_without_event(ended)
        body = {"node": node.node, "actionId": action.action_id, "by": by}
        head = yield from stored.log(head, "confirmation_superseded", body, call.now_ms)
    return head


def warn(call: WorkflowCall, run_id: RunId, node: int, shown: Pending) -> Transaction[tuple[Warning, ...]]:
    """Warn about earlier decisions of a step that needs confirmation (C31)."""
    return _warning((yield from _earlier(call, run_id, node, shown.step_key, None)), shown)


def warn_again(
    call: WorkflowCall, run_id: RunId, node: int, shown: Pending | None
) -> Transaction[tuple[Warning, ...]]:
    """Warn like `warn`, and also of an open action for this node."""
    if shown is None or not shown.require_confirmation:
        return ()
    rows = yield statements.find_open_confirmation(
        workspace_id=call.workspace_id, run_id=run_id, node=node, now_ms=call.now_ms
    )
    if not rows:
        return (yield from warn(call, run_id, node, shown))
    action_id, status = ActionId(rows[0]["action_id"]), rows[0]["status"]
    already = Warning("asked_already", _ALREADY[status].format(action_id), shown.step_key)
    return (already, *_warning((yield from _earlier(call, run_id, node, shown.step_key, action_id)), shown))


def _warning(earlier: str | None, shown: Pending) -> tuple[Warning, ...]:
    return (Warning("decided_before", earlier, shown.step_key),) if earlier is not None else ()


def _earlier(
    call: WorkflowCall, run_id: RunId, node: int, step_key: str, but: ActionId | None
) -> Transaction[str | None]:
    """Describe what became of the same step before; None if nothing did."""
    rows = yield statements.list_step_confirmations(
        workspace_id=call.workspace_id,
        run_id=run_id,
        node=node,
        step_key=step_key,
        but=but or "",
        now_ms=call.now_ms,
    )
    happened = {row["status"] for row in rows}
    return next((said for status, said in _EARLIER.items() if status in happened), None)


_ALREADY: Final = {
    "approved": "A person has approved what was submitted here as action {0}. Exactly that content passes; "
    "chieflab_get_action shows it. Other content needs a new approval.",
    "awaiting_approval": "A person is being asked about what was submitted here as action {0}. Exactly that content "
    "passes once it is approved; chieflab_get_action shows it. Other content needs a new approval.",
}

_EARLIER: Final = {
    "executed": "The same step was already approved and executed before, on another branch or with other content; "
    "that stays done, and does not count for this one: a new effect needs a new approval.",
    "failed": "The same step failed before; that does not count for this one.",
    "rejected": "The same step was already rejected before, on another branch or with other content.",
    "approved": "The same step was already approved before, on another branch or with other content; that does not "
    "count for this one.",
    "awaiting_approval": "The same step also waits on another branch or with other content.",
}


def _call(call: WorkflowCall, ack: TokenClaims, content: Content) -> dict[str, Any]:
    """Return the arguments of the advance, and the names of those that are too long to store."""
    minted = mint_tokens(call.keys, TokenClaims("st", ack.run_id, ack.node, ack.series), ack.attempt)
    tokens = {"stateToken": minted.state_token, "ackToken": minted.ack_token}
    sent = {"notesMarkdown": content.notes, "output": content.output, "context": content.context or None}
    given = {name: value for name, value in sent.items() if value is not None}
    if len(indent_json(given)) <= MAX_CALL_CHARS:
        return {"args": {**tokens, **given}, "left": []}
    return {"args": tokens, "left": list(given)}


def stage(
    call: WorkflowCall,
    node: NodeRecord,
    content: Content,
    digest: str,
    outcome: NeedsConfirmation,
    repeated: dict[str, Any],
) -> Action:
    """Build the action for passing this step with this content."""
    details: dict[str, Any] = {"stepKey": outcome.step_key, "node": node.node, "content": digest}
    if outcome.action is not None:
        details["call"] = outcome.action
    if outcome.question:
        details["question"] = outcome.question
    effect = Effect(
        channel="workflow",
        verb="confirm",
        connector=WORKFLOW,
        title=outcome.title,
        body=confirmation_body(outcome.title, content, node.snapshot.context),
        details=details,
    )
    view = describe_confirmation(effect)
    return Action(
        workspace_id=call.workspace_id,
        action_id=ActionId(call.new_id(call.now_ms)),
        run_id=node.run.run_id,
        tenant_id=None,
        asset_id=None,
        position=node.node,
        version=1,
        effect=effect,
        digest=effect.digest(),
        revision=1,
        executor_tool=ADVANCE,
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        preflight=preflight(
            effect,
            view,
            Readiness(ready=True),
            # The confirmation has the worst class of what it confirms.
            declared=call.grade_tool(outcome.action["tool"]) if outcome.action is not None else None,
        ),
        view=view,
        created_ms=call.now_ms,
        expires_ms=call.now_ms + ACTION_TTL_MS,
        metadata={
            "stepKey": outcome.step_key,
            "workflowId": node.run.workflow_id,
            SUBMITTED: effect.digest(),
            CALL: repeated,
            PROPOSAL: call.principal.propose(WORKFLOW),
            **({REASON: call.reason} if call.reason else {}),
        },
    )


def confirmation_body(title: str, content: Content, before: Mapping[str, Any]) -> str:
    """Build the text that the reviewer reads: the step's title and the submitted content, never the
    prompt (E19).

    `before` is the run's context. Raises `Refusal` if the text is too long to be shown whole, since
    an approval covers all of it.
    """
    parts = [title]
    if content.notes and content.notes.strip():
        parts.append(content.notes.strip())
    if content.output is not None:
        parts.append(indent_json(content.output))
    if len(parts) == 1:
        parts.append("The agent sent no notes for this step.")
    if changes := _context_changes(content.context, before):
        parts.append("\n".join(["This changes what later steps work with:", *changes]))
    body = "\n\n".join(parts)
    if len(body) > MAX_CONTENT_CHARS:
        expected = (
            f"at most {MAX_CONTENT_CHARS} characters of notes, output and context together, so that a person can read "
            "all that they approve; submit a summary and keep the rest elsewhere"
        )
        sizes = {
            "notesMarkdown": len(content.notes or ""),
            "output": len(indent_json(content.output)),
            "context": len(indent_json(content.context)),
        }
        largest = max(sizes, key=lambda name: sizes[name])
        raise bad_argument(largest, expected, f"{len(body)} characters")
    return body


def _context_changes(patch: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """List the context values that would change, with their old values."""
    lines = []
    for name, value in patch.items():
        if before.get(name) == value and type(before.get(name)) is type(value):
            continue
        was = f" (before: {indent_json(before[name])})" if name in before else ""
        lines.append(f"{name}: {'removed' if value is None else indent_json(value)}{was}")
    return lines


def pass_step(call: WorkflowCall, action: Action, child: int) -> Transaction[None]:
    """Mark the action executed: its effect is the advance that passes."""
    changed = msgspec.structs.replace(
        action, executed_ms=call.now_ms, external_id=f"{action.run_id}#{child}", external_url=None
    )
    facts = {"by": call.principal.name, "via": ADVANCE, "node": child}
    passed = yield from actions.put(changed, path(action, Move.HAND_OVER), facts, call.now_ms)
    yield from hooks.on_settled(Settled(action=passed, move=Move.HAND_OVER, facts=facts, at_ms=call.now_ms))
