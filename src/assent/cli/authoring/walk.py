"""Walks a workflow with given answers. Nothing is stored; the interpreter is the server's."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assent.cli.authoring.answers import DECISIONS, AnswersFile, GivenAnswers, StepAnswer
from assent.kernel.structs import WireRecord
from assent.workflow import (
    Blocked,
    Content,
    ContentRefused,
    Decision,
    Issue,
    NeedsConfirmation,
    Pending,
    Program,
    Snapshot,
    advance,
    pending,
    start,
)


class WalkedStep(WireRecord):
    """A step as it was asked, and the decision on it."""

    step_key: str
    title: str
    prompt: str
    decision: str | None = None


class Walked(WireRecord):
    """The steps, and why the walk ended before the end; no problem if it did not."""

    steps: list[WalkedStep]
    complete: bool
    problem: str | None = None


class _Ended(Exception):  # noqa: N818 - the result of a walk
    """The walk cannot go on."""


def walk(program: Program, answers: AnswersFile) -> Walked:
    """Follow the program to its end, or to the first answer that is missing or refused."""
    given, steps = GivenAnswers(answers), list[WalkedStep]()
    try:
        snapshot: Snapshot | None = _start(program, answers)
        stayed = False
        while snapshot is not None and (shown := pending(program, snapshot)) is not None:
            steps.append(WalkedStep(step_key=shown.step_key, title=shown.title, prompt=shown.prompt))
            after, decision = _answer(program, snapshot, shown, given, stayed=stayed)
            steps[-1] = msgspec.structs.replace(steps[-1], decision=decision)
            stayed, snapshot = after is snapshot, after
    except _Ended as ended:
        return Walked(steps=steps, complete=False, problem=str(ended))
    except ContentRefused as refused:
        what = f"The answer to {steps[-1].step_key}" if steps else "The context at the start"
        return Walked(steps=steps, complete=False, problem=f"{what} is refused.\n{_tell(refused.issues)}")
    if unused := given.list_unused():
        return Walked(steps=steps, complete=True, problem=_tell_unused(program, unused))
    return Walked(steps=steps, complete=True)


def _start(program: Program, answers: AnswersFile) -> Snapshot:
    outcome = start(program, answers.context)
    if isinstance(outcome, Blocked):
        raise _Ended(
            f"It cannot start.\n{_tell(outcome.issues)}\nGive the value in `context` of the answers."
        )
    return outcome.snapshot


def _answer(
    program: Program, snapshot: Snapshot, shown: Pending, given: GivenAnswers, *, stayed: bool
) -> tuple[Snapshot, str | None]:
    """Return the next snapshot and the decision; the same snapshot if the step stays."""
    answer = given.take(shown.step_id, again=stayed)
    if answer is None:
        why = " It was rejected and stays; make its answers a list with one more." if stayed else ""
        raise _Ended(f"There is no answer to {shown.step_key}.{why}{_suggest(program, snapshot, shown)}")
    content = Content(notes=answer.notes_markdown, output=answer.output, context=answer.context)
    outcome, decision = advance(program, snapshot, content), None
    if isinstance(outcome, NeedsConfirmation):
        decision = _decide(answer, shown, given)
        outcome = advance(program, snapshot, content, Decision(decision, answer.reason))
    if isinstance(outcome, Blocked):
        example = _show_example(outcome)
        raise _Ended(f"The answer to {shown.step_key} is refused.\n{_tell(outcome.issues)}{example}")
    return outcome.snapshot, decision


def _decide(answer: StepAnswer, shown: Pending, given: GivenAnswers) -> str:
    decision = given.decide(answer)
    if decision is None:
        choices = " or ".join(f"`decision: {word}`" for word in DECISIONS)
        raise _Ended(f"{shown.step_key} waits for a person, and the answer has no decision.\nAdd {choices}.")
    return decision


def _suggest(program: Program, snapshot: Snapshot, shown: Pending) -> str:
    """Say where to write the answer, with an example where the step states one."""
    outcome = advance(program, snapshot, Content())
    example = _show_example(outcome) if isinstance(outcome, Blocked) else ""
    return f"\nWrite it under `steps`, as {shown.step_id}.{example}"


def _show_example(blocked: Blocked) -> str:
    shown = ""
    if blocked.example is not None:
        shown += f"\nThis passes as output: {msgspec.json.encode(blocked.example).decode()}"
    if blocked.notes_example is not None:
        shown += f"\nThis passes as notesMarkdown: {blocked.notes_example}"
    return shown


def _tell(issues: Sequence[Issue]) -> str:
    return "\n".join(f"  {issue.path}: {issue.message}" for issue in issues)


def _tell_unused(program: Program, unused: list[str]) -> str:
    known = ", ".join(dict.fromkeys(node.id for node in program.nodes))
    return f"Never asked for: {', '.join(unused)}.\nRemove that, or correct the id. Steps: {known}."
