"""Grants of OAuth clients: a code that works once, an access token, refresh tokens that rotate.

The access token is an API key (`tenancy`): its hash is in the same table, and it is listed and revoked with the others.
The key is issued when a person lets the client in, and each exchange replaces its secret. A refresh token has a
generation. The newest one renews. The one before it does so again until the client has used its new access token, so a
lost answer locks no one out; the tokens of the lost answer end. Any other one was used or replaced before, so it was
copied: the grant is revoked with all of its tokens. The same happens when a code is used twice.

Randomness is an argument, because a store may run a transaction twice.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from typing import Any, Final

from assent.engine.core import tenancy
from assent.engine.core.tenancy import KEY_ID_BYTES, SECRET_BYTES, KeyEntropy, KeyIds, KeyMode, KeyOptions
from assent.kernel.ids import KeyId, WorkspaceId
from assent.kernel.limits import ACCESS_TOKEN_TTL_MS, CLIENT_CODE_TTL_MS, CLIENT_GRANT_TTL_MS, CLOCKS_APART_MS
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
    """A refresh token, or a code with generation 0. The store knows whether it still works."""

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
        """Derive a secret from this token and a salt. Neither alone reveals it."""
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
    options: KeyOptions,
    bound_to: dict[str, str],
    *,
    by: str,
) -> Transaction[KeyIds]:
    """Issue the key of a client. Its secret is thrown away: a code will replace it. `bound_to` names the client and its
    request."""
    ends_ms = now_ms + CLIENT_CODE_TTL_MS
    until: KeyOptions = {**options, "expires_ms": ends_ms}
    key_id = (yield from tenancy.issue_key(workspace_id, entropy, now_ms, by=by, **until)).key_id
    named: dict[str, Any] = {"scopes": " ".join(options["scopes"]), **bound_to}
    yield statements.insert_client_grant(workspace_id=workspace_id, key_id=key_id, ends_ms=ends_ms, **named)
    return KeyIds(workspace_id, key_id)


def find(ids: KeyIds) -> Transaction[Row | None]:
    rows = yield statements.find_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)
    return rows[0] if rows else None


def redeem(
    code: RefreshToken,
    client_hash: str,
    redirect_hash: str | None,
    challenge: str,
    secret: bytes,
    now_ms: int,
) -> Transaction[ClientTokens | None]:
    """Exchange a code for the first tokens. Returns None for one that does not fit, which is used up all the same. A
    second use revokes the grant."""
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
    return (yield from _give(RefreshToken(ids, 0, secret), mode, tuple(row["scopes"].split()), b"", now_ms))


def renew(
    given: RefreshToken, client_hash: str, scopes: tuple[str, ...], salt: bytes, now_ms: int
) -> Transaction[ClientTokens | None]:
    """Exchange a refresh token for the next tokens, with scopes of its grant. Returns None if it no longer works."""
    ids = given.ids
    rows = yield statements.lock_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)
    if not rows or given.generation > rows[0]["generation"]:  # the store is older than the token
        return None
    row = rows[0]
    repeats = bool(row["salt"]) and hmac.compare_digest(row["previous_hash"], given.hashed)
    is_known = repeats or hmac.compare_digest(row["refresh_hash"], given.hashed)
    if row["client_hash"] != client_hash or not is_known:
        yield from tenancy.revoke_key(ids.workspace_id, ids.key_id, now_ms, by=BY_REUSE)
        return None
    mode = yield from _find_mode(ids)
    if row["ends_ms"] <= now_ms or mode is None:
        return None
    # With the tokens that the first request got, a client could not be told from a thief who asked before it.
    return (yield from _give(given, mode, scopes, salt, now_ms))


def _find_mode(ids: KeyIds) -> Transaction[KeyMode | None]:
    """Return the mode of a grant's key; None if it was revoked, or if its person may no longer be in the workspace."""
    (key,) = yield statements.find_api_key(workspace_id=ids.workspace_id, key_id=ids.key_id)
    is_member = yield from tenancy.has_member(ids.workspace_id, key["person_id"])
    return key["mode"] if is_member and key["revoked_ms"] is None else None


def _give(
    before: RefreshToken, mode: KeyMode, scopes: tuple[str, ...], salt: bytes, now_ms: int
) -> Transaction[ClientTokens]:
    """Store and return the tokens that follow. Without a salt the token before them does not renew again."""
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
        salt=salt.hex(),
        ends_ms=now_ms + CLIENT_GRANT_TTL_MS,
    )
    return ClientTokens(access_token, following, scopes)


def confirm(ids: KeyIds) -> Transaction[None]:
    """Note that the client used its newest access token, so the refresh token before it ends."""
    yield statements.confirm_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)


def forget_ended(now_ms: int, most: int) -> Transaction[int]:
    """Delete expired grants, and revoke their keys. Returns their number."""
    yield statements.end_forgotten_client_keys(now_ms=now_ms, most=most)
    return len((yield statements.delete_ended_client_grants(now_ms=now_ms, most=most)))
