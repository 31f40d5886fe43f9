"""A workspace's access to a provider with an API key: opens the key, reports missing and expired
connections.

The key is decrypted for one call and not kept. If the provider rejects it, the connection is marked
expired and a person is asked to connect again; actions are kept.

Knows nothing of the provider's API.
"""

from __future__ import annotations

from assent.engine.connections.json_http import Exchanged
from assent.gate.connection import API_KEY, Access, Account, Connection, ConnectionState, ConnectorInfo
from assent.gate.outcomes import MAX_DETAIL_CHARS
from assent.gate.preflight import Readiness
from assent.kernel.ids import WorkspaceId
from assent.ports import Connections, NotConnected, NotSent


class KeyAccess:
    def __init__(self, info: ConnectorInfo, connections: Connections) -> None:
        self._provider = info.id
        self.label = info.label
        self._connections = connections

    async def connection(self, workspace_id: WorkspaceId) -> Connection | None:
        found = await self._connections.find(workspace_id, self._provider)
        return found if found is not None and found.live else None

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        found = await self._connections.find(workspace_id, self._provider)
        if found is not None and found.live:
            return Readiness(ready=True)
        ended = found is not None and found.state is ConnectionState.EXPIRED
        said = self._explain_end(found) if ended else f"{self.label} is not connected."
        return Readiness.unconnected(self._explain(found, workspace_id), said)

    async def access(self, workspace_id: WorkspaceId) -> Access:
        """Return the connection with its key. Raises `NotSent`."""
        access = await self._connections.access(workspace_id, self._provider)
        if access is None or access.key is None:
            raise NotConnected(self._explain(None, workspace_id))
        return access

    def key(self, access: Access) -> str:
        return access.secrets[API_KEY]

    async def renew(self, used: Access) -> Access | None:
        """Return another access after the provider refused `used`; none, because a key stays the same."""
        return None

    async def ended(self, access: Access, said: str) -> NotSent:
        """Mark the connection expired after a rejected key, and return the failure."""
        why = f"{self.label} does not accept its key any more" + (
            f" ({said[:MAX_DETAIL_CHARS]})" if said else ""
        )
        await self._connections.mark_expired(access.connection, why)
        return NotConnected(f"{why}. Connect {self.label} again, then try again.")

    async def update_accounts(self, access: Access, accounts: tuple[Account, ...], why: str) -> None:
        await self._connections.update_accounts(access.connection, accounts, why)

    def not_accepted(self, answer: Exchanged) -> NotSent:
        if answer.status in (401, 403):
            return NotConnected(
                f"{self.label} does not accept this key. Copy it again from {self.label}, whole."
            )
        return NotSent(
            f"{self.label} could not check the key (HTTP {answer.status}). Try again later.", retry=True
        )

    def _explain_end(self, found: Connection | None) -> str:
        why = found.problem if found is not None else None
        return f"{why or f'{self.label} does not accept its key any more'}."

    def _explain(self, found: Connection | None, workspace_id: WorkspaceId) -> str:
        if found is not None and found.state is ConnectionState.EXPIRED:
            return f"{self._explain_end(found)} Connect it again."
        return (
            f"{self.label} is not connected. Enter its key on the page for it, or in a terminal of "
            f"this server: assent connect {self._provider} --workspace {workspace_id} --key-stdin"
        )
