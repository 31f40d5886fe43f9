"""Writes a session as Markdown for people: each run with all its branches, notes and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from assent.workflow.bundle import Bundle, ExportedNode, ExportedRun
from assent.workflow.dashboard import Dashboard, add_titles, copy_ready, locate, reduce
from assent.workflow.machine.history import Lineage


def write_markdown(
    bundle: Bundle, fold_lineage: Callable[[ExportedRun], Lineage], when: Callable[[int], str]
) -> str:
    """Write the session. `when` formats a time."""
    counted = "1 run" if len(bundle.runs) == 1 else f"{len(bundle.runs)} runs"
    head = f"# Session {bundle.session_id}\n\nExported {when(bundle.exported_ms)}; {counted}."
    notes = [f"> {each.author}, {when(each.created_ms)}:\n\n{each.notes.strip()}" for each in bundle.notes]
    if notes:
        head = "\n\n".join([head, "## Session notes", *notes])
    return "\n\n".join([head, *(_run(run, fold_lineage(run), when) for run in bundle.runs)]) + "\n"


def _run(run: ExportedRun, lineage: Lineage, when: Callable[[int], str]) -> str:
    """Write a run: the branch with the latest event whole, then the own part of every other
    branch."""
    by_node = {node.node: node for node in run.nodes}
    latest = {step.node: (step.latest, step.node) for step in lineage.steps}
    inner = {step.parent for step in lineage.steps}
    leaves = sorted(
        (node for node in by_node if node not in inner), key=lambda node: latest[node], reverse=True
    )
    complete = {step.node for step in lineage.steps if step.is_complete}
    count = f", {len(leaves)} branches (the latest first)" if len(leaves) > 1 else ""
    status = "complete" if leaves and leaves[0] in complete else "running"
    parts = [
        f"## {run.name}",
        f"Workflow `{run.workflow_id}`, run `{run.run_id}`, started {when(run.created_ms)}: {status}{count}.",
    ]
    written: set[int] = set()
    for leaf in leaves:
        path = _path(by_node, leaf, written)
        if written:
            state = "complete" if leaf in complete else "abandoned"  # as the graph says
            parts.append(f"### Branch from “{path[0].title or path[0].step_key}”: {state}")
        parts += _steps(run, path, when, "####" if written else "###")
        written |= {node.node for node in path}
    return "\n\n".join(parts)


def _path(by_node: dict[int, ExportedNode], leaf: int, written: set[int]) -> list[ExportedNode]:
    """Return the nodes that lead to a leaf, without those already written."""
    path: list[ExportedNode] = []
    at: int | None = leaf
    while at is not None and at not in written:
        path.append(by_node[at])
        at = by_node[at].parent
    return path[::-1]


def _steps(run: ExportedRun, path: list[ExportedNode], when: Callable[[int], str], level: str) -> list[str]:
    parts = []
    for node in path:
        if node.parent is not None:
            parts.append(f"{level} {node.title or node.step_key}\n\nCompleted {when(node.created_ms)}.")
        if node.notes.strip():
            parts.append(node.notes.strip())
        parts += [
            f"Checkpoint, {when(each.created_ms)}:\n\n{each.notes.strip()}"
            for each in run.checkpoints
            if each.node == node.node
        ]
    outputs = [(node.step_key, artifact) for node in path for artifact in node.artifacts]
    return [*parts, *_results(reduce(outputs))]


def _results(dashboard: Dashboard) -> list[str]:
    parts = []
    if dashboard.header:
        facts = [f"- {name}: {_write(value)}" for name, value in dashboard.header.items()]
        parts.append("### Review\n\n" + "\n".join(facts))
    for table in dashboard.tables.values():
        rule = "|".join(" --- " for _ in table.columns)
        rows = [
            "| " + " | ".join(_cell(str(row.get(column, ""))) for column in table.columns) + " |"
            for row in table.rows
        ]
        parts.append(
            "\n".join([f"### {table.title}\n", "| " + " | ".join(table.columns) + " |", f"|{rule}|", *rows])
        )
    if dashboard.findings:
        parts.append("### Findings\n\n" + "\n".join(map(_finding, dashboard.findings)))
    if dashboard.comments:
        parts.append("### Suggested comments")
        parts += [_fence(copy_ready(each), "markdown") for each in dashboard.comments]
    for title, document in add_titles(dashboard.documents):
        text = msgspec.json.format(msgspec.json.encode(document.body, order="sorted"), indent=2).decode()
        parts.append(f"### Output `{title}`\n\n{_fence(text, 'json')}")
    if dashboard.revision_log:
        log = [f"- `{each['step']}`: {_write(each['entry'])}" for each in dashboard.revision_log]
        parts.append("### Revision log\n\n" + "\n".join(log))
    return parts


def _finding(entry: dict[str, Any]) -> str:
    head = (
        f"- **{_write(entry.get('severity', ''))}** {_write(entry.get('title', ''))} {locate(entry)}".rstrip()
    )
    more = [f"  {_write(entry[name])}" for name in ("rationale", "suggestion") if entry.get(name)]
    return "\n".join([head, *more])


def _write(value: Any) -> str:
    """Write a value on one line: a list as its parts, other values than text as JSON."""
    if isinstance(value, list):
        return ", ".join(map(_write, value))
    text = value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()
    return " ".join(text.split())


def _fence(text: str, language: str) -> str:
    """Write a code block whose fence does not occur in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
