"""Typed ids. Every id is a UUID string; ids that should sort by age are UUIDv7 (RFC 9562).

Time and randomness are arguments: this module reads neither clock nor entropy.
"""

from __future__ import annotations

import hashlib
import re
from contextvars import ContextVar
from typing import Final, NewType

from assent.kernel.refusals import Reason, Refusal

WorkspaceId = NewType("WorkspaceId", str)
TenantId = NewType("TenantId", str)
RunId = NewType("RunId", str)
AssetId = NewType("AssetId", str)
ActionId = NewType("ActionId", str)
KeyId = NewType("KeyId", str)
JobId = NewType("JobId", str)

SYSTEM_WORKSPACE: Final = WorkspaceId("00000000-0000-7000-8000-000000000000")
"""Owns the jobs and facts of the deployment. No workspace is created with this id."""

ACCESS_FACTS: Final[ContextVar[dict[str, str] | None]] = ContextVar("access_facts", default=None)
"""What the access log adds to the line of a request; filled while it is answered."""

REQUEST_ID: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
"""The id of the request that this task serves. Every log line carries it."""

RANDOM_BYTES: Final = 10
"""Entropy that one id needs."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def uuid7(now_ms: int, random: bytes) -> str:
    """Return a UUID of version 7: 48 bits of milliseconds, 74 bits of randomness."""
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"uuid7 needs {RANDOM_BYTES} random bytes, got {len(random)}")
    if not 0 <= now_ms < 1 << 48:
        raise ValueError("uuid7 needs a time between 1970 and 10889")
    tail = int.from_bytes(random, "big")
    value = now_ms << 80 | 0x7 << 76 | (tail >> 62 & 0xFFF) << 64 | 0b10 << 62 | tail & (1 << 62) - 1
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def derive_uuid7(now_ms: int, name: bytes) -> str:
    """Return the id of something that has a name, so that a repeated transaction makes the same one."""
    return uuid7(now_ms, hashlib.sha256(name).digest()[:RANDOM_BYTES])


def first_uuid7(now_ms: int) -> str:
    """Return the least id of a time. Ids sort by age, so it is a position among them."""
    return uuid7(now_ms, bytes(RANDOM_BYTES))


def is_uuid(text: str) -> bool:
    """Whether `text` is a UUID in its one canonical form: lower case, with dashes."""
    return _UUID.fullmatch(text) is not None


def require_action_id(text: str) -> ActionId:
    """Return a well-formed id. Raises the same `Refusal` for any other text (C1)."""
    if not is_uuid(text):
        raise Refusal(Reason.INVALID_ACTION_ID)
    return ActionId(text)


def require_run_id(text: str) -> RunId:
    if not is_uuid(text):
        raise Refusal(
            Reason.INVALID_ACTION_ID,
            user_message="I used a run id that cannot exist. Use the run id from a previous reply.",
        )
    return RunId(text)
