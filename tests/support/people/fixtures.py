"""A site of nothing but the pages, over a real store, with a clock to move by hand."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from tests.support.catalog import full_catalog
from tests.support.own_sql import bind
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import BASE_URL, ManualClock, settings_for

from assent.app import App
from assent.engine.people import signup
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import SIGNUPS_PER_HOUR
from assent.ports import Store, Transaction
from assent.serving.web.shell.pages import page_routes
from assent.serving.web.shell.problems import http_problem
from assent.stores import open_store

TABLES = ("workspaces", "api_keys", "signup_links", "streams", "events")
KEY = re.compile(r"clp_(?:live|dev)_[A-Za-z0-9_-]{64}")
BROWSER = {"Sec-Fetch-Site": "same-origin", "Origin": BASE_URL, "Accept": "text/html,*/*;q=0.8"}


class Site:
    """The pages as a person's browser sees them, and what is behind them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = ManualClock()
        self.pages: str | None = BASE_URL
        settings = settings_for("sqlite:///unused.db", Path("unused"), signups_per_hour=SIGNUPS_PER_HOUR)
        made = App(settings, clock=self.clock).services
        links = dataclasses.replace(made.links, page_address=lambda: self.pages)
        outgoing = dataclasses.replace(made.outgoing, can_send_notes=_has_no_mail)
        self.services = dataclasses.replace(made, store=store, links=links, outgoing=outgoing)
        self.app = Starlette(
            routes=page_routes(
                self.services, base_url=BASE_URL, catalog=full_catalog(), bound_to="127.0.0.1"
            ),
            exception_handlers={404: http_problem, 405: http_problem},
        )
        transport = httpx.ASGITransport(app=self.app, client=("127.0.0.1", 50_000))
        self.browser = httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=BROWSER)

    async def link(self, name: str = "Acme", email: str = "ada@example.org") -> str:
        """The path of a link that waits for its human."""
        workspace_id = WorkspaceId(self.services.new_id(self.clock.now_ms()))
        secret = os.urandom(signup.LINK_SECRET_BYTES)
        now_ms = self.clock.now_ms()
        token = await self.store.write(
            lambda: signup.request_signup(workspace_id, secret, email, name, now_ms)
        )
        return f"/claim/{token}"

    async def gather(self, times: int, path: str) -> list[httpx.Response]:
        """The same button pressed many times at once."""
        return list(await asyncio.gather(*(self.browser.post(path) for _ in range(times))))

    async def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that is stored and that a page could change."""
        return {table: await self.store.read(partial(_dump, table)) for table in TABLES}


async def _has_no_mail() -> bool:
    return False


def _dump(table: str) -> Transaction[list[tuple[Any, ...]]]:
    text = f"SELECT * FROM {table} ORDER BY 1, 2"
    rows: Any = yield bind(text, text)
    return [tuple(row) for row in rows]


@asynccontextmanager
async def served(url: str) -> AsyncIterator[Site]:
    store = open_store(url)
    site = Site(store)
    try:
        async with site.browser:
            yield site
    finally:
        await store.close()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    """The pages over the embedded store."""
    async with served(new_sqlite(tmp_path / "pages.db")) as running:
        yield running


@pytest.fixture
async def site_on_any_store(database_url: str) -> AsyncIterator[Site]:
    """The pages over each kind of store."""
    async with served(database_url) as running:
        yield running
