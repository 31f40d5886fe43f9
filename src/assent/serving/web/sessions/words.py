"""A session in words: runs, graph rows, a step with its results, two branches compared. Pure.

Short texts of agents and people are rendered as Markdown; long ones are shown as plain text. A
prompt is always shown as it was sent.
"""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from assent.engine.views.session_views import (
    ComparedBranch,
    Comparison,
    Confirmation,
    Passage,
    RunView,
    SessionRunLine,
    StepView,
    TreeNode,
)
from assent.kernel.structs import Record
from assent.kernel.texts import indent_json
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.word_diff import PAGE_STEPS, Piece, differs, word_diff
from assent.serving.web.review.words import Badge
from assent.serving.web.sessions.graph import LaidOutRow
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.times import when
from assent.workflow.dashboard import SEVERITIES, Dashboard, add_titles, copy_ready, reduce
from assent.workflow.machine.history import cut

RENDERED_CHARS: Final = 20_000
"""Longer text is not rendered as Markdown."""

SHOWN_BYTES: Final = 48_000
"""Limit of one text on a page. The export has the whole text."""

COMPARED_BYTES: Final = 12_000
"""Limit of one compared text: both sides of many steps share a page."""

START_TITLE: Final = "Start"


class RenderedText(Record):
    html: Markup | None
    text: str


def render_text(text: str) -> RenderedText | None:
    if not text.strip():
        return None
    if len(text) <= RENDERED_CHARS:
        return RenderedText(Markup(render(text).html), "")  # noqa: S704 - cleaned by the renderer
    return RenderedText(None, cut(text, SHOWN_BYTES))


def run_badge(line: SessionRunLine) -> Badge:
    return Badge("Complete", "ok") if line.is_complete else Badge("Running", "info")


def count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def node_title(node: TreeNode | Passage) -> str:
    return node.title or node.step_key or START_TITLE


def graph_row(row: LaidOutRow, view: RunView, selected: int, now_ms: int) -> dict[str, Any]:
    node = row.node
    title = START_TITLE if node.parent is None else node_title(node)
    if row.folded:
        title = f"{row.folded:,} steps without a fork"
    return {
        "row": row,
        "title": title,
        "at": when(node.created_ms, now_ms),
        "badges": () if row.folded else _badges(row, waiting_at(view, node.node)),
        "is_selected": node.node == selected and not row.folded,
    }


def _badges(row: LaidOutRow, asked: tuple[Confirmation, ...]) -> tuple[Badge, ...]:
    node = row.node
    found = []
    if node.is_complete:
        found.append(Badge("Complete", "ok"))
    elif row.is_tip:
        found.append(Badge("Now", "info"))
    if row.forks:
        found.append(Badge(f"{row.forks} ways", "warn"))
    if any(each.status == "awaiting_approval" for each in asked):
        found.append(Badge("Waits for a person", "warn"))
    if node.refused:
        found.append(Badge(f"{node.refused} refused", "danger"))
    if node.checkpoints:
        found.append(Badge(count(node.checkpoints, "checkpoint")))
    return tuple(found)


def waiting_at(view: RunView, node: int) -> tuple[Confirmation, ...]:
    return tuple(each for each in view.confirmations if each.node == node)


SEVERITY_TONES: Final = {"critical": "danger", "major": "danger", "minor": "warn", "nit": ""}


def results(outputs: tuple[tuple[str, dict[str, Any]], ...]) -> dict[str, Any] | None:
    if not outputs:
        return None
    board = reduce(outputs)
    if board == Dashboard():
        return None
    return {
        "facts": tuple((_label(name), _plain(value)) for name, value in board.header.items()),
        "tables": tuple(
            {
                "title": table.title,
                "columns": tuple(_label(column) for column in table.columns),
                "rows": tuple(
                    tuple(_plain(row.get(column, "")) for column in table.columns) for row in table.rows
                ),
            }
            for table in board.tables.values()
        ),
        "findings": tuple(_finding(each) for each in board.findings),
        "comments": tuple(
            {"title": str(each.get("title", "")), "place": _place(each), "text": copy_ready(each)}
            for each in board.comments
        ),
        "log": tuple(line["entry"] for line in board.revision_log),
        "documents": _documents(board),
    }


def _documents(board: Dashboard) -> tuple[tuple[str, str], ...]:
    return tuple(
        (title, cut(indent_json(each.body), SHOWN_BYTES)) for title, each in add_titles(board.documents)
    )


def _finding(each: dict[str, Any]) -> dict[str, Any]:
    severity = str(each.get("severity", "")).casefold()
    known = severity if severity in SEVERITIES else ""
    return {
        "severity": Badge(str(each.get("severity") or "Finding").capitalize(), SEVERITY_TONES.get(known, "")),
        "title": str(each.get("title", "")),
        "place": _place(each),
        "rationale": render_text(str(each.get("rationale", ""))),
        "suggestion": render_text(str(each.get("suggestion", ""))),
    }


def _place(entry: dict[str, Any]) -> str:
    location = entry.get("location")
    location = location if isinstance(location, dict) else entry
    file, line = location.get("file"), location.get("line", location.get("startLine"))
    if not isinstance(file, str) or not file:
        return ""
    return f"{file}:{line}" if isinstance(line, int) else file


def _label(name: str) -> str:
    """A label from an author's key: `mrTitle` becomes `Mr title`."""
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name.replace("_", " ")).strip()
    return words[:1].upper() + words[1:]


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return indent_json(value) if isinstance(value, (dict, list)) else "" if value is None else str(value)


ASKED: Final = {
    "awaiting_approval": Badge("Waits for a person", "warn"),
    "approved": Badge("Approved", "ok"),
    "executed": Badge("Confirmed", "ok"),
    "rejected": Badge("Rejected", "danger"),
    "failed": Badge("Failed", "danger"),
}


def step_card(view: RunView, step: StepView, now_ms: int) -> dict[str, Any]:
    by_number = {each.node: each for each in view.nodes}
    return {
        "step": step,
        "title": START_TITLE if step.parent is None else step.title or step.step_key,
        "at": when(step.created_ms, now_ms),
        "prompt": cut(step.asked.prompt, SHOWN_BYTES) if step.asked is not None else "",
        "notes": render_text(step.notes),
        "results": results(tuple((step.step_key, artifact) for artifact in step.artifacts)),
        "checkpoints": tuple(
            (when(each.at_ms, now_ms), text)
            for each in step.checkpoints
            if (text := render_text(each.notes)) is not None
        ),
        "next_title": step.following.title if step.following is not None else "",
        "next_prompt": cut(step.following.prompt, SHOWN_BYTES) if step.following is not None else "",
        "refused": tuple((when(each.at_ms, now_ms), each) for each in step.refused),
        "asked": tuple(
            (each.action_id, ASKED.get(each.status, Badge(each.status)))
            for each in waiting_at(view, step.node)
        ),
        "before": by_number.get(step.parent) if step.parent is not None else None,
        "after": tuple(each for each in view.nodes if each.parent == step.node),
        "context": tuple(
            (name, cut(indent_json(value), 4_000)) for name, value in sorted(step.context.items())
        ),
    }


class Pair(Record, kw_only=True):
    """The same step on both branches, or a step that only one has."""

    title: str
    step_key: str
    left: int | None
    right: int | None
    notes: tuple[Piece, ...]
    outputs: tuple[Piece, ...]

    @property
    def notes_differ(self) -> bool:
        return differs(self.notes)

    @property
    def outputs_differ(self) -> bool:
        return differs(self.outputs)

    @property
    def is_shared(self) -> bool:
        """Whether both branches have the step."""
        return self.left is not None and self.right is not None


def describe_comparison(found: Comparison) -> dict[str, Any]:
    """Describe the differences between two branches, step by step."""
    left, right = found.left, found.right
    steps = Steps(PAGE_STEPS)
    names = sorted({*left.context, *right.context})
    differing = [name for name in names if left.context.get(name, ...) != right.context.get(name, ...)]
    return {
        "pairs": pairs(left, right, steps),
        "context": tuple(
            {
                "name": name,
                "pieces": word_diff(_value(left.context, name), _value(right.context, name), steps),
            }
            for name in differing
        ),
        "same_context": len(names) - len(differing),
        "left_out": left.left_out + right.left_out,
    }


def pairs(left: ComparedBranch, right: ComparedBranch, steps: Steps) -> tuple[Pair, ...]:
    """Pair steps by key, in the left branch's order. Others keep their position."""
    compared = {each.step_key: each for each in right.passages}
    order: list[tuple[Passage | None, Passage | None]] = [
        (each, compared.get(each.step_key)) for each in left.passages
    ]
    at = 0
    for each in right.passages:
        place = next((n for n, (_, other) in enumerate(order) if other is each), None)
        if place is None:
            order.insert(at, (None, each))
        at = (place if place is not None else at) + 1
    return tuple(_pair(a, b, steps) for a, b in order)


def _pair(left: Passage | None, right: Passage | None, steps: Steps) -> Pair:
    known = left or right
    assert known is not None  # noqa: S101 - a pair has a step
    return Pair(
        title=node_title(known),
        step_key=known.step_key,
        left=left.node if left is not None else None,
        right=right.node if right is not None else None,
        notes=word_diff(_notes(left), _notes(right), steps),
        outputs=word_diff(_outputs(left), _outputs(right), steps),
    )


def _notes(passage: Passage | None) -> str:
    return cut(passage.notes, COMPARED_BYTES) if passage is not None else ""


def _outputs(passage: Passage | None) -> str:
    found = passage.artifacts if passage is not None else ()
    return cut(indent_json(list(found)), COMPARED_BYTES) if found else ""


def _value(context: dict[str, Any], name: str) -> str:
    return cut(indent_json(context[name]), COMPARED_BYTES) if name in context else ""
