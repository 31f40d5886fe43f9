"""After a provider is connected, trying again works: the account is named, shown, approved, and then it goes out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.suite.channels.hosted import Hosted

from assent.engine.actions.decisions import SEND_JOB
from assent.engine.core.jobs import Job, JobFailed, JobState
from assent.jobs import sending
from assent.kernel.ids import JobId

APPROVE = "chieflab_approve_action"
EXECUTE = "chieflab_execute_approved_action"
RETRY = "chieflab_retry_blocked_action"
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
    assert f"- {where}" in answer["show"]
    assert not any(name in answer["userMessage"] for name in TOOL_NAMES)
    found: dict[str, Any] = next(each for each in answer["commands"] if each["tool"] == APPROVE)
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
    assert (once_more["reason"], once_more["commands"]) == ("requires_approval", again["commands"])
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
    (listed,) = (await hosted.tool("chieflab_list_pending_actions"))["actions"]
    for each in (found, listed):
        assert (each["preflight"]["connectorReady"], each["preflight"]["connectorBlocker"]) == (
            False,
            "missing_connector",
        )
        assert "connector_not_ready" in each["preflight"]["gates"]
    assert f"/connect/zernio?workspace={hosted.workspace_id}" in found["show"]
    await hosted.connect("zernio")
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    (listed,) = (await hosted.tool("chieflab_list_pending_actions"))["actions"]
    for each in (found, listed):
        assert each["preflight"]["connectorReady"] and "connector_not_ready" not in each["preflight"]["gates"]


async def test_a_send_that_was_queued_before_connecting_asks_again_and_sends_nothing(hosted: Hosted) -> None:
    action_id = await staged(hosted)
    await approved(hosted, action_id)
    job = Job(
        workspace_id=hosted.workspace_id,
        job_id=JobId("job"),
        kind=SEND_JOB,
        key=f"{action_id}:1",
        payload={"actionId": action_id},
        due_ms=0,
        state=JobState.RUNNING,
        attempts=1,
        lease_until_ms=None,
        fence=1,
        worker=None,
        last_error=None,
        created_ms=0,
        finished_ms=None,
    )
    services = hosted.app.owner_services
    with pytest.raises(JobFailed):
        await sending.send(services, job)
    await hosted.connect("zernio")  # and the job is tried again
    await sending.send(services, job)
    found = await hosted.tool("chieflab_get_action", actionId=action_id)
    assert (found["status"], found["revision"]) == ("awaiting_approval", 2)
    assert hosted.zernio.happened("published") == []


async def test_approving_for_an_account_that_came_back_at_the_provider_says_that_it_can_go_out(
    hosted: Hosted,
) -> None:
    await hosted.connect("zernio")
    action_id, accounts = await staged(hosted), hosted.zernio.accounts
    hosted.zernio.accounts = [each for each in accounts if each["platform"] != "linkedin"]
    assert not (await hosted.tool(RETRY, actionId=action_id))["preflight"]["connectorReady"]
    hosted.zernio.accounts = accounts
    answer = await hosted.tool(APPROVE, actionId=action_id)
    assert answer["userMessage"].startswith("Approved. Nothing has been sent yet. Say “send linkedin”")
    assert [each["name"] for each in answer["next"]] == [EXECUTE, "chieflab_withdraw_approval"]
