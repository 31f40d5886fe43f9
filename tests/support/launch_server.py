"""A server that can be stopped and started again, for stories of a whole launch."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
from tests.support.operators.fixtures import LaunchClient
from tests.support.review.kit import BROWSER, form
from tests.support.surfaces import BASE_URL, ManualClock

from assent.app import App
from assent.engine.core import journal
from assent.kernel.ids import WorkspaceId

REVIEWER = "Ada Reviewer"
REASON = "Never say “bank statements”, and keep it shorter."
NEW_OPENING = "Upload a bank statement, and every payment finds its member."
VISITOR = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/150.0"}

Told = tuple[str, str, str | None, str | None]


class LaunchServer:
    def __init__(self, settings: Any, clock: ManualClock) -> None:
        self.clock = clock
        self._settings = settings
        self._key: str | None = None
        self.workspace_id = WorkspaceId("")

    async def start(self) -> None:
        app = App(self._settings, clock=self.clock)
        self.client = LaunchClient(app)
        if self._key is None:
            issued = await self.client.sign_in()
            self._key, self.workspace_id = issued.api_key, issued.workspace_id
        self.client.key = self._key

    async def restart(self) -> None:
        await self.client.close()
        await self.start()

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        return (await self.client.call(name, arguments)).payload

    async def record(self, action_id: str) -> dict[str, Any]:
        return await self.tool("chieflab_get_action", actionId=action_id)

    async def on_page(self, link: str, action_id: str, decision: str, button: str = "", **typed: str) -> None:
        """Open the link in a browser without script, fill in a form of an action, press a button."""
        transport = httpx.ASGITransport(app=self.client.surfaces.site(), client=("198.51.100.4", 50_000))
        headers = {**BROWSER, "Origin": BASE_URL}
        async with httpx.AsyncClient(
            transport=transport, base_url=BASE_URL, headers=headers, follow_redirects=True
        ) as browser:
            page = await browser.get(link)
            assert page.status_code == 200, page.text
            assert "token" not in str(page.url)
            found = form(page.text, action_id, decision)
            sent = {**found.fields, "name": REVIEWER, **typed}
            if button:
                assert ("then", button, "") in found.buttons
                sent["then"] = button
            # A browser sends the line ends of a text field as HTML says.
            answer = await browser.post(
                found.address, data={name: text.replace("\n", "\r\n") for name, text in sent.items()}
            )
            assert answer.status_code == 200, answer.text

    async def events(self, stream_id: str) -> list[tuple[str, dict[str, Any]]]:
        found = await self.client.app.store.read(lambda: journal.read_stream(self.workspace_id, stream_id))
        return [(event.kind, msgspec.json.decode(event.body)) for event in found]

    async def told(self, run_id: str, ids: dict[str, str]) -> list[Told]:
        """The journal of a run, event by event, with who and how; the audit tool shows the same events."""
        channels = {action_id: channel for channel, action_id in ids.items()}
        events = await self.events(run_id)
        trail = await self.tool("chieflab_query_audit", runId=run_id)
        assert [(event["kind"], event["facts"]) for event in trail["events"]] == events
        return [
            (kind, channels.get(facts.get("actionId", ""), ""), facts.get("assurance"), facts.get("via"))
            for kind, facts in events
            if kind != "execution_refused"
        ]
