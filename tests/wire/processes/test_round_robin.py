"""Two processes on one PostgreSQL behind a round robin: no request needs the process that answered the one before."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from packages.core.tests.unit.kernel.test_images import png
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.support.review.kit import Server, forms, post
from tests.support.wrap.kit import Wrapped, said

from assent.gate.records import Status
from assent.serving.web.shell import live
from assent.serving.web.shell.live import Live


class RoundRobin:
    """Passes each request to the next process."""

    def __init__(self, *sites: ASGIApp) -> None:
        self._sites = itertools.cycle(sites)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await next(self._sites)(scope, receive, send)


@pytest.fixture
async def processes(postgres_url: str, tmp_path: Path) -> AsyncIterator[tuple[Server, Server]]:
    """Two servers, each with a data directory of its own. The browsers of the first meet both in turn."""
    first = Server(postgres_url, tmp_path / "first", built_in=True)
    second = Server(postgres_url, tmp_path / "second", built_in=True, clock=first.clock)
    first.site = RoundRobin(first.site, second.site)
    async with AsyncExitStack() as stack:
        for server in (first, second):
            stack.push_async_callback(server.close)
            await server.app.prepare()
        yield first, second


@pytest.mark.parametrize("skipped", [0, 1])
async def test_a_person_signs_in_decides_and_uploads_at_either_process(
    processes: tuple[Server, Server], skipped: int
) -> None:
    server, other = processes
    run = await other.stage(post("site", connector="site", verb="publish", title="We are open"))
    browser = server.browser()
    for _ in range(skipped):
        await browser.get("/healthz")
    await server.owner(browser)
    await server.decide(browser, run.run_id, run.actions[0].id, "approve")
    assert (await other.action(run.actions[0].id)).status is Status.APPROVED
    drafted = await upload(browser, "/settings/workspace", "/logo", png())
    shown = await browser.get(drafted.headers["location"])
    assert next(form.fields["logo"] for form in forms(shown.text) if form.fields.get("logo"))


async def upload(browser: httpx.AsyncClient, path: str, ending: str, picture: bytes) -> httpx.Response:
    page = await browser.get(path)
    form = next(each for each in forms(page.text) if each.address.endswith(ending))
    files = {"picture": ("logo.png", picture, "image/png")}
    answer = await browser.post(form.address, data={"nonce": form.fields["nonce"]}, files=files)
    assert answer.status_code == 303, answer.text
    return answer


async def test_a_page_that_is_open_at_one_process_hears_of_a_change_at_the_other(
    processes: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, other = processes
    monkeypatch.setattr(live, "POLL_SECONDS", 0.02)
    open_page = Live(other.services)
    heard = asyncio.ensure_future(anext(open_page.changes(await open_page.position())))
    await server.stage(post("site", connector="site", verb="publish", title="We are open"))
    assert await asyncio.wait_for(heard, 10)
    open_page.end()


async def test_a_call_that_one_process_holds_goes_on_when_a_person_approves_at_the_other(
    postgres_url: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        pair: list[Any] = []
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            pair.append(Wrapped(postgres_url, tmp_path / name))
            stack.push_async_callback(pair[-1].close)
            await pair[-1].app.prepare()
        first, second = pair
        client = await first.open(trust=True)
        stack.push_async_callback(client.close)
        answer = client.start_call("store", path="a", content="new")
        (waiting,) = await second.until_waiting()
        await second.approve(waiting["id"])
        await first.run_jobs()
        assert said((await asyncio.wait_for(answer, 20))["result"]) == "store done"
        assert first.calls_of("store") == [{"path": "a", "content": "new"}]
