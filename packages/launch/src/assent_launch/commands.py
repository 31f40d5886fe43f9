"""`assent workspace credits`: what a workspace may spend, for the server's operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from assent.sdk import CommandSession, Failure, WhichWorkspace
from assent_launch.learning import credits

if TYPE_CHECKING:
    from assent.sdk import Services, Transaction, WorkspaceId
    from assent_launch.learning.credits import CreditAccount, CreditEntry

SHOWN_ENTRIES = 20
NO_LIMIT = "none"


def show_credits(
    session: CommandSession,
    workspace: WhichWorkspace,
    limit: Annotated[
        str | None,
        typer.Option("--limit", metavar="N|none", help="Limit it to N from now on; none removes the limit."),
    ] = None,
    grant: Annotated[
        int | None,
        typer.Option(
            "--grant",
            min=1,
            max=credits.MAX_CREDITS,
            help="Add N. A workspace without a limit then has exactly N.",
        ),
    ] = None,
) -> None:
    """Show a workspace's credits and the end of its ledger; --limit and --grant change them
    first."""
    # Imported late: the table of commands is loaded with each of them.
    from assent.sdk import iso_time

    wanted = _amount(limit)

    async def change(
        services: Services, workspace_id: WorkspaceId
    ) -> tuple[WorkspaceId, CreditAccount, tuple[CreditEntry, ...]]:
        now_ms = services.clock.now_ms()

        def begin() -> Transaction[tuple[WorkspaceId, CreditAccount, tuple[CreditEntry, ...]]]:
            if limit is not None:
                yield from credits.limit(workspace_id, wanted, now_ms, by=session.by)
            if grant is not None:
                yield from credits.grant(workspace_id, grant, now_ms, by=session.by)
            had = yield from credits.account(workspace_id)
            return workspace_id, had, (yield from credits.recent(workspace_id, SHOWN_ENTRIES))

        return await services.store.write(begin)

    workspace_id, had, entries = session.in_workspace(workspace, change)
    facts = {
        "can spend": "without limit" if had.available is None else str(had.available),
        "set aside": str(had.reserved),
        "spent": str(had.spent),
    }
    rows = [
        (
            str(each.seq),
            each.kind,
            str(each.amount),
            each.by,
            each.action_id or "",
            iso_time(each.at_ms) or "",
        )
        for each in entries
    ]
    text = session.table(("credits", ""), facts.items())
    columns = ("entry", "kind", "amount", "by", "action", "at")
    session.give(
        _describe_credits(workspace_id, had, entries),
        text + ("\n\n" + session.table(columns, rows) if rows else ""),
    )


def _amount(limit: str | None) -> int | None:
    if limit is None or limit == NO_LIMIT:
        return None
    if not limit.isascii() or not limit.isdigit() or int(limit) > credits.MAX_CREDITS:
        raise Failure(
            f"{limit!r} is not a limit.\nGive a whole number of credits from 0 up, or: --limit none"
        )
    return int(limit)


def _describe_credits(
    workspace_id: WorkspaceId, had: CreditAccount, entries: tuple[CreditEntry, ...]
) -> dict[str, Any]:
    from assent.sdk import iso_time

    return {
        "workspaceId": workspace_id,
        "unlimited": had.unlimited,
        "balance": had.available,
        "reserved": had.reserved,
        "spent": had.spent,
        "entries": [
            {
                "seq": each.seq,
                "kind": each.kind,
                "amount": each.amount,
                "actionId": each.action_id,
                "by": each.by,
                "at": iso_time(each.at_ms),
            }
            for each in entries
        ],
    }
