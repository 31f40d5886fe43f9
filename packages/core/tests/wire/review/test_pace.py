"""Pages have a limit of their own, for each link and each signed-in browser, beside the calls of the API."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import httpx
import pytest
from tests.support.opened import on_embedded_store
from tests.support.review.kit import Server, form, path_of, post
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import Surface

from assent.engine.core.tenancy import LOCAL_WORKSPACE

MOST = 5


server = on_embedded_store(partial(Server, page_limit_per_minute=MOST))


def assert_limited(answer: httpx.Response) -> int:
    assert answer.status_code == 429
    assert "That was a little too often" in answer.text
    seconds = int(answer.headers["retry-after"])
    assert 1 <= seconds <= 61
    return seconds


async def test_a_link_that_asks_too_often_waits_and_the_wait_it_is_told_is_enough(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    for _ in range(MOST - 1):
        await server.page(browser, run.run_id)

    seconds = assert_limited(await browser.get(f"/runs/{run.run_id}"))

    assert_limited(await browser.get(path_of(run.review_url)))
    assert_limited(await browser.get(f"/runs/{run.run_id}/pictures/{'0' * 64}.png"))
    server.clock.advance(seconds=seconds)
    await server.page(browser, run.run_id)


async def test_a_decision_beyond_the_limit_is_not_taken(server: Server) -> None:
    run = await server.stage(post())
    action_id = run.actions[0].id
    browser = await server.opened(run)
    approve = form(await server.page(browser, run.run_id), action_id, "approve")
    for _ in range(MOST - 2):
        await server.page(browser, run.run_id)

    assert_limited(await browser.post(approve.address, data={**approve.fields, "name": "Ada"}))

    assert (await server.action(action_id)).approval is None


async def test_links_and_sessions_do_not_use_up_each_other_s_share(server: Server) -> None:
    first, second = await server.stage(post()), await server.stage(post())
    browser = await server.opened(first)
    for _ in range(MOST):
        last = await browser.get(f"/runs/{first.run_id}")
    assert_limited(last)

    await server.page(await server.opened(second), second.run_id)
    await server.page(await server.owner(), first.run_id)


async def test_a_made_up_session_does_not_make_a_link_s_share_larger(server: Server) -> None:
    run = await server.stage(post())
    browser = await server.opened(run)
    for number in range(MOST):
        browser.cookies.set("assent-session", f"made up {number}")
        last = await browser.get(f"/runs/{run.run_id}")

    assert_limited(last)


@pytest.mark.parametrize("path", ["/inbox", "/runs", "/events"])
async def test_a_signed_in_browser_that_asks_too_often_waits(server: Server, path: str) -> None:
    browser = await server.owner()
    for _ in range(MOST):
        assert (await browser.get("/inbox")).status_code == 200

    assert_limited(await browser.get(path))

    assert (await (await server.owner()).get("/inbox")).status_code == 200


@pytest.mark.rule("E83")
async def test_pages_are_not_calls(tmp_path: Path) -> None:
    server = Server(new_sqlite(tmp_path / "assent.db"), tmp_path, rate_limit_per_minute=2)
    agent = Surface(server.app, "http", server.surfaces)
    await agent.sign_in()
    prepared = (await agent.call("chieflab_post", {"channel": "site", "body": "We shipped it."})).payload
    browser = server.browser()
    assert (await browser.get(path_of(prepared["reviewUrl"]))).status_code == 303
    for _ in range(10):
        await server.page(browser, prepared["runId"])

    assert not (await agent.call("chieflab_list_pending_actions")).is_error
    assert (await agent.call("chieflab_list_pending_actions")).reason == "rate_limited"
    await server.page(browser, prepared["runId"])

    await server.close()


@pytest.mark.parametrize("path", ["/sign-in", "/sign-in/not-a-link"])
async def test_an_address_that_asks_too_often_how_to_sign_in_waits(server: Server, path: str) -> None:
    browser = server.browser()
    for _ in range(MOST):
        assert (await browser.get(path)).status_code != 429

    assert_limited(await browser.get("/sign-in"))


async def test_a_reader_of_the_feed_has_ten_times_as_many_pages(server: Server) -> None:
    browser, path = server.browser(), f"/feed/{LOCAL_WORKSPACE}"
    for _ in range(10 * MOST):
        assert (await browser.get(path)).status_code == 404

    assert_limited(await browser.get(f"{path}/atom.xml"))
    assert (await browser.get("/sign-in")).status_code == 200
