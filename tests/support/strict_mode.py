"""What a client does to a schema that makes every object a closed one (openai-agents in strict mode), and what it
cannot take: an object whose names are open, and a root that is a choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def refused(schema: dict[str, Any]) -> list[str]:
    """Where such a client gives up; nowhere where the schema can be converted."""
    root = ["the root is a choice"] if "anyOf" in schema else []
    return [*root, *_refused(schema, "")]


def _refused(node: Any, path: str) -> Iterator[str]:
    if not isinstance(node, dict):
        yield f"{path}: no schema"
        return
    if any(part.get("type") == "string" for part in node.get("anyOf", ())):
        return  # the argument can be sent as text
    kind = node.get("type")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    closed = node.get("additionalProperties")
    if is_object and closed is not False and "properties" not in node:
        yield f"{path}: an object with open names"
    if (is_object or kind is None) and closed not in (None, False):
        yield f"{path}: further properties"
    if not ({"type", "anyOf", "enum"} & node.keys()):
        yield f"{path}: no type"
    for name, part in node.get("properties", {}).items():
        yield from _refused(part, f"{path}.{name}")
    if "items" in node:
        yield from _refused(node["items"], f"{path}[]")
    for number, part in enumerate((*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ()))):
        yield from _refused(part, f"{path}|{number}")
