"""`/events`: tells open pages that something changed, so that they reload their content.

One poller serves all streams of a process and runs only while there are any. It reads the journal's
position, which every process on the store advances. An event carries only the position and the
number of waiting actions; the page then fetches its content with its own access. A reconnecting
browser names the last position it received (`Last-Event-ID`, or `after` in the URL of a newly
rendered page). If the position has changed since, it gets an event at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from assent.engine.core.services import Services
from assent.engine.people import members, people
from assent.engine.people.people import Session
from assent.ports import Transaction
from assent.serving.web.people.people import SIGN_IN_FIRST
from assent.serving.web.shell.headers import ASSET_HEADERS
from assent.serving.web.shell.page_site import PageSite
from assent.serving.web.shell.problems import PageRefused

log = logging.getLogger("assent.web")

POLL_SECONDS: Final = 1.0
"""Each poll is one indexed read for all streams."""

HEARTBEAT_SECONDS: Final = 20.0
"""Proxies close idle connections, strict ones after half a minute."""

RETRY_MS: Final = 2_000

_HEADERS: Final = {**ASSET_HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Live:
    """Tracks the end of a store's journal while there are listeners."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._position = ""
        self._listeners = 0
        self._poller: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self.ending = False

    async def position(self) -> str:
        return await self._services.store.read(members.journal_position)

    async def changes(self, after: str) -> AsyncIterator[str | None]:
        """Yield the position after each change, and None after a quiet interval."""
        self._listeners += 1
        seen = after
        try:
            if self._poller is None or self._poller.done():
                self._position = ""  # stale: from the last listener
                self._poller = asyncio.create_task(self._poll())
            while not self.ending:
                if self._position not in ("", seen):
                    seen = self._position
                    yield seen
                    continue
                moved = self._moved
                try:
                    await asyncio.wait_for(moved.wait(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield None
        finally:
            self._listeners -= 1

    def end(self) -> None:
        """End every stream, because the server stops."""
        self.ending = True
        self._tell()

    async def _poll(self) -> None:
        while self._listeners and not self.ending:
            try:
                position = await self.position()
            except Exception as error:
                log.warning("the journal's position cannot be read: %s", error)
            else:
                if position != self._position:
                    self._position = position
                    self._tell()
            await asyncio.sleep(POLL_SECONDS)

    def _tell(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


class LivePages:
    def __init__(self, site: PageSite, live: Live) -> None:
        self._site = site
        self._live = live

    async def events(self, request: Request) -> Response:
        secret = request.cookies.get(self._site.cookies.session, "")
        session, _ = await self._look(secret)
        if session is None:
            raise PageRefused(SIGN_IN_FIRST)
        await self._site.count_session(session)
        after = request.headers.get("last-event-id") or request.query_params.get("after", "")
        return StreamingResponse(
            self._stream(secret, after), media_type="text/event-stream", headers=_HEADERS
        )

    async def _stream(self, secret: str, after: str) -> AsyncIterator[bytes]:
        yield f"retry: {RETRY_MS}\n\n".encode()
        async for position in self._live.changes(after):
            if position is None:
                yield b": still here\n\n"
                continue
            # A session that has just ended gets no more events.
            session, waiting = await self._look(secret)
            if session is None:
                return
            data = msgspec.json.encode({"waiting": waiting}).decode()
            yield f"id: {position}\nevent: changed\ndata: {data}\n\n".encode()

    async def _look(self, secret: str) -> tuple[Session | None, int]:
        now_ms = self._site.services.clock.now_ms()

        def look() -> Transaction[tuple[Session | None, int]]:
            session = yield from people.authenticate(secret, now_ms)
            if session is None:
                return None, 0
            return session, (yield from members.count_waiting(session.person, now_ms))

        return await self._site.services.store.read(look)
