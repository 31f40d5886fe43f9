"""Clients that do not finish: every request has deadlines, headers have bounds, and the others are served meanwhile.

Real sockets around a whole server, with deadlines that a test can wait for.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import PUBLIC
from tests.support.surfaces import Surface

from assent.processes.serve import http_server
from assent.serving.sockets import ReadTimeouts, fit_descriptors
from assent.tools.catalog import Catalog

pytestmark = pytest.mark.slow

SOON_SECONDS = 15.0
SHORT = ReadTimeouts(
    header_seconds=0.2, body_pause_seconds=0.2, request_seconds=0.6, reading_pause_seconds=0.2
)
FAIR = ReadTimeouts(header_seconds=1, body_pause_seconds=1, request_seconds=2, reading_pause_seconds=1)
"""For tests in which somebody is in time, also on a busy machine."""
LONG_SECONDS = 600.0
"""No test waits so long: whatever ends a connection, it was not this deadline."""
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
HALF_HEADERS = b"GET /healthz HTTP/1.1\r\nHost: 127.0"
CALL = f"POST /api/tools/{PUBLIC} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 100\r\n\r\n".encode()

GIVEN_UP = (b"HTTP/1.1 408 ", b"")
"""Somebody who is still writing may find the connection gone before they read why."""


class Client:
    """One connection, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def rest(self) -> bytes:
        """Everything until the server hangs up."""
        try:
            return await asyncio.wait_for(self.reader.read(-1), SOON_SECONDS)
        except ConnectionResetError:
            return b""

    async def status(self) -> int:
        """The status of the next answer, which is read whole."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), SOON_SECONDS)
        lines = head.decode().lower().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
        await self.reader.readexactly(length)
        return int(lines[0].split()[1])


class Server:
    """The site on a port of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield Client(reader, writer)
        finally:
            writer.close()


@asynccontextmanager
async def serving(web: Surface, patience: ReadTimeouts) -> AsyncIterator[Server]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = http_server(web.surfaces.site(), web.surfaces.end_streams, patience)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with asyncio.timeout(SOON_SECONDS):
            while not server.started:  # noqa: ASYNC110 - uvicorn's own flag
                await asyncio.sleep(0.01)
        yield Server(listener.getsockname()[1])
    finally:
        server.should_exit = server.force_exit = True
        await running


async def test_headers_that_never_end_are_given_up(web: Surface) -> None:
    async with serving(web, SHORT) as server, server.client() as slow:
        await slow.say(HALF_HEADERS)

        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")


async def test_headers_that_trickle_get_no_more_time(web: Surface) -> None:
    async with serving(web, SHORT) as server, server.client() as slow:
        await slow.say(HALF_HEADERS)
        said = asyncio.create_task(slow.rest())
        with contextlib.suppress(ConnectionError):
            while not (await asyncio.wait({said}, timeout=0.02))[0]:
                await slow.say(b"1")

        assert (await said)[:13] in GIVEN_UP


@pytest.mark.parametrize("begun", [b"", b"{"], ids=["nothing", "a byte"])
async def test_a_body_that_stands_still_is_given_up_and_nothing_is_done(web: Surface, begun: bytes) -> None:
    patience = ReadTimeouts(header_seconds=0.2, body_pause_seconds=0.2, request_seconds=LONG_SECONDS)
    async with serving(web, patience) as server, server.client() as slow:
        await slow.say(CALL + begun)

        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")
    assert not web.surfaces.edge.outcomes


async def test_a_body_that_trickles_is_given_up_in_the_end(web: Surface) -> None:
    async with serving(web, SHORT) as server, server.client() as slow:
        await slow.say(CALL.replace(b"100", b"1000000"))
        said = asyncio.create_task(slow.rest())
        with contextlib.suppress(ConnectionError):
            while not (await asyncio.wait({said}, timeout=0.01))[0]:
                await slow.say(b" ")

        assert (await said)[:13] in GIVEN_UP
    assert not web.surfaces.edge.outcomes


async def test_a_body_that_moves_is_waited_for(web: Surface) -> None:
    patience = ReadTimeouts(header_seconds=1, body_pause_seconds=SOON_SECONDS)
    async with serving(web, patience) as server, server.client() as slow:
        await slow.say(CALL)
        for chunk in (b"{" + b" " * 48, b" " * 50, b"}"):
            async with server.client() as slower:
                await slower.say(HALF_HEADERS)
                assert (await slower.rest()).startswith(b"HTTP/1.1 408 ")
            await slow.say(chunk)

        assert await slow.status() == 200


async def test_a_client_that_says_nothing_is_let_go_without_a_word(web: Surface) -> None:
    async with serving(web, SHORT) as server, server.client() as silent:
        assert await silent.rest() == b""


async def test_a_connection_that_is_idle_is_not_slow(web: Surface) -> None:
    async with serving(web, FAIR) as server, server.client() as idle, server.client() as slow:
        await idle.say(HEALTH)
        assert await idle.status() == 200
        await slow.say(HALF_HEADERS)
        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")

        await idle.say(HEALTH)
        assert await idle.status() == 200


async def test_the_second_request_of_a_connection_has_a_deadline_too(web: Surface) -> None:
    for begun in (HALF_HEADERS, b"\r\n"):
        async with serving(web, FAIR) as server, server.client() as slow:
            await slow.say(HEALTH)
            assert await slow.status() == 200
            await slow.say(begun)

            assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")


async def test_an_answer_that_takes_longer_than_every_deadline_arrives(web: Surface) -> None:
    async with serving(web, FAIR) as server, server.client() as patient, server.client() as slow:
        begun, go_on = asyncio.Event(), asyncio.Event()
        tool = next(tool for tool in ALL_TOOLS if tool.name == PUBLIC)

        async def answer_later(call: Any, request: Any) -> Any:
            begun.set()
            await go_on.wait()
            return await tool.handler(call, request)

        web.surfaces.edge.catalog = Catalog([dataclasses.replace(tool, handler=answer_later)])
        await patient.say(CALL.replace(b"100", b"2") + b"{}")
        await asyncio.wait_for(begun.wait(), SOON_SECONDS)
        await slow.say(HALF_HEADERS)
        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")
        go_on.set()

        assert await patient.status() == 200


async def test_one_too_many_takes_the_place_of_the_one_that_has_said_least(web: Surface) -> None:
    patience = ReadTimeouts(connections=2)
    async with serving(web, patience) as server, server.client() as known, server.client() as stranger:
        await known.say(HEALTH)
        assert await known.status() == 200
        await stranger.say(HALF_HEADERS)
        async with server.client() as late:
            await late.say(HEALTH)
            assert await late.status() == 200
            assert (await stranger.rest()).startswith(b"HTTP/1.1 503 ")
            await known.say(HEALTH)
            assert await known.status() == 200


async def test_a_client_that_reads_nothing_is_given_up(web: Surface) -> None:
    patience = ReadTimeouts(
        header_seconds=LONG_SECONDS,
        body_pause_seconds=LONG_SECONDS,
        request_seconds=LONG_SECONDS,
        reading_pause_seconds=0.2,
        header_bytes=1 << 30,
    )
    async with serving(web, patience) as server, server.client() as deaf:
        with pytest.raises(ConnectionError):
            async with asyncio.timeout(SOON_SECONDS):
                while True:
                    await deaf.say(HEALTH.replace(b"/healthz", b"/openapi.json"))


@pytest.mark.parametrize(
    "lines",
    [
        b"X: " + b"x" * 70_000 + b"\r\n\r\n",
        b"X: " + b"x" * 70_000,
        b"\r\n".join(b"X-%d: x" % number for number in range(101)) + b"\r\n\r\n",
    ],
    ids=["long", "endless", "many"],
)
async def test_more_headers_than_anybody_needs_are_refused(web: Surface, lines: bytes) -> None:
    async with serving(web, ReadTimeouts()) as server, server.client() as client:
        await client.say(HEALTH[:-2] + lines)

        assert (await client.rest()).startswith(b"HTTP/1.1 431 ")


async def test_headers_without_an_end_are_refused_before_they_fill_the_memory(web: Surface) -> None:
    patience = ReadTimeouts(header_seconds=SOON_SECONDS * 2)
    async with serving(web, patience) as server, server.client() as client:
        await client.say(HEALTH[:-2])
        said = asyncio.create_task(client.rest())
        with contextlib.suppress(ConnectionError):
            while not (await asyncio.wait({said}, timeout=0.01))[0]:
                await client.say(b"X: " + b"x" * 8_000 + b"\r\n")

        assert (await said)[:13] in (b"HTTP/1.1 431 ", b"")


def test_connections_leave_the_store_its_descriptors() -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)

    assert fit_descriptors(10) == min(10, most)
    assert fit_descriptors(most * 2, reserved=most // 4) <= most - most // 4
    assert fit_descriptors(most * 2, reserved=most * 2) == most // 2
