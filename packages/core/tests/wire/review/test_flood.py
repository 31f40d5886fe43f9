"""The inbox asks once about a flood of proposals, and one decision rejects or releases all of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from packages.core.tests.wire.review.test_notifications import Posts, told_at
from packages.core.tests.wire.review.test_people_and_approvers import invited
from packages.core.tests.wire.review.test_several_approvers import find_id
from tests.support.opened import on_any_store
from tests.support.own_sql import bind_marks
from tests.support.review.kit import Form, Server, forms, post

from assent.engine.actions import flood
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.people.people import Role
from assent.ports import Transaction

HELD = f"/inbox/held/{LOCAL_WORKSPACE}/local"


server_with_limit = on_any_store(partial(Server, held_after=2))


async def stage_many(server: Server, count: int = 6) -> list[str]:
    found = []
    for number in range(count):
        run = await server.stage(post(body=f"Number {number}. {'It works. ' * 8}"))
        found.append(run.actions[0].id)
        server.clock.advance(seconds=40)
    return found


def _form(page: str, end: str) -> Form:
    [found] = [each for each in forms(page) if each.address == f"{HELD}/{end}"]
    return found


async def test_people_are_told_once_and_the_inbox_has_one_row(server_with_limit: Server) -> None:
    server = server_with_limit
    posts = Posts(server)
    await told_at(server, "email", "ada@example.org")
    ids = await stage_many(server)
    await server.run_jobs()
    owner = await server.owner()
    page = (await owner.get("/inbox")).text

    subjects = [said["subject"] for _, said in posts.sent]
    assert sorted(subjects) == [
        "Many proposals at once",
        "Something waits for your decision",
        "Something waits for your decision",
    ]
    assert all(action_id in page for action_id in ids[:2])
    assert not any(action_id in page for action_id in ids[2:])
    assert "An agent on this computer made 4 more proposals within 2 minutes" in page
    assert "2 things wait for you" in page
    assert HELD in page


async def test_all_that_is_held_is_rejected_in_one_step_and_what_came_later_is_not(
    server_with_limit: Server,
) -> None:
    server = server_with_limit
    ids = await stage_many(server)
    owner = await server.owner()
    shown = (await owner.get(HELD)).text
    assert all(f"Number {number}" in shown for number in range(2, 6))
    server.clock.advance(seconds=1)
    later = (await stage_many(server, 1))[0]
    found = _form(shown, "reject")
    assert (await owner.post(found.address, data=found.fields)).status_code == 400
    answer = await owner.post(found.address, data={**found.fields, "reason": "Stop spamming."})
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox?did=reject&count=4")

    states = [(await server.action(each)).status for each in ids]
    assert states == ["awaiting_approval"] * 2 + ["rejected"] * 4
    assert (await server.action(later)).status == "awaiting_approval"
    assert (await owner.get(HELD)).status_code == 200


async def test_what_is_released_appears_in_the_inbox_one_by_one(server_with_limit: Server) -> None:
    server = server_with_limit
    ids = await stage_many(server)
    owner = await server.owner()
    found = _form((await owner.get(HELD)).text, "release")
    answer = await owner.post(found.address, data=found.fields)
    assert answer.headers["location"] == "/inbox?did=release&count=4"
    page = (await owner.get("/inbox")).text
    assert all(action_id in page for action_id in ids)
    assert (await owner.get(HELD)).status_code == 404


async def test_a_form_of_one_person_decides_for_no_other_and_nobody_else_sees_it(
    server_with_limit: Server,
) -> None:
    server = server_with_limit
    await stage_many(server)
    grace = await invited(server, "Grace")
    assert HELD in (await grace.get("/inbox")).text
    stranger = server.browser()
    assert (await stranger.get(HELD)).status_code == 401
    found = _form((await grace.get(HELD)).text, "release")
    other = await invited(server, "Eve")
    assert (await other.post(found.address, data=found.fields)).status_code == 403


async def test_the_journal_says_what_the_cookie_counted_for(server_with_limit: Server) -> None:
    server = server_with_limit
    ids = await stage_many(server)
    owner = await server.owner()
    found = _form((await owner.get(HELD)).text, "reject")
    await owner.post(found.address, data={**found.fields, "reason": "Stop spamming."})

    action = await server.action(ids[-1])
    [rejected] = [
        facts
        for kind, facts in await server.events(action.run_id)
        if facts.get("reason") == "Stop spamming." and facts.get("actionId") == action.action_id
    ]
    assert (rejected["assurance"], rejected["role"]) == ("client", "owner")


async def test_a_person_who_is_demoted_meanwhile_rejects_no_more(
    server_with_limit: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_with_limit
    ids = await stage_many(server)
    ada = await invited(server, "Ada", Role.OWNER)
    found, person_id = _form((await ada.get(HELD)).text, "reject"), await find_id(server, "Ada")
    reject_some = flood.reject_some

    def reject_and_demote(*about: Any) -> Transaction[int]:
        count = yield from reject_some(*about)
        yield bind_marks("UPDATE people SET role = 'member' WHERE person_id = ?", person_id)
        return count

    monkeypatch.setattr(flood, "PAGE", 2)
    monkeypatch.setattr(flood, "reject_some", reject_and_demote)
    answer = await ada.post(found.address, data={**found.fields, "reason": "Stop spamming."})

    assert answer.status_code == 403
    states = [(await server.action(each)).status for each in ids]
    assert sorted(states) == ["awaiting_approval"] * 4 + ["rejected"] * 2
