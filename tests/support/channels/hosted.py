"""A server with Zernio and Resend behind it, as an agent meets it."""

from __future__ import annotations

from typing import Any

import msgspec
from tests.support.channels.kit import connect
from tests.support.surfaces import Outcome, Surface

from assent.kernel.ids import WorkspaceId
from assent_conform.emulators.email import Resend
from assent_conform.emulators.zernio import Zernio


class Hosted(Surface):
    """A surface with both providers behind it, which keeps every answer it got."""

    zernio: Zernio
    resend: Resend
    workspace_id: WorkspaceId

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.heard: list[str] = []

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> Outcome:
        outcome = await super().call(tool, arguments, **options)
        self.heard.append(msgspec.json.encode([outcome.message, outcome.headers]).decode())
        return outcome

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        return (await self.call(name, arguments)).payload

    async def connect(self, *providers: str) -> None:
        for provider in providers:
            await connect(self.app, provider, self.workspace_id)
