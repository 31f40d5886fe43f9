"""The QR code by which a phone opens the pages, on the terminal of the person who runs the server."""

from __future__ import annotations

import io

from assent.app import App
from assent.processes import owner_link
from assent.settings.reaching import phone_url


def draw_code(address: str) -> str:
    """Return the QR code of an address, for a terminal."""
    import segno

    drawn = io.StringIO()
    segno.make(address, error="m", micro=False).terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue()


async def invite_phone(app: App) -> str:
    """Return the text for a terminal: a code that signs in the owner's phone once. Empty if no phone
    can reach this server."""
    address = phone_url(app.settings)
    if not address:
        return ""
    link = await owner_link.make(app, shown_to="terminal", address=address)
    return f"\n\nTo decide on your phone, scan this (works once, for {owner_link.LIFE}):\n\n{draw_code(link)}"
