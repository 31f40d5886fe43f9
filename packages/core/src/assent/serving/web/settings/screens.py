"""Settings of the signed-in person: name, sessions, colours, shortcuts and phone; and `/workspace`.

The workspace's settings are in `workspace`, other people in `people/screens`.
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from assent.engine.people import members, people
from assent.kernel.limits import MINUTE_MS, SIGN_IN_LINK_TTL_MS
from assent.serving.web.people.people import is_name
from assent.serving.web.shell.console import (
    KEYS_COOKIE,
    LOOK,
    LOOK_AND_SEND,
    PLACE_COOKIE,
    SEND,
    Screen,
    Visit,
)
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
from assent.serving.web.shell.rendering import THEME_COOKIE, THEMES
from assent.serving.web.shell.times import find_zone, list_zones

CHOICE_SECONDS: Final = 365 * 24 * 3600
"""Lifetime of the cookies with a browser's preferences."""


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
        "did": visit.query("did"),
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
        await visit.confirm(form, "Change your name?", text, "Change it", facts)
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


# `/settings/phone`: a QR code that opens the inbox on another device, where one can reach it.
#
# The code has the address alone. A person who confirms gets another one, which signs in one phone once, so that no
# terminal is needed for it.

SIGN_IN: Final = "sign in a phone"
MINUTES: Final = SIGN_IN_LINK_TTL_MS // MINUTE_MS


async def show_phone(visit: Visit) -> Response:
    """Show the code of the inbox; after a confirmed form, a code that signs in."""
    address = visit.services.links.phone_url
    link = ""
    if visit.request.method == "POST":
        if not address:
            raise PageRefused(NOT_FOUND)
        form = await visit.form(SIGN_IN)
        await visit.confirm(
            form,
            "Show a code that signs in your phone?",
            f"The first person who scans it within {MINUTES} minutes decides as you. Scan it yourself, and let no one "
            "look.",
            "Show the code",
        )
        entropy, now_ms = visit.services.entropy(people.ENTROPY_BYTES), visit.now_ms
        facts = {"shownTo": "settings", "by": visit.person.label}
        token = await visit.write(
            lambda: people.new_link(
                visit.person.person_id, entropy, now_ms, ttl_ms=SIGN_IN_LINK_TTL_MS, facts=facts
            )
        )
        link = f"{address}/sign-in/{token}"
    values = {
        "section": "phone",
        "address": f"{address}/inbox" if address else "",
        "code": draw_svg(link or f"{address}/inbox") if address else "",
        "link": link,
        "minutes": MINUTES,
        "nonce": visit.nonce(SIGN_IN),
        "present": visit.services.links.base_url,
    }
    return visit.page("settings_phone.html", values)


def draw_svg(address: str) -> Markup:
    """Return the QR code of an address as SVG, without styles and scripts."""
    import segno

    made = segno.make(address, error="m", micro=False)
    # From our own address; segno draws paths only.
    return Markup(made.svg_inline(scale=6, border=4, dark="#000", light="#fff", omitsize=True))  # noqa: S704


SCREENS: Final = (
    Screen("/workspace", switch, "", SEND),
    Screen("/settings", settings, "settings", LOOK),
    Screen("/settings/look", look, "settings", SEND),
    Screen("/settings/name", rename, "settings", SEND),
    Screen("/settings/zone", zone, "settings", SEND),
    Screen("/settings/devices/{session_id}/end", end_device, "settings", SEND),
    Screen("/settings/sign-out-everywhere", sign_out_everywhere, "settings", SEND),
    Screen("/settings/phone", show_phone, "settings", LOOK_AND_SEND),
)
