"""`assent workflow`: list, validate, write and walk definitions, and run one at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from assent.cli.authoring import starter
from assent.cli.authoring.answers import AnswersFile, find_answers, read_answers
from assent.cli.authoring.walk import Walked, walk
from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command
from assent.engine.workflows.files import ANSWERS, SUFFIXES
from assent.engine.workflows.library import Invalid, WorkflowLibrary, decode_path, is_definition
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
from assent.workflow.contracts.shapes import mismatches
from assent.workflow.definition.format import ID_HINT, WORKFLOW
from assent.workflow.definition.schema import SCHEMA_PATH, definition_schema

app = typer.Typer(no_args_is_help=True)


def _library(session: CommandSession, *more: Path) -> WorkflowLibrary:
    settings = session.settings
    return WorkflowLibrary([settings.data_dir / "workflows", *map(Path, settings.workflow_dirs), *more])


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
        folder / f"{name}.yaml": starter.DEFINITION,
        folder / f"{name}{ANSWERS}.yaml": starter.ANSWERS,
    }
    if taken := [str(path) for path in files if path.exists()]:
        raise Failure(f"{taken[0]} exists already.\nChoose another name, or move it away.")
    url = session.settings.base_url.rstrip("/") + SCHEMA_PATH
    for path, template in files.items():
        path.write_text(starter.fill(template, name, url), encoding="utf-8")
    definition, answers = map(str, files)
    session.give(
        {"definition": definition, "answers": answers},
        f"Wrote {definition} and {answers}.\nWalk it: {session.again('workflow', 'test', definition)}",
    )


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
            session.say(_list_issues(outcome.issues))
            if outcome.example is not None:
                session.say(f"This passes as output: {msgspec.json.encode(outcome.example).decode()}")
            if outcome.notes_example is not None:
                session.say(f"Notes like this pass: {outcome.notes_example}")
        elif isinstance(outcome, NeedsConfirmation):
            session.say("Not confirmed; the step stays.")
        else:
            _warn(session, outcome.warnings)
            return outcome.snapshot


def _content(typed: str) -> Content:
    if not typed.lstrip().startswith("{"):
        return Content(notes=typed or None)
    given = _object(typed)
    unknown = sorted(set(given) - {"notesMarkdown", "context", "output"})
    if unknown:
        raise Failure(f"There is no {unknown[0]!r} here; write notesMarkdown, context or output.")
    context, notes = given.get("context", {}), given.get("notesMarkdown")
    if not isinstance(context, dict):
        raise Failure("context is an object.")
    if notes is not None and not isinstance(notes, str):
        raise Failure("notesMarkdown is a text.")
    return Content(notes=notes, output=given.get("output"), context=context)


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
    return "Not yet:\n" + "\n".join(f"  {issue.path}: {issue.message}" for issue in issues)


def _warn(session: CommandSession, warnings: Sequence[Warning]) -> None:
    for warning in warnings:
        session.say(f"warning: {warning.message}")


command(app, "list")(list_workflows)
command(app, "validate")(validate)
command(app, "run", json=False)(run)
command(app, "test")(test)
command(app, "schema", json=False)(schema)
command(app, "new")(new)
