"""Which account an effect goes to, and whether it could be performed now (C29, E24).

Asked when an action is staged, when a blocked one is looked at again, and before every claim. Looks at what is
stored and calls no provider.
"""

from __future__ import annotations

from typing import Final, cast

import msgspec

from assent.engine.core.services import Services
from assent.gate.preflight import Readiness, as_of
from assent.gate.records import Action, Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason
from assent.ports import Addressed, Connector
from assent.suite.content import channels

NOT_LIVE = Readiness(
    ready=False,
    blocker=Reason.PROVIDER_NOT_LIVE.value,
    fix_hint="Choose a channel whose connector is live, or publish by hand.",
)


BY_PAGE: Final = frozenset({"zernio", "bluesky", "slack", "smtp", "resend", "hubspot"})
"""Connectors that a person connects on a page of this server."""


def connect_page(services: Services, workspace_id: WorkspaceId, effect: Effect) -> str | None:
    """Where a person connects the way out of an effect, or another one of its channel; None where no page is up."""
    address = services.page_address()
    row = channels.BY_ID.get(effect.channel)
    ways = (effect.connector, *(row.connectors if row is not None else ()))
    provider = next((name for name in ways if name in BY_PAGE and name in services.connectors), None)
    if address is None or provider is None:
        return None
    return f"{address}/connect/{provider}?workspace={workspace_id}"


def connectable(readiness: Readiness) -> bool:
    """Whether connecting would help: not where that was done, and not where the server has to be set up."""
    return not (readiness.ready or readiness.nameable or readiness.blocker == Reason.PROVIDER_NOT_LIVE)


def advise(services: Services, workspace_id: WorkspaceId, effect: Effect, readiness: Readiness) -> str:
    """What a person does about an effect that cannot go out: with the link where there is one, else the whole way."""
    url = connect_page(services, workspace_id, effect) if connectable(readiness) else None
    if url is not None and readiness.summary is not None:
        return f"{readiness.summary} Connect it here: {url}"
    return readiness.fix_hint or "It cannot go out yet."


async def address(services: Services, workspace_id: WorkspaceId, effect: Effect) -> tuple[Effect, Readiness]:
    """The effect with the account it goes to, and whether it could go there."""
    connector = services.connectors.get(effect.connector)
    if connector is None:
        return effect, NOT_LIVE
    if (by_account := _by_account(connector)) is not None:
        effect = await by_account.addressed(workspace_id, effect)
    return effect, await readiness_of(connector, workspace_id, effect)


async def ready_now(services: Services, action: Action) -> tuple[Action, Readiness]:
    """An action with the readiness of now in its preflight, and that readiness."""
    connector = services.connectors.get(action.effect.connector)
    if connector is None:
        readiness = NOT_LIVE
    elif getattr(connector, "always_ready", False):
        readiness = Readiness(ready=True)
    else:
        readiness = await readiness_of(connector, action.workspace_id, action.effect)
    return msgspec.structs.replace(action, preflight=as_of(action.preflight, readiness)), readiness


async def readiness_of(connector: Connector, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
    """Whether this effect could be performed now; for most connectors the same as whether any could."""
    if (by_account := _by_account(connector)) is not None:
        return await by_account.readiness_for(workspace_id, effect)
    return await connector.readiness(workspace_id)


_has_accounts: Final[dict[type, bool]] = {}
"""By class, because looking a protocol's methods up takes as long as judging a text."""


def _by_account(connector: object) -> Addressed | None:
    kind = type(connector)
    if kind not in _has_accounts:
        _has_accounts[kind] = issubclass(kind, Addressed)
    return cast("Addressed", connector) if _has_accounts[kind] else None
