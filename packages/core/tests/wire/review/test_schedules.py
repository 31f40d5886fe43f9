"""A form approves the time that it was shown with, on the review page and where several are decided together."""

from __future__ import annotations

from packages.core.tests.wire.review.test_inbox import batch
from tests.support.review.kit import Server, form, forms, post
from tests.support.surfaces import START_MS

from assent.kernel.limits import ACTION_TTL_MS, DAY_MS, HOUR_MS


async def test_the_page_says_that_a_time_after_the_expiry_keeps_it_open(server: Server) -> None:
    run = await server.stage(post(schedule_ms=START_MS + ACTION_TTL_MS + 9 * DAY_MS))
    browser = await server.opened(run)
    assert "so it stays open until" in await server.page(browser, run.run_id)


async def test_a_time_that_passed_before_anybody_approved_is_named_as_it_is(server: Server) -> None:
    run = await server.stage(post(schedule_ms=START_MS + HOUR_MS))
    browser, action_id = await server.opened(run), run.actions[0].id
    server.clock.advance(hours=2)

    page = await server.page(browser, run.run_id)
    assert "Approve for" not in page
    assert "Approve and send at once" in page
    await server.decide(browser, run.run_id, action_id, "approve")

    await server.run_jobs()
    assert (await server.action(action_id)).status == "executed"


async def test_a_form_from_before_its_time_does_not_send_it_at_once(server: Server) -> None:
    run = await server.stage(post(schedule_ms=START_MS + HOUR_MS))
    owner, action_id = await server.owner(), run.actions[0].id
    old = form(await server.page(owner, run.run_id), action_id, "approve")
    server.clock.advance(hours=2)

    answer = await owner.post(old.address, data=old.fields)

    assert answer.status_code == 409
    assert "Approve and send at once" in answer.text
    assert await server.run_jobs() == 0
    assert (await server.action(action_id)).status == "awaiting_approval"


async def test_a_page_of_several_that_names_a_time_that_passed_sends_them_at_once(server: Server) -> None:
    times = (START_MS + HOUR_MS, None)
    run = await server.stage(
        *(post("site", connector="site", body=f"Note: {at}.", schedule_ms=at) for at in times)
    )
    owner, ids = await server.owner(), [action.id for action in run.actions]
    early = await batch(server, owner, "approve", *ids)
    server.clock.advance(hours=2)
    late = await batch(server, owner, "approve", *ids)

    for asked, status in ((early, 409), (late, 303)):
        [each] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
        assert (await owner.post(each.address, data=each.fields)).status_code == status
    assert [(await server.action(each)).status for each in ids] == ["approved"] * 2


async def test_what_is_approved_for_later_is_not_sent_after_changes_were_asked_for(server: Server) -> None:
    run = await server.stage(post(schedule_ms=START_MS + HOUR_MS))
    owner, action_id = await server.owner(), run.actions[0].id
    await server.decide(owner, run.run_id, action_id, "approve")
    await server.decide(owner, run.run_id, action_id, "ask", text="Shorter.")
    server.clock.advance(hours=2)
    await server.run_jobs()

    assert server.provider.done == []
    assert (await server.action(action_id)).status == "awaiting_approval"
