"""Running workflows: start, advance, rehydrate, checkpoint, find again (W1–W55).

An advance locks the run, looks for the answer it has given to the same tokens and content, and only then runs the pure
machine. What a human must confirm becomes an action in the approval machine, staged by the advance that asks for it;
effects live outside the run's history, so a rewound branch neither repeats one nor inherits its approval (C31, W40).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

import msgspec

from assent.engine import actions, journal, once
from assent.engine import workflow_store as stored
from assent.engine.journal import Head
from assent.engine.tenancy import Principal
from assent.engine.workflow_store import KeptAnswer, NodeRecord, RunRecord
from assent.kernel import canonical
from assent.kernel.ids import ActionId, RunId, WorkspaceId
from assent.kernel.limits import ACTION_TTL_MS, MAX_CONTENT_CHARS
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.lifecycle import gate
from assent.lifecycle.policy import DEFAULT, Policy
from assent.lifecycle.preflight import Readiness, preflight
from assent.lifecycle.records import Action, Effect, ExecutionState, Run, Status
from assent.lifecycle.transitions import Move, moved, state_of
from assent.ports import Transaction
from assent.stores.loader import statements
from assent.workflow import (
    Advanced,
    Blocked,
    Compiled,
    Complete,
    Content,
    ContentRefused,
    Decision,
    Leaf,
    NeedsConfirmation,
    Note,
    Pending,
    Warning,
    advance,
    check_notes,
    pending,
    recap,
    split_notes,
    start,
    text,
)
from assent.workflow.handles import Handle, HandleRefused, mint, read
from assent.workflow.program import Program

OPERATOR: Final = "workflow"
START: Final = "workflow_start"
ADVANCE: Final = "workflow_advance"
CONNECTOR: Final = "workflow"
MOST_ANCESTORS: Final = 2_000


class SessionView(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str
    run_id: str


class PendingView(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The step to do now. S2's four fields, then what this server adds."""

    step_id: str
    title: str
    prompt: str
    require_confirmation: bool
    step_key: str | msgspec.UnsetType = msgspec.UNSET
    action: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class NextCall(msgspec.Struct, frozen=True):
    tool: str
    args: dict[str, Any]


class IssueView(msgspec.Struct, frozen=True):
    path: str
    code: str
    message: str


class WarningView(msgspec.Struct, frozen=True):
    code: str
    message: str
    path: str = ""


class BranchView(msgspec.Struct, frozen=True, rename="camel"):
    """A branch that already goes on from here."""

    title: str
    step_key: str
    is_complete: bool


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What every execution tool answers. `kind` is step, complete, blocked, resumed or checkpoint."""

    kind: str
    state_token: str
    pending: PendingView | None
    ack_token: str | None
    is_complete: bool
    session: SessionView
    workflow_id: str
    warnings: tuple[WarningView, ...] | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET
    issues: tuple[IssueView, ...] | msgspec.UnsetType = msgspec.UNSET
    example: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    notes_example: str | msgspec.UnsetType = msgspec.UNSET
    recap: str | msgspec.UnsetType = msgspec.UNSET
    recap_omitted: int | msgspec.UnsetType = msgspec.UNSET
    branches: tuple[BranchView, ...] | msgspec.UnsetType = msgspec.UNSET
    next_call: NextCall | msgspec.UnsetType = msgspec.UNSET


class Spoken(msgspec.Struct, frozen=True):
    """An answer and its readable text (W76)."""

    answer: Answer
    text: str


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """What a call brings with it: who, when, the token keys, new ids, and links for a human."""

    principal: Principal
    keys: tuple[bytes, ...]
    now_ms: int
    new_id: Callable[[int], str]
    review_url: Callable[[WorkspaceId, RunId, int], str]
    drift: Callable[[str, str], tuple[Warning, ...]]
    """Warns where the file of a workflow is not what a run was pinned to."""

    @property
    def workspace_id(self) -> WorkspaceId:
        return self.principal.workspace_id


def begin_run(
    desk: Desk,
    compiled: Compiled,
    context: dict[str, Any],
    session_id: str,
    run_id: RunId,
    key: str | None,
    named_session: str,
) -> Transaction[Spoken]:
    """Start a run of a workflow, pinned to the program as it is now."""
    program, now_ms = compiled.program, desk.now_ms
    arguments = canonical.digest({"workflowId": program.id, "context": context, "sessionId": named_session})
    if key is not None:
        seen = yield from once.recall(desk.workspace_id, START, key, arguments, now_ms)
        if seen is not None:
            return msgspec.json.decode(seen, type=Spoken)
    patch, notes = split_notes(context, None)
    check_notes(notes)
    outcome = start(program, patch)
    if isinstance(outcome, Blocked):
        raise _invalid([IssueView(i.path, i.code, i.message) for i in outcome.issues])
    run = RunRecord(
        run_id=run_id,
        session_id=session_id,
        workflow_id=program.id,
        workflow_hash=compiled.workflow_hash,
        name=program.name,
        nodes=1,
    )
    yield from stored.pin(desk.workspace_id, compiled.workflow_hash, program, now_ms)
    yield from stored.insert_run(desk.workspace_id, run, now_ms)
    yield from actions.insert_run(
        Run(
            workspace_id=desk.workspace_id,
            run_id=run_id,
            tenant_id=None,
            operator=OPERATOR,
            tool=START,
            inputs={"workflowId": program.id, "sessionId": session_id},
            outputs={"workflowHash": compiled.workflow_hash},
            status="running",
            parent_run_id=None,
            created_ms=now_ms,
        )
    )
    head = yield from journal.lock_head(desk.workspace_id, run_id, now_ms)
    body = {
        "workflowId": program.id,
        "workflowHash": compiled.workflow_hash,
        "sessionId": session_id,
        "by": desk.principal.name,
    }
    head = yield from stored.log(head, "workflow_started", body, now_ms)
    yield from stored.insert_node(
        desk.workspace_id,
        run_id,
        0,
        parent=None,
        step_key="",
        title=program.name,
        notes=notes or "",
        artifacts=(),
        snapshot=outcome.snapshot,
        event_seq=head.seq,
        now_ms=now_ms,
    )
    warnings = (*compiled.warnings, *outcome.warnings)
    shown = pending(program, outcome.snapshot)
    answer = _answer(desk, run, 0, 0, shown, warnings)
    spoken = Spoken(answer, text.started(program, shown, _tokens(answer), warnings))
    if key is not None:
        yield from once.remember(
            desk.workspace_id, START, key, arguments, msgspec.json.encode(spoken).decode(), now_ms
        )
    return spoken


def step(
    desk: Desk,
    state: Handle,
    ack: Handle,
    context: dict[str, Any] | None,
    notes: str | None,
    output: Any,
) -> Transaction[Spoken | Refusal]:
    """Advance past the pending step. A refusal is returned, not raised: staging an action must be kept."""
    if (ack.run_id, ack.node) != (state.run_id, state.node):
        raise token_refusal("token_scope_mismatch")
    patch, given = split_notes(context, notes)
    content = Content(notes=given, output=output, context=patch)
    digest = canonical.digest({"notes": given, "output": output, "context": patch})
    edge = hashlib.sha256(f"{ack.attempt}:{digest}".encode()).hexdigest()
    # The action first, then the run: whoever decides about an action takes them in this order too.
    asked = yield from _asked(desk, state, digest)
    head = yield from _lock(desk, state)
    node = yield from _node(desk, state)
    kept = yield from stored.find_answer(desk.workspace_id, state.run_id, state.node, edge)
    if kept is not None:
        return Spoken(msgspec.json.decode(kept.answer, type=Answer), kept.text)
    check_notes(given)
    program = yield from stored.load_program(desk.workspace_id, node.run.workflow_hash)
    if node.is_complete:
        raise _invalid(
            [IssueView("stateToken", "complete", "This branch is complete; there is no step to advance.")]
        )
    decision = _decision(asked)
    outcome = advance(program, node.snapshot, content, decision)
    if isinstance(outcome, NeedsConfirmation):
        return (yield from _ask(desk, head, node, program, content, digest, outcome, asked))
    if isinstance(outcome, Blocked):
        return (yield from _block(desk, head, node, program, outcome, ack, edge))
    return (yield from _move(desk, head, node, program, content, outcome, edge, digest, asked))


def _lock(desk: Desk, state: Handle) -> Transaction[Head]:
    """Lock a run that exists in this workspace; a token of another one names nothing here (W8)."""
    rows = yield statements.find_workflow_run(workspace_id=desk.workspace_id, run_id=state.run_id)
    if not rows:
        raise token_refusal("token_unknown_node")
    return (yield from journal.lock_head(desk.workspace_id, state.run_id, desk.now_ms))


def _node(desk: Desk, state: Handle) -> Transaction[NodeRecord]:
    node = yield from stored.find_node(desk.workspace_id, state.run_id, state.node)
    if node is None:
        raise token_refusal("token_unknown_node")
    return node


def _move(
    desk: Desk,
    head: Head,
    node: NodeRecord,
    program: Program,
    content: Content,
    outcome: Advanced | Complete,
    edge: str,
    digest: str,
    asked: Action | None,
) -> Transaction[Spoken]:
    """A new node: the first child goes on, every further one is a branch (W12, W24)."""
    run, now_ms = node.run, desk.now_ms
    child = run.nodes
    shown = pending(program, node.snapshot)
    if asked is not None and state_of(asked).status is Status.APPROVED:
        yield from _confirmed(desk, asked, child)
        # The action's event went to this run's own stream.
        head = yield from journal.lock_head(desk.workspace_id, run.run_id, now_ms)
    body = {
        "parent": node.node,
        "node": child,
        "stepKey": outcome.step_key,
        "ackHash": edge,
        "contentDigest": digest,
        "branch": node.children > 0,
        "complete": isinstance(outcome, Complete),
        "loops": [msgspec.to_builtins(event) for event in outcome.events],
    }
    head = yield from stored.log(head, "step_acked", body, now_ms)
    yield from stored.insert_node(
        desk.workspace_id,
        run.run_id,
        child,
        parent=node.node,
        step_key=outcome.step_key,
        title=shown.title if shown is not None else "",
        notes=content.notes or "",
        artifacts=outcome.artifacts,
        snapshot=outcome.snapshot,
        event_seq=head.seq,
        now_ms=now_ms,
    )
    warnings = (*outcome.warnings, *desk.drift(run.workflow_id, run.workflow_hash))
    following = pending(program, outcome.snapshot)
    answer = _answer(desk, run, child, 0, following, warnings)
    said = (
        text.advanced(following, _tokens(answer), warnings)
        if following is not None
        else text.completed(program, warnings)
    )
    kept = KeptAnswer(child, msgspec.json.encode(answer).decode(), said)
    yield from stored.keep_answer(desk.workspace_id, run.run_id, node.node, edge, kept, now_ms)
    return Spoken(answer, said)


def _block(
    desk: Desk, head: Head, node: NodeRecord, program: Program, outcome: Blocked, ack: Handle, edge: str
) -> Transaction[Spoken]:
    """The step stays, with a fresh token for the retry (W32)."""
    run, now_ms = node.run, desk.now_ms
    issues = tuple(IssueView(issue.path, issue.code, issue.message) for issue in outcome.issues)
    body = {"node": node.node, "reason": outcome.reason, "issues": [issue.code for issue in issues]}
    yield from stored.log(head, "step_blocked", body, now_ms)
    yield from stored.store_snapshot(desk.workspace_id, run.run_id, node.node, outcome.snapshot)
    shown = pending(program, node.snapshot)
    base = _answer(desk, run, node.node, ack.attempt + 1, shown, ())
    answer = msgspec.structs.replace(
        base,
        kind="blocked",
        reason="blocked_too_often" if outcome.exhausted else outcome.reason,
        issues=issues,
        example=outcome.example if outcome.example is not None else msgspec.UNSET,
        notes_example=outcome.notes_example if outcome.notes_example is not None else msgspec.UNSET,
    )
    said = text.blocked(outcome, _shown(shown), _tokens(answer))
    kept = KeptAnswer(None, msgspec.json.encode(answer).decode(), said)
    yield from stored.keep_answer(desk.workspace_id, run.run_id, node.node, edge, kept, now_ms)
    return Spoken(answer, said)


# Confirmation: a step that a human must agree to is an action in the approval machine (W40).


def _asked(desk: Desk, state: Handle, digest: str) -> Transaction[Action | None]:
    """The action for exactly this content of this node, if a human was asked about it."""
    action_id = yield from stored.confirmation(desk.workspace_id, state.run_id, state.node, digest)
    if action_id is None:
        return None
    action, _ = yield from actions.lock(desk.workspace_id, action_id)
    return action


def _decision(asked: Action | None) -> Decision | None:
    if asked is None:
        return None
    if asked.status is Status.REJECTED:
        return Decision("rejected", asked.rejection or "")
    if asked.status is Status.APPROVED and asked.approval is not None:
        covered = asked.approval.digest == asked.digest == asked.effect.digest()
        return Decision("approved") if covered else None
    return None


def _ask(
    desk: Desk,
    head: Head,
    node: NodeRecord,
    program: Program,
    content: Content,
    digest: str,
    outcome: NeedsConfirmation,
    asked: Action | None,
) -> Transaction[Refusal]:
    """Ask a human, once for the same content; after a rejection new content is asked about anew."""
    run, now_ms = node.run, desk.now_ms
    url = desk.review_url(desk.workspace_id, run.run_id, now_ms)
    if asked is None or asked.expired(now_ms):
        asked = _confirmation_action(desk, node, content, digest, outcome)
        yield from actions.insert_action(asked)
        yield from stored.set_confirmation(desk.workspace_id, run.run_id, node.node, digest, asked.action_id)
        body = {
            "node": node.node,
            "stepKey": outcome.step_key,
            "actionId": asked.action_id,
            "digest": asked.digest,
        }
        yield from stored.log(head, "confirmation_asked", body, now_ms)
        earlier = yield from _earlier(desk, run.run_id, outcome.step_key, asked.action_id)
    else:
        earlier = None
    message = f"“{outcome.title}” waits for a person. Approve it in the chat, or open the review link."
    if outcome.rejected is not None:
        message = f"“{outcome.title}” was rejected: {outcome.rejected or 'no reason given'}. Change it and ask again."
    elif earlier is not None:
        message += f" The same step was already {earlier} on another branch; that does not count here."
    return gate.needs_approval(asked, url, user_message=message)


def _earlier(desk: Desk, run_id: RunId, step_key: str, but: ActionId) -> Transaction[str | None]:
    """What became of the same step on another branch: an effect is told, an approval is not inherited (C31)."""
    rows = yield statements.list_step_confirmations(workspace_id=desk.workspace_id, run_id=run_id)
    for row in rows:
        if row["action_id"] != but and msgspec.json.decode(row["metadata"]).get("stepKey") == step_key:
            return str(row["status"])
    return None


def _confirmation_action(
    desk: Desk, node: NodeRecord, content: Content, digest: str, outcome: NeedsConfirmation
) -> Action:
    details: dict[str, Any] = {"stepKey": outcome.step_key, "node": node.node, "content": digest}
    if outcome.action is not None:
        details["call"] = outcome.action
    effect = Effect(
        channel="workflow",
        verb="confirm",
        connector=CONNECTOR,
        title=outcome.title,
        body=confirmation_body(outcome.title, content),
        details=details,
    )
    return Action(
        workspace_id=desk.workspace_id,
        action_id=ActionId(desk.new_id(desk.now_ms)),
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
        preflight=preflight(effect, Readiness(ready=True)),
        created_ms=desk.now_ms,
        expires_ms=desk.now_ms + ACTION_TTL_MS,
        metadata={"stepKey": outcome.step_key, "workflowId": node.run.workflow_id},
    )


def confirmation_body(title: str, content: Content) -> str:
    """What the human reads: the step's title with what the agent submitted, never the prompt (E19)."""
    parts = [title]
    if content.notes and content.notes.strip():
        parts.append(content.notes.strip())
    if content.output is not None:
        parts.append(msgspec.json.format(msgspec.json.encode(content.output), indent=2).decode())
    if len(parts) == 1:
        parts.append("The agent sent no notes for this step.")
    return "\n\n".join(parts)[:MAX_CONTENT_CHARS]


def _confirmed(desk: Desk, asked: Action, child: int) -> Transaction[None]:
    """The advance that passes is the action's effect: executed, once."""
    changed = msgspec.structs.replace(
        asked, executed_ms=desk.now_ms, external_id=f"{asked.run_id}#{child}", external_url=None
    )
    state = moved(state_of(asked), Move.HAND_OVER)
    facts = {"by": desk.principal.name, "via": ADVANCE, "node": child}
    yield from actions.put(changed, state, Move.HAND_OVER, facts, desk.now_ms)


def rehydrate(desk: Desk, state: Handle) -> Transaction[Spoken]:
    """Where a token stands: the pending step, what was noted on the way, and a fresh token. Writes nothing (W20)."""
    node = yield from stored.find_node(desk.workspace_id, state.run_id, state.node)
    if node is None:
        raise token_refusal("token_unknown_node")
    program = yield from stored.load_program(desk.workspace_id, node.run.workflow_hash)
    way = yield statements.list_workflow_ancestors(
        workspace_id=desk.workspace_id, run_id=state.run_id, node=state.node, most=MOST_ANCESTORS
    )
    kept = yield statements.list_workflow_checkpoints(workspace_id=desk.workspace_id, run_id=state.run_id)
    on_the_way = {row["node"] for row in way}
    by_node: dict[int, list[Note]] = {}
    for row in kept:
        if row["node"] in on_the_way:
            by_node.setdefault(row["node"], []).append(Note("Checkpoint", row["notes"]))
    notes: list[Note] = []
    for row in reversed(way):
        notes.append(Note(row["title"] or row["step_key"], row["notes"]))
        notes += by_node.get(row["node"], [])
    rows = yield statements.list_workflow_children(
        workspace_id=desk.workspace_id, run_id=state.run_id, node=state.node
    )
    warnings = desk.drift(node.run.workflow_id, node.run.workflow_hash)
    shown = pending(program, node.snapshot)
    told = recap(notes)
    answer = msgspec.structs.replace(
        _answer(desk, node.run, node.node, node.snapshot.blocked, shown, warnings),
        kind="resumed" if shown is not None else "complete",
        recap=told.text,
        recap_omitted=told.omitted,
        branches=tuple(BranchView(r["title"], r["step_key"], bool(r["is_complete"])) for r in rows),
    )
    children = [text.Child(row["title"] or row["step_key"], row["notes"]) for row in rows]
    tokens = _tokens(answer) if shown is not None else None
    return Spoken(answer, text.rehydrated(program, shown, tokens, told, children, warnings))


def checkpoint(desk: Desk, state: Handle, notes: str) -> Transaction[Spoken]:
    """Keep notes on a node without moving anything; the same notes again are one checkpoint (W41–W44)."""
    check_notes(notes)
    head = yield from _lock(desk, state)
    node = yield from _node(desk, state)
    digest = hashlib.sha256(notes.encode()).hexdigest()
    known = yield statements.find_workflow_checkpoint(
        workspace_id=desk.workspace_id, run_id=state.run_id, node=state.node, digest=digest
    )
    if not known:
        head = yield from stored.log(
            head, "checkpoint_kept", {"node": state.node, "digest": digest}, desk.now_ms
        )
        yield statements.insert_workflow_checkpoint(
            workspace_id=desk.workspace_id,
            run_id=state.run_id,
            node=state.node,
            digest=digest,
            notes=notes,
            event_seq=head.seq,
            created_ms=desk.now_ms,
        )
    program = yield from stored.load_program(desk.workspace_id, node.run.workflow_hash)
    shown = pending(program, node.snapshot)
    answer = msgspec.structs.replace(
        _answer(desk, node.run, node.node, node.snapshot.blocked, shown, ()), kind="checkpoint"
    )
    tokens = _tokens(answer) if shown is not None else None
    return Spoken(answer, text.checkpointed(shown, tokens, again=bool(known)))


class Found(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A run that was found again."""

    session_id: str
    run_id: str
    workflow_id: str
    name: str
    state_token: str
    is_complete: bool
    nodes: int


def find_runs(
    desk: Desk, *, session_id: str, workflow_id: str, query: str, most: int
) -> Transaction[tuple[Found, ...]]:
    """Earlier runs, freshest first, each at its preferred tip (W27)."""
    if query:
        escaped = query.lower().replace("%", "").replace("_", " ")
        rows = yield statements.search_workflow_runs(
            workspace_id=desk.workspace_id, pattern=f"%{escaped}%", most=most
        )
    else:
        rows = yield statements.list_workflow_runs(
            workspace_id=desk.workspace_id, session_id=session_id, workflow_id=workflow_id, most=most
        )
    found = []
    for row in rows:
        run = stored.run_of(row)
        tips = yield statements.find_workflow_tip(workspace_id=desk.workspace_id, run_id=run.run_id)
        tip = yield from stored.find_node(desk.workspace_id, run.run_id, tips[0]["node"])
        if tip is not None:
            found.append(
                Found(
                    session_id=run.session_id,
                    run_id=run.run_id,
                    workflow_id=run.workflow_id,
                    name=run.name,
                    state_token=mint(desk.keys, Handle("st", run.run_id, tip.node)),
                    is_complete=tip.is_complete,
                    nodes=run.nodes,
                )
            )
    return tuple(found)


def token_refusal(code: str) -> Refusal:
    return Refusal(Reason(code))


def handle_of(keys: tuple[bytes, ...], token: str, kind: Any) -> Handle:
    """A token's place, or the refusal that its rule names."""
    try:
        return read(keys, token, kind)
    except HandleRefused as refused:
        raise token_refusal(refused.reason) from None


def content_refusal(refused: ContentRefused) -> Refusal:
    """What cannot be taken at all, as the caller hears it."""
    problems = [
        Problem(
            issue.path,
            issue.message if not refused.allowed else f"at most {refused.allowed} bytes",
            f"{refused.measured} bytes" if refused.allowed else issue.code,
        )
        for issue in refused.issues
    ]
    reason = Reason.CONTEXT_TOO_LARGE if refused.code == "context_too_large" else Reason.VALIDATION_ERROR
    facts = {"measured": refused.measured, "allowed": refused.allowed}
    return Refusal(reason, facts=facts, problems=problems)


def _invalid(issues: list[IssueView]) -> Refusal:
    problems = [Problem(issue.path, issue.message, issue.code) for issue in issues]
    return Refusal(Reason.VALIDATION_ERROR, problems=problems)


def _answer(
    desk: Desk, run: RunRecord, node: int, attempt: int, shown: Pending | None, warnings: tuple[Warning, ...]
) -> Answer:
    state_token = mint(desk.keys, Handle("st", run.run_id, node))
    ack_token = mint(desk.keys, Handle("ack", run.run_id, node, attempt)) if shown is not None else None
    return Answer(
        kind="step" if shown is not None else "complete",
        state_token=state_token,
        pending=view(shown) if shown is not None else None,
        ack_token=ack_token,
        is_complete=shown is None,
        session=SessionView(run.session_id, run.run_id),
        workflow_id=run.workflow_id,
        warnings=tuple(WarningView(w.code, w.message, w.path) for w in warnings) or msgspec.UNSET,
        next_call=NextCall(ADVANCE, {"stateToken": state_token, "ackToken": ack_token})
        if ack_token is not None
        else msgspec.UNSET,
    )


def view(shown: Pending) -> PendingView:
    return PendingView(
        step_id=shown.step_id,
        title=shown.title,
        prompt=shown.prompt,
        require_confirmation=shown.require_confirmation,
        step_key=shown.step_key,
        action=shown.action if shown.action is not None else msgspec.UNSET,
    )


def _tokens(answer: Answer) -> text.Tokens:
    return text.Tokens(answer.state_token, answer.ack_token or "")


def _shown(shown: Pending | None) -> Pending:
    if shown is None:
        raise LookupError("a blocked step is pending")
    return shown


__all__ = ["DEFAULT", "Desk", "Leaf", "Policy", "begin_run", "checkpoint", "find_runs", "rehydrate", "step"]
