"""The way from the start of a client's process to its first list of tools."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from tests.support.wrap.kit import Wrapped

from assent.processes.listening import find_socket
from assent.processes.wrap_socket_server import Fronts
from assent.settings.secret_files import ensure_data_dir

GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


async def has_started(wrapped: Wrapped) -> bool:
    return bool(wrapped.starts)


async def test_a_wrapped_server_starts_with_its_client_and_is_not_started_again_for_the_list(
    wrapped: Wrapped,
) -> None:
    client = await wrapped.open()
    await wrapped.until(lambda: has_started(wrapped))
    assert "look" in await client.names()
    assert len(wrapped.starts) == 1


async def test_a_front_is_let_in_and_its_server_starts_while_this_server_loads(wrapped: Wrapped) -> None:
    app = wrapped.app
    ensure_data_dir(app.settings.data_dir)
    fronts = Fronts(
        app.settings,
        wrapped.surfaces.edge,
        lambda: app.gateway,
        lambda: wrapped.surfaces.messages,
        expected=True,
    )
    body = msgspec.json.encode({"profile": {"command": wrapped.command(), "name": "notes"}})
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING}

    async def read(reader: asyncio.StreamReader) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.json.decode(await reader.readline())
        return answer

    async with fronts:
        reader, writer = await asyncio.open_unix_connection(find_socket(app.settings.data_dir))
        writer.write(len(body).to_bytes(4) + body + msgspec.json.encode(hello) + b"\n")
        await fronts.let_in()  # which waits for it
        assert "ok" in await read(reader)
        await wrapped.until(lambda: has_started(wrapped))
        answering = asyncio.create_task(fronts.answer())
        assert (await read(reader))["result"]["serverInfo"]["name"] == "assent"
        assert not answering.done()
        writer.write(msgspec.json.encode({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}) + b"\n")
        assert "look" in [each["name"] for each in (await read(reader))["result"]["tools"]]
        await answering
        writer.close()
