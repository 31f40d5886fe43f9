"""Static files under names with their content's hash, so browsers may cache them for good."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from assent.kernel.structs import Record

PREFIX: Final = "/static/"

MEDIA_TYPES: Final = {
    "assent.css": "text/css",
    "console.css": "text/css",
    "console.js": "text/javascript",
    "feed.css": "text/css",
    "keys.js": "text/javascript",
    "mark.svg": "image/svg+xml",
    "push.js": "text/javascript",
    "push-worker.js": "text/javascript",
    "views.css": "text/css",
    "vendor/htmx.js": "text/javascript",
    "vendor/htmx-sse.js": "text/javascript",
}
"""All static files. Nothing else in the directory is served."""

CACHING: Final = "public, max-age=31536000, immutable"


class StaticFile(Record):
    path: str
    media_type: str
    content: bytes


@cache
def _assets() -> dict[str, StaticFile]:
    found: dict[str, StaticFile] = {}
    for name, media_type in MEDIA_TYPES.items():
        content = files(__package__).joinpath("static", name).read_bytes()
        stem, _, ending = name.rpartition("/")[2].partition(".")
        served = f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.{ending}"
        found[name] = StaticFile(PREFIX + served, media_type, content)
    return found


def asset_path(name: str) -> str:
    return _assets()[name].path


def find_asset(path: str) -> StaticFile | None:
    """The file at a path, if this release has it."""
    return next((asset for asset in _assets().values() if asset.path == path), None)
