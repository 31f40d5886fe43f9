"""Signup: the one-time link that delivers a workspace and its first key to a person.

A signup stores only a link. The workspace and its key are created when a person opens that link and
confirms, so the key never enters a chat (C26).
"""

from __future__ import annotations

import hmac
import uuid
from typing import Any, Final

from assent.engine.core import tenancy
from assent.engine.core.tenancy import IssuedKey, KeyEntropy, create_workspace, hash_key, issue_key
from assent.kernel import tokens
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import SIGNUP_LINK_TTL_MS
from assent.kernel.structs import Record
from assent.ports import Transaction
from assent.sql.loader import statements

LINK_SECRET_BYTES: Final = 24


def request_signup(
    workspace_id: WorkspaceId, secret: bytes, email: str, name: str, now_ms: int
) -> Transaction[str]:
    """Store a signup link and return its token. The workspace has an id but does not exist yet."""
    token = tokens.encode(uuid.UUID(workspace_id).bytes) + tokens.encode(secret)
    yield statements.insert_signup_link(
        workspace_id=workspace_id,
        secret_hash=hash_key(token),
        email=email,
        name=name,
        created_ms=now_ms,
        expires_ms=now_ms + SIGNUP_LINK_TTL_MS,
    )
    return token


class SignupLink(Record):
    """A signup link that can still be claimed."""

    workspace_id: WorkspaceId
    email: str
    name: str


def find_signup(token: str, now_ms: int) -> Transaction[SignupLink | None]:
    """Return the claimable link of a token; None if it is unknown, used or expired."""
    workspace_id = _link_workspace(token)
    rows: Any = []
    if workspace_id is not None:
        rows = yield statements.find_signup_link(workspace_id=workspace_id)
    row = rows[0] if rows else None
    genuine = hmac.compare_digest(hash_key(token), row["secret_hash"] if row is not None else "")
    if workspace_id is None or row is None or not genuine:
        return None
    if row["claimed_ms"] is not None or row["expires_ms"] <= now_ms:
        return None
    return SignupLink(workspace_id, row["email"], row["name"])


def claim_signup(
    token: str, entropy: KeyEntropy, now_ms: int, *, reserved: frozenset[str]
) -> Transaction[IssuedKey | None]:
    """Create the workspace and its first key, once. Returns None if the link cannot be claimed. Raises `name_taken` if
    another workspace got the name since the request, or the settings reserve it now."""
    link = yield from find_signup(token, now_ms)
    if link is None:
        return None
    claimed = yield statements.claim_signup_link(workspace_id=link.workspace_id, now_ms=now_ms)
    if not claimed:
        return None
    yield from tenancy.choose_name(link.name, reserved)
    yield from create_workspace(link.workspace_id, link.name, now_ms, email=link.email, by="signup")
    return (yield from issue_key(link.workspace_id, entropy, now_ms, label="signup", by="signup"))


def forget_expired_links(now_ms: int, most: int) -> Transaction[int]:
    """Delete expired links. Returns the number deleted."""
    return len((yield statements.delete_expired_signup_links(now_ms=now_ms, most=most)))


def _link_workspace(token: str) -> WorkspaceId | None:
    try:
        raw = tokens.decode(token[:22])
    except tokens.TokenInvalid:
        return None
    return WorkspaceId(str(uuid.UUID(bytes=raw))) if len(raw) == 16 else None
