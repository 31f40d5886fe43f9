"""Give the context of a run to an agent that lost it (rehydrate), and store a note without advancing
(checkpoint)."""

from __future__ import annotations

import msgspec

from assent.engine.workflows import answers, confirmations
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import WorkflowCall, WorkflowReply
from assent.engine.workflows.branches import describe_others, write_branches
from assent.kernel.limits import RECAP_BYTES
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Transaction
from assent.sql.loader import statements
from assent.workflow import Issue, Note, check_notes, pending, recap
from assent.workflow.text import answers as text
from assent.workflow.tokens import TokenClaims, mint_tokens


def rehydrate(call: WorkflowCall, state: TokenClaims, *, rules: bool = False) -> Transaction[WorkflowReply]:
    """Return the pending step of a token, the notes of the steps before it, and a new ack token.
    Writes nothing (W20). `rules` adds the rules of the run for a chat that has lost its history."""
    node = yield from stored.find_place(call.workspace_id, state)
    if node is None:
        raise Refusal(Reason.TOKEN_UNKNOWN_NODE)
    program = node.program
    ancestors = yield statements.list_workflow_ancestors(
        workspace_id=call.workspace_id, run_id=state.run_id, node=state.node, budget=RECAP_BYTES
    )
    checkpoints = yield statements.list_workflow_checkpoints(
        workspace_id=call.workspace_id, run_id=state.run_id
    )
    path = {row["node"] for row in ancestors}
    by_node: dict[int, list[Note]] = {}
    for row in checkpoints:
        if row["node"] in path:
            by_node.setdefault(row["node"], []).append(Note("Checkpoint", row["notes"]))
    notes: list[Note] = []
    for row in reversed(ancestors):
        notes.append(Note(row["title"] or row["step_key"], row["notes"]))
        notes += by_node.get(row["node"], [])
    others = yield from describe_others(call, node.run, program, node.node)
    shown = pending(program, node.snapshot)
    warnings = (
        *call.drift,
        *(yield from confirmations.warn_again(call, state.run_id, state.node, shown)),
    )
    recapped = recap(notes, left_out=sum(row["left_out"] for row in ancestors))
    tokens = mint_tokens(call.keys, state, node.snapshot.blocked if shown is not None else None)
    answer = msgspec.structs.replace(
        answers.shape_answer(node.run, tokens, shown, warnings),
        kind="resumed" if shown is not None else "complete",
        recap=recapped.text,
        recap_omitted=recapped.omitted,
        branches=others.from_here,
        other_branches=others.elsewhere or msgspec.UNSET,
        branches_omitted=others.omitted or msgspec.UNSET,
    )
    section = write_branches(others)
    return WorkflowReply(
        answer,
        text.write_rehydration(
            program, shown, tokens, recapped, section, warnings, node.snapshot.context, rules=rules
        ),
    )


def checkpoint(call: WorkflowCall, state: TokenClaims, notes: str) -> Transaction[WorkflowReply]:
    """Store notes on a node; the pending step does not change (W41). Equal notes are one checkpoint
    (W42), other notes are stored beside them (W43), and the preferred tip does not move (W44)."""
    check_notes(notes)
    if not notes.strip():
        raise answers.build_refusal(
            [Issue("notesMarkdown", "blank", "Say what to keep; these notes are blank.")]
        )
    held = yield from stored.lock_place(call.workspace_id, state, call.now_ms)
    if held is None:
        raise Refusal(Reason.TOKEN_UNKNOWN_NODE)
    head, node = held
    digest = stored.notes_digest(notes)
    known = yield statements.find_workflow_checkpoint(
        workspace_id=call.workspace_id, run_id=state.run_id, node=state.node, digest=digest
    )
    if not known:
        head = yield from stored.log(
            head, "checkpoint_kept", {"node": state.node, "digest": digest}, call.now_ms
        )
        yield statements.insert_workflow_checkpoint(
            workspace_id=call.workspace_id,
            run_id=state.run_id,
            node=state.node,
            digest=digest,
            notes=notes,
            event_seq=head.seq,
            created_ms=call.now_ms,
        )
        yield from stored.touch_run(call.workspace_id, state.run_id, call.now_ms)
    shown = pending(node.program, node.snapshot)
    tokens = mint_tokens(call.keys, state, node.snapshot.blocked if shown is not None else None)
    answer = msgspec.structs.replace(answers.shape_answer(node.run, tokens, shown, ()), kind="checkpoint")
    return WorkflowReply(answer, text.write_checkpoint(shown, tokens, again=bool(known)))
