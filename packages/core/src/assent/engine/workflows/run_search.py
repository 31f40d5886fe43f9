"""Search for runs by session, workflow, or words of the notes (workflow_resume), and the text about
those found.

A search ranks runs by how many of its words occur in session, names, titles, notes and checkpoints.
It reads the newest runs of a workspace, their newest nodes, and the beginning of each text, so its
cost is bounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import msgspec

from assent.engine.workflows import answers, confirmations
from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import EarlierStep, WorkflowCall, WorkflowReply
from assent.engine.workflows.sessions import describe_others, read_place, write_branches
from assent.kernel.limits import RECAP_BYTES
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import WireRecord, from_record
from assent.ports import Row, Transaction
from assent.sql.loader import statements
from assent.workflow import Issue, Note, check_notes, pending, recap, text
from assent.workflow.tokens import TokenClaims, mint, mint_tokens

WORDS: Final = 6
"""Words of a query that count; the statement has one parameter for each."""
RUNS_SEARCHED: Final = 200
NODES_SEARCHED: Final = 100
CHARS_SEARCHED: Final = 4_000
"""Bounds on runs, nodes and characters: 80 MB at most; 1 MB is typical and takes 35 ms."""
LATEST: Final = 5
"""Runs listed when nothing matches."""
EARLIER_STEPS: Final = 20
"""The newest ones have their tokens in the answer to a chat that lost them."""


ENTER: Final = "To go on with one, call workflow_advance with its stateToken alone."


class FoundRun(WireRecord, kw_only=True, omit_defaults=True):
    """A found run, at its preferred tip (W27)."""

    session_id: str
    run_id: str
    workflow_id: str
    name: str
    state_token: str
    is_complete: bool
    nodes: int
    step: str = ""
    """Its pending step."""
    noted: str = ""
    """The first line of the last notes."""
    words_found: int = 0
    """How many words of the query occur in it."""


def find_runs(
    call: WorkflowCall, *, session_id: str, workflow_id: str, query: str, most: int
) -> Transaction[tuple[FoundRun, ...]]:
    """Find runs, best match first, then the most recent. Words that fit nothing in a named session hide none of its
    runs."""
    filters = {"session_id": session_id, "workflow_id": workflow_id, "most": most}
    words = split_query(query)
    if not words:
        rows = yield statements.list_workflow_runs(workspace_id=call.workspace_id, **filters)
        return (yield from _describe(call, [(row, 0) for row in rows]))
    patterns = [in_any_case(word) for word in words]
    patterns += [""] * (WORDS - len(patterns))
    rows = yield statements.search_workflow_runs(
        workspace_id=call.workspace_id,
        any_word="|".join(filter(None, patterns)),
        whole=in_any_case(" ".join(query.split())),
        **{f"word_{number}": pattern for number, pattern in enumerate(patterns, 1)},
        runs=RUNS_SEARCHED,
        newest=NODES_SEARCHED,
        chars=CHARS_SEARCHED,
        **filters,
    )
    found = [(row, row["words_found"]) for row in rows]
    if not found and session_id:
        rows = yield statements.list_workflow_runs(workspace_id=call.workspace_id, **filters)
        found = [(row, 0) for row in rows]
    return (yield from _describe(call, found))


def latest_runs(call: WorkflowCall) -> Transaction[tuple[FoundRun, ...]]:
    """List the most recent runs of the workspace."""
    rows = yield statements.list_workflow_runs(
        workspace_id=call.workspace_id, session_id="", workflow_id="", most=LATEST
    )
    return (yield from _describe(call, [(row, 0) for row in rows]))


def _describe(call: WorkflowCall, rows: list[tuple[Row, int]]) -> Transaction[tuple[FoundRun, ...]]:
    found = []
    for row, words_found in rows:
        run = stored.read_run(row)
        tips = yield statements.find_workflow_tip(workspace_id=call.workspace_id, run_id=run.run_id)
        tip = tips[0]["node"]
        place = yield from read_place(call, run, tip)
        if place is None:
            continue
        step, noted, is_complete = place
        found.append(
            from_record(
                FoundRun,
                run,
                state_token=mint(call.keys, TokenClaims("st", run.run_id, tip, run.series)),
                is_complete=is_complete,
                step=step,
                noted=noted,
                words_found=words_found,
            )
        )
    return tuple(found)


def split_query(query: str) -> list[str]:
    """Return the distinct words of a query; short ones only if there are no others."""
    words = list({word.casefold(): word for word in query.split()}.values())
    telling = [word for word in words if len(word) > 2]
    return (telling or words)[:WORDS]


def in_any_case(words: str) -> str:
    """Return a case-insensitive regular expression in the syntax of both stores."""
    return "".join(map(_either_case, words))


def _either_case(char: str) -> str:
    faces = {face for face in (char, char.lower(), char.upper()) if len(face) == 1}
    return "[" + "".join(f"\\U{ord(face):08X}" for face in sorted(faces)) + "]"


def write_latest(runs: Sequence[FoundRun]) -> str:
    """Write the answer without a match: the latest runs, so that none is started twice."""
    if not runs:
        return (
            "# No runs yet\nThis workspace has no run of a workflow. workflow_list shows what can be started."
        )
    return "\n".join(
        [
            "# No run fits that",
            "These are the latest runs. Ask the user whether one of them is meant before you start a new one.",
            *map(_line, runs),
            ENTER,
        ]
    )


def write_found(resumed: str, best: FoundRun, runs: Sequence[FoundRun], words: int) -> str:
    """Write the best match, and the others in a line each."""
    others = [each for each in runs if each.run_id != best.run_id]
    missed = f"Of the {words} words of the query, {best.words_found} occur in this run.\n\n"
    if not best.words_found:
        missed = "No run of the session fits the words of the query. This is what it has.\n\n"
    head = missed if best.words_found < words else ""
    tail = "\n".join(["\n\n## Other runs that were found", *map(_line, others), ENTER]) if others else ""
    return f"{head}{resumed}{tail}"


def _line(run: FoundRun) -> str:
    came = "complete" if run.is_complete else f"at “{run.step}”" if run.step else "under way"
    noted = f", last noted “{run.noted}”" if run.noted else ""
    return f"- {run.name}, session {run.session_id}, {came}{noted}; stateToken {run.state_token}"


# Give the context of a run to an agent that lost it (rehydrate), and store a note without advancing (checkpoint).


def rehydrate(call: WorkflowCall, state: TokenClaims, *, lost: bool = False) -> Transaction[WorkflowReply]:
    """Return the pending step of a token, the notes of the steps before it, and a new ack token.
    Writes nothing (W20). A chat that has `lost` its history gets the rules of the run and the tokens of its
    earlier steps, too."""
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
    earlier = [
        EarlierStep(
            row["title"] or row["step_key"],
            mint(call.keys, msgspec.structs.replace(state, node=before["node"])),
        )
        for row, before in itertools.pairwise(ancestors[: EARLIER_STEPS + 1] if lost else ())
    ]
    earlier.reverse()
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
        earlier_steps=tuple(earlier) or msgspec.UNSET,
    )
    section = "\n\n".join(filter(None, (_write_earlier(earlier), write_branches(others))))
    return WorkflowReply(
        answer,
        text.write_rehydration(
            program, shown, tokens, recapped, section, warnings, node.snapshot.context, rules=lost
        ),
    )


def _write_earlier(steps: Sequence[EarlierStep]) -> str:
    """Write the completed steps with their tokens; empty if there are none."""
    if not steps:
        return ""
    back = "To go back to one, call workflow_advance with its stateToken alone."
    return "\n".join(["## Earlier steps", *(f"- “{each.title}”: {each.state_token}" for each in steps), back])


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
