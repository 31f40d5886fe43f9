"""OAuth of a connection: one-time states of a consent, and access tokens that are kept fresh.

A state is bound to session, person, workspace and provider. Wrong, foreign, used and expired states
give the same result, and a failed attempt does not consume a state. The PKCE verifier is derived
from the state with a key of the server, so it is not stored.

A rotating refresh token can be used once. So a renewal needs a lock over all processes
(`ConnectionLocks`), reads the tokens again under the lock, and is never cancelled between the
provider's answer and the commit: if the caller leaves, the renewal goes on. If the provider has
ended the grant, the connection is marked and a person is asked to connect again.

Knows nothing of the provider's API.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Protocol

import msgspec

from assent.engine.connections import grants
from assent.engine.connections.grants import (
    ClientCredentials,
    GrantEnded,
    GrantFailed,
    Grantor,
    OAuthProvider,
    make_provider,
)
from assent.engine.connections.json_http import Exchanged, exchange
from assent.engine.core.services import EffectServices
from assent.gate.connection import Access, Connection, ConnectionState, ConnectorInfo, OpenedSecrets
from assent.gate.preflight import Readiness
from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import CLOCKS_APART_MS, MINUTE_MS, SECOND_MS
from assent.kernel.refusals import Reason
from assent.ports import Clock, Connections, NotConnected, NotSent, Store, Transaction
from assent.sql.loader import statements

STATE_BYTES: Final = 32
STATE_TTL_MS: Final = 10 * MINUTE_MS
"""Life of a state: signing in at a provider takes a few minutes."""

TURN_MS: Final = 30 * SECOND_MS
"""Lease for a renewal: three times the timeout of a token endpoint."""

LOOK_AGAIN_SECONDS: Final = 0.1
WAIT_SECONDS: Final = 15.0


def ask(
    state: str, for_workspace: WorkspaceId, provider: str, session_id: str, person_id: str, now_ms: int
) -> Transaction[None]:
    """Store a state for a consent request."""
    yield statements.delete_old_oauth_states(workspace_id=SYSTEM_WORKSPACE, now_ms=now_ms)
    yield statements.insert_oauth_state(
        workspace_id=SYSTEM_WORKSPACE,
        state_hash=_hash_state(state),
        for_workspace=for_workspace,
        provider=provider,
        session_id=session_id,
        person_id=person_id,
        created_ms=now_ms,
        expires_ms=now_ms + STATE_TTL_MS,
    )


def redeem(
    state: str, provider: str, session_id: str, person_id: str, now_ms: int
) -> Transaction[WorkspaceId | None]:
    """Consume a state and return its workspace; None for an invalid one."""
    rows = yield statements.use_oauth_state(
        workspace_id=SYSTEM_WORKSPACE,
        state_hash=_hash_state(state),
        provider=provider,
        session_id=session_id,
        person_id=person_id,
        now_ms=now_ms,
    )
    return WorkspaceId(rows[0]["for_workspace"]) if rows else None


def make_state(keys: tuple[bytes, ...], entropy: bytes) -> str:
    """Make a state. It names the newest key, because a replica with another newest key may get it
    back."""
    return f"{tokens.fingerprint(keys[0])}{tokens.encode(entropy)}"


def verifier(keys: tuple[bytes, ...], state: str) -> str:
    """Derive the PKCE verifier of a state: 43 characters."""
    key = next((each for each in keys if state.startswith(tokens.fingerprint(each))), keys[0])
    return tokens.encode(hmac.digest(key, state.encode(), "sha256"))


class StoredLocks:
    """A lease per connection, over all processes of a store."""

    def __init__(self, store: Store, clock: Clock, new_id: Callable[[int], str]) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    @asynccontextmanager
    async def __call__(self, workspace_id: WorkspaceId, provider: str) -> AsyncIterator[None]:
        holder = self._new_id(self._clock.now_ms())
        async with asyncio.timeout(WAIT_SECONDS):
            await self._wait(workspace_id, provider, holder)
        try:
            yield
        finally:
            await self._store.write(lambda: self._end(workspace_id, provider, holder))

    async def _wait(self, workspace_id: WorkspaceId, provider: str, holder: str) -> None:
        """Poll until the lease is free, because another process does not announce its end."""
        while True:
            if await self._store.write(lambda: self._take(workspace_id, provider, holder)):
                return
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def _take(self, workspace_id: WorkspaceId, provider: str, holder: str) -> Transaction[bool]:
        now_ms = self._clock.now_ms()
        rows = yield statements.take_oauth_turn(
            workspace_id=workspace_id,
            provider=provider,
            holder=holder,
            until_ms=now_ms + TURN_MS,
            now_ms=now_ms,
            apart_ms=CLOCKS_APART_MS,
        )
        return bool(rows)

    def _end(self, workspace_id: WorkspaceId, provider: str, holder: str) -> Transaction[None]:
        yield statements.end_oauth_turn(workspace_id=workspace_id, provider=provider, holder=holder)


def _hash_state(state: str) -> str:
    # 256 random bits need no slow hash.
    return hashlib.sha256(state.encode()).hexdigest()


EARLY_MS: Final = 2 * MINUTE_MS
"""How long before its end a token is renewed, so that none expires during a call."""

ACCESS: Final = "accessToken"
REFRESH: Final = "refreshToken"


class ConnectionLocks(Protocol):
    """A lock per connection over all processes of a store. Raises `TimeoutError` after a while."""

    def __call__(self, workspace_id: WorkspaceId, provider: str) -> AbstractAsyncContextManager[None]: ...


class OAuthAccess:
    """A connector's access to an OAuth provider; the connector has it as `access`."""

    def __init__(
        self,
        provider: OAuthProvider,
        label: str,
        connections: Connections,
        turns: ConnectionLocks,
        clock: Clock,
    ) -> None:
        self.provider = provider
        self.label = label
        self._connections = connections
        self._turns = turns
        self._clock = clock
        self._renewing: dict[WorkspaceId, asyncio.Task[Access]] = {}

    @classmethod
    def make(
        cls,
        services: EffectServices,
        info: ConnectorInfo,
        grantor: Grantor,
        scopes: tuple[str, ...],
        client: tuple[str | None, str | None],
        base: str | None = None,
    ) -> OAuthAccess:
        """Return the access of a connector. `client` is this server's id and secret there. All processes of the store
        share the renewal of its tokens. `base` replaces the public URLs of pages and API."""
        provider = make_provider(info.id, grantor, scopes, ClientCredentials(*client), base)
        turns = StoredLocks(services.store, services.clock, services.new_id)
        return cls(provider, info.label, services.connections, turns, services.clock)

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        """Return whether a call could be made, without asking the provider."""
        if not self.provider.configured:
            said = f"{self.label} is not set up on this server."
            return Readiness(
                False, Reason.PROVIDER_NOT_LIVE.value, f"{said} {self.provider.not_set_up}", said
            )
        connection = await self._connections.find(workspace_id, self.provider.id)
        if connection is None or not connection.live:
            ended = connection is not None and connection.state is ConnectionState.EXPIRED
            said = f"The access to {self.label} has ended." if ended else f"{self.label} is not connected."
            return Readiness.unconnected(self._explain(connection), said)
        return Readiness(ready=True)

    async def connection(self, workspace_id: WorkspaceId) -> Connection | None:
        return await self._connections.find(workspace_id, self.provider.id)

    async def call(
        self,
        workspace_id: WorkspaceId,
        method: str,
        url: str,
        *,
        body: Any = None,
        timeout_seconds: float,
    ) -> Exchanged:
        """Send a request with a valid token. After a 401, renew the token once and repeat."""
        held = await self.open(workspace_id)
        answer = await self._ask(held, method, url, body, timeout_seconds)
        if answer.status != 401:
            return answer
        held = await self.open(workspace_id, instead_of=held.secrets[ACCESS])
        answer = await self._ask(held, method, url, body, timeout_seconds)
        if answer.status == 401:
            await self._connections.mark_expired(held.connection, f"{self.label} refuses a fresh token")
            raise NotConnected(self._explain(held.connection))
        return answer

    async def open(self, workspace_id: WorkspaceId, *, instead_of: str | None = None) -> Access:
        """Return the access with a token that is valid for a while and differs from
        `instead_of`."""
        held = await self._require_access(workspace_id)
        if self._is_fresh(held, instead_of):
            return held
        task = self._renewing.get(workspace_id)
        if task is None:
            task = asyncio.create_task(self._renew(workspace_id, instead_of))
            self._renewing[workspace_id] = task
            task.add_done_callback(lambda ended: self._end_renewal(workspace_id, ended))
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for running renewals; a stopping process does this before it closes its store."""
        if self._renewing:
            await asyncio.wait(set(self._renewing.values()))

    def _end_renewal(self, workspace_id: WorkspaceId, ended: asyncio.Task[Access]) -> None:
        self._renewing.pop(workspace_id, None)
        if not ended.cancelled():
            ended.exception()  # a caller that still waits gets the exception; without one it is dropped

    async def _renew(self, workspace_id: WorkspaceId, instead_of: str | None) -> Access:
        try:
            async with self._turns(workspace_id, self.provider.id):
                held = await self._require_access(workspace_id)
                # The previous holder of the lock may have renewed it.
                return held if self._is_fresh(held, instead_of) else await self._redeem(held, instead_of)
        except TimeoutError:
            raise NotSent(
                f"another process is renewing the access to {self.label}", retry=True, retry_after_seconds=30
            ) from None

    async def _redeem(self, held: Access, instead_of: str | None) -> Access:
        spent = held.secrets.get(REFRESH)
        try:
            if spent is None:
                raise GrantEnded(f"{self.label} gave no refresh token")
            fresh = await grants.refresh(self.provider, spent)
        except GrantEnded as ended:
            await self._connections.mark_expired(held.connection, str(ended))
            raise NotConnected(self._explain(held.connection)) from None
        except GrantFailed as failed:
            if self._is_fresh(held, instead_of, early_ms=0):
                return held  # renewed early, so there is time to retry
            raise NotSent(str(failed), retry=True, retry_after_seconds=30) from None
        kept = OpenedSecrets({ACCESS: fresh.access_token, REFRESH: fresh.refresh_token or spent})
        expires_ms = expiry(fresh.expires_in, self._clock.now_ms())
        if not await self._connections.renew(held.connection, kept, expires_ms):
            # Ended, or connected again meanwhile.
            return await self._require_access(held.connection.workspace_id)
        return Access(msgspec.structs.replace(held.connection, expires_ms=expires_ms), kept)

    async def _require_access(self, workspace_id: WorkspaceId) -> Access:
        held = await self._connections.access(workspace_id, self.provider.id)
        if held is None or held.secrets.get(ACCESS) is None:
            raise NotConnected(self._explain(await self.connection(workspace_id)))
        return held

    def _is_fresh(self, held: Access, instead_of: str | None, early_ms: int = EARLY_MS) -> bool:
        expires_ms = held.connection.expires_ms
        valid = expires_ms is None or expires_ms - early_ms > self._clock.now_ms()
        return valid and held.secrets[ACCESS] != instead_of

    def _explain(self, connection: Connection | None) -> str:
        if connection is None or connection.state is ConnectionState.REVOKED:
            return f"{self.label} is not connected yet. Connect it on its page."
        return f"The access to {self.label} has ended. Connect it again on its page."

    async def _ask(self, held: Access, method: str, url: str, body: Any, timeout_seconds: float) -> Exchanged:
        token = held.secrets[ACCESS]
        return await exchange(method, url, token=token, body=body, timeout_seconds=timeout_seconds)


def expiry(expires_in: int | None, now_ms: int) -> int | None:
    """Return the time at which a token expires."""
    return now_ms + expires_in * 1000 if expires_in is not None else None


def find_access(connector: object) -> OAuthAccess | None:
    """Return the OAuth access of a connector; None for one that uses none."""
    found = getattr(connector, "access", None)
    return found if isinstance(found, OAuthAccess) else None
