"""Opens a sign-in link in the person's browser.

The arguments of a program can be read by every user of a machine, so the link is not passed to the
browser: it gets the address of a file that only its owner can read and that leads to the link. A browser
that may not read that file shows an error; the terminal shows the link, too.
"""

from __future__ import annotations

import html
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from assent.settings.secret_files import PRIVATE_FILE, ensure_data_dir

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
