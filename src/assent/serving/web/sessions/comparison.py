"""Two branches of a run compared, the older one on the left: step by step, with findings as cards,
changed facts and files side by side, and a small drawing of where they split. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from assent.engine.views.session_views import ComparedBranch, Comparison, Passage
from assent.kernel.structs import Record
from assent.kernel.texts import indent_json
from assent.serving.web.review.matching import Steps
from assent.serving.web.sessions.cards import (
    count,
    describe_finding,
    label_key,
    node_title,
    render_cell,
    render_value,
    span,
)
from assent.serving.web.shell.word_diff import PAGE_STEPS, Piece, differs, word_diff
from assent.workflow.dashboard import Dashboard, Document, add_titles, find_key, reduce
from assent.workflow.machine.history import cut

COMPARED_BYTES: Final = 12_000
"""Limit of one compared text: both sides of many steps share a page."""

Change = Literal["new", "gone", "changed", "same"]
CHANGE_WORDS: Final[dict[Change, tuple[str, str]]] = {
    "new": ("New", "ok"),
    "gone": ("Gone", "danger"),
    "changed": ("Changed", "warn"),
    "same": ("Same", ""),
}


class ChangedFinding(Record):
    change: Change
    finding: dict[str, Any]


class ChangedFact(Record):
    label: str
    pieces: tuple[Piece, ...]


class ChangedRow(Record):
    change: Change
    cells: tuple[str, ...]


class ChangedTable(Record):
    title: str
    columns: tuple[str, ...]
    rows: tuple[ChangedRow, ...]


class Pair(Record, kw_only=True):
    """The same step on both branches, or a step that only one has."""

    title: str
    step_key: str
    left: int | None
    right: int | None
    took: tuple[str, str]
    """How long it took on each branch; empty where it is missing."""
    notes: tuple[Piece, ...]
    findings: tuple[ChangedFinding, ...]
    facts: tuple[ChangedFact, ...]
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
            any(each.change != "same" for each in self.findings)
            or any(row.change != "same" for table in self.tables for row in table.rows)
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
    changes = [each.change for pair in paired for each in pair.findings]
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
            span(left.took_ms) if left is not None else "",
            span(right.took_ms) if right is not None else "",
        ),
        notes=word_diff(_notes(left), _notes(right), steps),
        findings=_match_findings(old, new),
        facts=tuple(
            ChangedFact(
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


def _match_findings(old: Dashboard, new: Dashboard) -> tuple[ChangedFinding, ...]:
    """Findings of both sides, matched by place and title."""
    before = {find_key(each): each for each in old.findings}
    after = {find_key(each): each for each in new.findings}
    return tuple(
        ChangedFinding(
            _classify(before.get(key), after.get(key)), describe_finding(after.get(key) or before[key])
        )
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
            rows.append(ChangedRow(_classify(before.get(key), after.get(key)), cells))
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


MAX_DOTS: Final = 10
DOT: Final = 24
"""Pixels between the dots of the small drawing."""


class MiniGraph(Record, kw_only=True):
    """Where two branches split: dots of the shared steps, then of each branch."""

    width: int
    shared: tuple[int, ...]
    """Positions of the shared steps; the last is where they split."""
    left: tuple[int, ...]
    right: tuple[int, ...]


def draw_split(shared: int, left: int, right: int) -> MiniGraph:
    """The small drawing for so many steps; long stretches are cut to a few dots."""
    known = min(max(shared, 1), 4)
    at = tuple(DOT // 2 + number * DOT for number in range(known))
    after = at[-1] + DOT

    def place(count: int) -> tuple[int, ...]:
        return tuple(after + number * DOT for number in range(min(count, MAX_DOTS)))

    width = max((at[-1], *place(left), *place(right))) + DOT // 2
    return MiniGraph(width=width, shared=at, left=place(left), right=place(right))
