"""A person who approves on the page sees what has changed first, and is told when an approved action stops."""

from __future__ import annotations

from typing import Any

from tests.serving.web.review.kit import House, Provider, forms, post
from tests.serving.web.review.test_notifications import Posts, told_at

from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId

IN_AN_HOUR_MS = 3_600_000


class Wall(Provider):
    """A provider whose target has a state."""

    observes = True
    state: dict[str, Any] = {"version": 3}

    async def observe(
        self, workspace_id: WorkspaceId, effect: Effect, timeout_seconds: float
    ) -> dict[str, Any]:
        return dict(self.state)


def with_wall(house: House) -> Wall:
    wall = Wall("zernio")
    wall.state = {"version": 3}
    connectors: Any = house.services.connectors
    connectors["zernio"] = wall
    return wall


async def test_what_changed_is_shown_on_the_page_before_an_approval_counts(house_on_any_store: House) -> None:
    house = house_on_any_store
    wall = with_wall(house)
    run = await house.stage(post())
    action_id = run.actions[0].id
    owner = await house.owner()
    page = await house.page(owner, run.run_id)
    assert "has changed since" not in page
    wall.state["version"] = 4
    house.clock.advance(seconds=1)

    answer = await house.decide(owner, run.run_id, action_id, "approve", then="send")
    assert answer.status_code == 409
    assert "was 3 and is now 4" in answer.text
    assert (await house.action(action_id)).status == "awaiting_approval"

    answer = await house.decide(owner, run.run_id, action_id, "approve", then="send")
    assert answer.status_code == 303, answer.text
    await house.run_jobs()
    assert len(wall.done) == 1
    assert "has changed since" not in await house.page(owner, run.run_id)


async def test_a_planned_post_that_stops_notifies_people_and_the_inbox_says_why(
    house_on_any_store: House,
) -> None:
    house = house_on_any_store
    wall, posts = with_wall(house), Posts(house)
    await told_at(house, "email", "ada@example.org")
    run = await house.stage(post(schedule_ms=house.clock.now_ms() + IN_AN_HOUR_MS))
    action_id = run.actions[0].id
    owner = await house.owner()
    assert (await house.decide(owner, run.run_id, action_id, "approve")).status_code == 303
    wall.state["version"] = 4
    house.clock.advance(hours=1)
    await house.run_jobs()
    posts.sent.clear()
    await house.run_jobs()

    assert wall.done == []
    assert [said["subject"] for _, said in posts.sent] == ["Something did not go out"]
    inbox = (await owner.get("/inbox")).text
    assert "Not sent, it needs a new approval. “version” was 3 and is now 4." in inbox
    page = await house.page(owner, run.run_id)
    assert "“version” was 3 and is now 4." in page
    answer = await house.decide(owner, run.run_id, action_id, "approve")
    assert answer.status_code == 303, answer.text
    await house.run_jobs()
    assert len(wall.done) == 1


async def test_together_with_others_nothing_is_approved_that_has_changed(house: House) -> None:
    wall = with_wall(house)
    wall.id = "site"
    connectors: Any = house.services.connectors
    connectors["site"] = wall
    run = await house.stage(post("site", connector="site", title="Note", body="It works."))
    action_id = run.actions[0].id
    owner = await house.owner()
    batch = next(each for each in forms((await owner.get("/inbox")).text) if each.address == "/inbox/batch")
    wall.state["version"] = 4
    picked = {**batch.fields, f"pick.{action_id}": "1", "decision": "approve"}
    confirm = await owner.post(batch.address, data=picked)
    [sure] = [each for each in forms(confirm.text) if each.address == "/inbox/batch/approve"]
    answer = await owner.post(sure.address, data=sure.fields)
    assert answer.status_code == 409
    assert (await house.action(action_id)).status == "awaiting_approval"
