"""Workspaces, tenants, API keys and the links that deliver a first key.

All data belongs to a workspace. A key is shown once and stored as a hash. A signup creates only a link; the workspace
and its key are created when a person opens that link and confirms, so the key never enters a chat (C26). Every change
is an event in the workspace's stream.

Randomness is an argument, because a store may run a transaction twice.
"""

from __future__ import annotations

import hmac
import uuid
from typing import Any, Final

import msgspec

from assent.engine.core import api_keys, journal
from assent.gate import review_link
from assent.kernel import tokens
from assent.kernel.ids import KeyId, WorkspaceId
from assent.kernel.limits import SIGNUP_LINK_TTL_MS
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Row, Transaction
from assent.sql.loader import statements

LOCAL_WORKSPACE: Final = WorkspaceId("00000000-0000-7000-8000-000000000001")
"""The default workspace of a local server (C32). The id is fixed, so that concurrent processes create one workspace."""


_RIGHTS: Final = {
    "runs:write": ("prepare or store anything", "Please ask the person who set up this agent."),
    "actions:decide": ("approve, reject or edit", "A person of the workspace decides on the review page."),
    "actions:execute": ("send or publish", "A person of the workspace can send it from the review page."),
}
"""For each scope: what it permits, and who can act without it, in words for a person."""


class Principal(msgspec.Struct, frozen=True):
    """The caller: a workspace, by one of its keys or as the local owner of the process. It reads and writes only that
    workspace (E2)."""

    workspace_id: WorkspaceId
    workspace_name: str
    key_id: KeyId | None
    mode: api_keys.Mode
    scopes: frozenset[str]
    first_key_id: KeyId | None = None
    """The first key of a chain of rotated keys."""
    toolsets: tuple[str, ...] = ()
    """The groups of tools it sees; empty for the server's default."""

    @property
    def holder(self) -> str:
        """The owner of this caller's stored answers: its key and the keys that replace it."""
        return self.first_key_id or self.key_id or "local"

    @property
    def name(self) -> str:
        """The name of this caller in the journal."""
        return f"key:{self.key_id}" if self.key_id is not None else "local"

    @property
    def link_scope(self) -> review_link.Scope:
        """The rights of review links given to this caller."""
        return review_link.scope_for(self.scopes)


def lack_scope(scope: str) -> Refusal:
    """The refusal for a caller whose key lacks a scope."""
    right, who = _RIGHTS[scope]
    return Refusal(Reason.INSUFFICIENT_SCOPE, facts={"right": right, "who": who})


class Workspace(msgspec.Struct, frozen=True):
    workspace_id: WorkspaceId
    name: str
    email: str | None
    created_ms: int


class KeyRecord(msgspec.Struct, frozen=True):
    """A key without its secret."""

    key_id: KeyId
    mode: api_keys.Mode
    label: str
    scopes: tuple[str, ...]
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None
    toolsets: tuple[str, ...] = ()


class IssuedKey(msgspec.Struct, frozen=True):
    """A new key with its secret, to be shown once."""

    workspace_id: WorkspaceId
    key_id: KeyId
    api_key: str


class KeyEntropy(msgspec.Struct, frozen=True):
    """The randomness of one key."""

    key_id: bytes
    secret: bytes


def create_workspace(
    workspace_id: WorkspaceId, name: str, now_ms: int, *, email: str | None = None, by: str
) -> Transaction[bool]:
    """Create a workspace. Returns False if it exists."""
    made = yield statements.insert_workspace(
        workspace_id=workspace_id, name=name, email=email, created_ms=now_ms
    )
    if not made:
        return False
    yield from journal.append(
        workspace_id, workspace_id, [journal.NewEvent("workspace_created", {"name": name, "by": by})], now_ms
    )
    return True


def issue_key(
    workspace_id: WorkspaceId,
    entropy: KeyEntropy,
    now_ms: int,
    *,
    mode: api_keys.Mode = "live",
    label: str = "default",
    scopes: tuple[str, ...] = api_keys.SCOPES,
    expires_ms: int | None = None,
    first_key_id: str | None = None,
    toolsets: tuple[str, ...] = (),
    by: str,
) -> Transaction[IssuedKey]:
    """Create a key of an existing workspace."""
    if not (yield statements.find_workspace(workspace_id=workspace_id)):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    key_id = KeyId(entropy.key_id.hex())
    key = api_keys.compose(mode, workspace_id, key_id, entropy.secret)
    yield statements.insert_api_key(
        workspace_id=workspace_id,
        key_id=key_id,
        mode=mode,
        secret_hash=api_keys.hash_key(key),
        label=label,
        scopes=" ".join(scopes),
        created_ms=now_ms,
        expires_ms=expires_ms,
        first_key_id=first_key_id,
        toolsets=" ".join(toolsets),
    )
    body = {"keyId": key_id, "label": label, "mode": mode, "scopes": list(scopes), "by": by}
    yield from journal.append(workspace_id, workspace_id, [journal.NewEvent("key_issued", body)], now_ms)
    return IssuedKey(workspace_id, key_id, key)


def revoke_key(workspace_id: WorkspaceId, key_id: KeyId, now_ms: int, *, by: str) -> Transaction[bool]:
    """Revoke a key. Returns False if there is no such active key."""
    ended = yield statements.revoke_api_key(workspace_id=workspace_id, key_id=key_id, now_ms=now_ms)
    if not ended:
        return False
    yield from journal.append(
        workspace_id, workspace_id, [journal.NewEvent("key_revoked", {"keyId": key_id, "by": by})], now_ms
    )
    return True


def rotate_key(
    workspace_id: WorkspaceId, key_id: KeyId, entropy: KeyEntropy, now_ms: int, *, by: str
) -> Transaction[IssuedKey | None]:
    """Revoke a key and issue its successor with the same rights, in one transaction."""
    ended = yield statements.revoke_api_key(workspace_id=workspace_id, key_id=key_id, now_ms=now_ms)
    if not ended:
        return None
    old = ended[0]
    yield from journal.append(
        workspace_id, workspace_id, [journal.NewEvent("key_revoked", {"keyId": key_id, "by": by})], now_ms
    )
    return (
        yield from issue_key(
            workspace_id,
            entropy,
            now_ms,
            mode=old["mode"],
            label=old["label"],
            scopes=tuple(old["scopes"].split()),
            expires_ms=old["expires_ms"],
            first_key_id=old["first_key_id"] or key_id,
            toolsets=tuple(old["toolsets"].split()),
            by=by,
        )
    )


def list_keys(workspace_id: WorkspaceId) -> Transaction[list[KeyRecord]]:
    rows = yield statements.list_api_keys(workspace_id=workspace_id)
    return [
        KeyRecord(
            key_id=KeyId(row["key_id"]),
            mode=row["mode"],
            label=row["label"],
            scopes=tuple(row["scopes"].split()),
            created_ms=row["created_ms"],
            expires_ms=row["expires_ms"],
            revoked_ms=row["revoked_ms"],
            toolsets=tuple(row["toolsets"].split()),
        )
        for row in rows
    ]


def list_workspaces() -> Transaction[list[Workspace]]:
    """List all workspaces, for the operator of the server."""
    rows = yield statements.list_workspaces()
    return [_workspace(row) for row in rows]


def get_workspace(workspace_id: WorkspaceId) -> Transaction[Workspace]:
    """Return a workspace. Raises `Refusal` if it does not exist."""
    rows = yield statements.find_workspace(workspace_id=workspace_id)
    if not rows:
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    return _workspace(rows[0])


def describe(workspace_id: WorkspaceId) -> Transaction[tuple[Workspace, list[str]]]:
    """Return a workspace and the ids of its tenants."""
    workspace = yield from get_workspace(workspace_id)
    tenants = yield from list_tenants(workspace_id)
    return workspace, [tenant.tenant_id for tenant in tenants]


class Tenant(msgspec.Struct, frozen=True):
    """A client or product within a workspace, with its own memory."""

    tenant_id: str
    name: str
    created_ms: int


def list_tenants(workspace_id: WorkspaceId) -> Transaction[list[Tenant]]:
    rows = yield statements.list_tenants(workspace_id=workspace_id)
    return [Tenant(row["tenant_id"], row["name"], row["created_ms"]) for row in rows]


def add_tenant(workspace_id: WorkspaceId, tenant_id: str, name: str, now_ms: int) -> Transaction[None]:
    """Create a tenant unless it exists."""
    yield statements.insert_tenant(
        workspace_id=workspace_id, tenant_id=tenant_id, name=name, created_ms=now_ms
    )


def authenticate(key: str, now_ms: int) -> Transaction[Principal]:
    """Return the caller of a key. Raises `invalid_api_key`, the same for malformed, unknown, revoked and expired
    keys."""
    public = api_keys.parse(key)
    if public is None:
        raise Refusal(Reason.INVALID_API_KEY)
    rows = yield statements.find_api_key(workspace_id=public.workspace_id, key_id=public.key_id)
    return principal_of(key, public, rows[0] if rows else None, now_ms)


def principal_of(key: str, public: api_keys.PublicPart, row: Row | None, now_ms: int) -> Principal:
    """Check a key against its row and return the caller. Raises `Refusal`."""
    genuine = api_keys.matches(key, row["secret_hash"] if row is not None else None)
    if row is None or not genuine or row["revoked_ms"] is not None:
        raise Refusal(Reason.INVALID_API_KEY)
    if row["expires_ms"] is not None and row["expires_ms"] <= now_ms:
        raise Refusal(Reason.INVALID_API_KEY)
    if row["workspace_name"] is None:
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    return Principal(
        workspace_id=public.workspace_id,
        workspace_name=row["workspace_name"],
        key_id=public.key_id,
        mode=row["mode"],
        scopes=frozenset(row["scopes"].split()),
        first_key_id=row["first_key_id"],
        toolsets=tuple(row["toolsets"].split()),
    )


LOCAL_PRINCIPAL: Final = Principal(
    workspace_id=LOCAL_WORKSPACE,
    workspace_name="local",
    key_id=None,
    mode="live",
    scopes=frozenset(api_keys.SCOPES),
)


# Signup: first a link; the workspace is created when a person confirms.

LINK_SECRET_BYTES: Final = 24


def request_signup(
    workspace_id: WorkspaceId, secret: bytes, email: str, name: str, now_ms: int
) -> Transaction[str]:
    """Store a signup link and return its token. The workspace has an id but does not exist yet."""
    token = tokens.encode(uuid.UUID(workspace_id).bytes) + tokens.encode(secret)
    yield statements.insert_signup_link(
        workspace_id=workspace_id,
        secret_hash=api_keys.hash_key(token),
        email=email,
        name=name,
        created_ms=now_ms,
        expires_ms=now_ms + SIGNUP_LINK_TTL_MS,
    )
    return token


class SignupLink(msgspec.Struct, frozen=True):
    """A signup link that can still be claimed."""

    workspace_id: WorkspaceId
    email: str
    name: str


def find_signup(token: str, now_ms: int) -> Transaction[SignupLink | None]:
    """Return the link of a token if it can be claimed. Unknown, used and expired tokens give None."""
    workspace_id = _link_workspace(token)
    rows: Any = []
    if workspace_id is not None:
        rows = yield statements.find_signup_link(workspace_id=workspace_id)
    row = rows[0] if rows else None
    genuine = hmac.compare_digest(api_keys.hash_key(token), row["secret_hash"] if row is not None else "")
    if workspace_id is None or row is None or not genuine:
        return None
    if row["claimed_ms"] is not None or row["expires_ms"] <= now_ms:
        return None
    return SignupLink(workspace_id, row["email"], row["name"])


def claim_signup(token: str, entropy: KeyEntropy, now_ms: int) -> Transaction[IssuedKey | None]:
    """Create the workspace and its first key, once. Returns None if the link cannot be claimed."""
    link = yield from find_signup(token, now_ms)
    if link is None:
        return None
    claimed = yield statements.claim_signup_link(workspace_id=link.workspace_id, now_ms=now_ms)
    if not claimed:
        return None
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


def _workspace(row: Row) -> Workspace:
    return Workspace(WorkspaceId(row["workspace_id"]), row["name"], row["email"], row["created_ms"])
