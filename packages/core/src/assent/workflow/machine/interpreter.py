"""The workflow interpreter: program, snapshot and submitted content in; next snapshot and outcome
out.

Theory of operation

The program (`workflow.program`) has two instructions. `Ask` gives one step to the agent and states
what must come back: a contract, criteria, assessments, notes, a confirmation. `Repeat` runs its
body again. Everything that an author can write is compiled to these two. Nodes are in one flat
tuple and refer to each other by index.

The snapshot (`machine.state`) is the complete state of a run between two calls: the index of the
pending node, one bit per node that is done, one frame per running loop, a loop decision made ahead
of its loop, the context, the latest decision of each confirmed step, and the number of blocked
attempts. Its size depends on the program and the context, not on the number of steps taken.

The next step (`machine.state`). `Walk.settle` takes the first node that is not done and whose
condition holds, in the body of the innermost loop or at the top. An `Ask` becomes the pending step.
A `Repeat` is entered or skipped. When nothing is left in a body, the round ends: the loop clears
the bits of its body and begins the next iteration, or it is marked done. When nothing is left at
the top, the run is complete.

`advance` completes the pending step:

1. Refuse content that cannot be taken at all (too large, not JSON, reserved keys): `ContentRefused`,
   nothing counted.
2. Merge the context update into a copy of the context.
3. Check notes and output against the step. Any issue gives `Blocked`.
4. Move a `Walk` over the copy, as if a needed confirmation were given. A loop that lacks its items, its
   count or its decision raises `Stuck`, which gives `Blocked` too.
5. If the step needs a confirmation and `decision` does not let it pass, give `NeedsConfirmation`. This
   comes last, so that a person is asked only about content that would pass.
6. Otherwise give `Advanced` with the next step, or `Complete` when no step is left.

A confirmation rule is evaluated with the context before and after the update and holds if either
holds. Content thus cannot switch off the confirmation of its own step.

Retry. `Blocked` carries the issues, an example that would pass if there is one, and the old
snapshot with the attempt counted: the submitted context is not merged. A pass sets the count to 0.
After `MAX_BLOCKED_ATTEMPTS` in a row the next one is `exhausted`, and the caller stops the agent.
`NeedsConfirmation` carries the old snapshot unchanged; the caller repeats the advance with the same
content once a person has decided.

Start. `start` settles on the first step. If the program begins with a loop whose items or count are
missing, the loop itself is pending, and `pending_step` asks for the missing value.

Invariants

1. Pure: no clock, no randomness, no input or output. Equal arguments give equal outcomes, on every
   replica.
2. No argument is changed. An older snapshot stays valid, which makes replay and branches possible
   (W26).
3. Total: every call ends. A loop has at most `Repeat.most` iterations, and one call continues loops at
   most `MAX_EMPTY_ROUNDS` times without reaching a step.
4. A step that is not passed changes nothing but the count of blocked attempts.
5. The program never changes during a run; the interpreter gets it from the caller by its hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assent.kernel.canonical import depth
from assent.kernel.limits import MAX_BLOCKED_ATTEMPTS, MAX_JSON_DEPTH
from assent.kernel.structs import Record, WireRecord
from assent.kernel.texts import indent_json
from assent.workflow.contracts import checks as outputs
from assent.workflow.issues import Issue, Warning
from assent.workflow.machine import conditions
from assent.workflow.machine.content import (
    EMPTY_BYTES,
    Content,
    check_notes,
    check_output_size,
    join_notes,
    parse_output,
    refuse_content,
    update,
)
from assent.workflow.machine.state import LoopEvent, Snapshot, Stuck, Walk, make_scope, pending_step, step_key
from assent.workflow.machine.values import Scope, render, render_value
from assent.workflow.program import LOOP_CONTROL, PLAN_RUN, Ask, Program, StepAction


class Decision(Record):
    """A person's decision about the pending step: `approved` or `rejected`, with the reason."""

    status: str
    reason: str = ""


class Pending(WireRecord):
    """The pending step as the agent sees it."""

    step_id: str
    title: str
    prompt: str
    require_confirmation: bool
    step_key: str
    action: dict[str, Any] | None = None
    model_tier: str | None = None


class _Passed(Record, kw_only=True):
    """A completed step: key, title, notes and artifacts. A start has completed none."""

    snapshot: Snapshot
    pending: Pending | None
    """The next step; None when the run is complete."""
    step_key: str = ""
    title: str = ""
    notes: str = ""
    artifacts: tuple[dict[str, Any], ...] = ()
    events: tuple[LoopEvent, ...] = ()
    warnings: tuple[Warning, ...] = ()


class Advanced(_Passed, frozen=True, tag="advanced", tag_field="kind"):
    """The run moved to another step."""


class Complete(_Passed, frozen=True, tag="complete", tag_field="kind"):
    """The run moved past its last step."""


class Blocked(Record, kw_only=True, tag="blocked", tag_field="kind"):
    """The step stays pending; the issues name the causes. `snapshot` is the old one with the
    attempt counted.

    `exhausted` after ten in a row (W39): the agent should stop and ask its user.
    """

    snapshot: Snapshot
    pending: Pending
    reason: str
    issues: tuple[Issue, ...]
    example: dict[str, Any] | None = None
    notes_example: str | None = None
    exhausted: bool = False


class NeedsConfirmation(Record, tag="needs_confirmation", tag_field="kind"):
    """The content would pass, but is not approved. `rejected` is a rejection's reason."""

    snapshot: Snapshot
    step_id: str
    step_key: str
    title: str
    confirmation: str
    plan: Any = None
    """The run whose actions are decided as one plan, as the context names it."""
    question: str = ""
    """What the author asks the person, with its values."""
    action: dict[str, Any] | None = None
    rejected: str | None = None


_WHY: Final = {"reason": "Nothing is left to do in this loop."}

Outcome = Advanced | Complete | Blocked | NeedsConfirmation


def start(program: Program, initial: dict[str, Any] | None = None) -> Advanced | Complete | Blocked:
    """Create the first snapshot of a run. Returns `Blocked` if the program begins with a loop whose
    items or count are missing from the context; in that snapshot the loop is pending."""
    values, size = update({}, EMPTY_BYTES, initial or {})
    before = Snapshot(at=None, context=values, context_bytes=size)
    walk = Walk(program, before)
    try:
        after = walk.settle()
    except Stuck as stuck:
        waiting = msgspec.structs.replace(before, at=stuck.before)
        return Blocked(
            snapshot=waiting,
            pending=_render_step(program, waiting),
            reason="loop_blocked",
            issues=outputs.limit_issues(list(stuck.issues)),
        )
    outcome = Complete if after.at is None else Advanced
    return outcome(
        snapshot=after,
        pending=pending(program, after),
        events=tuple(walk.events),
        warnings=tuple(walk.warnings),
    )


def pending(program: Program, snapshot: Snapshot) -> Pending | None:
    """Render the pending step; None when the run is complete."""
    return None if snapshot.at is None else _render_step(program, snapshot)


def _render_step(program: Program, snapshot: Snapshot) -> Pending:
    step = pending_step(program, snapshot)
    key, names = step_key(program, snapshot), make_scope(program, snapshot)
    parts = [
        render(part.text, names)
        for part in step.prompt
        if part.when is None or conditions.holds(part.when, names)
    ]
    if snapshot.frames and (decided := _loop_form(program, snapshot, step)) is not None:
        parts.append(decided)
    return Pending(
        step_id=step.id,
        title=render(step.title, names),
        prompt="\n\n".join(parts),
        require_confirmation=step.confirm is not None and conditions.holds(step.confirm.when, names),
        step_key=key,
        action=_render_call(step.action, step.title, names) if step.action is not None else None,
        model_tier=step.model_tier,
    )


def _loop_form(program: Program, snapshot: Snapshot, step: Ask) -> str | None:
    """Return the prompt for the due loop decision, unless the contract asks for one."""
    if not any(getattr(program.nodes[frame.loop], "artifact", None) for frame in snapshot.frames):
        return None
    if step.contract is not None and step.contract.kind == LOOP_CONTROL:
        return None
    due = outputs.join_artifacts(list(_example_decisions(program, snapshot)))
    if due is None:
        return None
    form = indent_json(due)
    beside = " beside the others, in `artifacts`" if step.contract is not None or step.assessments else ""
    return (
        "This step ends a round of its loop. Decide whether there is another (`decision`: continue / stop) and send "
        f"that in `output`{beside}:\n\n```json\n{form}\n```"
    )


def advance(
    program: Program, snapshot: Snapshot, content: Content, decision: Decision | None = None
) -> Outcome:
    """Complete the pending step with the submitted content. Works on a copy, so `snapshot` and
    every other branch stay as they were (W26). Raises `ContentRefused` for content that cannot be
    taken at all."""
    step = pending_step(program, snapshot)
    key, names = step_key(program, snapshot), make_scope(program, snapshot)
    check_output_size(content.output)
    output, issues = parse_output(content.output)
    notes = join_notes(content.notes, output.notes)
    check_notes(notes)
    values, size = update(snapshot.context, snapshot.context_bytes, content.context)
    current = msgspec.structs.replace(snapshot, context=values, context_bytes=size, blocked=0)
    issues += outputs.check(step, notes, output, content.output, lambda: make_scope(program, current))
    if issues:
        return _report_blocked(program, snapshot, current, step, issues)
    # Before or after the update: content cannot switch off the confirmation of its own step.
    waits = step.confirm is not None and (
        conditions.holds(step.confirm.when, names)
        or conditions.holds(step.confirm.when, make_scope(program, current))
    )
    passes = decision is not None and _lets_pass(step, decision)
    walk = Walk(program, current)
    walk.decide_loops(artifact for _, artifact in output.artifacts)
    if waits:
        # Move as if approved, so that a person is asked only about content that would pass.
        taken = decision if decision is not None and passes else Decision("approved")
        made = {"decision": taken.status, "reason": taken.reason}
        walk.decisions = walk.decisions | dict.fromkeys(_decision_names(step), made)
    try:
        after = walk.pass_step()
    except Stuck as stuck:
        return _report_blocked(
            program, snapshot, current, step, [*stuck.issues, *outputs.check_decisions(output)]
        )
    if waits and not passes:
        names = make_scope(program, current)
        return NeedsConfirmation(
            snapshot=snapshot,
            step_id=step.id,
            step_key=key,
            title=render(step.title, names),
            confirmation=step.confirm.kind if step.confirm else "",
            plan=values.get(PLAN_RUN),
            question=render(step.confirm.question, names) if step.confirm and step.confirm.question else "",
            action=_render_call(step.action, step.title, names) if step.action is not None else None,
            rejected=decision.reason if decision is not None else None,
        )
    outcome = Complete if after.at is None else Advanced
    return outcome(
        snapshot=after,
        pending=pending(program, after),
        step_key=key,
        title=render(step.title, names),
        notes=notes or "",
        artifacts=tuple(artifact for _, artifact in output.artifacts),
        events=tuple(walk.events),
        warnings=tuple(walk.warnings),
    )


def _decision_names(step: Ask) -> Iterator[str]:
    """Yield the names under which a decision can be read: the step id and each prefix of it, which
    are the routine calls or the loop that contain the step. The last decision inside a call counts
    for the call."""
    parts = step.id.split(".")
    return (".".join(parts[:count]) for count in range(len(parts), 0, -1))


def _lets_pass(step: Ask, decision: Decision) -> bool:
    return decision.status == "approved" or (decision.status == "rejected" and step.on_reject == "continue")


def _render_call(action: StepAction, title: str, names: Scope) -> dict[str, Any]:
    args = render_value(action.args, names)
    if depth(args) > MAX_JSON_DEPTH:
        # A template can insert a deep value at a deep place.
        message = f'The arguments of "{title}" would nest deeper than {MAX_JSON_DEPTH}; flatten the values they name.'
        raise refuse_content("context", "too_deep", message)
    return {"tool": action.tool, "args": args}


def _report_blocked(
    program: Program, before: Snapshot, current: Snapshot, step: Ask, issues: list[Issue]
) -> Blocked:
    attempts = before.blocked + 1
    found = outputs.limit_issues(issues)
    example, notes_example = outputs.examples(
        step, _example_decisions(program, current), make_scope(program, current)
    )
    return Blocked(
        snapshot=msgspec.structs.replace(before, blocked=attempts),
        pending=_render_step(program, before),
        reason=_reason(found),
        issues=found,
        example=example,
        notes_example=notes_example,
        exhausted=attempts > MAX_BLOCKED_ATTEMPTS,
    )


_CODES_THAT_ARE_REASONS: Final = (
    "assessment_followup",
    "missing_assessment",
    "missing_output",
    "notes_required",
    "loop_decision_missing",
)


def _reason(issues: tuple[Issue, ...]) -> str:
    codes = {issue.code for issue in issues}
    for reason in _CODES_THAT_ARE_REASONS:
        if reason in codes:
            return reason
    if any(issue.path.startswith("output") for issue in issues):
        return "invalid_output"
    if any(issue.code.startswith("loop_") for issue in issues):
        return "loop_blocked"
    return "validation_failed"


def _example_decisions(program: Program, current: Snapshot) -> tuple[dict[str, Any], ...]:
    """Find the smallest set of loop decisions with which this step would pass: none, one, or one
    per nested loop whose round ends."""
    waiting = [frame for frame in current.frames if getattr(program.nodes[frame.loop], "artifact", None)]
    for count in range(len(waiting) + 1):
        names = [
            program.nodes[frame.loop].id if count > 1 else None for frame in waiting[len(waiting) - count :]
        ]
        walk = Walk(program, current)
        for name in names:
            walk.decide("stop", name)
        try:
            walk.pass_step()
        except Stuck as stuck:
            if any(issue.code == "loop_decision_missing" for issue in stuck.issues):
                continue
        return tuple(
            {"kind": LOOP_CONTROL, **({"loopId": name} if name else {}), "decision": "stop", "metadata": _WHY}
            for name in names
        )
    return ()
