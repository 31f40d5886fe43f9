"""The first-run page: sign in, add the server to a client, play the demo."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from assent.serving.web.shell import clients
from assent.serving.web.shell.console import Screen, Visit


async def start(visit: Visit) -> Response:
    """Three steps, each with something to copy."""
    base_url, key = visit.services.links.base_url, clients.PLACEHOLDER_KEY
    values = {
        "snippets": (clients.stdio_snippet(visit.services, None), *clients.http_snippets(base_url, key)),
        "endpoint": clients.endpoint(base_url),
        "placeholder_key": key,
        "demo": clients.terminal_command(visit.services, "demo"),
    }
    return visit.page("start.html", values)


SCREENS: Final = (Screen("/start", start, ""),)
