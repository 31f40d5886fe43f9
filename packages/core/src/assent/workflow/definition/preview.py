"""Shows a workflow before it starts: its metadata, and a diagram in text."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from assent.workflow.machine.conditions import Condition
from assent.workflow.program import Ask, Program, Repeat

_WORDS = {
    "equals": "is",
    "not_equals": "is not",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
    "in": "is one of",
    "contains": "contains",
    "startsWith": "starts with",
    "endsWith": "ends with",
    "matches": "matches",
}


def metadata(program: Program, workflow_hash: str) -> dict[str, Any]:
    """Return the facts for choosing a workflow."""
    asks = [node for node in program.nodes if isinstance(node, Ask)]
    more = {
        "preamble": "\n\n".join(program.preamble),
        "about": program.about,
        "examples": list(program.examples),
        "modelTier": program.model_tier,
        "preferences": program.preferences,
    }
    return {
        "workflowId": program.id,
        "name": program.name,
        "description": program.description,
        "version": program.version,
        "workflowHash": workflow_hash,
        "steps": len(asks),
        "loops": sum(isinstance(node, Repeat) for node in program.nodes),
        "confirmations": sum(ask.confirm is not None for ask in asks),
        "outputs": sorted(
            {ask.contract.kind or ask.contract.ref for ask in asks if ask.contract is not None}
        ),
        "actions": sorted({ask.action.tool for ask in asks if ask.action is not None}),
        **{name: value for name, value in more.items() if value},
    }


_PLACEHOLDER: Final = re.compile(r"\{\{([^{}]*)\}\}")
_DECISION: Final = re.compile(r"wr\.decisions\.(.+)\.decision")


def diagram(program: Program) -> str:
    """Write the steps as a numbered outline, loops indented, each with what it waits for."""
    lines = [f"{_line(program.name)} ({program.id} {program.version})"]
    _outline(program, program.top, "", lines)
    return "\n".join(lines)


def _outline(program: Program, indexes: tuple[int, ...], prefix: str, lines: list[str]) -> None:
    for n, index in enumerate(indexes, 1):
        node = program.nodes[index]
        number = f"{prefix}{n}"
        indent = "  " * (prefix.count(".") + 1)
        marks = [f"if {describe(node.when)}"] if node.when is not None else []
        if isinstance(node, Ask):
            marks += _marks(node)
            lines.append(f"{indent}{number}. {_line(node.title)}{_bracket(marks)}")
        else:
            lines.append(f"{indent}{number}. ↻ {_line(node.title)}{_bracket([_loop(node), *marks])}")
            _outline(program, node.body, f"{number}.", lines)


def _line(title: str) -> str:
    """Return a title on one line. Nothing has run yet, so that a value in it is not known: a round is N."""
    rounds = {"currentIteration": "N"}
    title = _PLACEHOLDER.sub(lambda found: rounds.get(found[1].strip(), "…"), title)
    return " ".join("".join(char if char.isprintable() else " " for char in title).split())


def _marks(node: Ask) -> list[str]:
    marks: list[str] = []
    if node.action is not None:
        marks.append(f"calls {node.action.tool} after approval")
    elif node.confirm is not None:
        marks.append(
            "a person confirms" + (f" if {describe(node.confirm.when)}" if node.confirm.when else "")
        )
    if node.contract is not None:
        marks.append(
            f"output {node.contract.kind or node.contract.ref}"
            + ("" if node.contract.required else " (optional)")
        )
    if node.assessments:
        marks.append("assesses " + ", ".join(entry.id for entry in node.assessments))
    if node.criteria is not None:
        marks.append("notes are checked")
    return marks


def _loop(node: Repeat) -> str:
    match node.mode:
        case "forEach":
            what = f"for each of {node.items}"
        case "for":
            what = f"{node.count} times"
        case _ if node.artifact is not None:
            what = "until the agent decides to stop"
        case _:
            what = f"{node.mode} {describe(node.condition)}"
    return f"{what}, at most {node.most}"


def _bracket(marks: list[str]) -> str:
    return "".join(f" [{mark}]" for mark in marks)


def describe(condition: Condition | None) -> str:
    """Write a condition in words."""
    if condition is None:
        return "always"
    name = _DECISION.sub(r"the decision about \1", condition.get("var", ""))
    parts = [
        f"{name} {_WORDS[key]} {msgspec.json.encode(operand).decode()}"
        for key, operand in condition.items()
        if key in _WORDS
    ]
    if set(condition) == {"var"}:
        parts.append(f"{name} is set")
    for key in ("and", "or"):
        if key in condition:
            inner = [describe(part) for part in condition[key]]
            parts.append(
                f" {key} ".join(f"({part})" if len(inner) > 1 else part for part in inner)
                or ("always" if key == "and" else "never")
            )
    if "not" in condition:
        parts.append(f"not ({describe(condition['not'])})")
    return " and ".join(parts)
