"""Settings of the person who looks, and of the workspace: the screens under `/settings`, and `/workspace`."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.serving.web.console import KEYS_COOKIE, LOOK, PLACE_COOKIE, SEND, Screen, Visit
from assent.serving.web.rendering import THEME_COOKIE, THEMES

CHOICE_SECONDS: Final = 365 * 24 * 3600
"""What somebody chose for their browser is kept for a year."""


async def switch(visit: Visit) -> Response:
    """Look at another workspace."""
    form = await visit.form("workspace")
    wished, then = form.get("workspace", ""), form.get("then", "")
    response = visit.go(then if then.startswith("/") and not then.startswith(("//", "/\\")) else "/inbox")
    if any(wished == place.workspace_id for place in visit.places):
        visit.cookies.keep(response, PLACE_COOKIE, wished, CHOICE_SECONDS)
    return response


async def settings(visit: Visit) -> Response:
    """What can be changed, by subject."""
    return visit.page("settings.html", {"nonce": visit.nonce("settings")})


async def look(visit: Visit) -> Response:
    """Colours and keys of this browser."""
    form = await visit.form("settings")
    response = visit.go("/settings?did=look")
    theme = form.get("theme", "")
    visit.cookies.keep(response, THEME_COOKIE, theme if theme in THEMES else "", CHOICE_SECONDS)
    visit.cookies.keep(response, KEYS_COOKIE, "on" if form.get("keys") == "on" else "off", CHOICE_SECONDS)
    return response


SCREENS: Final[tuple[Screen, ...]] = (
    Screen("/workspace", switch, "", SEND),
    Screen("/settings", settings, "settings", LOOK),
    Screen("/settings/look", look, "settings", SEND),
)
