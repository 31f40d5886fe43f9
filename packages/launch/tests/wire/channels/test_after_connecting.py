"""After a provider is connected, trying again works: the account is named, shown, approved, and then it goes out."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from tests.support.answers import call_for, calls_of, text_of
from tests.support.builders import claim_job
from tests.support.channels.hosted import Hosted
from tests.support.channels.kit import KEYS

from assent.engine.actions.send_jobs import SEND_JOB
from assent.engine.core.jobs import JobFailed
from assent.jobs import kinds

APPROVE = "chieflab_approve_action"
EXECUTE = "chieflab_execute_approved_action"
TOOL_NAMES = ("chieflab_", "chiefmo_", "ASSENT_")


async def staged(hosted: Hosted, channel: str = "linkedin", **more: Any) -> str:
    run = await hosted.tool("chieflab_post", channel=channel, body="Dark mode is here.", **more)
    action_id: str = run["actions"][0]["id"]
    return action_id


async def letter(hosted: Hosted) -> str:
    run = await hosted.tool(
        "chieflab_send", to=["grace@example.org"], subject="Dark mode", body="It is here, Grace."
    )
    action_id: str = run["actions"][0]["id"]
    return action_id


async def approved(hosted: Hosted, action_id: str) -> None:
    digest = (await hosted.tool("chieflab_get_action", actionId=action_id))["digest"]
    assert (await hosted.tool(APPROVE, actionId=action_id, digest=digest))["status"] == "approved"


def asked_again(answer: dict[str, Any], where: str) -> dict[str, Any]:
    """The approval that an answer offers, for exactly the content it shows."""
    assert f"- {where}" in text_of(answer)
    assert not any(name in answer["userMessage"] for name in TOOL_NAMES)
    found = call_for(answer, APPROVE)
    assert set(found["args"]) == {"actionId", "digest"}
    return found


async def goes_out(hosted: Hosted, offered: dict[str, Any]) -> dict[str, Any]:
    assert (await hosted.tool(APPROVE, **offered["args"]))["status"] == "approved"
    done = await hosted.tool(EXECUTE, actionId=offered["args"]["actionId"])
    assert done["status"] == "executed", done
    return done


async def test_what_was_approved_before_connecting_is_shown_with_its_account_and_goes_out(
    hosted: Hosted,
) -> None:
    action_id = await staged(hosted)
    await approved(hosted, action_id)
    missing = await hosted.tool(EXECUTE, actionId=action_id)
    assert (missing["reason"], missing["recoveryTool"]["name"]) == (
        "missing_connector",
        "chieflab_connect_provider",
    )
    await hosted.tool("chieflab_connect_provider", **missing["recoveryTool"]["args"])
    await hosted.connect("zernio")  # a person, on the page
    again = await hosted.tool(EXECUTE, actionId=action_id)
    assert (again["reason"], again["recoveryTool"]) == ("requires_approval", None)
    offered = asked_again(again, "Goes to: Acme (linkedin)")
    assert "Acme" in again["userMessage"]
    # Asking once more changes nothing more.
    once_more = await hosted.tool(EXECUTE, actionId=action_id)
    assert (once_more["reason"], calls_of(once_more)) == ("requires_approval", calls_of(again))
    await goes_out(hosted, offered)
    assert len(hosted.zernio.on("acc_linkedin")) == 1


async def test_mail_goes_by_the_provider_that_is_connected_now(hosted: Hosted) -> None:
    action_id = await letter(hosted)
    await approved(hosted, action_id)
    assert (await hosted.tool(EXECUTE, actionId=action_id))["reason"] == "missing_connector"
    await hosted.connect("resend")
    offered = asked_again(await hosted.tool(EXECUTE, actionId=action_id), "From: hello@example.org")
    await goes_out(hosted, offered)
    assert len(hosted.resend.happened("sent")) == 1


async def test_connected_again_with_another_account_it_asks_again(hosted: Hosted) -> None:
    await hosted.connect("zernio")
    action_id = await staged(hosted)
    await approved(hosted, action_id)
    await hosted.tool("chieflab_disconnect_provider", provider="zernio")
    assert (await hosted.tool(EXECUTE, actionId=action_id))["reason"] == "missing_connector"
    hosted.zernio.accounts = [{**hosted.zernio.accounts[0], "_id": "acc_other", "displayName": "Other"}]
    await hosted.connect("zernio")
    offered = asked_again(await hosted.tool(EXECUTE, actionId=action_id), "Goes to: Other (linkedin)")
    await goes_out(hosted, offered)


async def test_an_account_with_another_name_under_the_same_id_is_shown_before_it_is_used(
    hosted: Hosted,
) -> None:
    await hosted.connect("zernio")
    action_id = await staged(hosted)
    await approved(hosted, action_id)
    hosted.zernio.accounts = [{**each, "displayName": "Sold to Eve"} for each in hosted.zernio.accounts]
    await hosted.connect("zernio")
    refused = await hosted.tool(EXECUTE, actionId=action_id)
    assert (refused["reason"], refused["status"]) == ("stale_revision", "awaiting_approval")
    (changed,) = refused["problems"]
    assert (changed["path"], changed["got"]) == ("account.name", "Sold to Eve")
    assert hosted.zernio.on("acc_linkedin_ada") == []
    await approved(hosted, action_id)
    assert (await hosted.tool(EXECUTE, actionId=action_id))["status"] == "executed"


async def test_readiness_is_that_of_now_wherever_an_action_is_shown(hosted: Hosted) -> None:
    await hosted.connect("zernio")
    action_id = await staged(hosted)
    await hosted.tool("chieflab_disconnect_provider", provider="zernio")
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    listed = await hosted.tool("chieflab_list_pending_actions")
    assert found["preflight"]["connectorBlocker"] == "missing_connector"
    assert "connector_not_ready" in found["preflight"]["gates"]
    for each in (found, listed):
        assert "cannot go out yet" in text_of(each)
    assert f"/connect/zernio?workspace={hosted.workspace_id}" in text_of(found)
    await hosted.connect("zernio")
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    listed = await hosted.tool("chieflab_list_pending_actions")
    assert found["preflight"]["connectorReady"] and "connector_not_ready" not in found["preflight"]["gates"]
    for each in (found, listed):
        assert "cannot go out yet" not in text_of(each)


async def test_a_send_that_was_queued_before_connecting_asks_again_and_sends_nothing(hosted: Hosted) -> None:
    action_id = await staged(hosted)
    await approved(hosted, action_id)
    job = claim_job(SEND_JOB, {"actionId": action_id}, workspace_id=hosted.workspace_id)
    services = hosted.app.owner_services
    with pytest.raises(JobFailed):
        await kinds.send(services, job)
    await hosted.connect("zernio")  # and the job is tried again
    await kinds.send(services, job)
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    assert (found["status"], found["revision"]) == ("awaiting_approval", 2)
    assert hosted.zernio.happened("published") == []


async def test_approving_for_an_account_that_came_back_at_the_provider_says_that_it_can_go_out(
    hosted: Hosted,
) -> None:
    await hosted.connect("zernio")
    action_id, accounts = await staged(hosted), hosted.zernio.accounts
    hosted.zernio.accounts = [each for each in accounts if each["platform"] != "linkedin"]
    await hosted.tool("chieflab_connect_provider", provider="zernio")
    hosted.zernio.accounts = accounts
    answer = await hosted.tool(APPROVE, actionId=action_id)
    assert answer["userMessage"].startswith("Approved. Nothing has been sent yet. Say “send linkedin”")
    assert [each["name"] for each in calls_of(answer)] == [EXECUTE, "chieflab_withdraw_approval"]


@pytest.mark.parametrize("provider", ["zernio", "resend"])
async def test_a_key_that_was_rejected_once_is_asked_about_again_by_the_next_try(
    hosted: Hosted, provider: str
) -> None:
    await hosted.connect(provider)
    action_id = await staged(hosted) if provider == "zernio" else await letter(hosted)
    await approved(hosted, action_id)
    emulator = getattr(hosted, provider)
    emulator.revoked.append(KEYS[provider])
    assert (await hosted.tool(EXECUTE, actionId=action_id))["reason"] == "missing_connector"
    assert (await hosted.tool(EXECUTE, actionId=action_id))["reason"] == "missing_connector"
    emulator.revoked.clear()  # the provider had a bad minute
    assert (await hosted.tool(EXECUTE, actionId=action_id))["status"] == "executed"
    listed = (await hosted.tool("chieflab_list_connectors"))["connectors"]
    assert next(each["status"] for each in listed if each["id"] == provider) == "live"


def in_hours(hosted: Hosted, hours: int) -> str:
    """A time in Berlin's winter, as a founder says it."""
    moment = datetime.fromtimestamp(
        hosted.clock.now_ms() / 1_000 + hours * 3_600, timezone(timedelta(hours=1))
    )
    return moment.isoformat()


async def test_what_was_approved_for_later_asks_for_the_second_yes_when_its_account_is_connected(
    hosted: Hosted,
) -> None:
    action_id = await staged(hosted, scheduleFor=in_hours(hosted, 48))
    first = await hosted.tool(APPROVE, actionId=action_id)
    assert first["status"] == "approved"
    assert "(+01:00)" in first["userMessage"] and "your yes once more" in first["userMessage"]
    await hosted.connect("zernio")
    await hosted.run_jobs()
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    assert (found["status"], found["revision"], found["decision"]["by"]) == ("awaiting_approval", 2, "Ada")
    assert "Acme" in found["userMessage"] and "changed it" not in found["userMessage"]
    await approved(hosted, action_id)
    hosted.clock.advance(hours=48)
    await hosted.run_jobs()
    assert (await hosted.tool("chieflab_get_action", actionId=action_id))["status"] == "executed"
    assert len(hosted.zernio.on("acc_linkedin")) == 1


async def test_an_approval_stays_bound_to_the_account_that_it_was_shown_with(hosted: Hosted) -> None:
    await hosted.connect("zernio")
    action_id = await staged(hosted, scheduleFor=in_hours(hosted, 1))
    await approved(hosted, action_id)
    await hosted.tool("chieflab_disconnect_provider", provider="zernio")
    told = await hosted.tool("chieflab_get_action", actionId=action_id)
    assert "once more" not in told["userMessage"]
    hosted.clock.advance(hours=1)
    await hosted.run_jobs()
    await hosted.connect("zernio")
    await hosted.run_jobs()
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    assert (found["status"], found["revision"]) == ("executed", 1)
    assert len(hosted.zernio.on("acc_linkedin")) == 1


async def test_no_inner_name_is_an_editor(hosted: Hosted) -> None:
    action_id = await staged(hosted, scheduleFor=in_hours(hosted, 1))
    await approved(hosted, action_id)
    hosted.clock.advance(hours=1)
    await hosted.run_jobs()
    await hosted.app.connections.disconnect(hosted.workspace_id, "zernio", by="Ada")
    await hosted.connect("zernio")
    await hosted.run_jobs()
    assert not any("approve_and_send" in text for text in hosted.heard)
    journal = await hosted.tool("chieflab_query_audit")
    assert "approve_and_send" not in msgspec.json.encode(journal).decode()


async def letter_to(hosted: Hosted, *people: str) -> dict[str, Any]:
    given = {"to": list(people), "subject": "Dark mode", "body": "It is here."}
    found: dict[str, Any] = (await hosted.tool("chieflab_send", **given))["actions"][0]
    return found


@pytest.mark.rule("E62")
async def test_a_mail_that_can_never_go_out_takes_the_approval_in_the_chat_from_no_other(
    hosted: Hosted,
) -> None:
    await hosted.connect("resend")
    too_many = await letter_to(hosted, *(f"p{number}@example.org" for number in range(60)))
    assert "too_many_recipients" in too_many["preflight"]["gates"]
    one = await letter_to(hosted, "grace@example.org")
    assert one["preflight"]["severity"] == "medium"
    assert (await hosted.tool(APPROVE, actionId=one["id"]))["status"] == "approved"


@pytest.mark.rule("E62")
async def test_the_risk_of_a_crowd_falls_when_the_others_are_rejected(hosted: Hosted) -> None:
    await hosted.connect("resend")
    crowd = [f"p{number}@example.org" for number in range(50)]
    first = await letter_to(hosted, *crowd)
    second = await letter_to(hosted, "grace@example.org")
    assert second["preflight"]["severity"] == "high"
    assert (await hosted.tool(APPROVE, actionId=second["id"]))["reason"] == "requires_approval"
    await hosted.tool("chieflab_reject_action", actionId=first["id"], reason="Not now.")
    assert (await hosted.tool(APPROVE, actionId=second["id"]))["status"] == "approved"


@pytest.mark.rule("E62")
async def test_a_mail_that_a_later_crowd_makes_heavy_is_shown_as_heavy_and_offers_no_yes_in_the_chat(
    hosted: Hosted,
) -> None:
    await hosted.connect("resend")
    first = await letter_to(hosted, "grace@example.org")
    approved = await letter_to(hosted, "ada@example.org")
    await hosted.tool(APPROVE, actionId=approved["id"])
    assert first["preflight"]["severity"] == "medium"
    await letter_to(hosted, *(f"p{number}@example.org" for number in range(50)))

    listed = await hosted.tool("chieflab_list_pending_actions")
    refused = await hosted.tool(APPROVE, actionId=first["id"])
    several = await hosted.tool(APPROVE, actions=[{"actionId": first["id"], "digest": first["digest"]}])
    late = await hosted.tool(EXECUTE, actionId=approved["id"])
    shown = await hosted.tool("chieflab_get_action", actionId=first["id"])

    assert {each["severity"] for each in listed["actions"]} == {"high"}
    assert shown["preflight"]["severity"] == "high"
    for answer in (listed, refused, several, late, shown):
        assert "Risk: high" in text_of(answer) and "Risk: medium" not in text_of(answer)
        assert APPROVE not in {call["name"] for call in calls_of(answer)}


async def test_a_mail_to_too_many_is_refused_as_what_it_is_and_not_as_a_bad_call(hosted: Hosted) -> None:
    await hosted.connect("resend")
    too_many = await letter_to(hosted, *(f"p{number}@example.org" for number in range(60)))
    for tool, reason in ((APPROVE, "validation_error"), (EXECUTE, "requires_approval")):
        refused = await hosted.tool(tool, actionId=too_many["id"])
        assert (refused["reason"], refused["retryable"], refused["retry"]) == (reason, False, "never"), tool
        assert "bad argument" not in refused["summaryForUser"], tool
        assert "50" in refused["userMessage"] and "approve it in the chat" not in refused["userMessage"], tool


async def test_what_only_measures_is_not_offered_by_hand_where_it_is_not_set_up(hosted: Hosted) -> None:
    refused = await hosted.tool("chieflab_connect_provider", provider="ga4")
    assert refused["reason"] == "provider_not_live"
    assert "by hand" not in refused["userMessage"]
    assert "channel" not in refused["fixActionForAgent"]


@pytest.mark.parametrize("given", ["no id", "01900000-0000-7000-8000-000000000000"])
async def test_an_id_that_this_workspace_does_not_have_leads_a_client_of_the_seeds_into_no_loop(
    hosted: Hosted, given: str
) -> None:
    refused = await hosted.tool("chieflab_get_action", actionId=given)
    assert refused["reason"] in ("invalid_action_id", "wrong_workspace")
    assert (refused["retryable"], refused["recoveryTool"]) == (False, None)
