"""Collects the functions of a definition: declared ones, and those written as lines of its guidance.

Libraries older than `functionDefinitions` write `name(): what it does` or `fun name(arguments) = 'what it does'`; a
step that refers to such a function gets those lines.
"""

from __future__ import annotations

import re
from typing import Final

from assent.workflow.definition.source import Definition, Function

_LINE: Final = re.compile(
    r"(?:\*\*[^*]+\*\*\s*)?(?:fun\s+(?P<fun>[A-Za-z_]\w*)\((?P<arguments>[^()]*)\)\s*=\s*"
    r"|(?P<name>[A-Za-z_]\w*)\(\)(?P<part>[^:=]{0,40}):\s*)(?P<text>\S.*)",
    re.DOTALL,
)


def functions_of(definition: Definition) -> dict[str, Function]:
    """Return the functions by name. A declared one wins over the guidance; lines of one name are one function."""
    found: dict[str, list[str]] = {}
    for line in definition.meta_guidance:
        if (match := _LINE.match(line)) is None:
            continue
        given, part = match["arguments"], (match["part"] or "").strip()
        head = f"({given}) = " if given else f"{part}: " if part else ""
        found.setdefault(match["fun"] or match["name"], []).append(head + match["text"].strip())
    written = {name: Function(name=name, definition=" ".join(texts)) for name, texts in found.items()}
    return written | {function.name: function for function in definition.function_definitions}
