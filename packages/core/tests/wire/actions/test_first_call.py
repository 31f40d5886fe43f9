"""A local user whose very first call stages something: the store opens for it, once, and the answer has its review
link."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import STAGE
from tests.support.actions.provider import providers

from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.serving.edge import Credentials, RequestContext
from assent.stores.postgres_connection import CONNECT_SECONDS

pytestmark = pytest.mark.own_database


async def test_the_first_call_of_a_local_process_may_stage(database_url: str, tmp_path: Path) -> None:
    gate = gate_over(database_url, tmp_path, "stdio", providers())
    try:
        context = RequestContext(Credentials(local=LOCAL_PRINCIPAL), "local", "test")
        answer = await gate.surfaces.edge.answer(STAGE, {"effects": [{}]}, context)
    finally:
        await gate.close()
    assert answer.reason is None, answer.text
    run_id = answer.value["runId"]
    assert f"/runs/{run_id}?token=" in answer.value["reviewUrl"]


async def test_an_open_store_is_not_opened_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = gate_over(database_url, tmp_path, "stdio", providers())
    opened: list[str] = []

    async def noted(store: object, secrets: object) -> None:
        opened.append("checked")

    monkeypatch.setattr("assent.app.check_secrets", noted)
    try:
        for _ in range(3):
            await gate.app.store.open()
            await gate.app.prepare()
    finally:
        await gate.close()
    assert opened == ["checked"]


async def test_closing_ends_the_wait_for_a_database_that_does_not_answer(tmp_path: Path) -> None:
    connected, over = asyncio.Event(), asyncio.Event()

    async def keep_silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await over.wait()
        writer.close()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        gate = gate_over(f"postgresql://nobody@127.0.0.1:{port}/none", tmp_path, "stdio", providers())
        opening = asyncio.create_task(gate.app.prepare())
        await connected.wait()
        try:
            async with asyncio.timeout(CONNECT_SECONDS / 2):
                await gate.close()
        finally:
            over.set()
        with pytest.raises(asyncio.CancelledError):
            await opening
