"""Workspaces, their tenants and API keys, and the caller that a key identifies.

All data belongs to a workspace. A key is `clp_live_` or `clp_dev_` (E82), then 32 characters with
the ids of the workspace and the key, then 32 secret characters. The ids find its row by one indexed
look-up that includes the workspace, so the table can be sharded. A key is shown once; the store
keeps only a hash of it. The secret has 192 bits, so plain SHA-256 is enough and no slow hash is
needed. Every change is an event in the workspace's stream.

Randomness is an argument, because a store may run a transaction twice.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import re
import uuid
from typing import Any, Final, Literal, TypedDict, Unpack, get_args

import msgspec

from assent.engine.core import journal
from assent.gate import review_link
from assent.gate.records import Proposal
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, KeyId, WorkspaceId, is_uuid
from assent.kernel.limits import ACCESS_TOKEN_TTL_MS, CLOCKS_APART_MS
from assent.kernel.reasons import NO_SIGNUP
from assent.kernel.refusals import Reason, Refusal, Words
from assent.kernel.structs import Record, from_row
from assent.kernel.texts import fold_name, write_name
from assent.kernel.times import iso_time
from assent.ports import Row, Transaction
from assent.sql.loader import statements

SIGNUP: Final = "signup"
"""Who creates a workspace that a stranger asked for."""
LOCAL_WORKSPACE: Final = WorkspaceId("00000000-0000-7000-8000-000000000001")
"""The default workspace of a local server (C32). Fixed, so that processes create one."""

KeyMode = Literal["dev", "live"]

KEY_PREFIXES: Final[dict[KeyMode, str]] = {"dev": "clp_dev_", "live": "clp_live_"}
KEY_ID_BYTES: Final = 8
SECRET_BYTES: Final = 24

Scope = Literal["runs:write", "actions:decide", "actions:execute", "policy:write"]
SCOPES: Final[tuple[Scope, ...]] = ("runs:write", "actions:decide", "actions:execute")
"""The scopes of a usual key, which it can be limited to. Reading needs no scope."""
POLICY_SCOPE: Final = "policy:write"
ALL_SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""Every scope. A key that may change the policy is made by name, never by default."""

_KEY: Final = re.compile(r"clp_(?:dev|live)_([A-Za-z0-9_-]{32})[A-Za-z0-9_-]{32}")
"""Each half is base64url of 24 bytes, which 32 characters hold exactly: no key has two
spellings."""

_RIGHTS: Final = {
    "runs:write": ("prepare or store anything", "Please ask the person who set up this agent."),
    "actions:decide": ("approve, reject or edit", "A person of the workspace decides on the review page."),
    "actions:execute": ("send or publish", "A person of the workspace can send it from the review page."),
    POLICY_SCOPE: ("change the policy", "An owner changes it on the settings page."),
}
"""For each scope: what it permits, and who can act without it, in words for a person."""


class Principal(Record):
    """The caller: a workspace, by one of its keys or as the local owner of the process. It reads
    and writes only that workspace (E2)."""

    workspace_id: WorkspaceId
    workspace_name: str
    key_id: KeyId | None
    mode: KeyMode
    scopes: frozenset[str]
    first_key_id: KeyId | None = None
    """The first key of a chain of rotated keys."""
    toolsets: tuple[str, ...] = ()
    """The groups of tools it sees; empty for the server's default."""
    label: str = ""
    """The label of its key."""
    person_id: str = ""
    """The person whose key it is, if that is known."""
    client_dialog: bool = False
    """Whether an approval that needs it can be confirmed in the client's own dialog: its key allows it,
    and the client of this call declares one (`serving/edge.py`)."""

    calls_per_minute: int | None = None
    """The rate of its workspace, if that has one of its own."""

    asked: tuple[str, ...] | None = None
    """The scopes that an OAuth client asked for; None for a key that no client got."""
    is_confirmed: bool = True
    """Whether the access token was used before, so its client is known to have it."""

    @property
    def name(self) -> str:
        """The name of this caller in the journal."""
        return f"key:{self.key_id}" if self.key_id is not None else "local"

    @property
    def is_test(self) -> bool:
        """Whether what this caller prepares, edits or approves is never sent for real."""
        return self.mode == "dev"

    @property
    def holder(self) -> str:
        """The owner of this caller's stored answers: its key and the keys that replace it."""
        return self.first_key_id or self.key_id or "local"

    @property
    def agent(self) -> str:
        """The agent that this caller is for a freeze and for a flood of proposals."""
        return self.name if self.key_id is None else f"key:{self.holder}"

    def require(self, scope: str) -> None:
        """Raise `Refusal` unless its key has a right."""
        if scope not in self.scopes:
            right, who = _RIGHTS[scope]
            raise Refusal(Reason.INSUFFICIENT_SCOPE, facts={"right": right, "who": who})

    def propose(self, operator: str) -> dict[str, Any]:
        """Return who proposes an action, for its metadata."""
        holder = self.first_key_id or ""
        said = Proposal(operator, self.name, self.label, self.person_id, holder=holder, test=self.is_test)
        found: dict[str, Any] = msgspec.to_builtins(said)
        return found

    @property
    def link_scope(self) -> review_link.Scope:
        """The rights of review links given to this caller."""
        return review_link.scope_for(self.scopes)


def lack_key(*, signup_open: bool) -> Refusal:
    """Return `missing_api_key`. Where sign-up is closed, no tool helps and no repetition does (E53)."""
    if signup_open:
        return Refusal(Reason.MISSING_API_KEY)
    words = Words(user_message=NO_SIGNUP.user_message, fix=NO_SIGNUP.fix)
    return Refusal(Reason.MISSING_API_KEY, words=words, retry=NO_SIGNUP.retry)


class TokenEnded(Refusal):
    """`invalid_api_key` for the access token of a client, which can renew it or sign in again."""


class Workspace(Record):
    workspace_id: WorkspaceId
    name: str
    email: str | None
    created_ms: int


class KeyRecord(Record):
    """A key without its secret."""

    key_id: KeyId
    mode: KeyMode
    label: str
    scopes: tuple[str, ...]
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None
    toolsets: tuple[str, ...] = ()
    client_dialog: bool = True
    client: str | None = None
    """The host of the OAuth client that got it, and renews it."""
    first_key_id: KeyId | None = None
    person_id: str | None = None

    def can_be_ended_by(self, person_id: str) -> bool:
        """Whether a person who is no owner may revoke it: they let its client in."""
        return self.client is not None and self.person_id == person_id

    @property
    def agent(self) -> str:
        """The agent whose key it is, as `Principal.agent`: a key and those that replace it are one."""
        return f"key:{self.first_key_id or self.key_id}"


class IssuedKey(Record):
    """A new key with its secret, to be shown once."""

    workspace_id: WorkspaceId
    key_id: KeyId
    api_key: str


class KeyEntropy(Record):
    """The randomness of one key."""

    key_id: bytes
    secret: bytes


def create_workspace(
    workspace_id: WorkspaceId, name: str, now_ms: int, *, email: str | None = None, by: str
) -> Transaction[bool]:
    """Create a workspace. Returns False if it exists. One `by` sign-up is its members' alone: it is in no inbox and
    no notification of the server's owners who did not join it."""
    made = yield statements.insert_workspace(
        workspace_id=workspace_id, name=name, email=email, created_ms=now_ms, signed_up=int(by == SIGNUP)
    )
    if not made:
        return False
    yield from journal.note(workspace_id, "workspace_created", {"name": name, "by": by}, now_ms)
    return True


def choose_name(
    wanted: str, reserved: frozenset[str], *, own: WorkspaceId | None = None, numbered: bool = False
) -> Transaction[str]:
    """Return the name as it is stored if it is free, or with `numbered` the first one with a number that is. Raises
    `name_taken` if a workspace other than `own` has it, if `reserved` has it folded, or if it looks like an id. Runs
    in the transaction that gives the name, before other locks."""
    yield statements.lock_workspace_names()
    known = yield from list_workspaces()
    taken = reserved.union(fold_name(each.name) for each in known if each.workspace_id != own)
    others = (f"{wanted} {number}" for number in itertools.count(2))
    for name in map(write_name, itertools.chain([wanted], others if numbered else ())):
        if (folded := fold_name(name)) and folded not in taken and not is_uuid(folded):
            return name
    raise Refusal(Reason.NAME_TAKEN)


def set_rate(
    workspace_id: WorkspaceId, calls_per_minute: int | None, now_ms: int, *, by: str
) -> Transaction[None]:
    """Let a workspace make so many calls in a minute; None for as many as the settings say."""
    if not (
        yield statements.set_calls_per_minute(workspace_id=workspace_id, calls_per_minute=calls_per_minute)
    ):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    facts = {"perMinute": calls_per_minute or "the server's default", "by": by}
    yield from journal.note(workspace_id, "rate_changed", facts, now_ms)


class KeyOptions(TypedDict, total=False):
    """What a key may do, and for whom. Everything has a default."""

    mode: KeyMode
    label: str
    scopes: tuple[str, ...]
    expires_ms: int | None
    first_key_id: str | None
    toolsets: tuple[str, ...]
    person_id: str | None
    """The person who uses it."""
    client_dialog: bool
    """Whether its client may be asked to show a dialog."""
    client: str | None
    """The host of the client that gets it by OAuth."""


def issue_key(
    workspace_id: WorkspaceId,
    entropy: KeyEntropy,
    now_ms: int,
    *,
    by: str,
    **options: Unpack[KeyOptions],
) -> Transaction[IssuedKey]:
    """Create a key of an existing workspace."""
    if not (yield statements.find_workspace(workspace_id=workspace_id)):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    key_id, mode = KeyId(entropy.key_id.hex()), options.get("mode", "live")
    label, scopes = options.get("label", "default"), options.get("scopes", SCOPES)
    key = compose_key(mode, workspace_id, key_id, entropy.secret)
    yield statements.insert_api_key(
        workspace_id=workspace_id,
        key_id=key_id,
        mode=mode,
        secret_hash=hash_key(key),
        label=label,
        scopes=" ".join(scopes),
        created_ms=now_ms,
        expires_ms=options.get("expires_ms"),
        first_key_id=options.get("first_key_id"),
        toolsets=" ".join(options.get("toolsets", ())),
        person_id=options.get("person_id"),
        client_dialog=int(options.get("client_dialog", True)),
        client=options.get("client"),
    )
    body = {"keyId": key_id, "label": label, "mode": mode, "scopes": list(scopes), "by": by}
    yield from journal.note(workspace_id, "key_issued", body, now_ms)
    return IssuedKey(workspace_id, key_id, key)


def revoke_key(workspace_id: WorkspaceId, key_id: KeyId, now_ms: int, *, by: str) -> Transaction[bool]:
    """Revoke a key. Returns False if there is no such active key."""
    return (yield from _revoke(workspace_id, key_id, now_ms, by=by)) is not None


def _revoke(workspace_id: WorkspaceId, key_id: KeyId, now_ms: int, *, by: str) -> Transaction[Row | None]:
    """Revoke a key. Returns its row, or None if there is no such active key."""
    ended = yield statements.revoke_api_key(workspace_id=workspace_id, key_id=key_id, now_ms=now_ms)
    if not ended:
        return None
    yield from journal.note(workspace_id, "key_revoked", {"keyId": key_id, "by": by}, now_ms)
    return ended[0]


def rotate_key(
    workspace_id: WorkspaceId,
    key_id: KeyId,
    entropy: KeyEntropy,
    now_ms: int,
    *,
    by: str,
    overlap_ms: int = 0,
) -> Transaction[IssuedKey | None]:
    """Issue the successor of a key with the same rights and end the key, in one transaction. With `overlap_ms`
    the old key works until then, never longer than it would have. Returns None if there is no such active key, and for
    one that a client got by OAuth."""
    known = yield statements.find_api_key(workspace_id=workspace_id, key_id=key_id)
    if known and known[0]["client"] is not None:
        return None  # its client renews it
    old = yield from (
        _let_expire(workspace_id, key_id, now_ms, now_ms + overlap_ms, by=by)
        if overlap_ms
        else _revoke(workspace_id, key_id, now_ms, by=by)
    )
    if old is None:
        return None
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
            person_id=old["person_id"],
            client_dialog=bool(old["client_dialog"]),
            by=by,
        )
    )


def _let_expire(
    workspace_id: WorkspaceId, key_id: KeyId, now_ms: int, ends_ms: int, *, by: str
) -> Transaction[Row | None]:
    """Let a key end at a time. Returns its row as it was, or None if there is no such active key."""
    named = {"workspace_id": workspace_id, "key_id": key_id}
    found = yield statements.find_active_api_key(**named, now_ms=now_ms)
    if not found:
        return None
    ends_ms = min(ends_ms, found[0]["expires_ms"] or ends_ms)
    yield statements.let_api_key_expire(**named, ends_ms=ends_ms)
    facts = {"keyId": key_id, "until": iso_time(ends_ms), "by": by}
    yield from journal.note(workspace_id, "key_rotated", facts, now_ms)
    return found[0]


def list_keys(workspace_id: WorkspaceId) -> Transaction[list[KeyRecord]]:
    rows = yield statements.list_api_keys(workspace_id=workspace_id)
    return [
        from_row(
            KeyRecord,
            row,
            scopes=tuple(row["scopes"].split()),
            toolsets=tuple(row["toolsets"].split()),
            client_dialog=bool(row["client_dialog"]),
        )
        for row in rows
    ]


def list_workspaces() -> Transaction[list[Workspace]]:
    """List all workspaces, for the operator of the server."""
    rows = yield statements.list_workspaces()
    return [from_row(Workspace, row) for row in rows]


def get_workspace(workspace_id: WorkspaceId) -> Transaction[Workspace]:
    """Return a workspace. Raises `Refusal` if it does not exist."""
    rows = yield statements.find_workspace(workspace_id=workspace_id)
    if not rows:
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    return from_row(Workspace, rows[0])


class Tenant(Record):
    """A client or product within a workspace, with its own memory."""

    tenant_id: str
    name: str
    created_ms: int


DEFAULT_TENANT: Final = "default"
"""To which everything belongs that names no tenant."""
TENANTS_OFFERED: Final = 100
"""How many tenants a form offers and an answer about the workspace names."""


def list_tenants(
    workspace_id: WorkspaceId, after: str = "", most: int = TENANTS_OFFERED
) -> Transaction[list[Tenant]]:
    """List tenants in the order of their ids, after one of them."""
    rows = yield statements.list_tenants(workspace_id=workspace_id, after=after, most=most)
    return [from_row(Tenant, row) for row in rows]


def name_tenant(tenant_id: str) -> str | None:
    """Return the tenant as it is stored with what belongs to it."""
    return tenant_id if tenant_id != DEFAULT_TENANT else None


def find_tenant(workspace_id: WorkspaceId, tenant_id: str) -> Transaction[Tenant | None]:
    rows = yield statements.find_tenant(workspace_id=workspace_id, tenant_id=tenant_id)
    return from_row(Tenant, rows[0]) if rows else None


def add_tenant(workspace_id: WorkspaceId, tenant_id: str, name: str, now_ms: int) -> Transaction[None]:
    """Create a tenant unless it exists."""
    yield statements.insert_tenant(
        workspace_id=workspace_id, tenant_id=tenant_id, name=name, created_ms=now_ms
    )


class KeyIds(Record):
    """The part of a key that may be shown: it identifies the key and grants nothing."""

    workspace_id: WorkspaceId
    key_id: KeyId


def compose_key(mode: KeyMode, workspace_id: WorkspaceId, key_id: KeyId, secret: bytes) -> str:
    """Compose the key text that its owner sees once."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a key needs {SECRET_BYTES} secret bytes")
    public = uuid.UUID(workspace_id).bytes + bytes.fromhex(key_id)
    return KEY_PREFIXES[mode] + tokens.encode(public) + tokens.encode(secret)


def parse_key(key: str) -> KeyIds | None:
    """Return the ids in a well-formed key, else None."""
    match = _KEY.fullmatch(key)
    if match is None:
        return None
    public = base64.urlsafe_b64decode(match[1])
    return KeyIds(WorkspaceId(str(uuid.UUID(bytes=public[:16]))), KeyId(public[16:].hex()))


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def authenticate(key: str, now_ms: int) -> Transaction[Principal]:
    """Return the caller of a key. Raises `invalid_api_key`, the same for malformed, unknown,
    revoked and expired keys."""
    ids = parse_key(key)
    if ids is None:
        raise Refusal(Reason.INVALID_API_KEY)
    rows = yield statements.find_api_key(workspace_id=ids.workspace_id, key_id=ids.key_id)
    row = rows[0] if rows else None
    # In constant time, and a missing row takes as long as a wrong key.
    genuine = hmac.compare_digest(hash_key(key), row["secret_hash"] if row is not None else "")
    if row is None or not genuine:
        raise Refusal(Reason.INVALID_API_KEY)
    ended = row["revoked_ms"] is not None or (row["expires_ms"] is not None and row["expires_ms"] <= now_ms)
    if row["client"] is not None:
        granted = yield statements.find_client_grant(workspace_id=ids.workspace_id, key_id=ids.key_id)
        # A clock that was set back makes no old token young again.
        is_early = now_ms < row["expires_ms"] - ACCESS_TOKEN_TTL_MS - CLOCKS_APART_MS
        is_gone = is_early or not granted or not (yield from has_member(ids.workspace_id, row["person_id"]))
        ended = ended or is_gone
    if ended:
        raise (Refusal if row["client"] is None else TokenEnded)(Reason.INVALID_API_KEY)
    if row["workspace_name"] is None:
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    return Principal(
        workspace_id=ids.workspace_id,
        workspace_name=row["workspace_name"],
        key_id=ids.key_id,
        mode=row["mode"],
        scopes=frozenset(row["scopes"].split()),
        first_key_id=row["first_key_id"],
        toolsets=tuple(row["toolsets"].split()),
        label=row["label"],
        person_id=row["person_id"] or "",
        client_dialog=bool(row["client_dialog"]),
        calls_per_minute=row["calls_per_minute"],
        asked=tuple(granted[0]["asked"].split()) if row["client"] is not None else None,
        is_confirmed=row["client"] is None or not granted[0]["salt"],
    )


def has_member(workspace_id: WorkspaceId, person_id: str) -> Transaction[bool]:
    """Whether a person is in a workspace, and was not removed from the server."""
    known = yield statements.find_person(workspace_id=SYSTEM_WORKSPACE, person_id=person_id)
    if not known or known[0]["role"] == "owner":
        return bool(known)
    return bool((yield statements.find_membership(workspace_id=workspace_id, person_id=person_id)))


LOCAL_PRINCIPAL: Final = Principal(
    workspace_id=LOCAL_WORKSPACE,
    workspace_name="local",
    key_id=None,
    mode="live",
    scopes=frozenset(SCOPES),
    label="local",
    person_id="owner",
    client_dialog=True,
)
