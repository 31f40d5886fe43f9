"""A provider that no module of the server names: its pages, its choice, its messages and its deliveries."""

from __future__ import annotations

import html
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from tests.support.connections.console import WHERE, way_out
from tests.support.connections.kit import consent
from tests.support.opened import on_any_store
from tests.support.review.kit import Server, form, send_form
from tests.support.surfaces import ManualClock, Surface

from assent.engine.connections.grants import Grantor
from assent.engine.connections.oauth import OAuthAccess
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.connection import ChoiceWords, Connection, ConnectorInfo, ProviderWords
from assent.gate.effects import EffectType, EffectTypes
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.ports import (
    REFERENCE,
    Connector,
    Context,
    Delivered,
    Delivery,
    OutcomeUnknown,
    StagedEffect,
    action_of,
)
from assent_conform.testing.ledger import Ledger
from assent_conform.testing.oauth_provider import OAuthServer, RegisteredApp

CLIENT = RegisteredApp("assent-at-acme", "a-secret-of-the-acme-client")

ACME = Grantor(
    id="acme",
    label="Acme",
    pages="https://acme.example",
    interface="https://api.acme.example",
    authorize_path="/authorize",
    token_path="/token",
    revoke_path=None,
    extra={},
    client_id_setting="ACME_CLIENT_ID",
    client_secret_setting="ACME_CLIENT_SECRET",
    permissions="Acme under Settings, Apps",
)

INFO = ConnectorInfo(
    id="acme",
    label="Acme Boards",
    description="Pins notes to a board.",
    auth_mode="oauth",
    channels=("board",),
    does=("pin",),
    needed="You sign in at Acme.",
    on_page=True,
    activities=("pins notes",),
    connect=ProviderWords(
        gives="Pins approved notes to one of your boards.",
        asks="Writing to your boards.",
        choice=ChoiceWords("Which board is used", "Board", "Its number.", "Enter the number of a board."),
    ),
)

TYPE = EffectType(channel="board", verb="pin", label="Notice board", aliases=("pinboard",), via=("acme",))


class AcmeConnector:
    """Pins once; the first answer gets lost, so the pin is read back by its reference."""

    info = INFO
    id = INFO.id
    delivery = Delivery("read_back")
    uses_sending = True
    setting = "board"

    def __init__(self, access: OAuthAccess) -> None:
        self.access = access
        self.pinned: dict[str, str] = {}

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        readiness = await self.access.readiness(workspace_id)
        connection = await self.access.connection(workspace_id) if readiness.ready else None
        if connection is not None and self.chosen(connection) is None:
            return Readiness.unconnected("Choose a board on the page for Acme.")
        return readiness

    def chosen(self, connection: Connection) -> str | None:
        return connection.settings.get(self.setting)

    def read_choice(self, typed: str) -> str | None:
        return typed if typed.isdigit() else None

    async def choices(
        self, workspace_id: WorkspaceId, timeout_seconds: float
    ) -> tuple[tuple[str, str], ...] | None:
        return (("7", "Kitchen"), ("8", "Hall"))

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        action_of(ctx, effect)
        async with ctx.sending():
            self.pinned[ctx.key] = effect.body
            raise OutcomeUnknown("the line was cut", reference=f"pin of {ctx.key}")

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        action_of(ctx, effect)
        assert ctx.metadata[REFERENCE] == f"pin of {ctx.key}"
        return Delivered(f"pin-{len(self.pinned)}", "https://acme.example/pins/1")


class Board:
    """A server with this provider alone, and a signed-in browser."""

    def __init__(self, server: Server, connector: AcmeConnector, browser: httpx.AsyncClient) -> None:
        self.server = server
        self.connector = connector
        self.browser = browser

    async def page(self, path: str) -> str:
        answer = await self.browser.get(path)
        assert answer.status_code == 200, answer.text
        return html.unescape(answer.text)

    async def connect(self) -> httpx.Response:
        leaving = await send_form(self.browser, f"/connect/acme{WHERE}", "/consent")
        brought = await consent(way_out(leaving.text))
        return await self.browser.get(f"/connect/acme/callback?{urlencode(brought)}")

    async def choose(self, **fields: str) -> httpx.Response:
        return await send_form(self.browser, f"/connect/acme{WHERE}&choose=1", "/choose", **fields)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        surface = Surface(self.server.app, "http", self.server.surfaces)
        await surface.sign_in()
        try:
            return (await surface.call(tool, arguments)).payload
        finally:
            await surface.http.aclose()


@asynccontextmanager
async def at_board(database_url: str, folder: Path) -> AsyncIterator[Board]:
    clock = ManualClock()
    provider = OAuthServer(Ledger(folder / "acme.jsonl"), CLIENT, now_ms=clock.now_ms)
    async with provider.serving() as url:
        connectors: dict[str, Connector] = {}
        server = Server(
            database_url,
            folder,
            clock=clock,
            connectors=connectors,
            effects=EffectTypes((TYPE,), (INFO,)),
        )
        client = (CLIENT.client_id, CLIENT.client_secret)
        connector = AcmeConnector(
            OAuthAccess.make(server.services, INFO, ACME, ("boards.write",), client, url)
        )
        connectors[INFO.id] = connector
        try:
            yield Board(server, connector, await server.owner())
        finally:
            await server.close()


board = on_any_store(at_board)


@pytest.mark.own_database
async def test_a_person_connects_it_and_chooses_on_its_own_pages(board: Board) -> None:
    listed = await board.page("/connectors")
    assert "Acme Boards" in listed and "Pins notes" in listed and "Notice board" in listed
    assert "Pins approved notes to one of your boards." in await board.page(f"/connect{WHERE}")

    answer = await board.connect()
    assert (answer.status_code, answer.headers["location"]) == (303, f"/connect/acme{WHERE}&did=connected")
    page = await board.page(f"/connect/acme{WHERE}")
    assert "One thing to choose" in page and "Which board is used" in page and "Kitchen" in page

    wrong = await board.choose(typed="the hall")
    assert (wrong.status_code, "Enter the number of a board." in wrong.text) == (400, True)
    chosen = await board.choose(choice="8")
    assert chosen.headers["location"].endswith("&did=chosen")
    held = await board.server.app.connections.find(LOCAL_WORKSPACE, "acme")
    assert held is not None and held.settings == {"board": "8"}


@pytest.mark.own_database
async def test_the_tools_describe_it_by_its_own_words(board: Board) -> None:
    listed = await board.call("chieflab_list_connectors")
    assert [each["id"] for each in listed["connectors"]] == ["acme", "manual"]
    assert listed["connectors"][0]["does"] == ["pin"]
    told = await board.call("chieflab_connect_provider", provider="Pinboard")
    assert (told["provider"], told["connected"]) == ("acme", False)
    assert "Notice board goes out through Acme Boards." in str(told["agentGuide"])
    assert "You sign in at Acme." in str(told["agentGuide"])
    unknown = await board.call("chieflab_connect_provider", provider="fax")
    assert "one of acme, manual, board" in str(unknown)


@pytest.mark.own_database
async def test_a_lost_answer_is_read_back_with_the_reference_of_the_provider(board: Board) -> None:
    await board.connect()
    await board.choose(choice="7")
    effect = Effect(channel="board", verb="pin", connector="acme", body="The kitchen closes at five.")
    run = await board.server.stage(
        StagedEffect(effect=effect, executor_tool="chieflab_execute_approved_action")
    )
    action_id = run.actions[0].id
    await board.server.decide(board.browser, run.run_id, action_id, "approve")
    send = form(await board.server.page(board.browser, run.run_id), action_id, "send")
    await board.browser.post(send.address, data=send.fields)

    await board.server.run_jobs()
    lost = await board.server.action(action_id)
    board.server.clock.advance(seconds=120)
    await board.server.run_jobs()
    found = await board.server.action(action_id)

    assert lost.execution_state == "outcome_unknown"
    assert (found.status, found.external_id) == ("executed", "pin-1")
    assert list(board.connector.pinned.values()) == ["The kitchen closes at five."]
