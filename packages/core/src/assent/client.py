"""A small HTTP client: calls a tool, returns its payload and handles refusals as the contract says.

`call` returns the payload or raises `Refused` with the recovery shape. `follow` does what the
contract asks of an agent: call the recovery tool and repeat once, or wait and repeat once, or stop.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

if TYPE_CHECKING:
    import httpx

PROTOCOL: Final = "2025-11-25"


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """A structured refusal. `recovery` is the whole shape."""

    def __init__(self, recovery: dict[str, Any]) -> None:
        super().__init__(f"{recovery.get('reason')}: {recovery.get('userMessage')}")
        self.recovery = recovery

    @property
    def reason(self) -> str:
        return str(self.recovery.get("reason"))

    @property
    def retry(self) -> str:
        """The allowed retry: `same`, `changed`, `after_recovery` or `never`."""
        return str(self.recovery.get("retry", "never"))


class Client:
    """An MCP client that unwraps payloads."""

    def __init__(
        self, url: str, key: str | None = None, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        import httpx  # slow, and a hook that decides alone needs no request

        headers = {"Content-Type": "application/json", "MCP-Protocol-Version": PROTOCOL}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self._http = httpx.AsyncClient(headers=headers, timeout=60, transport=transport)
        self._url = url.rstrip("/") + "/api/mcp"
        self._ids = itertools.count(1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its payload. Raises `Refused`."""
        answer = await self._ask("tools/call", params={"name": tool, "arguments": arguments})
        if "error" in answer:
            raise Refused(
                answer["error"].get("data") or {"reason": "error", "userMessage": answer["error"]["message"]}
            )
        result = answer["result"]
        payload: dict[str, Any] | None = result.get("structuredContent")
        if payload is None:  # an older server
            payload = msgspec.json.decode(result["content"][-1]["text"], type=dict[str, Any])
        if result.get("isError"):
            raise Refused(payload)
        return payload

    async def follow(
        self,
        tool: str,
        *,
        ask: Callable[[dict[str, str]], dict[str, Any]] | None = None,
        **arguments: Any,
    ) -> dict[str, Any]:
        """Call a tool and do what a refusal says, once (E55, E56). Raises `Refused` if other
        arguments or a person are needed.

        `ask` gets the questions of a recovery tool for the person, by argument, and returns the
        answers.
        """
        try:
            return await self.call(tool, **arguments)
        except Refused as refused:
            recovery = refused.recovery.get("recoveryTool") or {}
            if refused.retry == "same":
                await asyncio.sleep(float(refused.recovery.get("retryAfterSeconds", 0)))
            elif refused.retry == "after_recovery" and (ask is not None or not recovery.get("needs")):
                answers = ask(recovery["needs"]) if ask is not None and recovery.get("needs") else {}
                await self.call(recovery["name"], **recovery["args"], **answers)
            else:
                raise
        return await self.call(tool, **arguments)

    async def tools(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = (await self._ask("tools/list"))["result"]["tools"]
        return listed

    async def _ask(self, method: str, **more: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, **more}
        response = await self._http.post(self._url, content=msgspec.json.encode(message))
        return msgspec.json.decode(response.content)
