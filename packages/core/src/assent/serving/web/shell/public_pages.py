"""Public pages of an extension: for anyone, without a session, within the limits of readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.engine.actions import pictures
from assent.engine.core import brands
from assent.engine.core.services import Services
from assent.kernel.ids import WorkspaceId
from assent.serving.web.shell import picture_files
from assent.serving.web.shell.console import LOOK
from assent.serving.web.shell.errors_to_pages import Endpoint, make_routes
from assent.serving.web.shell.headers import PAGE_HEADERS
from assent.serving.web.shell.page_site import PageRate
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
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
        self._store = services.store
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

    async def show_picture(self, request: Request, workspace_id: WorkspaceId, digest: str) -> Response:
        """Answer with a picture of a workspace, which is as public as its page."""
        picture = await self._store.read(lambda: pictures.find(workspace_id, digest))
        if picture is None:
            raise PageRefused(NOT_FOUND)
        return picture_files.answer(request, picture, dict(self.picture_headers))

    async def show_logo(self, workspace_id: WorkspaceId, name: str) -> Response:
        """Answer with the logo of a workspace, if that is its name now."""
        brand = await self._store.read(lambda: brands.find(workspace_id))
        logo = await self._store.read(lambda: brands.find_logo(workspace_id, brand.logo_digest))
        if logo is None or name != brand.logo_name:
            raise PageRefused(NOT_FOUND)
        return Response(logo.content, media_type=logo.media_type, headers=self.picture_headers)
