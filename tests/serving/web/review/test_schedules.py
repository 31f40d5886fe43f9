"""A form approves the time that it was shown with, on the review page and where several are decided together."""

from __future__ import annotations

from tests.serving.web.review.kit import House, form, forms, post
from tests.serving.web.review.test_inbox import batch
from tests.surfaces import START_MS

from assent.engine.actions import decisions
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId
from assent.kernel.limits import ACTION_TTL_MS, DAY_MS, HOUR_MS, SECOND_MS


async def moved_by_agent(house: House, action_id: str, schedule_ms: int) -> None:
    agent = Decider(LOCAL_WORKSPACE, "key:0011223344556677", Assurance.AGENT, "chat")
    now_ms = house.clock.now_ms()
    await house.app.store.write(
        lambda: decisions.edit(
            agent,
            ActionId(action_id),
            None,
            SeenVersion(),
            lambda action: None,
            now_ms,
            schedule_ms=schedule_ms,
        )
    )


async def test_a_schedule_moved_under_an_open_form_is_refused_and_shown(house_on_any_store: House) -> None:
    house = house_on_any_store
    run = await house.stage(post(schedule_ms=START_MS + 30 * DAY_MS - HOUR_MS))
    owner, action_id = await house.owner(), run.actions[0].id
    old = form(await house.page(owner, run.run_id), action_id, "approve")

    await moved_by_agent(house, action_id, START_MS + 3 * SECOND_MS)
    answer = await owner.post(old.address, data=old.fields)

    assert answer.status_code == 409
    assert "The content changed while you were looking" in answer.text
    assert "Approve for 21 September 2026, 14:13 UTC" in answer.text
    house.clock.advance(hours=1)
    assert await house.run_jobs() == 0
    assert (await house.action(action_id)).status == "awaiting_approval"


async def test_a_schedule_moved_under_the_page_of_several_decides_none_of_them(
    house_on_any_store: House,
) -> None:
    house = house_on_any_store
    run = await house.stage(*(post("site", connector="site", body=f"Note {n}: it works.") for n in (1, 2)))
    owner, ids = await house.owner(), [action.id for action in run.actions]
    asked = await batch(house, owner, "approve", *ids)
    [old] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]

    await moved_by_agent(house, ids[1], START_MS + 3 * SECOND_MS)
    answer = await owner.post(old.address, data=old.fields)

    assert answer.status_code == 409
    assert [(await house.action(each)).status for each in ids] == ["awaiting_approval"] * 2


async def test_the_page_says_that_a_time_after_the_expiry_keeps_it_open(house: House) -> None:
    run = await house.stage(post(schedule_ms=START_MS + ACTION_TTL_MS + 9 * DAY_MS))
    browser = await house.opened(run)
    assert "so it stays open until" in await house.page(browser, run.run_id)


async def test_a_time_that_passed_before_anybody_approved_is_named_as_it_is(house: House) -> None:
    run = await house.stage(post(schedule_ms=START_MS + HOUR_MS))
    browser, action_id = await house.opened(run), run.actions[0].id
    house.clock.advance(hours=2)

    page = await house.page(browser, run.run_id)
    assert "Approve for" not in page
    assert "Approve and send at once" in page
    await house.decide(browser, run.run_id, action_id, "approve")

    await house.run_jobs()
    assert (await house.action(action_id)).status == "executed"


async def test_a_form_from_before_its_time_does_not_send_it_at_once(house: House) -> None:
    run = await house.stage(post(schedule_ms=START_MS + HOUR_MS))
    owner, action_id = await house.owner(), run.actions[0].id
    old = form(await house.page(owner, run.run_id), action_id, "approve")
    house.clock.advance(hours=2)

    answer = await owner.post(old.address, data=old.fields)

    assert answer.status_code == 409
    assert "Approve and send at once" in answer.text
    assert await house.run_jobs() == 0
    assert (await house.action(action_id)).status == "awaiting_approval"


async def test_a_page_of_several_that_names_a_time_that_passed_sends_them_at_once(house: House) -> None:
    times = (START_MS + HOUR_MS, None)
    run = await house.stage(
        *(post("site", connector="site", body=f"Note: {at}.", schedule_ms=at) for at in times)
    )
    owner, ids = await house.owner(), [action.id for action in run.actions]
    early = await batch(house, owner, "approve", *ids)
    house.clock.advance(hours=2)
    late = await batch(house, owner, "approve", *ids)

    for asked, status in ((early, 409), (late, 303)):
        [each] = [each for each in forms(asked.text) if each.address == "/inbox/batch/approve"]
        assert (await owner.post(each.address, data=each.fields)).status_code == status
    assert [(await house.action(each)).status for each in ids] == ["approved"] * 2
