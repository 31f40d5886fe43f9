"""The account of an effect, and whether its connector is ready (C29, E24).

Used when an action is staged, when a blocked action is checked again, and before every claim. Reads only stored data
and calls no provider.
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
    """Return the page on which a person connects the connector of an effect, or another one of its channel. None where
    no page is served."""
    address = services.links.page_address()
    row = channels.BY_ID.get(effect.channel)
    ways = (effect.connector, *(row.connectors if row is not None else ()))
    provider = next((name for name in ways if name in BY_PAGE and name in services.connectors), None)
    if address is None or provider is None:
        return None
    return f"{address}/connect/{provider}?workspace={workspace_id}"


def connectable(readiness: Readiness) -> bool:
    """Whether connecting would help. It does not if a connection exists or the server itself must be configured."""
    return not (readiness.ready or readiness.nameable or readiness.blocker == Reason.PROVIDER_NOT_LIVE)


def advise(services: Services, workspace_id: WorkspaceId, effect: Effect, readiness: Readiness) -> str:
    """Tell a person how to make an effect deliverable: by the link if there is one, else in full."""
    url = connect_page(services, workspace_id, effect) if connectable(readiness) else None
    if url is not None and readiness.summary is not None:
        return f"{readiness.summary} Connect it here: {url}"
    return readiness.fix_hint or "It cannot go out yet."


async def address(services: Services, workspace_id: WorkspaceId, effect: Effect) -> tuple[Effect, Readiness]:
    """Return the effect with its account, and the readiness for it."""
    connector = services.connectors.get(effect.connector)
    if connector is None:
        return effect, NOT_LIVE
    if (by_account := _by_account(connector)) is not None:
        effect = await by_account.addressed(workspace_id, effect)
    return effect, await readiness_of(connector, workspace_id, effect)


async def ready_now(services: Services, action: Action) -> tuple[Action, Readiness]:
    """Return the action with the present readiness in its preflight, and that readiness."""
    connector = services.connectors.get(action.effect.connector)
    if connector is None:
        readiness = NOT_LIVE
    elif getattr(connector, "always_ready", False):
        readiness = Readiness(ready=True)
    else:
        readiness = await readiness_of(connector, action.workspace_id, action.effect)
    return msgspec.structs.replace(action, preflight=as_of(action.preflight, readiness)), readiness


async def readiness_of(connector: Connector, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
    """Return the readiness of a connector for this effect. For most connectors it is the same for every effect."""
    if (by_account := _by_account(connector)) is not None:
        return await by_account.readiness_for(workspace_id, effect)
    return await connector.readiness(workspace_id)


_has_accounts: Final[dict[type, bool]] = {}
"""Cached by class, because isinstance of a protocol is slow."""


def _by_account(connector: object) -> Addressed | None:
    kind = type(connector)
    if kind not in _has_accounts:
        _has_accounts[kind] = issubclass(kind, Addressed)
    return cast("Addressed", connector) if _has_accounts[kind] else None
