"""`/settings/phone`: a QR code that opens the inbox on another device, where one can reach it.

The code has the address alone. A person who scans it still has to sign in.
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from assent.serving.web.shell.console import LOOK, Screen, Visit


async def show_phone(visit: Visit) -> Response:
    address = visit.services.links.phone_url
    values = {
        "section": "phone",
        "address": f"{address}/inbox" if address else "",
        "code": draw_svg(f"{address}/inbox") if address else "",
        "present": visit.services.links.base_url,
        "make": visit.services.links.shell_command("cert"),
        "link": visit.services.links.shell_command("owner-link"),
    }
    return visit.page("settings_phone.html", values)


def draw_svg(address: str) -> Markup:
    """Return the QR code of an address as SVG, without styles and scripts."""
    import segno

    made = segno.make(address, error="m", micro=False)
    # From our own address; segno draws paths only.
    return Markup(made.svg_inline(scale=6, border=4, dark="#000", light="#fff", omitsize=True))  # noqa: S704


SCREENS: Final = (Screen("/settings/phone", show_phone, "settings", LOOK),)
