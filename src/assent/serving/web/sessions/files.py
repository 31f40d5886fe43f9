"""Exporting and importing a session (W68, W71): as a bundle, as Markdown, as a printable page.

An import is bounded and checked completely before anything is stored; the page shows the checker's
own message. No file contains approvals or tokens.
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from assent.engine.core.offloading import run_apart
from assent.engine.workflows import bundles
from assent.engine.workflows import store as stored
from assent.kernel.limits import MAX_BUNDLE_BYTES
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.serving.web.sessions.screens import find_run
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.headers import attach
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.problems import Link, PageProblem, PageRefused
from assent.serving.web.shell.uploads import read_upload
from assent.workflow import bundle as bundle_files
from assent.workflow.bundle import Bundle, BundleRefused
from assent.workflow.text import sessions as session_text

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
NO_FILE: Final = "Choose a file first: a bundle that was exported from a session."

MAX_PRINTED_MARKS: Final = 500_000
"""The printable page has every step. Rendering runs in a thread."""

_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")


async def export(visit: Visit) -> Response:
    """`/sessions/{run_id}/export`: the bundle."""
    made = await _bundle(visit)
    return _download(bundle_files.write(made), f"{_file_name(made)}.assent.json", "application/json")


async def markdown(visit: Visit) -> Response:
    made = await _bundle(visit)
    return _download(_text(made).encode(), f"{_file_name(made)}.md", "text/markdown; charset=utf-8")


async def show_print_page(visit: Visit) -> Response:
    """The whole session on one page, for printing or PDF."""
    made = await _bundle(visit)
    values = {
        "run_id": visit.part("run_id"),
        "session_id": made.session_id,
        "content": Markup(await run_apart(_html, made)),  # noqa: S704 - cleaned by the renderer
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


def _html(made: Bundle) -> str:
    """Render in a thread: a long session would block the event loop."""
    return render(_text(made), most_marks=MAX_PRINTED_MARKS).html


def _text(made: Bundle) -> str:
    return session_text.write_markdown(made, bundles.fold_lineage, lambda ms: iso_time(ms) or "")


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
        return _form(visit, NO_FILE)
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
    # Before the route of a run, which would match `import`.
    Screen("/sessions/import", import_bundle, "sessions", LOOK_AND_SEND),
    Screen("/sessions/{run_id}/export", export, "sessions"),
    Screen("/sessions/{run_id}/markdown", markdown, "sessions"),
    Screen("/sessions/{run_id}/print", show_print_page, "sessions"),
)
