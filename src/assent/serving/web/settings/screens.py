"""Settings of the signed-in person: name, sessions, colours and shortcuts; and `/workspace`.

The workspace's settings are in `workspace`, other people in `people/screens`.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.engine.people import members, people
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.people.people import is_name
from assent.serving.web.shell.console import KEYS_COOKIE, LOOK, PLACE_COOKIE, SEND, Screen, Visit
from assent.serving.web.shell.rendering import THEME_COOKIE, THEMES
from assent.serving.web.shell.times import find_zone, list_zones

CHOICE_SECONDS: Final = 365 * 24 * 3600
"""Lifetime of the cookies with a browser's preferences."""

SAID: Final = {
    "look": "Saved for this browser.",
    "name": "Your decisions are signed with this name from now on.",
    "zone": "Times are shown in this zone from now on.",
    "device": "That browser is signed out.",
}


async def switch(visit: Visit) -> Response:
    form = await visit.form("workspace")
    wished, then = form.get("workspace", ""), form.get("then", "")
    response = visit.go(then if then.startswith("/") and not then.startswith(("//", "/\\")) else "/inbox")
    if any(wished == place.workspace_id for place in visit.places):
        visit.cookies.keep(response, PLACE_COOKIE, wished, CHOICE_SECONDS)
    return response


async def settings(visit: Visit) -> Response:
    """Show the person, their sessions and the preferences of this browser."""
    found = await visit.read(lambda: members.devices(visit.person.person_id, visit.now_ms))
    values = {
        "section": "you",
        "nonce": visit.nonce("settings"),
        "said": SAID.get(visit.query("did"), ""),
        "devices": [
            (each, visit.when(each.created_ms), each.session_id == visit.session.session_id) for each in found
        ],
        "advice": {},
        "name": visit.person.name,
        "zone": visit.person.zone,
        "zones": list_zones(),
        "time_now": visit.when(visit.now_ms),
    }
    return visit.page("settings.html", values)


async def look(visit: Visit) -> Response:
    """Store the colours and shortcuts of this browser."""
    form = await visit.form("settings")
    response = visit.go("/settings?did=look")
    theme = form.get("theme", "")
    visit.cookies.keep(response, THEME_COOKIE, theme if theme in THEMES else "", CHOICE_SECONDS)
    visit.cookies.keep(response, KEYS_COOKIE, "on" if form.get("keys") == "on" else "off", CHOICE_SECONDS)
    return response


async def zone(visit: Visit) -> Response:
    """Store the time zone in which the person reads times."""
    form = await visit.form("settings")
    chosen = find_zone(form.get("zone", ""))
    await visit.write(lambda: people.set_zone(visit.person.person_id, chosen))
    return visit.go("/settings?did=zone")


async def rename(visit: Visit) -> Response:
    """Change the name that signs the person's decisions."""
    form = await visit.form("settings")
    name = " ".join(form.get("name", "").split())
    if is_name(name):
        text = "Your decisions are recorded under this name from then on."
        facts = (("Now", visit.person.name), ("Then", name))
        await visit.confirm(form, Consequence("Change your name?", text, "Change it", facts))
        await visit.write(lambda: people.choose_name(visit.person, name, visit.now_ms))
        return visit.go("/settings?did=name")
    return visit.go("/settings")


async def end_device(visit: Visit) -> Response:
    """Sign out another browser of the same person."""
    await visit.form("settings")
    session_id = visit.part("session_id")
    await visit.write(lambda: members.end_device(visit.person.person_id, session_id, visit.now_ms))
    return visit.go("/settings?did=device")


async def sign_out_everywhere(visit: Visit) -> Response:
    """End every session of the person, including this one."""
    await visit.form("settings")
    await visit.write(lambda: people.sign_out_everywhere(visit.person.person_id, visit.now_ms))
    response = visit.go("/sign-in")
    visit.cookies.forget(response, visit.cookies.session)
    return response


SCREENS: Final = (
    Screen("/workspace", switch, "", SEND),
    Screen("/settings", settings, "settings", LOOK),
    Screen("/settings/look", look, "settings", SEND),
    Screen("/settings/name", rename, "settings", SEND),
    Screen("/settings/zone", zone, "settings", SEND),
    Screen("/settings/devices/{session_id}/end", end_device, "settings", SEND),
    Screen("/settings/sign-out-everywhere", sign_out_everywhere, "settings", SEND),
)
