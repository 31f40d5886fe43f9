"""Security headers of all pages.

A page runs no scripts, loads nothing from other sites, cannot be framed, is not cached and submits
forms only here. The referrer policy is `strict-origin`: without a referrer a browser would send
`Origin: null` with our own forms.

The pages on which a browser makes or uses its key, or copies the key of an agent
(`CONFIRMING_HEADERS`), run one script file of this server and connect nowhere. A console screen, and the
review page of a signed-in person, may run this server's script files, no inline scripts, and connect to this server
only (docs/decisions/0013). The only frame holds the HTML of an e-mail, sandboxed (`FRAMED_HEADERS`).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import Receive, Scope, Send

from assent.engine.core.offloading import run_apart

_COMMON: Final = (
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
)

CONTENT_SECURITY_POLICY: Final = "; ".join((*_COMMON, "script-src 'none'"))
FRAMING_POLICY: Final = "; ".join((*_COMMON, "frame-src 'self'", "script-src 'none'"))
CONFIRMING_POLICY: Final = "; ".join((*_COMMON, "script-src 'self'"))
SCRIPTED_POLICY: Final = "; ".join((*_COMMON, "script-src 'self'", "connect-src 'self'"))
DECIDING_POLICY: Final = f"{SCRIPTED_POLICY}; frame-src 'self'"
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

ASSET_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}

PAGE_HEADERS: Final = {
    **ASSET_HEADERS,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "strict-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}

SCRIPTED_HEADERS: Final = {"Content-Security-Policy": SCRIPTED_POLICY}
CONFIRMING_HEADERS: Final = {"Content-Security-Policy": CONFIRMING_POLICY}
DECIDING_HEADERS: Final = {"Content-Security-Policy": DECIDING_POLICY}
FRAMING_HEADERS: Final = {"Content-Security-Policy": FRAMING_POLICY}
FRAMED_HEADERS: Final = {
    "Content-Security-Policy": FRAMED_POLICY,
    "X-Frame-Options": "SAMEORIGIN",
}


def attach(name: str) -> dict[str, str]:
    """The headers of a page that the browser saves as a file."""
    return {**PAGE_HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}


def see_other(where: str) -> RedirectResponse:
    return RedirectResponse(where, status_code=303, headers=PAGE_HEADERS)


LEAST_COMPRESSED: Final = 1_000
"""Bytes. What is smaller fits into the first packet anyway."""


def takes_gzip(scope: Scope) -> bool:
    """Whether the client of a request reads gzip."""
    said = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding")
    return any(
        each.partition(b";")[0].strip() == b"gzip" and not each.replace(b" ", b"").endswith(b"q=0")
        for each in said.lower().split(b",")
    )


def compress(body: bytes, level: int = 6) -> bytes:
    return gzip.compress(body, level, mtime=0)


class PageResponse(HTMLResponse):
    """An HTML response with all headers of the table. `html` may be a function: pages are rendered
    off the event loop, by `finish` or when they are sent. A page is sent compressed, also one that holds nonces beside
    what an agent wrote: nonces are masked anew in each response (`shell/forms.py`), so its length tells nothing."""

    def __init__(
        self, html: str | Callable[[], str], status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        self._make = None if isinstance(html, str) else html
        super().__init__(
            html if isinstance(html, str) else "",
            status_code=status,
            headers={**PAGE_HEADERS, "Vary": "Accept-Encoding", **(headers or {})},
        )

    def render(self, content: str) -> bytes:
        # A text in the database that is not UTF-8 must not keep its page from being shown.
        return content.encode(errors="backslashreplace")

    async def finish(self) -> None:
        """Render the page. Raises the errors of its template."""
        if self._make is not None:
            self.body = self.render(await run_apart(self._make))
            self.headers["content-length"] = str(len(self.body))
            self._make = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.finish()
        if len(self.body) >= LEAST_COMPRESSED and takes_gzip(scope):
            self.body = await run_apart(compress, bytes(self.body))
            self.headers["content-encoding"] = "gzip"
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)
