"""The command `assent guestbook list`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from acme_guestbook.book import BOOK
from assent.sdk import CommandSession

if TYPE_CHECKING:
    from assent.sdk import Row, Transaction


def list_signatures(
    session: CommandSession,
    most: Annotated[int, typer.Option(help="How many of the newest.")] = 20,
) -> None:
    """List the newest entries of all workspaces."""

    def look() -> Transaction[Sequence[Row]]:
        return (yield BOOK.statements.list_entries(workspace_id="", most=most))

    session.require_data()
    rows = [(row["workspace_id"], row["guest"], row["words"]) for row in session.read(look)]
    columns = ("workspace", "guest", "words")
    session.give([dict(zip(columns, row, strict=True)) for row in rows], session.table(columns, rows))
