"""`serve` takes over from a leading stdio process within seconds, whatever that process is busy with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.processes.running import free_port
from tests.support.surfaces import settings_for

from assent.app import App
from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobKind
from assent.engine.core.tenancy import LOCAL_PRINCIPAL, LOCAL_WORKSPACE
from assent.jobs import kinds
from assent.processes import stdio
from assent.processes.listening import leadership_of, listen
from assent.processes.serve import Surfaces
from assent.processes.stdio import StdioPages
from assent.serving.edge import Credentials
from assent.settings.load import Settings
from assent.settings.secret_files import ensure_data_dir

TAKES_OVER_SECONDS = 3.0
DEADLINE_SECONDS = 20.0


class Busy:
    """A job and a request that take as long as the test wants."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.asked = asyncio.Event()
        self.may_end = asyncio.Event()
        self.ended = 0

    async def run(self, job: Job) -> None:
        self.began.set()
        await self.may_end.wait()
        self.ended += 1

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.set()
        await self.may_end.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def leading(settings: Settings, busy: Busy, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[App]:
    """What `assent stdio` does behind its client, with a job in flight and a call of its pages."""
    monkeypatch.setattr(kinds, "job_kinds", lambda app: {"slow": JobKind(busy.run)})

    async def site(scope: Any, receive: Any, send: Any) -> None:
        await busy.answer(scope, receive, send)

    monkeypatch.setattr(Surfaces, "site", lambda self: site)
    ensure_data_dir(settings.data_dir)
    leadership = leadership_of(settings, "stdio")
    pages, app, answered = StdioPages(settings, leadership), App(settings), asyncio.Event()
    await app.prepare()
    now_ms = app.clock.now_ms()
    enqueue = partial(jobs.enqueue, LOCAL_WORKSPACE, "slow", "k", {}, due_ms=now_ms, now_ms=now_ms)
    await app.store.write(enqueue)
    answered.set()
    behind = asyncio.create_task(
        stdio._start_background(
            app, Surfaces(app), pages, leadership, answered, Credentials(local=LOCAL_PRINCIPAL)
        )
    )
    try:
        yield app
    finally:
        busy.may_end.set()
        behind.cancel()
        await asyncio.gather(behind, return_exceptions=True)
        await app.close()
        leadership.release()


async def test_serve_gets_the_port_and_the_lead_while_a_job_and_a_call_are_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, busy = free_port(), Busy()
    address = f"http://localhost:{port}"
    settings = settings_for(
        f"sqlite:///{tmp_path / 'assent.db'}", tmp_path, port=port, base_url=address, host="127.0.0.1"
    )
    async with leading(settings, busy, monkeypatch) as app, asyncio.timeout(DEADLINE_SECONDS):
        await busy.began.wait()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await busy.asked.wait()

        serve, began = leadership_of(settings, "serve"), time.monotonic()
        assert serve.claim_serve()
        while not serve.try_lead():  # noqa: ASYNC110 - another process's lock
            await asyncio.sleep(0.02)
        took = time.monotonic() - began
        assert took < TAKES_OVER_SECONDS
        for each in listen("127.0.0.1", port):
            each.close()

        assert busy.ended == 0, "nothing in flight was cut off"
        busy.may_end.set()
        assert (await reader.readline()).startswith(b"HTTP/1.1 204")
        writer.close()
        while await app.store.read(partial(jobs.find_due, LOCAL_WORKSPACE, "slow", "k")) is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert busy.ended == 1
        serve.release()
