"""The guides for people and agents, quickstart and closed loop: one Markdown file each, with this server's address."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from assent.kernel.structs import Record
from assent.serving.web.shell.headers import ASSET_HEADERS
from assent.serving.web.shell.markdown import render
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused
from assent.serving.web.shell.rendering import page

GUIDES: Final = ("quickstart", "closed-loop")
MEDIA_TYPE: Final = "text/markdown"
SUFFIX: Final = ".md"


class Guide(Record):
    title: str
    markdown: str
    html: Markup


@cache
def write_guide(name: str, base_url: str) -> Guide:
    """Fill in the address of the server, and render the text below its title."""
    source = Path(__file__).with_name(name + SUFFIX).read_text(encoding="utf-8")
    markdown = source.replace("{base_url}", base_url)
    heading, _, body = markdown.partition("\n")
    return Guide(heading.removeprefix("# "), markdown, Markup(render(body).html))  # noqa: S704 - cleaned


class GuidePages:
    def __init__(self, base_url: str) -> None:
        self._base_url = base_url.rstrip("/")

    async def show(self, request: Request) -> Response:
        """Serve `/docs/NAME` as a page, or as Markdown with `.md` or `Accept: text/markdown`.

        The seeds name both guides in the documentation and give no address, so `/docs/` is our choice.
        """
        path = str(request.path_params["name"])
        name = path.removesuffix(SUFFIX)
        if name not in GUIDES:
            raise PageRefused(NOT_FOUND)
        guide = write_guide(name, self._base_url)
        headers = {"Vary": "Accept"}
        if path != name or MEDIA_TYPE in request.headers.get("accept", ""):
            return Response(guide.markdown, media_type=MEDIA_TYPE, headers={**ASSET_HEADERS, **headers})
        return page(
            request, "guide.html", {"guide": guide, "source": f"/docs/{name}{SUFFIX}"}, headers=headers
        )
