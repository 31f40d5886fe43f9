"""What every page says to the browser about itself (security.md 4 to 6, 10).

A page runs no script, loads nothing from elsewhere, is shown in no frame, is kept in no cache and sends its form only
here. The referrer is the bare origin: with none at all a browser would send `Origin: null` on our own forms.

A screen of the console on which nobody decides may run the scripts of this server, none in the page itself, and ask
this server alone. The only frame there is holds the HTML of a mail, in a sandbox (`FRAMED_HEADERS`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.responses import HTMLResponse

_COMMON: Final = (
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
)

CONTENT_SECURITY_POLICY: Final = "; ".join((*_COMMON, "script-src 'none'"))
FRAMING_POLICY: Final = "; ".join((*_COMMON, "frame-src 'self'", "script-src 'none'"))
SCRIPTED_POLICY: Final = "; ".join((*_COMMON, "script-src 'self'", "connect-src 'self'"))
FRAMED_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "base-uri 'none'",
        "script-src 'none'",
        "sandbox",
    )
)

ASSET_HEADERS: Final[dict[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}

PAGE_HEADERS: Final[dict[str, str]] = {
    **ASSET_HEADERS,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "strict-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

SCRIPTED_HEADERS: Final[dict[str, str]] = {"Content-Security-Policy": SCRIPTED_POLICY}
FRAMING_HEADERS: Final[dict[str, str]] = {"Content-Security-Policy": FRAMING_POLICY}
FRAMED_HEADERS: Final[dict[str, str]] = {
    "Content-Security-Policy": FRAMED_POLICY,
    "X-Frame-Options": "SAMEORIGIN",
}


class PageResponse(HTMLResponse):
    """An HTML answer that carries every header of the table."""

    def __init__(self, html: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(html, status_code=status, headers={**PAGE_HEADERS, **(headers or {})})
