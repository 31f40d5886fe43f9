"""A server that dies between any two steps: a code is used at most once, and a refresh locks nobody out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from tests.support.oauth.kit import Person, make_client
from tests.support.oauth.plain_client import PlainClient
from tests.support.review.kit import Server

from assent.ports import StoreUnavailable

KEYED = "chieflab_status"
AFTER_COMMIT = 100
"""More statements than a transaction has: it commits, and the answer is lost."""


@contextmanager
def dying(server: Server, patch: pytest.MonkeyPatch, steps: int) -> Iterator[list[bool]]:
    """The writing transactions of the server end after so many statements, or once they are committed. Gives whether
    one was."""
    store: Any = server.app.store
    write, committed = store.write, []

    async def die(begin: Any) -> Any:
        def begun() -> Any:
            transaction, rows = begin(), None
            for taken in range(AFTER_COMMIT):
                try:
                    statement = next(transaction) if rows is None else transaction.send(rows)
                except StopIteration as end:
                    return end.value
                if taken == steps:
                    raise StoreUnavailable("killed")
                rows = yield statement

        await write(begun)
        committed.append(True)
        raise StoreUnavailable("killed")

    with patch.context() as patched:
        patched.setattr(store, "write", die)
        yield committed


async def sign_in(server: Server) -> tuple[PlainClient, Person]:
    client, person = make_client(server), Person(await server.owner())
    await client.sign_in(await client.greet(), person.let_in)
    return client, person


async def test_a_code_is_used_at_most_once_wherever_the_server_dies(
    server_on_any_store: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, person = await sign_in(server_on_any_store)
    seen = set()
    for steps in (*range(6), AFTER_COMMIT):
        code, verifier = await client.ask(person.let_in)
        with dying(server_on_any_store, monkeypatch, steps) as committed:
            assert (await client.exchange(code, verifier)).status_code == 503

        first, second = [await client.exchange(code, verifier) for _ in range(2)]
        assert second.status_code == 400
        seen.add(first.status_code)
        # Before the commit nothing happened; after it the code is used, and the person is asked again.
        assert (first.status_code == 400) == any(committed)
    assert seen == {200, 400}


async def test_a_refresh_locks_no_one_out_wherever_the_server_dies(
    server_on_any_store: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = await sign_in(server_on_any_store)
    for steps in (*range(4), AFTER_COMMIT):
        with dying(server_on_any_store, monkeypatch, steps):
            assert (await client.refresh()).status_code == 503

        client.keep(await client.refresh())
        assert (await client.call(KEYED)).status_code == 200, steps


async def test_after_a_lost_answer_a_client_asks_again_until_it_used_one(server: Server) -> None:
    client, _ = await sign_in(server)
    before = client.tokens["refresh_token"]

    lost: list[httpx.Response] = [await client.refresh(before) for _ in range(3)]
    assert len({each.text for each in lost}) == 3  # no two who ask get the same tokens
    server.clock.advance(hours=30)
    client.keep(await client.refresh(before))
    assert (await client.call(KEYED)).status_code == 200

    assert (await client.refresh(before)).status_code == 400


async def test_a_client_that_dies_with_its_new_tokens_goes_on_with_either_of_them(server: Server) -> None:
    client, _ = await sign_in(server)
    for _ in range(3):
        before = dict(client.tokens)
        client.keep(await client.refresh())
        client.tokens = before  # it died before it wrote them down
        client.keep(await client.refresh())
        client.keep(await client.refresh())
        assert (await client.call(KEYED)).status_code == 200
