"""What a person allowed a client by OAuth: a code that works once, an access token, refresh tokens that rotate.

The access token is an API key (`tenancy`): its hash is in the same table, and it is listed and revoked with the others.
The key is made when the person allows it, and each exchange gives it another secret. A refresh token has a generation.
The newest one renews; the one before it gets the same answer again until the client has used its new access token, so
that a lost answer locks nobody out. Any other that this server signed was used before: somebody copied it, and the
grant ends with all of its tokens. So it does when a code comes a second time.

Randomness is an argument, because a store may run a transaction twice.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from typing import Final

from assent.engine.core import tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy, KeyIds, KeyMode, KeyOptions
from assent.kernel.ids import KeyId, WorkspaceId
from assent.kernel.limits import (
    ACCESS_TOKEN_TTL_MS,
    CLIENT_CODE_TTL_MS,
    CLIENT_GRANT_TTL_MS,
    CLOCKS_APART_MS,
)
from assent.kernel.structs import Record
from assent.kernel.tokens import KeyRing, TokenInvalid
from assent.ports import Row, Transaction
from assent.sql.loader import statements

SALT_BYTES: Final = 16
_IDS_BYTES: Final = 16 + KEY_ID_BYTES
_GENERATION_BYTES: Final = 4

BY_CLIENT: Final = "its client"
BY_REUSE: Final = "the server, because a token came a second time,"


class RefreshToken(Record):
    """A refresh token that this server signed, or with generation 0 a code. Whether it still works is stored."""

    ids: KeyIds
    generation: int
    secret: bytes

    def sign(self, ring: KeyRing) -> str:
        ids = uuid.UUID(self.ids.workspace_id).bytes + bytes.fromhex(self.ids.key_id)
        return ring.sign(ids + self.generation.to_bytes(_GENERATION_BYTES, "big") + self.secret)

    @property
    def hashed(self) -> str:
        return hash_text(self.secret.hex())

    def derive(self, salt: bytes, purpose: bytes) -> bytes:
        """A secret that follows from this token and a stored salt, so that an equal request gets an equal answer. Who
        knows one of the two knows nothing."""
        return hmac.digest(self.secret, salt + purpose, "sha256")[:SECRET_BYTES]


def read_token(ring: KeyRing, token: str) -> RefreshToken | None:
    """Return a token that the ring signed, else None."""
    try:
        payload = ring.verify(token)
    except TokenInvalid:
        return None
    ids = KeyIds(WorkspaceId(str(uuid.UUID(bytes=payload[:16]))), KeyId(payload[16:_IDS_BYTES].hex()))
    end = _IDS_BYTES + _GENERATION_BYTES
    return RefreshToken(ids, int.from_bytes(payload[_IDS_BYTES:end], "big"), payload[end:])


class ClientTokens(Record):
    access_token: str
    refresh_token: RefreshToken
    scopes: tuple[str, ...]


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def allow(
    workspace_id: WorkspaceId,
    entropy: KeyEntropy,
    now_ms: int,
    asked: tuple[str, ...],
    bound_to: dict[str, str],
    options: KeyOptions,
    *,
    by: str,
) -> Transaction[KeyIds]:
    """Make the key of a client, whose secret nobody has. `bound_to` names the client and its request."""
    ends_ms = now_ms + CLIENT_CODE_TTL_MS
    made: KeyOptions = {**options, "expires_ms": ends_ms}
    ids = KeyIds(
        workspace_id, (yield from tenancy.issue_key(workspace_id, entropy, now_ms, by=by, **made)).key_id
    )
    allowed = {
        "asked": " ".join(asked),
        "scopes": " ".join(options["scopes"]),
        "ends_ms": ends_ms,
        **bound_to,
    }
    yield statements.insert_client_grant(workspace_id=workspace_id, key_id=ids.key_id, **allowed)
    return ids


def find(ids: KeyIds) -> Transaction[Row | None]:
    rows = yield statements.find_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)
    return rows[0] if rows else None


def redeem(
    code: RefreshToken,
    client_hash: str,
    redirect_hash: str | None,
    challenge: str,
    secret: bytes,
    salt: bytes,
    now_ms: int,
) -> Transaction[ClientTokens | None]:
    """Exchange a code for the first tokens. Returns None for one that does not fit, which is used up all the same. One
    that was used before ends what came of it."""
    ids = code.ids
    rows = yield statements.use_client_code(workspace_id=ids.workspace_id, key_id=ids.key_id)
    if not rows:
        yield from tenancy.revoke_key(ids.workspace_id, ids.key_id, now_ms, by=BY_REUSE)
        return None
    row = rows[0]
    fits = (
        row["client_hash"] == client_hash
        and row["redirect_hash"] == (redirect_hash or row["redirect_hash"])
        and hmac.compare_digest(row["challenge"], challenge)
        # A clock that was set back makes no old code young again.
        and row["ends_ms"] - CLIENT_CODE_TTL_MS - CLOCKS_APART_MS <= now_ms < row["ends_ms"]
    )
    mode = yield from _find_mode(ids)
    if not fits or mode is None:
        return None
    first = RefreshToken(ids, 0, secret)
    return (yield from _give(first, mode, tuple(row["scopes"].split()), salt, now_ms))


def renew(
    given: RefreshToken, client_hash: str, scopes: tuple[str, ...], salt: bytes, now_ms: int
) -> Transaction[ClientTokens | None]:
    """Exchange a refresh token for the next tokens, with scopes of its grant. Returns None if it does not work (any
    more)."""
    ids = given.ids
    rows = yield statements.lock_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)
    if not rows or given.generation > rows[0]["generation"]:  # the store is older than the token
        return None
    row = rows[0]
    repeats = bool(row["salt"]) and given.generation == row["generation"] - 1
    known = row["previous_hash" if repeats else "refresh_hash"]
    is_known = repeats or given.generation == row["generation"]
    if row["client_hash"] != client_hash or not is_known or not hmac.compare_digest(known, given.hashed):
        yield from tenancy.revoke_key(ids.workspace_id, ids.key_id, now_ms, by=BY_REUSE)
        return None
    mode = yield from _find_mode(ids)
    if row["ends_ms"] <= now_ms or mode is None:
        return None
    salt = bytes.fromhex(row["salt"]) if repeats else salt
    return (yield from _give(given, mode, scopes, salt, now_ms, repeatable=True))


def _find_mode(ids: KeyIds) -> Transaction[KeyMode | None]:
    """Return the mode of a grant's key; None if it was revoked, or if its person may no longer be in the workspace."""
    (key,) = yield statements.find_api_key(workspace_id=ids.workspace_id, key_id=ids.key_id)
    is_member = yield from tenancy.has_member(ids.workspace_id, key["person_id"])
    return key["mode"] if is_member and key["revoked_ms"] is None else None


def _give(
    before: RefreshToken,
    mode: KeyMode,
    scopes: tuple[str, ...],
    salt: bytes,
    now_ms: int,
    *,
    repeatable: bool = False,
) -> Transaction[ClientTokens]:
    """Store and return the tokens that follow."""
    at, ids = {"workspace_id": before.ids.workspace_id, "key_id": before.ids.key_id}, before.ids
    access_token = tenancy.compose_key(mode, ids.workspace_id, ids.key_id, before.derive(salt, b"access"))
    following = RefreshToken(ids, before.generation + 1, before.derive(salt, b"refresh"))
    yield statements.set_access_token(
        **at,
        secret_hash=tenancy.hash_key(access_token),
        expires_ms=now_ms + ACCESS_TOKEN_TTL_MS,
        scopes=" ".join(scopes),
    )
    yield statements.set_client_refresh(
        **at,
        generation=following.generation,
        refresh_hash=following.hashed,
        previous_hash=before.hashed,
        salt=salt.hex() if repeatable else "",
        ends_ms=now_ms + CLIENT_GRANT_TTL_MS,
    )
    return ClientTokens(access_token, following, scopes)


def confirm(ids: KeyIds) -> Transaction[None]:
    """The client used its newest access token: the refresh token before it ends."""
    yield statements.confirm_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)


def forget_ended(now_ms: int, most: int) -> Transaction[int]:
    """Delete grants that nobody redeemed or renewed, and end their keys. Returns their number."""
    yield statements.end_forgotten_client_keys(now_ms=now_ms, most=most)
    return len((yield statements.delete_ended_client_grants(now_ms=now_ms, most=most)))
