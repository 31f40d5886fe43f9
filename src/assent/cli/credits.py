"""`assent workspace credits`: the balance and the ledger of a workspace's metered actions."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command, timestamp
from assent.cli.workspaces import BY, find_workspace
from assent.engine.actions import credits
from assent.kernel.ids import WorkspaceId
from assent.ports import Transaction
from assent.suite.credits import CreditAccount, CreditEntry

SHOWN = 20
NO_LIMIT = "none"


class EntryView(msgspec.Struct, frozen=True, rename="camel"):
    """One line of the ledger in a JSON answer."""

    seq: int
    kind: str
    amount: int
    action_id: str | None
    by: str
    at: str | None


class CreditsReport(msgspec.Struct, frozen=True, rename="camel"):
    """The JSON answer of `credits`. `balance` is null without a limit."""

    workspace_id: str
    unlimited: bool
    balance: int | None
    reserved: int
    spent: int
    entries: tuple[EntryView, ...]


def show(
    session: CommandSession,
    workspace: Annotated[str, typer.Argument(metavar="ID-OR-NAME", help="Which one.", show_default=False)],
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit", metavar="N|none", help="Let it spend N from now on; none takes the limit away."
        ),
    ] = None,
    grant: Annotated[
        int | None,
        typer.Option(
            "--grant",
            min=1,
            max=credits.MAX_CREDITS,
            help="Add N; one without a limit then has N and no more.",
        ),
    ] = None,
) -> None:
    """Show what a workspace can spend and the end of its ledger; set a limit or add to it first where asked."""
    from assent.app import open_app

    wanted = _amount(limit)

    async def change() -> CreditsReport:
        async with open_app(session.settings) as app:
            found = await find_workspace(app.store, workspace)
            now_ms = app.clock.now_ms()

            def begin() -> Transaction[CreditsReport]:
                if limit is not None:
                    yield from credits.limit(found.workspace_id, wanted, now_ms, by=BY)
                if grant is not None:
                    yield from credits.grant(found.workspace_id, grant, now_ms, by=BY)
                had = yield from credits.account(found.workspace_id)
                lines = yield from credits.recent(found.workspace_id, SHOWN)
                return _view(found.workspace_id, had, lines)

            return await app.store.write(begin)

    view = asyncio.run(change())
    facts = {
        "can spend": "without limit" if view.balance is None else str(view.balance),
        "set aside": str(view.reserved),
        "spent": str(view.spent),
    }
    rows = [
        (str(each.seq), each.kind, str(each.amount), each.by, each.action_id or "", each.at or "")
        for each in view.entries
    ]
    text = session.table(("credits", ""), facts.items())
    columns = ("entry", "kind", "amount", "by", "action", "at")
    session.give(view, text + ("\n\n" + session.table(columns, rows) if rows else ""))


def register(app: typer.Typer) -> None:
    command(app, "credits")(show)


def _amount(limit: str | None) -> int | None:
    if limit is None or limit == NO_LIMIT:
        return None
    if not limit.isascii() or not limit.isdigit() or int(limit) > credits.MAX_CREDITS:
        raise Failure(
            f"{limit!r} is not a limit.\nGive a whole number of credits from 0 up, or: --limit none"
        )
    return int(limit)


def _view(workspace_id: WorkspaceId, had: CreditAccount, lines: tuple[CreditEntry, ...]) -> CreditsReport:
    return CreditsReport(
        workspace_id,
        had.unlimited,
        had.available,
        had.reserved,
        had.spent,
        tuple(
            EntryView(line.seq, line.kind, line.amount, line.action_id, line.by, timestamp(line.at_ms))
            for line in lines
        ),
    )
