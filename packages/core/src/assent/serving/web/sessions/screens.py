"""Workflow sessions (S2): the list, a run with its branch graph, its outputs as a review, two branches
compared, the timeline, notes, export and import.

Every run is looked up by its id in the current workspace; all missing ones get the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response

from assent.engine.audit.views import LAST_MS
from assent.engine.core.offloading import run_apart
from assent.engine.views import session_views
from assent.engine.views.session_views import RunView, SessionRunLine, StepView, Timeline
from assent.engine.workflows import bundles
from assent.engine.workflows import store as stored
from assent.engine.workflows.store import SessionNote
from assent.kernel.ids import is_uuid
from assent.kernel.limits import MAX_BUNDLE_BYTES, MAX_NOTES_BYTES
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.serving.web.sessions import graph as session_graph
from assent.serving.web.sessions.cards import (
    START_TITLE,
    count,
    describe_comparison,
    graph_row,
    node_title,
    render_text,
    results,
    run_badge,
    step_card,
)
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.forms import read_upload
from assent.serving.web.shell.headers import attach
from assent.serving.web.shell.lists import whole_number
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.serving.web.shell.times import short_span
from assent.workflow import bundle as bundle_files
from assent.workflow import text
from assent.workflow.bundle import Bundle, BundleRefused

SESSIONS: Final = 25

COMPARED_STEPS: Final = 20
"""Steps of each branch that are compared: the last ones since the fork."""

NOTES_SHOWN: Final = 20
"""Notes on a session's page: the latest ones. The export has all of them."""

NO_SUCH_RUN: Final = PageProblem(
    404,
    "There is no such run",
    "It is not in the workspace you look at, or it was removed after its time.",
    "Look for it among the workflows.",
    Link("/sessions", "All workflows"),
)
NO_SUCH_STEP: Final = PageProblem(
    404,
    "There is no such step",
    "This run has no step of that number.",
    "Open the run and choose a step there.",
    Link("/sessions", "All workflows"),
)
NOTE_ADVICE: Final = f"Write something, in at most {MAX_NOTES_BYTES // 1024} KB."


async def sessions(visit: Visit) -> Response:
    search = visit.query("q")[:200]
    updated, _, name = visit.query("before").partition(":")
    updated_ms = whole_number(updated, 15)
    before = (updated_ms, name) if updated_ms is not None else (LAST_MS, "")
    found = await visit.read(
        lambda: session_views.sessions(visit.workspace_id, text=search, before=before, most=SESSIONS)
    )
    last = found.sessions[-1] if found.sessions else None
    values = {
        "search": search,
        "is_first": before[0] == LAST_MS,
        "older": f"{last.updated_ms}:{last.session_id}" if found.more and last is not None else None,
        "sessions": [
            {
                "line": line,
                "updated": visit.when(line.updated_ms),
                "runs": [{"line": run, "badge": run_badge(run, visit.now_ms)} for run in line.runs],
                "counted": count(line.run_count, "run"),
            }
            for line in found.sessions
        ],
        "counted": count,
    }
    return visit.page("sessions.html", values)


async def run(visit: Visit, *, note: str = "", advice: str = "", status: int = 200) -> Response:
    """`/sessions/{run_id}`: one run of a session, and one of its steps."""
    wanted = whole_number(visit.query("node"))

    def look() -> Transaction[tuple[RunView, StepView]]:
        view = yield from find_run(visit)
        step = yield from session_views.step(
            visit.workspace_id, view.run, view.tip if wanted is None else wanted
        )
        if step is None:
            raise PageRefused(NO_SUCH_STEP)
        return view, step

    view, step = await visit.read(look)
    opened = frozenset(
        number for text in visit.query("open").split(",")[:20] if (number := whole_number(text)) is not None
    )
    graph = session_graph.layout(
        view.nodes, view.tip, step.node, opened=opened, first=whole_number(visit.query("row"))
    )
    values = {
        **_session(visit, view),
        "card": step_card(view, step, visit.now_ms),
        "graph": graph,
        "drawing": session_graph.draw(graph),
        "overview": session_graph.draw_overview(graph),
        "rows": [graph_row(row, view, step.node, visit.now_ms) for row in graph.rows],
        "opened": ",".join(str(number) for number in sorted(opened)),
        "leaves": leaves(view),
        "tip": view.tip,
        "notes": [
            {
                "author": each.author,
                "at": visit.when(each.created_ms),
                "text": render_text(each.notes),
            }
            for each in view.notes[-NOTES_SHOWN:]
        ],
        "older_notes": max(0, len(view.notes) - NOTES_SHOWN),
        "note": note,
        "advice": advice,
        "note_nonce": visit.nonce(f"session-note {view.run.run_id}"),
        "node_title": node_title,
        "start_title": START_TITLE,
    }
    return visit.page("session_run.html", values, status=status)


def find_run(visit: Visit) -> Transaction[RunView]:
    """The run named in the URL. All missing runs get the same answer."""
    run_id = visit.part("run_id")
    view = (yield from session_views.run(visit.workspace_id, run_id)) if is_uuid(run_id) else None
    if view is None:
        raise PageRefused(NO_SUCH_RUN)
    return view


def _session(visit: Visit, view: RunView) -> dict[str, Any]:
    """The template values that every page of a session needs."""
    own = next(line for line in view.siblings if line.run_id == view.run.run_id)
    return {
        "run": view.run,
        "started": visit.when(view.run.created_ms),
        "updated": visit.when(view.run.updated_ms),
        "siblings": [
            {
                "line": line,
                "badge": run_badge(line, visit.now_ms),
                "branches": count(line.branches, "branch", "branches"),
                "started": visit.when(line.created_ms),
                "steps": count(line.nodes - 1, "step"),
            }
            for line in view.siblings
        ],
        "run_count": view.run_count,
        "own": own,
        "badge": run_badge(own, visit.now_ms),
        "progress": describe_progress(view, own.is_complete),
        "has_outputs": view.outputs,
        "counted": count,
    }


def describe_progress(view: RunView, is_complete: bool) -> str:
    """`Step 4 of about 7`; empty where loops made the way longer than the definition."""
    done = len(session_views.find_path(view.nodes, view.tip)) - 1
    if is_complete or done >= view.planned:
        return count(done, "step")
    return f"Step {done + 1} of about {view.planned}"


def leaves(view: RunView) -> list[tuple[int, str]]:
    """The ends of the branches with their names, latest first."""
    numbers = session_graph.number_branches(view.nodes, view.tip)
    parents = {each.parent for each in view.nodes}
    ends = [each for each in view.nodes if each.node not in parents]
    ends.sort(key=lambda each: (-each.latest, -each.node))
    return [
        (
            each.node,
            f"Branch {numbers.get(each.node, 1)}, {'current' if each.node == view.tip else 'abandoned'}:"
            f" {node_title(each)}",
        )
        for each in ends[:200]
    ]


async def add_note(visit: Visit) -> Response:
    fields = await visit.form(f"session-note {visit.part('run_id')}")
    text = fields.get("notes", "").strip()
    if not text or len(text.encode()) > MAX_NOTES_BYTES:
        return await run(visit, note=text, advice=NOTE_ADVICE, status=400)
    note = SessionNote(visit.services.new_id(visit.now_ms), visit.person.label, text, visit.now_ms)

    def keep() -> Transaction[None]:
        view = yield from find_run(visit)
        yield from stored.add_note(visit.workspace_id, view.run.session_id, note)

    await visit.write(keep)
    return visit.go(f"/sessions/{visit.part('run_id')}#session-notes")


async def compare(visit: Visit) -> Response:
    run_id = visit.part("run_id")
    left, right = whole_number(visit.query("a")), whole_number(visit.query("b"))

    def look() -> Transaction[session_views.Comparison]:
        view = yield from find_run(visit)
        ends = [number for number, _ in leaves(view)]
        a = left if left is not None else view.tip
        b = right if right is not None else next((n for n in ends if n != a), a)
        found = yield from session_views.compare(visit.workspace_id, run_id, a, b, COMPARED_STEPS)
        if found is None:
            raise PageRefused(NO_SUCH_STEP)
        return found

    found = await visit.read(look)
    values = {
        **_session(visit, found.view),
        "leaves": leaves(found.view),
        "left": found.left.end,
        "right": found.right.end,
        "tip": found.view.tip,
        "common": found.common,
        "compared": await run_apart(describe_comparison, found),
        "node_title": node_title,
        "start_title": START_TITLE,
    }
    return visit.page("session_compare.html", values)


async def review(visit: Visit) -> Response:
    """`/sessions/{run_id}/review`: the outputs of a run as one page: header, files, findings, log."""
    wanted = whole_number(visit.query("node"))

    def look() -> Transaction[tuple[RunView, int, tuple[tuple[str, dict[str, Any]], ...]]]:
        view = yield from find_run(visit)
        end = view.tip if wanted is None else wanted
        if end not in {each.node for each in view.nodes}:
            raise PageRefused(NO_SUCH_STEP)
        return view, end, (yield from session_views.outputs(visit.workspace_id, view, end))

    view, end, sent = await visit.read(look)
    values = {
        **_session(visit, view),
        "end": end,
        "leaves": leaves(view),
        "results": await run_apart(results, sent),
    }
    return visit.page("session_review.html", values)


async def timeline(visit: Visit) -> Response:
    """All runs of the session in chronological order."""
    run_id = visit.part("run_id")

    def look() -> Transaction[Timeline]:
        found = (yield from session_views.timeline(visit.workspace_id, run_id)) if is_uuid(run_id) else None
        if found is None:
            raise PageRefused(NO_SUCH_RUN)
        return found

    found = await visit.read(look)
    runs = tuple(line.run_id for line in found.view.siblings)
    shown = session_graph.page(found.steps, found.notes, runs, visit.now_ms, whole_number(visit.query("row")))
    lines: dict[str, SessionRunLine] = {line.run_id: line for line in found.view.siblings}
    values = {
        **_session(visit, found.view),
        "page": shown,
        "drawing": shown.drawing,
        "tries": [(each, short_span(each.took_ms)) for each in session_graph.count_tries(found.steps)],
        "rows": [
            {
                "row": row,
                "line": lines.get(row.step.run_id) if row.step is not None else None,
                "lane": runs.index(row.step.run_id) if row.step is not None else 0,
                "took": _describe_length(row.step, visit.now_ms) if row.step is not None else "",
                "refused": sum(each.kind == "refused" for each in row.step.marks) if row.step else 0,
                "at": visit.when(row.at_ms),
            }
            for row in shown.rows
        ],
    }
    return visit.page("session_timeline.html", values)


def _describe_length(step: session_views.TimedStep, now_ms: int) -> str:
    if step.kind == "started":
        return ""
    return short_span((now_ms if step.ended_ms is None else step.ended_ms) - step.started_ms)


# Exporting and importing a session (W68, W71): as a bundle, as Markdown, as a printable page.
#
# An import is bounded and checked completely before anything is stored; the page shows the checker's
# own message. No file contains approvals or tokens.

TOO_LARGE: Final = PageProblem(
    413,
    "This file is too large",
    f"A session of at most {MAX_BUNDLE_BYTES // 1_048_576} MB can be imported here. Nothing was stored.",
    "Import it on the computer of the server: assent session import FILE",
    Link("/sessions/import", "Back"),
)
TAMPERED: Final = PageProblem(
    409,
    "This session cannot be exported",
    "The stored data of this session differs from its event log, so an export would be no proof.",
    "Open the audit log to see where it was changed.",
    Link("/audit", "Open the audit log"),
)

MAX_PRINTED_MARKS: Final = 500_000
"""The printable page has every step. Rendering runs in a thread."""

_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")


async def export(visit: Visit) -> Response:
    """`/sessions/{run_id}/export`: the bundle."""
    made = await _bundle(visit)
    return _download(bundle_files.write(made), f"{_file_name(made)}.assent.json", "application/json")


async def markdown(visit: Visit) -> Response:
    made = await _bundle(visit)
    raw = _text(made, lambda ms: iso_time(ms) or "").encode()
    return _download(raw, f"{_file_name(made)}.md", "text/markdown; charset=utf-8")


async def show_print_page(visit: Visit) -> Response:
    """The whole session on one page, for printing or PDF."""
    made = await _bundle(visit)
    values = {
        "run_id": visit.part("run_id"),
        "session_id": made.session_id,
        "content": Markup(await run_apart(_html, made, lambda ms: visit.when(ms).text)),  # noqa: S704 - cleaned by the renderer
    }
    return visit.page("session_print.html", values)


async def _bundle(visit: Visit) -> Bundle:
    def take() -> Transaction[Bundle | None]:
        view = yield from find_run(visit)
        return (yield from bundles.export(visit.workspace_id, view.run.session_id, visit.now_ms))

    try:
        made = await visit.read(take)
    except stored.Tampered:
        raise PageRefused(TAMPERED) from None
    assert made is not None  # noqa: S101 - the session of a run that was just found
    return made


def _html(made: Bundle, tell: Callable[[int], str]) -> str:
    """Render in a thread: a long session would block the event loop."""
    return render(_text(made, tell), most_marks=MAX_PRINTED_MARKS).html


def _text(made: Bundle, tell: Callable[[int], str]) -> str:
    return text.write_markdown(made, bundles.fold_lineage, tell)


def _file_name(made: Bundle) -> str:
    """A file name that is valid on every system."""
    return _ODD.sub("-", made.session_id).strip("-.")[:60] or "session"


def _download(content: bytes, name: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers=attach(name))


async def import_bundle(visit: Visit) -> Response:
    """`/sessions/import`: show the form; on POST, import the bundle."""
    if visit.request.method != "POST":
        return _form(visit)
    sent = await read_upload(visit.request, MAX_BUNDLE_BYTES, TOO_LARGE)
    nonce, about = sent.fields.get("nonce", ""), f"{visit.session.session_id} session-import"
    visit.nonces.check(visit.request, nonce, about, visit.now_ms)
    raw = sent.files.get("bundle", b"")
    if not raw:
        return _form(visit, "Choose a file first: a bundle that was exported from a session.")
    try:
        made = await run_apart(bundle_files.read, raw)
        digest, keys = bundle_files.digest_of(raw), visit.services.keys.workflow_tokens
        done = await visit.write(
            lambda: bundles.import_session(
                visit.workspace_id, made, digest, keys, visit.services.new_id, visit.now_ms
            )
        )
    except BundleRefused as refused:
        return _form(visit, str(refused))
    return visit.go(f"/sessions/{done.runs[0]}?imported=1" if done.runs else "/sessions")


def _form(visit: Visit, wrong: str = "") -> Response:
    values = {
        "nonce": visit.nonce("session-import"),
        "wrong": wrong,
        "most_mb": MAX_BUNDLE_BYTES // 1_048_576,
    }
    return visit.page("session_import.html", values, status=400 if wrong else 200)


SCREENS: Final = (
    # Files first: the route of a run would match `/sessions/import`.
    Screen("/sessions/import", import_bundle, "sessions", LOOK_AND_SEND),
    Screen("/sessions/{run_id}/export", export, "sessions"),
    Screen("/sessions/{run_id}/markdown", markdown, "sessions"),
    Screen("/sessions/{run_id}/print", show_print_page, "sessions"),
    Screen("/sessions", sessions, "sessions"),
    Screen("/sessions/{run_id}", run, "sessions"),
    Screen("/sessions/{run_id}/notes", add_note, "sessions", LOOK_AND_SEND[1:]),
    Screen("/sessions/{run_id}/compare", compare, "sessions"),
    Screen("/sessions/{run_id}/review", review, "sessions"),
    Screen("/sessions/{run_id}/timeline", timeline, "sessions"),
)
