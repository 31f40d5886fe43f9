"""Ten thousand actions and a run of two thousand steps are still quick to look at.

`make bench` holds the pages to their budgets by the clock. Here a page is judged by the processor time of the quickest
of several looks, so that neither other work on the machine nor a collection of garbage is a mistake of the page.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from benchmarks.rows.console_pages import BUDGET_KB, BUDGET_MS, pages
from benchmarks.rows.console_world import Places, filled, looking
from benchmarks.rows.first_paint import BUDGET_MS as SLOW_BUDGET_MS
from benchmarks.rows.first_paint import at_the_door, paint, slowly
from playwright.async_api import Browser
from tests.support.chromium import closed
from tests.support.review.kit import forms

pytestmark = pytest.mark.slow

WIDE = 1.5
"""Of the budget: between what a page takes, 30 ms, and what it takes to go through all actions, 125 ms."""
FIRST_PAINT_MS = 1_200
LOOKS = 7
PROMISED = {"server ms": 50.0, "compressed KB": 60.0, "first paint ms": 300.0, "decision ms": 100.0}
"""Of the inbox with 20,000 waiting actions. Each is judged by the best of several: other work on the machine is no
mistake of the page."""
TRIES = 12


@pytest.fixture(scope="module")
async def much(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Places]:
    data_dir = tmp_path_factory.mktemp("much") / "data"
    return data_dir, await filled(data_dir)


async def test_pages_with_much_on_them_are_quick_and_small(much: tuple[Path, Places]) -> None:
    data_dir, places = much
    async with looking(data_dir) as looker:
        for name, path in pages(places).items():
            seen = [await looker.look(path) for _ in range(LOOKS)]
            assert min(look.processor_ms for look in seen) < BUDGET_MS * WIDE, name
            assert seen[0].kilobytes < BUDGET_KB, name


async def test_a_long_run_is_folded_and_can_be_walked_to_its_end(much: tuple[Path, Places]) -> None:
    data_dir, places = much
    async with looking(data_dir) as looker:
        path = f"/sessions/{places.session_run_id}"
        page = (await looker.look(path)).html
        assert "1,999 steps, 100 branches" in page
        assert "steps without a fork" in page
        for first in (0, 100):
            rows = (await looker.look(f"{path}?row={first}")).html
            assert rows.count('<li id="row-') > 50


async def test_the_first_paint_comes_soon(browser: Browser, much: tuple[Path, Places]) -> None:
    data_dir, places = much
    async with at_the_door(data_dir) as (address, link):
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        await context.request.post(link, form={"name": "Ada"}, headers={"Sec-Fetch-Site": "same-origin"})
        page = await context.new_page()
        for name, path in pages(places).items():
            painted: list[float] = []
            # One soon paint is enough: what holds up a paint holds up all of them, and a busy machine some.
            while not painted or (min(painted) >= FIRST_PAINT_MS and len(painted) < LOOKS):
                painted.append(await paint(page, address + path))
            assert min(painted) < FIRST_PAINT_MS, (name, painted)
        await closed(context)


async def test_the_inbox_paints_soon_over_a_slow_network(browser: Browser, much: tuple[Path, Places]) -> None:
    """The first visit, without anything in the cache."""
    painted: list[float] = []
    async with slowly(browser, much[0]) as (page, inbox):
        while not painted or (min(painted) >= SLOW_BUDGET_MS and len(painted) < LOOKS):
            painted.append(await paint(page, inbox))
    assert min(painted) < SLOW_BUDGET_MS, painted


async def test_the_inbox_with_20_000_waiting_actions_keeps_its_four_numbers(
    browser: Browser, much: tuple[Path, Places]
) -> None:
    data_dir, places = much
    best = dict.fromkeys(PROMISED, float("inf"))

    def note(name: str, value: float) -> None:
        best[name] = min(best[name], value)

    def missed() -> bool:
        return any(best[name] >= most for name, most in PROMISED.items())

    async with at_the_door(data_dir) as (address, link):
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        await context.request.post(link, form={"name": "Ada"}, headers={"Sec-Fetch-Site": "same-origin"})
        page = await context.new_page()
        tries = 0
        while tries < TRIES and (tries < 2 or missed()):
            tries += 1
            used = time.process_time()
            answer = await context.request.get(f"{address}/inbox")
            note("server ms", (time.process_time() - used) * 1_000)
            html = await answer.text()
            # The count of what needs this person: about 20,000, and one less after each try.
            assert re.search(r"\b(?:20,0|19,9)\d\d\b", html)
            assert answer.headers["content-encoding"] == "gzip"
            note("compressed KB", int(answer.headers["content-length"]) / 1_024)
            note("first paint ms", await paint(page, f"{address}/inbox"))
            # One of the runs with one action each: the row after the last decision.
            waiting = re.findall(r"/runs/([0-9a-f-]{36})\?action=[0-9a-f-]{36}&amp;open=approve", html)
            run_id = next(each for each in waiting if each != places.run_id)
            shown = forms(await (await context.request.get(f"{address}/runs/{run_id}")).text())
            [approve] = [each for each in shown if each.address.endswith("/approve")]
            began = time.perf_counter()
            decided = await context.request.post(
                address + approve.address,
                form={**approve.fields},
                headers={"Sec-Fetch-Site": "same-origin"},
                max_redirects=0,
            )
            note("decision ms", (time.perf_counter() - began) * 1_000)
            assert decided.status == 303
        await closed(context)
    assert not missed(), best
