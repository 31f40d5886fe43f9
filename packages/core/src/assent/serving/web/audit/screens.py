"""The audit screens: the journal as sentences, its verification and its export.

Viewing writes nothing. Verification is a button because it reads every event.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from itertools import groupby
from typing import Any, Final

from starlette.responses import Response, StreamingResponse

from assent.engine.audit import copies
from assent.engine.audit import log as audit_log
from assent.engine.audit import views as audit_views
from assent.engine.audit.views import LAST_MS, AuditCursor, EventPage
from assent.engine.views import names
from assent.engine.views.names import ShownNames
from assent.gate.audit import AuditFinding, Verdict
from assent.kernel.ids import SYSTEM_WORKSPACE, is_uuid
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.serving.web.audit.lines import SESSION, audit_lines, list_groups
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.headers import attach
from assent.serving.web.shell.lists import (
    MOST_PER_DAY,
    day_bounds,
    draw_days,
    preset_links,
    read_range,
    with_query,
)

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


async def audit(visit: Visit, verdict: Verdict | None = None, *, whole_server: bool = False) -> Response:
    group = next((each for each in list_groups() if each.id == visit.query("group")), None)
    stream, search = visit.query("run").strip()[:250], visit.query("q").strip()[:200]
    days = read_range(visit.query, visit.now_ms)
    period = days.period()
    before = _place(visit.query("before")) or AuditCursor(
        period.until_ms if period.until_ms is not None else LAST_MS
    )
    of_server = visit.query("scope") == "server" and visit.person.is_owner
    workspace_id = SYSTEM_WORKSPACE if of_server else visit.workspace_id

    def look() -> Transaction[tuple[EventPage, ShownNames, list[int], int | None]]:
        wanted: dict[str, Any] = {
            "kinds": group.kinds if group is not None else (),
            "before": before,
            "since_ms": period.since_ms,
            "most": EVENTS,
        }
        if stream:
            found = yield from audit_views.stream_events(workspace_id, stream, **wanted)
        else:
            found = yield from audit_views.events(workspace_id, **wanted, search=search)
        named = yield from names.read_event_names(workspace_id, found.events)
        counts = yield from audit_views.count_days(workspace_id, day_bounds(days.shown_days()), MOST_PER_DAY)
        uncopied_ms = (yield from copies.find_overdue(visit.now_ms)) if visit.person.is_owner else None
        return found, named, counts, uncopied_ms

    found, named, counts, uncopied_ms = await visit.read(look)
    kept = {
        "q": search,
        "group": group.id if group is not None else "",
        "run": stream,
        "scope": "server" if of_server else "",
    }
    asked = {**kept, **days.query}
    older = found.older
    cut_short = bool(search) and older is not None and len(found.events) < EVENTS
    lines = audit_lines(visit.services.effects, found.events, named, visit.now_ms)
    values = {
        "by_day": [(day, list(each)) for day, each in groupby(lines, key=lambda line: line["at"].day)],
        "groups": [
            {
                "label": label,
                "href": with_query("/audit", {**asked, "group": id}),
                "chosen": id == kept["group"],
            }
            for id, label in (("", "Everything"), *((each.id, each.label) for each in list_groups()))
        ],
        "kept": kept,
        "search": search,
        "stream": stream,
        "run_name": named.runs.get(stream, ("", ""))[0],
        "days": draw_days(days, counts, "/audit", kept),
        "presets": preset_links(days, "/audit", kept),
        "dates": days.query,
        "period": days.describe(),
        "zone": visit.person.zone.replace("_", " ") or "UTC",
        "of_server": of_server,
        "is_filtered": any(asked.values()),
        "older": with_query("/audit", {**asked, "before": _write_place(older)}) if older else None,
        "older_label": "Search further back" if cut_short else "Older events",
        "newest": with_query("/audit", asked) if visit.query("before") else None,
        "verify_nonce": visit.nonce("audit-verify"),
        "verdict": verdict,
        "whole_server": whole_server,
        "findings": [finding_words(each) for each in verdict.findings[:FINDINGS_SHOWN]] if verdict else [],
        "is_owner": visit.person.is_owner,
        "uncopied": visit.when(uncopied_ms),
        "copy_command": visit.services.links.shell_command(*copies.COMMAND),
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
    return await audit(visit, verdict, whole_server=whole_server)


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


SCREENS: Final = (
    Screen("/audit", audit, "audit"),
    Screen("/audit/verify", verify, "audit", LOOK_AND_SEND),
    Screen("/audit/export", export, "audit"),
)
