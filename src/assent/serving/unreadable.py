"""What a client hears about a message that cannot be taken in: why, and under its own id wherever one can be made out.

A client waits for the answer to an id; an error without one leaves it waiting. So a message that is JSON but for half a
character, a number that is none, or a depth that nobody reads is answered as the request that it is (W49, W54). What
is no JSON at all has no id (JSON-RPC 2.0, section 5).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from assent.kernel.limits import MAX_BODY_BYTES, MAX_WRAPPED_DEPTH
from assent.kernel.refusals import Problem, Reason, Refusal

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


class Unreadable(msgspec.Struct, frozen=True):
    """Why a message cannot be taken in, and its id if it has one."""

    told: str
    request_id: str | int | None = None

    def data(self) -> dict[str, Any] | None:
        """The same in the words of the tools, for whoever is known to have called one."""
        if self.request_id is None:
            return None
        problems = [Problem("message", "one that can be read", self.told)]
        data: dict[str, Any] = msgspec.to_builtins(
            Refusal(Reason.VALIDATION_ERROR, problems=problems).recovery()
        )
        return data


def too_deep(body: bytes) -> Unreadable:
    """For a message that exhausts whoever reads it."""
    return Unreadable(_TOO_DEEP, id_at_the_edges(body[:_EDGE_BYTES], body[-_EDGE_BYTES:]))


def not_taken(body: bytes) -> Unreadable:
    """For a message that the strict reader refuses: what a lenient one finds in it."""
    numbers: list[str] = []
    try:
        message = json.loads(body.decode(), parse_constant=numbers.append)
    except (ValueError, RecursionError):
        return Unreadable(_NO_JSON)
    request_id = message.get("id") if isinstance(message, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, (str, int)) or not _whole(request_id):
        request_id = None
    return Unreadable(_NO_NUMBER if numbers or _whole(message) else _HALF, request_id)


def id_at_the_edges(first: bytes, last: bytes) -> str | int | None:
    """The id of a message of which only the first and the last bytes are looked at."""
    found = _FIRST.match(first) or _LAST.search(last)
    if found is None:
        return None
    try:
        return msgspec.json.decode(found[1], type=str | int)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _whole(value: Any) -> bool:
    """Whether every text in it can be written down."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
