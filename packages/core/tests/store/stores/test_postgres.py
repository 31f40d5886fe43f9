"""What only PostgreSQL can do to a caller: go away, come back, refuse, and ask to try again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from tests.support.postgres_server import MISSING, Cluster, binaries
from tests.support.stores.kit import NOON, WORKSPACE, append, count, marks, put

from assent.engine.actions import idempotency as once
from assent.ports import StoreUnavailable, Transaction
from assent.sql.loader import compile_blocks, parse
from assent.stores import open_store, postgres

COMPILED = compile_blocks(
    parse(
        "-- name: collide [postgres only]\n-- Fails until it was called often enough.\nSELECT collide();\n"
        "-- name: linger [postgres only]\n-- A server that does not answer.\nSELECT pg_sleep(60);\n",
        "test",
    )
)
SQL = {name: statement.bound_type() for name, statement in COMPILED.items()}
COLLIDE = """
    CREATE SEQUENCE collisions;
    CREATE FUNCTION collide() RETURNS bigint AS $$
    BEGIN
        IF nextval('collisions') < {often} THEN RAISE EXCEPTION 'collided' USING ERRCODE = '{code}'; END IF;
        RETURN currval('collisions');
    END $$ LANGUAGE plpgsql;
"""


async def execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def of(url: str, **parts: str) -> str:
    return urlunsplit(urlsplit(url)._replace(**parts))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server of this module's own, to be stopped and misconfigured."""
    if binaries() is None:
        pytest.skip(MISSING)
    running = Cluster()
    yield running
    running.delete()


class TestTryingAgain:
    @pytest.mark.parametrize("code", ["40001", "40P01"])
    async def test_a_collision_runs_the_whole_transaction_again(self, postgres_url: str, code: str) -> None:
        await execute(postgres_url, COLLIDE.format(often=3, code=code))
        runs: list[int] = []

        def collide() -> Transaction[Any]:
            runs.append(1)
            yield from put(f"row-{len(runs)}")
            return (yield SQL["collide"]())[0]["collide"]

        store = open_store(postgres_url)
        assert await store.write(collide) == 3
        assert len(runs) == 3
        assert await store.read(count) == 1
        await store.close()

    async def test_endless_collisions_are_given_up(self, postgres_url: str) -> None:
        await execute(postgres_url, COLLIDE.format(often=1_000, code="40001"))

        def collide() -> Transaction[None]:
            yield from put("row")
            yield SQL["collide"]()

        store = open_store(postgres_url)
        with pytest.raises(StoreUnavailable, match="collided"):
            await store.write(collide)
        assert await store.read(count) == 0
        await store.close()

    async def test_connections_that_the_server_has_closed_are_replaced_unseen(
        self, postgres_url: str
    ) -> None:
        store = open_store(postgres_url)
        await asyncio.gather(*(store.write(lambda n=n: put(f"{n}")) for n in range(20)))  # type: ignore[misc]
        await execute(
            postgres_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        await asyncio.gather(*(store.write(lambda n=n: put(f"{n}")) for n in range(20, 40)))  # type: ignore[misc]
        assert await store.read(count) == 40
        await store.close()

    async def test_many_callers_share_one_connection(self, postgres_url: str) -> None:
        store = open_store(postgres_url, pool_size=1)
        await asyncio.gather(*(store.write(lambda n=n: append("s", n)) for n in range(30)))  # type: ignore[misc]
        assert sorted(await marks(store, "s")) == list(range(30))
        await store.close()


class TestUnavailable:
    async def test_a_server_that_is_down_at_the_start_is_found_when_it_is_up(self, cluster: Cluster) -> None:
        store = open_store(cluster.url)
        cluster.stop()
        for ask in (store.open, lambda: store.read(count), lambda: store.write(lambda: put("a"))):
            with pytest.raises(StoreUnavailable):
                await ask()
        cluster.start()
        await store.write(lambda: put("a"))
        await store.close()

    async def test_a_server_that_goes_down_is_found_when_it_is_up_again(self, cluster: Cluster) -> None:
        store = open_store(cluster.url)
        before = await store.read(count)
        cluster.stop()
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await store.write(lambda: put("down"))
            with pytest.raises(StoreUnavailable):
                await store.read(count)
        cluster.start()
        await store.write(lambda: put("up"))
        assert await store.read(count) == before + 1
        await store.close()

    async def test_no_free_connection_slot_is_said_and_is_over_when_there_is_one(
        self, cluster: Cluster
    ) -> None:
        await execute(cluster.url, "CREATE ROLE few LOGIN CONNECTION LIMIT 0")
        await execute(cluster.url, "CREATE DATABASE few OWNER few")
        store = open_store(of(cluster.url, netloc=f"few@127.0.0.1:{cluster.port}", path="/few"))
        with pytest.raises(StoreUnavailable, match="too many connections"):
            await store.write(lambda: put("a"))
        await execute(cluster.url, "ALTER ROLE few CONNECTION LIMIT -1")
        await store.write(lambda: put("a"))
        await store.close()

    @pytest.mark.parametrize("parts", [{"path": "/nowhere"}, {"netloc": "nobody@127.0.0.1:{port}"}])
    async def test_an_unknown_database_or_user_is_said(self, cluster: Cluster, parts: dict[str, str]) -> None:
        named = {part: value.format(port=cluster.port) for part, value in parts.items()}
        store = open_store(of(cluster.url, **named))
        with pytest.raises(StoreUnavailable):
            await store.open()
        await store.close()

    async def test_a_read_only_database_is_said_and_is_over_when_it_is_not(self, postgres_url: str) -> None:
        database = urlsplit(postgres_url).path[1:]
        await execute(postgres_url, f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
        store = open_store(postgres_url)
        assert await store.read(count) == 0
        with pytest.raises(StoreUnavailable):
            await store.write(lambda: put("a"))
        await store.close()
        writable = of(postgres_url, query="options=-cdefault_transaction_read_only%3Doff")
        await execute(writable, f'ALTER DATABASE "{database}" RESET ALL')
        store = open_store(postgres_url)
        await store.write(lambda: put("a"))
        await store.close()

    async def test_a_server_that_does_not_answer_is_said(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "COMMAND_SECONDS", 0.1)

        def linger() -> Transaction[None]:
            yield from put("a")
            yield SQL["linger"]()

        store = open_store(postgres_url)
        with pytest.raises(StoreUnavailable):
            await store.write(linger)
        assert await store.read(count) == 0
        await store.close()

    async def test_a_pool_without_a_free_connection_is_said(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "ACQUIRE_SECONDS", 0.1)
        monkeypatch.setattr(postgres, "COMMAND_SECONDS", 0.5)

        def linger() -> Transaction[None]:
            yield SQL["linger"]()

        store = open_store(postgres_url, pool_size=1)
        outcomes = await asyncio.gather(
            store.write(linger), store.write(lambda: put("a")), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [StoreUnavailable, StoreUnavailable]
        await store.write(lambda: put("a"))
        await store.close()


class Cut:
    """A wire to the server that breaks at the next COMMIT: before it gets through, or before its answer does."""

    def __init__(self, url: str, *, after_delivery: bool) -> None:
        self._server = urlsplit(url)
        self._after_delivery = after_delivery
        self._wires: set[asyncio.StreamWriter] = set()
        self.armed = False
        self.cuts = 0

    @asynccontextmanager
    async def laid(self) -> AsyncIterator[str]:
        listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        user = self._server.username
        try:
            yield urlunsplit(self._server._replace(netloc=f"{user}@127.0.0.1:{port}"))
        finally:
            listener.close()
            for wire in self._wires:
                wire.close()
            await listener.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection(self._server.hostname, self._server.port)
        self._wires |= {writer, questions}
        back = asyncio.create_task(self._carry(answers, writer))
        while data := await reader.read(65_536):
            if self.armed and b"COMMIT;" in data:
                self.armed = False
                self.cuts += 1
                back.cancel()
                await asyncio.wait([back])
                if self._after_delivery:
                    questions.write(data)
                    await answers.read(1)  # the server has committed when it answers
                break
            questions.write(data)
        questions.close()
        writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()


class TestCutAtCommit:
    """Nobody can tell a lost COMMIT from a lost answer: the caller repeats with its key and gets one effect."""

    @staticmethod
    def effect() -> Transaction[str]:
        answer = yield from once.recall(WORKSPACE, "tool", "key", "digest", NOON, holder="key")
        if answer is None:
            answer = "done"
            yield from append("effects", "effect")
            yield from once.remember(WORKSPACE, "tool", "key", "digest", answer, NOON, holder="key")
        return answer

    @pytest.mark.parametrize("after_delivery", [False, True])
    async def test_a_repeated_call_has_one_effect(self, postgres_url: str, after_delivery: bool) -> None:
        cut = Cut(postgres_url, after_delivery=after_delivery)
        async with cut.laid() as url:
            store = open_store(url)
            await store.open()
            cut.armed = True
            with pytest.raises(StoreUnavailable):
                await store.write(self.effect)
            assert len(await marks(store, "effects")) == int(after_delivery)
            assert await store.write(self.effect) == "done"
            assert await marks(store, "effects") == ["effect"]
            assert cut.cuts == 1
            await store.close()
