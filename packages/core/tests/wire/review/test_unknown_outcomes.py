"""When it is not known whether something was sent: what was sent and when, and three answers (C8, C10)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.review.kit import Provider, Server, form, forms, post

from assent.engine.actions.staging import PreparedRun
from assent.ports import Delivered, Delivery, OutcomeUnknown


async def lost(server: Server) -> tuple[PreparedRun, str]:
    """A run whose one action may or may not have been sent."""
    run = await server.stage(post())

    def silence(action: object) -> Any:
        raise OutcomeUnknown("no answer within 30 seconds")

    good, server.provider.then = server.provider.then, silence
    await server.decide(await server.opened(run), run.run_id, run.actions[0].id, "approve", then="send")
    await server.run_jobs()
    server.provider.then = good
    assert (await server.action(run.actions[0].id)).execution_state == "outcome_unknown"
    return run, run.actions[0].id


async def test_the_page_says_what_was_sent_and_when_and_asks(server: Server) -> None:
    run, action_id = await lost(server)
    page = await server.page(await server.opened(run), run.run_id)

    assert "We do not know whether this went out" in page
    assert "no answer within 30 seconds" in page
    assert f"{action_id}:1" in page
    assert [each.decision for each in forms(page)] == ["resolve"]
    for answer in ("happened", "did_not_happen", "not_yet_known"):
        assert f'value="{answer}"' in page


@pytest.mark.rule("E62")
async def test_that_it_did_not_happen_is_a_signed_in_persons_to_say(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run, action_id = await lost(server)
    browser = await server.opened(run)
    answers = {"outcome": "did_not_happen", "evidence": "Looked at the profile: it is not there."}

    refused = await server.decide(browser, run.run_id, action_id, "resolve", **answers)

    assert refused.status_code == 403
    assert "This needs a signed-in person" in refused.text
    assert 'value="did_not_happen" required checked' in refused.text
    assert (await server.action(action_id)).execution_state == "outcome_unknown"
    kept = form(refused.text, action_id, "resolve").fields
    assert kept["evidence"] == answers["evidence"]

    taken = await server.decide(await server.owner(), run.run_id, action_id, "resolve", **answers)

    assert taken.status_code == 303
    assert (await server.action(action_id)).execution_state == "retryable"
    server.clock.advance(seconds=1)  # the job of each try is named by its time
    await server.decide(browser, run.run_id, action_id, "send")
    await server.run_jobs()
    assert (await server.action(action_id)).status == "executed"
    assert len(server.provider.done) == 2


async def test_that_nobody_can_say_yet_is_kept_and_changes_nothing_else(server_on_any_store: Server) -> None:
    server = server_on_any_store
    run, action_id = await lost(server)
    browser, before = await server.opened(run), await server.action(action_id)

    answer = await server.decide(
        browser,
        run.run_id,
        action_id,
        "resolve",
        outcome="not_yet_known",
        evidence="Their page is down.",
    )

    assert answer.status_code == 303
    assert await server.action(action_id) == before
    kind, facts = (await server.events(run.run_id))[-1]
    assert (kind, facts["evidence"]) == ("outcome_still_unknown", "Their page is down.")
    assert "Their page is down." in await server.page(browser, run.run_id)


async def test_an_answer_needs_a_choice_and_evidence(server: Server) -> None:
    run, action_id = await lost(server)
    browser = await server.opened(run)
    before = await server.everything()

    for fields in (
        {"evidence": "x"},
        {"outcome": "maybe", "evidence": "x"},
        {"outcome": "happened", "evidence": " "},
        {"outcome": "happened", "evidence": "x" * 2_001},
    ):
        answer = await server.decide(browser, run.run_id, action_id, "resolve", **fields)
        assert answer.status_code == 400

    assert await server.everything() == before


async def test_a_person_lets_the_provider_be_asked_at_once(
    server_on_any_store: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed in, of a provider that can be asked, also after the job that asks has ended."""
    server = server_on_any_store
    run, action_id = await lost(server)
    assert "look_now" not in [
        each.decision for each in forms(await server.page(await server.opened(run), run.run_id))
    ]
    owner = await server.owner()
    assert "look_now" not in [each.decision for each in forms(await server.page(owner, run.run_id))]
    monkeypatch.setattr(Provider, "delivery", Delivery("read_back"))
    found = Delivered("post-7", "https://social.example/posts/7")

    async def look_up(self: Provider, ctx: object, effect: object) -> Delivered:
        return found

    monkeypatch.setattr(Provider, "look_up", look_up)

    answer = await server.decide(owner, run.run_id, action_id, "look_now")

    assert (answer.status_code, "did=look_now" in answer.headers["location"]) == (303, True)
    assert "had the provider asked at once" in await server.page(owner, run.run_id)
    await server.run_jobs()
    action = await server.action(action_id)
    assert (action.status, action.external_id, len(server.provider.done)) == ("executed", "post-7", 1)
