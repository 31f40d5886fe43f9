"""Names a browser for the list of a person's sessions, from its User-Agent."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "Mac"),
    ("Linux", "Linux"),
)


def name_device(request: Request) -> str:
    """The browser in two words. Nothing else of the header is stored."""
    said = request.headers.get("user-agent", "")
    browser = next((name for sign, name in BROWSERS if sign in said), "A browser")
    system = next((name for sign, name in SYSTEMS if sign in said), "")
    return f"{browser} on {system}" if system else browser
