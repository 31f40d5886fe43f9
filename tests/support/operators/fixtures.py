"""A signed-in surface over connectors that write down everything they are asked to do."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.keys import make_key
from tests.support.surfaces import ManualClock, Surface, settings_for, signed_in

from assent.app import App
from assent.gate.preflight import Readiness
from assent.gate.records import Action, Effect
from assent.ports import Context, Delivered, Delivery, Reading

CLUB: dict[str, Any] = {
    "goal": "first users for the import",
    "brand": {"name": "Ledgerleaf", "audience": "treasurers of small clubs", "voice": "plain"},
    "repoContext": {
        "whatChanged": "Ledgerleaf now imports bank statements as CSV and matches them to members.",
        "README": "# Ledgerleaf\n\nBookkeeping for clubs.\n\n- Members and dues in one list\n- A yearly report\n",
        "targetCustomer": "treasurers of small clubs",
        "launchGoal": "first users for the import",
    },
}


class Recording:
    """A connector with a ledger, and numbers when a test gives it some."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.delivery = Delivery("natural_key")
        self.done: list[str] = []
        self.metrics: dict[str, float] | None = None
        self.ready = Readiness(ready=True)

    async def readiness(self, workspace_id: str) -> Readiness:
        return self.ready

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        self.done.append(ctx.action_id)
        return Delivered(f"{self.id}-{len(self.done)}", f"https://example.org/{self.id}/{len(self.done)}")

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        return None

    async def measure(self, action: Action, timeout_seconds: float) -> Reading:
        if self.metrics is None:
            return Reading(
                source=self.id,
                channel=action.effect.channel,
                status="unavailable",
                reason="its numbers lag two days",
            )
        return Reading(source=self.id, channel=action.effect.channel, status="ok", metrics=dict(self.metrics))


class LaunchClient(Surface):
    """A surface that can also play the parts of time and of the provider."""

    zernio: Recording
    mail: Recording

    async def key_with(self, *scopes: str) -> str:
        """Another key of this workspace that may do only so much."""
        assert self.workspace_id is not None
        return await make_key(self.app, self.workspace_id, scopes=scopes)

    async def approve_and_send(self, action_id: str) -> dict[str, Any]:
        await self.call("chieflab_approve_action", {"actionId": action_id})
        return (await self.call("chieflab_execute_approved_action", {"actionId": action_id})).payload


@pytest.fixture
async def client(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[LaunchClient]:
    app = App(settings_for(database_url, tmp_path, allow_hosts=("127.0.0.1",)), clock=ManualClock())
    zernio, mail = Recording("zernio"), Recording("smtp")
    connectors = {**app.owner_services.connectors, "zernio": zernio, "smtp": mail}
    app.owner_services = dataclasses.replace(app.owner_services, make_connectors=lambda: connectors)
    async with signed_in(LaunchClient(app, transport)) as client:
        client.zernio, client.mail = zernio, mail
        yield client
