"""Removes suggestions of tools that the caller cannot see from every answer.

A suggested call of an unlisted tool gets the name under which the caller's list has that tool, or
is removed. Names that are only reported, such as the tool that made a run, stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assent.tools.toolsets import name_for_answers

if TYPE_CHECKING:
    from assent.tools.catalog import Catalog

NAMED: Final = re.compile(r'"(?:name|tool|executorTool)":"((?:chieflab|chiefmo|workflow)_[a-z_]+)"')
"""Matches a tool name in an answer. Quotation marks in content are escaped."""

EXECUTOR: Final = "executorTool"
ANY_EXECUTOR: Final = "chieflab_execute_approved_action"

_TEXT: Final = msgspec.json.Encoder()
_LEFT_OUT: Final = object()

Shown = Callable[[str], str | None]


def drop_unoffered(text: str, catalog: Catalog, offered: frozenset[str]) -> str:
    """Return the answer without suggestions of tools that are not in `offered`."""

    def shown(name: str) -> str | None:
        if name in offered:
            return name
        tool = catalog.by_name.get(name)
        listed = name_for_answers(tool) if tool is not None else name
        return listed if listed in offered else None

    return _TEXT.encode(_reduce(msgspec.json.decode(text), shown)).decode()


def _reduce(node: Any, shown: Shown) -> Any:
    if isinstance(node, list):
        parts = [_reduce(part, shown) for part in node]
        return [part for part in parts if part is not _LEFT_OUT]
    if not isinstance(node, dict):
        return node
    key = next((each for each in ("name", "tool") if _is_call(node, each)), None)
    if key is not None:
        name = shown(node[key])
        return {**node, key: name} if name is not None else _LEFT_OUT
    kept = {each: _reduce(part, shown) for each, part in node.items()}
    if isinstance(kept.get(EXECUTOR), str):
        kept[EXECUTOR] = shown(kept[EXECUTOR]) or ANY_EXECUTOR
    # The first remaining suggestion replaces a removed call.
    left = [*(kept.get("others") or ()), kept.get("fallback"), kept.get("primary")]
    for place in ("primary", "fallback"):
        if kept.get(place) is _LEFT_OUT:
            kept[place] = next((call for call in left if call not in (None, _LEFT_OUT)), None)
    return {each: None if part is _LEFT_OUT else part for each, part in kept.items()}


def _is_call(node: dict[str, Any], key: str) -> bool:
    return isinstance(node.get(key), str) and isinstance(node.get("args"), dict)
