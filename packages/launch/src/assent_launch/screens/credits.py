"""The credits of a workspace, among its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from starlette.responses import Response

from assent.sdk import LOOK, NavigationEntry, Screen, Visit
from assent_launch.learning import credits

ENTRIES: Final = 20


async def show_credits(visit: Visit) -> Response:
    """Show the credits of the workspace and its latest entries."""
    account = await visit.read(lambda: credits.account(visit.workspace_id))
    spent = await visit.read(lambda: credits.recent(visit.workspace_id, ENTRIES))
    values = {
        "section": "credits",
        "account": account,
        "spent": [(each, visit.when(each.at_ms)) for each in spent],
    }
    return visit.page("settings_credits.html", values)


SCREENS: Final = (
    Screen(
        "/settings/credits",
        show_credits,
        "settings",
        LOOK,
        entry=NavigationEntry("credits", "/settings/credits", "Credits", "settings", "Settings"),
        templates=Path(__file__).with_name("templates"),
    ),
)
