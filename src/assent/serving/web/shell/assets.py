"""Static files under names with their content's hash, so browsers may cache them for good.

The style sheet is joined from `static/css`: the shared files in their order, then one file for each
screen by name. A `url(…)` in it names another static file and is replaced by that file's hashed name.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

from assent.kernel.structs import Record

PREFIX: Final = "/static/"

STYLE_SHEET: Final = "assent.css"
SHARED_STYLES: Final = ("tokens.css", "base.css", "components.css", "shell.css")

FEED: Final = "feed.css"

MEDIA_TYPES: Final = {
    "console.js": "text/javascript",
    FEED: "text/css",
    "keys.js": "text/javascript",
    "mark.svg": "image/svg+xml",
    "push.js": "text/javascript",
    "push-worker.js": "text/javascript",
    "vendor/htmx.js": "text/javascript",
    "vendor/htmx-sse.js": "text/javascript",
    "vendor/inter-cyrillic.woff2": "font/woff2",
    "vendor/inter-greek.woff2": "font/woff2",
    "vendor/inter-latin.woff2": "font/woff2",
    "vendor/inter-latin-ext.woff2": "font/woff2",
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
    return found


def asset_path(name: str) -> str:
    return _assets()[name].path


def find_asset(path: str) -> StaticFile | None:
    """The file at a path, if this release has it."""
    return next((asset for asset in _assets().values() if asset.path == path), None)
