"""Connect a workspace to a provider, choose its accounts, disconnect it: on the page, by a command and in the chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assent.engine.connections.grants import revoke
from assent.engine.connections.key_access import API_KEY
from assent.engine.connections.oauth import REFRESH, OAuthAccess, find_access
from assent.engine.core import connection_store
from assent.engine.core.connection_store import ConnectionStore
from assent.engine.core.services import EffectServices
from assent.gate.connection import Connection, ConnectionState, NewConnection, OpenedSecrets, Verified
from assent.kernel.ids import WorkspaceId
from assent.use_cases.decisions import R, Write


async def connect(
    store: ConnectionStore, workspace_id: WorkspaceId, provider: str, new: NewConnection, *, by: str
) -> Connection:
    """Store a connection, with its secrets sealed. It replaces an earlier one."""
    return await store.save(workspace_id, provider, new, by=by)


async def connect_with_key(
    store: ConnectionStore,
    workspace_id: WorkspaceId,
    provider: str,
    key: str,
    verified: Verified,
    settings: Mapping[str, Any],
    *,
    by: str,
) -> Connection:
    """Connect by a key that the provider has just accepted."""
    new = NewConnection(
        label=verified.label,
        secrets=OpenedSecrets({API_KEY: key}),
        accounts=verified.accounts,
        settings={**verified.settings, **settings},
    )
    return await connect(store, workspace_id, provider, new, by=by)


async def choose(
    store: ConnectionStore,
    workspace_id: WorkspaceId,
    provider: str,
    account_ids: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    *,
    by: str,
) -> Connection:
    """Use exactly these accounts for what is staged from now on."""
    return await store.choose(workspace_id, provider, account_ids, settings, by=by)


async def disconnect(
    services: EffectServices, workspace_id: WorkspaceId, provider: str, write: Write[bool, R], *, by: str
) -> R:
    """Delete the secrets of a connection here and, where that ends no other connection, revoke them at the
    provider. `write` gets whether there was a connection."""
    held = await services.connections.access(workspace_id, provider)
    done = await write(lambda: services.connections.ending(workspace_id, provider, by=by))
    token = held.secrets.get(REFRESH) if held is not None else None
    connector = services.connectors.get(provider)
    access = find_access(connector) if connector is not None else None
    if token is not None and access is not None and not await _shares_grant(services, access):
        await revoke(access.provider, token)
    return done


async def _shares_grant(services: EffectServices, access: OAuthAccess) -> bool:
    """Whether another connection was granted by the same provider's sign-in, such as Google's. If
    the same account made both, revoking one would end the other; the server cannot tell."""
    others = await services.store.read(connection_store.count_all)
    of_grantor = {
        each.provider.id
        for each in map(find_access, services.connectors.values())
        if each is not None and each.provider.grantor == access.provider.grantor
    }
    return any(provider in of_grantor and state == ConnectionState.CONNECTED for provider, state, _ in others)
