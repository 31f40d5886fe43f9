"""What people see and can do while sending is frozen."""

from __future__ import annotations

from typing import Any

import pytest
from packages.core.tests.wire.review.test_inbox import batch
from packages.core.tests.wire.review.test_people_and_approvers import invited
from tests.support.keys import make_key, rotate_key
from tests.support.promises import find_promises
from tests.support.review.kit import Server, forms, post

from assent.engine.core import freezes, tenancy
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.records import Action
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import DAY_MS
from assent.kernel.refusals import Reason
from assent.ports import NotSent, OutcomeUnknown
from assent.serving.web.review.decisions import DECISIONS


async def test_every_page_says_that_nothing_is_sent_and_why(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run = await server.stage(post())
    owner = await server.owner()
    paths = ("/inbox", "/operations", "/audit", f"/runs/{run.run_id}")
    for path in paths:
        assert 'id="frozen"' not in (await owner.get(path)).text, path
    now_ms, why = server.clock.now_ms(), "a <b>wrong</b> price"
    await server.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, now_ms, by="cli", why=why))
    for path in paths:
        page = (await owner.get(path)).text
        assert 'id="frozen"' in page, path
        assert "a &lt;b&gt;wrong&lt;/b&gt; price" in page, path
    assert "All sending was stopped by" in (await owner.get("/audit")).text


def fail(error: Exception) -> Any:
    def then(action: Action) -> Any:
        raise error

    return then


@pytest.mark.parametrize("where", [SYSTEM_WORKSPACE, LOCAL_WORKSPACE])
async def test_no_decision_on_a_page_acts_and_no_page_promises_that_something_goes_out(
    server: Server, where: Any
) -> None:
    """Every decision there is, about an action in every state that a page decides about."""
    owner, due_ms = await server.owner(), server.clock.now_ms() + 3 * DAY_MS
    run = await server.stage(
        *(post(body=f"Note {number} about the importer.") for number in range(6)),
        post("site", connector="site", body="A note for the own site."),
        post("site", connector="site", body="A note for later.", schedule_ms=due_ms),
    )
    waiting, approved, retried, unknown, failed, late, low, planned = (each.id for each in run.actions)
    errors = {
        retried: NotSent("too many", retry=True, reason=Reason.RATE_LIMITED),
        unknown: OutcomeUnknown("lost"),
        failed: NotSent("no"),
    }
    for action_id, error in errors.items():
        server.provider.then = fail(error)
        await server.decide(owner, run.run_id, action_id, "approve", then="send")
        await server.run_jobs()
    await server.decide(owner, run.run_id, approved, "approve")
    calls, now_ms = len(server.provider.done), server.clock.now_ms()
    await server.app.store.write(lambda: freezes.freeze(where, now_ms, by="cli", why="a wrong price"))

    pages = {}
    asked = await batch(server, owner, "approve", low, planned)
    pages["batch"] = asked.text
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
    done = await owner.post(sure.address, data={**sure.fields, "then": "send"})
    pages["after the batch"] = (await owner.get(done.headers["location"])).text
    await server.decide(owner, run.run_id, late, "approve", then="send")
    for action_id in (waiting, approved, retried, unknown, failed, late):
        for decision in DECISIONS:
            offered = [
                each
                for each in forms(await server.page(owner, run.run_id))
                if (each.action_id, each.decision) == (action_id, decision)
            ]
            for each in offered if decision not in ("reject", "edit", "withdraw") else ():
                answer = await owner.post(each.address, data={**each.fields, "then": "send"})
                if answer.status_code == 303:
                    pages[f"{decision} {action_id}"] = (await owner.get(answer.headers["location"])).text
                else:
                    pages[f"{decision} {action_id}"] = answer.text
            assert decision != "send" or not offered, "a page of a frozen server offers to send"
    for path in (
        "/inbox",
        "/inbox?show=scheduled",
        "/inbox?show=stuck",
        "/runs",
        "/operations",
        f"/runs/{run.run_id}/story",
    ):
        answer = await owner.get(path)
        assert answer.status_code == 200, path
        pages[path] = answer.text
    pages["run"] = await server.page(owner, run.run_id)
    pages["link"] = await server.page(await server.opened(run), run.run_id)
    for _ in range(4):
        server.clock.advance(hours=1)
        await server.run_jobs()
    pages["later"] = await server.page(owner, run.run_id)

    assert len(server.provider.done) == calls
    assert {name: found for name, page in pages.items() if (found := find_promises(page))} == {}
    assert [name for name, page in pages.items() if "a wrong price" not in page] == []


async def test_a_person_stops_sending_and_allows_it_again_with_a_signature(server: Server) -> None:
    owner = await server.owner()

    async def press(address: str, **fields: str) -> int:
        found = next(each for each in forms((await owner.get("/inbox")).text) if each.address == address)
        return (await owner.post(address, data={**found.fields, **fields})).status_code

    async def stopped() -> list[tuple[str, str, str]]:
        found = await server.app.store.read(lambda: freezes.list_in(LOCAL_WORKSPACE))
        return [(each.workspace_id, each.agent, each.why) for each in found]

    owner.confirms = False
    assert await press("/stop", where="server", why="a loop") == 200
    assert await stopped() == [], "a cookie alone stops nothing"
    owner.confirms = True
    for where, why in (("server", "a loop"), ("workspace", "one of us"), ("key:0011", "an agent")):
        assert await press("/stop", where=where, why=why, label="Claude") == 303
    assert await stopped() == [
        (SYSTEM_WORKSPACE, "", "a loop"),
        (LOCAL_WORKSPACE, "", "one of us"),
        (LOCAL_WORKSPACE, "key:0011", "an agent"),
    ]
    page = (await owner.get("/inbox")).text
    assert "a loop." in page and page.count('action="/stop/end"') == 3
    assert "Stop" in (await owner.get("/audit")).text and "of Claude" in (await owner.get("/audit")).text
    for _ in range(3):
        assert await press("/stop/end") == 303
    assert await stopped() == []


async def test_a_member_stops_the_workspace_and_ends_only_what_they_stopped(server: Server) -> None:
    await server.stage(post())
    member, address = await invited(server, "Bo"), server.clock.now_ms()
    page = (await member.get("/inbox")).text
    [form] = {each.address: each for each in forms(page) if each.address == "/stop"}.values()
    answer = await member.post("/stop", data={**form.fields, "where": "server"})
    assert answer.status_code == 403
    assert (await member.post("/stop", data={**form.fields, "where": "workspace"})).status_code == 303
    assert 'action="/stop/end"' in (await member.get("/inbox")).text
    assert (await member.post("/stop/end", data={**form.fields, "where": "workspace"})).status_code == 303
    await server.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, address, by="Ada", why=""))
    assert 'action="/stop/end"' not in (await member.get("/inbox")).text
    assert (await member.post("/stop/end", data={**form.fields, "where": "workspace"})).status_code == 403
    assert await server.app.store.read(lambda: freezes.find(LOCAL_WORKSPACE)) is not None


@pytest.mark.parametrize("name", ["Ada", "cli"])
async def test_a_member_ends_no_stop_by_taking_the_name_of_who_set_it(server: Server, name: str) -> None:
    """A person's that is free again, or that of a command."""
    await server.stage(post())
    member, now_ms = await invited(server, name), server.clock.now_ms()
    await server.app.store.write(lambda: freezes.freeze(LOCAL_WORKSPACE, now_ms, by=name, why=""))
    form = next(each for each in forms((await member.get("/inbox")).text) if each.address == "/stop")
    answer = await member.post("/stop/end", data={**form.fields, "where": "workspace"})
    assert answer.status_code == 403
    assert await server.app.store.read(lambda: freezes.find(LOCAL_WORKSPACE)) is not None


async def test_stop_on_the_page_of_agents_names_the_first_of_the_keys_that_replaced_each_other(
    server: Server,
) -> None:
    first = await make_key(server.app, label="Claude")
    await rotate_key(server.app, first)
    known = tenancy.parse_key(first)
    assert known is not None
    page = (await (await server.owner()).get("/settings/keys")).text
    agents = {each.fields.get("where") for each in forms(page) if each.address == "/stop"}
    assert {each for each in agents if each and each.startswith("key:")} == {f"key:{known.key_id}"}
