"""The connections of a workspace (E8, C21): one per provider, with its secrets in the vault.

Keys and OAuth use the same operations: save, find, choose accounts, renew, mark expired,
disconnect. Each change is an event in the workspace's stream, with its author and without secrets.
A change applies only to the `version` of the connection that the caller read: a late 401 does not
expire a connection that was replaced.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from assent.engine.core import jobs, journal
from assent.engine.core.vault import Seal, SealBroken, Vault
from assent.gate.connection import Access, Account, Connection, ConnectionState, NewConnection, OpenedSecrets
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.kernel.refusals import Reason, Refusal, bad_argument
from assent.kernel.structs import Record, from_record, from_row
from assent.ports import Clock, Row, Store, Transaction
from assent.sql.loader import statements

log = logging.getLogger("assent.connections")

CONNECTED_JOB: Final = "follow_connection"
"""What was prepared before a provider was connected gets its account (`use_cases.connections.follow`)."""

_ACCOUNTS: Final = msgspec.json.Decoder(tuple[Account, ...])
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_START: Final = "wrapped server "


class ConnectionStore:
    """Connectors use it through the port `Connections`."""

    def __init__(self, store: Store, vault: Vault, clock: Clock) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock

    async def save(
        self, workspace_id: WorkspaceId, provider: str, new: NewConnection, *, by: str
    ) -> Connection:
        """Store a connection. It replaces an earlier one and its secrets."""
        seal, now_ms = self._vault.seal(len(list(new.secrets))), self._clock.now_ms()
        return await self._store.write(
            lambda: save(self._vault, workspace_id, provider, new, seal, now_ms, by=by)
        )

    async def find(self, workspace_id: WorkspaceId, provider: str) -> Connection | None:
        """Return the connection without its secrets, in any state."""
        return await self._store.read(lambda: find(workspace_id, provider))

    async def list_all(self, workspace_id: WorkspaceId) -> dict[str, Connection]:
        """Return the connections in any state without their secrets, by provider."""
        return await self._store.read(lambda: find_all(workspace_id))

    async def access(
        self, workspace_id: WorkspaceId, provider: str, state: ConnectionState = ConnectionState.CONNECTED
    ) -> Access | None:
        """Return a connection in this state with its opened secrets, else None."""
        try:
            return await self._store.read(lambda: access(self._vault, workspace_id, provider, state))
        except SealBroken as broken:
            log.error("secrets of %s in workspace %s: %s", provider, workspace_id, broken)
            return None

    async def renew(self, used: Connection, secrets: OpenedSecrets, expires_ms: int | None) -> bool:
        """Replace the secrets. Returns False if `used` was replaced."""
        seal, now_ms = self._vault.seal(len(list(secrets))), self._clock.now_ms()
        return await self._store.write(lambda: renew(self._vault, used, secrets, expires_ms, seal, now_ms))

    async def mark_expired(self, used: Connection, why: str) -> bool:
        """Record that the provider rejects the secrets of the connection `used`."""
        return await self._store.write(lambda: mark_expired(used, why, self._clock.now_ms()))

    async def update_accounts(self, used: Connection, accounts: tuple[Account, ...], why: str) -> bool:
        """The person's choice is kept."""
        return await self._store.write(lambda: update_accounts(used, accounts, why, self._clock.now_ms()))

    async def choose(
        self,
        workspace_id: WorkspaceId,
        provider: str,
        account_ids: Sequence[str],
        settings: Mapping[str, Any] | None = None,
        *,
        by: str,
    ) -> Connection:
        """Select exactly these accounts for actions staged from now on."""
        return await self._store.write(
            lambda: choose(workspace_id, provider, account_ids, settings, self._clock.now_ms(), by=by)
        )

    async def disconnect(self, workspace_id: WorkspaceId, provider: str, *, by: str) -> bool:
        """Delete the secrets. Returns False if there is no connection."""
        return await self._store.write(lambda: self.ending(workspace_id, provider, by=by))

    def ending(self, workspace_id: WorkspaceId, provider: str, *, by: str) -> Transaction[bool]:
        """`disconnect` as part of a larger transaction."""
        now_ms = self._clock.now_ms()
        rows = yield statements.revoke_connection(workspace_id=workspace_id, provider=provider, now_ms=now_ms)
        if rows:
            yield from self._vault.destroy(workspace_id, provider)
            facts = {"provider": provider, "by": by}
            yield from journal.note(workspace_id, "connector_disconnected", facts, now_ms)
        return bool(rows)


def save(
    vault: Vault,
    workspace_id: WorkspaceId,
    provider: str,
    new: NewConnection,
    seal: Seal,
    now_ms: int,
    *,
    by: str,
) -> Transaction[Connection]:
    if not (yield statements.find_workspace(workspace_id=workspace_id)):
        raise Refusal(Reason.WORKSPACE_NOT_FOUND)
    before = yield from find(workspace_id, provider)
    accounts = as_chosen_before(before, new.accounts)
    rows = yield statements.put_connection(
        workspace_id=workspace_id,
        provider=provider,
        label=new.label,
        accounts=_text(accounts),
        scopes=" ".join(new.scopes),
        settings=_text(new.settings),
        expires_ms=new.expires_ms,
        connected_by=by,
        now_ms=now_ms,
    )
    yield from vault.put(workspace_id, provider, new.secrets, seal, now_ms)
    connection = _connection(rows[0])
    facts = {
        "provider": provider,
        "label": new.label,
        "accounts": [{"id": each.id, "platform": each.platform} for each in accounts if each.chosen],
        "scopes": list(new.scopes),
        "by": by,
    }
    yield from journal.note(workspace_id, "connector_connected", facts, now_ms)
    key, payload = f"{provider}:{connection.version}", {"provider": provider, "by": by}
    yield from jobs.enqueue(workspace_id, CONNECTED_JOB, key, payload, due_ms=now_ms, now_ms=now_ms)
    return connection


def find(workspace_id: WorkspaceId, provider: str) -> Transaction[Connection | None]:
    rows = yield statements.find_connection(workspace_id=workspace_id, provider=provider)
    return _connection(rows[0]) if rows else None


def find_all(workspace_id: WorkspaceId) -> Transaction[dict[str, Connection]]:
    """Return the connections of a workspace in any state, by provider."""
    rows = yield statements.list_connections(workspace_id=workspace_id)
    return {row["provider"]: _connection(row) for row in rows}


def access(
    vault: Vault, workspace_id: WorkspaceId, provider: str, state: ConnectionState
) -> Transaction[Access | None]:
    connection = yield from find(workspace_id, provider)
    if connection is None or connection.state is not state:
        return None
    secrets = yield from vault.open(workspace_id, provider)
    return Access(connection, secrets)


def renew(
    vault: Vault, used: Connection, secrets: OpenedSecrets, expires_ms: int | None, seal: Seal, now_ms: int
) -> Transaction[bool]:
    rows = yield from_record(statements.renew_connection, used, expires_ms=expires_ms, now_ms=now_ms)
    if not rows:
        return False
    yield from vault.put(used.workspace_id, used.provider, secrets, seal, now_ms)
    if used.state is ConnectionState.EXPIRED:
        facts = {"provider": used.provider, "by": used.provider}
        yield from journal.note(used.workspace_id, "connector_accepted_again", facts, now_ms)
    return True


def mark_expired(used: Connection, why: str, now_ms: int) -> Transaction[bool]:
    rows = yield from_record(
        statements.end_connection, used, state=ConnectionState.EXPIRED.value, problem=why, now_ms=now_ms
    )
    if rows:
        facts = {"provider": used.provider, "why": why, "by": used.provider}
        yield from journal.note(used.workspace_id, "connector_expired", facts, now_ms)
    return bool(rows)


def update_accounts(
    used: Connection, accounts: tuple[Account, ...], why: str, now_ms: int
) -> Transaction[bool]:
    if accounts == used.accounts:
        return True
    rows = yield from_record(
        statements.choose_accounts,
        used,
        accounts=_text(accounts),
        settings=_text(used.settings),
        now_ms=now_ms,
    )
    if rows:
        usable = [each.id for each in accounts if each.usable]
        facts = {"provider": used.provider, "accounts": usable, "why": why, "by": used.provider}
        yield from journal.note(used.workspace_id, "connector_accounts_changed", facts, now_ms)
    return bool(rows)


def choose(
    workspace_id: WorkspaceId,
    provider: str,
    account_ids: Sequence[str],
    settings: Mapping[str, Any] | None,
    now_ms: int,
    *,
    by: str,
) -> Transaction[Connection]:
    connection = yield from find(workspace_id, provider)
    if connection is None or not connection.live:
        raise Refusal(
            Reason.MISSING_CONNECTOR, facts={"connector": provider}, recovery_args={"provider": provider}
        )
    known = {each.id for each in connection.accounts}
    if unknown := [each for each in account_ids if each not in known]:
        expected = f"one of {', '.join(sorted(known)) or 'no accounts'}"
        raise bad_argument("accounts", expected, repr(unknown[0][:80]))
    accounts = tuple(
        msgspec.structs.replace(each, chosen=each.id in account_ids, default=each.id in account_ids)
        for each in connection.accounts
    )
    rows = yield statements.choose_accounts(
        workspace_id=workspace_id,
        provider=provider,
        version=connection.version,
        accounts=_text(accounts),
        settings=_text(connection.settings if settings is None else dict(settings)),
        now_ms=now_ms,
    )
    facts: dict[str, Any] = {"provider": provider, "accounts": list(account_ids), "by": by}
    if settings is not None:
        facts["settings"] = dict(settings)
    yield from journal.note(workspace_id, "connector_accounts_chosen", facts, now_ms)
    return _connection(rows[0])


def as_chosen_before(before: Connection | None, accounts: tuple[Account, ...]) -> tuple[Account, ...]:
    """Keep the earlier choice of accounts when a person connects again."""
    if before is None or before.state is ConnectionState.REVOKED:
        return accounts
    named = {each.id for each in accounts}
    known = {each.id: each for each in before.accounts if each.id in named}
    settled = {each.platform for each in known.values() if each.default}
    return tuple(
        msgspec.structs.replace(each, chosen=known[each.id].chosen, default=known[each.id].default)
        if each.id in known
        else msgspec.structs.replace(each, default=each.default and each.platform not in settled)
        for each in accounts
    )


def count_all() -> Transaction[list[tuple[str, str, int]]]:
    """By provider and state, over all workspaces."""
    rows = yield statements.count_connections()
    return [(row["provider"], row["state"], row["connections"]) for row in rows]


class FailedStart(Record):
    """A wrapped server that does not start, or does not list its tools."""

    workspace_id: WorkspaceId
    server: str
    why: str
    at_ms: int


def note_start(workspace_id: WorkspaceId, server: str, why: str, now_ms: int) -> Transaction[None]:
    """Remember why a wrapped server did not start, for people who look; without a reason, that it did."""
    fact = msgspec.json.encode(FailedStart(workspace_id, server, why, now_ms)).decode() if why else ""
    yield statements.set_deployment_fact(workspace_id=workspace_id, name=f"{_START}{server}", value=fact)


def list_failed_starts(now_ms: int) -> Transaction[list[FailedStart]]:
    """Return the failed starts of the last day: a server that is not wrapped any more is not tried again."""
    rows = yield statements.list_deployment_facts(pattern=f"{_START}%")
    found = [msgspec.json.decode(row["value"], type=FailedStart) for row in rows if row["value"]]
    return [each for each in found if each.at_ms > now_ms - DAY_MS]


def _connection(row: Row) -> Connection:
    return from_row(
        Connection,
        row,
        state=ConnectionState(row["state"]),
        accounts=_ACCOUNTS.decode(row["accounts"]),
        scopes=tuple(row["scopes"].split()),
        settings=_OBJECT.decode(row["settings"]),
    )


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
