"""Every state of an action is in its section of the status, and in no other."""

from __future__ import annotations

import pytest
from tests.support.actions.kit import APPROVE, BODY, EDIT, OTHER, REJECT, STATES, Gate
from tests.support.answers import calls_of, text_of
from tests.support.edits import edit

from assent.engine.actions import decisions
from assent.engine.core import freezes
from assent.gate.gate import SeenVersion
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId

HOME = {
    "awaiting_approval": "waiting",
    "approved": "approvedNotSent",
    "executing": "approvedNotSent",
    "outcome_unknown": "unknown",
    "retryable": "approvedNotSent",
    "rejected": None,
    "executed": "wentOut",
    "failed": "failed",
}


async def test_every_state_has_one_section_with_a_reason(surface: Gate) -> None:
    brought = {state: await surface.bring_to(state) for state in STATES}

    told = await surface.done("chieflab_status")

    sections = ("wentOut", "approvedNotSent", "waiting", "byHand", "failed", "unknown")
    found = {entry["actionId"]: section for section in sections for entry in told.get(section, ())}
    assert found == {brought[state]: home for state, home in HOME.items() if home is not None}
    for why in (
        "and it goes out, or “withdraw",
        "being sent now",
        "not known whether",
        "last attempt failed",
    ):
        assert why in text_of(told)
    assert calls_of(told)[0]["args"] == {"actionId": brought["outcome_unknown"]}
    assert (told["counts"]["approvedNotSent"], told["counts"]["rejected"]) == (3, 1)


async def test_what_was_approved_and_expired_is_told_and_offered_again(surface: Gate) -> None:
    approved = await surface.approved()
    by_hand = await surface.approved(connector="manual", channel="hn")
    waiting = await surface.staged()
    surface.clock.advance(days=31)

    told = await surface.done("chieflab_status")

    assert {entry["actionId"] for entry in told["expired"]} == {approved, by_hand}
    assert told["counts"]["expired"] == 2 and "Expired" in text_of(told)
    for action_id in (approved, waiting):
        shown = await surface.record(action_id)
        denied = await surface.denied(APPROVE, actionId=action_id)
        assert denied["reason"] == "action_expired"
        for answer in (shown, denied):
            assert [call["name"] for call in calls_of(answer)] == ["chieflab_post"], action_id
            assert calls_of(answer)[0]["args"]["body"] == BODY
        assert "“approve" not in text_of(shown) and "“send" not in text_of(shown)
    names = [call["name"] for call in calls_of(await surface.record(by_hand))]
    assert names == ["chieflab_post", "chieflab_record_manual_publish"]
    surface.clock.advance(days=31)
    assert "expired" not in await surface.done("chieflab_status")


async def test_what_people_rejected_edited_and_asked_for_is_told_with_their_words(surface: Gate) -> None:
    rejected, edited, asked, passed_on = [await surface.staged() for _ in range(4)]
    reviewer, now_ms = surface.someone(name="Bo"), surface.clock.now_ms()

    async def see(action_id: str) -> SeenVersion:
        return SeenVersion(digest=(await surface.stored(action_id)).digest)

    seen, seen_asked = await see(rejected), await see(asked)
    await surface.decide(lambda: decisions.reject(reviewer, ActionId(rejected), "Too loud.", seen, now_ms))
    await edit(surface.app.services, reviewer, ActionId(edited), {"body": OTHER})
    await surface.decide(
        lambda: decisions.ask_for_changes(reviewer, ActionId(asked), "Name the price.", seen_asked, now_ms)
    )
    await surface.done(REJECT, actionId=passed_on, reason="Not this week.")

    told = await surface.done("chieflab_status")

    assert {each["actionId"] for each in told["rejected"]} == {rejected, passed_on}
    assert told["counts"]["rejected"] == 2
    text = text_of(told)
    for words in (
        "by Bo: “Too loud.”",
        "Not this week.",
        "Bo changed the text",
        "changes: “Name the price.”",
    ):
        assert words in text, words
    for action_id, words in (
        (rejected, "Bo rejected it: “Too loud.”."),
        (passed_on, "You rejected it: “Not"),
    ):
        assert (await surface.record(action_id))["userMessage"].startswith(words)
    assert "Bo changed the text." in (await surface.record(edited))["userMessage"]
    surface.clock.advance(days=3)
    assert "rejected" not in await surface.done("chieflab_status")


LIST = "chieflab_list_pending_actions"


@pytest.mark.rule("E62")
async def test_what_a_signed_in_person_sent_back_waits_for_the_agent_and_takes_no_yes_passed_on(
    surface: Gate,
) -> None:
    action_id, other = await surface.staged(), await surface.staged(body=OTHER)
    now_ms = surface.clock.now_ms()

    await surface.decide(
        lambda: decisions.ask_for_changes(
            surface.someone(), ActionId(action_id), "Name the price.", SeenVersion(), now_ms
        )
    )

    listed, told = await surface.done(LIST), await surface.done("chieflab_status")
    assert listed["userMessage"].startswith("One action waits") and "in 1." in listed["userMessage"]
    assert "Name the price." in text_of(listed) + text_of(told)
    offered = {(call["name"], call["args"].get("actionId")) for call in calls_of(listed)}
    assert (EDIT, action_id) in offered and (APPROVE, action_id) not in offered
    assert (APPROVE, other) in offered
    assert calls_of(told)[0]["name"] == EDIT and "1 sent back for changes" in told["userMessage"]

    denied = await surface.denied(APPROVE, actionId=action_id)
    assert denied["reason"] == "requires_approval"
    assert (await surface.record(action_id))["status"] == "awaiting_approval"
    edited = await surface.done(EDIT, actionId=action_id, body="It costs nine euros.")
    assert (await surface.done(APPROVE, **calls_of(edited)[0]["args"]))["status"] == "approved"


async def test_a_person_may_approve_as_it_is_what_a_person_sent_back(surface: Gate) -> None:
    action_id, now_ms = await surface.staged(), surface.clock.now_ms()
    await surface.decide(
        lambda: decisions.ask_for_changes(
            surface.someone(name="Grace"), ActionId(action_id), "Shorter.", SeenVersion(), now_ms
        )
    )

    await surface.approve_as(Assurance.PERSON, action_id)

    assert (await surface.record(action_id))["status"] == "approved"


async def test_a_stop_is_told_first_and_is_not_the_reason_why_a_draft_waits(surface: Gate) -> None:
    await surface.staged()
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(
        lambda: freezes.freeze(surface.workspace_id, now_ms, by="Ada", why="An incident.")
    )

    told = await surface.done("chieflab_status")

    assert told["userMessage"].startswith("Sending is stopped")
    assert "could not go out" not in text_of(told)
