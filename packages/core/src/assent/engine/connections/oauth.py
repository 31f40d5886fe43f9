"""OAuth in the store: one-time states, and the lease for renewing a token.

A state is bound to session, person, workspace and provider. Wrong, foreign, used and expired states
give the same result, and a failed attempt does not consume a state. The PKCE verifier is derived
from the state with a key of the server, so it is not stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from assent.kernel import tokens
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.limits import CLOCKS_APART_MS, MINUTE_MS, SECOND_MS
from assent.ports import Clock, Store, Transaction
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
        state_hash=_hash(state),
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
        state_hash=_hash(state),
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


def _hash(state: str) -> str:
    # 256 random bits need no slow hash.
    return hashlib.sha256(state.encode()).hexdigest()
