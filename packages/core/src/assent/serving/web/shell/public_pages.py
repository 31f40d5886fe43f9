"""Public pages of an extension: for anyone, without a session, within the limits of readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.engine.core.services import Services
from assent.ports import Picture
from assent.serving.web.shell import picture_files
from assent.serving.web.shell.console import LOOK
from assent.serving.web.shell.errors_to_pages import Endpoint, make_routes
from assent.serving.web.shell.headers import PAGE_HEADERS
from assent.serving.web.shell.page_site import PageRate
from assent.serving.web.shell.rendering import page


class PublicPages:
    """Makes the routes and answers of public pages. `templates` has those of the extension, which may extend those of
    the server."""

    page_headers: Mapping[str, str] = PAGE_HEADERS
    picture_headers: Mapping[str, str] = {
        **picture_files.PICTURE_HEADERS,
        "Cache-Control": "public, max-age=31536000, immutable",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    """Headers of a published picture: public and immutable."""

    def __init__(self, services: Services, base_url: str, *, trust_proxy: bool, templates: Path) -> None:
        self._rate = PageRate(services, trust_proxy=trust_proxy)
        self._base_url = base_url
        self._templates = templates

    def make_routes(self, table: Mapping[str, Endpoint]) -> list[Route]:
        """Return the routes of pages that are read, by path. A `PageRefused` becomes its page."""
        rows = ((path, LOOK, self._limit(endpoint)) for path, endpoint in table.items())
        return make_routes(self._base_url, *rows)

    def _limit(self, endpoint: Endpoint) -> Endpoint:
        async def counted(request: Request) -> Response:
            await self._rate.count_reader(request.scope)
            return await endpoint(request)

        return counted

    def show(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> Response:
        """Answer with a page."""
        return page(request, template, values, status=status, folder=self._templates)

    def show_picture(self, request: Request, picture: Picture) -> Response:
        """Answer with a picture that is as public as its page."""
        return picture_files.answer(request, picture, dict(self.picture_headers))
