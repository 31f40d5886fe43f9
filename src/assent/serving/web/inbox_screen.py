"""The inbox: what needs whoever is signed in."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine import review
from assent.kernel.ids import is_uuid
from assent.serving.web.console import Screen, Visit
from assent.serving.web.people_words import inbox_line

INBOX_PAGE: Final = 50
"""Lines of one page of the inbox."""


async def inbox(visit: Visit) -> Response:
    """What waits for a human."""
    given = visit.query("after")
    after = given if is_uuid(given) else ""
    found = await visit.read(lambda: review.inbox(after, INBOX_PAGE, visit.now_ms))
    values = {
        "count": found.count,
        "unknown": [inbox_line(each, visit.now_ms) for each in found.unknown],
        "lines": [inbox_line(each, visit.now_ms) for each in found.waiting],
        "after": found.after,
        "first_page": not after,
    }
    return visit.page("people_inbox.html", values)


SCREENS: Final[tuple[Screen, ...]] = (Screen("/inbox", inbox, "inbox"),)
