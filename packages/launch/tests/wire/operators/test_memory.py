"""Memory through the tools: people's words are learned, word diffs are not, and no later draft changes a fact."""

from __future__ import annotations

from typing import Any

import pytest
from tests.suite.operators.conftest import CLUB, Loop

from assent.engine.views import memory_views
from assent.kernel.ids import WorkspaceId

ZEPHYR: dict[str, Any] = {
    "brand": {"name": "Zephyr"},
    "repoContext": {
        "whatChanged": "Zephyr for Android now shows gusts.",
        "README": "# Zephyr\n\nZephyr is a wind map for Android phones.\n\n- Offline maps on Android\n",
    },
}


async def post(loop: Loop, body: str, channel: str = "site", **more: Any) -> dict[str, Any]:
    arguments = {"channel": channel, "title": "News", "body": body, **more}
    return (await loop.call("chieflab_post", arguments)).payload


async def edit(loop: Loop, run: dict[str, Any], body: str, **more: Any) -> dict[str, Any]:
    arguments = {"actionId": run["actions"][0]["id"], "body": body, **more}
    return (await loop.call("chieflab_edit_action", arguments)).payload


async def remembered(loop: Loop, **about: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await loop.call("chieflab_brain_read", {"limit": 50, **about})).payload[
        "entries"
    ]
    return entries


def shown(run: dict[str, Any]) -> str:
    return "\n".join(draft["body"] for draft in run["agentGuide"]["renderInChat"].values())


def used(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [use for asset in run["assets"] for use in asset.get("memoryUsed", [])]


def advice(run: dict[str, Any]) -> list[str]:
    return [line for action in run["actions"] for line in action["preflight"]["recommendations"]]


def warnings(run: dict[str, Any]) -> list[str]:
    return [line for action in run["actions"] for line in action["preflight"]["warnings"]]


@pytest.mark.rule("E33")
async def test_what_the_user_asked_for_with_an_edit_is_a_lesson_with_its_origin(loop: Loop) -> None:
    run = await post(loop, "Kettle costs 9 EUR a month.")
    asked = "Always say that prices include tax."
    await edit(loop, run, "Kettle costs 9 EUR a month, tax included.", asked=asked)

    (lesson,) = await remembered(loop, kind="lesson")
    later = await post(loop, "The timer rings twice now.")

    assert (lesson["body"], lesson["actionId"]) == (asked, run["actions"][0]["id"])
    assert "asked" in lesson["source"]
    assert f"Asked before: “{asked}”" in advice(later)
    assert [(use["entryId"], use["kind"]) for use in used(later)] == [(lesson["entryId"], "lesson")]
    assert "The timer rings twice now." in shown(later)
    composed = (await loop.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    assert composed["show"].count(f"Asked before: “{asked}”") == 1
    assert not any("Asked before" in line for line in warnings(composed))


async def test_an_edited_text_is_shown_with_what_was_asked_before(loop: Loop) -> None:
    asked = "Always name the price in euros."
    await edit(loop, await post(loop, "Kettle costs nine."), "Kettle costs 9 EUR.", asked=asked)
    run = await post(loop, "The timer is louder now.")

    answer = await edit(loop, run, "The timer is much louder now.")

    assert answer["show"].count(f"Asked before: “{asked}”") == 1


@pytest.mark.rule("E33")
async def test_a_rejected_wording_is_left_out_of_the_next_launch_and_the_entry_is_named(loop: Loop) -> None:
    first = (await loop.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    assert "bank statements" in shown(first)
    await loop.call(
        "chieflab_reject_action",
        {"actionId": first["actions"][0]["id"], "reason": "Never say “bank statements”."},
    )

    second = (await loop.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload

    assert "bank statements" not in shown(second)
    assert [(use["kind"], "bank statements" in use["how"]) for use in used(second)] == [("rejection", True)]


async def test_a_withdrawn_approval_leaves_no_approved_text_and_a_new_one_does(loop: Loop) -> None:
    action_id = (await post(loop, "Kettle rings."))["actions"][0]["id"]
    await loop.call("chieflab_approve_action", {"actionId": action_id})
    approved = await remembered(loop, kind="approval")
    await loop.call("chieflab_withdraw_approval", {"actionId": action_id})
    withdrawn = await remembered(loop, kind="approval")
    await loop.call("chieflab_approve_action", {"actionId": action_id})

    assert [len(approved), len(withdrawn)] == [1, 0]
    assert len(await remembered(loop, kind="approval")) == 1


async def test_a_text_that_is_approved_again_to_be_done_by_hand_is_remembered_once(loop: Loop) -> None:
    action_id = (await post(loop, "Kettle rings.", "linkedin"))["actions"][0]["id"]
    await loop.call("chieflab_approve_action", {"actionId": action_id})
    handed = (await loop.call("chieflab_use_manual_fallback", {"actionId": action_id})).payload
    await loop.call("chieflab_approve_action", {"actionId": action_id, "digest": handed["digest"]})

    assert len(await remembered(loop, kind="approval")) == 1


MAIL: dict[str, Any] = {
    "to": ["dana@example.org"],
    "subject": "Your refund",
    "body": "Hi Dana,\n\nyou were charged twice in October. I have refunded 18 EUR today.\n\nBest wishes,\nKim",
}


async def test_a_mail_to_named_people_is_neither_checked_as_marketing_nor_remembered(loop: Loop) -> None:
    mail = (await loop.call("chieflab_send", MAIL)).payload
    action_id = mail["actions"][0]["id"]
    changed = MAIL["body"].replace("I have", "We have")
    edited = await edit(loop, mail, changed, asked="Say we.")
    await loop.call("chieflab_approve_action", {"actionId": action_id, "digest": edited["digest"]})
    await loop.call("chieflab_withdraw_approval", {"actionId": action_id})
    await loop.call("chieflab_reject_action", {"actionId": action_id, "reason": "Too long."})

    record = (await loop.call("chieflab_get_action", {"actionId": action_id})).payload

    assert warnings(mail) == []
    assert record["preflight"]["warnings"] == []
    assert await remembered(loop) == []


async def test_a_mail_to_many_or_of_a_launch_is_checked_and_remembered(loop: Loop) -> None:
    many = {**MAIL, "to": [f"reader{n}@example.org" for n in range(51)], "body": "Kettle is the best timer."}
    launch = (
        await loop.call(
            "chieflab_launch_product",
            {"channels": ["email"], "email": {"to": ["dana@example.org"]}, **CLUB},
        )
    ).payload
    await loop.call("chieflab_approve_action", {"actionId": launch["actions"][0]["id"]})
    checked = (await loop.call("chieflab_send", many)).payload

    assert any("best timer" in line for line in warnings(checked))
    assert len(await remembered(loop, kind="approval")) == 1


async def test_a_recorded_fact_is_no_evidence_before_a_person_confirms_it(loop: Loop) -> None:
    kept = (
        await loop.call("chieflab_brain_record", {"kind": "proof", "body": "Forty clubs keep books with it."})
    ).payload
    unsure = (await loop.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    workspace_id, entry_id = WorkspaceId(str(loop.workspace_id)), kept["entries"][0]["entryId"]
    await loop.app.store.write(
        lambda: memory_views.decide(workspace_id, entry_id, "confirmed", "Ada", loop.clock.now_ms())
    )
    sure = (await loop.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload

    assert "a person confirms it" in kept["show"] and "/memory" in kept["show"]
    assert used(unsure) == []
    assert [use["entryId"] for use in used(sure)] == [entry_id]
    assert "Forty clubs keep books with it." in shown(sure)


async def test_claims_and_lessons_that_an_agent_recorded_leave_no_fact_out(loop: Loop) -> None:
    before = (await loop.call("chieflab_post", {"channel": "linkedin", **ZEPHYR})).payload
    for kind, body in (
        ("claim_risk", "Zephyr is a wind map for Android phones."),
        ("lesson", "Never say “gusts”."),
    ):
        await loop.call("chieflab_brain_record", {"kind": kind, "body": body})

    run = (await loop.call("chieflab_post", {"channel": "linkedin", **ZEPHYR})).payload

    assert shown(run) == shown(before)
    assert any("Never say “gusts”." in line for line in advice(run))


async def test_a_contact_is_not_remembered(loop: Loop) -> None:
    contact = {"email": "dana@example.org", "firstName": "Dana", "phone": "0664 1234567"}
    run = (await loop.call("chieflab_save_contacts", {"contacts": [contact]})).payload
    action_id = run["actions"][0]["id"]
    approved = (await loop.call("chieflab_approve_action", {"actionId": action_id})).payload
    await loop.call("chieflab_withdraw_approval", {"actionId": action_id})
    await loop.call("chieflab_reject_action", {"actionId": action_id, "reason": "Never say Dana."})

    assert approved["status"] == "approved"
    assert await remembered(loop) == []


async def test_a_composed_mail_that_became_personal_is_not_remembered(loop: Loop) -> None:
    given = {"to": ["dana@example.org"], "repoContext": CLUB["repoContext"]}
    mail = (await loop.call("chieflab_send", given)).payload
    body = "Hi Dana,\n\nyour biopsy is the best news of the year.\n\nKim"
    edited = await edit(loop, mail, body, asked="Never name the biopsy.")
    action_id = mail["actions"][0]["id"]
    await loop.call("chieflab_approve_action", {"actionId": action_id, "digest": edited["digest"]})

    record = (await loop.call("chieflab_get_action", {"actionId": action_id})).payload

    assert record["status"] == "approved"
    assert record["preflight"]["warnings"] == []
    assert await remembered(loop) == []


async def test_a_mail_of_a_launch_that_was_edited_leaves_only_the_request(loop: Loop) -> None:
    arguments = {"channels": ["email"], "email": {"to": ["dana@example.org"]}, **CLUB}
    launch = (await loop.call("chieflab_launch_product", arguments)).payload
    edited = await edit(loop, launch, "Hi Dana,\n\nthe import is ready.", asked="Always name the price.")
    action_id = launch["actions"][0]["id"]
    await loop.call("chieflab_approve_action", {"actionId": action_id, "digest": edited["digest"]})

    assert [entry["kind"] for entry in await remembered(loop)] == ["lesson"]


async def test_a_measured_personal_mail_is_no_memory_and_no_baseline(loop: Loop) -> None:
    loop.mail.metrics = {"delivered": 1, "opened": 1}
    launch = (
        "chieflab_launch_product",
        {"channels": ["email"], "email": {"to": ["dana@example.org"]}, **CLUB},
    )
    earlier_runs = []
    for tool, arguments in (("chieflab_send", MAIL), launch, launch, ("chieflab_send", MAIL)):
        run = (await loop.call(tool, arguments)).payload
        await loop.approve_and_send(run["actions"][0]["id"])
        loop.clock.advance(days=2)
        found = (await loop.call("chieflab_measure", {"runId": run["runId"]})).payload["measurement"]
        earlier_runs.append({each["runs"] for each in found["baseline"]})

    assert earlier_runs == [set(), set(), {1}, set()]
    assert len(await remembered(loop, kind="channel_performance")) == 2


async def test_a_number_of_the_goal_is_given_beside_the_goal_of_the_repository(loop: Loop) -> None:
    body = "Ledgerleaf imports bank statements. 4,000 clubs use Ledgerleaf."
    given = {**CLUB, "goal": "say that 4,000 clubs use Ledgerleaf"}
    given.pop("brand")
    run = (await loop.call("chieflab_post", {"channel": "linkedin", "body": body, **given})).payload
    other = body.replace("4,000 clubs", "4,000 banks")
    edited = await edit(loop, run, other)
    record = (await loop.call("chieflab_get_action", {"actionId": edited["actionId"]})).payload

    assert not any("4,000" in line for line in warnings(run))
    assert any("4,000 banks" in line for line in record["preflight"]["warnings"])
