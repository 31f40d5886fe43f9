"""The port for tools that are not in the tool table: those of wrapped servers.

`serving/mcp.py` asks the gateway for callers that have a profile: of their connection, or of their
workspace by the settings. Results are those of the protocol, as plain JSON values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from assent.engine.core.tenancy import Principal
from assent.kernel.ids import WorkspaceId
from assent.tools.definition import Peer


@dataclass(frozen=True, slots=True)
class ClientPort:
    """What the client of a call can take besides its answer."""

    notify: Callable[[str, dict[str, Any]], None] | None = None
    """Sends a notification: its method and params."""
    ask: Callable[[dict[str, Any], float], Awaitable[dict[str, Any]]] | None = None
    """Shows a form to the client's person: the params of `elicitation/create`, and the longest wait."""
    capabilities: Mapping[str, Any] | None = None
    """What a modern client declares; None for a legacy client."""


PLAIN_CLIENT: Final = ClientPort()


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """One message of a caller with a profile."""

    caller: Principal
    profile_id: str
    now_ms: int
    peer: Peer | None = None
    client: ClientPort = PLAIN_CLIENT


class ToolGateway(Protocol):
    """Serves the tools, resources and prompts of wrapped servers."""

    own_tools: frozenset[str]
    """The tools of the table that are offered beside the foreign ones."""
    instructions: str

    def check(self) -> None:
        """Read the files of the settings. Raises `ValueError` with what is wrong and what to write."""
        ...

    async def open_profile(self, caller: Principal, described: bytes) -> str:
        """Store the profile that a client's process describes, and return its id. Raises `ValueError`
        with a message for its user."""
        ...

    async def find_profile(self, workspace_id: WorkspaceId) -> str | None:
        """Return the profile that the settings give a workspace."""
        ...

    async def list_tools(self, call: ForeignCall) -> list[dict[str, Any]]: ...

    async def call_tool(self, call: ForeignCall, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Call a foreign tool. Returns None if no foreign tool has the name."""
        ...

    async def request(self, call: ForeignCall, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request about resources or prompts. Raises `LookupError` if no server has it."""
        ...
