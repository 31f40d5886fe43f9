"""Variables of conditions, loops and templates.

A scope has the loop variables (innermost first), the run's context, and the server's facts under
`wr`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_PROMPT_CHARS, MAX_PROMPT_VALUE_CHARS
from assent.kernel.structs import Record


class _Unset:
    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset()
"""The value of an undefined name; distinct from null."""

_NAME: Final = re.compile(r"[^.\[\]]+")
_PLACE: Final = re.compile(r"\{\{\s*+(?![\"'`}])([^{}]*?)\s*\}\}")
"""A name does not begin with a quotation mark: `{{"…"}}` is text, such as a node of a diagram."""
_SUM: Final = re.compile(r"([A-Za-z_][\w.\-]*)\s*([+-])\s*(\d{1,9})")
_PATH: Final = re.compile(r"[A-Za-z_][\w\-]*(?:\.[\w\-]+|\[\d+\])*")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_MAX_KNOWN: Final = 5
_MAX_KNOWN_CHARS: Final = 100


class Scope(Record):
    """Layers for looking up names, first to last."""

    layers: tuple[Mapping[str, Any], ...]

    def get(self, path: str) -> Any:
        """Return the value of `name`, `name.part`, `name[0].part` or `name.length`, or `UNSET`."""
        for layer in self.layers:
            if path in layer:
                return layer[path]
        parts = _NAME.findall(path)
        if not parts:
            return UNSET
        for layer in self.layers:
            if parts[0] in layer:
                return _descend(layer[parts[0]], parts[1:])
        return UNSET


def _descend(value: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif part == "length" and isinstance(value, (list, str)):
            value = len(value)
        else:
            return UNSET
    return value


def marker(expression: str, scope: Scope) -> str:
    """Return the visible marker for a missing value, which the agent can set (format table,
    templating).

    It also shows the part that is set: `{{slice.name}}` may find a text instead of an object. An
    expression that this server does not evaluate is left to the agent.
    """
    words = dict.fromkeys(_WORD.findall(_QUOTED.sub("", expression)))
    found = {word: value for word in words if word != "wr" and (value := scope.get(word)) is not UNSET}
    known = ", ".join(f"{word} = {_shorten(value)}" for word, value in list(found.items())[:_MAX_KNOWN])
    if not known:
        return f"[unset: {expression}]"
    return f"[{'unset' if _PATH.fullmatch(expression) else 'work out'}: {expression}; {known}]"


def _shorten(value: Any) -> str:
    text = format_value(value)
    return text if len(text) <= _MAX_KNOWN_CHARS else f"{text[:_MAX_KNOWN_CHARS]}…"


def render(template: str, scope: Scope) -> str:
    """Fill `{{name}}`, `{{name.part}}`, `{{name + 1}}` once; values are no templates."""
    text = _PLACE.sub(lambda match: _place(match[1], scope), template) if "{{" in template else template
    return (
        text
        if len(text) <= MAX_PROMPT_CHARS
        else text[:MAX_PROMPT_CHARS] + "\n[… cut: the prompt is too long]"
    )


def render_value(template: Any, scope: Scope) -> Any:
    """Fill a JSON template. A string that is one placeholder keeps the value's type; other strings
    become text. Keys are sorted, so that sent and stored values render equally (W11)."""
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template.strip())
        if whole and (value := scope.get(whole[1])) is not UNSET:
            return msgspec.to_builtins(value, order="deterministic")
        return render(template, scope)
    if isinstance(template, Mapping):
        return {key: render_value(part, scope) for key, part in template.items()}
    if isinstance(template, list):
        return [render_value(part, scope) for part in template]
    return template


def _place(expression: str, scope: Scope) -> str:
    if total := _SUM.fullmatch(expression):
        value = scope.get(total[1])
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value + int(total[3]) if total[2] == "+" else value - int(total[3]))
    value = scope.get(expression) if _PATH.fullmatch(expression) else UNSET
    return marker(expression, scope) if value is UNSET else format_value(value)


def format_value(value: Any) -> str:
    """Render a value in a prompt: text unchanged, other values as JSON, long ones cut with a
    marker."""
    text = value if isinstance(value, str) else msgspec.json.encode(value, order="deterministic").decode()
    if len(text) > MAX_PROMPT_VALUE_CHARS:
        return text[:MAX_PROMPT_VALUE_CHARS] + f"[… {len(text) - MAX_PROMPT_VALUE_CHARS} more characters]"
    return text
