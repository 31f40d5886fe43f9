"""The search finds what a person means: all words, in any order, by how they begin, on both stores."""

from __future__ import annotations

from functools import partial

import pytest
from tests.support.review.kit import Server, mail, post

from assent.engine.actions import indexing, search
from assent.engine.core import jobs
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.ports import Single
from assent.sql.loader import statements


async def find(server: Server, text: str) -> set[str]:
    await indexing.catch_up(server.app.store, (LOCAL_WORKSPACE,))
    rows = await server.app.store.read(lambda: search.find((LOCAL_WORKSPACE,), text))
    return {row["item_id"] for row in rows}


async def test_words_are_found_in_any_order_by_their_beginnings_and_in_what_surrounds_them(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(
        post(
            "site",
            connector="site",
            title="La Loma is back",
            body="Coffee in bags of 250 g, from Zoë’s farm.",
        ),
        mail(
            1,
            sender="Kari <kari.nordmann@example.org>",
            subject="Refund of 1,248.00 NOK",
            body="Dear Kari,\nyour refund is done.",
        ),
        tenant="acme-roasters",
    )
    loma, refund = (each.id for each in run.actions)
    for text, expected in (
        ("loma bags", {loma}),
        ("BAGS lom", {loma}),
        ("refund kari", {refund}),
        ("nordmann example.org", {refund}),
        ("1,248.00", {refund}),
        ("zoe", {loma}),
        ("Zoë", {loma}),
        ("back refund", set()),
        ("oma", set()),  # no beginning of a word
        ("' OR 1=1 -- drop", set()),
        ('"*', set()),
        ("roasters", {loma, refund, run.run_id}),
        ("acme loma", {loma}),
    ):
        assert await find(server, text) == expected, text
    assert await server.app.store.read(lambda: search.find(("another",), "loma")) == []


async def test_the_pages_find_by_the_index_and_say_nothing_untrue_where_only_other_sections_have_it(
    server: Server,
) -> None:
    owner = await server.owner()
    run = await server.stage(post(body="Espresso on Saturday, for all who ask."))
    other = await server.stage(post("x", body="Something else altogether."))
    for path in ("/inbox", "/runs"):
        found = (await owner.get(path, params={"q": "saturday espresso"})).text
        assert run.run_id in found and other.run_id not in found, path
        assert "Nothing found" in (await owner.get(path, params={"q": "saturday nothing"})).text, path
    await server.decide(owner, run.run_id, run.actions[0].id, "approve", then="send")
    server.clock.advance(seconds=60)
    await server.run_jobs()
    page = (await owner.get("/inbox", params={"q": "saturday"})).text
    assert f"row-{run.actions[0].id}" in page and "Nothing found" not in page and 'class="paper"' in page


async def test_an_edit_and_an_erasure_change_what_is_found(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run = await server.stage(post(body="The first wording of it."), tenant="acme-roasters")
    owner = await server.owner()
    answer = await server.decide(
        owner, run.run_id, run.actions[0].id, "edit", body="Another phrase entirely."
    )
    assert answer.status_code == 303, answer.text
    assert await find(server, "wording") == set()
    assert await find(server, "phrase entirely") == {run.actions[0].id}
    assert await find(server, "roasters phrase") == {run.actions[0].id}  # edited before its run was indexed


async def test_staging_writes_no_words_and_a_job_indexes_what_nobody_searched_for(
    server_on_any_store: Server,
) -> None:
    server, store = server_on_any_store, server_on_any_store.app.store
    run = await server.stage(post(body="Espresso on Saturday."))
    look = partial(search.find, (LOCAL_WORKSPACE,), "espresso")
    assert await store.read(look) == []
    await store.write(lambda: jobs.enqueue_next("index_staged", 1, server.clock.now_ms() - 1))
    await server.run_jobs()
    assert [row["item_id"] for row in await store.read(look)] == [run.actions[0].id]
    assert await store.read(Single(statements.list_queued_workspaces())) == []


async def test_a_backlog_is_indexed_in_batches_and_the_newest_comes_first(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH", 2)
    staged = []
    for number in range(5):
        run = await server.stage(post(body=f"Espresso number {number}."))
        staged.append(run.actions[0].id)
        server.clock.advance(seconds=1)
    store = server.app.store
    await indexing.catch_up(store, ("another",))
    assert await store.read(lambda: search.find((LOCAL_WORKSPACE,), "espresso")) == []
    await indexing.catch_up(store, (LOCAL_WORKSPACE,))
    rows = await store.read(lambda: search.find((LOCAL_WORKSPACE,), "espresso"))
    assert [row["item_id"] for row in rows] == staged[::-1]


async def test_words_are_locked_before_the_content_is_read_that_they_are_made_of(server: Server) -> None:
    run = await server.stage(post(body="The first wording of it."))
    action = await server.action(run.actions[0].id)
    for begin in (partial(search.index_again, action), partial(indexing.index_batch, LOCAL_WORKSPACE)):
        assert next(begin()) == statements.lock_search_texts(workspace_id=LOCAL_WORKSPACE)
