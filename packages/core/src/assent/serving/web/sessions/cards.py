"""A session in words: runs, graph rows, a step with its results, two branches compared. Pure.

Short texts of agents and people are rendered as Markdown; long ones are shown as plain text. A
prompt is always shown as it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

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
from assent.kernel.limits import MINUTE_MS
from assent.kernel.structs import Record
from assent.kernel.texts import indent_json
from assent.serving.web.review.matching import Steps
from assent.serving.web.sessions.graph import LaidOutRow
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.rendering import Badge
from assent.serving.web.shell.times import short_span, when
from assent.serving.web.shell.word_diff import PAGE_STEPS, LabelledDiff, Piece, differs, word_diff
from assent.workflow.dashboard import (
    SEVERITIES,
    Dashboard,
    Document,
    add_titles,
    copy_ready,
    find_key,
    reduce,
)
from assent.workflow.machine.history import cut

START_TITLE: Final = "Start"
KEY_LABELS: Final = {"mrTitle": "Merge request"}
"""Labels of keys whose words are short forms. They come first."""
RISKS: Final = {"L": "Low", "M": "Medium", "H": "High"}
ASKED: Final = {
    "awaiting_approval": Badge("Waiting for a person", "warn"),
    "approved": Badge("Approved", "ok"),
    "executed": Badge("Confirmed", "ok"),
    "rejected": Badge("Rejected", "danger"),
    "failed": Badge("Failed", "danger"),
}


def count(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


RENDERED_CHARS: Final = 20_000
"""Longer text is not rendered as Markdown."""

SHOWN_BYTES: Final = 48_000
"""Limit of one text on a page. The export has the whole text."""


class RenderedText(Record):
    html: Markup | None
    text: str


def render_text(text: str) -> RenderedText | None:
    if not text.strip():
        return None
    if len(text) <= RENDERED_CHARS:
        return RenderedText(Markup(render(text).html), "")  # noqa: S704 - cleaned by the renderer
    return RenderedText(None, cut(text, SHOWN_BYTES))


AT_WORK_MS: Final = 5 * MINUTE_MS
"""An agent that finished a step so recently is taken to be at work on the next one."""


def run_badge(line: SessionRunLine, now_ms: int) -> Badge:
    """What a run waits for, and since when."""
    if line.is_complete:
        return Badge("Complete", "ok")
    waited_ms = now_ms - line.updated_ms
    if line.asks_person:
        return Badge(f"Waiting for a person, {short_span(waited_ms)}", "warn")
    if waited_ms < AT_WORK_MS:
        return Badge("The agent is at work", "info")
    return Badge(f"Waiting for the agent, {short_span(waited_ms)}", "info")


def node_title(node: TreeNode | Passage) -> str:
    return node.title or node.step_key or START_TITLE


def graph_row(row: LaidOutRow, view: RunView, selected: int, now_ms: int) -> dict[str, Any]:
    node = row.node
    title = START_TITLE if node.parent is None else node_title(node)
    if row.folded:
        title = f"{row.folded:,} steps without a fork"
    before = next((each for each in view.nodes if each.node == node.parent), None)
    return {
        "row": row,
        "title": title,
        "at": when(node.created_ms, now_ms),
        "took": short_span(node.created_ms - before.created_ms)
        if before is not None and not row.folded
        else "",
        "branch": name_branch(row) if row.branch and not row.folded else "",
        "badges": () if row.folded else _badges(row, waiting_at(view, node.node)),
        "is_selected": node.node == selected and not row.folded,
    }


def name_branch(row: LaidOutRow) -> str:
    """The label of a branch where it begins and where it ends."""
    if row.is_tip:
        return f"Branch {row.branch} · current"
    if not row.goes_on:
        return f"Branch {row.branch} · abandoned"
    return f"Branch {row.branch}" if row.starts_branch else ""


def _badges(row: LaidOutRow, asked: tuple[Confirmation, ...]) -> tuple[Badge, ...]:
    node = row.node
    found = []
    if node.is_complete:
        found.append(Badge("Complete", "ok"))
    elif row.is_tip and not row.branch:
        found.append(Badge("Current step", "info"))
    if row.forks:
        found.append(Badge(f"{row.forks} branches", "warn"))
    if any(each.status == "awaiting_approval" for each in asked):
        found.append(Badge("Waiting for a person", "warn"))
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
        "facts": tuple(
            (label_key(name), render_value(board.header[name]))
            for name in sorted(board.header, key=lambda name: name not in KEY_LABELS)
        ),
        "tables": tuple(
            {
                "title": table.title,
                "columns": tuple(label_key(column) for column in table.columns),
                "rows": tuple(
                    tuple(render_cell(column, row.get(column, "")) for column in table.columns)
                    for row in table.rows
                ),
            }
            for table in board.tables.values()
        ),
        "findings": tuple(describe_finding(each) for each in board.findings),
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


def describe_finding(each: dict[str, Any]) -> dict[str, Any]:
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


def render_cell(column: str, value: Any) -> str:
    """A cell of a table; a risk in words."""
    text = render_value(value)
    return RISKS.get(text, text) if column == "risk" else text


def label_key(name: str) -> str:
    """A label from an author's key: `focusAreas` becomes `Focus areas`."""
    if name in KEY_LABELS:
        return KEY_LABELS[name]
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name.replace("_", " ")).strip()
    return words[:1].upper() + words[1:]


def render_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return indent_json(value) if isinstance(value, (dict, list)) else "" if value is None else str(value)


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


# Two branches of a run compared, the older one on the left: step by step, with findings as cards,
# changed facts and files side by side. Pure.

COMPARED_BYTES: Final = 12_000
"""Limit of one compared text: both sides of many steps share a page."""

Change = Literal["new", "gone", "changed", "same"]
CHANGE_WORDS: Final[dict[Change, tuple[str, str]]] = {
    "new": ("New", "ok"),
    "gone": ("Gone", "danger"),
    "changed": ("Changed", "warn"),
    "same": ("Same", ""),
}


class ChangedTable(Record):
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Change, tuple[str, ...]], ...]


class Pair(Record, kw_only=True):
    """The same step on both branches, or a step that only one has."""

    title: str
    step_key: str
    left: int | None
    right: int | None
    took: tuple[str, str]
    """How long it took on each branch; empty where it is missing."""
    notes: tuple[Piece, ...]
    findings: tuple[tuple[Change, dict[str, Any]], ...]
    facts: tuple[LabelledDiff, ...]
    tables: tuple[ChangedTable, ...]
    documents: tuple[tuple[str, tuple[Piece, ...]], ...]

    @property
    def is_shared(self) -> bool:
        """Whether both branches have the step."""
        return self.left is not None and self.right is not None

    @property
    def differs(self) -> bool:
        return differs(self.notes) or self.outputs_differ

    @property
    def outputs_differ(self) -> bool:
        return (
            any(change != "same" for change, _ in self.findings)
            or any(change != "same" for table in self.tables for change, _ in table.rows)
            or any(differs(each.pieces) for each in self.facts)
            or any(differs(pieces) for _, pieces in self.documents)
        )


def describe_comparison(found: Comparison) -> dict[str, Any]:
    """Describe the differences between two branches, step by step."""
    left, right = found.left, found.right
    steps = Steps(PAGE_STEPS)
    names = sorted({*left.context, *right.context})
    differing = [name for name in names if left.context.get(name, ...) != right.context.get(name, ...)]
    paired = pairs(left, right, steps)
    changes = [change for pair in paired for change, _ in pair.findings]
    summary = {
        "different": sum(pair.is_shared and pair.differs for pair in paired),
        "same": sum(pair.is_shared and not pair.differs for pair in paired),
        "only_left": sum(pair.right is None for pair in paired),
        "only_right": sum(pair.left is None for pair in paired),
        "new": changes.count("new"),
        "gone": changes.count("gone"),
    }
    return {
        "pairs": paired,
        "context": tuple(
            {
                "name": name,
                "pieces": word_diff(_value(left.context, name), _value(right.context, name), steps),
            }
            for name in differing
        ),
        "same_context": len(names) - len(differing),
        "left_out": left.left_out + right.left_out,
        "summary": summary,
        "said": say_split(summary),
        "words": CHANGE_WORDS,
    }


def say_split(summary: Mapping[str, int]) -> str:
    """How two branches differ: `2 steps different, 1 the same · 1 finding new`."""
    different = summary["different"]
    others = (("same", "the same"), ("only_left", "only on the older"), ("only_right", "only on the newer"))
    steps = (
        f"{count(different, 'step')} different" if different else "No shared step differs",
        *(f"{summary[name]} {words}" for name, words in others if summary[name]),
    )
    findings = tuple(f"{count(summary[name], 'finding')} {name}" for name in ("new", "gone") if summary[name])
    return " · ".join((", ".join(steps), *findings))


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
    old, new = _fold(left), _fold(right)
    return Pair(
        title=node_title(known),
        step_key=known.step_key,
        left=left.node if left is not None else None,
        right=right.node if right is not None else None,
        took=(
            short_span(left.took_ms) if left is not None else "",
            short_span(right.took_ms) if right is not None else "",
        ),
        notes=word_diff(_notes(left), _notes(right), steps),
        findings=_match_findings(old, new),
        facts=tuple(
            LabelledDiff(
                label_key(name),
                word_diff(render_value(old.header.get(name)), render_value(new.header.get(name)), steps),
            )
            for name in dict.fromkeys((*old.header, *new.header))
        ),
        tables=_match_tables(old, new),
        documents=_match_documents(old, new, steps),
    )


def _fold(passage: Passage | None) -> Dashboard:
    return (
        reduce((passage.step_key, each) for each in passage.artifacts) if passage is not None else Dashboard()
    )


def _classify(before: object, after: object) -> Change:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    return "same" if before == after else "changed"


def _match_findings(old: Dashboard, new: Dashboard) -> tuple[tuple[Change, dict[str, Any]], ...]:
    """Findings of both sides, matched by place and title."""
    before = {find_key(each): each for each in old.findings}
    after = {find_key(each): each for each in new.findings}
    return tuple(
        (_classify(before.get(key), after.get(key)), describe_finding(after.get(key) or before[key]))
        for key in dict.fromkeys((*after, *before))
    )


def _match_tables(old: Dashboard, new: Dashboard) -> tuple[ChangedTable, ...]:
    found = []
    for name in dict.fromkeys((*old.tables, *new.tables)):
        known = new.tables.get(name) or old.tables[name]
        before = {row.get(known.key): row for row in old.tables[name].rows} if name in old.tables else {}
        after = {row.get(known.key): row for row in new.tables[name].rows} if name in new.tables else {}
        rows = []
        for key in dict.fromkeys((*after, *before)):
            row = after.get(key) or before[key]
            cells = tuple(render_cell(column, row.get(column, "")) for column in known.columns)
            rows.append((_classify(before.get(key), after.get(key)), cells))
        columns = tuple(label_key(each) for each in known.columns)
        found.append(ChangedTable(known.title, columns, tuple(rows)))
    return tuple(found)


def _match_documents(
    old: Dashboard, new: Dashboard, steps: Steps
) -> tuple[tuple[str, tuple[Piece, ...]], ...]:
    before, after = _write_documents(old.documents), _write_documents(new.documents)
    return tuple(
        (title, word_diff(before.get(title, ""), after.get(title, ""), steps))
        for title in dict.fromkeys((*before, *after))
    )


def _write_documents(documents: tuple[Document, ...]) -> dict[str, str]:
    return {title: cut(indent_json(each.body), COMPARED_BYTES) for title, each in add_titles(documents)}


def _notes(passage: Passage | None) -> str:
    return cut(passage.notes, COMPARED_BYTES) if passage is not None else ""


def _value(context: dict[str, Any], name: str) -> str:
    return cut(indent_json(context[name]), COMPARED_BYTES) if name in context else ""
