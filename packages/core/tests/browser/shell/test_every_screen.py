"""Every page of the server in a real browser, light and dark, on a phone, at a desk and on a wide screen.

`make test` opens each page once, in one width and one colour scheme, in turns. axe looks at it in that scheme, and
with its rules about colours again in the other one: the document is the same, only colours differ. The page is then
measured in every width. `make prove` opens each page in every width and colour scheme, with all rules.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, BrowserContext, Response
from starlette.routing import Route
from tests.support.chromium import AXE, closed
from tests.support.effort import PROVE
from tests.support.review.browser import COLOUR_RULES, Watched, served, violations, watched
from tests.support.review.kit import BROWSER, Server, post
from tests.support.review.states import every_state
from tests.support.shell.atlas import EMPTY, OTHERS, STATES, VIEWS, View, follow
from tests.support.shell.company import opened_company
from tests.support.shell.screen import REPORTS, sign_in

from assent.engine.core.tenancy import LOCAL_WORKSPACE

pytestmark = pytest.mark.slow

WIDTHS = (390, 1280, 1920)
NARROWEST = 320
PYTHON = re.compile(r"\b[A-Z]\w+\(\w+=")
"""A value that a page should have put into words, such as `When(iso='…`."""
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
Look = tuple[int, Scheme]

OPEN_ALL = """document.querySelectorAll("main details:not(.export-menu)")
  .forEach(each => { each.removeAttribute("name"); each.open = true })"""


@pytest.fixture(scope="module")
async def company(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    async with opened_company(tmp_path_factory.mktemp("company")) as (server, places):
        yield server, places


@pytest.fixture(scope="module")
async def empty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """A server as it is started, on which proposals are held after the second one."""
    directory: Path = tmp_path_factory.mktemp("empty")
    async with served(directory, built_in=True, held_after=2) as server:
        await server.app.prepare()
        yield server, {"held": f"/inbox/held/{LOCAL_WORKSPACE}/local"}


def choose_looks(place: int) -> list[Look]:
    """The looks of a page: all of them in a proof, else one, in turns."""
    every = [*product(WIDTHS, SCHEMES)]
    return every if PROVE else [every[place % len(every)]]


class Guest:
    """One tab of a browser, which is led from page to page."""

    def __init__(self, seen: Watched, server: Server) -> None:
        self._seen = seen
        self._house = server
        self._status = 0
        """Of the page that is shown."""
        seen.page.on("response", self._hear)

    def _hear(self, answer: Response) -> None:
        if answer.request.is_navigation_request() and answer.frame == self._seen.page.main_frame:
            self._status = answer.status

    @classmethod
    async def enter(cls, context: BrowserContext, server: Server) -> Guest:
        seen = await watched(context, server.base_url)
        await seen.page.add_init_script(REPORTS)
        await seen.page.add_init_script(path=AXE)
        return cls(seen, server)

    async def look_at(self, view: View, places: dict[str, str], look: Look) -> list[str]:
        """Open a page and list everything that is wrong with it."""
        page, (width, scheme) = self._seen.page, look
        self._seen.alarms.clear()
        wrong: list[str] = []
        await page.set_viewport_size({"width": width, "height": 900})
        await page.emulate_media(color_scheme=scheme)
        await page.goto(self._house.base_url + view.path.format_map(places))
        await follow(page, view)
        if self._status != view.status:
            wrong.append(f"answers {self._status}")
        await page.evaluate(OPEN_ALL)
        wrong += await violations(page)
        if not PROVE:
            other = SCHEMES[1 - SCHEMES.index(scheme)]
            await page.emulate_media(color_scheme=other)
            wrong += [f"{other}: {each}" for each in await violations(page, COLOUR_RULES)]
        if await page.locator("h1").count() != 1:
            wrong.append("has not one main heading")
        if PYTHON.search(await page.locator("body").inner_text()):
            wrong.append("shows a value of Python")
        others = [each for each in WIDTHS if each != width and not PROVE]
        for window in (width, NARROWEST, *others):
            if window != width:
                await page.set_viewport_size({"width": window, "height": 900})
            wide = await page.evaluate("document.documentElement.scrollWidth")
            if wide > window:
                wrong.append(f"is {wide} wide in a window of {window}")
        wrong += [each for each in self._seen.alarms if f"status of {view.status}" not in each]
        return [f"{view.name} {look}: {each}" for each in wrong]


async def look_at_all(
    browser: Browser, server: Server, views: Sequence[View], places: dict[str, str]
) -> list[str]:
    contexts = [await browser.new_context(reduced_motion="reduce") for _ in range(2)]
    wrong: list[str] = []
    try:
        await sign_in(contexts[0], server, name="Ingrid Solberg")
        owner, visitor = [await Guest.enter(context, server) for context in contexts]
        for place, view in enumerate(views):
            for look in choose_looks(place)[: view.looks]:
                known = {**places, "sign_in": await server.sign_in_path()}
                guest = visitor if view.visitor else owner
                wrong += await guest.look_at(view, known, look)
    finally:
        for context in contexts:
            await closed(context)
    return wrong


@pytest.mark.prove
async def test_every_page_is_accessible_and_fits_light_and_dark_in_every_width(
    browser: Browser, company: tuple[Server, dict[str, str]]
) -> None:
    server, places = company
    assert await look_at_all(browser, server, VIEWS, places) == []


@pytest.mark.prove
async def test_every_page_of_an_empty_server_is_accessible_and_fits(
    browser: Browser, empty: tuple[Server, dict[str, str]]
) -> None:
    server, places = empty
    wrong = await look_at_all(browser, server, [each for each in EMPTY if each.name != "held"], places)
    for number in range(6):
        await server.stage(post(body=f"Number {number}, and {'it works ' * 8}", connector="manual"))
    wrong += await look_at_all(browser, server, [each for each in EMPTY if each.name == "held"], places)
    assert wrong == []


@pytest.mark.prove
async def test_an_action_in_every_state_is_accessible_and_fits(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        waiting, decided, report, by_hand = await every_state(server)
        server.clock.advance(hours=2)
        places = {
            "waiting": waiting.run_id,
            "decided": decided.run_id,
            "waiting_link": waiting.review_url.removeprefix(server.base_url),
            "report_link": report.review_url.removeprefix(server.base_url),
            "by_hand_link": by_hand.review_url.removeprefix(server.base_url),
        }
        assert await look_at_all(browser, server, STATES, places) == []


async def test_every_route_of_a_page_is_among_them(company: tuple[Server, dict[str, str]]) -> None:
    server, places = company
    routes = {route.path for route in find_routes(server) if "GET" in (route.methods or ())}
    pages = {view.route for view in (*VIEWS, *EMPTY) if view.route}
    pages |= {view.at for view in VIEWS if view.at}
    answers = {route.path for route in find_routes(server)}

    assert routes - pages - OTHERS.keys() == set(), "pages that no view shows"
    assert pages - answers == set(), "views of routes that are gone"
    assert OTHERS.keys() - routes == set()
    owner = await server.owner()
    for route, path in OTHERS.items():
        if path:
            answer = await owner.get(path.format_map(places), headers=BROWSER)
            is_page = answer.status_code < 300 and "<main" in answer.text
            assert not is_page, f"{route} is a page"


def find_routes(server: Server) -> list[Route]:
    """The routes behind the guard of the site."""
    site: Any = server.site
    return [route for route in site._app.routes if isinstance(route, Route)]
