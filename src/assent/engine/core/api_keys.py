"""The form of an API key: public part, secret part, and what is stored of it.

`clp_live_` or `clp_dev_`, then 32 characters that name the workspace and the key, then 32 that are secret. The public
part finds the row with one indexed look-up that carries the workspace (so it shards); the whole key is stored only
as a hash. The secret has 192 bits, so a plain SHA-256 is enough: there is nothing to guess slowly.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from typing import Final, Literal

import msgspec

from assent.kernel import tokens
from assent.kernel.ids import KeyId, WorkspaceId

Mode = Literal["dev", "live"]

PREFIXES: Final[dict[Mode, str]] = {"dev": "clp_dev_", "live": "clp_live_"}
KEY_ID_BYTES: Final = 8
SECRET_BYTES: Final = 24
_PART_CHARS: Final = 32

SCOPES: Final = ("runs:write", "actions:decide", "actions:execute")
"""What a key may be limited to; reading needs no scope, only the workspace."""


class PublicPart(msgspec.Struct, frozen=True):
    """What of a key may be shown: enough to find it, nothing to use it."""

    mode: Mode
    workspace_id: WorkspaceId
    key_id: KeyId


def compose(mode: Mode, workspace_id: WorkspaceId, key_id: KeyId, secret: bytes) -> str:
    """The key as its human gets it, once. It starts with `clp_live_` or `clp_dev_` (E82)."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a key needs {SECRET_BYTES} secret bytes")
    public = uuid.UUID(workspace_id).bytes + bytes.fromhex(key_id)
    return PREFIXES[mode] + tokens.encode(public) + tokens.encode(secret)


def parse(key: str) -> PublicPart | None:
    """The public part of something that has the form of a key, else None."""
    for mode, prefix in PREFIXES.items():
        if key.startswith(prefix) and len(key) == len(prefix) + 2 * _PART_CHARS:
            try:
                public = tokens.decode(key[len(prefix) : len(prefix) + _PART_CHARS])
                tokens.decode(key[len(prefix) + _PART_CHARS :])
            except tokens.TokenInvalid:
                return None
            return PublicPart(mode, WorkspaceId(str(uuid.UUID(bytes=public[:16]))), KeyId(public[16:].hex()))
    return None


def hash_key(key: str) -> str:
    """What the store keeps of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def matches(key: str, stored: str | None) -> bool:
    """Compare in constant time; an absent row costs the same as a wrong key."""
    return hmac.compare_digest(hash_key(key), stored if stored is not None else "") and stored is not None
