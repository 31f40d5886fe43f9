"""The dashboard of structured outputs: a deterministic fold with one reducer per kind.

Tables are keyed, deduplicated (the later row wins) and sorted, so equal outputs in equal order give
equal dashboards. An output of a kind without a reducer is kept as a document. Notes are not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from assent.kernel.structs import Record, WireRecord
from assent.workflow.contracts.registry import REGISTRY
from assent.workflow.issues import mismatches


class DashboardTable(Record):
    """Rows with one identity each."""

    title: str
    key: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]


class Document(Record):
    """An output without a reducer, as a step sent it."""

    step: str
    kind: str
    body: dict[str, Any]


class Dashboard(WireRecord):
    """The folded outputs of a run."""

    header: dict[str, Any] = {}
    tables: dict[str, DashboardTable] = {}
    findings: tuple[dict[str, Any], ...] = ()
    comments: tuple[dict[str, Any], ...] = ()
    revision_log: tuple[dict[str, str], ...] = ()
    documents: tuple[Document, ...] = ()


SEVERITIES: Final = ("critical", "major", "minor", "nit")


def _place(entry: Mapping[str, Any]) -> tuple[str, int]:
    location = entry.get("location")
    location = location if isinstance(location, Mapping) else entry
    file = location.get("file")
    line = location.get("line", location.get("startLine"))
    return (file if isinstance(file, str) else "", line if isinstance(line, int) else 0)


def find_key(entry: Mapping[str, Any]) -> tuple[str, int, str]:
    """Identity of a finding or comment: its file, its line and its title."""
    return (*_place(entry), str(entry.get("title", "")))


def _finding_order(entry: Mapping[str, Any]) -> tuple[int, str, int, str]:
    severity = str(entry.get("severity", "")).casefold()
    return (SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES), *find_key(entry))


def _merge(
    old: Iterable[dict[str, Any]],
    new: Iterable[Any],
    key: Callable[[Mapping[str, Any]], Any],
    order: Callable[[Mapping[str, Any]], Any],
) -> tuple[dict[str, Any], ...]:
    rows = {key(row): row for row in (*old, *(entry for entry in new if isinstance(entry, dict)))}
    return tuple(sorted(rows.values(), key=order))


def _log(board: Dashboard, step_key: str, artifact: dict[str, Any]) -> Dashboard:
    entry = artifact.get("revisionLogEntry")
    if not isinstance(entry, str) or not entry:
        return board
    line = {"step": step_key, "entry": entry}
    log = board.revision_log if line in board.revision_log else (*board.revision_log, line)
    return msgspec.structs.replace(board, revision_log=log)


def _triage(board: Dashboard, step_key: str, artifact: dict[str, Any]) -> Dashboard:
    return msgspec.structs.replace(board, header={**board.header, **artifact.get("review", {})})


def _note_changed_files(board: Dashboard, step_key: str, artifact: dict[str, Any]) -> Dashboard:
    old = board.tables["changedFiles"].rows if "changedFiles" in board.tables else ()

    def path(row: Mapping[str, Any]) -> str:
        return str(row.get("path", ""))

    rows = _merge(old, artifact.get("changedFiles", ()), path, path)
    table = DashboardTable("Changed files", "path", ("path", "summary", "risk"), rows)
    return msgspec.structs.replace(board, tables={**board.tables, "changedFiles": table})


def _findings(board: Dashboard, step_key: str, artifact: dict[str, Any]) -> Dashboard:
    return msgspec.structs.replace(
        board,
        findings=_merge(board.findings, artifact.get("findings", ()), find_key, _finding_order),
        comments=_merge(board.comments, artifact.get("mrComments", ()), find_key, find_key),
    )


def _verdict(board: Dashboard, step_key: str, artifact: dict[str, Any]) -> Dashboard:
    header = {name: artifact[name] for name in ("verdict", "confidence", "summary") if name in artifact}
    found = [
        {
            "severity": str(entry.get("severity", "")).capitalize(),
            "title": entry.get("summary", ""),
            **(
                {"location": {"file": _place(entry)[0], "line": _place(entry)[1]}} if _place(entry)[0] else {}
            ),
            **({"rationale": entry["causalLink"]} if "causalLink" in entry else {}),
            **({"suggestion": entry["remediation"]} if "remediation" in entry else {}),
        }
        for entry in artifact.get("findings", ())
        if isinstance(entry, dict)
    ]
    return msgspec.structs.replace(
        board,
        header={**board.header, **header},
        findings=_merge(board.findings, found, find_key, _finding_order),
    )


def _nothing(board: Dashboard, step_key: str, artifact: dict[str, Any]) -> Dashboard:
    return board


Reducer = Callable[[Dashboard, str, dict[str, Any]], Dashboard]
_SHAPES: Final = {known.kind: known.schema for known in REGISTRY.values() if known.schema is not None}
REDUCERS: Final[dict[str, Reducer]] = {
    "mr_review.phase_0_triage": _triage,
    "mr_review.changed_files": _note_changed_files,
    "mr_review.findings": _findings,
    "wr.review_verdict": _verdict,
    "wr.loop_control": _nothing,
}


def reduce(outputs: Iterable[tuple[str, dict[str, Any]]], board: Dashboard | None = None) -> Dashboard:
    """Fold `(step key, artifact)` pairs, in the order they were sent, onto a dashboard."""
    board = board or Dashboard()
    documents = {_identity(each): each for each in board.documents}
    for step_key, artifact in outputs:
        if (reducer := _reducer(artifact)) is not None:
            board = reducer(board, step_key, artifact)
        else:
            sent = Document(step_key, str(artifact.get("kind")), artifact)
            documents.setdefault(_identity(sent), sent)
        board = _log(board, step_key, artifact)
    return msgspec.structs.replace(board, documents=tuple(documents.values()))


def _reducer(artifact: dict[str, Any]) -> Reducer | None:
    """Return the reducer of an output; None if it does not have the form of its kind, since a step
    without a contract takes any."""
    kind = str(artifact.get("kind"))
    if kind not in REDUCERS or (kind in _SHAPES and mismatches(artifact, _SHAPES[kind], "$")):
        return None
    return REDUCERS[kind]


def _identity(document: Document) -> tuple[str, bytes]:
    """Identity of a document: equal outputs of the same step are one document."""
    return document.step, msgspec.json.encode(document.body, order="sorted")


def locate(entry: Mapping[str, Any]) -> str:
    """Return the file and line of a finding or comment; empty if it names none."""
    file, line = _place(entry)
    return f"`{file}:{line}`" if line else f"`{file}`" if file else ""


def add_titles(documents: Iterable[Document]) -> list[tuple[str, Document]]:
    """Return each document with its title: its kind, and its step if several have that kind."""
    every = list(documents)
    of_kind = Counter(each.kind for each in every)
    return [(f"{each.step}: {each.kind}" if of_kind[each.kind] > 1 else each.kind, each) for each in every]


def copy_ready(comment: Mapping[str, Any]) -> str:
    """Write a comment for pasting: place, title, body."""
    title = f"**{comment['title']}**" if comment.get("title") else ""
    head = " ".join(filter(None, (locate(comment), title)))
    return "\n\n".join(filter(None, (head, str(comment.get("body", "")))))
