"""`assent open`: opens the pages in the browser, signed in as the server's owner."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from assent.cli.failures import Failure
from assent.cli.owner import pages_address
from assent.cli.session import CommandSession, command
from assent.kernel.limits import SIGN_IN_LINK_TTL_MS
from assent.kernel.times import iso_time

if TYPE_CHECKING:
    from assent.app import App


def register(app: typer.Typer) -> None:
    command(app, "open")(open_pages)


def open_pages(session: CommandSession) -> None:
    """Open the pages in your browser, by a link that signs you in: once, within 15 minutes.

    Prints the link where no browser can be opened. The link is shown to a terminal only; an agent reads
    pipes. With --json it is written to a pipe, too, no browser is opened, and the audit trail says so.
    """
    from assent.processes import owner_link as links

    watched = sys.stdout.isatty()
    if not watched and not session.json:
        raise Failure(
            "This opens a link that signs in anyone who has it, so it works in a terminal only, and this is a pipe or "
            "a file.\nRun it in a terminal of your own, or with --json, which the audit trail records."
        )
    address = pages_address(session.settings)
    if address is None:
        raise Failure(f"No server is running here yet. Start one: {session.again('serve')}")

    async def make(app: App) -> tuple[str, int]:
        link = await links.make(app, shown_to="terminal" if watched else "pipe", address=address)
        return link, app.clock.now_ms() + SIGN_IN_LINK_TTL_MS

    url, expires_ms = session.use_app(make)
    opened = watched and links.can_open() and links.open_link(url, session.settings.data_dir)
    if opened:
        session.say(
            f"Opening {address} in your browser. If it shows no button, open this there ({links.LIFE}, once):"
        )
    else:
        session.say(f"Open this in your browser. It works once, for {links.LIFE}:")
    session.give({"url": url, "expiresAt": iso_time(expires_ms), "opened": opened}, url)
