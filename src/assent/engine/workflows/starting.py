"""Starts workflow runs. A run is pinned to its program, whatever becomes of the file."""

from __future__ import annotations

from typing import Any, Final

from assent.engine.actions import actions
from assent.engine.actions.idempotency import run_once
from assent.engine.core import journal
from assent.engine.workflows import answers
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import WorkflowCall, WorkflowReply
from assent.engine.workflows.store import NewNode, StoredRun
from assent.gate.records import Run
from assent.kernel.ids import RunId
from assent.kernel.refusals import Refusal
from assent.ports import Transaction
from assent.workflow import Advanced, Blocked, Compiled, Complete, check_notes, split_notes, start
from assent.workflow.machine.content import measure
from assent.workflow.machine.state import encode
from assent.workflow.program import Program
from assent.workflow.text import answers as text
from assent.workflow.tokens import TokenClaims, mint_tokens

OPERATOR: Final = "workflow"
START: Final = "workflow_start"
RUNNING: Final = "running"
COMPLETE: Final = "complete"
"""Status of a run with at least one complete branch; other branches may go on (W28)."""


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
    yield from actions.insert_run(
        Run(
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
    )
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
