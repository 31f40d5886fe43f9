"""The edit page: fields, their limits, and the changed words. Pure but for `try_edit`."""

from __future__ import annotations

from typing import Any, Final

from assent.engine.actions import editing
from assent.engine.actions.describing import describe
from assent.engine.core.services import Services
from assent.gate.mail import keeps_requests
from assent.gate.records import Action
from assent.gate.views import Field
from assent.kernel.limits import MAX_CONTENT_CHARS
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record
from assent.serving.web.review import decisions as review_decisions
from assent.serving.web.review.fields import list_fields, locate_problems, read_texts
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.problems import BadFields
from assent.serving.web.shell.word_diff import PAGE_STEPS, Piece, word_diff

BODY: Final = "body"
ROWS: Final = {"recipients": 3, BODY: 14}
OTHER_ROWS: Final = 6
HINTS: Final = {"recipients": "One address on each line."}


class FormField(Record, kw_only=True):
    """A field of the form. `used` is None while its length is unknown."""

    field: Field
    text: str
    rows: int
    hint: str
    most: int | None
    used: int | None
    wrong: str


class Difference(Record):
    label: str
    pieces: tuple[Piece, ...]


class EditTrial(Record):
    """The result of an edit that was not stored: its problems, those of each field, and its
    fields."""

    problems: tuple[str, ...] = ()
    wrong: dict[str, str] = {}
    fields: tuple[Field, ...] = ()


def values(action: Action, form: dict[str, str] | None, trial: EditTrial) -> dict[str, Any]:
    """The template values. `form` holds typed text to compare before saving."""
    before = read_texts(action)
    typed = {name: (form or {}).get(name, text) for name, text in before.items()}
    return {
        "action": action,
        "keeps_requests": keeps_requests(action),
        "title_of": action.view.heading,
        "fields": [
            _build_field(each, typed[each.name], before[each.name], trial) for each in list_fields(action)
        ],
        "asked": (form or {}).get("asked", ""),
        "differences": _differences(action, before, typed) if form is not None else (),
        "compared": form is not None,
        "problems": trial.problems,
        "address": f"/runs/{action.run_id}/actions/{action.action_id}/edit",
        "back": f"/runs/{action.run_id}#action-{action.action_id}",
    }


def _build_field(field: Field, text: str, before: str, trial: EditTrial) -> FormField:
    tried = next((each.used for each in trial.fields if each.name == field.name), None)
    return FormField(
        field=field,
        text=text,
        rows=ROWS.get(field.name, OTHER_ROWS),
        hint=HINTS.get(field.name, ""),
        most=MAX_CONTENT_CHARS if field.most is None and field.name == BODY else field.most,
        used=field.used if text == before else tried,
        wrong=trial.wrong.get(field.name, ""),
    )


def _differences(action: Action, before: dict[str, str], typed: dict[str, str]) -> tuple[Difference, ...]:
    steps = Steps(PAGE_STEPS)
    return tuple(
        Difference(field.label, word_diff(before[field.name], typed[field.name], steps))
        for field in action.view.fields
        if typed[field.name] != before[field.name].replace("\r\n", "\n")
    )


async def try_edit(services: Services, action: Action, form: dict[str, str]) -> EditTrial:
    """Return what saving would answer, by the same rules as saving."""
    try:
        effect = await editing.edit_effect(services, action.effect, review_decisions.changes(action, form))
        view = await describe(services, action.workspace_id, effect)
    except BadFields as bad:
        return EditTrial(tuple(bad.wrong.values()))
    except Refusal as refusal:
        problems = refusal.recovery().problems
        if not isinstance(problems, list):
            return EditTrial((refusal.recovery().user_message,))
        located = locate_problems(problems, read_texts(action))
        wrong = {name: " ".join(each.expected for each in found) for name, found in located.items()}
        return EditTrial(tuple(f"{each.path}: {each.expected}" for each in problems), wrong)
    return EditTrial(fields=view.fields)
