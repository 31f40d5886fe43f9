"""The machine: from a program, a snapshot and what an agent sent, to the next snapshot and an outcome.

Pure and total: the same input gives the same outcome, every run ends, and a snapshot that was not advanced is as it
was (W26). Approval is asked for last, after everything else was found good (W40).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_BLOCKED_ATTEMPTS, MAX_JSON_DEPTH
from assent.workflow.contracts import checks as outputs
from assent.workflow.issues import Issue, Warning
from assent.workflow.machine import conditions, context
from assent.workflow.machine.control import LoopEvent, Stuck, Walk
from assent.workflow.machine.snapshot import Snapshot, pending_step, scope_of, step_key
from assent.workflow.machine.values import render, render_value
from assent.workflow.program import LOOP_CONTROL, Ask, Program


class Decision(msgspec.Struct, frozen=True):
    """What a human decided about the confirmation of the pending step: `approved` or `rejected`, and why."""

    status: str
    reason: str = ""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent sends with an advance."""

    notes: str | None = None
    output: Any = None
    context: dict[str, Any] = {}


class Pending(msgspec.Struct, frozen=True, rename="camel"):
    """The step being asked, as the agent sees it."""

    step_id: str
    title: str
    prompt: str
    require_confirmation: bool
    step_key: str
    action: dict[str, Any] | None = None
    model_tier: str | None = None


class Advanced(msgspec.Struct, frozen=True, tag="advanced", tag_field="kind"):
    """The run moved to another step. `step_key` names the one completed."""

    snapshot: Snapshot
    step_key: str
    artifacts: tuple[dict[str, Any], ...] = ()
    events: tuple[LoopEvent, ...] = ()
    warnings: tuple[Warning, ...] = ()


class Complete(msgspec.Struct, frozen=True, tag="complete", tag_field="kind"):
    """The run moved past its last step."""

    snapshot: Snapshot
    step_key: str
    artifacts: tuple[dict[str, Any], ...] = ()
    events: tuple[LoopEvent, ...] = ()
    warnings: tuple[Warning, ...] = ()


class Blocked(msgspec.Struct, frozen=True, tag="blocked", tag_field="kind"):
    """The step stays; the issues say what is missing. `snapshot` only counts the attempt.

    `exhausted` after ten in a row (W39): an agent that gets this should stop and ask its human.
    """

    snapshot: Snapshot
    reason: str
    issues: tuple[Issue, ...]
    example: dict[str, Any] | None = None
    notes_example: str | None = None
    exhausted: bool = False


class NeedsConfirmation(msgspec.Struct, frozen=True, tag="needs_confirmation", tag_field="kind"):
    """Everything is good except that a human has not agreed (or did not: then `rejected` says why)."""

    snapshot: Snapshot
    step_id: str
    step_key: str
    title: str
    confirmation: str
    action: dict[str, Any] | None = None
    rejected: str | None = None


_WHY: Final = {"reason": "Nothing is left to do in this loop."}

Outcome = Advanced | Complete | Blocked | NeedsConfirmation


def start(program: Program, initial: dict[str, Any] | None = None) -> Advanced | Complete | Blocked:
    """The first snapshot of a run. `Blocked` when the context lacks what a loop at the very start needs; its snapshot
    is that of a run which waits for it."""
    values, size = context.update({}, context.EMPTY_BYTES, initial or {})
    before = Snapshot(at=None, context=values, context_bytes=size)
    walk = Walk(program, before)
    try:
        at = walk.settle()
    except Stuck as stuck:
        waiting = msgspec.structs.replace(before, at=stuck.before)
        return Blocked(waiting, "loop_blocked", outputs.limit_issues(list(stuck.issues)))
    return _report_move(walk, before, at, "", ())


def pending(program: Program, snapshot: Snapshot) -> Pending | None:
    """The step being asked, rendered; nothing when the run is complete."""
    if snapshot.at is None:
        return None
    step = pending_step(program, snapshot)
    names = scope_of(program, snapshot)
    parts = [
        render(part.text, names)
        for part in step.prompt
        if part.when is None or conditions.holds(part.when, names)
    ]
    if (decided := _loop_form(program, snapshot, step)) is not None:
        parts.append(decided)
    return Pending(
        step_id=step.id,
        title=render(step.title, names),
        prompt="\n\n".join(parts),
        require_confirmation=confirms(program, snapshot),
        step_key=step_key(program, snapshot),
        action=_action(step, program, snapshot),
        model_tier=step.model_tier,
    )


def _loop_form(program: Program, snapshot: Snapshot, step: Ask) -> str | None:
    """How to decide about the loop whose round ends with this step, where its contract does not say so already."""
    if not any(getattr(program.nodes[frame.loop], "artifact", None) for frame in snapshot.frames):
        return None
    if step.contract is not None and step.contract.kind == LOOP_CONTROL:
        return None
    due = outputs.put_together(list(_example_decisions(program, snapshot)))
    if due is None:
        return None
    form = msgspec.json.format(msgspec.json.encode(due), indent=2).decode()
    beside = " beside the others, in `artifacts`" if step.contract is not None or step.assessments else ""
    return (
        "This step ends a round of its loop. Decide whether there is another (`decision`: continue / stop) and send "
        f"that in `output`{beside}:\n\n```json\n{form}\n```"
    )


def confirms(program: Program, snapshot: Snapshot) -> bool:
    """Whether the pending step waits for a human by the context as it is now."""
    step = pending_step(program, snapshot)
    return step.confirm is not None and conditions.holds(step.confirm.when, scope_of(program, snapshot))


def advance(
    program: Program, snapshot: Snapshot, content: Content, decision: Decision | None = None
) -> Outcome:
    """Complete the pending step with what was sent, on a copy: the snapshot, and every other branch, stays as it was
    (W26). Raises `ContentRefused` for what cannot be taken at all."""
    step = pending_step(program, snapshot)
    context.check_output_size(content.output)
    output, issues = outputs.take_apart(content.output)
    notes = context.join_notes(content.notes, output.notes)
    context.check_notes(notes)
    values, size = context.update(snapshot.context, snapshot.context_bytes, content.context)
    current = msgspec.structs.replace(snapshot, context=values, context_bytes=size, blocked=0)
    issues += outputs.check(
        step, notes, output, content.output, lambda: scope_of(program, current), program.engine
    )
    if issues:
        return _report_blocked(program, snapshot, current, step, issues)
    # Asked for if the rule holds before or after the update: content cannot talk its own step out of a gate.
    waits = step.confirm is not None and (confirms(program, snapshot) or confirms(program, current))
    try:
        # Whether the way is free is found out before a human is asked, as if they had agreed.
        passing = decision if decision is not None and _lets_pass(step, decision) else Decision("approved")
        outcome = _move(program, current, step, output, passing if waits else None)
    except Stuck as stuck:
        return _report_blocked(
            program, snapshot, current, step, [*stuck.issues, *outputs.odd_decisions(output)]
        )
    if not waits or (decision is not None and _lets_pass(step, decision)):
        return outcome
    return NeedsConfirmation(
        snapshot=snapshot,
        step_id=step.id,
        step_key=step_key(program, snapshot),
        title=render(step.title, scope_of(program, current)),
        confirmation=step.confirm.kind if step.confirm else "",
        action=_action(step, program, current),
        rejected=decision.reason if decision is not None else None,
    )


def _decision_names(step: Ask) -> Iterator[str]:
    """What a decision is read under: its step, and the loop or the calls of routines that the step is part of. The last
    one in a call is about the call."""
    parts = step.id.split(".")
    return (".".join(parts[:count]) for count in range(len(parts), 0, -1))


def _lets_pass(step: Ask, decision: Decision) -> bool:
    return decision.status == "approved" or (decision.status == "rejected" and step.on_reject == "continue")


def _action(step: Ask, program: Program, snapshot: Snapshot) -> dict[str, Any] | None:
    if step.action is None:
        return None
    args = render_value(step.action.args, scope_of(program, snapshot))
    if depth(args) > MAX_JSON_DEPTH:
        # A template can put a deep value where it is already deep itself.
        message = f'The arguments of "{step.title}" would nest deeper than {MAX_JSON_DEPTH}; flatten what they name.'
        raise context.ContentRefused("validation_error", (Issue("context", "too_deep", message),))
    return {"tool": step.action.tool, "args": args}


def _move(
    program: Program, current: Snapshot, step: Ask, output: outputs.Output, decision: Decision | None
) -> Advanced | Complete:
    walk = Walk(program, current)
    for _, artifact in output.of_kind(LOOP_CONTROL):
        if artifact.get("decision") in ("continue", "stop"):
            loop_id = artifact.get("loopId")
            walk.decide(artifact["decision"], loop_id if isinstance(loop_id, str) else None)
    if decision is not None:
        made = {"decision": decision.status, "reason": decision.reason}
        walk.decisions = walk.decisions | dict.fromkeys(_decision_names(step), made)
    key = step_key(program, current)
    _finish(walk, current)
    return _report_move(
        walk, current, walk.settle(), key, tuple(artifact for _, artifact in output.artifacts)
    )


def _finish(walk: Walk, current: Snapshot) -> None:
    """The pending step is done. A loop that was only asked for what it needs has not begun yet."""
    if current.at is not None and isinstance(walk.program.nodes[current.at], Ask):
        walk.finish(current.at)


def _report_move(
    walk: Walk, before: Snapshot, at: int | None, key: str, artifacts: tuple[dict[str, Any], ...]
) -> Advanced | Complete:
    after = Snapshot(
        at=at,
        done=f"{walk.done:x}",
        frames=tuple(walk.frames),
        context=before.context,
        context_bytes=before.context_bytes,
        decisions=walk.decisions,
        ahead=walk.ahead,
    )
    outcome = Complete if at is None else Advanced
    return outcome(after, key, artifacts, tuple(walk.events), tuple(walk.warnings))


def _report_blocked(
    program: Program, before: Snapshot, current: Snapshot, step: Ask, issues: list[Issue]
) -> Blocked:
    attempts = before.blocked + 1
    found = outputs.limit_issues(issues)
    example, notes_example = outputs.examples(
        step, _example_decisions(program, current), scope_of(program, current)
    )
    return Blocked(
        snapshot=msgspec.structs.replace(before, blocked=attempts),
        reason=_reason(found),
        issues=found,
        example=example,
        notes_example=notes_example,
        exhausted=attempts > MAX_BLOCKED_ATTEMPTS,
    )


def _reason(issues: tuple[Issue, ...]) -> str:
    codes = {issue.code for issue in issues}
    for code, reason in (
        ("assessment_followup", "assessment_followup"),
        ("missing_assessment", "missing_assessment"),
        ("missing_output", "missing_output"),
        ("notes_required", "notes_required"),
        ("loop_decision_missing", "loop_decision_missing"),
    ):
        if code in codes:
            return reason
    if any(issue.path.startswith("output") for issue in issues):
        return "invalid_output"
    if any(issue.code.startswith("loop_") for issue in issues):
        return "loop_blocked"
    return "validation_failed"


def _example_decisions(program: Program, current: Snapshot) -> tuple[dict[str, Any], ...]:
    """The loop decisions that are due with this step: none, one, or one for each loop that would end its round."""
    waiting = [frame for frame in current.frames if getattr(program.nodes[frame.loop], "artifact", None)]
    for count in range(len(waiting) + 1):
        names = [
            program.nodes[frame.loop].id if count > 1 else None for frame in waiting[len(waiting) - count :]
        ]
        walk = Walk(program, current)
        for name in names:
            walk.decide("stop", name)
        _finish(walk, current)
        try:
            walk.settle()
        except Stuck as stuck:
            if any(issue.code == "loop_decision_missing" for issue in stuck.issues):
                continue
        return tuple(
            {"kind": LOOP_CONTROL, **({"loopId": name} if name else {}), "decision": "stop", "metadata": _WHY}
            for name in names
        )
    return ()
