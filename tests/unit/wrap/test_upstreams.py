"""The lists of one wrapped server, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.surfaces import ManualClock

from assent.wrap.profiles import UpstreamSpec
from assent.wrap.transports import RpcError
from assent.wrap.upstreams import METHOD_NOT_FOUND, NOTHING, PassedOn, Upstream

pytestmark = pytest.mark.anyio


class Scripted(Upstream):
    """A server whose answers to list requests are given, by cursor."""

    def __init__(self, pages: Mapping[str | None, dict[str, Any] | RpcError]) -> None:
        super().__init__(UpstreamSpec(name="files", command=("files",)), {}, ManualClock(), tuple)
        self._pages = pages
        self.asked: list[str | None] = []

    async def request(
        self, method: str, params: Mapping[str, Any], seconds: float, passed: PassedOn = NOTHING, **_: Any
    ) -> dict[str, Any]:
        cursor = params.get("cursor")
        self.asked.append(cursor)
        answer = self._pages[cursor]
        if isinstance(answer, RpcError):
            raise answer
        return answer


async def test_a_list_is_read_to_its_last_page() -> None:
    server = Scripted({None: {"tools": [1], "nextCursor": "two"}, "two": {"tools": [2], "nextCursor": ""}})
    assert await server._list_all("tools/list") == [1, 2]
    assert server.asked == [None, "two"]


async def test_a_server_without_prompts_has_none_but_one_without_tools_is_an_error() -> None:
    missing = RpcError(METHOD_NOT_FOUND, "no such method")
    assert await Scripted({None: missing})._list_all("prompts/list") == []
    with pytest.raises(RpcError):
        await Scripted({None: missing})._list_all("tools/list")


async def test_any_other_error_of_a_list_is_told() -> None:
    with pytest.raises(RpcError):
        await Scripted({None: RpcError(-32603, "broken")})._list_all("prompts/list")


@pytest.mark.parametrize("cursor", [None, "", 7])
async def test_what_is_no_cursor_ends_a_list(cursor: Any) -> None:
    server = Scripted({None: {"tools": "none", "nextCursor": cursor}})
    assert await server._list_all("tools/list") == []
    assert server.asked == [None]
