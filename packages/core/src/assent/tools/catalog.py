"""The one tool table that every surface reads, in the order of the list.

Also the schemas of arguments. They are flattened: the root is an object, there is no `$ref`,
and an optional field may be absent. A root `$ref` makes some clients drop the whole list. The list
leaves out what a model does not use: lengths, which OpenAPI has, and schemas of answers.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from assent.extensions.hooks import PLAIN_WORDS, AgentWords
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
from assent.tools.definition import TOOLSET_OF, Tool, list_groups

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

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        toolsets: Iterable[str] = DEFAULT_TOOLSETS,
        words: AgentWords = PLAIN_WORDS,
    ) -> None:
        self.tools = tuple(tools)
        self.words = words
        """What the texts for agents say about them."""
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
        owned = any(tool.owned for tool in self.tools)
        self.shared: Catalog = (
            Catalog((each for each in self.tools if not each.owned), toolsets=self.toolsets, words=words)
            if owned
            else self
        )
        """The tools that every workspace has."""
        self._listings: dict[frozenset[Toolset], list[dict[str, Any]]] = {}
        self.offered = self.names_in(self.toolsets)
        """The names in the default list."""

    def suggest(self, name: str) -> str | None:
        """Return the name that was probably meant: another prefix, or a typing error."""
        endings = {_ending(tool.name): tool.name for tool in self.tools}
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
    schema = input_schema(tool.request)
    return {
        "name": name,
        "title": tool.title,
        "description": f"Old name of {tool.name}. {tool.description}" if is_old else tool.description,
        # What the author of an operator wrote stays whole.
        "inputSchema": _without_limits(schema) if tool.name in TOOLSET_OF else schema,
        "annotations": tool.behaviour.hints,
    }


_LIMITS: Final = ("additionalProperties", "max", "min", "pattern")
"""How keywords begin that limit a value."""


def _without_limits(node: Any) -> Any:
    """Return a schema as a model reads it. What breaks a limit is refused with the limit."""
    if isinstance(node, list):
        return [_without_limits(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _without_limits(part) for name, part in value.items()}
        if key == "properties"
        else _without_limits(value)
        for key, value in node.items()
        if not _says_nothing(key, value)
    }


def _says_nothing(key: str, value: Any) -> bool:
    """Whether a keyword is a limit, or an empty list or value that is assumed anyway."""
    limits = key.startswith(_LIMITS) and not isinstance(value, dict)
    return limits or (key in ("required", "default") and not value)


def input_schema(request: type[Any]) -> dict[str, Any]:
    """Return a request's published schema, in which a nullable argument may be absent."""
    schema = flatten(request, keep_null=False)
    arguments = {name: _or_text(node) for name, node in schema.get("properties", {}).items()}
    return {"type": "object", **schema, "properties": arguments}


def open_arguments(request: type[Any]) -> tuple[str, ...]:
    """Return the arguments of a request that may also be sent as JSON text."""
    arguments = flatten(request, keep_null=False).get("properties", {})
    return tuple(name for name, node in arguments.items() if _is_open(node))


def _is_open(node: dict[str, Any]) -> bool:
    """Whether an argument is an object with free keys."""
    return node.get("type") == "object" and "properties" not in node


def _or_text(node: dict[str, Any]) -> dict[str, Any]:
    """Offer an object with free keys as text, too, for clients that close every object."""
    if not _is_open(node):
        return node
    about = {key: node[key] for key in ("description",) if key in node}
    return {**about, "anyOf": [{key: node[key] for key in node if key not in about}, _AS_TEXT]}


_AS_TEXT: Final = {"type": "string", "description": "The same as JSON."}
