"""The public feed of a workspace: `/feed/{workspace}/…`.

A workspace without posts, an unknown workspace and an unknown post get the same 404, so that the
feed does not reveal which workspaces exist. A post's links go through `…/go?u=N`, which counts the
click and redirects to the Nth link of that post only.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as Xml

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from assent.sdk import (
    NOT_FOUND,
    PageProblem,
    PageRefused,
    PublicPages,
    Record,
    Services,
    WorkspaceId,
    find_brand,
    is_uuid,
    iso_time,
    plain_lines,
    render_markdown,
    run_apart,
)
from assent_launch.site import feed as site_feed
from assent_launch.site.feed import FEED_PATH, SitePost, Visits, post_path

# The feed as Atom (RFC 4287) and JSON Feed 1.1: same posts, same order, full text, links as written.
#
# Ids derive from the published action, so that they survive a change of the server's address.

ATOM: Final = "http://www.w3.org/2005/Atom"
JSON_FEED: Final = "https://jsonfeed.org/version/1.1"

ATOM_TYPE: Final = "application/atom+xml; charset=utf-8"
JSON_TYPE: Final = "application/feed+json; charset=utf-8"

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot contain, not even escaped."""


class FeedEntry(Record):
    post: SitePost
    html: str


def atom(base_url: str, entries: list[FeedEntry]) -> bytes:
    """Build the Atom document. Needs at least one entry."""
    first = entries[0].post
    home = base_url + FEED_PATH.format(first.workspace_id)
    feed = Xml.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add(feed, "id", f"urn:uuid:{first.workspace_id}")
    _add(feed, "title", first.author)
    _add(feed, "updated", iso_time(first.published_ms))
    _add(feed, "link", rel="self", type="application/atom+xml", href=f"{home}atom.xml")
    _add(feed, "link", rel="alternate", type="text/html", href=home)
    _add(_add(feed, "author"), "name", first.author)
    for entry in entries:
        post = entry.post
        node = _add(feed, "entry")
        _add(node, "id", f"urn:uuid:{_entry_id(post)}")
        _add(node, "title", post.headline)
        _add(node, "published", iso_time(post.published_ms))
        _add(node, "updated", iso_time(post.published_ms))
        _add(node, "link", rel="alternate", type="text/html", href=_url(base_url, post))
        _add(node, "content", entry.html, type="html")
    document: bytes = Xml.tostring(feed, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + document


def json_feed(base_url: str, entries: list[FeedEntry]) -> bytes:
    """Build the JSON Feed. Needs at least one entry."""
    first = entries[0].post
    home = base_url + FEED_PATH.format(first.workspace_id)
    return msgspec.json.encode(
        {
            "version": JSON_FEED,
            "title": first.author,
            "home_page_url": home,
            "feed_url": f"{home}feed.json",
            "authors": [{"name": first.author}],
            "items": [
                {
                    "id": f"urn:uuid:{_entry_id(entry.post)}",
                    "url": _url(base_url, entry.post),
                    **({"title": entry.post.title} if entry.post.title else {}),
                    "content_html": entry.html,
                    "content_text": entry.post.body,
                    "date_published": iso_time(entry.post.published_ms),
                }
                for entry in entries
            ],
        }
    )


def _entry_id(post: SitePost) -> uuid.UUID:
    return uuid.uuid5(uuid.UUID(post.action_id), str(post.revision))


def _url(base_url: str, post: SitePost) -> str:
    return base_url + post_path(post.workspace_id, post.post_id)


def _add(parent: Xml.Element, tag: str, text: str | None = None, **attributes: str) -> Xml.Element:
    node = Xml.SubElement(parent, tag, attributes)
    node.text = _NO_XML.sub("\ufffd", text) if text is not None else None
    return node


GONE: Final = PageProblem(
    410,
    "This post was taken down",
    "It was published here, and its authors have taken it down since.",
    "You need not do anything. The start page of this site lists the posts that are left.",
)
TEMPLATES: Final = Path(__file__).parent / "templates"
POSTS_PER_PAGE: Final = 20
MAX_EXCERPT_CHARS: Final = 280
MAX_EXCERPT_LINES: Final = 5
RENDERED_KEPT: Final = 64
"""Rendered posts that are cached: a post never changes."""

FEED_CACHE: Final = "public, max-age=300"
_POST_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,3}")
_WEB: Final = re.compile(r"(?=.{1,2000}\Z)https?://[^/\s]\S*", re.IGNORECASE)
"""An address that every browser and server accepts."""


class ShownPost(Record):
    """A post as its page shows it. `links` are the targets of `go`; the page lists those that are
    not in the text below it."""

    html: str
    links: tuple[str, ...]
    below: tuple[tuple[int, str], ...]


class ListedPost(Record):
    path: str
    headline: str
    excerpt: str
    picture: tuple[str, str] | None
    """URL and description of its first picture."""
    date: str
    iso: str


def feed_routes(
    services: Services, visits: Visits, *, base_url: str, trust_proxy: bool = False
) -> list[Route]:
    public = PublicPages(services, base_url, trust_proxy=trust_proxy, templates=TEMPLATES)
    pages = FeedPages(services, public, visits, base_url=base_url)
    return public.make_routes(
        {
            "/feed/{workspace}": pages.posts,
            "/feed/{workspace}/": pages.posts,
            "/feed/{workspace}/atom.xml": pages.atom,
            "/feed/{workspace}/feed.json": pages.json_feed,
            "/feed/{workspace}/brand.css": pages.style,
            "/feed/{workspace}/logo/{digest}": pages.logo,
            "/feed/{workspace}/{post}": pages.post,
            "/feed/{workspace}/{post}/go": pages.go,
            "/feed/{workspace}/{post}/pictures/{number}.png": pages.picture,
        }
    )


class FeedPages:
    """Serves the feed and counts views and clicks."""

    def __init__(self, services: Services, pages: PublicPages, visits: Visits, *, base_url: str) -> None:
        self._store = services.store
        self._pages = pages
        self._visits = visits
        self._base_url = base_url

    async def posts(self, request: Request) -> Response:
        """The newest posts, or those before a given one."""
        workspace_id = _workspace(request)
        cursor = request.query_params.get("before")
        before = await self._post(workspace_id, cursor) if cursor is not None else None
        found = await self._store.read(
            partial(site_feed.newest_posts, workspace_id, POSTS_PER_PAGE + 1, before)
        )
        if not found:
            raise PageRefused(NOT_FOUND)
        shown, more = found[:POSTS_PER_PAGE], len(found) > POSTS_PER_PAGE
        values = {
            **await self._frame(workspace_id),
            "posts": await run_apart(lambda: [summarise(post) for post in shown]),
            "older": f"{FEED_PATH.format(workspace_id)}?before={shown[-1].post_id}" if more else None,
            "newest": before is None,
        }
        return self._pages.show(request, "feed_list.html", values)

    async def post(self, request: Request) -> Response:
        """One post. Counts a view."""
        post = await self._find_post(_workspace(request), request.path_params["post"])
        if post.removed_ms is not None:
            values = await self._frame(post.workspace_id)
            return self._pages.show(request, "feed_gone.html", values, status=410)
        shown = await run_apart(show, post)
        self._count(request, post)
        go = go_path(post)
        values = {
            **await self._frame(post.workspace_id),
            "post": post,
            "html": _mark_safe(shown.html),
            "pictures": list_pictures(post),
            "below": [(go(number, url), url) for number, url in shown.below],
            "date": _date(post.published_ms),
            "iso": iso_time(post.published_ms),
            "base_url": self._base_url,
            "canonical": self._base_url + post_path(post.workspace_id, post.post_id),
        }
        return self._pages.show(request, "feed_post.html", values)

    async def picture(self, request: Request) -> Response:
        """The Nth picture of a post. As public as the post."""
        post = await self._post(_workspace(request), request.path_params["post"])
        number = request.path_params["number"]
        if _NUMBER.fullmatch(number) is None or int(number) >= len(post.media):
            raise PageRefused(NOT_FOUND)
        digest = post.media[int(number)].digest
        return await self._pages.show_picture(request, post.workspace_id, digest)

    async def go(self, request: Request) -> Response:
        """Redirect to the Nth link of a post."""
        post = await self._post(_workspace(request), request.path_params["post"])
        number = request.query_params.get("u", "")
        links = (await run_apart(show, post)).links
        if _NUMBER.fullmatch(number) is None or int(number) >= len(links):
            raise PageRefused(NOT_FOUND)
        url = links[int(number)]
        self._count(request, post, url)
        return RedirectResponse(url, 302, headers=dict(self._pages.page_headers))

    async def atom(self, request: Request) -> Response:
        return await self._document(request, atom, ATOM_TYPE)

    async def json_feed(self, request: Request) -> Response:
        return await self._document(request, json_feed, JSON_TYPE)

    async def _document(
        self, request: Request, make: Callable[[str, list[FeedEntry]], bytes], media_type: str
    ) -> Response:
        workspace_id = _workspace(request)
        found = await self._store.read(partial(site_feed.newest_posts, workspace_id, POSTS_PER_PAGE))
        if not found:
            raise PageRefused(NOT_FOUND)
        body = await run_apart(
            lambda: make(self._base_url, [FeedEntry(post, whole(post, self._base_url)) for post in found])
        )
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = {
            **self._pages.page_headers,
            "Cache-Control": FEED_CACHE,
            "Cross-Origin-Resource-Policy": "cross-origin",
            "ETag": tag,
        }
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=media_type, headers=headers)

    async def style(self, request: Request) -> Response:
        """The colours of the workspace, as custom properties."""
        brand = await self._store.read(partial(find_brand, await self._require_posts(request)))
        css = f":root{{--brand:{brand.accent};--on-brand:{brand.on_accent}}}\n" if brand.accent else "\n"
        headers = {**self._pages.page_headers, "Cache-Control": FEED_CACHE}
        return Response(css, media_type="text/css", headers=headers)

    async def logo(self, request: Request) -> Response:
        """The logo of the workspace. As public as its posts."""
        workspace_id = await self._require_posts(request)
        return await self._pages.show_logo(workspace_id, request.path_params["digest"])

    async def _require_posts(self, request: Request) -> WorkspaceId:
        """Return the workspace of a site on which something was published."""
        workspace_id = _workspace(request)
        if not await self._store.read(partial(site_feed.newest_posts, workspace_id, 1)):
            raise PageRefused(NOT_FOUND)
        return workspace_id

    async def _frame(self, workspace_id: WorkspaceId) -> dict[str, Any]:
        """What every page of a workspace's site shows of it."""
        brand, feed = (
            await self._store.read(partial(find_brand, workspace_id)),
            FEED_PATH.format(workspace_id),
        )
        return {
            "author": brand.name,
            "feed": feed,
            "logo": f"{feed}logo/{brand.logo_name}" if brand.logo_name else "",
            "style": f"{feed}brand.css?{brand.accent.removeprefix('#')}" if brand.accent else "",
        }

    async def _post(self, workspace_id: WorkspaceId, post_id: str) -> SitePost:
        post = await self._find_post(workspace_id, post_id)
        if post.removed_ms is not None:
            raise PageRefused(GONE)
        return post

    async def _find_post(self, workspace_id: WorkspaceId, post_id: str) -> SitePost:
        if _POST_ID.fullmatch(post_id) is None:
            raise PageRefused(NOT_FOUND)
        post = await self._store.read(partial(site_feed.find_post, workspace_id, post_id))
        if post is None:
            raise PageRefused(NOT_FOUND)
        return post

    def _count(self, request: Request, post: SitePost, link: str = "") -> None:
        if is_view(request):
            self._visits.count(post, link)


@lru_cache(maxsize=RENDERED_KEPT)
def show(post: SitePost) -> ShownPost:
    """Number the links of a post: first those of the text, then its own link and its
    attachments."""
    rendered = render_markdown(post.body, go_path(post))
    links = list(rendered.links)
    below = []
    for url in (post.link, *(media.url for media in post.media if not media.digest)):
        if _WEB.fullmatch(url) and url not in links:
            below.append((len(links), url))
            links.append(url)
    return ShownPost(rendered.html, tuple(links), tuple(below))


@lru_cache(maxsize=RENDERED_KEPT)
def whole(post: SitePost, base_url: str) -> str:
    """The HTML of a post for feed readers, with links as written."""
    shown = "".join(
        f'<p><img src="{escape(base_url + address)}" alt="{escape(alt)}"></p>'
        for address, alt in list_pictures(post)
    )
    below = "".join(f'<p><a href="{escape(url)}">{escape(url)}</a></p>' for _, url in show(post).below)
    return render_markdown(post.body).html + shown + below


def list_pictures(post: SitePost) -> tuple[tuple[str, str], ...]:
    """URL and description of each picture of a post."""
    path = post_path(post.workspace_id, post.post_id)
    return tuple(
        (f"{path}/pictures/{number}.png", media.alt)
        for number, media in enumerate(post.media)
        if media.digest
    )


def go_path(post: SitePost) -> Callable[[int, str], str]:
    """A function that returns the counted URL of a post's Nth link."""
    path = post_path(post.workspace_id, post.post_id)
    return lambda number, url: f"{path}/go?u={number}"


def summarise(post: SitePost) -> ListedPost:
    lines = plain_lines(post.body[: 4 * MAX_EXCERPT_CHARS]).split("\n")
    if lines[0] == post.headline:
        del lines[0]
    text = "\n".join(lines[:MAX_EXCERPT_LINES])
    excerpt = text if len(text) <= MAX_EXCERPT_CHARS else f"{text[: MAX_EXCERPT_CHARS - 1].rstrip()}…"
    return ListedPost(
        path=post_path(post.workspace_id, post.post_id),
        headline=post.headline,
        excerpt=excerpt,
        picture=next(iter(list_pictures(post)), None),
        date=_date(post.published_ms),
        iso=iso_time(post.published_ms),
    )


def _workspace(request: Request) -> WorkspaceId:
    workspace: str = request.path_params["workspace"]
    if not is_uuid(workspace):
        raise PageRefused(NOT_FOUND)
    return WorkspaceId(workspace)


def _mark_safe(html: str) -> object:
    from markupsafe import Markup

    return Markup(html)  # noqa: S704 - cleaned in markdown.render


def _date(ms: int) -> str:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{moment.day} {moment:%B %Y}"


# Decides whether a request counts as a page view, without tracking people.
#
# Bots, link previews, prefetches and embedded loads do not count. A bot that does not identify itself does, so the
# count is labelled as successful views.

BOTS: Final = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|preview|externalhit|embed|scan|monitor|uptime|probe|lighthouse|archiver"
    r"|validator|feed|rss|reader|whatsapp|telegram|slack|discord|skype|mastodon|iframely",
    re.IGNORECASE,
)
"""Words by which bots identify themselves. No browser uses them."""

AHEAD: Final = re.compile(r"prefetch|prerender|preview", re.IGNORECASE)
AHEAD_HEADERS: Final = ("sec-purpose", "purpose", "x-purpose", "x-moz")


def is_view(request: Request) -> bool:
    headers = request.headers
    agent = headers.get("user-agent", "")
    if request.method != "GET" or not agent or BOTS.search(agent):
        return False
    if any(AHEAD.search(headers.get(name, "")) for name in AHEAD_HEADERS):
        return False
    return headers.get("sec-fetch-dest", "document") == "document"
