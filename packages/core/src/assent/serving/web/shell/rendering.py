"""Renders templates: Jinja2 with autoescaping and strict undefined names.

Jinja2 is imported at the first page, because many processes serve none.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape
from starlette.requests import Request

from assent import __version__
from assent.kernel.structs import Record
from assent.serving.instructions import SPEC_URL
from assent.serving.web.shell.headers import PageResponse, compress
from assent.serving.web.shell.unseen import mark_unseen

if TYPE_CHECKING:
    from jinja2 import Environment

THEME_COOKIE: Final = "assent-theme"
THEMES: Final = ("light", "dark")
"""Themes a person may choose instead of the system's."""


class NavigationEntry(Record):
    """A place of the console, or a page of one, in the row at its top. `icon` is one of `icons.html`; on a phone the
    places that are `docked` stand in the bottom bar."""

    name: str
    href: str
    label: str
    icon: str
    group: str = ""
    docked: bool = False
    of: str = ""
    """The name of the place that it is a page of."""
    for_owners: bool = False


SETTINGS_PAGES: Final = "Settings"
"""The group of pages of the settings that the page of keys links, and that are named only while they are shown."""

NAVIGATION: Final = (
    NavigationEntry("inbox", "/inbox", "Inbox", "inbox", docked=True),
    NavigationEntry("activity", "/runs", "Activity", "runs", docked=True),
    NavigationEntry("agents", "/settings/keys", "Agents", "people", "Set up", docked=True),
    NavigationEntry("settings", "/settings", "Settings", "settings", "Set up"),
    NavigationEntry("runs", "/runs", "Runs", "runs", of="activity"),
    NavigationEntry("sessions", "/sessions", "Workflows", "workflows", of="activity"),
    NavigationEntry("audit", "/audit", "Audit log", "audit", of="activity"),
    NavigationEntry("keys", "/settings/keys", "Who they are", "people", of="agents"),
    NavigationEntry("operations", "/operations", "How people decided", "operations", of="agents"),
    NavigationEntry("you", "/settings", "You", "user", of="settings"),
    NavigationEntry("passkeys", "/settings/passkeys", "Passkeys", "user", of="settings"),
    NavigationEntry("notifications", "/settings/notifications", "Notifications", "comment", of="settings"),
    NavigationEntry("phone", "/settings/phone", "Phone", "user", of="settings"),
    NavigationEntry("connectors", "/connectors", "Connections", "connections", of="settings"),
    NavigationEntry("workspace", "/settings/workspace", "Workspace", "settings", of="settings"),
    NavigationEntry("people", "/settings/people", "People", "people", of="settings", for_owners=True),
    NavigationEntry("policy", "/settings/policy", "Policy", "check", of="settings"),
    NavigationEntry("outgoing", "/settings/outgoing", "Webhooks", "open", SETTINGS_PAGES, of="settings"),
)


class Badge(Record):
    """A label and its tone: ok, warn, danger, ask (a question to the person), info or none."""

    text: str
    tone: str = ""


@cache
def _environment(folder: Path | None, navigation: tuple[NavigationEntry, ...]) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    web = Path(__file__).parents[1]
    own = [web / "templates", *sorted(web.glob("*/templates"))]
    environment = Environment(
        loader=FileSystemLoader([*own, folder] if folder is not None else own),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    place_of = {
        entry.name: entry.of or ("settings" if entry.group == SETTINGS_PAGES else entry.name)
        for entry in navigation
    }
    environment.globals.update(
        asset=asset_path,
        navigation=tuple(entry for entry in navigation if place_of[entry.name] == entry.name),
        all_pages=tuple(entry for entry in navigation if place_of[entry.name] != entry.name),
        place_of=place_of,
        settings_pages=tuple(entry for entry in navigation if entry.group == SETTINGS_PAGES),
        spec_url=SPEC_URL,
        version=__version__,
    )
    environment.globals.update(as_bdi=as_bdi, as_code=as_code, as_link=as_link, as_strong=as_strong)
    environment.filters["fill"] = fill
    environment.filters["marked"] = mark_unseen
    environment.filters["capital"] = lambda text: text[:1].upper() + text[1:]
    return environment


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> PageResponse:
    """A page, rendered by `finish`. `here` marks the place in the navigation, `empty_places` are its entries that
    lead to nothing yet, `theme` is the browser's choice. Templates get nothing else of the request. `folder` has the
    templates of an extension, which may extend those of the server."""
    theme = request.cookies.get(THEME_COOKIE, "")
    empty: frozenset[str] = getattr(request.state, "empty_places", frozenset())
    known = {"here": request.url.path, "theme": theme if theme in THEMES else "", "empty_places": empty}
    given = {**known, **(values or {})}
    navigation = getattr(request.app.state, "navigation", NAVIGATION)

    def render() -> str:
        return _environment(folder, navigation).get_template(template).render(given)

    return PageResponse(render, status, headers)


# Fills sentences with values, and with the markup that a template gives to a value. Pure.
#
# A sentence is plain text with named places: `You decide as {name}.` All of it is escaped, and so is each value that
# is no markup. A writer edits whole sentences, and no file of words has HTML.

_BDI: Final = Markup("<bdi>{}</bdi>")
_CODE: Final = Markup("<code>{}</code>")
_LINK: Final = Markup('<a href="{}">{}</a>')
_STRONG: Final = Markup("<strong><bdi>{}</bdi></strong>")


def fill(sentence: str, **values: Any) -> Markup:
    """Raises KeyError if a place of the sentence has no value."""
    escaped = {name: escape(value) for name, value in values.items()}
    return Markup(_escape(sentence).format(**escaped))  # noqa: S704 - both parts are escaped


@cache
def _escape(sentence: str) -> str:
    """`Markup.format` escapes, too, but takes ten times as long: a page fills hundreds of sentences."""
    return str(escape(sentence))


def as_bdi(text: Any) -> Markup:
    return _BDI.format(text)


def as_code(text: Any) -> Markup:
    return _CODE.format(text)


def as_link(href: str, text: Any) -> Markup:
    return _LINK.format(href, text)


def as_strong(text: Any) -> Markup:
    return _STRONG.format(text)


# Static files under names with their content's hash, so browsers may cache them for good.
#
# The style sheet is joined from `static/css`: the shared files in their order, then one file for each screen by name.
# A `url(…)` in it names another static file and is replaced by that file's hashed name.

PREFIX: Final = "/static/"

STYLE_SHEET: Final = "assent.css"
SHARED_STYLES: Final = ("tokens.css", "base.css", "components.css", "shell.css")

FEED: Final = "feed.css"

MANIFEST: Final = "assent.webmanifest"
INSTALLED: Final = {
    "name": "Assent",
    "short_name": "Assent",
    "id": "/",
    "start_url": "/inbox",
    "scope": "/",
    "display": "standalone",
    "background_color": "#fbfbf9",
    "theme_color": "#fbfbf9",
}
"""What the console is when a phone has it on its home screen. iOS notifies only what is installed so."""

FONT: Final = "font/woff2"
PACKED: Final = frozenset({FONT, "image/png"})
"""Formats that are compressed already."""

MEDIA_TYPES: Final = {
    "console.js": "text/javascript",
    FEED: "text/css",
    "decide.js": "text/javascript",
    "keys.js": "text/javascript",
    "icon-192.png": "image/png",
    "icon-512.png": "image/png",
    "mark.svg": "image/svg+xml",
    "push.js": "text/javascript",
    "push-worker.js": "text/javascript",
    "vendor/htmx.js": "text/javascript",
    "vendor/htmx-sse.js": "text/javascript",
    "vendor/inter-cyrillic.woff2": FONT,
    "vendor/inter-greek.woff2": FONT,
    "vendor/inter-latin.woff2": FONT,
    "vendor/inter-latin-ext.woff2": FONT,
}
"""All static files beside the style sheet; `feed.css` is that of the public pages. Nothing else in the
directory is served."""

CACHING: Final = "public, max-age=31536000, immutable"

_COMMENTS: Final = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
_URLS: Final = re.compile(r"url\(([\w.-]+)\)")


class StaticFile(Record):
    path: str
    media_type: str
    content: bytes


def _hash_name(name: str, media_type: str, content: bytes) -> StaticFile:
    stem, _, ending = name.rpartition("/")[2].partition(".")
    served = f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{ending}"
    return StaticFile(PREFIX + served, media_type, content)


def join_styles() -> str:
    """The style sheet of all pages, without its comments."""
    folder = files(__package__).joinpath("static", "css")
    screens = sorted(
        (each for each in folder.joinpath("screens").iterdir() if each.name.endswith(".css")),
        key=lambda each: each.name,
    )
    parts = [*(folder.joinpath(name) for name in SHARED_STYLES), *screens]
    return _COMMENTS.sub("", "".join(each.read_text(encoding="utf-8") for each in parts))


@cache
def _assets() -> dict[str, StaticFile]:
    found: dict[str, StaticFile] = {}
    for name, media_type in MEDIA_TYPES.items():
        content = files(__package__).joinpath("static", name).read_bytes()
        found[name] = _hash_name(name, media_type, content)
    by_name = {name.rpartition("/")[2]: each.path for name, each in found.items()}
    for name, styles in ((STYLE_SHEET, join_styles()), (FEED, found[FEED].content.decode())):
        linked = _URLS.sub(lambda match: f"url({by_name[match[1]]})", styles)
        found[name] = _hash_name(name, "text/css", linked.encode())
    icons = [
        {
            "src": by_name[f"icon-{size}.png"],
            "sizes": f"{size}x{size}",
            "type": "image/png",
            "purpose": "any maskable",
        }
        for size in (192, 512)
    ]
    manifest = json.dumps({**INSTALLED, "icons": icons}).encode()
    found[MANIFEST] = _hash_name(MANIFEST, "application/manifest+json", manifest)
    return found


def asset_path(name: str) -> str:
    return _assets()[name].path


@cache
def pack_asset(path: str) -> bytes | None:
    """The file as it is sent compressed, made once; None if its format is."""
    asset = find_asset(path)
    return compress(asset.content, 9) if asset is not None and asset.media_type not in PACKED else None


def find_asset(path: str) -> StaticFile | None:
    """The file at a path, if this release has it."""
    return next((asset for asset in _assets().values() if asset.path == path), None)
