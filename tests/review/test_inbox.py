"""What waits for the owner of the server, in every workspace."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.review.kit import House, mail, post
from tests.surfaces import START_MS

from assent.engine import staging, tenancy
from assent.engine.staging import PreparedRun, Request
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import HOUR_MS
from assent.lifecycle.records import Severity
from assent.ports import OutcomeUnknown, Preparation, StagedEffect

LINE = re.compile(r'class="inbox-line" href="(/runs/[^"#]+)#action-([^"]+)"')


async def stage_in(house: House, name: str, *effects: StagedEffect) -> PreparedRun:
    """A run in a workspace of its own."""
    await house.app.prepare()
    workspace_id = WorkspaceId(house.services.new_id(house.clock.now_ms()))
    now_ms = house.clock.now_ms()
    await house.app.store.write(lambda: tenancy.create_workspace(workspace_id, name, now_ms, by="test"))
    principal = tenancy.Principal(workspace_id, name, None, "live", frozenset())
    request = Request(principal=principal, operator="post", tool="chieflab_post", inputs={})
    return await staging.stage(house.services, request, Preparation(effects=effects), PreparedRun)


async def test_only_a_signed_in_person_sees_it(house: House) -> None:
    run = await house.stage(post())

    assert (await house.browser().get("/inbox")).status_code == 401
    assert (await (await house.opened(run)).get("/inbox")).status_code == 401


async def test_an_empty_inbox_says_how_something_gets_into_it(house: House) -> None:
    page = (await (await house.owner()).get("/inbox")).text

    assert "Nothing waits for you" in page
    assert "let me approve it" in page


async def test_it_lists_what_waits_in_every_workspace_and_leads_to_it(house_on_any_store: House) -> None:
    house = house_on_any_store
    first = await house.stage(post(), mail(60))
    house.clock.advance(seconds=1)
    second = await stage_in(house, "Acme & Sons", post(body="A post of another workspace, ready to be read."))
    owner = await house.owner()

    page = (await owner.get("/inbox")).text

    assert "<title>(3) Inbox" in page
    assert "3 things wait for you" in page
    assert {found[1] for found in LINE.findall(page)} == {
        a.id for run in (first, second) for a in run.actions
    }
    assert "Acme &amp; Sons" in page
    assert "Needs a signed-in person" in page
    for path, _ in LINE.findall(page):
        assert (await owner.get(path)).status_code == 200
    page = (await owner.get(f"/runs/{second.run_id}")).text
    assert "A post of another workspace" in page
    answer = await house.decide(owner, second.run_id, second.actions[0].id, "approve")
    assert answer.status_code == 303


async def test_what_is_decided_or_expired_is_not_in_it_and_unknown_outcomes_come_first(
    house_on_any_store: House,
) -> None:
    house = house_on_any_store
    run = await house.stage(
        post("linkedin"), post("x"), post("threads"), post("bluesky", expires_ms=START_MS + HOUR_MS)
    )
    owner = await house.owner()
    await house.decide(owner, run.run_id, run.actions[0].id, "reject", reason="No.")

    def silence(action: object) -> Any:
        raise OutcomeUnknown("lost")

    house.provider.then = silence
    await house.decide(owner, run.run_id, run.actions[2].id, "approve", then="send")
    await house.run_jobs()
    house.clock.advance(hours=1)

    page = (await owner.get("/inbox")).text

    assert [found[1] for found in LINE.findall(page)] == [run.actions[2].id, run.actions[1].id]
    assert "<title>(2) Inbox" in page


async def test_it_is_paged_oldest_first_and_nothing_is_left_out(house_on_any_store: House) -> None:
    house = house_on_any_store
    ids = []
    for _ in range(12):
        run = await house.stage(*(post(severity=Severity.LOW) for _ in range(10)))
        ids += [action.id for action in run.actions]
        house.clock.advance(seconds=1)
    owner = await house.owner()
    seen: list[str] = []
    path: str | None = "/inbox"
    pages = 0
    while path is not None:
        page = (await owner.get(path)).text
        seen += [found[1] for found in LINE.findall(page)]
        after = re.search(r'href="(/inbox\?after=[^"]+)"', page)
        path = after[1] if after is not None else None
        pages += 1

    assert pages == 3
    assert sorted(seen) == sorted(ids)
    assert (await owner.get("/inbox?after=nonsense")).status_code == 200


@pytest.mark.slow
async def test_ten_thousand_waiting_actions_are_no_reason_to_wait(house: House) -> None:
    """Bounded by how much is read, not by a stop-watch: one page of rows, whatever waits behind it."""
    for _ in range(100):
        await house.stage(*(post() for _ in range(100)))
    owner = await house.owner()

    page = (await owner.get("/inbox")).text

    assert "10000 things wait for you" in page
    assert len(LINE.findall(page)) == 50
    assert len(page) < 60_000
