"""Serves the pictures of runs.

GET /runs/{run}/pictures/{digest}.png

A picture that waits for approval is as private as its draft. Access is that of the run: by its
cookie, by a session, or with the review token in the query, so that a chat can show it. Providers
do not fetch from here: connectors upload the bytes. The feed serves the pictures of published
posts.

The bytes never change, so a browser revalidates by ETag. Access is checked each time.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from assent.engine.actions import pictures
from assent.kernel.canonical import DIGEST_PREFIX
from assent.ports import Picture, Transaction
from assent.serving.web.review.access import ReviewAccess, admit, find_run
from assent.serving.web.shell.headers import ASSET_HEADERS
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.problems import NOT_FOUND, PageRefused

_NAME: Final = re.compile(r"([0-9a-f]{64})\.png")

PICTURE_HEADERS: Final = {
    **ASSET_HEADERS,
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}
TO_A_CHAT: Final = {"Cross-Origin-Resource-Policy": "cross-origin"}
"""A chat that holds the token may embed the picture from another site."""


class PicturePages:
    def __init__(self, site: PageSite) -> None:
        self._site = site

    async def of_run(self, request: Request) -> Response:
        run_id, now_ms = request.path_params["run_id"], self._site.services.clock.now_ms()
        access = ReviewAccess(await self._site.keys(), self._site.cookies)
        claims = access.link(request, run_id, now_ms)
        shown = access.shown(request, run_id, now_ms)
        await (self._site.count_link(claims) if claims is not None else self._site.count(shown))
        named = _NAME.fullmatch(request.path_params["name"])

        def look() -> Transaction[Picture | None]:
            run = (
                (yield from find_run(claims)) if claims is not None else (yield from admit(shown, now_ms)).run
            )
            if named is None:
                return None
            return (
                yield from pictures.find_shown(run.workspace_id, run.run_id, DIGEST_PREFIX + named.group(1))
            )

        found = await self._site.services.store.read(look)
        if found is None:
            raise PageRefused(NOT_FOUND)
        return answer(request, found, PICTURE_HEADERS | (TO_A_CHAT if claims is not None else {}))


def answer(request: Request, picture: Picture, headers: dict[str, str]) -> Response:
    """Respond with the picture, or with 304 if the browser's copy is current."""
    tag = f'"{picture.digest.removeprefix(DIGEST_PREFIX)}"'
    headers = {**headers, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=picture.content_type, headers=headers)
