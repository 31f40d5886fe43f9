"""A server with a stranger's channel, the provider behind it, and a person in front of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from tests.support.actions.kit import Gate
from tests.support.connections.console import WHERE, way_out
from tests.support.connections.kit import consent
from tests.support.extensions.pressroom_server import CLIENT, PressroomServer
from tests.support.keyed_browser import KeyedBrowser
from tests.support.keys import make_key
from tests.support.review.kit import BROWSER, forms, send_form
from tests.support.surfaces import BASE_URL, ManualClock, settings_for

from assent.app import App
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people import people
from assent.engine.people.people import OWNER
from assent_conform.testing.ledger import Ledger

PRESSROOM = Path(__file__).with_name("pressroom.py")


class Newsroom(Gate):
    """A client, the emulated pressroom, and the browser of a signed-in person."""

    far: PressroomServer
    browser: httpx.AsyncClient

    async def open_browser(self) -> None:
        """Sign a person in, and an agent of the same workspace."""
        self.workspace_id = LOCAL_WORKSPACE
        self.browser = KeyedBrowser(
            transport=self.wire, base_url=BASE_URL, headers={**BROWSER, "Origin": BASE_URL}
        )
        await self.app.prepare()
        self.key = await make_key(self.app)
        now_ms = self.clock.now_ms()
        token = await self.app.store.write(
            lambda: people.issue_link(
                os.urandom(people.ENTROPY_BYTES), now_ms, shown_to="terminal", person_id=OWNER
            )
        )
        answer = await self.browser.post(f"/sign-in/{token}")
        assert answer.status_code == 303, answer.text

    async def connect(self) -> httpx.Response:
        """Connect the pressroom on its page, as a person who consents; what the callback answers."""
        leaving = await send_form(self.browser, f"/connect/pressroom{WHERE}", "/consent")
        brought = await consent(way_out(leaving.text))
        return await self.browser.get(f"/connect/pressroom/callback?{urlencode(brought)}")

    async def disconnect(self) -> None:
        gone = await send_form(self.browser, f"/connect/pressroom{WHERE}", "/disconnect")
        assert gone.status_code == 303

    async def press(self, run_id: str, action_id: str, decision: str, **fields: str) -> httpx.Response:
        """Fill in a form of the run's page and press its button."""
        page = (await self.browser.get(f"/runs/{run_id}")).text
        found = [each for each in forms(page) if (each.action_id, each.decision) == (action_id, decision)]
        assert found, [(each.action_id, each.decision) for each in forms(page)]
        return await self.browser.post(found[0].address, data={**found[0].fields, **fields})

    async def edit(self, run_id: str, action_id: str, **fields: str) -> httpx.Response:
        """Change texts on the edit page and save them."""
        return await send_form(self.browser, f"/runs/{run_id}/actions/{action_id}/edit", "/edit", **fields)

    async def close(self) -> None:
        await self.browser.aclose()
        await super().close()


@asynccontextmanager
async def open_newsroom(
    monkeypatch: pytest.MonkeyPatch, database_url: str, folder: Path, transport: str, **changes: Any
) -> AsyncIterator[Newsroom]:
    """The extension is a file in a folder of its own, which names the address of the provider."""
    clock = ManualClock()
    far = PressroomServer(Ledger(folder / "pressroom.jsonl"), now_ms=clock.now_ms)
    async with far.serving() as url:
        monkeypatch.setenv("PRESSROOM_URL", url)
        monkeypatch.setenv("PRESSROOM_CLIENT_ID", CLIENT.client_id)
        monkeypatch.setenv("PRESSROOM_CLIENT_SECRET", CLIENT.client_secret)
        copied = shutil.copy(PRESSROOM, folder / "pressroom.py")
        given = {"operators": (str(copied),), "allow_hosts": ("127.0.0.1",), **changes}
        app = App(settings_for(database_url, folder, **given), clock=clock, one_client=transport == "stdio")
        made = Newsroom(app, transport)
        made.providers, made.far = {}, far
        await made.open_browser()
        async with made:
            yield made
