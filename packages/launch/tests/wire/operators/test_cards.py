"""What the person reads in the chat: everything that leaves, where it goes, what is in the way, and what to say."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import bodies_of, call_for, calls_of, text_of
from tests.support.operators.fixtures import CLUB, LaunchClient
from tests.support.surfaces import BASE_URL, Surface

from assent.use_cases import workspaces

APPROVE = "chieflab_approve_action"
EDIT = "chieflab_edit_action"
EXECUTE = "chieflab_execute_approved_action"
TEXT = "Ledgerleaf reads bank statements now, so that treasurers have their Sundays back."


async def post(client: Surface, channel: str = "site", **more: Any) -> dict[str, Any]:
    return (await client.call("chieflab_post", {"channel": channel, "body": TEXT, **more})).payload


async def mail(client: Surface, *to: str, **more: Any) -> dict[str, Any]:
    arguments = {"to": list(to), "subject": "Import", "body": "Dear all, the import is ready."}
    return (await client.call("chieflab_send", {**arguments, **more})).payload


def calls(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {call["name"]: call for call in calls_of(answer)}


async def test_a_mail_shows_sender_recipients_subject_and_who_sees_whom(client: LaunchClient) -> None:
    run = await mail(
        client, "ana@example.org", "bo@example.org", "cy@example.org", **{"from": "club@example.org"}
    )

    for line in ("From: club@example.org", "Subject: Import", "they do not see each other", "3 people"):
        assert line in text_of(run), line


@pytest.mark.rule("E48")
async def test_the_preview_text_of_a_mail_is_shown(client: LaunchClient) -> None:
    run = (await client.call("chieflab_launch_product", {"channels": ["email"], **CLUB})).payload
    content = (await client.call("chieflab_get_action", {"actionId": run["actions"][0]["id"]})).payload[
        "content"
    ]

    assert content["preheader"] in text_of(run)
    assert content["preheader"] in run["agentGuide"]["renderInChat"]["email"]["body"]


async def test_what_cannot_go_out_is_said_when_it_is_staged_and_again_after_approval(
    surface: Surface,
) -> None:
    await surface.sign_in()
    run = await post(surface, "linkedin")
    page = f"{BASE_URL}/connect/zernio?workspace={run['workspaceId']}"
    approved = (await surface.call(APPROVE, {"actionId": run["actions"][0]["id"]})).payload

    assert "cannot go out yet" in text_of(run) and page in text_of(run)
    assert "cannot go out yet" in run["agentGuide"]["userMessage"]
    assert approved["userMessage"].startswith("Approved. It cannot be sent yet:") and page in text_of(
        approved
    )
    assert "chieflab_connect_provider" in calls(approved)
    assert calls(approved)[EXECUTE]["when"] == "the user has connected it"


async def test_an_approved_post_names_one_executor_with_its_key(client: LaunchClient) -> None:
    run = await post(client)
    action = run["actions"][0]
    approved = (await client.call(APPROVE, {"actionId": action["id"]})).payload

    assert calls(approved)[EXECUTE]["args"] == {
        "actionId": action["id"],
        "idempotencyKey": f"execute-{action['id']}-r1",
    }


async def test_one_yes_approves_and_sends(client: LaunchClient) -> None:
    run = await post(client)
    [yes] = [call["args"] for call in calls_of(run) if call["args"].get("send")]
    answer = (await client.call(APPROVE, yes)).payload
    again = (await client.call(APPROVE, {**yes, "idempotencyKey": "k"})).payload

    assert "approve site" in text_of(run) and "approve and send" not in text_of(run)
    assert (answer["status"], answer["sent"]) == ("executed", True)
    assert answer["externalUrl"] in text_of(answer) and "Results arrive in about 24 hours." in text_of(answer)
    assert calls(answer)["chieflab_measure"]["args"] == {"runId": run["runId"]}
    assert again["reason"] == "action_closed"


async def test_a_yes_to_sending_what_cannot_go_out_decides_nothing_and_says_why(surface: Surface) -> None:
    await surface.sign_in()
    run = await post(surface, "linkedin")
    answer = (await surface.call(APPROVE, {"actionId": run["actions"][0]["id"], "send": True})).payload

    assert (answer["reason"], answer["status"]) == ("missing_connector", "awaiting_approval")
    assert answer["recoveryTool"]["name"] == "chieflab_connect_provider"
    assert "send" not in calls(answer)[APPROVE]["args"]
    assert answer["userMessage"].startswith("Your approval was not recorded:")
    assert f"/connect/zernio?workspace={run['workspaceId']}" in answer["userMessage"]
    assert "“approve linkedin”" in answer["userMessage"]


async def test_a_yes_to_several_says_what_was_not_recorded_and_what_is_to_be_done_by_hand(
    surface: Surface,
) -> None:
    await surface.sign_in()
    runs = [await post(surface, channel) for channel in ("site", "linkedin", "producthunt")]
    wanted = [{"actionId": run["actions"][0]["id"], "digest": run["actions"][0]["digest"]} for run in runs]
    answer = (await surface.call(APPROVE, {"actions": wanted, "send": True})).payload
    site, linkedin, by_hand = answer["results"]

    assert (site["sent"], linkedin["reason"], by_hand["status"]) == (True, "missing_connector", "approved")
    assert "linkedin: Your approval was not recorded: " in answer["userMessage"]
    assert "/connect/zernio" in answer["userMessage"]
    named = {(call["name"], call["args"].get("actionId")) for call in calls_of(answer)}
    assert {(APPROVE, linkedin["actionId"]), (RECORD, by_hand["actionId"])} <= named
    assert TEXT in text_of(answer)


async def test_no_suggested_call_has_an_open_place(client: LaunchClient) -> None:
    launch = (await client.call("chieflab_launch_product", CLUB)).payload
    answers = [launch, await post(client), await mail(client, "ana@example.org")]
    answers.append(
        (await client.call("chieflab_save_contacts", {"contacts": [{"email": "ana@example.org"}]})).payload
    )
    about = {"actionId": launch["actions"][0]["id"]}
    answers.append((await client.call(APPROVE, about)).payload)
    answers.append((await client.call(EXECUTE, about)).payload)

    for answer in answers:
        assert "…" not in str(calls_of(answer)), calls_of(answer)
        assert "…" not in str(answer.get("agentGuide", {}).get("nextToolCalls"))


RISKY = "Ledgerleaf is the best tool for every club. It reads a million rows in nine seconds."


async def test_an_edit_is_shown_whole_with_its_own_warnings(client: LaunchClient) -> None:
    run = await post(client)
    about = {"actionId": run["actions"][0]["id"]}
    risky = (await client.call("chieflab_edit_action", {**about, "body": RISKY})).payload
    checked = (await client.call("chieflab_get_action", about)).payload["preflight"]
    plain = (await client.call("chieflab_edit_action", {**about, "body": TEXT + " Thank you."})).payload
    after = (await client.call("chieflab_get_action", about)).payload["preflight"]

    assert any("is the best tool" in warning for warning in checked["warnings"])
    assert all(
        warning.removeprefix("Check this claim: ") in text_of(risky) for warning in checked["warnings"]
    )
    assert checked["severity"] == "medium"
    assert [call["args"]["digest"] for call in calls_of(plain) if call["args"].get("send")] == [
        plain["digest"]
    ]
    assert not any("best tool" in warning for warning in after["warnings"])
    assert "best tool" not in text_of(plain) and f"> {TEXT} Thank you." in text_of(plain)


async def test_a_claim_of_the_evidence_is_still_one_after_an_edit(client: LaunchClient) -> None:
    fact = "Ledgerleaf matches 4,000 payments in a minute."
    run = await post(client, repoContext={"whatChanged": fact, "targetCustomer": "treasurers"})
    about = {"actionId": run["actions"][0]["id"]}
    edited = (await client.call("chieflab_edit_action", {**about, "body": f"{TEXT}\n\n{fact}"})).payload

    assert "nothing in the evidence says so" not in text_of(edited)


async def test_an_edited_mail_loses_its_composed_preview_text_and_can_get_another(
    client: LaunchClient,
) -> None:
    launch = {"channels": ["email"], "email": {"to": ["ana@example.org"]}, **CLUB}
    run = (await client.call("chieflab_launch_product", launch)).payload
    about = {"actionId": run["actions"][0]["id"]}
    await client.call("chieflab_edit_action", {**about, "body": "Dear all, the import is ready."})
    without = (await client.call("chieflab_get_action", about)).payload["content"]
    edited = (await client.call("chieflab_edit_action", {**about, "preheader": "Import by CSV"})).payload
    content = (await client.call("chieflab_get_action", about)).payload["content"]

    assert "preheader" not in without
    assert (content["preheader"], content.get("html", "")) == ("Import by CSV", "")
    assert "Preview text: Import by CSV" in text_of(edited)


async def test_a_mail_without_recipients_is_refused_before_it_is_approved(client: LaunchClient) -> None:
    run = (await client.call("chieflab_launch_product", {"channels": ["email"], **CLUB})).payload
    action = run["actions"][0]
    early = (await client.call(EXECUTE, {"actionId": action["id"]})).payload
    refused = await client.call(APPROVE, {"actionId": action["id"], "send": True})
    edit = calls_of(refused.payload)[0]
    fixed = {**edit["args"], "to": ["ana@example.org"]}
    await client.call(edit["name"], fixed)

    assert "recipients_missing" in action["preflight"]["gates"]
    assert "approve email" not in text_of(run) + run["agentGuide"]["userMessage"]
    assert run["agentGuide"]["userMessage"].endswith("E-mail cannot go out yet.")
    assert early["reason"] == "requires_approval" and APPROVE not in calls(early)
    assert "approve" not in early["userMessage"] and "who gets it" in early["userMessage"]
    assert (refused.reason, refused.payload["problems"][0]["path"]) == ("validation_error", "actionId")
    assert set(edit["needs"]) == {"to"}
    shown = (await client.call("chieflab_list_pending_actions", {"runId": run["runId"]})).payload
    assert APPROVE in {call["name"] for call in calls_of(shown)}
    nobody = await client.call("chieflab_send", {"to": [], "subject": "Hi", "body": "Hello there, Ana."})
    assert (nobody.reason, nobody.payload["problems"][0]["path"]) == ("validation_error", "to")


FALLBACK = "chieflab_use_manual_fallback"
RECORD = "chieflab_record_manual_publish"


@pytest.mark.rule("E94")
async def test_a_mail_sent_by_hand_is_recorded_without_an_address(client: LaunchClient) -> None:
    run = await mail(client, "ana@example.org")
    about = {"actionId": run["actions"][0]["id"]}
    handed = (await client.call(FALLBACK, about)).payload
    approve = calls(handed)[APPROVE]["args"]
    approved = (await client.call(APPROVE, approve)).payload
    done = (await client.call(RECORD, calls(approved)[RECORD]["args"])).payload

    assert "live page" not in text_of(handed) and "mail program" in text_of(handed)
    [brief] = bodies_of(handed).values()
    assert "needs a yes first" in brief.splitlines()[0] and "your agent" not in brief
    assert calls(approved)[RECORD].get("needs") is None and EXECUTE not in calls(approved)
    assert "mail program" in approved["userMessage"]
    assert (done["status"], done.get("externalUrl")) == ("executed", None)
    assert "by hand" in text_of(done)
    assert client.mail.done == []


@pytest.mark.rule("E94", "E98")
async def test_an_executor_on_what_goes_out_by_hand_gives_the_text_and_how_to_record_it(
    client: LaunchClient,
) -> None:
    run = (
        await client.call("chieflab_post", {"channel": "hn", "title": "Show HN: Ledgerleaf", "body": TEXT})
    ).payload
    about = {"actionId": run["actions"][0]["id"]}
    approved = (await client.call(APPROVE, {**about, "send": True})).payload
    refused = (await client.call(EXECUTE, about)).payload
    record = call_for(refused, RECORD)
    nowhere = await client.call(RECORD, about)
    done = (
        await client.call(RECORD, {**record["args"], "url": "https://news.ycombinator.com/item?id=1"})
    ).payload

    assert (approved["status"], approved["sent"]) == ("approved", False)
    assert "address" in approved["userMessage"]
    assert TEXT in bodies_of(refused)["hn"] and set(record["needs"]) == {"url"}
    assert refused["recoveryTool"] is None and refused["retryable"] is False
    assert (nowhere.reason, nowhere.payload["problems"][0]["path"]) == ("validation_error", "url")
    assert done["status"] == "executed"


async def test_a_post_that_joins_a_run_has_its_evidence(client: LaunchClient) -> None:
    fact = "Ledgerleaf matches 4,000 payments in a minute."
    first = await post(client, repoContext={"whatChanged": fact, "targetCustomer": "treasurers"})
    alone = await post(client, "linkedin", body=fact)
    joined = await post(client, "linkedin", body=fact, runId=first["runId"])
    edited = (
        await client.call(
            "chieflab_edit_action", {"actionId": joined["actions"][0]["id"], "body": f"{fact} Really."}
        )
    ).payload

    assert "No facts were handed in to check this" in text_of(alone)
    told = text_of(joined) + text_of(edited)
    assert "nothing in the evidence" not in told and "No facts were handed in" not in told
    unknown = await client.call(
        "chieflab_post", {"channel": "x", "body": TEXT, "runId": alone["actions"][0]["id"]}
    )
    assert unknown.reason == "wrong_workspace"


@pytest.mark.rule("E59")
async def test_a_launch_says_how_it_is_measured(client: LaunchClient) -> None:
    pack = (
        await client.call("chieflab_launch_product", {"channels": ["site", "linkedin", "landing"], **CLUB})
    ).payload["launchPack"]

    assert pack["measurement"] == {"afterHours": 24, "read": ["site", "linkedin"], "toldByHand": []}


async def test_a_text_for_a_page_that_the_server_does_not_reach_says_so(client: LaunchClient) -> None:
    run = await post(client, "landing", body="(delete the old landing page, please)")

    assert run["actions"] == []
    assert "Nothing was published" in run["agentGuide"]["userMessage"]
    assert "does not reach that page" in run["agentGuide"]["userMessage"]


TAKE_DOWN = "chieflab_undo_action"


async def test_a_published_page_is_taken_down_after_a_yes(client: LaunchClient) -> None:
    kept, run = await post(client, body="It stays where it is, for good."), await post(client)
    await client.approve_and_send(kept["actions"][0]["id"])
    done = await client.approve_and_send(run["actions"][0]["id"])
    page, feed = done["externalUrl"].removeprefix(BASE_URL), f"/feed/{run['workspaceId']}/feed.json"
    staged = (await client.call(TAKE_DOWN, calls(done)[TAKE_DOWN]["args"])).payload
    before = (await client.http.get(page)).status_code
    early = await client.call(EXECUTE, {"actionId": staged["actions"][0]["id"]})
    gone = await client.approve_and_send(staged["actions"][0]["id"])

    assert (before, early.reason) == (200, "requires_approval")
    assert done["externalUrl"] in text_of(staged) and staged["actions"][0]["type"] == "site_unpublish"
    assert (gone["status"], calls_of(gone)) == ("executed", []) and text_of(gone).startswith("Undone")
    assert "http" not in gone["userMessage"] and gone.get("externalUrl") is None
    assert (await client.http.get(page)).status_code == 410
    assert (await client.http.get(f"{page}/go?u=0")).status_code == 410
    listed = (await client.http.get(feed)).json()["items"]
    assert [item["content_text"] for item in listed] == ["It stays where it is, for good."]


async def test_only_a_page_of_this_server_can_be_taken_down_and_only_once(client: LaunchClient) -> None:
    elsewhere, run = await post(client, "linkedin"), await post(client)
    for each in (elsewhere, run):
        await client.approve_and_send(each["actions"][0]["id"])
    about = {"actionId": run["actions"][0]["id"]}
    staged = (await client.call(TAKE_DOWN, about)).payload["actions"][0]["id"]
    edited = await client.call("chieflab_edit_action", {"actionId": staged, "body": "The page stays."})
    by_hand = await client.call(FALLBACK, {"actionId": staged})
    await client.approve_and_send(staged)

    assert (edited.reason, by_hand.reason) == ("validation_error", "validation_error")
    for action_id in (elsewhere["actions"][0]["id"], about["actionId"], staged):
        assert (await client.call(TAKE_DOWN, {"actionId": action_id})).reason == "validation_error"
    waiting = await post(client)
    assert (
        await client.call(TAKE_DOWN, {"actionId": waiting["actions"][0]["id"]})
    ).reason == "validation_error"


async def test_a_repeated_yes_to_an_earlier_version_sends_nothing(client: LaunchClient) -> None:
    """The key belongs to the yes of the first version; the second one was approved and not ordered to go out."""
    assert client.workspace_id is not None
    where = client.app.store, client.workspace_id, client.clock.now_ms()
    await workspaces.freeze(*where, by="test", why="")
    staged = (
        await client.call("chieflab_post", {"channel": "linkedin", "body": "Version two is out."})
    ).payload
    action_id, digest = staged["actions"][0]["id"], staged["actions"][0]["digest"]
    yes = {"actionId": action_id, "digest": digest, "send": True, "idempotencyKey": "the first yes"}
    assert (await client.call(APPROVE, yes)).payload["sent"] is False
    edited = (await client.call(EDIT, {"actionId": action_id, "body": "Version three is out."})).payload
    await workspaces.unfreeze(*where, by="test")
    await client.call(APPROVE, {"actionId": action_id, "digest": edited["digest"]})

    again = (await client.call(APPROVE, yes)).payload

    assert again["sent"] is False
    assert "earlier version" in text_of(again)
    assert client.zernio.done == []


async def published(client: LaunchClient) -> tuple[str, dict[str, Any]]:
    run = (await client.call("chieflab_post", {"channel": "site", "body": TEXT})).payload
    action_id: str = run["actions"][0]["id"]
    return action_id, await client.approve_and_send(action_id)


async def stage(client: LaunchClient, action_id: str) -> dict[str, Any]:
    return (await client.call(TAKE_DOWN, {"actionId": action_id})).payload


async def test_a_page_that_was_taken_down_is_told_as_taken_down_everywhere(client: LaunchClient) -> None:
    action_id, done = await published(client)
    client.clock.advance(hours=26)
    await client.run_jobs()
    removal = (await stage(client, action_id))["actions"][0]["id"]
    await client.approve_and_send(removal)
    told = {
        name: (await client.call(name, arguments)).payload
        for name, arguments in (
            ("chieflab_get_action", {"actionId": action_id}),
            ("chieflab_status", {}),
            ("chieflab_report", {}),
            ("chieflab_measure", {"runId": done["runId"]}),
        )
    }

    for name, answer in told.items():
        assert "undone" in text_of(answer).lower(), name
        assert "Went out" not in text_of(answer) and done["externalUrl"] not in text_of(answer), name
    assert TAKE_DOWN not in str(calls_of(told["chieflab_get_action"]))
    status, report = told["chieflab_status"], told["chieflab_report"]
    assert (status["counts"]["wentOut"], status.get("wentOut"), len(status["undone"])) == (0, None, 1)
    assert status["counts"]["undone"] == 1
    assert told["chieflab_measure"]["agentGuide"]["userMessage"].startswith(
        "It went out and was undone since."
    )
    assert (report["counts"].get("wentOut"), report["counts"]["undone"]) == (None, 1)
    assert "Sent " not in text_of(report)
    told_of = await client.call("chieflab_get_action", {"actionId": removal})
    assert "took another action back" in told_of.payload["userMessage"]


async def test_a_page_is_taken_down_once(client: LaunchClient) -> None:
    action_id, _ = await published(client)
    first, second = await stage(client, action_id), await stage(client, action_id)
    assert first["actions"][0]["id"] == second["actions"][0]["id"]
    await client.approve_and_send(first["actions"][0]["id"])

    assert (await client.call(TAKE_DOWN, {"actionId": action_id})).reason == "validation_error"


async def test_a_take_down_asks_for_yes_or_no_and_for_no_change(client: LaunchClient) -> None:
    action_id, _ = await published(client)
    staged = await stage(client, action_id)

    assert "change" not in text_of(staged) and "change" not in staged["agentGuide"]["userMessage"]
