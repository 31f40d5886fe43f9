"""The answers file of `assent workflow test`: what is answered to each step, by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from assent.cli.failures import Failure
from assent.engine.workflows.files import ANSWERS, SUFFIXES, DocumentRefused, load_document
from assent.kernel.structs import WireRecord


class StepAnswer(WireRecord, forbid_unknown_fields=True):
    """One answer: the content that an agent would send, and a person's decision."""

    notes_markdown: str | None = None
    context: dict[str, Any] = {}
    output: Any = None
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
