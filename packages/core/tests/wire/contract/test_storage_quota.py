"""What a workspace may store in a day: counted with every copy, refused as a whole, never in a decision's way."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.contract.talk import RECOVERY_FIELDS
from tests.support.surfaces import Outcome, Surface

from assent.engine.core import quota

LARGE = "word " * 19_000
SMALL = "We shipped it. Read more at https://example.org"
DAY_SECONDS = 86_400


@pytest.fixture
def changed_settings() -> dict[str, Any]:
    return {"storage_quota_mb": 1}


async def prepare(surface: Surface, body: str = LARGE, **more: Any) -> Outcome:
    return await surface.call("chieflab_post", {"channel": "site", "body": body, **more})


async def fill(surface: Surface) -> list[str]:
    """Store until nothing more is taken; the ids of the actions that were."""
    taken: list[str] = []
    while True:
        outcome = await prepare(surface)
        if outcome.is_error:
            assert outcome.reason == "quota_exceeded"
            return taken
        taken.append(outcome.payload["publishAction"]["id"])


async def stored(surface: Surface) -> int:
    assert surface.workspace_id is not None
    workspace_id, now_ms = surface.workspace_id, surface.clock.now_ms()
    return await surface.app.store.read(lambda: quota.read_stored(workspace_id, now_ms))


async def test_the_write_that_would_go_beyond_is_refused_and_leaves_nothing(surface: Surface) -> None:
    await surface.sign_in()
    taken = await fill(surface)
    before = await stored(surface)

    outcome = await prepare(surface, idempotencyKey="again")

    assert outcome.reason == "quota_exceeded"
    assert set(outcome.payload) >= RECOVERY_FIELDS
    assert (outcome.payload["statusCode"], outcome.payload["retryable"]) == (507, True)
    assert 0 < outcome.payload["retryAfterSeconds"] <= DAY_SECONDS
    waiting = await surface.call("chieflab_list_pending_actions", {"limit": 100})
    assert {each["id"] for each in waiting.payload["actions"]} == set(taken)
    assert await stored(surface) == before <= 1_000_000


async def test_every_copy_counts(surface: Surface) -> None:
    await surface.sign_in()

    assert not (await prepare(surface)).is_error
    once = await stored(surface)
    assert not (await prepare(surface, idempotencyKey="kept")).is_error

    assert once > 3 * len(LARGE)
    assert await stored(surface) > 2 * once


async def test_what_is_stored_can_be_approved_and_sent_when_nothing_more_fits(surface: Surface) -> None:
    await surface.sign_in()
    action_id = (await fill(surface))[0]

    approved = await surface.call("chieflab_approve_action", {"actionId": action_id})
    sent = await surface.call("chieflab_publish_approved_post", {"actionId": action_id})

    assert not approved.is_error, approved.payload
    assert not sent.is_error, sent.payload


async def test_an_answer_that_was_given_is_given_again(surface: Surface) -> None:
    await surface.sign_in()
    first = await prepare(surface, SMALL, idempotencyKey="first")
    await fill(surface)

    assert (await prepare(surface, SMALL, idempotencyKey="first")).payload == first.payload


async def test_the_next_day_has_room_again_and_other_workspaces_have_it_always(surface: Surface) -> None:
    await surface.sign_in()
    await fill(surface)
    other = await surface.new_workspace("other")
    outcome = await surface.call("chieflab_post", {"channel": "site", "body": LARGE}, key=other.api_key)
    assert not outcome.is_error

    surface.clock.advance(seconds=(await prepare(surface)).payload["retryAfterSeconds"])

    assert not (await prepare(surface)).is_error


async def test_an_edit_counts_too(surface: Surface) -> None:
    await surface.sign_in()
    action_id = (await fill(surface))[0]
    for number in range(10):
        edited = await surface.call(
            "chieflab_edit_action", {"actionId": action_id, "body": f"{LARGE}{number}"}
        )
        if edited.is_error:
            break

    assert edited.reason == "quota_exceeded"


async def test_a_memory_counts_too(surface: Surface) -> None:
    await surface.sign_in()
    await fill(surface)
    for number in range(100):
        kept = await surface.call("chieflab_add_voice_sample", {"text": f"{number} {LARGE[:9_000]}"})
        if kept.is_error:
            break

    assert kept.reason == "quota_exceeded"


async def test_a_workflow_that_is_begun_counts_too(surface: Surface) -> None:
    await surface.sign_in()
    asked = {"workflowId": "assent.bug-fix", "context": {"notes": "x" * 100_000}}
    for _ in range(20):
        begun = await surface.call("workflow_start", asked)
        if begun.is_error:
            break

    assert begun.reason == "quota_exceeded"
