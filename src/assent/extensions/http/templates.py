"""Texts with placeholders, and values in a JSON answer by their path."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from assent.extensions.problems import ArgumentProblem, BadExtension

KEY: Final = "action.key"
ACTION: Final = "action.id"
OWN: Final = (KEY, ACTION)
"""Placeholders beside the arguments: the idempotency key, and the id of the action."""

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_STEP: Final = re.compile(r"[^.\s]{1,100}")
_DIVIDES: Final = re.compile(r"[/\\%\x00-\x1f\x7f-\x9f]")
"""What servers and proxies may read as part of the path, although it is sent encoded."""


def check_template(text: str, names: Iterable[str], place: str) -> None:
    """Refuse braces that are no placeholder, and a placeholder without a value."""
    known = tuple(names)
    for name in _PLACEHOLDER.findall(text):
        if name not in known:
            raise BadExtension(
                f"the placeholder {{{name}}} names no argument.",
                place=place,
                fix=f"Known: {', '.join(known) or 'none'}.",
            )
    if set("{}") & set(_PLACEHOLDER.sub("", text)):
        raise BadExtension("a brace is not closed.", place=place, fix="Write placeholders as {name}.")


def find_placeholders(template: str) -> list[str]:
    return _PLACEHOLDER.findall(template)


def fill_text(template: str, values: Mapping[str, Any]) -> str:
    return _PLACEHOLDER.sub(lambda found: write_value(values.get(found[1])), template)


def fill_url(template: str, values: Mapping[str, Any], allows: Callable[[str, str], bool]) -> str:
    """Return the URL with every value percent-encoded; our own placeholders stay if they have none.
    Raises `ArgumentProblem` for a value that could change its path: an empty one, `.` and `..`, and
    one that divides it, unless the argument `allows` this text."""

    def encode(found: re.Match[str]) -> str:
        name = found[1]
        if name in OWN and name not in values:
            return found[0]
        text = write_value(values.get(name))
        in_path = "?" not in template[: found.start()]
        divides = _DIVIDES.search(text) is not None and not allows(name, text)
        if in_path and (divides or text in ("", ".", "..")):
            expected = (
                "one part of an address: not empty, . or .., and without /, \\, % and control characters. "
                "The settings of this effect can allow them by a pattern for this argument"
            )
            raise ArgumentProblem(name, expected, text)
        return quote(text, safe="")

    return _PLACEHOLDER.sub(encode, template)


def write_value(value: Any) -> str:
    """Return a JSON value as text: a text as it is, none as an empty text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parse_path(text: str, place: str) -> tuple[str, ...]:
    """Return the steps of a path such as `data.0.id`. Raises `BadExtension`."""
    steps = tuple(text.split("."))
    if not all(_STEP.fullmatch(step) for step in steps):
        raise BadExtension(
            f"{text[:80]!r} is no path into a JSON answer.",
            place=place,
            fix="Write names and positions with dots, such as data.0.id.",
        )
    return steps


def follow(value: Any, path: Iterable[str]) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def read_text(value: Any, path: Iterable[str]) -> str:
    """Return a text or whole number at a path as text; empty if there is none."""
    found = follow(value, path)
    return found if isinstance(found, str) else str(found) if type(found) is int else ""
