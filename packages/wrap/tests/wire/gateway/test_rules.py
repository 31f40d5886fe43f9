"""A rule of the workspace decides calls of wrapped tools at once, until its end, and nothing else can."""

from __future__ import annotations

import asyncio
import os
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.keyed_browser import KeyedBrowser
from tests.support.own_sql import bind_marks
from tests.support.review.kit import BROWSER, forms
from tests.support.surfaces import BASE_URL
from tests.support.wrap.kit import FrontClient, Wrapped, said

from assent.engine.people import people
from assent.ports import Single
from assent.serving.edge import Credentials
from assent_wrap import gateway, rulebook
from assent_wrap.rulebook import ServerView
from assent_wrap.rules import StandingRule

pytestmark = pytest.mark.usefixtures("no_caches")
NOTES = {"name": "short notes", "server": "notes", "tool": "store", "mode": "pass"}


async def set_rule(wrapped: Wrapped, **rule: Any) -> None:
    source = {"rule": [{**NOTES, **rule}]}
    await rulebook.set_rules(wrapped.app.owner_services, wrapped.workspace_id, source, by="Ada")


async def list_rules(wrapped: Wrapped) -> list[StandingRule]:
    return [*await rulebook.list_rules(wrapped.app.owner_services, wrapped.workspace_id)]


async def passes(client: FrontClient, tool: str = "store", **arguments: Any) -> bool:
    """Whether a call was made at once. A client without a dialog gets a refusal with the link."""
    await client.handshake()
    answer = await client.call(tool, **arguments)
    assert said(answer) == f"{tool} done" or "requires_approval" in said(answer)
    return said(answer) == f"{tool} done"


async def read_server(wrapped: Wrapped) -> ServerView:
    (found,) = await rulebook.list_servers(wrapped.app.owner_services, wrapped.workspace_id)
    return found


async def test_a_call_passes_by_a_rule_without_a_restart_and_asks_once_the_rule_was_ended(
    wrapped: Wrapped, client: FrontClient
) -> None:
    when = {"trusted": True, "arguments": {"path": {"begins_with": "notes/", "contains_none": ".."}}}
    assert not await passes(client, path="notes/a", content="1")

    await set_rule(wrapped, when=when)

    assert await passes(client, path="notes/b", content="2")
    assert not await passes(client, path="notes/../b", content="3")
    assert not await passes(client, path="other", content="4")
    assert wrapped.calls_of("store") == [{"path": "notes/b", "content": "2"}]
    (rule,) = await list_rules(wrapped)
    assert (rule.used, rule.by, rule.last_ms) == (1, "Ada", wrapped.clock.now_ms())

    services = wrapped.app.owner_services
    assert await rulebook.end_rule(services, wrapped.workspace_id, NOTES["name"], by="Ada")
    assert not await rulebook.end_rule(services, wrapped.workspace_id, NOTES["name"], by="Ada")
    assert not await passes(client, path="notes/c", content="5")


async def test_no_more_calls_pass_than_a_rule_allows_however_many_come_at_once(
    wrapped: Wrapped, client: FrontClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_rule(wrapped, calls=3)
    await client.handshake()
    await client.names()
    monkeypatch.setattr(gateway, "PINS_SECONDS", 60.0)  # what this process has read is outdated

    answers = await asyncio.gather(*(client.call("store", path=str(each), content="") for each in range(10)))

    assert sum(said(each) == "store done" for each in answers) == len(wrapped.calls_of("store")) == 3
    monkeypatch.setattr(gateway, "PINS_SECONDS", -1.0)
    await set_rule(wrapped, calls=1)
    assert [await passes(client, path="x", content=each) for each in "ab"] == [True, False]


async def test_a_rule_ends_at_its_time(wrapped: Wrapped, client: FrontClient) -> None:
    await set_rule(wrapped, until="2099-01-01T00:00:00Z")
    assert await passes(client, path="a", content="1")
    (rule,) = await list_rules(wrapped)
    assert rule.rule.until_ms is not None
    wrapped.clock.advance(seconds=(rule.rule.until_ms - wrapped.clock.now_ms()) / 1000)
    assert not await passes(client, path="a", content="2")


async def test_a_rule_for_one_agent_is_not_anothers_and_gives_no_key_a_right_that_it_lacks(
    wrapped: Wrapped, client: FrontClient
) -> None:
    profile_id = client.credentials.profile_id
    callers: dict[str, FrontClient] = {"local": client}
    for name, scopes, mode in (
        ("full", ("runs:write", "actions:decide", "actions:execute"), "live"),
        ("drafts", ("runs:write",), "live"),
        ("test", ("runs:write", "actions:decide", "actions:execute"), "dev"),
    ):
        key = await wrapped.key_with(*scopes, mode=mode)  # type: ignore[arg-type]
        callers[name] = FrontClient(wrapped.surfaces, Credentials(api_key=key, profile_id=profile_id))

    await set_rule(wrapped)
    passed = {name: await passes(each, path=name, content="1") for name, each in callers.items()}
    assert passed == {"local": True, "full": True, "drafts": False, "test": False}

    await set_rule(wrapped, when={"caller": "local"})
    passed = {name: await passes(each, path=name, content="2") for name, each in callers.items()}
    assert passed == {"local": True, "full": False, "drafts": False, "test": False}
    for name in ("full", "drafts", "test"):
        await callers[name].close()


async def test_a_stricter_rule_asks_about_what_passed_and_hides_from_the_list(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await set_rule(wrapped, name="asks", tool="lo*", mode="gate")
    await set_rule(wrapped, name="hides", tool="re*", mode="hide")
    await set_rule(wrapped, name="passes", tool=["look", "remove", "store"])

    listed = {each["name"]: each for each in (await client.request("tools/list"))["tools"]}

    assert "remove" not in listed and "-32602" in str(await client.call("remove", path="a"))
    assert "A person approves" in listed["look"]["description"]
    assert "A person approves" not in listed["store"]["description"]
    assert not await passes(client, "look", path="a")


async def test_a_row_that_this_server_did_not_record_lets_nothing_pass(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await set_rule(wrapped, tool="remove")
    changed = "UPDATE wrap_rules SET body = replace(body, 'remove', 'store')"
    await wrapped.app.store.write(Single(bind_marks(changed)))

    assert await list_rules(wrapped) == []
    assert not await passes(client, path="a", content="1")


async def test_a_changed_tool_is_accepted_first_and_the_question_says_that_its_calls_may_pass(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await set_rule(wrapped, when={"arguments": {"path": {"begins_with": "a"}}})
    assert await passes(client, path="a", content="1")

    wrapped.want(tools={"store": {"description": "Stores it elsewhere."}})

    await client.names()
    assert "new or has changed" in said(await client.call("store", path="a", content="2"))
    (waiting,) = await wrapped.waiting()
    assert "without asking" in (await wrapped.stored(waiting["id"])).view.title


async def test_people_see_what_a_call_of_each_tool_does_and_choose_it(
    wrapped: Wrapped, client: FrontClient
) -> None:
    services, workspace_id = wrapped.app.owner_services, wrapped.workspace_id
    await client.names()
    server = await read_server(wrapped)
    assert (server.name, server.trusted, server.observed) == ("notes", True, False)
    modes = {each.name: (each.mode, each.why) for each in server.tools}
    assert modes["look"] == ("pass", "hint") and modes["store"] == ("gate", "default")

    await rulebook.set_mode(services, workspace_id, "notes", "store", "pass", by="Ada")
    await set_rule(wrapped, tool="remove", calls=1)
    tools = {each.name: each for each in (await read_server(wrapped)).tools}
    assert (tools["store"].mode, tools["store"].why) == ("pass", "rule")
    assert (tools["remove"].mode, tools["remove"].why) == ("gate", "default")
    assert [each.rule.calls for each in tools["remove"].rules] == [1]
    assert await passes(client, path="a", content="1")

    await rulebook.set_mode(services, workspace_id, "notes", "store", None, by="Ada")
    assert not await passes(client, path="a", content="2")
    lines = await wrapped.app.store.read(
        Single(bind_marks("SELECT kind FROM events WHERE kind LIKE 'tool_rule%' ORDER BY seq"))
    )
    assert [row["kind"] for row in lines] == ["tool_rule_set", "tool_rule_set", "tool_rule_ended"]


async def test_observing_asks_nothing_and_proposes_rules_that_cover_what_they_say(wrapped: Wrapped) -> None:
    client = await wrapped.open(trust=True, observe=True)
    calls = ["notes/a", "notes/b", "/etc/x"]
    for path in calls:
        assert said(await client.call("store", path=path, content="")) == "store done"
    assert await wrapped.waiting() == []
    proposed = (Path(wrapped.app.settings.data_dir) / "proposed-rules" / "notes.toml").read_text()
    assert "3 calls of store would have asked; this lets 2 of them pass" in proposed

    await rulebook.set_rules(
        wrapped.app.owner_services, wrapped.workspace_id, tomllib.loads(proposed), by="Ada"
    )

    enforcing = await wrapped.open(trust=True)
    assert [await passes(enforcing, path=path, content="1") for path in calls] == [True, True, False]
    for each in (client, enforcing):
        await each.close()


async def test_a_tool_is_always_asked_about_after_three_clicks_and_passes_only_by_a_signature(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.names()
    entropy, now_ms = os.urandom(people.ENTROPY_BYTES), wrapped.clock.now_ms()
    token = await wrapped.app.store.write(lambda: people.issue_link(entropy, now_ms, shown_to="terminal"))
    site = httpx.ASGITransport(app=wrapped.surfaces.site(), client=("127.0.0.1", 50_000))
    async with KeyedBrowser(
        transport=site, base_url=BASE_URL, headers={**BROWSER, "Origin": BASE_URL}
    ) as owner:
        await owner.post(f"/sign-in/{token}", data={"name": "Ada"})
        assert 'href="/settings/keys"' in (await owner.get("/inbox")).text  # the first click
        assert "/agents/tools" in (await owner.get("/settings/keys")).text  # the second one

        async def choose(tool: str, mode: str) -> httpx.Response:
            shown = forms((await owner.get("/agents/tools")).text)
            form = next(each for each in shown if each.fields.get("tool") == f"notes {tool}")
            return await owner.post(form.address, data={**form.fields, "mode": mode})

        owner.confirms = False
        assert (await choose("look", "gate")).status_code == 303  # the third one
        assert {each.name: each.mode for each in (await read_server(wrapped)).tools}["look"] == "gate"
        asked = await choose("store", "pass")
        assert asked.status_code == 200 and not await passes(client, path="a", content="1")
        assert (await owner.confirm(asked)).status_code == 303
        assert await passes(client, path="a", content="2")
        assert (await choose("store", "odd")).status_code == 404
