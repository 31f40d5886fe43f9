"""The audit screens: the journal as sentences, its verification and its export.

Viewing writes nothing. Verification is a button because it reads every event.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from starlette.responses import Response, StreamingResponse

from assent.engine.audit import log as audit_log
from assent.engine.audit import views as audit_views
from assent.engine.audit.log import AuditFinding, Verdict
from assent.engine.audit.views import LAST_MS, AuditCursor
from assent.kernel.ids import SYSTEM_WORKSPACE, is_uuid
from assent.kernel.limits import DAY_MS
from assent.kernel.times import iso_time, parse_time
from assent.serving.web.audit.words import GROUPS, SESSION, audit_lines
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.headers import attach
from assent.serving.web.shell.lists import with_query

EVENTS: Final = 60
FINDINGS_SHOWN: Final = 50
CSV_COLUMNS: Final = ("workspaceId", "streamId", "seq", "at", "kind", "body", "hash")

FLAWS: Final = {
    "event missing": "An event is missing",
    "event altered": "An event was changed",
    "event truncated": "Events at the end are gone",
    "event beyond_head": "There are events after the end",
    "event head_altered": "The end of the chain was changed",
    "stream has no head": "The end of the chain was removed",
    "signed event is gone": "An event that was signed is gone",
}
"""Sentences for findings of `audit_log` that have none of their own."""


async def audit(visit: Visit) -> Response:
    return await _show(visit)


async def _show(visit: Visit, verdict: Verdict | None = None, *, whole_server: bool = False) -> Response:
    group = next((each for each in GROUPS if each.id == visit.query("group")), None)
    stream, until = visit.query("run").strip()[:250], visit.query("until")[:10]
    before = _place(visit.query("before")) or _day_end(until) or AuditCursor()
    kinds = group.kinds if group is not None else ()
    of_server = visit.query("scope") == "server" and visit.person.is_owner
    workspace_id = SYSTEM_WORKSPACE if of_server else visit.workspace_id

    if stream:
        look = partial(audit_views.stream_events, workspace_id, stream)
    else:
        look = partial(audit_views.events, workspace_id)
    found = await visit.read(partial(look, kinds=kinds, before=before, most=EVENTS))
    asked = {
        "group": group.id if group is not None else "",
        "run": stream,
        "until": until,
        "scope": "server" if of_server else "",
    }
    older = found.older
    values = {
        "lines": audit_lines(visit.services.effects, found.events, visit.now_ms),
        "groups": GROUPS,
        "group": asked["group"],
        "stream": stream,
        "until": until,
        "of_server": of_server,
        "is_filtered": any(asked.values()),
        "older": with_query("/audit", {**asked, "before": _write_place(older)}) if older else None,
        "newest": with_query("/audit", asked) if visit.query("before") else None,
        "verify_nonce": visit.nonce("audit-verify"),
        "verdict": verdict,
        "whole_server": whole_server,
        "findings": [finding_words(each) for each in verdict.findings[:FINDINGS_SHOWN]] if verdict else [],
        "is_owner": visit.person.is_owner,
    }
    return visit.page("audit.html", values)


async def verify(visit: Visit) -> Response:
    """Verify every event of the journal."""
    if visit.request.method != "POST":
        return visit.go("/audit")
    fields = await visit.form("audit-verify")
    whole_server = fields.get("scope") == "server"
    if whole_server:
        visit.require_owner()
    verdict = await visit.services.verify_journal(None if whole_server else visit.workspace_id)
    return await _show(visit, verdict, whole_server=whole_server)


def finding_words(finding: AuditFinding) -> dict[str, str]:
    """Describe a verification finding: where the journal is broken, and how."""
    what = FLAWS.get(finding.what, finding.what[:1].upper() + finding.what[1:])
    where = ""
    if finding.stream_id is not None:
        kind = "run" if is_uuid(finding.stream_id) else "stream"
        if finding.stream_id.startswith(SESSION):
            kind = "session"
        where = f"{kind} {finding.stream_id.removeprefix(SESSION)}"
    return {
        "what": what,
        "where": where,
        "event": f"event {finding.seq}" if finding.seq is not None else "",
        "stream": finding.stream_id or "",
    }


async def export(visit: Visit) -> Response:
    """`/audit/export`: stream every event of the workspace."""
    as_csv = visit.query("format") == "csv"
    name = f"assent-audit.{'csv' if as_csv else 'ndjson'}"
    lines = _csv(visit) if as_csv else _ndjson(visit)
    media_type = "text/csv; charset=utf-8" if as_csv else "application/x-ndjson"
    return StreamingResponse(lines, media_type=media_type, headers=attach(name))


async def _ndjson(visit: Visit) -> AsyncIterator[bytes]:
    async for line in audit_log.export(visit.services.store, workspace_id=visit.workspace_id):
        yield line + b"\n"


async def _csv(visit: Visit) -> AsyncIterator[bytes]:
    yield (",".join(CSV_COLUMNS) + "\r\n").encode()
    async for head, events in audit_log.stream_pages(visit.services.store, visit.workspace_id):
        written = io.StringIO()
        lines = csv.writer(written)
        for event in events:
            at, body = iso_time(event.at_ms), escape_csv_cell(event.body)
            lines.writerow(
                (
                    head.workspace_id,
                    escape_csv_cell(head.stream_id),
                    event.seq,
                    at,
                    event.kind,
                    body,
                    event.hash,
                )
            )
        yield written.getvalue().encode()


def escape_csv_cell(text: str) -> str:
    """Escape a CSV cell so that no spreadsheet reads it as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _place(text: str) -> AuditCursor | None:
    at, _, rest = text.partition(":")
    stream_id, _, seq = rest.rpartition(":")
    if not all(part.isascii() and part.isdigit() and len(part) < 20 for part in (at, seq)):
        return None
    return AuditCursor(min(int(at), LAST_MS), stream_id[:300], min(int(seq), LAST_MS))


def _write_place(place: AuditCursor) -> str:
    return f"{place.at_ms}:{place.stream_id}:{place.seq}"


def _day_end(day: str) -> AuditCursor | None:
    start = parse_time(f"{day}T00:00:00Z") if day else None
    return AuditCursor(start + DAY_MS) if start is not None else None


SCREENS: Final = (
    Screen("/audit", audit, "audit"),
    Screen("/audit/verify", verify, "audit", LOOK_AND_SEND),
    Screen("/audit/export", export, "audit"),
)
