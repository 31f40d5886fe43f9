"""Writes the source of a policy as TOML, which `read_policy` reads again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\"}


def write_toml(source: Mapping[str, Any]) -> str:
    """Return the source of a policy as the text of a TOML file."""
    return "\n".join(_write_lines(source)) + "\n"


def _write_lines(source: Mapping[str, Any]) -> Iterator[str]:
    for key, value in source.items():
        if key != "rule":
            yield f"{_write_key(key)} = {_write_value(value)}"
    for rule in source.get("rule", ()):
        yield from ("", "[[rule]]")
        yield from (f"{_write_key(key)} = {_write_value(value)}" for key, value in rule.items())


def _write_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _write_value(key)


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_write_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_write_key(k)} = {_write_value(v)}' for k, v in value.items())} }}"
    return f'"{"".join(_ESCAPES.get(char, char) for char in str(value))}"'
