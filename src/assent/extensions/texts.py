"""The text form of an effect's arguments, which people read and approve.

Each argument has a line `Label: value`. A long value, one with line breaks, and a list or object
follow their label as an indented block, so that no value can look like another argument. A chat does
not mark invisible characters, so this text names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.extensions.signatures import Signature
from assent.kernel.texts import name_unseen

LINE_CHARS: Final = 100
"""The longest value that stands beside its label."""
INDENT: Final = "    "
NO_ARGUMENTS: Final = "It takes no arguments."
NONE: Final = "(none)"


def render_arguments(signature: Signature, arguments: Mapping[str, Any]) -> str:
    """Return every argument, complete, in the order of the function's parameters."""
    return render_labelled((each.label, arguments.get(each.name)) for each in signature.parameters)


def render_labelled(values: Iterable[tuple[str, Any]]) -> str:
    """Return every value with its label, complete."""
    return "\n".join(_render(label, value) for label, value in values) or NO_ARGUMENTS


def _render(label: str, value: Any) -> str:
    text = name_unseen(render_value(value))
    if len(text.splitlines()) <= 1 and len(text) <= LINE_CHARS:
        return f"{label}: {text}"
    # Split as str.splitlines does: no separator may begin a line that looks like a label.
    return "\n".join((f"{label}:", *(INDENT + line for line in text.splitlines())))


def render_value(value: Any) -> str:
    """Return a JSON value as text. A text that could be read as something else is quoted."""
    if value is None:
        return NONE
    if isinstance(value, str):
        odd = not value or value != value.strip() or value.startswith(("(", '"'))
        return _quote(value) if odd else value
    if isinstance(value, list) and value and all(not isinstance(each, list | dict) for each in value):
        return "\n".join(f"- {_quote(each) if _has_break(each) else render_value(each)}" for each in value)
    if isinstance(value, list | dict) and value:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return _quote(value)


def _has_break(value: Any) -> bool:
    return isinstance(value, str) and len(value.splitlines()) > 1


def _quote(value: Any) -> str:
    return msgspec.json.encode(value).decode()
