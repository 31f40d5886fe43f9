"""Creates the owner's sign-in link, for anyone who can run commands on the server's data.

Shown on a terminal only, because an agent that starts the server or runs the command reads pipes.
If it is written to a pipe on request, the journal records that.
"""

from __future__ import annotations

from typing import Literal

from assent.app import App
from assent.engine.people import people
from assent.kernel.limits import MINUTE_MS, SIGN_IN_LINK_TTL_MS

ShownTo = Literal["terminal", "pipe"]

LIFE = f"{SIGN_IN_LINK_TTL_MS // MINUTE_MS} minutes"


async def make(app: App, *, shown_to: ShownTo, name: str | None = None, address: str | None = None) -> str:
    """Create a new link at the pages' address."""
    entropy, now_ms = app.services.entropy(people.ENTROPY_BYTES), app.clock.now_ms()
    token = await app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to=shown_to, name=name))
    return f"{address or app.settings.base_url}/sign-in/{token}"
