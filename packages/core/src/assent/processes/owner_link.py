"""Creates the owner's sign-in link, for anyone who can run commands on the server's data, and opens it.

Shown on a terminal only, because an agent that starts the server or runs the command reads pipes.
If it is written to a pipe on request, the journal records that.
"""

from __future__ import annotations

import html
import io
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from assent.app import App
from assent.engine.people import people
from assent.kernel.limits import MINUTE_MS, SIGN_IN_LINK_TTL_MS
from assent.settings.public_url import phone_url
from assent.settings.secret_files import PRIVATE_FILE, ensure_data_dir

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


# The arguments of a program can be read by every user of a machine, so the link is not passed to the browser:
# it gets the address of a file that only its owner can read and that leads to the link. A browser that may not
# read that file shows an error; the terminal shows the link, too.
FILE: Final = "sign-in.html"
"""In the data directory; it holds the last link only."""

PATIENCE_SECONDS: Final = 3.0
"""How long a browser is waited for. One that still runs is open."""

PAGE: Final = """\
<!doctype html><meta charset="utf-8"><title>Sign in to Assent</title>
<meta http-equiv="refresh" content="0;url={url}">
<p><a href="{url}">Sign in to Assent</a></p>
"""


def can_open(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a browser window can appear before the person: not in CI, and over SSH or on Linux only
    with a display. A browser that the person has named (BROWSER) counts."""
    if environ.get("CI"):
        return False
    if environ.get("BROWSER") or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        return True
    remote = environ.get("SSH_CONNECTION") or environ.get("SSH_TTY")
    return platform in ("darwin", "win32") and not remote


def open_link(url: str, data_dir: Path) -> bool:
    """Open a link in the person's browser. Returns False if no browser could be started."""
    import webbrowser

    path = data_dir / FILE
    try:
        ensure_data_dir(data_dir)
        path.unlink(missing_ok=True)
        shown = PAGE.format(url=html.escape(url, quote=True))
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w") as file:  # noqa: PTH123
            file.write(shown)
    except OSError:
        return False
    opened: list[bool] = []

    def start() -> None:
        try:
            opened.append(webbrowser.open(path.absolute().as_uri()))
        except (webbrowser.Error, OSError):
            opened.append(False)

    # A browser may run in the foreground until its window is closed.
    starter = threading.Thread(target=start, daemon=True)
    starter.start()
    starter.join(PATIENCE_SECONDS)
    return opened[0] if opened else True
