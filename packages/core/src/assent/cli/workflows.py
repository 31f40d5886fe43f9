"""`assent workflow`: list, validate, write and walk definitions, and run one at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from assent.cli.session import CommandSession, Failure
from assent.engine.definitions.library import (
    ANSWERS,
    SUFFIXES,
    DocumentRefused,
    Invalid,
    WorkflowLibrary,
    decode_path,
    is_definition,
    load_document,
)
from assent.kernel.structs import WireRecord
from assent.workflow import (
    Blocked,
    Compiled,
    Content,
    ContentRefused,
    Decision,
    Issue,
    NeedsConfirmation,
    Pending,
    Program,
    Snapshot,
    Warning,
    advance,
    pending,
    start,
)
from assent.workflow.definition.format import ID_HINT, WORKFLOW
from assent.workflow.definition.schema import SCHEMA_PATH, definition_schema
from assent.workflow.issues import mismatches

# Walks a workflow with given answers. Nothing is stored; the interpreter is the server's.

# The answers file of `assent workflow test`: what is answered to each step, by its id.


class TypedAnswer(WireRecord, forbid_unknown_fields=True):
    """The content that an agent would send."""

    notes_markdown: str | None = None
    context: dict[str, Any] = {}
    output: Any = None


class StepAnswer(TypedAnswer, forbid_unknown_fields=True):
    """One answer of a file: the content, and a person's decision."""

    decision: str | None = None
    reason: str = ""


class AnswersFile(WireRecord, forbid_unknown_fields=True):
    """The whole file. A list answers a step once per entry, an object every time."""

    context: dict[str, Any] = {}
    steps: dict[str, StepAnswer | list[StepAnswer]] = {}


DECISIONS: Final = ("approved", "rejected")


class GivenAnswers:
    """The answers, and which of them were used."""

    def __init__(self, answers: AnswersFile) -> None:
        self._steps = answers.steps
        self._taken = dict.fromkeys(answers.steps, 0)
        self._decided: set[int] = set()

    def take(self, step_id: str, *, again: bool) -> StepAnswer | None:
        """Return the next answer to a step; None if there is none. `again` if its last answer was
        rejected: an object is not sent twice."""
        entry = self._steps.get(step_id)
        if entry is None or (again and not isinstance(entry, list)):
            return None
        count = self._taken[step_id]
        self._taken[step_id] = count + 1
        if isinstance(entry, list):
            return entry[count] if count < len(entry) else None
        return entry

    def decide(self, answer: StepAnswer) -> str | None:
        """Return the decision of an answer whose step asks for one."""
        self._decided.add(id(answer))
        return answer.decision

    def list_unused(self) -> list[str]:
        """Name what was never asked for."""
        found: list[str] = []
        for step_id, entry in self._steps.items():
            entries = entry if isinstance(entry, list) else [entry]
            count = self._taken[step_id] if isinstance(entry, list) else min(self._taken[step_id], 1)
            for n, answer in enumerate(entries):
                name = f"steps.{step_id}[{n}]" if isinstance(entry, list) else f"steps.{step_id}"
                if n >= count:
                    found.append(name)
                elif answer.decision is not None and id(answer) not in self._decided:
                    found.append(f"{name}.decision")
        return found


def find_answers(definition: Path) -> Path | None:
    """Return the answers file beside a definition: `release.answers.yaml` of `release.yaml`."""
    beside = (definition.with_name(f"{definition.stem}{ANSWERS}{suffix}") for suffix in SUFFIXES)
    return next((path for path in beside if path.is_file()), None)


def read_answers(path: Path) -> AnswersFile:
    """Read an answers file. Raises `Failure` that says what to write."""
    if path.suffix.lower() not in SUFFIXES:
        raise Failure(f"{path} is no file of answers.\nThey end in {', '.join(SUFFIXES)}.")
    if not path.is_file():
        raise Failure(f"There is no file {path}.\nName a file of answers: --answers FILE")
    try:
        answers = msgspec.convert(load_document(path.read_bytes(), path.suffix), AnswersFile)
    except DocumentRefused as refused:
        raise Failure(f"{path} cannot be read: {refused}") from None
    except msgspec.ValidationError as error:
        raise Failure(
            f"{path}: {error}.\nWrite context and steps; for each step id notesMarkdown, context, output, "
            "decision and reason, or a list of such answers."
        ) from None
    entries = [
        (step_id, answer)
        for step_id, entry in answers.steps.items()
        for answer in (entry if isinstance(entry, list) else [entry])
    ]
    for step_id, answer in entries:
        if answer.decision not in (None, *DECISIONS):
            raise Failure(
                f"{path}: steps.{step_id}.decision is {answer.decision!r}.\nWrite {' or '.join(DECISIONS)}."
            )
    return answers


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


def _library(session: CommandSession, *more: Path) -> WorkflowLibrary:
    from assent.app import list_workflow_folders

    settings = session.settings
    return WorkflowLibrary(
        [settings.data_dir / "workflows", *map(Path, settings.workflow_dirs), *more],
        shipped=list_workflow_folders(settings),
    )


def list_workflows(session: CommandSession) -> None:
    """List the workflows that can be started here, and the files that failed to load."""
    catalogue, refused = _library(session).list_definitions()
    broken = {each.file for each in refused}
    rows = [
        (each.id, each.version, each.name, catalogue.files[each.id])
        for each in sorted(catalogue.definitions.values(), key=lambda each: each.id)
        if catalogue.files[each.id] not in broken
    ]
    data = {
        "workflows": [{"workflowId": i, "version": v, "name": n, "file": f} for i, v, n, f in rows],
        "invalid": [_report(each) for each in (*catalogue.invalid, *refused)],
        "shadowed": [{"file": file, "by": by} for file, by in sorted(catalogue.shadowed.items())],
    }
    session.give(data, session.table(("ID", "VERSION", "NAME", "FILE"), rows))
    for each in (*catalogue.invalid, *refused):
        session.say(
            f"warning: {each.file} is no workflow. See why: {session.again('workflow', 'validate', each.file)}"
        )
    for folder in session.settings.workflow_dirs:
        if not Path(folder).expanduser().exists():
            session.say(f"warning: there is no {folder}, which ASSENT_WORKFLOW_DIRS names.")
    for file, by in sorted(catalogue.shadowed.items()):
        session.say(f"warning: {file} is not listed: {by} has the same id. Give one of them another.")


def validate(
    session: CommandSession,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files, or folders of them.")],
) -> int:
    """Check definitions. Exits with 1 when any has a mistake; says where it is and what to write
    instead."""
    files = [file for path in paths for file in _files(path)]
    if not files:
        raise Failure(f"There is no workflow file in {paths[0]}.\nDefinitions end in {', '.join(SUFFIXES)}.")
    # A file may refer to files beside it, or anywhere the server looks.
    library = _library(session, *dict.fromkeys(file.parent for file in files))
    reports = [_check(library, file) for file in files]
    data = {"files": reports, "ok": all(not report["issues"] for report in reports)}
    session.give(data, "\n".join(line for report in reports for line in _lines(report)))
    return 0 if data["ok"] else 1


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for file in sorted(path.rglob("*")) if is_definition(file.name) and not file.is_dir()]
    if not path.exists():
        raise Failure(f"There is no file {path}.\nName a definition, or a folder of them.")
    return [path]


def _check(library: WorkflowLibrary, file: Path) -> dict[str, Any]:
    found = library.check(file)
    if isinstance(found, Invalid):
        return {**_report(found), "warnings": []}
    warnings = [{"path": w.path, "code": w.code, "message": w.message} for w in found.warnings]
    if by := next((by for path, by in library.catalogue().shadowed.items() if Path(path) == file), None):
        message = f"{by} has the same id, and is the one that is listed. Give one of them another."
        warnings.append({"path": "$.id", "code": "duplicate_id", "message": message})
    return {"file": decode_path(str(file)), "issues": [], "warnings": warnings}


def _report(invalid: Invalid) -> dict[str, Any]:
    issues = [{"path": i.path, "code": i.code, "message": i.message} for i in invalid.issues]
    return {"file": invalid.file, "issues": issues}


def _lines(report: dict[str, Any]) -> list[str]:
    head = (
        f"{report['file']}: {len(report['issues'])} mistake(s)"
        if report["issues"]
        else f"{report['file']}: good"
    )
    return [
        head,
        *(f"  {issue['path']}: {issue['message']} ({issue['code']})" for issue in report["issues"]),
        *(f"  warning: {each['path']}: {each['message']} ({each['code']})" for each in report["warnings"]),
    ]


def run(
    session: CommandSession,
    workflow: Annotated[
        str, typer.Argument(metavar="ID-OR-FILE", help="From `assent workflow list`, or a file.")
    ],
    context: Annotated[str, typer.Option("--context", metavar="JSON", help="The initial context.")] = "{}",
) -> int:
    """Follow a workflow at the terminal. For authors: nothing is stored, and you are the one who
    confirms."""
    compiled = _find(session, workflow)
    try:
        outcome = start(compiled.program, _object(context))
    except ContentRefused as refused:
        raise Failure(_list_issues(refused.issues)) from None
    if isinstance(outcome, Blocked):
        raise Failure(_list_issues(outcome.issues) + "\nGive it at the start: --context '{\"name\": …}'")
    _warn(session, (*compiled.warnings, *outcome.warnings))
    return _follow(session, compiled.program, outcome.snapshot)


def test(
    session: CommandSession,
    workflow: Annotated[str, typer.Argument(metavar="FILE", help="A definition, or the id of one.")],
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers", metavar="FILE", help="JSON or YAML; by default NAME.answers.yaml beside it."
        ),
    ] = None,
) -> int:
    """Walk a workflow with given answers, and print each step. Exits with 1 where an answer is missing,
    is refused, or was never asked for. Stores nothing."""
    compiled = _find(session, workflow)
    _warn(session, compiled.warnings)
    path = answers if answers is not None else find_answers(Path(workflow))
    walked = walk(compiled.program, read_answers(path) if path is not None else AnswersFile())
    session.give(walked, "\n".join(_tell_walk(compiled.program.name, walked)))
    if walked.problem is not None:
        session.say(walked.problem)
        return 1
    return 0


def _tell_walk(name: str, walked: Walked) -> Iterator[str]:
    for step in walked.steps:
        yield f"── {step.title} [{step.step_key}]\n\n{step.prompt}\n"
        if step.decision is not None:
            yield f"→ {step.decision}\n"
    if walked.complete:
        yield f"{name} is complete after {len(walked.steps)} step(s)."
    else:
        last = f" at {walked.steps[-1].step_key}" if walked.steps else ""
        yield f"{name} ends{last}, before it is complete."


def schema(session: CommandSession) -> None:
    """Print the JSON Schema of definitions, for editors."""
    sys.stdout.write(definition_schema().decode())


def new(
    session: CommandSession,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its id, such as release-notes.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write it.")] = Path(),
) -> None:
    """Write a small definition with its fields explained, and answers to walk it with."""
    if mismatches(name, WORKFLOW["properties"]["id"], "NAME"):
        raise Failure(f"{name!r} is no id of a workflow.\n{ID_HINT}")
    if not folder.is_dir():
        raise Failure(f"There is no folder {folder}.\nMake it, or name another.")
    files = {
        folder / f"{name}.yaml": STARTER_DEFINITION,
        folder / f"{name}{ANSWERS}.yaml": STARTER_ANSWERS,
    }
    if taken := [str(path) for path in files if path.exists()]:
        raise Failure(f"{taken[0]} exists already.\nChoose another name, or move it away.")
    url = session.settings.base_url.rstrip("/") + SCHEMA_PATH
    for path, template in files.items():
        path.write_text(_fill(template, name, url), encoding="utf-8")
    definition, answers = map(str, files)
    session.give(
        {"definition": definition, "answers": answers},
        f"Wrote {definition} and {answers}.\nWalk it: {session.again('workflow', 'test', definition)}",
    )


# The two files of `assent workflow new`: a small definition with its fields explained, and answers.

STARTER_DEFINITION: Final = """\
# yaml-language-server: $schema=@SCHEMA@
# Check it: assent workflow validate @ID@.yaml
# Walk it:  assent workflow test @ID@.yaml

id: "@ID@" # agents start it by this name; lower-case letters, digits, - and _
name: "@NAME@" # for people
version: 1.0.0
description: Collect the changes, agree on them, and report. # agents choose a workflow by this sentence

# Rules for the whole run, shown at its start.
metaGuidance:
  - Only state what you have seen.

steps:
  # The agent answers a step with notes (notesMarkdown), values to keep (context), or an output.
  - id: collect
    title: Collect the changes
    prompt: List what changed. Set `changes` in context, a list of short texts.
    notesOptional: false # without notes the step does not pass

  # A loop runs its body for each entry of a list in the context.
  - id: each-change
    type: loop
    title: Look at each change
    loop:
      type: forEach
      items: changes
      itemVar: change
      maxIterations: 20 # every loop needs a maximum
    body:
      - id: check-change
        title: Check one change
        prompt: "Read this change and say what it can break: {{change}}"
        # The output that passes. The agent sees the fields and the example.
        outputContract:
          kind: "@ID@.finding"
          schema:
            type: object
            required: [kind, risk]
            properties:
              kind: { const: "@ID@.finding" }
              risk: { enum: [low, high] }
          example: { kind: "@ID@.finding", risk: low }

  # A person confirms this step before the run goes on; the server enforces it.
  - id: agree
    title: Agree on the changes
    prompt: Show the user the findings, and propose what to do.
    requireConfirmation: true
    onReject: continue # or stay, the default: the step is tried again

  # A step is skipped unless its condition holds.
  - id: report
    title: Write the report
    prompt: Write the report in three sentences.
    runCondition: { var: wr.decisions.agree.decision, equals: approved }
"""

STARTER_ANSWERS: Final = """\
# Answers for: assent workflow test @ID@.yaml
# context: values at the start. steps: the answers by step id. A list answers a step once per entry; a single answer
# serves every time it is asked. decision is what the person says: approved or rejected, with a reason if you like.
steps:
  collect:
    notesMarkdown: Two changes since the last release.
    context: { changes: [a new import, a faster search] }
  check-change:
    - output: { kind: "@ID@.finding", risk: high }
    - output: { kind: "@ID@.finding", risk: low }
  agree:
    notesMarkdown: One risk, which we accept.
    decision: approved
  report:
    notesMarkdown: Done.
"""


def _fill(template: str, workflow_id: str, schema_url: str) -> str:
    """Return a template with its names."""
    name = workflow_id.replace("-", " ").replace("_", " ").replace(".", " ").strip().capitalize()
    for mark, text in (("@ID@", workflow_id), ("@NAME@", name or workflow_id), ("@SCHEMA@", schema_url)):
        template = template.replace(mark, text)
    return template


def _find(session: CommandSession, workflow: str) -> Compiled:
    path = Path(workflow)
    if path.is_file():
        found: Compiled | Invalid | None = _library(session, path.parent).check(path)
    else:
        found = _library(session).find(workflow)
    if found is None:
        raise Failure(
            f"There is no workflow and no file {workflow!r}.\nSee the workflows: {session.again('workflow', 'list')}"
        )
    if isinstance(found, Invalid):
        raise Failure("\n".join(_lines({**_report(found), "warnings": []})))
    return found


def _follow(session: CommandSession, program: Program, snapshot: Snapshot) -> int:
    while (shown := pending(program, snapshot)) is not None:
        session.say(f"\n── {shown.title} [{shown.step_key}]\n\n{shown.prompt}\n")
        after = _step(session, program, snapshot, shown)
        if after is None:
            session.say("Stopped before the end.")
            return 1
        snapshot = after
    session.say(f"\n{program.name} is complete.")
    return 0


def _step(session: CommandSession, program: Program, snapshot: Snapshot, shown: Pending) -> Snapshot | None:
    """Returns the next snapshot once the input passes, None at its end."""
    content = Content()
    while True:
        typed = _ask("notes, or a JSON object with notesMarkdown, context and output")
        if typed is None:
            return None
        try:
            content = _content(typed)
            outcome = advance(program, snapshot, content)
            if isinstance(outcome, NeedsConfirmation):
                said = _ask(f"confirm “{shown.title}”? yes, or why not")
                if said is None:
                    return None
                agreed = said.strip().lower() in ("y", "yes")
                decision = Decision("approved") if agreed else Decision("rejected", said.strip())
                outcome = advance(program, snapshot, content, decision)
        except ContentRefused as refused:
            session.say(_list_issues(refused.issues))
            continue
        except Failure as failure:
            session.say(str(failure))
            continue
        if isinstance(outcome, Blocked):
            session.say(_list_issues(outcome.issues) + _show_example(outcome))
        elif isinstance(outcome, NeedsConfirmation):
            session.say("Not confirmed; the step stays.")
        else:
            _warn(session, outcome.warnings)
            return outcome.snapshot


def _content(typed: str) -> Content:
    if not typed.lstrip().startswith("{"):
        return Content(notes=typed or None)
    try:
        given = msgspec.json.decode(typed, type=TypedAnswer)
    except msgspec.DecodeError as error:
        raise Failure(f"That is no answer: {error}. Write notesMarkdown, context or output.") from None
    return Content(notes=given.notes_markdown, output=given.output, context=given.context)


def _object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Failure(f"That is no JSON object: {error}.") from None


def _ask(what: str) -> str | None:
    sys.stderr.write(f"{what} > ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _list_issues(issues: Sequence[Issue]) -> str:
    return f"Not yet:\n{_tell(issues)}"


def _warn(session: CommandSession, warnings: Sequence[Warning]) -> None:
    for warning in warnings:
        session.say(f"warning: {warning.message}")
