"""The format of an API key: public part, secret part, stored hash.

`clp_live_` or `clp_dev_`, then 32 characters with the ids of the workspace and the key, then 32 secret characters. The
public part finds the row by one indexed look-up that includes the workspace, so the table can be sharded. The store
keeps only a hash of the whole key. The secret has 192 bits, so plain SHA-256 is enough and no slow hash is needed.
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
"""The scopes a key can be limited to. Reading needs no scope."""


class PublicPart(msgspec.Struct, frozen=True):
    """The part of a key that may be shown: it identifies the key and grants nothing."""

    mode: Mode
    workspace_id: WorkspaceId
    key_id: KeyId


def compose(mode: Mode, workspace_id: WorkspaceId, key_id: KeyId, secret: bytes) -> str:
    """Compose the key text that its owner sees once. It starts with `clp_live_` or `clp_dev_` (E82)."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a key needs {SECRET_BYTES} secret bytes")
    public = uuid.UUID(workspace_id).bytes + bytes.fromhex(key_id)
    return PREFIXES[mode] + tokens.encode(public) + tokens.encode(secret)


def parse(key: str) -> PublicPart | None:
    """Return the public part of a well-formed key, else None."""
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
    return hashlib.sha256(key.encode()).hexdigest()


def matches(key: str, stored: str | None) -> bool:
    """Compare in constant time. A missing row takes as long as a wrong key."""
    return hmac.compare_digest(hash_key(key), stored if stored is not None else "") and stored is not None
