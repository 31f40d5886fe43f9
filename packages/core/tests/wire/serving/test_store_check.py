"""`/readyz` asks for a write, and cannot be used to load the store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.surfaces import Surface

from assent.ports import StoreUnavailable
from assent.serving import site
from assent.serving.site import StoreCheck


class Counted:
    """A store whose writes are counted, and fail as on a full disk."""

    def __init__(self, surface: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes = 0
        self.full = False
        store = surface.app.owner_services.store
        write = store.write

        async def counted(begin: Any) -> Any:
            self.writes += 1
            if self.full:
                raise StoreUnavailable("database or disk is full")
            return await write(begin)

        monkeypatch.setattr(store, "write", counted)


async def test_it_fails_while_writes_do_and_recovers(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "PROBE_SECONDS", 0.0)
    await surface.app.prepare()
    store, check = Counted(surface, monkeypatch), StoreCheck(surface.app.owner_services)
    await check.check()
    assert store.writes == 1
    store.full = True
    with pytest.raises(StoreUnavailable):
        await check.check()
    assert store.writes == 2 + len(site.ELSEWHERE)
    store.full = False
    await check.check()
    assert store.writes == 3 + len(site.ELSEWHERE)


async def test_many_who_ask_share_one_write(surface: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "PROBE_SECONDS", 3600.0)
    await surface.app.prepare()
    store, check = Counted(surface, monkeypatch), StoreCheck(surface.app.owner_services)
    await asyncio.gather(*(check.check() for _ in range(50)))
    for _ in range(50):
        await check.check()
    assert store.writes == 1
    store.full = True
    await check.check()
