"""The one tool table that every surface reads, in the order in which it is listed.

Also the schemas that clients see. They are flattened: the root is an object, nothing refers elsewhere, an optional
field is a field that may be absent. A root `$ref` makes some clients drop the whole list, and a client that checks
answers against outputSchema checks refusals too, so the recovery shape is one of its branches.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import msgspec

from assent.kernel.refusals import Recovery
from assent.tools import (
    approvals,
    audit,
    connections,
    contacts,
    diagnosing,
    execution,
    graphics,
    guide,
    manual,
    measuring,
    memory,
    operating,
    runs,
    showing,
    workflows,
    workspaces,
)
from assent.tools.definition import Tool

CANONICAL: Final = "chieflab_"
LEGACY: Final = "chiefmo_"

ALL_TOOLS: Final[tuple[Tool, ...]] = (
    # First one that anybody may call: who tries the first tool of the list gets an answer.
    *connections.TOOLS,
    *operating.TOOLS,
    *graphics.TOOLS,
    *contacts.TOOLS,
    *guide.TOOLS,
    *approvals.TOOLS,
    *showing.TOOLS,
    *execution.TOOLS,
    *manual.TOOLS,
    *measuring.TOOLS,
    *diagnosing.TOOLS,
    *memory.TOOLS,
    *workflows.TOOLS,
    *audit.TOOLS,
    *runs.TOOLS,
    *workspaces.TOOLS,
)


class Catalog:
    """Look-up and listing of tools. Immutable once made."""

    def __init__(self, tools: Iterable[Tool] = ALL_TOOLS, *, list_legacy: bool = True) -> None:
        self.tools = tuple(tools)
        self._list_legacy = list_legacy
        self._by_name = {tool.name: tool for tool in self.tools}
        if len(self._by_name) != len(self.tools):
            raise ValueError("two tools have the same name")
        self._by_name |= {old: tool for tool in self.tools for old in (*tool.aliases, *tool.legacy_names)}

    def find(self, name: str) -> Tool | None:
        """The tool of a name; `chiefmo_x` is `chieflab_x` (C5)."""
        tool = self._by_name.get(name)
        if tool is None and name.startswith(LEGACY):
            tool = self._by_name.get(CANONICAL + name.removeprefix(LEGACY))
        return tool

    def suggest(self, name: str) -> str | None:
        """The name that was probably meant."""
        close = difflib.get_close_matches(name, [tool.name for tool in self.tools], n=1)
        return close[0] if close else None

    @cached_property
    def listing(self) -> list[dict[str, Any]]:
        """The `tools/list` entries, in table order, legacy names last."""
        entries = [listed(tool, tool.name, tool.category) for tool in self.tools]
        if self._list_legacy:
            entries += [listed(tool, old, "legacy") for tool in self.tools for old in tool.legacy_names]
        return entries


def listed(tool: Tool, name: str, category: str) -> dict[str, Any]:
    """One `tools/list` entry."""
    behaviour = tool.behaviour
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description
        if name == tool.name
        else f"Old name of {tool.name}. {tool.description}",
        "inputSchema": input_schema(tool.request),
        "outputSchema": output_schema(tool.reply),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": behaviour.read_only,
            "destructiveHint": behaviour.destructive,
            "idempotentHint": behaviour.idempotent,
            "openWorldHint": behaviour.open_world,
        },
        "_meta": {"category": category},
    }


def input_schema(request: type[Any]) -> dict[str, Any]:
    """The published schema of a request. An argument that may be null is published as one that may be absent."""
    return {"type": "object", "properties": {}, **flatten(request, keep_null=False)}


def output_schema(reply: type[Any]) -> dict[str, Any]:
    """Success or recovery."""
    return {"type": "object", "anyOf": [flatten(reply, keep_null=True), recovery_schema()]}


def recovery_schema() -> dict[str, Any]:
    """The fields that every refusal has. The others are left open: forty tools would repeat them forty times."""
    schema = flatten(Recovery, keep_null=True)
    required = schema["required"]
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in required}
        | {"reason": {"type": "string"}},
        "required": required,
    }


_FLATTENED: Final[dict[tuple[type[Any], bool], dict[str, Any]]] = {}


def flatten(of: type[Any], *, keep_null: bool) -> dict[str, Any]:
    """A struct's JSON Schema without `$ref` and without null branches; made once."""
    if (made := _FLATTENED.get((of, keep_null))) is not None:
        return made
    schema = msgspec.json.schema(of)
    definitions = schema.pop("$defs", {})
    inlined = _inline(schema, definitions, keep_null)
    if not isinstance(inlined, dict):
        raise TypeError(f"{of!r} has no object schema")
    _FLATTENED[(of, keep_null)] = inlined
    return inlined


def _inline(node: Any, definitions: dict[str, Any], keep_null: bool) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, keep_null) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        # A struct's docstring is written for its readers in the source, not for callers.
        target = {k: v for k, v in definitions[node["$ref"].rpartition("/")[2]].items() if k != "description"}
        return _inline({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions, keep_null)
    if "anyOf" in node and {"type": "null"} in node["anyOf"]:
        branches = [branch for branch in node["anyOf"] if branch != {"type": "null"}]
        rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
        if keep_null:
            # A field that may be null is published without a type: a null branch trips strict clients.
            return {key: value for key, value in rest.items() if key == "description"}
        return _inline(
            {**rest, **branches[0]} if len(branches) == 1 else {**rest, "anyOf": branches},
            definitions,
            keep_null,
        )
    return {
        key: {name: _inline(part, definitions, keep_null) for name, part in value.items()}
        if key == "properties"
        else _inline(value, definitions, keep_null)
        for key, value in node.items()
        if key != "title" and not (key == "default" and value is None)
    }
