"""Outermost HTTP layer: request id, Host and Origin checks, request metrics.

Any page in the user's browser can reach a local server. A foreign Host (DNS rebinding) or Origin is therefore refused
on every route, before the body is read.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections import Counter
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assent.kernel.ids import REQUEST_ID

access = logging.getLogger("assent.access")

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?")


class AllowedPeers:
    """The accepted Host and Origin values: loopback on any port, the base URL, and the hosts named in the settings."""

    def __init__(self, base_url: str, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        base = urlsplit(base_url)
        self._hosts = {base.netloc.lower(), (base.hostname or "").lower(), *(host.lower() for host in hosts)}
        self._origins = {f"{base.scheme}://{base.netloc}".lower(), *(origin.lower() for origin in origins)}

    def host(self, value: str) -> bool:
        match = _HOST.fullmatch(value.lower())
        return match is not None and (
            match[1] in LOOPBACK or value.lower() in self._hosts or match[1] in self._hosts
        )

    def origin(self, value: str) -> bool:
        scheme, _, authority = value.lower().partition("://")
        match = _HOST.fullmatch(authority)
        loopback = match is not None and match[1] in LOOPBACK and scheme in ("http", "https")
        return loopback or value.lower() in self._origins


class Guard:
    """The outermost layer of the HTTP surface."""

    def __init__(self, app: ASGIApp, *, peers: AllowedPeers, counts: Counter[tuple[str, str]]) -> None:
        self._app = app
        self._peers = peers
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        request_id = os.urandom(8).hex()
        REQUEST_ID.set(request_id)
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.perf_counter()
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", request_id.encode()))
            await send(message)

        try:
            if len(hosts) != 1 or not self._peers.host(hosts[0]):
                await respond(watched, 421, {"error": "This server does not answer for that Host."})
            elif not all(self._peers.origin(origin) for origin in origins):
                await respond(watched, 403, {"error": "Requests from that Origin are not accepted."})
            else:
                await self._app(scope, receive, watched)
        finally:
            self._counts[(scope["method"], f"{status // 100}xx")] += 1
            access.info(
                "%s %s %d",
                scope["method"],
                scope["path"],
                status,
                extra={"request_id": request_id, "ms": round((time.perf_counter() - started) * 1000, 1)},
            )


async def respond(
    send: Send,
    status: int,
    body: object,
    headers: Iterable[tuple[str, str]] = (),
    *,
    content_type: str = "application/json",
) -> None:
    """Send one complete response. A body that is not bytes is sent as JSON, None as an empty body."""
    raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    lines = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    if raw or status not in (202, 204):
        lines += [(b"content-type", content_type.encode()), (b"content-length", str(len(raw)).encode())]
    else:
        lines.append((b"content-length", b"0"))
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": raw})
