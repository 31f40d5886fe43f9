"""The SDK's view of a message that gets exactly one response, with no way back to the client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId


@dataclass
class SingleDispatch:
    """The SDK's dispatch context for a message that gets exactly one response."""

    request_id: RequestId | None
    message_metadata: ServerMessageMetadata
    transport: TransportContext
    progress_token: None = None
    can_send_request: bool = field(default=False, init=False)
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(self, method: str, params: Any, opts: Any = None) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Any, opts: Any = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return None
