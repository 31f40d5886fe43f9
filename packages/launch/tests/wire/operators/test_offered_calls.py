"""Cards and calls that fit the caller's rights, the content, and where an action stands."""

from __future__ import annotations

from typing import Any

from packages.launch.tests.wire.operators.test_cards import calls, mail
from tests.support.answers import calls_of, text_of
from tests.support.operators.fixtures import LaunchClient
from tests.support.surfaces import Surface

from assent.gate.preflight import Readiness

APPROVE = "chieflab_approve_action"
FALLBACK = "chieflab_use_manual_fallback"
CONNECT = "chieflab_connect_provider"
TEXT = "Ledgerleaf reads bank statements now, so that treasurers have their Sundays back."
NOT_READY = Readiness(False, "missing_connector", "The account is not connected any more.")


async def post(client: Surface, channel: str = "site", **more: Any) -> dict[str, Any]:
    return (await client.call("chieflab_post", {"channel": channel, "body": TEXT, **more})).payload


def names(answer: dict[str, Any]) -> list[str]:
    return [call["name"] for call in calls_of(answer)]


async def test_a_key_that_may_not_send_gets_the_link_and_a_call_that_waits(client: LaunchClient) -> None:
    run = await post(client)
    key = await client.key_with("runs:write", "actions:decide")
    answer = (
        await client.call(APPROVE, {"actionId": run["actions"][0]["id"], "send": True}, key=key)
    ).payload

    assert (answer["status"], answer["sent"]) == ("approved", False)
    assert "/runs/" in answer["reviewUrl"] and "review page" in answer["userMessage"]
    assert calls_of(answer)[0]["name"] == "chieflab_get_action" and calls_of(answer)[0]["args"]["waitSeconds"]


async def test_a_key_that_may_not_record_gets_the_link_for_what_is_done_by_hand(client: LaunchClient) -> None:
    run = await post(client, "hn")
    key = await client.key_with("runs:write", "actions:decide")
    answer = (await client.call(APPROVE, {"actionId": run["actions"][0]["id"]}, key=key)).payload

    assert "/runs/" in answer["reviewUrl"] and "tell me" not in answer["userMessage"]
    assert calls_of(answer)[0]["name"] == "chieflab_get_action"


async def test_an_approved_post_to_be_done_by_hand_shows_its_brief(client: LaunchClient) -> None:
    run = await post(client, "hn")
    answer = (await client.call(APPROVE, {"actionId": run["actions"][0]["id"]})).payload

    assert TEXT in text_of(answer) and "https://news.ycombinator.com/submit" in text_of(answer)


async def test_calls_are_offered_only_to_keys_that_may_make_them(client: LaunchClient) -> None:
    client.zernio.ready = NOT_READY
    run = await post(client, "linkedin")
    about = {"actionId": run["actions"][0]["id"]}
    await client.call(APPROVE, about)
    executing, deciding = await client.key_with("actions:execute"), await client.key_with("actions:decide")
    shown = (await client.call("chieflab_get_action", about, key=executing)).payload
    status = (await client.call("chieflab_status", {}, key=executing)).payload

    assert not {FALLBACK, CONNECT} & {*names(shown), *names(status)}
    assert not {"chieflab_post", "chieflab_send", "chieflab_launch_product"} & set(names(status))
    other = await post(client, "linkedin")
    no = {"actionId": other["actions"][0]["id"], "reason": "too long"}
    assert "chieflab_post" not in names(
        (await client.call("chieflab_reject_action", no, key=deciding)).payload
    )


async def test_a_status_has_a_call_for_each_kind_of_what_is_open(client: LaunchClient) -> None:
    await post(client)
    ready, by_hand = await post(client), await post(client, "hn")
    for run in (ready, by_hand):
        await client.call(APPROVE, {"actionId": run["actions"][0]["id"]})
    offered = names((await client.call("chieflab_status")).payload)

    assert offered == [
        "chieflab_list_pending_actions",
        "chieflab_execute_approved_action",
        "chieflab_record_manual_publish",
    ]


async def test_a_mail_can_be_planned_when_it_is_staged(client: LaunchClient) -> None:
    at = "2026-10-01T09:00:00Z"
    run = await mail(client, "ana@example.org", scheduleFor=at)
    action = (await client.call("chieflab_get_action", {"actionId": run["actions"][0]["id"]})).payload
    status = (await client.call("chieflab_status", {})).payload

    assert action["scheduleFor"].startswith("2026-10-01T09:00:00")
    assert status["waiting"][0]["scheduleFor"].startswith("2026-10-01T09:00:00")
    assert "2026" in text_of(run) and "2026" in text_of(status)


async def test_what_an_offered_call_needs_names_fields_that_its_schema_has(client: LaunchClient) -> None:
    status = (await client.call("chieflab_status", {})).payload
    sent = await mail(client, "ana@example.org")

    assert "whatChanged" in calls(status)["chieflab_launch_product"]["needs"]["repoContext"]
    saving = calls(sent)["chieflab_save_contacts"]["needs"]["contacts"]
    assert "firstName" in saving and "email" in saving
