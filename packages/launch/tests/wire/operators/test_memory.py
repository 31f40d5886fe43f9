"""Memory through the tools: people's words are learned, word diffs are not, and no later draft changes a fact."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.operators.fixtures import CLUB, LaunchClient

from assent.kernel.ids import WorkspaceId
from assent_launch.learning import memory, memory_views

ZEPHYR: dict[str, Any] = {
    "brand": {"name": "Zephyr"},
    "repoContext": {
        "whatChanged": "Zephyr for Android now shows gusts.",
        "README": "# Zephyr\n\nZephyr is a wind map for Android phones.\n\n- Offline maps on Android\n",
    },
}


async def post(client: LaunchClient, body: str, channel: str = "site", **more: Any) -> dict[str, Any]:
    arguments = {"channel": channel, "title": "News", "body": body, **more}
    return (await client.call("chieflab_post", arguments)).payload


async def edit(client: LaunchClient, run: dict[str, Any], body: str, **more: Any) -> dict[str, Any]:
    arguments = {"actionId": run["actions"][0]["id"], "body": body, **more}
    return (await client.call("chieflab_edit_action", arguments)).payload


async def remembered(client: LaunchClient, **about: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (
        await client.call("chieflab_brain_read", {"limit": 50, **about})
    ).payload["entries"]
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
async def test_what_the_user_asked_for_with_an_edit_is_a_lesson_with_its_origin(client: LaunchClient) -> None:
    run = await post(client, "Kettle costs 9 EUR a month.")
    asked = "Always say that prices include tax."
    edited = await edit(client, run, "Kettle costs 9 EUR a month, tax included.", asked=asked)

    (lesson,) = await remembered(client, kind="lesson")
    later = await post(client, "The timer rings twice now.")

    assert (lesson["body"], lesson["actionId"]) == (asked, run["actions"][0]["id"])
    assert "asked" in lesson["source"]
    assert f"Asked before: “{asked}”" in advice(later)
    assert [(use["entryId"], use["kind"]) for use in used(later)] == [(lesson["entryId"], "lesson")]
    assert "The timer rings twice now." in shown(later)
    composed = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    assert text_of(composed).count(f"Asked before: “{asked}”") == 1
    assert not any("Asked before" in line for line in warnings(composed))
    elsewhere = (await client.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    assert "Asked before" not in text_of(elsewhere)
    assert "is kept" in edited["userMessage"]


async def test_an_edited_text_is_shown_with_what_was_asked_before(client: LaunchClient) -> None:
    asked = "Always name the price in euros."
    await edit(client, await post(client, "Kettle costs nine."), "Kettle costs 9 EUR.", asked=asked)
    run = await post(client, "The timer is louder now.")

    answer = await edit(client, run, "The timer is much louder now.")

    assert text_of(answer).count(f"Asked before: “{asked}”") == 1


@pytest.mark.rule("E33")
async def test_a_rejected_wording_is_left_out_of_the_next_launch_and_the_entry_is_named(
    client: LaunchClient,
) -> None:
    first = (await client.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    assert "bank statements" in shown(first)
    await client.call(
        "chieflab_reject_action",
        {"actionId": first["actions"][0]["id"], "reason": "Never say “bank statements”."},
    )

    second = (await client.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload

    assert "bank statements" not in shown(second)
    assert [(use["kind"], "bank statements" in use["how"]) for use in used(second)] == [("rejection", True)]


async def test_a_withdrawn_approval_leaves_no_approved_text_and_a_new_one_does(client: LaunchClient) -> None:
    action_id = (await post(client, "Kettle rings."))["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id})
    approved = await remembered(client, kind="approval")
    await client.call("chieflab_withdraw_approval", {"actionId": action_id})
    withdrawn = await remembered(client, kind="approval")
    await client.call("chieflab_approve_action", {"actionId": action_id})

    assert [len(approved), len(withdrawn)] == [1, 0]
    assert len(await remembered(client, kind="approval")) == 1


async def test_a_text_that_is_approved_again_to_be_done_by_hand_is_remembered_once(
    client: LaunchClient,
) -> None:
    action_id = (await post(client, "Kettle rings.", "linkedin"))["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id})
    handed = (await client.call("chieflab_use_manual_fallback", {"actionId": action_id})).payload
    await client.call("chieflab_approve_action", {"actionId": action_id, "digest": handed["digest"]})

    assert len(await remembered(client, kind="approval")) == 1


MAIL: dict[str, Any] = {
    "to": ["dana@example.org"],
    "subject": "Your refund",
    "body": "Hi Dana,\n\nyou were charged twice in October. I have refunded 18 EUR today.\n\nBest wishes,\nKim",
}


async def test_a_mail_to_named_people_is_neither_checked_as_marketing_nor_remembered(
    client: LaunchClient,
) -> None:
    mail = (await client.call("chieflab_send", MAIL)).payload
    action_id = mail["actions"][0]["id"]
    changed = MAIL["body"].replace("I have", "We have")
    edited = await edit(client, mail, changed, asked="Say we.")
    await client.call("chieflab_approve_action", {"actionId": action_id, "digest": edited["digest"]})
    await client.call("chieflab_withdraw_approval", {"actionId": action_id})
    await client.call("chieflab_reject_action", {"actionId": action_id, "reason": "Not to Dana, ask Kim."})

    record = (await client.call("chieflab_get_action", {"actionId": action_id})).payload

    assert all("Unproven" in line for line in warnings(mail))
    assert all("Unproven" in line for line in record["preflight"]["warnings"])
    assert await remembered(client) == []
    assert "is kept" not in edited["userMessage"]


@pytest.mark.rule("E33")
async def test_why_a_mail_to_named_people_was_rejected_is_kept_without_the_mail(client: LaunchClient) -> None:
    reasons = ("too long, and don't say 'refunded'", "The tone is too stiff.")
    for reason in reasons:
        mail = (await client.call("chieflab_send", MAIL)).payload
        about = {"actionId": mail["actions"][0]["id"], "reason": reason}
        await client.call("chieflab_reject_action", about)

    kept = await remembered(client)
    found = await remembered(client, query="refunded")
    stored = await client.app.store.read(
        lambda: memory.read(WorkspaceId(str(client.workspace_id)), "default", most=9)
    )
    later = (await client.call("chieflab_send", MAIL)).payload
    elsewhere = await post(client, "Kettle rings twice.")

    assert {each["body"] for each in kept} == {f"Rejected for email: {reason}" for reason in reasons}
    assert len(found) == 1
    assert not any("Dana" in each.body + str(each.facts) for each in stored)
    assert any("refunded" in line for line in warnings(later))
    assert any("too stiff" in line for line in advice(later))
    assert not any("too stiff" in line for line in advice(elsewhere))


async def test_a_mail_to_many_or_of_a_launch_is_checked_and_remembered(client: LaunchClient) -> None:
    many = {**MAIL, "to": [f"reader{n}@example.org" for n in range(51)], "body": "Kettle is the best timer."}
    launch = (
        await client.call(
            "chieflab_launch_product",
            {"channels": ["email"], "email": {"to": ["dana@example.org"]}, **CLUB},
        )
    ).payload
    await client.call("chieflab_approve_action", {"actionId": launch["actions"][0]["id"]})
    checked = (await client.call("chieflab_send", many)).payload

    assert any("best timer" in line for line in warnings(checked))
    assert len(await remembered(client, kind="approval")) == 1


async def record(client: LaunchClient, kind: str, body: str) -> dict[str, Any]:
    return (await client.call("chieflab_brain_record", {"kind": kind, "body": body})).payload


@pytest.mark.rule("E33")
async def test_a_number_that_a_fact_rules_out_is_not_taken_from_it(client: LaunchClient) -> None:
    told = "Fernglass 3.2 opens a 2 GB CSV in 19 seconds cold on Sam's M2 laptop. Never write 11 seconds."
    kept = await record(client, "repo_fact", told)
    run = await post(client, "Fernglass 3.2 opens a 2 GB CSV in about 11 seconds.")

    assert not any("taken from" in line for line in warnings(run))
    assert any("“11 seconds”" in line and "ruled out" in line for line in warnings(run))
    read = (await client.call("chieflab_brain_read")).payload
    assert "checked for “11 seconds”" in text_of(kept)
    assert "repo fact" not in text_of(kept)
    assert "never claim" not in text_of(read)


async def test_a_draft_says_nothing_untrue_of_a_rule_that_was_forgotten_since(client: LaunchClient) -> None:
    kept = await record(client, "brand_voice", 'Never write "11 seconds".')
    run = await post(client, "Version 3.2 opens it in 11 seconds.")
    entry = kept["entries"][0]["entryId"]
    told = (await client.call("chieflab_brain_forget", {"entryId": entry})).payload
    action = (await client.call("chieflab_get_action", {"actionId": run["actions"][0]["id"]})).payload

    assert "remark" in told["userMessage"]
    assert "an earlier request ruled out" in text_of(action)


@pytest.mark.rule("E33")
@pytest.mark.parametrize("kind", ["claim_risk", "brand_voice", "lesson"])
async def test_what_is_quoted_in_a_rule_is_checked_whatever_kind_it_is_kept_as(
    client: LaunchClient, kind: str
) -> None:
    rule = 'Never write "11 seconds" for 3.2; it is 19 seconds cold.'
    kept = await record(client, kind, rule)
    posted = await post(client, "Version 3.2 opens it in 11 seconds.")
    mail = (await client.call("chieflab_send", {**MAIL, "body": "Hi Dana,\n\nit takes 11 seconds."})).payload
    status = (await client.call("chieflab_status", {})).payload

    assert "checked for “11 seconds”" in text_of(kept)
    for run in (posted, mail):
        assert any("“11 seconds”" in line and "ruled out" in line for line in warnings(run))
    assert posted["writing"]["rules"] == [rule]
    assert [each["body"] for each in status["extra"]["rules"]] == [rule]


async def test_a_claim_to_leave_out_stands_among_the_rules_as_one(client: LaunchClient) -> None:
    kept = await record(client, "claim_risk", "The fastest ledger for clubs")
    posted = await post(client, "Ledgerleaf rings twice.")
    status = (await client.call("chieflab_status", {})).payload

    assert "checked for the claim “The fastest ledger for clubs”" in text_of(kept)
    assert posted["writing"]["rules"] == ["Never claim: The fastest ledger for clubs"]
    assert "Never claim: The fastest ledger for clubs" in text_of(status)


@pytest.mark.rule("E33")
async def test_a_rule_for_one_channel_is_checked_there_alone(client: LaunchClient) -> None:
    rule = 'Never say "thrilled" or "excited" on LinkedIn. In mails it is fine.'
    kept = await record(client, "brand_voice", rule)
    body = "Hi Dana,\n\nwe are thrilled and excited."
    mail = (await client.call("chieflab_send", {**MAIL, "body": body})).payload
    posted = await post(client, body, "linkedin")

    assert "for LinkedIn is checked for “thrilled”, “excited”" in text_of(kept)
    assert not any("thrilled" in line or "excited" in line for line in warnings(mail))
    assert [any(word in line for line in warnings(posted)) for word in ("thrilled", "excited")] == [True] * 2


async def confirm(client: LaunchClient, entry_id: str) -> None:
    workspace_id, now_ms = WorkspaceId(str(client.workspace_id)), client.clock.now_ms()
    await client.app.store.write(
        lambda: memory_views.decide(workspace_id, entry_id, "confirmed", "Ada", now_ms)
    )


@pytest.mark.rule("E33")
async def test_a_fact_told_in_the_chat_is_used_at_once_and_proves_a_claim_once_a_person_confirms_it(
    client: LaunchClient,
) -> None:
    claim = "Ledgerleaf imports 9000 bookings in 4 seconds."
    kept = await record(client, "proof", claim)
    asked = {"channel": "linkedin", "title": "News", "body": claim, **CLUB}

    told = (await client.call("chieflab_post", asked)).payload
    composed = (await client.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    await confirm(client, kept["entries"][0]["entryId"])
    proved = (await client.call("chieflab_post", {**asked, "body": f"{claim} It does."})).payload

    assert (kept["entries"][0]["state"], "/memory" in text_of(kept)) == ("proposed", True)
    assert any("9000" in line and "told in the chat" in line for line in warnings(told))
    assert "proof" in {use["kind"] for use in used(composed)} or "9000" in str(composed["outputs"])
    assert not any("told in the chat" in line for line in warnings(proved))


@pytest.mark.rule("E33")
async def test_rules_told_in_the_chat_hold_at_once_stand_in_the_status_and_can_be_forgotten(
    client: LaunchClient,
) -> None:
    rules = [
        "Never say “game-changer”.",
        "No exclamation marks.",
        "No emojis.",
        "Always sign as the Fernglass crew.",
        "Always end with “fernglass.example”.",
        "From now on, always link to https://tidewater.example/app.",
        "We never mention Trello by name",
    ]
    kept = [await record(client, "brand_voice" if "Trello" in each else "lesson", each) for each in rules]
    broken = await post(client, "A game-changer! 🎉 Better than Trello.\n\nSam")
    status = (await client.call("chieflab_status", {})).payload
    told = warnings(broken)

    assert {each["entries"][0]["state"] for each in kept} == {"confirmed"}
    for word in (
        "game-changer",
        "exclamation",
        "emoji",
        "the Fernglass crew",
        "fernglass.example",
        "tidewater.example/app",
    ):
        assert any(word in line for line in told), (word, told)
    assert {each["body"] for each in status["extra"]["rules"]} == set(rules)
    assert set(broken["writing"]["rules"]) == set(rules)

    first = kept[0]["entries"][0]["entryId"]
    forgotten = (await client.call("chieflab_brain_forget", {"entryId": first})).payload
    later = await post(client, "A game-changer for clubs. The Fernglass crew, fernglass.example")
    after = (await client.call("chieflab_status", {})).payload

    assert forgotten["entry"]["state"] == "retired"
    assert not any("game-changer" in line and "request" in line for line in warnings(later))
    assert {each["body"] for each in after["extra"]["rules"]} == set(rules[1:])


@pytest.mark.rule("E33")
async def test_a_rule_about_the_voice_holds_for_a_personal_mail_and_one_that_cannot_be_checked_says_so(
    client: LaunchClient,
) -> None:
    kept = await record(client, "brand_voice", "Always sign as the Fernglass crew.")
    unchecked = await record(client, "lesson", "Never send e-mails on weekends.")
    signed = {**MAIL, "body": f"{MAIL['body']}\n\nThe Fernglass crew"}

    mails = [(await client.call("chieflab_send", each)).payload for each in (MAIL, signed)]

    assert [any("the Fernglass crew" in line for line in warnings(mail)) for mail in mails] == [True, False]
    assert ["cannot check" in text_of(each) for each in (kept, unchecked)] == [False, True]


async def test_a_rule_names_what_is_checked_and_nothing_else(client: LaunchClient) -> None:
    kept = text_of(await record(client, "brand_voice", "Never use emojis, and keep it in the family."))
    short = text_of(await record(client, "lesson", "Keep it short."))

    assert kept.count("family") == 1 and kept.endswith("emoji.")
    assert "cannot check" in short


async def test_a_search_in_the_memory_says_what_it_did_not_find(client: LaunchClient) -> None:
    await record(client, "repo_fact", "The plan costs 12 EUR.")
    found = (await client.call("chieflab_brain_read", {"query": "zeppelin"})).payload
    assert found["entries"] == [] and "“zeppelin”" in found["agentGuide"]["userMessage"]


async def test_no_name_of_a_key_is_told_as_the_source_of_a_memory(client: LaunchClient) -> None:
    run = await post(client, "Kettle rings.")
    await edit(client, run, "Kettle rings twice.", asked="Say how often.")
    told = (await client.call("chieflab_brain_record", {"kind": "repo_fact", "body": "It is red."})).payload
    read = (await client.call("chieflab_brain_read")).payload

    assert "key:" not in text_of(told) + text_of(read)
    assert not read["agentGuide"]["userMessage"].endswith(":")


async def test_a_memory_of_another_workspace_cannot_be_forgotten(client: LaunchClient) -> None:
    for unknown in ("nonsense", "01a1ef00-3774-7150-976e-effc2f0d2ac2"):
        refused = await client.call("chieflab_brain_forget", {"entryId": unknown})
        assert refused.is_error and refused.payload["problems"][0]["path"] == "entryId"


@pytest.mark.rule("E33")
@pytest.mark.parametrize(
    "risk",
    [
        "The fastest ledger for clubs",
        '"fastest" is not proven.',
        "“Fastest ledger” has not been verified",
        "Never claim that it is the fastest.",
    ],
)
async def test_a_claim_that_the_user_calls_unproven_is_named_at_once(client: LaunchClient, risk: str) -> None:
    await record(client, "claim_risk", risk)
    run = await post(client, "Ledgerleaf is the fastest ledger for clubs.")
    other = await post(client, "Ledgerleaf rings twice. That is not proven, they say.")
    assert any("refused before" in line for line in warnings(run))
    assert not any("refused before" in line for line in warnings(other))


@pytest.mark.rule("E33")
async def test_a_writer_reads_the_rules_and_what_people_changed_in_the_last_three_texts(
    client: LaunchClient,
) -> None:
    await record(client, "lesson", "We say member, not user.")
    for number in range(4):
        run = await post(client, f"Draft number {number} about the timer.")
        client.clock.advance(seconds=1)
        await edit(client, run, f"Text number {number} about the timer, warmer.")
    told = (await client.call("chieflab_launch_product", {"channels": ["site"], **CLUB})).payload

    assert told["writing"]["rules"] == ["We say member, not user."]
    assert [(each["channel"], each["after"]) for each in told["writing"]["edits"]] == [
        ("site", f"Text number {number} about the timer, warmer.") for number in (1, 2, 3)
    ]


async def test_a_contact_is_not_remembered(client: LaunchClient) -> None:
    contact = {"email": "dana@example.org", "firstName": "Dana", "phone": "0664 1234567"}
    run = (await client.call("chieflab_save_contacts", {"contacts": [contact]})).payload
    action_id = run["actions"][0]["id"]
    approved = (await client.call("chieflab_approve_action", {"actionId": action_id})).payload
    await client.call("chieflab_withdraw_approval", {"actionId": action_id})
    await client.call("chieflab_reject_action", {"actionId": action_id, "reason": "Never say Dana."})

    assert approved["status"] == "approved"
    assert await remembered(client) == []


async def test_a_composed_mail_that_became_personal_is_not_remembered(client: LaunchClient) -> None:
    given = {"to": ["dana@example.org"], "repoContext": CLUB["repoContext"]}
    mail = (await client.call("chieflab_send", given)).payload
    body = "Hi Dana,\n\nyour biopsy is the best news of the year.\n\nKim"
    edited = await edit(client, mail, body, asked="Never name the biopsy.")
    action_id = mail["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id, "digest": edited["digest"]})

    record = (await client.call("chieflab_get_action", {"actionId": action_id})).payload

    assert record["status"] == "approved"
    assert all("Unproven" in line for line in record["preflight"]["warnings"])
    assert await remembered(client) == []


async def test_a_mail_of_a_launch_that_was_edited_leaves_only_the_request(client: LaunchClient) -> None:
    arguments = {"channels": ["email"], "email": {"to": ["dana@example.org"]}, **CLUB}
    launch = (await client.call("chieflab_launch_product", arguments)).payload
    edited = await edit(client, launch, "Hi Dana,\n\nthe import is ready.", asked="Always name the price.")
    action_id = launch["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id, "digest": edited["digest"]})

    assert [entry["kind"] for entry in await remembered(client)] == ["lesson"]


async def test_a_measured_personal_mail_is_no_memory_and_no_baseline(client: LaunchClient) -> None:
    client.mail.metrics = {"delivered": 1, "opened": 1}
    launch = (
        "chieflab_launch_product",
        {"channels": ["email"], "email": {"to": ["dana@example.org"]}, **CLUB},
    )
    earlier_runs = []
    for tool, arguments in (("chieflab_send", MAIL), launch, launch, ("chieflab_send", MAIL)):
        run = (await client.call(tool, arguments)).payload
        await client.approve_and_send(run["actions"][0]["id"])
        client.clock.advance(days=2)
        found = (await client.call("chieflab_measure", {"runId": run["runId"]})).payload["measurement"]
        earlier_runs.append({each["runs"] for each in found["baseline"]})

    assert earlier_runs == [set(), set(), {1}, set()]
    assert len(await remembered(client, kind="channel_performance")) == 2


async def test_a_number_of_the_goal_is_given_beside_the_goal_of_the_repository(client: LaunchClient) -> None:
    body = "Ledgerleaf imports bank statements. 4,000 clubs use Ledgerleaf."
    given = {**CLUB, "goal": "say that 4,000 clubs use Ledgerleaf"}
    given.pop("brand")
    run = (await client.call("chieflab_post", {"channel": "linkedin", "body": body, **given})).payload
    other = body.replace("4,000 clubs", "4,000 banks")
    edited = await edit(client, run, other)
    record = (await client.call("chieflab_get_action", {"actionId": edited["actionId"]})).payload

    assert not any("4,000" in line for line in warnings(run))
    assert any("4,000 banks" in line for line in record["preflight"]["warnings"])
