"""Clients that go in the middle: what was not said to its end is not done, what was called off is not answered."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import msgspec
from tests.support.catalog import ALL_TOOLS
from tests.support.contract.talk import PUBLIC, SIGNUP, converse, count_rows, request, tool_call
from tests.support.surfaces import Surface, asgi_post

from assent.tools.catalog import Catalog


async def post_and_go(web: Surface, path: str, *chunks: bytes) -> list[Any]:
    """A POST whose connection breaks after these chunks; what the server sent all the same."""
    pending = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    sent: list[Any] = []

    async def receive() -> Any:
        return pending.pop(0) if pending else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = asgi_post(path, (b"content-type", b"application/x-www-form-urlencoded"))
    await web.surfaces.site()(scope, receive, send)
    return sent


async def test_a_tool_is_not_called_with_half_a_body(web: Surface) -> None:
    called: list[Any] = []

    async def count(call: Any, request: Any) -> Any:
        called.append(request)
        raise AssertionError

    web.surfaces.edge.catalog = Catalog(
        [dataclasses.replace(tool, handler=count) if tool.name == PUBLIC else tool for tool in ALL_TOOLS]
    )
    whole = msgspec.json.encode(tool_call(PUBLIC))

    for chunks in ((), (b"",), (b"  ",), (b"{}",), (b'{"a"',)):
        await post_and_go(web, f"/api/tools/{PUBLIC}", *chunks)
    for chunks in ((), (whole[:10],), (whole,)):
        await post_and_go(web, "/api/mcp", *chunks)

    assert called == []


async def test_a_link_is_not_used_up_by_a_browser_that_went_before_it_asked(web: Surface) -> None:
    outcome = await web.call(SIGNUP, {"email": "ada@example.org"})
    path = outcome.payload["deliveryUrl"].removeprefix("http://127.0.0.1:8080")

    for chunks in ((), (b"",), (b"a=1",)):
        await post_and_go(web, path, *chunks)

    assert (await web.http.post(path)).status_code == 200


async def test_what_a_stdio_client_calls_off_is_not_answered_and_ends(surface: Surface) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless(call: Any, request: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    surface.surfaces.edge.catalog = Catalog(
        [dataclasses.replace(tool, handler=endless) if tool.name == PUBLIC else tool for tool in ALL_TOOLS]
    )

    def cancelled(request_id: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}

    answers = await asyncio.wait_for(
        converse(
            surface,
            [
                tool_call(PUBLIC, request_id=7),
                request("ping", request_id="between"),
                cancelled("7"),
                cancelled(8),
                cancelled(None),
                cancelled([7]),
                {"jsonrpc": "2.0", "method": "notifications/cancelled"},
                cancelled(7),
                request("ping", request_id="after"),
            ],
        ),
        timeout=10,
    )

    assert [answer["id"] for answer in answers] == ["between", "after"]
    assert begun.is_set() == ended.is_set()


async def test_an_id_that_is_used_twice_is_answered_twice(surface: Surface) -> None:
    calls = [tool_call(SIGNUP, {"email": "ada@example.org"}, request_id="same") for _ in range(4)]

    answers = await converse(surface, calls)

    assert [answer["id"] for answer in answers] == ["same"] * 4
    assert await count_rows(surface, "signup_links") == 4
