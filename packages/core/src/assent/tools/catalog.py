"""The one tool table that every surface reads, in the order of the list.

Also the schemas that clients see. They are flattened: the root is an object, there is no `$ref`,
and an optional field may be absent. A root `$ref` makes some clients drop the whole list. An
answer's schema names its fields and requires only `ok`, because clients check refusals against it,
too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from assent.kernel.schemas import flatten
from assent.kernel.toolsets import DEFAULT_TOOLSETS, LEGACY, Toolset, choose
from assent.tools import (
    approvals,
    audit,
    connections,
    execution,
    guide,
    manual,
    policy,
    report,
    runs,
    showing,
    workflows,
    workspaces,
)
from assent.tools.definition import Tool, list_groups, name_for_answers

CANONICAL: Final = "chieflab_"
OLD: Final = "chiefmo_"

FIRST_TOOLS: Final = connections.TOOLS
"""Listed before all others. The first one is public, so that a client which tries it gets an answer."""

CORE_TOOLS: Final[tuple[Tool, ...]] = (
    *guide.TOOLS,
    *report.TOOLS,
    *approvals.TOOLS,
    *showing.TOOLS,
    *execution.TOOLS,
    *manual.TOOLS,
    *workflows.TOOLS,
    *audit.TOOLS,
    *runs.TOOLS,
    *workspaces.TOOLS,
    *policy.TOOLS,
)


def arrange(offered: Iterable[Tool]) -> tuple[Tool, ...]:
    """Return all tools in the order of the list: those that extensions offer stand before the
    core's."""
    return (*FIRST_TOOLS, *offered, *CORE_TOOLS)


def list_names(tools: Iterable[Tool]) -> list[str]:
    """Return every name by which these tools are called."""
    named = [name for tool in tools for name in (tool.name, *tool.aliases, *tool.legacy_names)]
    return named + [OLD + name.removeprefix(CANONICAL) for name in named if name.startswith(CANONICAL)]


class Catalog:
    """Finds and lists tools. Immutable."""

    def __init__(self, tools: Iterable[Tool], *, toolsets: Iterable[str] = DEFAULT_TOOLSETS) -> None:
        self.tools = tuple(tools)
        self.toolsets = choose(toolsets)
        """The tool sets for a caller whose key names none."""
        named = {tool.name: tool for tool in self.tools}
        if len(named) != len(self.tools):
            raise ValueError("two tools have the same name")
        named |= {old: tool for tool in self.tools for old in (*tool.aliases, *tool.legacy_names)}
        olds = {
            OLD + name.removeprefix(CANONICAL): named[name] for name in named if name.startswith(CANONICAL)
        }
        self.by_name: Mapping[str, Tool] = olds | named
        """The tool of every name that resolves; `chiefmo_x` is `chieflab_x` (C5)."""
        self.signup_open = workspaces.SIGNUP in named
        """Whether a caller without a key can ask for one."""
        self.has_launch = guide.LAUNCH_CALL.name in named
        """Whether it has the tools of assent-launch, which the texts for agents name then."""
        owned = any(tool.owned for tool in self.tools)
        self.shared: Catalog = (
            Catalog((each for each in self.tools if not each.owned), toolsets=self.toolsets)
            if owned
            else self
        )
        """The tools that every workspace has."""
        self._listings: dict[frozenset[Toolset], list[dict[str, Any]]] = {}
        self.offered = self.names_in(self.toolsets)
        """The names in the default list."""

    def suggest(self, name: str) -> str | None:
        """Return the name that was probably meant: another prefix, or a typing error."""
        endings = {_ending(name_for_answers(tool)): name_for_answers(tool) for tool in self.tools}
        close = difflib.get_close_matches(_ending(name), endings, n=1, cutoff=0.8)
        return endings[close[0]] if close else None

    def listing(self, toolsets: frozenset[Toolset] | None = None) -> list[dict[str, Any]]:
        """Return the `tools/list` entries of these tool sets, in table order, old names last."""
        wanted = self.toolsets if toolsets is None else toolsets
        if (made := self._listings.get(wanted)) is None:
            named = [
                (tool, name, group)
                for tool in self.tools
                for name, group in list_groups(tool).items()
                if group in wanted
            ]
            named.sort(key=lambda each: each[2] == LEGACY)
            made = [list_entry(tool, name, is_old=group == LEGACY) for tool, name, group in named]
            self._listings[wanted] = made
        return made

    def names_in(self, toolsets: frozenset[Toolset]) -> frozenset[str]:
        """The names that the list of these groups has."""
        return frozenset(
            name for tool in self.tools for name, group in list_groups(tool).items() if group in toolsets
        )


def _ending(name: str) -> str:
    """Return a name without its prefix."""
    return name.removeprefix(CANONICAL).removeprefix(OLD)


def list_entry(tool: Tool, name: str, *, is_old: bool) -> dict[str, Any]:
    behaviour = tool.behaviour
    return {
        "name": name,
        "title": tool.title,
        "description": f"Old name of {name_for_answers(tool)}. {tool.description}"
        if is_old
        else tool.description,
        "inputSchema": input_schema(tool.request),
        "outputSchema": output_schema(tool.reply),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": behaviour.read_only,
            "destructiveHint": behaviour.destructive,
            "idempotentHint": behaviour.idempotent,
            "openWorldHint": behaviour.open_world,
        },
        "_meta": {"category": "legacy" if is_old else tool.category},
    }


def input_schema(request: type[Any]) -> dict[str, Any]:
    """Return a request's published schema, in which a nullable argument may be absent."""
    schema = flatten(request, keep_null=False)
    arguments = {name: _closable(name, node) for name, node in schema.get("properties", {}).items()}
    return {"type": "object", **schema, "properties": arguments}


OPEN_ARGUMENTS: Final[dict[str, str]] = {
    "arguments": "amount",
    "context": "ticketId",
    "drafts": "linkedin",
    "metrics": "clicks",
    "output": "artifacts",
}
"""Object arguments with free keys, each with an example key."""

_PLAIN: Final[dict[str, Any]] = {
    "type": ["string", "number", "boolean", "array"],
    "items": {"type": "string"},
}


def open_arguments(request: type[Any]) -> tuple[str, ...]:
    """Return the arguments of a request that may also be sent as JSON text."""
    arguments = flatten(request, keep_null=False).get("properties", {})
    return tuple(name for name, node in arguments.items() if _is_open(node))


def _is_open(node: dict[str, Any]) -> bool:
    """Whether an argument is an object with free keys."""
    return node.get("type") == "object" and "properties" not in node


def _closable(name: str, node: dict[str, Any]) -> dict[str, Any]:
    """Describe an object with free keys so that strict clients, which close every object, accept
    it: with one example key, or as text."""
    if not _is_open(node):
        return node
    within = node.get("additionalProperties") or _PLAIN
    told = node.get("description", "")
    return {
        "description": f"{told} An object, or the same as JSON text.".strip(),
        "anyOf": [
            {"type": "object", "properties": {OPEN_ARGUMENTS.get(name, "name"): within}},
            {"type": "string"},
        ],
    }


def output_schema(reply: type[Any]) -> dict[str, Any]:
    """Return an answer's schema, which a refusal matches, too: it requires only `ok`."""
    names = [name for name in reply.__struct_encode_fields__ if name != "ok"]
    return {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, **{name: {} for name in names}},
        "required": ["ok"],
    }
