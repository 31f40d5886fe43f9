"""Sends one request to a provider and returns the answer as JSON. The server's operator chose the
URL.

Without an answer it tells what is known (C10): without a connection nothing was sent, with one the
outcome is unknown. The token is sent in a header only; no redirect is followed, so no other host
receives it.

Knows no provider. Imports httpx with the first request.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.gate.outcomes import failure
from assent.kernel.distribution import AGENT
from assent.kernel.structs import Record
from assent.ports import NotSent, OutcomeUnknown

log = logging.getLogger("assent.connect")

MAX_ANSWER_BYTES: Final = 4 * 1_048_576
HIDDEN: Final = b"[redacted]"


class Exchanged(Record):
    """The answer. `value` is None if the body is not JSON."""

    status: int
    value: Any
    headers: Mapping[str, str] = {}

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def at(self, *path: str | int) -> Any:
        found = self.value
        for step in path:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                return None
        return found

    def fail(self, said: str, now_ms: int | None = None) -> NotSent | OutcomeUnknown:
        """Return the outcome of an answer that is no success, with the delay that it asks for: `Retry-After`, or with
        the time the end of a rate limit (epoch seconds)."""
        delay, reset = self.headers.get("retry-after"), self.headers.get("x-ratelimit-reset", "").strip()
        if delay is None and now_ms is not None and reset.isascii() and reset.isdigit():
            delay = str(max(1, int(reset[:12]) - now_ms // 1000))
        return failure(self.status, said, delay)

    def text(self, *path: str | int) -> str:
        """Return the text at a path; empty if there is none."""
        found = self.at(*path)
        return found if isinstance(found, str) else ""


async def exchange(
    method: str,
    url: str,
    *,
    token: str | None = None,
    body: Any = None,
    form: Mapping[str, str] | None = None,
    content: bytes | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float,
) -> Exchanged:
    """Return the answer. Raises `NotSent` if nothing left this machine, `OutcomeUnknown` without a
    complete answer.

    `timeout_seconds` covers everything. The answer never contains the token, even if the provider
    echoes it.
    """
    import httpx

    from assent.net.outgoing import load_trust

    sent = {"user-agent": AGENT, "accept": "application/json", **(headers or {})}
    if token is not None:
        sent["authorization"] = f"Bearer {token}"
    if body is not None:
        sent["content-type"] = "application/json"
        content = msgspec.json.encode(body)
    # Whether a connection was made must be known before the timeout.
    patience = httpx.Timeout(timeout_seconds, connect=timeout_seconds * 0.8)
    options: dict[str, Any] = {
        "trust_env": False,
        "follow_redirects": False,
        "timeout": patience,
        "verify": load_trust(),
    }
    host = httpx.URL(url).host
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            httpx.AsyncClient(**options) as client,
            client.stream(
                method,
                url,
                headers=sent,
                content=content,
                data=dict(form) if form is not None else None,
                params=dict(query) if query is not None else None,
            ) as response,
        ):
            gathered = bytearray()
            async for chunk in response.aiter_bytes():
                gathered += chunk
                if len(gathered) > MAX_ANSWER_BYTES:
                    raise OutcomeUnknown(f"{host} answers with more than can be read")
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        log.info("%s was not reached: %s", host, type(error).__name__)
        raise NotSent(f"{host} cannot be reached", retry=True) from None
    except (httpx.HTTPError, httpx.StreamError, TimeoutError) as error:
        log.info("%s gave no whole answer: %s", host, type(error).__name__)
        raise OutcomeUnknown(f"{host} gave no whole answer") from None
    answered = bytes(gathered).replace(token.encode(), HIDDEN) if token else bytes(gathered)
    found = {name.lower(): value for name, value in response.headers.items()}
    return Exchanged(response.status_code, _json(answered), found)


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
