"""What every page says to the browser about itself (security.md 4 to 6, 10).

A page runs no script, loads nothing from elsewhere, is shown in no frame, is kept in no cache and sends its form only
here. The referrer is the bare origin: with none at all a browser would send `Origin: null` on our own forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.responses import HTMLResponse

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self' data:",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "script-src 'none'",
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


class PageResponse(HTMLResponse):
    """An HTML answer that carries every header of the table."""

    def __init__(self, html: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(html, status_code=status, headers={**PAGE_HEADERS, **(headers or {})})
