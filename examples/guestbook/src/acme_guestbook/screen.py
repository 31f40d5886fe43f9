"""The screen of the console: the newest entries of the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acme_guestbook.book import BOOK
from assent.sdk import NavigationEntry, Screen, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from assent.sdk import Row, Transaction

MOST: Final = 100


async def show(visit: Visit) -> Response:
    def look() -> Transaction[Sequence[Row]]:
        return (yield BOOK.statements.list_entries(workspace_id=visit.workspace_id, most=MOST))

    entries = [
        {"guest": row["guest"], "words": row["words"], "at": visit.when(row["signed_ms"])}
        for row in await visit.read(look)
    ]
    return visit.page("guestbook.html", {"entries": entries})


SCREEN: Final = Screen(
    "/guestbook",
    show,
    "guestbook",
    entry=NavigationEntry("guestbook", "/guestbook", "Guest book", "post", "Acme"),
    templates=Path(__file__).with_name("templates"),
)
