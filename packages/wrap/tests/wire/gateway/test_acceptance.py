"""What a person accepts is what happens: one question about the new and changed tools of a server, which shows all that
it accepts and says what their calls do afterwards."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.keyed_browser import is_confirm_page
from tests.support.review.kit import form
from tests.support.wrap.kit import FrontClient, Wrapped

from assent.engine.core import quota
from assent.gate.records import Action
from assent_wrap import repository
from assent_wrap.effects import read_acceptance

pytestmark = pytest.mark.usefixtures("no_caches")
READS = {"readOnlyHint": True}
OTHER = {"description": "Does it in another way."}
PASS = '[notes.tools.store]\nmode = "pass"\n'


def made(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


async def ask(wrapped: Wrapped, client: FrontClient, **wants: Any) -> Action:
    """Let the server change, and return the one question about it."""
    wrapped.want(**wants)
    await client.names()
    (waiting,) = await wrapped.waiting()
    return await wrapped.stored(waiting["id"])


def names_of(action: Action) -> dict[str, bool]:
    """The tools of a question, with whether it says that their calls are made without asking."""
    return {each.name: each.passes for each in read_acceptance(action.effect).tools}


def read_headings(page: str) -> list[str]:
    return [html.unescape(re.sub(r"<[^>]+>", "", each)) for each in re.findall(r"<h1.*?</h1>", page, re.S)]


def read_dangers(page: str) -> str:
    return " ".join(re.findall(r'<div class="callout danger" role="alert">.*?</div>', page, re.S))


@pytest.mark.parametrize(
    ("order", "tool"),
    [({"trust": True}, "look"), ({"rules": PASS}, "store"), ({"observe": True}, "remove")],
    ids=["a hint since the first list", "a rule", "observing"],
)
async def test_a_definition_whose_calls_pass_says_so_as_danger_on_the_page_and_on_the_confirm_page(
    wrapped: Wrapped, order: dict[str, Any], tool: str
) -> None:
    client = await wrapped.open(**order)
    await client.names()
    question = await ask(wrapped, client, tools={tool: OTHER})
    assert names_of(question) == {tool: True}
    assert "without asking" in question.view.title and tool in question.view.danger

    browser = await wrapped.owner()
    page = (await browser.get(f"/runs/{question.run_id}")).text
    assert read_headings(page) == [question.view.title] and tool in read_dangers(page)
    browser.confirms = False
    wanted = form(page, question.action_id, "approve")
    asked = await browser.post(wanted.address, data=wanted.fields)
    assert is_confirm_page(asked)
    assert read_headings(asked.text) == [question.view.title] and tool in read_dangers(asked.text)
    assert 'class="button danger"' in asked.text

    await browser.confirm(asked)
    await wrapped.run_jobs()
    await client.call(tool, path="a", content="b")
    assert len(wrapped.calls_of(tool)) == 1
    await browser.aclose()
    await client.close()


@pytest.mark.parametrize(
    ("change", "tool"),
    [
        ({"tools": {"store": {"annotations": READS}}}, "store"),
        ({"more": [made("extra", annotations=READS)]}, "extra"),
    ],
    ids=["changed", "new"],
)
async def test_a_hint_that_arrives_later_never_opens_the_gate_and_a_rule_does(
    wrapped: Wrapped, client: FrontClient, change: dict[str, Any], tool: str
) -> None:
    await client.names()
    question = await ask(wrapped, client, **change)
    assert names_of(question) == {tool: False}
    assert question.view.danger == "" and "without" not in f"{question.view.title}{question.view.sentence}"
    await wrapped.approve(question.action_id)

    client.start_call(tool, path="a")
    (asked,) = await wrapped.until_waiting()
    assert asked["type"] == f"notes_{tool}"
    await wrapped.done("chieflab_reject_action", actionId=asked["id"], reason="No.")

    # Nor does it count once it has been there for a while.
    wrapped.clock.advance(seconds=300)
    kept = {"annotations": READS, **OTHER}
    again = {"tools": {"store": kept}} if tool == "store" else {"more": [made("extra", **kept)]}
    question = await ask(wrapped, client, **again)
    assert names_of(question) == {tool: False}
    await wrapped.approve(question.action_id)
    client.start_call(tool, path="b")
    (asked,) = await wrapped.until_waiting()
    assert wrapped.calls_of(tool) == []

    ruled = await wrapped.open(trust=True, rules=f'[notes.tools.{tool}]\nmode = "pass"\n')
    assert not (await ruled.call(tool, path="a")).get("isError")
    assert len(wrapped.calls_of(tool)) == 1
    await ruled.close()


async def test_a_yes_that_did_not_hear_of_a_new_rule_accepts_nothing_and_is_asked_for_again(
    wrapped: Wrapped, client: FrontClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "COMPARED", 1)
    await client.names()
    question = await ask(wrapped, client, tools={"store": OTHER})
    assert names_of(question) == {"store": False}
    ruled = await wrapped.open(rules=PASS)
    wrapped.clock.advance(seconds=1)
    newest = await wrapped.open(environment={"PATH": "/usr/bin"})
    await wrapped.approve(question.action_id)
    assert await wrapped.where(question.action_id) == "failed"
    wrapped.clock.advance(seconds=300)
    assert "store" not in await ruled.names()
    (waiting,) = await wrapped.waiting()
    assert names_of(await wrapped.stored(waiting["id"])) == {"store": True}
    await newest.close()
    await ruled.close()


async def test_new_and_changed_tools_of_a_server_are_one_question_for_every_caller(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.names()
    more = [made(f"extra_{number}") for number in range(22)]
    question = await ask(wrapped, client, tools={"store": OTHER}, more=more)
    assert len(names_of(question)) == 23 and "23" in question.view.title
    other = await wrapped.open(trust=True, environment={"PATH": "/usr/bin"})
    assert "store" not in await other.names()
    assert len(await wrapped.waiting()) == 1
    assert (await wrapped.stored(question.action_id)).digest == question.digest

    browser = await wrapped.owner()
    page = html.unescape((await browser.get(f"/runs/{question.run_id}")).text)
    text = re.sub(r"<[^>]+>", "", page)
    assert all(each in text for each in ("Does it in another way", "Writes a note", "extra_0", "extra_21"))
    await wrapped.approve(question.action_id)
    assert {"store", "extra_0", "extra_21"} <= {*await client.names(), *await other.names()}
    assert await wrapped.waiting() == []
    await browser.aclose()
    await other.close()


async def test_a_server_in_many_folders_is_one_question(wrapped: Wrapped, tmp_path: Path) -> None:
    clients = []
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        clients.append(await wrapped.open(trust=True, cwd=str(folder)))
    await clients[0].names()
    question = await ask(wrapped, clients[0], tools={"store": OTHER})
    for each in clients:
        assert "store" not in await each.names()
    (waiting,) = await wrapped.waiting()
    assert (waiting["id"], (await wrapped.stored(waiting["id"])).revision) == (question.action_id, 1)
    wrapped.clock.advance(seconds=300)
    later = await ask(wrapped, clients[-1], tools={"store": OTHER})
    assert later.action_id == question.action_id
    await wrapped.approve(later.action_id)
    for each in clients:
        assert "store" in await each.names()
        await each.close()


async def test_the_confirm_page_cuts_no_definition(wrapped: Wrapped, client: FrontClient) -> None:
    await client.names()
    words = " ".join(f"word{number}" for number in range(2_000))
    question = await ask(wrapped, client, tools={"store": {"description": words, "annotations": READS}})
    browser = await wrapped.owner()
    browser.confirms = False
    wanted = form((await browser.get(f"/runs/{question.run_id}")).text, question.action_id, "approve")
    asked = await browser.post(wanted.address, data=wanted.fields)
    assert is_confirm_page(asked)
    shown = html.unescape(asked.text)
    assert words in shown and '"readOnlyHint": true' in shown and "foreign_server.py" in shown
    await browser.aclose()


async def test_a_question_follows_the_list_and_a_yes_to_what_it_showed_before_is_refused(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.names()
    first = await ask(wrapped, client, tools={"store": OTHER})
    browser = await wrapped.owner()
    stale = form((await browser.get(f"/runs/{first.run_id}")).text, first.action_id, "approve")
    wrapped.clock.advance(seconds=300)
    second = await ask(wrapped, client, tools={"store": {"description": "Sends it away."}, "look": OTHER})
    assert (second.action_id, second.revision) == (first.action_id, first.revision + 1)
    assert names_of(second) == {"look": True, "store": False}

    refused = await browser.post(stale.address, data=stale.fields)
    assert refused.status_code == 409 and await wrapped.where(first.action_id) == "awaiting_approval"
    await wrapped.approve(second.action_id)
    assert {"store", "look"} <= set(await client.names())
    await browser.aclose()


async def test_a_yes_accepts_what_was_shown_also_if_the_list_has_changed_a_moment_ago(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.names()
    question = await ask(wrapped, client, tools={"store": OTHER})
    same = await ask(wrapped, client, tools={"store": {"description": "Sends it away."}})
    assert same.digest == question.digest
    await wrapped.approve(question.action_id)
    assert "store" not in await client.names()
    wrapped.clock.advance(seconds=300)
    later = await ask(wrapped, client, tools={"store": {"description": "Sends it away."}})
    assert "Does it in another way." in read_acceptance(later.effect).tools[0].before


async def test_what_was_rejected_is_asked_about_again_only_beside_something_new(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.names()
    question = await ask(wrapped, client, tools={"store": OTHER})
    await wrapped.done("chieflab_reject_action", actionId=question.action_id, reason="No.")
    wrapped.clock.advance(seconds=300)
    later = await wrapped.open(trust=True, environment={"PATH": "/usr/bin"})
    assert "store" not in {*await later.names(), *await client.names()}
    assert await wrapped.waiting() == []
    wrapped.clock.advance(seconds=300)
    question = await ask(wrapped, client, tools={"store": OTHER}, more=[made("extra")])
    assert names_of(question) == {"extra": False, "store": False}
    await later.close()


async def test_more_than_a_person_can_read_is_asked_about_in_parts(
    wrapped: Wrapped, client: FrontClient
) -> None:
    await client.names()
    deep: Any = list(range(9_000))
    for _ in range(400):
        deep = [deep]
    more = [made(f"extra_{number}", description="x" * 55_000) for number in range(7)]
    more.append(made("extra_7", deep=deep))
    seen: dict[str, bool] = {}
    for left in (5, 2, 0):
        question = await ask(wrapped, client, more=more)
        details = read_acceptance(question.effect)
        assert details.more == left and not seen.keys() & names_of(question).keys()
        assert sum(len(each.after) + len(each.before) for each in details.tools) <= repository.SHOWN_CHARS
        seen |= names_of(question)
        await wrapped.approve(question.action_id)
        wrapped.clock.advance(seconds=300)
    assert len(seen) == 8 and seen.keys() <= set(await client.names())


async def test_hundreds_of_new_tools_in_each_list_are_one_question_outside_the_quota(
    wrapped: Wrapped, client: FrontClient
) -> None:
    async def read_stored() -> int:
        now_ms = wrapped.clock.now_ms()
        return await wrapped.app.store.read(lambda: quota.read_stored(wrapped.workspace_id, now_ms))

    await client.names()
    before, seconds = await read_stored(), []
    for turn in range(4):
        many = [made(f"t{turn}_{number}", description="One of many. " * 10) for number in range(300)]
        wrapped.want(more=many)
        began = time.perf_counter()
        await client.names()
        seconds.append(time.perf_counter() - began)
        question = await ask(wrapped, client, more=many)
        wrapped.clock.advance(seconds=300)
    assert question.revision == 4 and len(names_of(question)) == 300
    assert await read_stored() == before
    # A question for each tool took 2.5 seconds at best, one question takes 0.06.
    assert min(seconds) < 1
