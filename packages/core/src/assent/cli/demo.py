"""`assent demo`: your agent asks, you say yes, it happens once. Played on a real server that is killed on the way.

A scripted agent speaks MCP to `assent serve` in a process of its own. The effect is a notice on a town board: a small
provider in this process, which keeps the notices that it really got. The first notice is stored and never answered, so
that the server can be killed in the middle of the send.
"""

from __future__ import annotations

import asyncio
import dataclasses
import html
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import urllib.parse
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from assent.cli.session import CommandSession
from assent.client import Client, Refused

OPERATOR: Final = """\
import os

import assent

board = assent.Operator("board", label="Town board", function="Puts up notices once approved.")
NOTICES = os.environ["BOARD_URL"] + "/notices"


@board.effect(risk="low", delivery=assent.read_back())
async def post(ctx: assent.Context, text: str) -> assent.Receipt:
    \"\"\"Put a notice on the town board. USE WHEN the user wants people in town to know something.\"\"\"
    answer = await ctx.http.request("POST", NOTICES, json={"text": text}, headers={"Idempotency-Key": ctx.key})
    return assent.Receipt(answer.json()["id"])


@post.look_up
async def look_up(ctx: assent.Context) -> assent.Receipt | None:
    answer = await ctx.http.request("GET", f"{NOTICES}/{ctx.key}")
    return assent.Receipt(answer.json()["id"]) if answer.status == 200 else None
"""
NOTICE: Final = "The library is open on Saturday from 10 to 14. There will be cake."
TOOL: Final = "board_post"
EXECUTE: Final = "chieflab_execute_approved_action"
LEASE_SECONDS: Final = 5
"""How long the server that comes back waits until it asks the board. Outside the demo it is a minute."""
START_SECONDS: Final = 60.0


def demo(
    session: CommandSession,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Approve the notice yourself, in the browser.")
    ] = False,
) -> int:
    """Play the story: an agent is refused, a person says yes, the server is killed while it sends, the chat is
    rewound, and still it happens once."""
    return asyncio.run(_play(session, interactive))


class Board:
    """The town board: what it really got, by key, and whether it still keeps a sender waiting."""

    def __init__(self) -> None:
        self.notices: dict[str, str] = {}
        self.requests = 0
        self.has_got_one = threading.Event()
        self.may_answer = threading.Event()

    def put_up(self, key: str, text: str) -> None:
        self.requests += 1
        self.notices[key] = text
        self.has_got_one.set()
        self.may_answer.wait()


@contextmanager
def _run_board(board: Board) -> Iterator[str]:
    """Serve the board on a free port, with a page for people."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            board.put_up(self.headers["Idempotency-Key"], msgspec.json.decode(self.rfile.read(size))["text"])
            self._answer(HTTPStatus.CREATED, b'{"id": "notice-1"}', "application/json")

        def do_GET(self) -> None:
            if self.path == "/":
                items = "".join(f"<li>{html.escape(text)}</li>" for text in board.notices.values())
                page = f"<!doctype html><title>Town board</title><h1>Town board</h1><ul>{items}</ul>"
                self._answer(HTTPStatus.OK, page.encode(), "text/html; charset=utf-8")
            elif urllib.parse.unquote(self.path.rpartition("/")[2]) in board.notices:
                self._answer(HTTPStatus.OK, b'{"id": "notice-1"}', "application/json")
            else:
                self._answer(HTTPStatus.NOT_FOUND, b"{}", "application/json")

        def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:
                self.close_connection = True  # the server that asked was killed

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            board.may_answer.set()
            server.shutdown()


@dataclasses.dataclass
class DemoServer:
    """`assent serve` in a process of its own, which can be killed and started again on the same data."""

    directory: Path
    port: int
    environment: dict[str, str]
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "assent", *words, "--data-dir", str(self.directory / "data")]

    def make_key(self) -> str:
        command = self.command("keys", "create", "--label", "demo agent", "--json")
        done = subprocess.run(command, env=self.environment, capture_output=True, check=True)  # noqa: S603 - ours
        key: str = msgspec.json.decode(done.stdout)["apiKey"]
        return key

    async def start(self) -> None:
        import httpx

        flags = ("--port", str(self.port), "--operators", str(self.directory / "board.py"), "--no-open")
        with (self.directory / "server.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.command("serve", *flags), env=self.environment, stdout=log, stderr=log
            )
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as probe:
            while self.process.returncode is None:
                try:
                    if (await probe.get(f"{self.url}/healthz")).is_success:
                        return
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
        raise RuntimeError(f"the server did not start:\n{(self.directory / 'server.log').read_text()}")

    async def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            await self.process.wait()
            self.process = None


@asynccontextmanager
async def _run_server(board_url: str) -> AsyncIterator[DemoServer]:
    with tempfile.TemporaryDirectory(prefix="assent-demo-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASSENT_", "RUN_TOKEN_"))
        }
        own = {
            "ASSENT_BASE_URL": f"http://127.0.0.1:{port}",
            "ASSENT_ALLOW_HOSTS": "127.0.0.1",
            "ASSENT_EXECUTION_LEASE_SECONDS": str(LEASE_SECONDS),
            "ASSENT_CONNECTOR_TIMEOUT_SECONDS": str(LEASE_SECONDS - 1),
            "BOARD_URL": board_url,
        }
        server = DemoServer(Path(folder), port, kept | own)
        (server.directory / "board.py").write_text(OPERATOR)
        try:
            yield server
        finally:
            await server.end(signal.SIGTERM)


@dataclasses.dataclass
class Story:
    """What the demo tells."""

    session: CommandSession
    number: int = 0

    def step(self, title: str) -> None:
        self.number += 1
        self.session.say(f"\n{self.number}. {title}")

    def tell(self, text: str) -> None:
        self.session.say(textwrap.indent(textwrap.fill(text, 96), "   "))


async def _play(session: CommandSession, interactive: bool) -> int:
    story, board = Story(session), Board()
    session.say("Your agent asks. You say yes. It happens once.")
    with _run_board(board) as board_url:
        async with _run_server(board_url) as server:
            await server.start()
            key = await asyncio.to_thread(server.make_key)
            session.say(f"A town board is at {board_url}, an Assent server at {server.url}.")
            async with Client(server.url, key) as agent:
                action = await _ask(story, agent)
                await _say_yes(story, agent, action, interactive)
                await _kill_while_sending(story, agent, server, board, action["id"])
                await _come_back(story, agent, server, board, action["id"])
                await _rewind(story, agent, board, action)
                await _show_journal(story, agent)
    posts = len(board.notices)
    if (posts, board.requests) != (1, 1):
        raise RuntimeError(f"the board got {board.requests} requests and shows {posts} notices")
    session.give({"ok": True, "steps": story.number, "posts": posts}, "It happened once.")
    return 0


async def _ask(story: Story, agent: Client) -> dict[str, Any]:
    story.step("Your agent asks. It wants to put up a notice; the server stores it and sends nothing.")
    run = await agent.call(TOOL, text=NOTICE)
    action: dict[str, Any] = run["actions"][0]
    story.tell(f"“{NOTICE}”")
    story.tell(f"Status: {action['status']}.")

    story.step("It tries to send it anyway. The server looks at the stored status, not at the prompt.")
    try:
        await agent.call(EXECUTE, actionId=action["id"])
    except Refused as refused:
        story.tell(f"Refused: {refused.reason}.")
    return {**action, "reviewUrl": run["reviewUrl"]}


async def _say_yes(story: Story, agent: Client, action: dict[str, Any], interactive: bool) -> None:
    if interactive:
        story.step("You say yes: open this page, read, and approve.")
        story.tell(action["reviewUrl"])
        while (await _wait(agent, action["id"]))["status"] == "awaiting_approval":
            pass
    else:
        story.step("You say yes in the chat, and the agent passes it on.")
        await agent.call("chieflab_approve_action", actionId=action["id"], digest=action["digest"])
    found = await agent.call("chieflab_get_action", actionId=action["id"])
    if found["status"] != "approved":
        raise RuntimeError(f"it was not approved: {found['status']}")
    story.tell("Approved: exactly this text, bound by its hash. A changed text would need another yes.")


async def _wait(agent: Client, action_id: str) -> dict[str, Any]:
    """Return the action as soon as it changes, or after a while."""
    return await agent.call("chieflab_get_action", actionId=action_id, waitSeconds=10)


async def _kill_while_sending(
    story: Story, agent: Client, server: DemoServer, board: Board, action_id: str
) -> None:
    import httpx

    story.step(
        "The server sends it, and is killed in the middle: the board has the notice, the answer is lost."
    )
    sending = asyncio.create_task(agent.call(EXECUTE, actionId=action_id, idempotencyKey="demo-1"))
    async with asyncio.timeout(START_SECONDS):
        await asyncio.to_thread(board.has_got_one.wait)
    await server.end(signal.SIGKILL)
    board.may_answer.set()
    try:
        await sending
    except httpx.TransportError:
        story.tell("kill -9. The agent got no answer, and neither did the server.")


async def _come_back(story: Story, agent: Client, server: DemoServer, board: Board, action_id: str) -> None:
    story.step("The server starts again. It does not guess: it asks the board whether the notice is there.")
    await server.start()
    async with asyncio.timeout(START_SECONDS):
        while (found := await _wait(agent, action_id))["status"] == "approved":
            pass
    story.tell(
        f"It is: {found['status']}, reference {found['externalId']}. Requests to the board: {board.requests}."
    )


async def _rewind(story: Story, agent: Client, board: Board, action: dict[str, Any]) -> None:
    story.step("The chat is rewound to before the post, and the agent does it all again.")
    attempts: tuple[tuple[str, dict[str, Any]], ...] = (
        ("chieflab_approve_action", {"actionId": action["id"], "digest": action["digest"]}),
        (EXECUTE, {"actionId": action["id"], "idempotencyKey": "demo-after-the-rewind"}),
    )
    for tool, arguments in attempts:
        try:
            await agent.call(tool, **arguments)
        except Refused as refused:
            story.tell(f"{tool}: refused, {refused.reason}.")
    story.tell(f"Notices on the board: {len(board.notices)}. Requests that it got: {board.requests}.")


async def _show_journal(story: Story, agent: Client) -> None:
    story.step("All of it is on record.")
    trail = await agent.call("chieflab_query_audit")
    for action in trail["actions"]:
        by = f", approved by {action['approvedBy']} ({action['assurance']})" if action["approvedBy"] else ""
        story.tell(f"{action['type']}: {action['status']}{by}")
