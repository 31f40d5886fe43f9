"""The arguments of an effect that is a function, in an edit: merged, and read from a form's texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.kernel.refusals import bad_argument

ARGUMENTS: Final = "arguments"


def merge_arguments(
    schema: Mapping[str, Any], before: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments after an edit. Raises `Refusal` for a change of another field, an unknown
    argument, and a text that is no value of its argument."""
    for name in changes:
        if name != ARGUMENTS:
            raise bad_argument(name, "a change of the arguments: the text follows from them", "the text")
    known, required = schema.get("properties", {}), schema.get("required", ())
    changed = dict(before)
    for name, value in changes[ARGUMENTS].items():
        if name not in known:
            raise bad_argument(f"{ARGUMENTS}.{name}", f"one of {', '.join(known)}", "an unknown argument")
        is_text = isinstance(value, str)
        changed[name] = read_text(known[name], name, value, name in required) if is_text else value
    return changed


def read_text(schema: Mapping[str, Any], name: str, text: str, required: bool) -> Any:
    """Return the value of a form's text: the text itself where the schema takes one, else JSON. An
    empty field of an optional value is null. Raises `Refusal` for a text that is no JSON."""
    text = text.replace("\r\n", "\n")
    free = _takes_text(schema)
    if not text.strip() and not required and not (free and _is_free(schema)):
        return None
    if free:
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        expected = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
        kind = str(schema.get("type", ""))
        raise bad_argument(
            f"{ARGUMENTS}.{name}", expected.get(kind, "a value in JSON"), repr(text[:80])
        ) from None


def _takes_text(schema: Mapping[str, Any]) -> bool:
    if any(_takes_text(branch) for branch in schema.get("anyOf", ())):
        return True
    choices = schema.get("enum", ())
    return schema.get("type") == "string" or any(isinstance(each, str) for each in choices)


def _is_free(schema: Mapping[str, Any]) -> bool:
    """Whether any text fits, also an empty one."""
    return not schema.keys() & {"pattern", "format", "enum", "minLength"}
