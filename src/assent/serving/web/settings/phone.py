"""`/settings/phone`: a QR code that opens the inbox on another device, where one can reach it.

The code has the address alone. A person who confirms gets another one, which signs in one phone once, so that no
terminal is needed for it.
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from assent.engine.people import people
from assent.kernel.limits import MINUTE_MS, SIGN_IN_LINK_TTL_MS
from assent.serving.web.people.confirming import Consequence
from assent.serving.web.shell.console import LOOK_AND_SEND, Screen, Visit
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused

SIGN_IN: Final = "sign in a phone"
MINUTES: Final = SIGN_IN_LINK_TTL_MS // MINUTE_MS
SURE: Final = Consequence(
    "Show a code that signs in your phone?",
    (
        f"The first person who scans it within {MINUTES} minutes decides as "
        "you. Scan it yourself, and let no one look."
    ),
    "Show the code",
)


async def show_phone(visit: Visit) -> Response:
    """Show the code of the inbox; after a confirmed form, a code that signs in."""
    address = visit.services.links.phone_url
    link = ""
    if visit.request.method == "POST":
        if not address:
            raise PageRefused(NOT_FOUND)
        form = await visit.form(SIGN_IN)
        await visit.confirm(form, SURE)
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


SCREENS: Final = (Screen("/settings/phone", show_phone, "settings", LOOK_AND_SEND),)
