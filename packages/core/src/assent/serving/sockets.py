"""Connection limits: timeouts, request sizes and the number of open connections.

A request is being received from its first byte to its last. Its headers have a deadline; its body
has one for each pause and one for the whole. A client that does not read its response has a
deadline too. A connection on which nothing is being received is idle, and uvicorn closes it in
time. A connection whose response is being produced, such as an event stream, has no deadline.

At the connection limit a new connection replaces the one that has waited longest for its client;
connections without a complete request go first. File descriptors reserved for the store are never
used for connections.

This module does not know what a request asks for.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assent.kernel.limits import (
    BODY_PAUSE_SECONDS,
    HEADER_SECONDS,
    MAX_CONNECTIONS,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    READING_PAUSE_SECONDS,
    REQUEST_SECONDS,
    RESERVED_DESCRIPTORS,
)
from assent.kernel.structs import Record

if TYPE_CHECKING:
    from asyncio.events import TimerHandle

log = logging.getLogger("assent.http")

STOPPING_SECONDS: Final = 1.0
"""Grace period for a request that is still being received when the server stops."""

TELL_SECONDS: Final = 60.0
"""Interval between log lines about too many connections."""


class ReadTimeouts(Record, kw_only=True):
    """Time and size limits for clients."""

    header_seconds: float = HEADER_SECONDS
    body_pause_seconds: float = BODY_PAUSE_SECONDS
    request_seconds: float = REQUEST_SECONDS
    reading_pause_seconds: float = READING_PAUSE_SECONDS
    header_bytes: int = MAX_HEADER_BYTES
    headers: int = MAX_HEADERS
    connections: int = MAX_CONNECTIONS


def fit_descriptors(wanted: int, reserved: int = RESERVED_DESCRIPTORS) -> int:
    """The number of connections that leaves `reserved` descriptors free, or half of the descriptors
    if there are few."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return wanted
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if most == resource.RLIM_INFINITY else min(wanted, max(most - reserved, most // 2))


class WaitingConnections:
    """The connections of one server that wait for their client, longest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.strangers: dict[HttpConnection, None] = {}
        """Connections without a complete request so far."""
        self.known: dict[HttpConnection, None] = {}
        self._told = float("-inf")

    def make_room(self, now: float) -> bool:
        """Close the least important connection. Returns False if all have a response."""
        if now - self._told >= TELL_SECONDS:
            self._told = now
            log.warning(
                "there are %d connections, which is the most; those that only wait are ended", self.most
            )
        for waiting in (self.strangers, self.known):
            for line in waiting:
                line.end(HTTPStatus.SERVICE_UNAVAILABLE)
                return True
        return False

    def leave(self, line: HttpConnection) -> None:
        self.strangers.pop(line, None)
        self.known.pop(line, None)


class HttpConnection(HttpToolsProtocol):
    """A client's connection, closed when it sends too slowly or too much."""

    patience: ReadTimeouts
    crowd: WaitingConnections

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._began: float | None = None
        """Start of the request that is being received; None between requests."""
        self._heard = False
        self._in_body = False
        self._moved = 0.0
        self._header_bytes = 0
        self._refusal = HTTPStatus.BAD_REQUEST
        self._timer: TimerHandle | None = None
        self._unread = 0
        self._reading_timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        now = self.loop.time()
        if len(self.connections) > self.crowd.most and not self.crowd.make_room(now):
            transport.write(_write_refusal(HTTPStatus.SERVICE_UNAVAILABLE))
            self._hang_up()
            return
        self.crowd.strangers[self] = None
        self._began = now
        self._timer = self.loop.call_later(self.patience.header_seconds, self._look)

    def shutdown(self) -> None:
        """Stop: finish responses in progress and give incomplete requests a short deadline."""
        super().shutdown()
        if self._receiving() and not self.transport.is_closing():
            self.loop.call_later(STOPPING_SECONDS, self._refuse_half)

    def _refuse_half(self) -> None:
        if self._receiving():
            self.end(HTTPStatus.SERVICE_UNAVAILABLE)

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.leave(self)
        for timer in (self._timer, self._reading_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._reading_timer = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._heard = True
        self._moved = self.loop.time()
        if self._began is None:
            self._began = self._moved
        super().data_received(data)
        if not self._receiving():
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._answered() and not self.transport.is_closing():
                self._rest()  # the response was complete before the request
            return
        if not self._in_body:
            self._header_bytes += len(data)
            if self._header_bytes > self.patience.header_bytes:
                self.end(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                return
        if self._timer is None:
            self._timer = self.loop.call_at(self._due(), self._look)

    # Parser callbacks

    def on_message_begin(self) -> None:
        if self._began is None:
            self._began = self.loop.time()
        self._in_body, self._header_bytes = False, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > self.patience.headers or size > self.patience.header_bytes:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise ValueError("more headers than are read")
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._began, self._in_body, self._header_bytes = None, False, 0
        self.crowd.leave(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._hang_up()
        elif self._answered():
            self._rest()

    def send_400_response(self, msg: str) -> None:
        self.end(self._refusal)

    # Deadlines

    def _receiving(self) -> bool:
        return self._began is not None

    def _answered(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _rest(self) -> None:
        """All requests are answered: start the keep-alive timeout."""
        self.crowd.leave(self)
        self.crowd.known[self] = None
        if self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def timeout_keep_alive_handler(self) -> None:
        self._hang_up()

    def _due(self) -> float:
        began = self._began if self._began is not None else self._moved
        if not self._in_body:
            return began + self.patience.header_seconds
        return min(self._moved + self.patience.body_pause_seconds, began + self.patience.request_seconds)

    def _look(self) -> None:
        """End the connection if the request that is being received is overdue."""
        self._timer = None
        if self._began is None or self.transport.is_closing():
            return
        now = self.loop.time()
        due = self._due()
        if self.flow.read_paused or (not self._in_body and not self._answered()):
            # Reading is paused on our side, or an earlier response is still being sent.
            due = max(due, now + self.patience.header_seconds)
        if now < due:
            self._timer = self.loop.call_at(due, self._look)
            return
        self.end(HTTPStatus.REQUEST_TIMEOUT)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading_timer is not None and not self.transport.is_closing():
            self._reading_timer.cancel()
            self._reading_timer = None

    def _watch_reader(self) -> None:
        """Start the deadline for the client to read the pending output."""
        if self._reading_timer is None:
            self._unread = self.transport.get_write_buffer_size()
            self._reading_timer = self.loop.call_later(
                self.patience.reading_pause_seconds, self._look_at_reader
            )

    def _look_at_reader(self) -> None:
        self._reading_timer = None
        if self.transport.get_write_buffer_size() < self._unread:
            self._watch_reader()
        else:
            self.transport.abort()

    def _hang_up(self) -> None:
        """Close after everything is sent, or after a deadline if the client reads nothing."""
        self.transport.close()
        self._watch_reader()

    def end(self, why: HTTPStatus) -> None:
        """Send the reason if the client still awaits a response, then close."""
        self.crowd.leave(self)
        if self.transport.is_closing():
            return
        cycle = self.cycle
        half_said = cycle is not None and cycle.response_started and not cycle.response_complete
        answered = self._in_body and cycle is not None and cycle.response_complete
        idle = not self._heard or self._began is None
        if cycle is not None and not cycle.response_complete:
            # The response in progress must not follow ours.
            cycle.disconnected = True
            cycle.message_event.set()
        if not (half_said or answered or (idle and why is not HTTPStatus.BAD_REQUEST)):
            self.transport.write(_write_refusal(why))
        self._hang_up()


def _write_refusal(why: HTTPStatus) -> bytes:
    body = msgspec.json.encode({"error": f"{why.phrase}."})
    lines = [
        f"HTTP/1.1 {why.value} {why.phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    if why is HTTPStatus.SERVICE_UNAVAILABLE:
        lines.append("retry-after: 5")
    return "\r\n".join([*lines, "", ""]).encode() + body


def protocol(patience: ReadTimeouts) -> type[HttpConnection]:
    """The protocol class for one server. uvicorn creates one instance per connection."""
    return type(
        "Line", (HttpConnection,), {"patience": patience, "crowd": WaitingConnections(patience.connections)}
    )
