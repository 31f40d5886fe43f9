"""The store's half of OAuth: states that come back once, and whose turn it is to renew a token.

A state is bound to the session, the person, the workspace and the provider that asked; wrong, foreign, used and expired
look alike, and none of them is used up by being tried in the wrong place. The PKCE verifier is derived from the state
with a key of the server, so that it is stored nowhere.

Deliberately unaware of providers, of tokens and of pages.
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
from assent.kernel.limits import MINUTE_MS, SECOND_MS
from assent.ports import Clock, Store, Transaction
from assent.sql.loader import statements

STATE_BYTES: Final = 32
STATE_TTL_MS: Final = 10 * MINUTE_MS
"""Signing in at a provider and reading what it asks for takes a few minutes."""

TURN_MS: Final = 30 * SECOND_MS
"""Three times what a token endpoint may take: a turn that lasts longer is a dead process's."""

LOOK_AGAIN_SECONDS: Final = 0.1
WAIT_SECONDS: Final = 15.0


def ask(
    state: str, for_workspace: WorkspaceId, provider: str, session_id: str, person_id: str, now_ms: int
) -> Transaction[None]:
    """Remember that a consent is asked for."""
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
    """The workspace for which this browser's person asked this provider, once; None for everything else."""
    rows = yield statements.use_oauth_state(
        workspace_id=SYSTEM_WORKSPACE,
        state_hash=_hash(state),
        provider=provider,
        session_id=session_id,
        person_id=person_id,
        now_ms=now_ms,
    )
    return WorkspaceId(rows[0]["for_workspace"]) if rows else None


def verifier(key: bytes, state: str) -> str:
    """The PKCE verifier that belongs to a state: 43 characters, known to nobody without the key."""
    return tokens.encode(hmac.digest(key, state.encode(), "sha256"))


class StoredTurns:
    """One holder at a time for a connection, over all processes of a store."""

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
        """Another process says nothing when it is done, so it is looked for."""
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
        )
        return bool(rows)

    def _end(self, workspace_id: WorkspaceId, provider: str, holder: str) -> Transaction[None]:
        yield statements.end_oauth_turn(workspace_id=workspace_id, provider=provider, holder=holder)


def _hash(state: str) -> str:
    # 256 random bits: there is nothing to guess slowly.
    return hashlib.sha256(state.encode()).hexdigest()
