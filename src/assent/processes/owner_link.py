"""Creates the owner's sign-in link, for anyone who can run commands on the server's data.

Shown on a terminal only, because an agent that starts the server or runs the command reads pipes.
If it is written to a pipe on request, the journal records that.
"""

from __future__ import annotations

import io
from typing import Literal

from assent.app import App
from assent.engine.people import people
from assent.kernel.limits import MINUTE_MS, SIGN_IN_LINK_TTL_MS
from assent.settings.reaching import phone_url

ShownTo = Literal["terminal", "pipe"]

LIFE = f"{SIGN_IN_LINK_TTL_MS // MINUTE_MS} minutes"


async def make(app: App, *, shown_to: ShownTo, name: str | None = None, address: str | None = None) -> str:
    """Create a new link at the pages' address."""
    entropy, now_ms = app.services.entropy(people.ENTROPY_BYTES), app.clock.now_ms()
    token = await app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to=shown_to, name=name))
    return f"{address or app.settings.base_url}/sign-in/{token}"


# The QR code by which a phone opens the pages, on the terminal of the person who runs the server.


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
    link = await make(app, shown_to="terminal", address=address)
    return f"\n\nTo decide on your phone, scan this (works once, for {LIFE}):\n\n{draw_code(link)}"
