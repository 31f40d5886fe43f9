"""`assent owner-link` and `assent open`: print or open the one-time link by which the server's owner signs in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from assent.cli.session import CommandSession, Failure
from assent.cli.workspaces import check_name
from assent.kernel.limits import SIGN_IN_LINK_TTL_MS
from assent.kernel.times import iso_time
from assent.processes.listening import leadership_of, reaches_assent
from assent.settings.load import Settings

if TYPE_CHECKING:
    from assent.app import App


def owner_link(
    session: CommandSession,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The name that signs your decisions (the last one, or owner)."),
    ] = None,
) -> None:
    """Print a link by which you sign in to the pages in your browser: once, within 15 minutes.

    A decision in a signed-in browser counts as a person's, so the link is printed to a
    terminal only; an agent reads pipes. With --json it is written to a pipe, too, and the audit
    trail says so.
    """
    from assent.processes import owner_link as links
    from assent.processes.owner_link import draw_code
    from assent.settings.public_url import phone_url

    watched = check_watched(session)
    checked = check_name(name, "Your name") if name is not None else None
    address = pages_address(session.settings)

    url, expires_at = _make_link(session, watched, address, checked)
    session.say(f"Open this in your browser. It works once, for {links.LIFE}:")
    view = {"url": url, "expiresAt": expires_at, "pagesReachable": address is not None}
    session.give(view, url)
    if watched and address is not None and address == phone_url(session.settings):
        session.say(f"Or scan it with your phone:\n\n{draw_code(url)}")
    if address is None:
        session.say(
            f"No server is running here yet. Start one before you open the link: {session.again('serve')}"
        )


def check_watched(session: CommandSession) -> bool:
    """Return whether a sign-in link is printed to a terminal. Raises `Failure` in a pipe without --json."""
    watched = sys.stdout.isatty()
    if not watched and not session.json:
        raise Failure(
            "This link signs in anyone who opens it, so it is shown to a terminal only, and this is a pipe or a file.\n"
            "Run it in a terminal of your own. If a program of yours needs it, add --json, which the audit trail "
            "records."
        )
    return watched


def _make_link(
    session: CommandSession, watched: bool, address: str | None, name: str | None = None
) -> tuple[str, str | None]:
    """Return a new link and the time at which it expires."""
    from assent.processes import owner_link

    async def make(app: App) -> tuple[str, int]:
        shown_to: owner_link.ShownTo = "terminal" if watched else "pipe"
        link = await owner_link.make(app, shown_to=shown_to, name=name, address=address)
        return link, app.clock.now_ms() + SIGN_IN_LINK_TTL_MS

    url, expires_ms = session.use_app(make)
    return url, iso_time(expires_ms)


def pages_address(settings: Settings) -> str | None:
    """Return the URL of this data's pages: of a process on the same directory, or the replicas."""
    said = leadership_of(settings, "command").announced()
    if said is not None and said.address is not None:
        return said.address
    return settings.base_url if reaches_assent(settings.base_url) else None


def open_pages(session: CommandSession) -> None:
    """Open the pages in your browser, by a link that signs you in: once, within 15 minutes.

    Prints the link where no browser can be opened. The link is shown to a terminal only; an agent reads
    pipes. With --json it is written to a pipe, too, no browser is opened, and the audit trail says so.
    """
    from assent.processes import owner_link as links

    watched = check_watched(session)
    address = pages_address(session.settings)
    if address is None:
        raise Failure(f"No server is running here yet. Start one: {session.again('serve')}")

    url, expires_at = _make_link(session, watched, address)
    opened = watched and links.can_open() and links.open_link(url, session.settings.data_dir)
    if opened:
        session.say(
            f"Opening {address} in your browser. If it shows no button, open this there ({links.LIFE}, once):"
        )
    else:
        session.say(f"Open this in your browser. It works once, for {links.LIFE}:")
    session.give({"url": url, "expiresAt": expires_at, "opened": opened}, url)
