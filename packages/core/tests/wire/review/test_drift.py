"""A person who approves on the page sees what has changed first, and is told when an approved action stops."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from packages.core.tests.wire.review.test_notifications import Posts, told_at
from tests.support.review.kit import Provider, Server, post

from assent.gate.preflight import Readiness
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


class Slate(Provider):
    """A provider whose effects show what they would replace."""

    rereads = True
    present = "The old text."

    async def addressed(self, workspace_id: WorkspaceId, effect: Effect) -> Effect:
        return msgspec.structs.replace(effect, details={"present": self.present})

    async def readiness_for(self, workspace_id: WorkspaceId, effect: Effect) -> Readiness:
        return self.ready


P = TypeVar("P", bound=Provider)


def connect(server: Server, provider: P) -> P:
    connectors: Any = server.services.connectors
    connectors[provider.id] = provider
    return provider


def with_wall(server: Server) -> Wall:
    wall = connect(server, Wall("zernio"))
    wall.state = {"version": 3}
    return wall


async def test_what_it_would_replace_is_read_again_and_shown_before_an_approval_counts(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    slate = connect(server, Slate("zernio"))
    run = await server.stage(post())
    action_id = run.actions[0].id
    owner = await server.owner()
    assert "The old text." in await server.page(owner, run.run_id)
    slate.present = "Someone else's text."

    answer = await server.decide(owner, run.run_id, action_id, "approve", then="send")
    assert answer.status_code == 409
    assert "was The old text. and is now Someone else" in answer.text
    assert (await server.action(action_id)).status == "awaiting_approval"
    await server.run_jobs()
    assert slate.done == []

    page = await server.page(owner, run.run_id)
    assert "Someone else&#39;s text." in page and "The old text." not in page
    answer = await server.decide(owner, run.run_id, action_id, "approve", then="send")
    assert answer.status_code == 303, answer.text
    await server.run_jobs()
    assert len(slate.done) == 1


async def test_a_planned_post_that_stops_notifies_people_and_the_inbox_says_why(
    server_on_any_store: Server,
) -> None:
    server = server_on_any_store
    wall, posts = with_wall(server), Posts(server)
    await told_at(server, "email", "ada@example.org")
    run = await server.stage(post(schedule_ms=server.clock.now_ms() + IN_AN_HOUR_MS))
    action_id = run.actions[0].id
    owner = await server.owner()
    assert (await server.decide(owner, run.run_id, action_id, "approve")).status_code == 303
    wall.state["version"] = 4
    server.clock.advance(hours=1)
    await server.run_jobs()
    posts.sent.clear()
    await server.run_jobs()

    assert wall.done == []
    assert [said["subject"] for _, said in posts.sent] == ["Something did not go out"]
    inbox = (await owner.get("/inbox")).text
    assert "Not sent, it needs a new approval. “version” was 3 and is now 4." in inbox
    page = await server.page(owner, run.run_id)
    assert "“version” was 3 and is now 4." in page
    answer = await server.decide(owner, run.run_id, action_id, "approve")
    assert answer.status_code == 303, answer.text
    await server.run_jobs()
    assert len(wall.done) == 1
