"""Errors for messages that cannot be parsed: the cause, and the message's id where it can be found.

A client waits for the response to an id; an error without one leaves it waiting. A message that is
JSON except for a lone surrogate, an invalid number or excessive depth is therefore answered under
its id (W49, W54). Invalid JSON has no id (JSON-RPC 2.0, section 5).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_BODY_BYTES, MAX_WRAPPED_DEPTH
from assent.kernel.refusals import bad_argument
from assent.kernel.structs import Record

TOO_LONG: Final = f"over {MAX_BODY_BYTES} bytes"
_NO_JSON: Final = "the body must be one JSON object"
_TOO_DEEP: Final = f"it nests deeper than {MAX_WRAPPED_DEPTH} levels; flatten it"
_HALF: Final = "a text holds half a character (a lone surrogate such as \\ud83d); send whole characters"
_NO_NUMBER: Final = "NaN, Infinity and numbers beyond 1e308 are no JSON numbers; leave them out or send text"

_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*'
_PLAIN: Final = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*'
_FIRST: Final = re.compile(rb"\s*\{\s*(?:" + _PLAIN + rb",\s*)*" + _ID + rb"[,}]")
_LAST: Final = re.compile(rb",\s*" + _ID + rb"(?:,\s*" + _PLAIN + rb")*\}\s*$")
_EDGE_BYTES: Final = 1_024


class Unreadable(Record):
    """Why a message cannot be parsed, and its id if it has one."""

    problem: str
    request_id: str | int | None = None

    def data(self) -> dict[str, Any] | None:
        """The error in the shape of a tool's refusal; None without an id."""
        if self.request_id is None:
            return None
        refusal = bad_argument("message", "one that can be read", self.problem)
        data: dict[str, Any] = msgspec.to_builtins(refusal.recovery())
        return data


def too_deep(body: bytes) -> Unreadable:
    """Error for a message that is nested too deeply to parse."""
    return Unreadable(_TOO_DEEP, find_request_id(body[:_EDGE_BYTES], body[-_EDGE_BYTES:]))


def refuse_unparsed(body: bytes) -> Unreadable:
    """Error for a message that the strict parser refuses. A lenient parser looks for its id."""
    numbers: list[str] = []
    try:
        message = json.loads(body.decode(), parse_constant=numbers.append)
    except (ValueError, RecursionError):
        return Unreadable(_NO_JSON)
    request_id = message.get("id") if isinstance(message, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, (str, int)) or not _whole(request_id):
        request_id = None
    return Unreadable(_NO_NUMBER if numbers or _whole(message) else _HALF, request_id)


def find_request_id(first: bytes, last: bytes) -> str | int | None:
    """Find the id of a message from its first and last bytes only."""
    found = _FIRST.match(first) or _LAST.search(last)
    if found is None:
        return None
    try:
        return msgspec.json.decode(found[1], type=str | int)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _whole(value: Any) -> bool:
    """Whether every string in the value can be encoded as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
