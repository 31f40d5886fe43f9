"""The other branches of a run, each with a token to enter it (W12, W20), and the text about them.

Reads the tree of a run, at most its newest `NODES_READ` nodes, and the nodes of the listed
branches.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.engine.workflows import store as stored
from assent.engine.workflows.answers import BranchView, WorkflowCall
from assent.engine.workflows.store import StoredRun
from assent.kernel.structs import Record
from assent.ports import Row, Transaction
from assent.sql.loader import statements
from assent.workflow import Program, pending
from assent.workflow.machine.history import Branch, find_branches, first_line
from assent.workflow.machine.state import decode as decode_snapshot
from assent.workflow.tokens import TokenClaims, mint

NODES_READ: Final = 2_000
"""Bound on the nodes that one call reads."""

FROM_HERE: Final = 20
ELSEWHERE: Final = 5
"""The newest branches are listed one by one; the others are counted."""


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
    nodes = sorted({number for each in (*here, *elsewhere) for number in (each.first, each.tip)})
    rows = yield statements.list_workflow_places(**named, nodes=msgspec.json.encode(nodes).decode())
    places = {row["node"]: row for row in rows}

    def describe(branch: Branch) -> BranchView:
        first, tip = places[branch.first], places[branch.tip]
        return BranchView(
            title=first["title"] or first["step_key"],
            step_key=first["step_key"],
            is_complete=bool(tip["is_complete"]),
            notes=first_line(first["notes"]),
            reached=render_title(program, tip),
            found=first_line(tip["notes"]) if branch.tip != branch.first else "",
            state_token=mint(call.keys, TokenClaims("st", run.run_id, branch.tip, run.series)),
        )

    return OtherBranches(tuple(map(describe, here)), tuple(map(describe, elsewhere)), omitted)


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
    said = [f"“{line}”" for line in (branch.notes, branch.found) if line]
    noted = f", noted {', then '.join(said)}" if said else ""
    return f"{came}{noted}; stateToken {branch.state_token}"
