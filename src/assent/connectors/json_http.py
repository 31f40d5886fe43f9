"""One request to a provider whose address the operator of the server chose, and its answer as JSON.

Says what is known when there is no answer (C10): before a connection stands nothing was sent, afterwards all is
possible. A token goes into a header and nowhere else; no redirect is followed, so it goes to nobody else either.

Deliberately unaware of any provider. Brings httpx along with the first request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assent.connectors.http_outcomes import unreachable
from assent.ports import OutcomeUnknown

MAX_ANSWER_BYTES: Final = 4 * 1_048_576
AGENT: Final = "Assent/0.1"


class Exchanged(msgspec.Struct, frozen=True):
    """What came back. `value` is None where the body is no JSON."""

    status: int
    value: Any
    retry_after: str | None = None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def at(self, *path: str | int) -> Any:
        """What is at a place of the answer, or None where there is no such place."""
        found = self.value
        for step in path:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                return None
        return found


async def exchange(
    method: str,
    url: str,
    *,
    token: str | None = None,
    body: Any = None,
    form: Mapping[str, str] | None = None,
    timeout_seconds: float,
) -> Exchanged:
    """The answer. Raises `NotSent` where nothing left this machine, `OutcomeUnknown` where no whole answer came."""
    import httpx

    headers = {"user-agent": AGENT, "accept": "application/json"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    content = None
    if body is not None:
        headers["content-type"] = "application/json"
        content = msgspec.json.encode(body)
    host = httpx.URL(url).host
    options: dict[str, Any] = {"trust_env": False, "follow_redirects": False, "timeout": timeout_seconds}
    try:
        async with (
            httpx.AsyncClient(**options) as client,
            client.stream(
                method, url, headers=headers, content=content, data=dict(form) if form is not None else None
            ) as response,
        ):
            gathered = bytearray()
            async for chunk in response.aiter_bytes():
                gathered += chunk
                if len(gathered) > MAX_ANSWER_BYTES:
                    raise OutcomeUnknown(f"{host} answers with more than can be read")
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        raise unreachable(f"{host} cannot be reached ({type(error).__name__})") from None
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise OutcomeUnknown(f"{host} gave no whole answer ({type(error).__name__})") from None
    return Exchanged(response.status_code, _json(bytes(gathered)), response.headers.get("retry-after"))


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
