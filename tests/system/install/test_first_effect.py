"""From an empty home to the first effect that a person approved: at most two commands and a minute, for each client's
own file, over stdio and HTTP. The official SDK stands for the client; the browser is one without a window."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import mcp
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from packages.core.tests.wire.oauth.test_signing_in import Kept
from tests.support.docs.newcomer import LINK, Terminal, Window
from tests.support.keyed_browser import is_confirm_page
from tests.support.oauth.kit import TICKED, find_way_back
from tests.support.processes.running import environment, eventually, free_port
from tests.support.review.kit import forms
from tests.support.warm_shell import WarmCommands

from assent.cli.mcp_config import CLIENTS

pytestmark = pytest.mark.slow

SECONDS = 60.0
BODY = "The tide table for June is out."
BACK = "http://127.0.0.1:49152/callback"


class Newcomer:
    """A person with an empty home, one folder, terminals and a browser."""

    def __init__(self, root: Path, commands: Path) -> None:
        self.home, self.here, self._root, self.port = root / "home", root / "work", root, free_port()
        for each in (self.home, self.here):
            each.mkdir()
        kept = {name: value for name, value in environment({}).items() if not name.startswith("XDG_")}
        self.env = {
            **kept,
            "ASSENT_PORT": str(self.port),
            "ASSENT_OPEN_BROWSER": "false",
            "HOME": str(self.home),
            "NO_COLOR": "1",
            "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
            "TERM": "dumb",
        }
        self.typed: list[str] = []
        self.window = Window()
        self._terminals: list[Terminal] = []

    def type(self, command: str) -> Terminal:
        """Type a command into a terminal of its own."""
        self.typed.append(command)
        terminal = Terminal(self.here, self.env, self._root / f"orders{len(self.typed)}")
        self._terminals.append(terminal)
        block = self._root / f"{len(self.typed)}.sh"
        block.write_text(f"{command}\n")
        terminal.type(block)
        return terminal

    def sign_in(self, terminal: Terminal) -> None:
        link = eventually(lambda: LINK.findall(terminal.shown), f"a link is printed: {terminal.shown}")[-1]
        self.window.open(link)
        self.window.press("Sign in")

    def read_entry(self, client: str) -> dict[str, Any]:
        known = CLIENTS[client]
        found: dict[str, Any] = json.loads(known.locate(self.home, self.here).read_text())
        return dict(found[known.key]["assent"])

    def let_in(self, url: str) -> str:
        """Let a client in on the consent page; returns where the browser is sent."""
        http = self.window._http
        http.confirms = True
        shown = http.get(url)
        (asked,) = [each for each in forms(shown.text) if "/oauth/authorize" in each.address]
        ticked = dict.fromkeys(TICKED.findall(shown.text), "on")
        way = find_way_back(http.post(shown.url.join(asked.address), data={**asked.fields, **ticked}))
        http.confirms = False
        return way

    def approve(self, url: str) -> None:
        self.window.open(url)
        self.window.look_for(BODY)
        self.window.press("Approve only")
        if is_confirm_page(self.window._shown):  # where the policy wants a signed-in person
            self.window.press("Approve")

    def close(self) -> None:
        self.window.close()
        for each in self._terminals:
            each.close()


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    with WarmCommands(tmp_path / "bin") as commands:
        made = Newcomer(tmp_path, commands.folder)
        try:
            yield made
        finally:
            made.close()


@asynccontextmanager
async def connect_stdio(newcomer: Newcomer, entry: dict[str, Any]) -> AsyncIterator[mcp.Client]:
    assert entry.get("type", "stdio") == "stdio"
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=newcomer.env, cwd=newcomer.here
    )
    async with mcp.Client(server) as client:
        yield client


@asynccontextmanager
async def connect_http(newcomer: Newcomer, entry: dict[str, Any]) -> AsyncIterator[mcp.Client]:
    assert entry.keys() <= {"type", "url"}, "no key is in the file"
    back: list[str] = []

    async def open_browser(url: str) -> None:
        back.append(await asyncio.to_thread(newcomer.let_in, url))

    async def wait() -> AuthorizationCodeResult:
        answer = {name: values[0] for name, values in parse_qs(urlsplit(back[-1]).query).items()}
        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer["iss"])

    metadata = OAuthClientMetadata(client_name="SDK", redirect_uris=[BACK])  # type: ignore[list-item]
    signing_in = OAuthClientProvider(entry["url"], metadata, Kept(), open_browser, wait)
    async with (
        httpx2.AsyncClient(auth=signing_in, timeout=30) as http,
        mcp.Client(streamable_http_client(entry["url"], http_client=http)) as client,
    ):
        yield client


async def publish_with_consent(newcomer: Newcomer, client: mcp.Client) -> dict[str, Any]:
    """The agent asks, the person approves in the browser, the agent executes."""

    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await client.call_tool(tool, arguments)
        assert answer.structured_content is not None, answer
        return dict(answer.structured_content)

    run = await call("chieflab_post", channel="site", title="Tides", body=BODY)
    (action,) = run["actions"]
    refused = await call("chieflab_execute_approved_action", actionId=action["id"])
    assert refused["reason"] == "requires_approval"
    await asyncio.to_thread(newcomer.approve, run["reviewUrl"])
    return await call("chieflab_execute_approved_action", actionId=action["id"])


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode"])
async def test_over_stdio_a_command_adds_the_server_and_another_opens_the_browser(
    newcomer: Newcomer, client: str
) -> None:
    began = time.monotonic()
    await asyncio.to_thread(newcomer.type(f"assent mcp config {client} --write --yes").finish)
    async with connect_stdio(newcomer, newcomer.read_entry(client)) as agent:
        await asyncio.to_thread(newcomer.sign_in, newcomer.type("assent owner-link"))
        done = await publish_with_consent(newcomer, agent)

    assert done["status"] == "executed" and len(newcomer.typed) == 2
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("client", ["claude", "vscode"])
async def test_over_http_a_command_serves_and_another_adds_the_address_without_a_key(
    newcomer: Newcomer, client: str
) -> None:
    """Cursor's way back from signing in is no web address, which the server does not accept: it takes a key, and with
    it a third command."""
    began = time.monotonic()
    serving = newcomer.type("ASSENT_POLICY=people assent serve")
    await asyncio.to_thread(newcomer.sign_in, serving)
    await asyncio.to_thread(newcomer.type(f"assent mcp config {client} --http --write --yes").finish)
    async with connect_http(newcomer, newcomer.read_entry(client)) as agent:
        done = await publish_with_consent(newcomer, agent)

    assert done["status"] == "executed" and len(newcomer.typed) == 2
    assert time.monotonic() - began < SECONDS
