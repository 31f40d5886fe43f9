"""Workflow runs: start, advance, and the other branches of a run, each with a token to enter it (W12, W20).

Theory of operation

A run executes one workflow. At the start its compiled program is stored under its hash, and the run
keeps that hash: a later change of the workflow file does not affect it. A run is a tree of nodes.
Node 0 is the start, and every advance that passes a step adds one node, numbered in order, with a
snapshot: the complete state of the interpreter after that step. An advance reads one node and
writes one, so its cost does not grow with the run.

Tokens. A caller names a node by its state token and one attempt at the node's pending step by its
ack token. A token encodes run, series, node and attempt with a MAC, so it needs no row. The same
place gives the same token after a restart and on every replica with the key. Whether the workspace
owns the run is decided by the look-up, not by the token. An imported run gets a new series, so its
old tokens stop matching.

One advance (`step`) is one transaction:

1. Compute the edge: the hash of the attempt and the content digest (notes, output, context).
2. Read the node with its program. If this edge was answered before, return that answer (a replay). A
   complete node has no step and is refused.
3. Lock the head of the run's journal stream, which is the lock of the run. If the step needs a
   confirmation, lock its action first: decisions take action and run in the same order, which avoids a
   deadlock.
4. Read the node again under the lock. If another call answered the same edge in the meantime, return
   its answer.
5. Run `advance` of the pure interpreter. It returns one of four outcomes:

- Advanced or Complete (`_move`): build the answer, insert the child node, link it from its parent,
  append the event.
- Blocked (`_block`): count the attempt on the node, issue an ack token for the next attempt, store the
  answer. After ten blocked attempts in a row the call returns an error and stores nothing.
- NeedsConfirmation (`confirmations.ask`): stage an action for exactly this content and return a
  refusal. It is returned, not raised, because the staged action must be committed.

Replay. The parent's row holds the edge, the child and the tokens of its first child
(`FirstTransition`), and the rest of that answer is computed from the child. An answer with
warnings, of a further branch or of a blocked attempt cannot be computed again, so it is stored
whole (`KeptAnswer`). A replay judges nothing and writes nothing. A start is replayed by its
idempotency key instead, since it has no token yet.

Branches. The first child of a node continues the run. Other content for a step that was already
completed creates another child, a new branch; the earlier branch stays as it was. Each branch has
its own snapshots. One branch may be complete while another goes on.

Confirmation. A step that needs a person's approval becomes an action in the approval machine,
identified by run, node and content digest. When the same advance comes again and the action is
approved for that content, the gate judges it as for any execution, the action becomes `executed`,
and the step passes. Actions are not part of the tree: a call that returns to an earlier node
neither repeats an effect nor inherits an approval (C31, W40). It gets a warning instead. A step whose
confirmation is a plan stages nothing: it passes once the actions of another run are decided
(`assent.engine.workflows.plans`).

Integrity. Every new node has an event in the run's stream with the node's seal, a digest of its
content. Verification compares nodes, transitions and answers with the events (W67).

Invariants

1. A run changes only under the lock of its stream, one step at a time.
2. The node, its event and the answer to the call commit together or not at all.
3. Equal tokens and equal content give one node and one answer, also for concurrent calls.
4. A stored node never changes, except for its count of blocked attempts, its count of children and its
   first transition. Retention removes whole sessions.
5. A step that needs confirmation is passed only after a person decided about exactly the submitted
   content: with an approval, or with a rejection if the step is defined to continue then. One that needs a plan
   is passed only after every action of that run was decided, and a plan passes one step.
6. The transaction reads no file: drift of the workflow file is looked up before and passed in.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, search
from assent.engine.actions.idempotency import run_once
from assent.engine.core import journal
from assent.engine.core.journal import Head
from assent.engine.workflows import answers, confirmations, plans
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import BranchView, WorkflowAnswer, WorkflowCall, WorkflowReply
from assent.engine.workflows.confirmations import OpenQuestion
from assent.engine.workflows.store import (
    COMPLETE,
    OPERATOR,
    RUNNING,
    FirstTransition,
    KeptAnswer,
    NewNode,
    NodeRecord,
    StoredRun,
)
from assent.gate.records import Run, Status
from assent.kernel.ids import RunId
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record
from assent.ports import Row, Transaction
from assent.sql.loader import statements
from assent.workflow import (
    Advanced,
    Blocked,
    Compiled,
    Complete,
    Issue,
    NeedsConfirmation,
    Warning,
    advance,
    check_notes,
    pending,
    read_content,
    split_notes,
    start,
    text,
)
from assent.workflow.machine.content import measure
from assent.workflow.machine.history import Branch, find_branches, first_line
from assent.workflow.machine.state import decode as decode_snapshot
from assent.workflow.machine.state import encode, pending_step
from assent.workflow.program import PLAN, Program
from assent.workflow.tokens import TokenClaims, mint, mint_tokens

NODES_READ: Final = 2_000
"""Bound on the nodes that one call reads."""

FROM_HERE: Final = 20
ELSEWHERE: Final = 5
"""The newest branches are listed one by one; the others are counted."""
NEWEST_TOLD: Final = 5


class OtherBranches(Record):
    from_here: tuple[BranchView, ...]
    elsewhere: tuple[BranchView, ...]
    omitted: int


def describe_others(
    call: WorkflowCall, run: StoredRun, program: Program, node: int, *, from_here: int = FROM_HERE
) -> Transaction[OtherBranches]:
    """List the branches that do not contain a node, oldest first."""
    named = {"workspace_id": call.workspace_id, "run_id": run.run_id}
    rows = yield statements.list_workflow_parents(**named, most=NODES_READ)
    found = find_branches({row["node"]: row["parent"] for row in rows}, node)
    here, elsewhere = found.from_here[-from_here:], found.elsewhere[-ELSEWHERE:]
    omitted = len(found.from_here) + len(found.elsewhere) - len(here) - len(elsewhere)
    if not (here or elsewhere):
        return OtherBranches((), (), 0)
    nodes = sorted({number for each in (*here, *elsewhere) for number in _told(each)})
    rows = yield statements.list_workflow_places(**named, nodes=msgspec.json.encode(nodes).decode())
    places = {row["node"]: row for row in rows}

    def describe(branch: Branch) -> BranchView:
        first, tip = places[branch.nodes[0]], places[branch.nodes[-1]]
        noted = (first_line(places[node]["notes"]) for node in _told(branch))
        return BranchView(
            title=first["title"] or first["step_key"],
            step_key=first["step_key"],
            is_complete=bool(tip["is_complete"]),
            notes=tuple(filter(None, noted)),
            reached=render_title(program, tip),
            state_token=mint(call.keys, TokenClaims("st", run.run_id, tip["node"], run.series)),
        )

    return OtherBranches(tuple(map(describe, here)), tuple(map(describe, elsewhere)), omitted)


def _told(branch: Branch) -> tuple[int, ...]:
    """Return the steps of a branch whose notes are told: the first and the newest."""
    return (branch.nodes[0], *branch.nodes[1:][-NEWEST_TOLD:])


def render_title(program: Program, place: Row) -> str:
    """Return the title of a node's pending step; empty if it is complete or its snapshot was too
    large to read."""
    if place["is_complete"] or not place["snapshot"]:
        return ""
    shown = pending(program, decode_snapshot(place["snapshot"]))
    return shown.title if shown is not None else ""


def read_place(call: WorkflowCall, run: StoredRun, node: int) -> Transaction[tuple[str, str, bool] | None]:
    """Return the title of a node's pending step, the first line of its notes, and whether it is
    complete; None if the run was removed meanwhile."""
    program = yield from stored.load_program(call.workspace_id, run.workflow_hash)
    rows = yield statements.list_workflow_places(
        workspace_id=call.workspace_id, run_id=run.run_id, nodes=msgspec.json.encode([node]).decode()
    )
    if not rows:
        return None
    return render_title(program, rows[0]), first_line(rows[0]["notes"]), bool(rows[0]["is_complete"])


def write_branches(others: OtherBranches) -> str:
    """Write the section about other branches; empty if there are none."""
    if not (others.from_here or others.elsewhere):
        return ""
    lines = [f"- From this step: {_describe(each)}" for each in others.from_here]
    lines += [f"- From “{each.title}”: {_describe(each)}" for each in others.elsewhere]
    if others.omitted:
        lines.append(f"- {others.omitted} older ones are left out.")
    head = "## Other branches of this run"
    ask = "Tell the user what they found. To go on with one, call workflow_advance with its stateToken alone."
    return "\n".join([head, *lines, ask])


def _describe(branch: BranchView) -> str:
    came = (
        "is complete"
        if branch.is_complete
        else f"waits at “{branch.reached}”"
        if branch.reached
        else "goes on"
    )
    said = [f"“{line}”" for line in branch.notes]
    noted = f", noted {', then '.join(said)}" if said else ""
    return f"{came}{noted}; stateToken {branch.state_token}"


START: Final = "workflow_start"


def begin_run(
    call: WorkflowCall,
    workflow_id: str,
    compiled: Compiled | Refusal,
    context: dict[str, Any],
    session_id: str,
    run_id: RunId,
    key: str | None,
    named_session: str,
) -> Transaction[WorkflowReply]:
    """Start a run, pinned to the present program (W55). A repeated idempotency key returns the
    stored answer, even if the file has changed; without a key every start is a new run (W19)."""
    measure(context, "context")
    arguments = {"workflowId": workflow_id, "context": context, "sessionId": named_session}

    def begin() -> Transaction[WorkflowReply]:
        if isinstance(compiled, Refusal):
            raise compiled
        patch, notes = split_notes(context, None)
        check_notes(notes)
        outcome = start(compiled.program, patch)
        run = StoredRun(
            run_id=run_id,
            session_id=session_id,
            workflow_id=compiled.program.id,
            workflow_hash=compiled.workflow_hash,
            name=compiled.program.name,
            nodes=1,
        )
        yield from _store_start(call, run, compiled.program, outcome, notes or "")
        return _answer_start(call, run, compiled, outcome)

    return (yield from run_once(call.principal, START, key, arguments, call.now_ms, WorkflowReply, begin))


def _store_start(
    call: WorkflowCall,
    run: StoredRun,
    program: Program,
    outcome: Advanced | Complete | Blocked,
    notes: str,
) -> Transaction[None]:
    """Store the program, the run with its first node, and the event of the start."""
    now_ms, complete = call.now_ms, isinstance(outcome, Complete)
    yield from stored.pin(call.workspace_id, run.workflow_hash, program, now_ms)
    yield from stored.insert_run(call.workspace_id, run, now_ms)
    made = Run(
        workspace_id=call.workspace_id,
        run_id=run.run_id,
        tenant_id=None,
        operator=OPERATOR,
        tool=START,
        inputs={"workflowId": program.id, "sessionId": run.session_id},
        outputs={"workflowHash": run.workflow_hash},
        status=COMPLETE if complete else RUNNING,
        parent_run_id=None,
        created_ms=now_ms,
    )
    yield from actions.insert_run(made)
    yield from search.index(made, name=program.name)
    first = NewNode(
        node=0,
        parent=None,
        step_key="",
        title=program.name,
        notes=notes,
        artifacts="[]",
        snapshot=encode(outcome.snapshot),
        is_complete=complete,
    )
    body = {
        "workflowId": program.id,
        "workflowHash": run.workflow_hash,
        "sessionId": run.session_id,
        "by": call.principal.name,
        "complete": complete,
    }
    head = journal.new_head(call.workspace_id, run.run_id)
    yield from stored.grow(head, "workflow_started", body, first, now_ms)


def _answer_start(
    call: WorkflowCall, run: StoredRun, compiled: Compiled, outcome: Advanced | Complete | Blocked
) -> WorkflowReply:
    warnings = compiled.warnings
    if not isinstance(outcome, Blocked):
        warnings += outcome.warnings
    place, shown = TokenClaims("st", run.run_id, 0, run.series), outcome.pending
    tokens = mint_tokens(call.keys, place, 0 if shown is not None else None)
    answer = answers.shape_answer(run, tokens, shown, warnings)
    if isinstance(outcome, Blocked):
        answer = answers.block_answer(answer, outcome)
    return WorkflowReply(answer, text.write_start(compiled.program, shown, tokens, warnings))


LISTED_BRANCHES: Final = 5
"""How many of the newest branches an advance lists. Few, because the answer is stored."""
NEW_BRANCH: Final = Warning(
    "new_branch",
    "This step was completed before with other content, so this is a new branch; the earlier one stays as it is.",
)


def step(
    call: WorkflowCall,
    state: TokenClaims,
    ack: TokenClaims,
    context: dict[str, Any] | None,
    notes: str | None,
    output: Any,
) -> Transaction[WorkflowReply | Refusal]:
    """Advance past the pending step. A refusal that must commit, such as a staged action, is
    returned; others are raised.

    The ack token must be of the same run and node as the state token (W5). This is one transaction
    under the lock of the run: equal concurrent advances, also of several processes, create one node
    (W13, W14), and a crash leaves the run before or after the advance (W15, W66).
    """
    if (ack.run_id, ack.node, ack.series) != (state.run_id, state.node, state.series):
        raise Refusal(Reason.TOKEN_SCOPE_MISMATCH)
    content, digest = read_content(context, notes, output)
    edge = hashlib.sha256(f"{ack.attempt}:{digest}".encode()).hexdigest()
    seen = yield from stored.find_step(call.workspace_id, state, edge)
    if seen is None:
        raise Refusal(Reason.TOKEN_UNKNOWN_NODE)
    if not isinstance(seen, NodeRecord):
        return (yield from _replay(call, state.run_id, seen))
    if seen.snapshot.is_complete:
        message = "This branch is complete; there is no step to advance."
        raise answers.build_refusal([Issue("stateToken", "complete", message)])
    confirm = pending_step(seen.program, seen.snapshot).confirm
    gated = confirm is not None and confirm.kind != PLAN
    asked = (yield from confirmations.lock(call, state, digest)) if gated else None
    if seen.head is None:
        head = yield from journal.lock_head(call.workspace_id, state.run_id, call.now_ms)
    else:
        head = yield from journal.lock_seen(seen.head)
    node = yield from stored.reread_node(call.workspace_id, seen, edge)
    if node is None:
        raise Refusal(Reason.TOKEN_UNKNOWN_NODE)
    if not isinstance(node, NodeRecord):
        return (yield from _replay(call, state.run_id, node))
    if gated:
        asked = yield from confirmations.settle(call, state, digest, asked)
    decision = confirmations.decision(call, asked) if asked is not None else None
    outcome = advance(node.program, node.snapshot, content, decision)
    if isinstance(outcome, NeedsConfirmation) and not gated:
        plan, needed = (yield from plans.find(call, outcome)), outcome
        if plan.decision is not None:
            outcome = advance(node.program, node.snapshot, content, plan.decision)
        if isinstance(outcome, NeedsConfirmation):
            return (yield from plans.ask(call, head, node, digest, outcome, plan))
        if not isinstance(outcome, Blocked):
            head = yield from plans.take(call, head, node, digest, needed.step_key, plan)
    if isinstance(outcome, NeedsConfirmation):
        return (yield from confirmations.ask(call, head, node, content, digest, outcome, asked, ack))
    if isinstance(outcome, Blocked):
        return (yield from _block(call, head, node, outcome, ack, edge))
    return (yield from _move(call, head, node, outcome, edge, digest, asked))


def _replay(
    call: WorkflowCall, run_id: RunId, answered: FirstTransition | KeptAnswer
) -> Transaction[WorkflowReply]:
    """Return the answer given before to the same content (W11), with its tokens (W10), also if it
    completed the run (W16). Judges nothing again (W18)."""
    if isinstance(answered, KeptAnswer):
        return WorkflowReply(msgspec.json.decode(answered.answer, type=WorkflowAnswer), answered.text)
    child = yield from stored.find_node(call.workspace_id, run_id, answered.child)
    if child is None:
        raise Refusal(Reason.TOKEN_UNKNOWN_NODE)  # the run was removed meanwhile
    shown = pending(child.program, child.snapshot)
    return answers.answer_advance(child.run, child.program, answered.tokens, shown, ())


def _move(
    call: WorkflowCall,
    head: Head,
    node: NodeRecord,
    outcome: Advanced | Complete,
    edge: str,
    digest: str,
    asked: OpenQuestion | None,
) -> Transaction[WorkflowReply]:
    """Insert the child node: the first child continues, every further one is a branch (W12, W24,
    W25). One branch may be complete while another goes on (W28)."""
    run, now_ms = node.run, call.now_ms
    child = run.nodes
    if asked is not None:
        if asked.action.status is Status.APPROVED:
            yield from confirmations.pass_step(call, asked.action, child)
            # The action's event was appended to this stream, so the head has moved.
            head = yield from journal.lock_head(call.workspace_id, run.run_id, now_ms)
        head = yield from confirmations.supersede(call, head, node, asked.action.action_id)
    if node.snapshot.blocked:
        # A pass ends the series of blocked attempts; a later visit to this node starts at 0 (W39).
        passed = msgspec.structs.replace(node.snapshot, blocked=0)
        yield from stored.store_snapshot(call.workspace_id, run.run_id, node.node, passed)
    complete = isinstance(outcome, Complete)
    if complete:
        yield statements.complete_run(workspace_id=call.workspace_id, run_id=run.run_id, status=COMPLETE)
    reply, transition = yield from _answer_move(call, node, outcome, edge)
    body = {
        "parent": node.node,
        "node": child,
        "stepKey": outcome.step_key,
        "ackHash": edge,
        "contentDigest": digest,
        "branch": node.children > 0,
        "complete": complete,
        "loops": outcome.events,
        "by": call.principal.name,
    }
    new = NewNode(
        node=child,
        parent=node.node,
        step_key=outcome.step_key,
        title=outcome.title,
        notes=outcome.notes,
        snapshot=encode(outcome.snapshot),
        artifacts=stored.artifacts_text(outcome.artifacts),
        is_complete=complete,
    )
    yield from stored.grow(head, "step_acked", body, new, now_ms, transition)
    if transition is None:
        kept = KeptAnswer(child, msgspec.json.encode(reply.answer).decode(), reply.text)
        yield from stored.keep_answer(call.workspace_id, run.run_id, node.node, edge, kept, now_ms)
    return reply


def _answer_move(
    call: WorkflowCall, node: NodeRecord, outcome: Advanced | Complete, edge: str
) -> Transaction[tuple[WorkflowReply, FirstTransition | None]]:
    """Build the answer to an advance, and the transition from which a replay computes it. Warnings
    cannot be computed again, and a node holds one transition: without one the answer must be stored
    whole (W12)."""
    run, following = node.run, outcome.pending
    others = None
    if node.children:
        others = yield from describe_others(call, run, node.program, node.node, from_here=LISTED_BRANCHES)
    warnings = (*((NEW_BRANCH,) if others is not None else ()), *outcome.warnings, *call.drift)
    if following is not None and following.require_confirmation:
        warnings += yield from confirmations.warn(call, run.run_id, run.nodes, following)
    place = TokenClaims("st", run.run_id, run.nodes, run.series)
    tokens = mint_tokens(call.keys, place, 0 if following is not None else None)
    reply = answers.answer_advance(run, node.program, tokens, following, warnings)
    if others is not None:
        section = write_branches(others)
        answer = msgspec.structs.replace(
            reply.answer,
            branches=others.from_here,
            other_branches=others.elsewhere or msgspec.UNSET,
            branches_omitted=others.omitted or msgspec.UNSET,
        )
        return WorkflowReply(answer, f"{section}\n\n{reply.text}"), None
    if warnings:
        return reply, None
    return reply, FirstTransition(edge, run.nodes, tokens)


def _block(
    call: WorkflowCall,
    head: Head,
    node: NodeRecord,
    outcome: Blocked,
    ack: TokenClaims,
    edge: str,
) -> Transaction[WorkflowReply | Refusal]:
    """Keep the step pending and issue an ack token for the next attempt (W32). After ten in a row,
    return an error and store nothing (W39)."""
    run, now_ms = node.run, call.now_ms
    if outcome.exhausted:
        return answers.give_up(outcome.issues)
    body = {"node": node.node, "reason": outcome.reason, "issues": [issue.code for issue in outcome.issues]}
    yield from stored.log(head, "step_blocked", body, now_ms)
    yield from stored.store_snapshot(call.workspace_id, run.run_id, node.node, outcome.snapshot)
    yield from stored.touch_run(call.workspace_id, run.run_id, now_ms)
    place = TokenClaims("st", run.run_id, node.node, run.series)
    tokens = mint_tokens(call.keys, place, ack.attempt + 1)
    answer = answers.block_answer(answers.shape_answer(run, tokens, outcome.pending, ()), outcome)
    said = text.write_blocked(outcome, tokens)
    kept = KeptAnswer(None, msgspec.json.encode(answer).decode(), said)
    yield from stored.keep_answer(call.workspace_id, run.run_id, node.node, edge, kept, now_ms)
    return WorkflowReply(answer, said)
