"""Programs of others sign in: the conformance suite, which tests an authorization server, and Claude Code on a laptop,
where an address is added, a browser page is answered, a tool is called, and no key is on any screen.

The server runs in this process, so that it can be told what Claude Code publishes about itself; the model is a stand-in
that asks for one tool. Program, terminal and network are real.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import socket
import struct
import subprocess
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.support.interop.clients import PACKAGES, ROOT
from tests.support.oauth.kit import Person, document, make_client, publishing
from tests.support.processes.running import free_port
from tests.support.review.kit import Server
from tests.support.sqlite_files import new_sqlite

from assent.net import addresses

pytestmark = [pytest.mark.slow, pytest.mark.interop]

CLAUDE = next(iter(ROOT.glob(".node/node_modules/@anthropic-ai/claude-code-linux-*/claude")), None)
ABOUT_ITSELF = "https://claude.ai/oauth/claude-code-client-metadata"
REDIRECTS = ["http://localhost/callback", "http://127.0.0.1/callback"]
TOOL = "mcp__assent__chieflab_status"
SECONDS = 60.0
COLUMNS = 2_000
"""A terminal so wide that an address stands on one line."""


class Model:
    """A stand-in for the model's API: it asks for the tool, then stops. Keeps what the tool said."""

    def __init__(self) -> None:
        self.results: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        said = json.loads(body or b"{}")
        parts = [part for each in said.get("messages", ()) for part in each["content"] if type(part) is dict]
        results = [json.dumps(part["content"]) for part in parts if part.get("type") == "tool_result"]
        self.results += results
        wants = not results and any(tool.get("name") == TOOL for tool in said.get("tools", ()))
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": "Done."}
        if wants:
            block = {"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": "{}"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
        ends = {"stop_reason": "tool_use" if wants else "end_turn", "stop_sequence": None}
        events = (
            {"type": "message_start", "message": {**message, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ends, "usage": usage},
            {"type": "message_stop"},
        )
        told = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": told.encode()})


@asynccontextmanager
async def listening(app: Any, port: int) -> AsyncIterator[None]:
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
    running = asyncio.create_task(server.serve([socket.create_server(("127.0.0.1", port))]))
    try:
        yield
    finally:
        server.should_exit = True
        await running


class Laptop:
    """Claude Code with a home of its own, and everything that it showed."""

    def __init__(self, home: Path, model_port: int) -> None:
        self.shown = ""
        self._home = home
        self._environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "BROWSER": "/bin/true",
            "TERM": "dumb",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model_port}",
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
        }

    async def run(self, *arguments: str) -> str:
        async with asyncio.timeout(SECONDS):
            started = await self._start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            told = (await started.communicate())[0].decode()
        self.shown += told
        assert started.returncode == 0, told
        return told

    async def _start(self, *arguments: str, **given: Any) -> asyncio.subprocess.Process:
        given.setdefault("stderr", subprocess.STDOUT)
        return await asyncio.create_subprocess_exec(
            str(CLAUDE), *arguments, env=self._environment, cwd=self._home, **given
        )

    async def sign_in(self, link: re.Pattern[str], open_page: Callable[[str], Any]) -> None:
        """Run the command in a terminal, and open the page that it names."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        loop, told, grew = asyncio.get_running_loop(), bytearray(), asyncio.Event()

        def read() -> None:
            try:
                told.extend(os.read(leader, 65_536))
            except OSError:
                loop.remove_reader(leader)
            grew.set()

        loop.add_reader(leader, read)
        login = await self._start(
            "mcp", "login", "assent", stdin=follower, stdout=follower, stderr=follower, start_new_session=True
        )
        os.close(follower)
        try:
            async with asyncio.timeout(SECONDS):
                while (found := link.search(told.decode(errors="replace"))) is None:
                    grew.clear()
                    await grew.wait()
                await open_page(found[0])
                assert await login.wait() == 0, told.decode(errors="replace")
        finally:
            loop.remove_reader(leader)
            os.close(leader)
            self.shown += told.decode(errors="replace")


@pytest.mark.skipif(CLAUDE is None, reason="Claude Code is not installed (make test brings it where npm is)")
async def test_an_address_a_page_and_the_first_call_without_any_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, model_port, model = free_port(), free_port(), Model()
    base_url = f"http://localhost:{port}"
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path / "data", base_url)
    (tmp_path / "home").mkdir()
    laptop = Laptop(tmp_path / "home", model_port)

    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34"]

    with publishing(monkeypatch) as web:
        monkeypatch.setattr(addresses, "_resolve", resolve)
        web.publish(ABOUT_ITSELF, document(ABOUT_ITSELF, client_name="Claude Code", redirect_uris=REDIRECTS))
        person = Person(await server.owner())

        async def open_page(url: str) -> None:
            async with httpx.AsyncClient() as browser:
                assert (await browser.get(await person.let_in(url))).status_code == 200

        async with listening(server.site, port), listening(model, model_port):
            await laptop.run("mcp", "add", "--transport", "http", "assent", f"{base_url}/api/mcp")
            ask = ("-p", "Show me the status.", "--allowedTools", TOOL)
            await laptop.run(*ask)
            # The refused call is enough: it knows that a person has to sign in.
            assert "sign in" in model.results[-1]

            await laptop.sign_in(re.compile(rf"{base_url}/oauth/authorize\?[\w%.&=~+-]+"), open_page)
            await laptop.run(*ask)

    assert "counts" in model.results[-1]
    assert "clp_" not in laptop.shown
    assert "Claude Code" in (await person.look("/settings/keys")).text
    await server.close()


async def test_the_conformance_suite_gets_a_token_from_the_authorization_server(
    tmp_path: Path, node_program: str
) -> None:
    port, callback_port = free_port(), free_port()
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path / "data", f"http://localhost:{port}")
    person = Person(await server.owner())
    client = make_client(server, redirect_uri=f"http://127.0.0.1:{callback_port}/callback")
    await client.discover(await client.greet())
    await client.register()
    suite = str(PACKAGES / "@modelcontextprotocol/conformance/dist/index.js")
    given = ("--client-id", client.client_id, "--resource", client.resource, "--port", str(callback_port))
    link, shown = re.compile(rf"http://localhost:{port}/oauth/authorize\?\S+"), ""

    async with listening(server.site, port), asyncio.timeout(SECONDS):
        running = await asyncio.create_subprocess_exec(
            *(node_program, suite, "authorization", "--url", server.base_url, *given, "-o", str(tmp_path)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert running.stdout is not None
        while line := (await running.stdout.readline()).decode():
            shown += line
            if (found := link.search(line)) is not None:
                async with httpx.AsyncClient() as browser:
                    await browser.get(await person.let_in(found[0]))
        assert await running.wait() == 0, shown
    assert "Total: 3 passed, 0 failed" in shown, shown
    await server.close()
