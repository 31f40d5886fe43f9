"""Reads bounded `multipart/form-data` forms (RFC 7578).

The whole body is read first and split bytewise, so that a file is exactly what was chosen. Supports
only what browsers send and refuses anything else.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request

from assent.kernel.structs import Record
from assent.serving.http import BodyTooLarge, read_body
from assent.serving.web.shell.problems import NOT_A_FORM, UNREADABLE_FORM, PageProblem, PageRefused

MULTIPART: Final = "multipart/form-data"
MAX_PARTS: Final = 20

_BOUNDARY: Final = re.compile(r'boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))')
_NAME: Final = re.compile(r';\s*name="([^"\r\n]{1,100})"')
_FILE: Final = re.compile(r';\s*filename\*?="?([^"\r\n;]*)')


class Uploaded(Record):
    fields: dict[str, str]
    files: dict[str, bytes]


async def read_upload(request: Request, most: int, too_large: PageProblem) -> Uploaded:
    """Read a form with files. The first value of a repeated name counts."""
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    boundary = _BOUNDARY.search(rest)
    if kind.strip().lower() != MULTIPART or boundary is None:
        raise PageRefused(NOT_A_FORM)
    try:
        body = await read_body(request.scope, request.receive, most)
    except BodyTooLarge:
        raise PageRefused(too_large) from None
    return take_apart(body, (boundary[1] or boundary[2]).encode("latin-1"))


def take_apart(body: bytes, boundary: bytes) -> Uploaded:
    """Split a body at its boundaries."""
    mark = b"--" + boundary
    parts = (b"\r\n" + body).split(b"\r\n" + mark)
    if len(parts) < 3 or parts[0] or len(parts) > MAX_PARTS or not parts[-1].startswith(b"--"):
        raise PageRefused(UNREADABLE_FORM)
    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for part in parts[1:-1]:
        head, gap, content = part.partition(b"\r\n\r\n")
        about = head.decode("utf-8", "replace")
        name = _NAME.search(about)
        if not gap or not head.startswith(b"\r\n") or name is None:
            raise PageRefused(UNREADABLE_FORM)
        if _FILE.search(about):
            files.setdefault(name[1], content)
        else:
            fields.setdefault(name[1], _text(content))
    return Uploaded(fields, files)


def _text(content: bytes) -> str:
    try:
        return content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PageRefused(UNREADABLE_FORM) from None
