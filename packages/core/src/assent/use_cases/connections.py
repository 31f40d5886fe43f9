"""Connect a workspace to a provider, choose its accounts, disconnect it: on the page, by a command and in the chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from assent.engine.actions import account_binding, actions, circumstances, send_jobs
from assent.engine.connections.grants import revoke
from assent.engine.connections.oauth import REFRESH, OAuthAccess, find_access
from assent.engine.core import connection_store
from assent.engine.core.connection_store import ConnectionStore
from assent.engine.core.jobs import Job
from assent.engine.core.services import EffectServices
from assent.gate.connection import (
    API_KEY,
    Connection,
    ConnectionState,
    NewConnection,
    OpenedSecrets,
    Verified,
)
from assent.gate.records import Action, Status
from assent.gate.transitions import APPROVED, AWAITING, RETRYABLE, state_of
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import MAX_PAGE
from assent.kernel.refusals import Refusal
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


async def follow(services: EffectServices, job: Job) -> None:
    """Follow a new connection, as its job. What was prepared without an account gets it: new content, for which a
    person is asked now and not when it is due. What was approved for this account and waited for it is tried now."""
    provider, by = job.payload["provider"], job.payload["by"]
    for status in (Status.AWAITING_APPROVAL, Status.APPROVED):
        after = ""
        while page := await services.store.read(
            partial(actions.trail, job.workspace_id, status, after, MAX_PAGE)
        ):
            after = page[-1].action_id
            for action in page:
                if _is_meant(services, action, provider):
                    await _follow(services, action, by)


def _is_meant(services: EffectServices, action: Action, provider: str) -> bool:
    """Whether an action can still be sent, and through this provider."""
    kind = services.effects.find(action.effect)
    ways = (action.effect.connector, *(kind.via if kind is not None else ()))
    is_open = state_of(action) in (AWAITING, APPROVED, RETRYABLE)
    return (
        provider in ways
        and is_open
        and action.view.executes == "server"
        and not action.is_expired(services.clock.now_ms())
    )


async def _follow(services: EffectServices, action: Action, by: str) -> None:
    readiness = await circumstances.ask_readiness(services, action.workspace_id, action.effect)
    if not readiness.ready:
        with suppress(Refusal):  # it changed meanwhile, or its type is gone
            await account_binding.bind(services, action, by=by, via="connect")
    elif action.status is Status.APPROVED:
        now_ms = services.clock.now_ms()
        await services.store.write(lambda: send_jobs.resume(action, now_ms))


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
