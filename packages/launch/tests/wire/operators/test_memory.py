"""Memory through the tools: people's words are learned, word diffs are not, and no later draft changes a fact."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.operators.fixtures import CLUB, Loop

from assent.kernel.ids import WorkspaceId
from assent_launch.learning import memory_views

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
    return "\n".join(asset["body"] for asset in run["assets"])


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
    assert text_of(composed).count(f"Asked before: “{asked}”") == 1
    assert not any("Asked before" in line for line in warnings(composed))


async def test_an_edited_text_is_shown_with_what_was_asked_before(loop: Loop) -> None:
    asked = "Always name the price in euros."
    await edit(loop, await post(loop, "Kettle costs nine."), "Kettle costs 9 EUR.", asked=asked)
    run = await post(loop, "The timer is louder now.")

    answer = await edit(loop, run, "The timer is much louder now.")

    assert text_of(answer).count(f"Asked before: “{asked}”") == 1


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

    assert all("Unproven" in line for line in warnings(mail))
    assert all("Unproven" in line for line in record["preflight"]["warnings"])
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


async def record(loop: Loop, kind: str, body: str) -> dict[str, Any]:
    return (await loop.call("chieflab_brain_record", {"kind": kind, "body": body})).payload


async def confirm(loop: Loop, entry_id: str) -> None:
    workspace_id, now_ms = WorkspaceId(str(loop.workspace_id)), loop.clock.now_ms()
    await loop.app.store.write(
        lambda: memory_views.decide(workspace_id, entry_id, "confirmed", "Ada", now_ms)
    )


@pytest.mark.rule("E33")
async def test_a_fact_told_in_the_chat_is_used_at_once_and_proves_a_claim_once_a_person_confirms_it(
    loop: Loop,
) -> None:
    claim = "Ledgerleaf imports 9000 bookings in 4 seconds."
    kept = await record(loop, "proof", claim)
    asked = {"channel": "linkedin", "title": "News", "body": claim, **CLUB}

    told = (await loop.call("chieflab_post", asked)).payload
    composed = (await loop.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    await confirm(loop, kept["entries"][0]["entryId"])
    proved = (await loop.call("chieflab_post", {**asked, "body": f"{claim} It does."})).payload

    assert (kept["entries"][0]["state"], "/memory" in kept["agentGuide"]["userMessage"]) == ("proposed", True)
    assert any("9000" in line and "told in the chat" in line for line in warnings(told))
    assert "proof" in {use["kind"] for use in used(composed)} or "9000" in str(composed["outputs"])
    assert not any("told in the chat" in line for line in warnings(proved))


@pytest.mark.rule("E33")
async def test_rules_told_in_the_chat_hold_at_once_stand_in_the_status_and_can_be_forgotten(
    loop: Loop,
) -> None:
    rules = [
        "Never say “game-changer”.",
        "No exclamation marks.",
        "No emojis.",
        "Always sign as the Fernglass crew.",
        "Always end with “fernglass.example”.",
        "We never mention Trello by name",
    ]
    kept = [await record(loop, "brand_voice" if "Trello" in each else "lesson", each) for each in rules]
    broken = await post(loop, "A game-changer! 🎉 Better than Trello.\n\nSam")
    status = (await loop.call("chieflab_status", {})).payload
    told = warnings(broken)

    assert {each["entries"][0]["state"] for each in kept} == {"confirmed"}
    for word in ("game-changer", "exclamation", "emoji", "the Fernglass crew", "fernglass.example"):
        assert any(word in line for line in told), (word, told)
    assert {each["body"] for each in status["extra"]["rules"]} == set(rules)

    first = kept[0]["entries"][0]["entryId"]
    forgotten = (await loop.call("chieflab_brain_forget", {"entryId": first})).payload
    later = await post(loop, "A game-changer for clubs. The Fernglass crew, fernglass.example")
    after = (await loop.call("chieflab_status", {})).payload

    assert forgotten["entry"]["state"] == "retired"
    assert not any("game-changer" in line and "request" in line for line in warnings(later))
    assert {each["body"] for each in after["extra"]["rules"]} == set(rules[1:])


@pytest.mark.rule("E33")
async def test_a_rule_about_the_voice_holds_for_a_personal_mail_and_one_that_cannot_be_checked_says_so(
    loop: Loop,
) -> None:
    kept = await record(loop, "brand_voice", "Always sign as the Fernglass crew.")
    unchecked = await record(loop, "lesson", "Never send e-mails on weekends.")
    signed = {**MAIL, "body": f"{MAIL['body']}\n\nThe Fernglass crew"}

    mails = [(await loop.call("chieflab_send", each)).payload for each in (MAIL, signed)]

    assert [any("the Fernglass crew" in line for line in warnings(mail)) for mail in mails] == [True, False]
    told = [each["agentGuide"]["userMessage"] for each in (kept, unchecked)]
    assert ["cannot check" in each for each in told] == [False, True]


async def test_a_memory_of_another_workspace_cannot_be_forgotten(loop: Loop) -> None:
    for unknown in ("nonsense", "01a1ef00-3774-7150-976e-effc2f0d2ac2"):
        refused = await loop.call("chieflab_brain_forget", {"entryId": unknown})
        assert refused.is_error and refused.payload["problems"][0]["path"] == "entryId"


@pytest.mark.rule("E33")
async def test_a_claim_that_the_user_calls_unproven_is_named_at_once(loop: Loop) -> None:
    await record(loop, "claim_risk", "The fastest ledger for clubs")
    run = await post(loop, "Ledgerleaf is the fastest ledger for clubs.")
    assert any("refused before" in line for line in warnings(run))


@pytest.mark.rule("E33")
async def test_a_writer_reads_the_rules_and_what_people_changed_in_the_last_three_texts(loop: Loop) -> None:
    await record(loop, "lesson", "We say member, not user.")
    for number in range(4):
        run = await post(loop, f"Draft number {number} about the timer.")
        loop.clock.advance(seconds=1)
        await edit(loop, run, f"Text number {number} about the timer, warmer.")
    told = (await loop.call("chieflab_launch_product", {"channels": ["site"], **CLUB})).payload

    assert told["writing"]["rules"] == ["We say member, not user."]
    assert [(each["channel"], each["after"]) for each in told["writing"]["edits"]] == [
        ("site", f"Text number {number} about the timer, warmer.") for number in (1, 2, 3)
    ]


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
    assert all("Unproven" in line for line in record["preflight"]["warnings"])
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
