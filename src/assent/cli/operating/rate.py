"""`assent workspace rate`: how many calls a workspace may make in a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.failures import Failure
from assent.cli.session import CommandSession, command
from assent.cli.workspaces import BY, find_workspace

if TYPE_CHECKING:
    from assent.app import App


def rate(
    session: CommandSession,
    workspace: Annotated[
        str, typer.Argument(metavar="ID-OR-NAME", help="The workspace.", show_default=False)
    ],
    per_minute: Annotated[
        int | None, typer.Option("--per-minute", metavar="N", min=1, help="Calls in a minute.")
    ] = None,
    default: Annotated[
        bool, typer.Option("--default", help="As many as the settings of the server say.")
    ] = False,
) -> None:
    """Let a workspace make more or fewer calls in a minute than the settings say. It holds for the next call."""
    from assent.engine.core import tenancy

    if (per_minute is None) is not default:
        raise Failure(
            "Say how many: --per-minute N, or --default for as many as the settings of the server say."
        )
    session.require_data()

    async def change(app: App) -> str:
        found = await find_workspace(app, workspace)
        now_ms = app.clock.now_ms()
        await app.store.write(lambda: tenancy.set_rate(found.workspace_id, per_minute, now_ms, by=BY))
        return found.name

    name = session.use_app(change)
    most = per_minute or session.settings.rate_limit_per_minute
    session.give(
        {"workspace": name, "perMinute": most, "isDefault": per_minute is None},
        f"The workspace {name!r} may make {most} calls in a minute.",
    )


def register(app: typer.Typer) -> None:
    command(app, "rate")(rate)
