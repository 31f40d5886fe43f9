"""The texts of an action's editable fields, as a form shows and returns them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assent.gate.effects import ARGUMENTS
from assent.gate.records import Action, Effect
from assent.gate.views import Field
from assent.kernel.refusals import Problem
from assent.kernel.texts import indent_json, to_text

ARGUMENT: Final = f"{ARGUMENTS}."
"""Prefix of the fields that are arguments of a function."""


def write_value(value: Any) -> str:
    """Return an argument as text: nested values as indented JSON, nothing for null."""
    if value is None:
        return ""
    return indent_json(value) if isinstance(value, dict | list | tuple) else to_text(value)


def read_text(effect: Effect, name: str) -> str:
    """Return the present text of a field."""
    if name.startswith(ARGUMENT):
        return write_value(effect.arguments.get(name.removeprefix(ARGUMENT)))
    value = getattr(effect, name)
    return "\n".join(value) if isinstance(value, tuple) else str(value)


def list_fields(action: Action) -> tuple[Field, ...]:
    """Return the editable fields. One whose text has several lines gets a form field with several
    lines, which a browser does not join."""
    texts = read_texts(action)
    return tuple(
        msgspec.structs.replace(field, many=field.many or not {"\n", "\r"}.isdisjoint(texts[field.name]))
        for field in action.view.fields
    )


def read_texts(action: Action) -> dict[str, str]:
    """Return the present texts of all editable fields by name."""
    return {field.name: read_text(action.effect, field.name) for field in action.view.fields}


def locate_problems(problems: Iterable[Problem], names: Iterable[str]) -> dict[str, list[Problem]]:
    """Return the problems by the field of a form that each is about. `names`: the fields of the form;
    a problem of another one keeps the first part of its path."""
    known = tuple(names)
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        paths = (problem.path, f"{ARGUMENT}{problem.path}")
        name = next(
            (
                each
                for each in known
                for path in paths
                if path == each or path.startswith((f"{each}.", f"{each}["))
            ),
            problem.path.partition(".")[0],
        )
        found.setdefault(name, []).append(problem)
    return found
