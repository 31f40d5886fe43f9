"""Messages over HTTP: a POST each, and plain requests of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx

from assent.conformance.wire import ENDPOINT, Unreachable, WireAnswer, decode_object

METADATA: Final = "/.well-known/mcp.json"
ANSWER_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 16 << 20
_OF_THE_TRANSFER: Final = frozenset(("content-encoding", "content-length", "transfer-encoding"))


class HttpWire:
    """A server behind an address. Cookies are never kept, and no redirect is followed."""

    modern = False

    def __init__(
        self,
        url: str,
        *,
        seconds: float = ANSWER_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = url.rstrip("/").removesuffix(ENDPOINT)
        self._seconds = seconds
        self._http = httpx.AsyncClient(base_url=self.name, timeout=seconds, transport=transport)

    async def open(self) -> None:
        await self.get(METADATA)

    async def exchange(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        response = await self._request("POST", ENDPOINT, content=body, headers=sent)
        return WireAnswer(
            status=response.status_code,
            headers={name.lower(): value for name, value in response.headers.items()},
            message=_message(response),
            text=response.text,
        )

    async def begin(self, body: bytes, headers: Mapping[str, str]) -> WireAnswer:
        return await self.exchange(body, headers)

    async def get(self, path: str) -> httpx.Response:
        return await self._request("GET", path)

    def stray_lines(self) -> Sequence[str]:
        return ()

    async def close(self) -> None:
        await self._http.aclose()

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return the whole response. An endless one is cut off by its size and by the time."""
        self._http.cookies.clear()
        asked = f"{method} {self.name}{path.partition('?')[0]}"
        content = bytearray()
        try:
            async with asyncio.timeout(self._seconds), self._http.stream(method, path, **options) as response:
                async for chunk in response.aiter_bytes():
                    content += chunk
                    if len(content) > MAX_ANSWER_BYTES:
                        raise Unreachable(f"{asked}: more than {MAX_ANSWER_BYTES >> 20} MiB")
        except TimeoutError as error:
            raise Unreachable(f"{asked}: no whole answer within {self._seconds:g} s") from error
        except httpx.HTTPError as error:
            raise Unreachable(f"{asked}: {error or type(error).__name__}") from error
        headers = [item for item in response.headers.multi_items() if item[0] not in _OF_THE_TRANSFER]
        return httpx.Response(response.status_code, headers=headers, content=bytes(content))


def _message(response: httpx.Response) -> dict[str, Any] | None:
    """Return the JSON-RPC message from a plain body or from the only event of a stream."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        data = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
        text = data[-1] if data else ""
    return decode_object(text)
