"""The link by which the owner of a server signs in, made by whoever can run commands on its data.

Shown to a terminal only: an agent that starts the server, or runs the command, reads pipes. Where somebody asks for
it behind a pipe all the same, the journal says so.
"""

from __future__ import annotations

from typing import Literal

from assent.app import App
from assent.engine.people import people
from assent.kernel.limits import MINUTE_MS, SIGN_IN_LINK_TTL_MS

ShownTo = Literal["terminal", "pipe"]

LIFE = f"{SIGN_IN_LINK_TTL_MS // MINUTE_MS} minutes"


async def make(app: App, *, shown_to: ShownTo, name: str | None = None, address: str | None = None) -> str:
    """A fresh link, at the address where the pages are."""
    entropy, now_ms = app.services.entropy(people.ENTROPY_BYTES), app.clock.now_ms()
    token = await app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to=shown_to, name=name))
    return f"{address or app.settings.base_url}/sign-in/{token}"
