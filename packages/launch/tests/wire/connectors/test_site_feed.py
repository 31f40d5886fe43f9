"""The public feed: approved posts become pages, and feeds for programs."""

from __future__ import annotations

import asyncio
import re
import uuid
from functools import partial

import msgspec
import pytest
from tests.support.connectors.site import BODY, FEED, Site, parsed, path_of
from tests.support.surfaces import BASE_URL

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.present.outlook import Executed
from assent_conform.testing.operator import Wanted
from assent_launch.site import feed as site_feed


@pytest.mark.rule("E28")
async def test_an_approved_post_becomes_a_page(site_on_any_store: Site) -> None:
    site = site_on_any_store
    wanted = Wanted(connector="site", channel="site", title="Dark mode", body=BODY)
    action_id = await site.engine.approved(wanted)
    reply = await site.engine.execute(action_id)
    assert isinstance(reply, Executed) and isinstance(reply.external_url, str)
    assert reply.post_id == reply.external_id == (await site.engine.action(action_id)).external_id
    assert reply.external_url == f"{BASE_URL}{FEED}{reply.external_id}"
    assert re.fullmatch(r"dark-mode-[0-9a-f]{12}", reply.external_id)
    answer = await site.get(reply.external_url.removeprefix(BASE_URL))
    assert answer.status_code == 200
    assert "<h1>Dark mode</h1>" in answer.text and "<strong>here</strong>" in answer.text
    assert "script-src 'none'" in answer.headers["content-security-policy"]


async def test_publishing_again_finds_the_same_page(site_on_any_store: Site) -> None:
    """The natural key: whoever lost the outcome may ask again."""
    site = site_on_any_store
    action = site.action(Effect(channel="site", verb="post", connector="site", body=BODY))
    first = await site.publish(again=action)
    site.engine.clock.advance(hours=1)
    repeated = await asyncio.gather(*(site.publish(again=action) for _ in range(5)))
    assert [*repeated] == [first] * 5
    listed = await site.engine.app.store.read(partial(site_feed.newest_posts, LOCAL_WORKSPACE, 10))
    assert [each.post_id for each in listed] == [first.external_id]


async def test_another_revision_is_another_page(site: Site) -> None:
    action = site.action(Effect(channel="site", verb="post", connector="site", body=BODY))
    first = await site.publish(again=action)
    second = await site.publish(again=msgspec.structs.replace(action, revision=2))
    assert first.external_id != second.external_id


async def test_the_newest_stand_first_and_the_rest_a_page_further(site_on_any_store: Site) -> None:
    site = site_on_any_store
    for number in range(23):
        site.engine.clock.advance(seconds=number % 2)  # some within the same millisecond
        await site.publish(title=f"Post number {number:02}")
    first = await site.get(FEED)
    older = re.search(r'href="([^"]+)" rel="next"', first.text)
    assert older is not None
    second = await site.get(older[1])
    titles = re.findall(r"Post number (\d\d)", first.text + second.text)
    assert len(titles) == len(set(titles)) == 23
    assert 'rel="next"' not in second.text


@pytest.mark.parametrize("title", ["", "日本語のタイトル", "../../etc", "x" * 500, "a/b?c#d"])
async def test_any_title_makes_an_address(site: Site, title: str) -> None:
    post = await site.publish(title=title, body="# Heading first\n\nText.")
    assert re.fullmatch(r"[a-z0-9-]{5,80}", post.external_id)
    assert (await site.get(path_of(post))).status_code == 200


async def test_what_is_not_there_is_one_and_the_same_page(site_on_any_store: Site) -> None:
    """Nobody learns which workspaces exist, or which have posts."""
    site = site_on_any_store
    nobody = uuid.uuid4()
    empty = [
        await site.get(path)
        for path in (
            FEED,
            FEED.rstrip("/"),
            f"{FEED}atom.xml",
            f"{FEED}feed.json",
            f"{FEED}some-post-0123456789ab",
            f"/feed/{nobody}/",
            f"/feed/{nobody}/atom.xml",
            f"/feed/{nobody}/some-post-0123456789ab",
            f"/feed/{nobody}/some-post-0123456789ab/go?u=0",
            "/feed/not-a-workspace/",
            f"/feed/{str(nobody).upper()}/",
            f"{FEED}%00",
        )
    ]
    assert {answer.status_code for answer in empty} == {404}
    assert len({answer.text for answer in empty}) == 1


async def test_a_post_is_seen_in_its_own_workspace_only(site: Site) -> None:
    post = await site.publish()
    foreign = WorkspaceId(str(uuid.uuid4()))
    assert (await site.get(f"/feed/{foreign}/{post.external_id}")).status_code == 404


async def test_a_feed_takes_nothing_from_anybody(site: Site) -> None:
    post = await site.publish()
    for path in (FEED, path_of(post), f"{path_of(post)}/go?u=0", f"{FEED}atom.xml"):
        assert (await site.browser.post(path)).status_code in (403, 405)


async def test_atom_is_valid(site: Site) -> None:
    first = await site.publish(title="One & <two>", link="https://shop.example/x?a=1&b=2")
    site.engine.clock.advance(seconds=1)
    second = await site.publish(title="")
    answer = await site.get(f"{FEED}atom.xml")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    ns = {"a": "http://www.w3.org/2005/Atom"}
    feed = parsed(answer)
    assert feed.tag == "{http://www.w3.org/2005/Atom}feed"
    assert [node.tag.rpartition("}")[2] for node in feed[:6]] == [
        *("id", "title", "updated", "link", "link", "author")
    ]
    assert feed.findtext("a:id", None, ns) == f"urn:uuid:{LOCAL_WORKSPACE}"
    assert {node.get("rel"): node.get("href") for node in feed.findall("a:link", ns)} == {
        "self": f"{BASE_URL}{FEED}atom.xml",
        "alternate": f"{BASE_URL}{FEED}",
    }
    assert feed.findtext("a:author/a:name", None, ns)
    entries = feed.findall("a:entry", ns)
    assert [entry.find("a:link", ns).get("href") for entry in entries] == [  # type: ignore[union-attr]
        second.external_url,
        first.external_url,
    ]
    assert len({entry.findtext("a:id", None, ns) for entry in entries}) == 2
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    for entry in entries:
        assert uuid.UUID((entry.findtext("a:id", None, ns) or "").removeprefix("urn:uuid:"))
        assert entry.findtext("a:title", None, ns)
        assert re.fullmatch(moment, entry.findtext("a:updated", "", ns))
        assert entry.find("a:content", ns).get("type") == "html"  # type: ignore[union-attr]
    assert entries[1].findtext("a:title", None, ns) == "One & <two>"
    content = entries[1].findtext("a:content", "", ns)
    assert 'href="https://blog.example/dark?a=1&amp;b=2"' in content
    assert 'href="https://shop.example/x?a=1&amp;b=2"' in content
    assert "/go?" not in content


async def test_json_feed_is_valid(site: Site) -> None:
    post = await site.publish()
    answer = await site.get(f"{FEED}feed.json")
    assert answer.headers["content-type"] == "application/feed+json; charset=utf-8"
    feed = msgspec.json.decode(answer.content)
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert (feed["home_page_url"], feed["feed_url"]) == (f"{BASE_URL}{FEED}", f"{BASE_URL}{FEED}feed.json")
    assert isinstance(feed["title"], str) and feed["authors"] == [{"name": feed["title"]}]
    (item,) = feed["items"]
    assert set(item) == {"id", "url", "title", "content_html", "content_text", "date_published"}
    assert (item["url"], item["title"], item["content_text"]) == (post.external_url, "Dark mode", BODY)


async def test_a_reader_that_knows_the_feed_gets_nothing_new(site: Site) -> None:
    await site.publish()
    for name in ("atom.xml", "feed.json"):
        first = await site.get(FEED + name)
        again = await site.get(FEED + name, **{"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
