"""Links go through a counter to where a post leads, and views are counted honestly."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.connectors.site import FEED, Audit, Site, path_of

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.kernel.limits import DAY_MS
from assent.ports import Begin, StoreUnavailable, Transaction
from assent_launch.component import statements
from assent_launch.site import feed as site_feed
from assent_launch.site.feed import Counts, Visits


async def test_a_link_leads_through_the_counter_to_where_it_says(site: Site) -> None:
    post = await site.publish(link="https://shop.example/buy")
    audit = Audit()
    audit.feed((await site.get(path_of(post))).text)
    counted = [link for link in audit.links if "/go?" in link]
    assert counted == [f"{path_of(post)}/go?u={number}" for number in (0, 1, 2)]
    answers = [await site.get(link) for link in counted]
    assert [(answer.status_code, answer.headers["location"]) for answer in answers] == [
        (302, "https://blog.example/dark?a=1&b=2"),
        (302, "https://docs.example/dark"),
        (302, "https://shop.example/buy"),
    ]


@pytest.mark.parametrize(
    "query", ["", "?u=", "?u=2", "?u=-1", "?u=00", "?u=1e0", "?u=https://evil.example", "?u=٠", "?u=99999"]
)
async def test_the_counter_leads_nowhere_else(site: Site, query: str) -> None:
    post = await site.publish()
    answer = await site.get(f"{path_of(post)}/go{query}")
    assert answer.status_code == 404 and "location" not in answer.headers


async def test_every_view_and_click_is_counted_on_its_day(site_on_any_store: Site) -> None:
    site = site_on_any_store
    post = await site.publish()
    for _ in range(3):
        await site.get(path_of(post))
        await site.get(f"{path_of(post)}/go?u=1")
    site.engine.clock.advance(days=1)
    await site.get(path_of(post))
    assert await site.counts(post) == Counts(views=4, clicks=3)
    read = partial(site_visits, post.external_id)
    second = site.engine.clock.now_ms() // DAY_MS
    assert await site.engine.app.store.read(read) == [
        (second - 1, "", 3),
        (second - 1, "https://docs.example/dark", 3),
        (second, "", 1),
    ]


def site_visits(post_id: str) -> Transaction[list[tuple[int, str, int]]]:
    rows = yield statements.list_site_visits(workspace_id=LOCAL_WORKSPACE, post_id=post_id)
    return [(row["day"], row["link"], row["visits"]) for row in rows]


@pytest.mark.parametrize(
    "headers",
    [
        {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
        {"User-Agent": "facebookexternalhit/1.1"},
        {"User-Agent": "Slackbot-LinkExpanding 1.0"},
        {"User-Agent": "WhatsApp/2.23"},
        {"User-Agent": "Feedly/1.0"},
        {"User-Agent": ""},
        {"Sec-Purpose": "prefetch;prerender"},
        {"Purpose": "prefetch"},
        {"X-Moz": "prefetch"},
        {"Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Dest": "image"},
    ],
)
async def test_bots_previews_and_prefetches_are_not_counted(site: Site, headers: dict[str, str]) -> None:
    post = await site.publish()
    assert (await site.get(path_of(post), **headers)).status_code == 200
    assert (await site.get(f"{path_of(post)}/go?u=0", **headers)).status_code == 302
    assert await site.counts(post) == Counts(0, 0)


@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/18.0 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
        "Safari/537.36 Edg/140.0.0.0",
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile "
        "Safari/537.36",
        "Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18",
    ],
)
async def test_browsers_of_people_are_counted(site: Site, agent: str) -> None:
    post = await site.publish()
    await site.get(path_of(post), **{"User-Agent": agent})
    assert (await site.counts(post)).views == 1


async def test_looking_at_the_list_and_the_feeds_and_asking_for_headers_is_no_view(site: Site) -> None:
    post = await site.publish()
    for path in (FEED, f"{FEED}atom.xml", f"{FEED}feed.json"):
        await site.get(path)
    assert (await site.browser.head(path_of(post))).status_code == 200
    assert (await site.browser.head(f"{path_of(post)}/go?u=0")).status_code == 302
    assert await site.counts(post) == Counts(0, 0)


def everything_in(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.iterdir() if path.is_file())


async def test_nothing_about_a_visitor_is_stored(site: Site, tmp_path: Path) -> None:
    post = await site.publish()
    await site.get(path_of(post))
    assert (await site.counts(post)).views == 1
    await site.engine.app.store.close()
    stored = await asyncio.to_thread(everything_in, tmp_path)
    assert b"203.0.113.7" not in stored and b"Firefox" not in stored


async def test_a_view_writes_nothing_at_once_and_shutdown_writes_the_rest(site: Site) -> None:
    post = await site.publish()
    await site.get(path_of(post))
    store = site.engine.app.store
    read = partial(site_feed.counts, LOCAL_WORKSPACE, post.external_id)
    assert (await store.read(read)).views == 0
    await site.visits.close()
    assert (await store.read(read)).views == 1


async def test_counts_are_written_after_a_while_without_being_asked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await site.publish()
    app, written = site.engine.app, asyncio.Event()
    write = app.store.write

    async def watched(begin: Begin[Any]) -> Any:
        done = await write(begin)
        written.set()
        return done

    monkeypatch.setattr(app.store, "write", watched)
    found = await app.store.read(partial(site_feed.find_post, LOCAL_WORKSPACE, post.external_id))
    assert found is not None
    visits = Visits(app.store, app.clock, flush_seconds=0.01)
    visits.count(found)
    async with asyncio.timeout(10):
        await written.wait()
    assert (await site.counts(post)).views == 1
    visits.count(found)
    await visits.close()
    assert (await site.counts(post)).views == 2


async def test_an_outage_loses_a_batch_and_never_counts_it_twice(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await site.publish()
    store = site.engine.app.store

    async def gone(begin: object) -> None:
        raise StoreUnavailable("unplugged")

    await site.get(path_of(post))
    with monkeypatch.context() as patch:
        patch.setattr(store, "write", gone)
        await site.visits.flush()
    await site.get(path_of(post), **{"User-Agent": "Mozilla/5.0 (another browser)"})
    assert (await site.counts(post)).views == 1
