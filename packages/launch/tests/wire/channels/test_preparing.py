"""Preparing changes nothing anywhere: with every provider connected, no emulator sees a call that could."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.channels import kit as keyed
from tests.support.connections import kit as consented
from tests.support.operators.fixtures import CLUB
from tests.support.surfaces import ManualClock, Surface, settings_for

from assent.app import App
from assent.gate.connection import API_KEY, NewConnection, OpenedSecrets
from assent.ports import KeyChecked
from assent_conform.emulators import bluesky
from assent_conform.testing.ledger import LedgerCall
from assent_conform.testing.provider_server import ProviderServer

NEWS = {name: CLUB[name] for name in ("goal", "repoContext")}
QUESTIONS = (":runReport", "/searchAnalytics/query", "/contacts/search", "/token", "createSession")
"""Calls that ask by POST: reports, searches, and tokens."""


class Everything:
    """A server with every provider connected."""

    def __init__(self, surface: Surface, far: consented.Providers) -> None:
        self.surface = surface
        self._far = far
        self._before: dict[str, int] = {}

    async def connect(self) -> None:
        issued, app = await self.surface.sign_in(), self.surface.app
        for provider in ("zernio", "resend"):
            await keyed.connect(app, provider, issued.workspace_id)
        await _connect_bluesky(app, issued.workspace_id)
        await consented.connect(app, "ga4", issued.workspace_id, propertyId="1234")
        await consented.connect(
            app, "search_console", issued.workspace_id, siteUrl="https://ledgerleaf.example/"
        )
        await consented.connect(app, "hubspot", issued.workspace_id)
        self._before = {name: len(server.ledger.entries()) for name, server in self._servers().items()}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.surface.call(tool, arguments)
        assert not answer.is_error, answer.payload
        return answer.payload

    def changes(self) -> list[tuple[str, str, str]]:
        """Every call since everything was connected that could have changed something."""
        return [
            (name, entry.method, entry.path)
            for name, server in self._servers().items()
            for entry in server.ledger.entries()[self._before[name] :]
            if isinstance(entry, LedgerCall)
            and entry.method != "GET"
            and not any(each in entry.path for each in QUESTIONS)
        ]

    def _servers(self) -> dict[str, ProviderServer]:
        names = ("google", "ga4", "search", "hubspot", "zernio", "resend", "bluesky")
        return {name: getattr(self._far, name) for name in names}


async def _connect_bluesky(app: App, workspace_id: Any) -> None:
    connector: object = app.owner_services.connectors["bluesky"]
    assert isinstance(connector, KeyChecked)
    verified = await connector.verify(bluesky.KEY, 10)
    new = NewConnection(
        label=verified.label,
        secrets=OpenedSecrets({API_KEY: bluesky.KEY}),
        accounts=verified.accounts,
        settings=verified.settings,
    )
    await app.connections.save(workspace_id, "bluesky", new, by="Ada")


@pytest.fixture
async def everything(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Everything]:
    clock = ManualClock()
    async with consented.providers(tmp_path, clock) as far:
        app = App(settings_for(database_url, tmp_path, **far.settings()), clock=clock)
        async with Surface(app, transport) as surface:
            made = Everything(surface, far)
            await made.connect()
            yield made


@pytest.mark.rule("E11", "E101")
async def test_no_preparing_tool_changes_anything_at_any_provider(everything: Everything) -> None:
    run = await everything.call(
        "chieflab_launch_product",
        channels=["linkedin", "x", "bluesky", "email", "site"],
        email={"to": ["grace@example.org"]},
        drafts={"bluesky": "Upload a bank statement, and every payment finds its member."},
        **CLUB,
    )
    assert {action["connector"] for action in run["actions"]} == {"zernio", "bluesky", "resend", "site"}
    assert all(action["preflight"]["connectorReady"] for action in run["actions"])
    await everything.call("chieflab_post", channel="linkedin", **NEWS)
    await everything.call("chieflab_send", to=["grace@example.org"], **NEWS)
    await everything.call("chieflab_save_contacts", contacts=[{"email": "ada@example.org"}])
    await everything.call("chieflab_diagnose_marketing")
    await everything.call("chieflab_create_social_graphics", headline="Every payment finds its member")
    await everything.call("chieflab_connect_provider", provider="zernio")
    assert everything.changes() == []


async def test_executing_is_what_changes_something(everything: Everything) -> None:
    run = await everything.call("chieflab_post", channel="linkedin", **NEWS)
    action_id = run["actions"][0]["id"]
    await everything.call("chieflab_approve_action", actionId=action_id)
    assert everything.changes() == []
    await everything.call("chieflab_execute_approved_action", actionId=action_id)
    assert everything.changes() == [("zernio", "POST", "/v1/posts")]
