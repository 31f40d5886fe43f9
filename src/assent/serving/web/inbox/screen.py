"""The inbox: actions that need the signed-in person, unknown outcomes first, then by risk."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine.views import inbox
from assent.engine.views.inbox import InboxFilter
from assent.gate.views import Severity
from assent.kernel.limits import DAY_MS
from assent.serving.web.inbox.words import EXPIRES_SOON_MS, held_line, inbox_line
from assent.serving.web.shell.console import Screen, Visit
from assent.serving.web.shell.lists import find_page, page_number, whole_number

INBOX_PAGE: Final = 50

MAX_SEARCH_CHARS: Final = 100


def read_filter(visit: Visit) -> tuple[InboxFilter, dict[str, str]]:
    """The filter of a query, and the query parameters that express it."""
    risk, channel, text = (
        visit.query("risk"),
        visit.query("channel"),
        visit.query("q").strip()[:MAX_SEARCH_CHARS],
    )
    workspace = visit.query("workspace")
    known = {place.workspace_id for place in visit.places}
    wanted = InboxFilter(
        workspace=workspace if workspace in known else "",
        severity=Severity(risk) if risk in tuple(Severity) else None,
        until_ms=visit.now_ms + EXPIRES_SOON_MS if visit.query("soon") else 0,
        channel=channel if channel in visit.services.effects.channels else "",
        text=text,
    )
    query = {
        "q": text,
        "risk": wanted.severity.value if wanted.severity is not None else "",
        "channel": wanted.channel,
        "workspace": wanted.workspace,
        "soon": "1" if wanted.until_ms else "",
    }
    return wanted, query


async def show(visit: Visit) -> Response:
    wanted, query = read_filter(visit)
    effects = visit.services.effects
    now_ms = visit.now_ms
    skipped = (page_number(visit.query("page")) - 1) * INBOX_PAGE
    today_ms = now_ms - now_ms % DAY_MS
    found = await visit.read(
        lambda: inbox.read_inbox(visit.person, wanted, (skipped, INBOX_PAGE), today_ms, now_ms)
    )
    lines = [inbox_line(effects, each, now_ms) for each in found.waiting]
    values = {
        "unknown": [inbox_line(effects, each, now_ms) for each in found.unknown],
        "stopped": [inbox_line(effects, each, now_ms) for each in found.stopped],
        "held": [held_line(each, now_ms) for each in found.held],
        "lines": lines,
        "done": [inbox_line(effects, each, now_ms) for each in found.done],
        "found": found.found,
        "pages": find_page(found.found, INBOX_PAGE, visit.query("page"), "/inbox", query),
        "query": query,
        "filtered": wanted != InboxFilter(),
        "channels": sorted(visit.services.effects.channels.items(), key=lambda each: each[1]),
        "done_together": _describe_batch(visit),
        "batches": any(line["batch"] for line in lines),
        "batch_nonce": visit.nonce("batch"),
    }
    return visit.page("inbox.html", values)


def _describe_batch(visit: Visit) -> str:
    count, did = whole_number(visit.query("count"), 3), visit.query("did")
    if did not in _DID or count is None:
        return ""
    return f"{count} {_DID[did]}."


_DID: Final = {"approve": "approved", "reject": "rejected", "release": "released; each waits below"}


SCREENS: Final = (Screen("/inbox", show, "inbox"),)
