"""What connectors with an API key share."""

from __future__ import annotations

import msgspec

from assent import Effect
from assent.platform import KeyAccess, Readiness, Reading
from assent.sdk import Action, WorkspaceId, is_here


class KeyConnector:
    """The common part of connectors with an API key: readiness, the account of an effect, and
    readings."""

    id: str

    def __init__(self, access: KeyAccess, url: str = "") -> None:
        self._access = access
        self.emulated = is_here(url)

    async def look_around(self, workspace_id: WorkspaceId, timeout_seconds: float) -> None:
        """Do nothing: the key opens one account, which is fixed when it is connected."""

    def count(self, action: Action, metrics: dict[str, int | float], left_out: tuple[str, ...]) -> Reading:
        channel = action.effect.channel
        return Reading(source=self.id, channel=channel, status="ok", metrics=metrics, left_out=left_out)

    def count_nothing(self, action: Action, reason: str) -> Reading:
        return Reading(source=self.id, channel=action.effect.channel, status="unavailable", reason=reason)

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return await self._access.readiness(workspace_id)

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        """Set the connected account as the target, for providers where a connection is one account;
        none if not connected."""
        connection = await self._access.connection(workspace_id)
        accounts = connection.accounts_on(self.id) if connection is not None else ()
        return msgspec.structs.replace(effect, target=accounts[0].target if accounts else None)

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        connection = await self._access.connection(workspace_id)
        if connection is None or connection.account(effect.account_id or "") is not None:
            return await self.readiness(workspace_id)
        return Readiness.of_another_account(self._access.label, effect)
