"""What waits for the owner of the server, in every workspace."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from tests.support.keyed_browser import KeyedBrowser
from tests.support.review.kit import Server, forms, mail, post
from tests.support.surfaces import START_MS

from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core import tenancy
from assent.engine.views import inbox
from assent.gate.views import Severity
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import HOUR_MS
from assent.ports import OutcomeUnknown, Preparation, StagedEffect
from assent.use_cases import runs

LINE = re.compile(r'class="inbox-line" href="(/runs/[^"#]+)#action-([^"]+)"')


async def stage_in(server: Server, name: str, *effects: StagedEffect) -> PreparedRun:
    """A run in a workspace of its own."""
    await server.app.prepare()
    workspace_id = WorkspaceId(server.services.new_id(server.clock.now_ms()))
    now_ms = server.clock.now_ms()
    await server.app.store.write(lambda: tenancy.create_workspace(workspace_id, name, now_ms, by="test"))
    principal = tenancy.Principal(workspace_id, name, None, "live", frozenset())
    request = Request(principal=principal, operator="post", tool="chieflab_post", inputs={})
    return await runs.prepare(server.services, request, Preparation(effects=effects), PreparedRun)


async def test_only_a_signed_in_person_sees_it(server: Server) -> None:
    run = await server.stage(post())

    assert (await server.browser().get("/inbox")).status_code == 401
    assert (await (await server.opened(run)).get("/inbox")).status_code == 401


async def test_it_lists_what_waits_in_every_workspace_and_leads_to_it(server_on_any_store: Server) -> None:
    server = server_on_any_store
    first = await server.stage(post(), mail(60))
    server.clock.advance(seconds=1)
    second = await stage_in(
        server, "Acme & Sons", post(body="A post of another workspace, ready to be read.")
    )
    owner = await server.owner()

    page = (await owner.get("/inbox")).text

    assert "<title>(3) Inbox" in page
    assert "3 things wait for you" in page
    assert {found[1] for found in LINE.findall(page)} == {
        a.id for run in (first, second) for a in run.actions
    }
    assert "Acme &amp; Sons" in page
    pane = (await owner.get(f"/inbox/pane/{first.actions[1].id}")).text
    assert "E-mail 60 people" in pane and "A signed-in person" in pane
    for path, _ in LINE.findall(page):
        assert (await owner.get(path)).status_code == 200
    page = (await owner.get(f"/runs/{second.run_id}")).text
    assert "A post of another workspace" in page
    answer = await server.decide(owner, second.run_id, second.actions[0].id, "approve")
    assert answer.status_code == 303


async def test_what_is_decided_or_expired_is_not_in_it_and_unknown_outcomes_come_first(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(
        post("linkedin"), post("x"), post("threads"), post("bluesky", expires_ms=START_MS + HOUR_MS)
    )
    owner = await server.owner()
    await server.decide(owner, run.run_id, run.actions[0].id, "reject", reason="No.")

    def silence(action: object) -> Any:
        raise OutcomeUnknown("lost")

    server.provider.then = silence
    await server.decide(owner, run.run_id, run.actions[2].id, "approve", then="send")
    await server.run_jobs()
    server.clock.advance(hours=1)

    page = (await owner.get("/inbox")).text

    assert [found[1] for found in LINE.findall(page)] == [run.actions[2].id, run.actions[1].id]
    assert "<title>(2) Inbox" in page


async def test_it_is_paged_and_nothing_is_left_out(server_on_any_store: Server) -> None:
    server = server_on_any_store
    ids = []
    for _ in range(12):
        run = await server.stage(*(post(severity=Severity.LOW) for _ in range(10)))
        ids += [action.id for action in run.actions]
        server.clock.advance(seconds=300)  # slowly enough to be no flood
    owner = await server.owner()
    seen: list[str] = []
    path: str | None = "/inbox"
    pages = 0
    while path is not None:
        page = (await owner.get(path)).text
        seen += [found[1] for found in LINE.findall(page)]
        after = re.search(r'rel="next" href="([^"]+)"', page)
        path = after[1] if after is not None else None
        pages += 1

    assert pages == 3
    assert sorted(seen) == sorted(ids)
    for odd in ("?page=nonsense", "?page=999999", "?risk=none&channel=none&workspace=none&q=%25"):
        assert (await owner.get(f"/inbox{odd}")).status_code == 200


async def test_it_goes_by_risk_and_then_by_what_ends_first(server_on_any_store: Server) -> None:
    server = server_on_any_store
    low = await server.stage(post("site", connector="site"))
    medium = await server.stage(post())
    soon = await server.stage(post(expires_ms=START_MS + HOUR_MS))
    high = await server.stage(mail(60))
    owner = await server.owner()

    page = (await owner.get("/inbox")).text

    expected = [run.actions[0].id for run in (high, soon, medium, low)]
    assert [found[1] for found in LINE.findall(page)] == expected
    only = {
        "/inbox?soon=1": [soon],
        "/inbox?risk=high": [high],
        "/inbox?channel=email": [high],
        "/inbox?q=ASSENT+is+here": [high],
        "/inbox?q=100%25": [],
    }
    for path, listed in only.items():
        found = [found[1] for found in LINE.findall((await owner.get(path)).text)]
        assert found == [run.actions[0].id for run in listed], path


async def batch(server: Server, browser: httpx.AsyncClient, decision: str, *picked: str) -> httpx.Response:
    """Select rows and press the button; the page that asks once more."""
    page = (await browser.get("/inbox")).text
    found = next(each for each in forms(page) if each.address == "/inbox/batch")
    nonce = re.search(r'action="/inbox/batch">\s*<input type="hidden" name="nonce" value="([^"]+)"', page)
    assert nonce is not None
    data = {"nonce": nonce[1], "decision": decision, **{f"pick.{each}": "1" for each in picked}}
    return await browser.post(found.address, data=data)


async def test_several_of_low_risk_are_decided_together_after_one_more_look(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    run = await server.stage(
        *(post("site", connector="site", body=f"Note {n}: it works.") for n in (1, 2)),
        post("hn", connector="manual", body="Note 3: it works."),
    )
    ids = [action.id for action in run.actions]
    owner = await server.owner()

    asked = await batch(server, owner, "approve", *reversed(ids))

    assert (asked.status_code, (await server.action(ids[0])).status) == (200, "awaiting_approval")
    assert asked.text.index("Note 1: it") < asked.text.index("Note 2: it") < asked.text.index("Note 3: it")
    assert ">Approve 3, send 2</button>" in asked.text
    assert "script-src 'none'" in asked.headers["content-security-policy"]
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
    answer = await owner.post(sure.address, data=sure.fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox?did=approve&count=3")
    for action_id in ids:
        action = await server.action(action_id)
        assert action.approval is not None
        assert (action.status, action.approval.assurance) == ("approved", "client")


async def test_what_was_only_approved_waits_with_the_agent_and_is_sent_together(server: Server) -> None:
    run = await server.stage(*(post(body=f"Note {n}: it works.") for n in range(3)))
    owner = await server.owner()
    for action in run.actions:
        await server.decide(owner, run.run_id, action.id, "approve")

    page = (await owner.get("/inbox")).text

    assert 'id="with-agent"' in page and 'id="stopped"' not in page
    assert 'Needs you <span class="number">0</span>' in page
    [sends] = [each for each in forms(page) if each.address == "/inbox/batch/send"]
    assert (await owner.post(sends.address, data=sends.fields)).status_code == 303
    await server.run_jobs()
    assert {(await server.action(each.id)).status for each in run.actions} == {"executed"}


async def test_several_at_once_are_refused_where_they_differ_or_have_changed(server: Server) -> None:
    run = await server.stage(
        post("site", connector="site", title="One"),
        post("site", connector="site", title="Two"),
        post(),
        post("hn", connector="manual"),
    )
    first, second, medium, other = (action.id for action in run.actions)
    owner = await server.owner()

    for picked in ((first, medium), (other, medium), (medium,), (), ("nonsense",), (run.run_id,)):
        assert (await batch(server, owner, "approve", *picked)).status_code == 400, picked
    asked = await batch(server, owner, "reject", first, second)
    [sure] = [each for each in forms(asked.text) if each.address == "/inbox/batch/reject"]
    assert (await owner.post(sure.address, data=sure.fields)).status_code == 400
    forged = {**sure.fields, "reason": "No.", f"digest.{medium}": (await server.action(medium)).digest}
    assert (await owner.post(sure.address, data=forged)).status_code == 403
    edit = await server.decide(owner, run.run_id, second, "edit", body="Another text by now, and a good one.")
    assert edit.status_code == 303
    answer = await owner.post(sure.address, data={**sure.fields, "reason": "No."})
    assert answer.status_code == 409
    assert (await server.action(first)).status == "awaiting_approval"


async def test_a_filter_by_channel_reads_a_part_of_what_waits_and_leads_on_to_the_rest(
    server_on_any_store: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_on_any_store
    monkeypatch.setattr(inbox, "MOST_SEARCHED", 2)
    runs = []
    for channel in ("linkedin", "linkedin", "x"):
        runs.append(await server.stage(post(channel, body="A draft for the shelf.")))
        server.clock.advance(seconds=1)
    owner = await server.owner()

    first = (await owner.get("/inbox?channel=x")).text
    assert "Searched 2 of 3" in first and f"row-{runs[2].actions[0].id}" not in first
    onwards = re.search(r'href="(/inbox\?channel=x&amp;first=2)"', first)
    assert onwards is not None
    second = (await owner.get(onwards[1].replace("&amp;", "&"))).text
    assert f"row-{runs[2].actions[0].id}" in second and "Searched" not in second


async def test_two_workspaces_have_one_choice_of_a_workspace_on_every_screen(server: Server) -> None:
    await server.stage(post())
    owner = await server.owner()
    other = WorkspaceId(server.services.new_id(server.clock.now_ms()))
    await server.app.store.write(
        lambda: tenancy.create_workspace(other, "Second", server.clock.now_ms(), by="test")
    )

    assert (await owner.get("/inbox")).text.count('<select id="of"') == 1
    assert (await owner.get("/runs")).text.count('id="workspace"') == 1


@pytest.mark.parametrize("path", ["/inbox", "/runs"])
async def test_a_page_shows_one_tenant_alone_and_names_each_where_there_are_several(
    server: Server, path: str
) -> None:
    made = {
        tenant: (await server.stage(post(title=f"News {tenant}"), tenant=tenant)).run_id
        for tenant in ("north", "south", None)
    }
    owner = await server.owner()
    pages = {
        tenant: (await owner.get(path, params={"tenant": tenant})).text
        for tenant in ("", "north", "default", "nobody")
    }

    def shown(page: str) -> set[str | None]:
        return {tenant for tenant, run_id in made.items() if f"/runs/{run_id}" in page}

    assert [shown(page) for page in pages.values()] == [{"north", "south", None}, {"north"}, {None}, set()]
    assert "for <bdi>north</bdi>" in pages[""] and "for <bdi>south</bdi>" in pages[""]


async def test_an_agent_is_called_what_its_key_is_called_and_never_by_hex(server: Server) -> None:
    owner = await server.owner()
    issued = await send(owner, "Claude Code")
    agent = server.browser(Authorization=f"Bearer {issued}")
    staged = await agent.post(
        "/api/tools/chieflab_post",
        json={"channel": "site", "title": "Tides", "body": "The tide table is out."},
    )
    run_id, key_id = staged.json()["runId"], issued.split("_")[2]
    for path in ("/inbox", f"/runs/{run_id}", "/audit"):
        page = (await owner.get(path)).text
        assert "Claude Code" in page and f"key {key_id}" not in page, path
        assert "key:" + key_id not in page.replace(f'value="key:{key_id}', ""), path


async def send(owner: KeyedBrowser, label: str) -> str:
    """Make a key on the page; returns it."""
    shown = forms((await owner.get("/settings/keys")).text)
    form = next(each for each in shown if each.address == "/settings/keys")
    made = await owner.post(form.address, data={**form.fields, "label": label, "rights": "all"})
    return "clp_live_" + made.text.partition("clp_live_")[2].partition("<")[0]


async def test_an_agent_on_the_computer_of_the_server_is_called_that(server: Server) -> None:
    await server.stage(post(), post("x"))
    page = (await (await server.owner()).get("/inbox")).text
    assert "From an agent on this computer" in page
