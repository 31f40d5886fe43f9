"""The state of one compilation, which every construct uses: nodes, warnings, library."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_WORKFLOW_STEPS
from assent.kernel.structs import Record
from assent.workflow.definition.source import Definition, DefinitionRefused, Function, Step
from assent.workflow.issues import Issue, Warning
from assent.workflow.program import Node

_BINDING: Final = re.compile(r"\{\{\s*wr\.bindings\.([A-Za-z0-9_]+)\s*\}\}")


class Within(Record):
    """The context of a step: what it inherits from the loops and routines around it."""

    prefix: str = ""
    when: dict[str, Any] | None = None
    functions: Mapping[str, Function] = {}
    features: tuple[str, ...] = ()
    assessments: Mapping[str, dict[str, Any]] = {}
    steps: Mapping[str, Step] = {}
    routines: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    path: str = "$.steps"

    def condition(self, own: dict[str, Any] | None) -> dict[str, Any] | None:
        """Join the step's own condition with the inherited one."""
        parts = [part for part in (self.when, own) if part is not None]
        return {"and": parts} if len(parts) == 2 else parts[0] if parts else None


class Lowering:
    """The nodes and warnings of one compilation."""

    def __init__(
        self,
        definition: Definition,
        library: Mapping[str, Definition],
        bindings: Mapping[str, str],
        lower: Callable[[Step, Lowering, Within], tuple[int, ...]],
        file: str,
    ) -> None:
        self.definition = definition
        self.library = library
        self.file = file
        self.nodes: list[Node | None] = []
        self.warnings: list[Warning] = []
        self._lower = lower
        self._slots = {point["slotId"]: point["default"] for point in definition.extension_points} | dict(
            bindings
        )

    def lower(self, step: Step, within: Within) -> tuple[int, ...]:
        """Compile a step and return the indexes of its nodes, in order."""
        title = self.bind(step.title, f"{within.path}.{step.id}")
        return self._lower(msgspec.structs.replace(step, title=title), self, within)

    def reserve(self, path: str) -> int:
        """Reserve an index for a node, so that parents precede their children."""
        if len(self.nodes) >= MAX_WORKFLOW_STEPS:
            self.refuse(
                path, "too_many", f"With its routines the workflow has more than {MAX_WORKFLOW_STEPS} steps."
            )
        self.nodes.append(None)
        return len(self.nodes) - 1

    def add(self, node: Node, path: str) -> int:
        """Append a node and return its index."""
        at = self.reserve(path)
        self.nodes[at] = node
        return at

    def warn(self, code: str, path: str, message: str) -> None:
        """Record a warning for the author and the agent."""
        warning = Warning(code, message, path)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def refuse(self, path: str, code: str, message: str) -> None:
        """Raise: the definition cannot be compiled."""
        raise DefinitionRefused(self.file, (Issue(path, code, message),))

    def bind(self, text: str, path: str) -> str:
        """Fill `{{wr.bindings.slot}}`, which is bound at compile time."""

        def slot(match: re.Match[str]) -> str:
            if match[1] in self._slots:
                return str(self._slots[match[1]])
            self.warn(
                "unknown_binding",
                path,
                f'No extension point "{match[1]}" is declared; declare it or bind it.',
            )
            return f"[unknown binding: {match[1]}]"

        return _BINDING.sub(slot, text)
