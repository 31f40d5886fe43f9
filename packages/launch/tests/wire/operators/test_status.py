"""The status is one honest table: every action is in one section, with the reason why it is there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE
from tests.support.answers import calls_of, text_of
from tests.support.operators.fixtures import CLUB, LaunchClient

STATUS, GET = "chieflab_status", "chieflab_get_action"


async def table(client: LaunchClient, **arguments: Any) -> dict[str, Any]:
    outcome = await client.call(STATUS, arguments)
    assert outcome.payload["ok"] is True
    return outcome.payload


def ids(told: dict[str, Any], section: str) -> list[str]:
    return [entry["actionId"] for entry in told.get(section, ())]


async def test_what_went_out_waits_or_is_done_by_hand_is_in_its_own_section(client: LaunchClient) -> None:
    run = (await client.call("chieflab_launch_product", {"channels": ["site", "linkedin"], **CLUB})).payload
    site, linkedin = (action["id"] for action in run["actions"])
    posted = await client.call(
        "chieflab_post", {"channel": "hn", "title": "Show HN: Ledgerleaf", "body": "Bookkeeping for clubs."}
    )
    by_hand = posted.payload["actions"][0]["id"]
    done = await client.approve_and_send(site)
    await client.call(APPROVE, {"actionId": by_hand})

    told = await table(client)

    assert (ids(told, "wentOut"), ids(told, "waiting"), ids(told, "byHand")) == (
        [site],
        [linkedin],
        [by_hand],
    )
    assert told["counts"] == {
        "unknown": 0,
        "waiting": 1,
        "approvedNotSent": 0,
        "byHand": 1,
        "failed": 0,
        "rejected": 0,
        "undone": 0,
        "expired": 0,
        "wentOut": 1,
    }
    assert (told["wentOut"][0]["name"], told["byHand"][0]["name"]) == ("site", "hn")
    assert done["externalUrl"] in text_of(told)
    assert "Show HN: Ledgerleaf" in text_of(told)


async def test_a_name_in_the_table_means_one_action_also_when_it_was_given_before(
    client: LaunchClient,
) -> None:
    news = {"channel": "site", "title": "News", "body": "Bookkeeping for clubs."}
    for _ in range(2):
        kept = (await client.call("chieflab_post", news)).payload
    await client.approve_and_send(kept["actions"][0]["id"])
    await client.call("chieflab_post", news)

    assert re.findall(r"\(site:\d\)", text_of(await table(client))) == ["(site:3)"]


async def test_an_approved_action_that_cannot_go_out_is_listed_with_the_reason(client: LaunchClient) -> None:
    posted = await client.call("chieflab_post", {"channel": "slack", "body": "The import is ready."})
    action_id = posted.payload["actions"][0]["id"]
    await client.call(APPROVE, {"actionId": action_id})

    told = await table(client)

    [entry] = told["approvedNotSent"]
    assert entry["actionId"] == action_id
    assert "Slack is not" in text_of(told)
    assert calls_of(told)[0]["name"] == "chieflab_connect_provider"


async def test_an_approved_action_that_can_go_out_is_offered_to_the_executor(client: LaunchClient) -> None:
    posted = await client.call("chieflab_post", {"channel": "linkedin", "body": "The import is ready."})
    action_id = posted.payload["actions"][0]["id"]
    await client.call(APPROVE, {"actionId": action_id})

    told = await table(client)

    assert ids(told, "approvedNotSent") == [action_id]
    [following] = calls_of(told)
    assert following["name"] == EXECUTE
    assert (await client.call(following["name"], following["args"])).payload["status"] == "executed"


@pytest.mark.rule("E33")
async def test_the_lessons_of_every_tenant_are_told_at_the_start(client: LaunchClient) -> None:
    for tenant in ("acme", "globex"):
        run = (await client.call("chieflab_post", {"channel": "site", "tenantId": tenant, **CLUB})).payload
        await client.approve_and_send(run["actions"][0]["id"])
    client.clock.advance(hours=25)
    await client.run_jobs()

    told = await table(client)
    of_one = await table(client, tenantId="acme")

    assert {run["tenantId"] for run in told["extra"]["measured"]} == {"acme", "globex"}
    assert {run["tenantId"] for run in of_one["extra"]["measured"]} == {"acme"}
    assert text_of(told).count(" Next: ") == 2 and text_of(of_one).count(" Next: ") == 1
    assert "Learned from “Ledgerleaf" in told["userMessage"] and " for " in told["userMessage"]
    assert "Learned lately" not in text_of(told)
    assert told["extra"]["lessons"] == [], "what a listed run taught stands once"
    assert set(told["extra"]["measured"][0]["totals"]) == {"views", "clicks"}


async def test_what_was_settled_long_ago_is_left_out_and_what_is_open_stays(client: LaunchClient) -> None:
    old = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    await client.approve_and_send(old["actions"][0]["id"])
    client.clock.advance(days=20)
    waiting = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    client.clock.advance(days=11)

    told = await table(client)

    assert (ids(told, "wentOut"), ids(told, "waiting")) == ([], [waiting["actions"][0]["id"]])


async def test_a_section_is_a_page_with_its_count_beside_it(client: LaunchClient) -> None:
    for number in range(12):
        client.clock.advance(seconds=1)
        await client.call(
            "chieflab_post", {"channel": "linkedin", "body": f"The import is ready, part {number}."}
        )

    told = await table(client)

    assert (len(told["waiting"]), told["counts"]["waiting"]) == (10, 12)
    assert "part 11" in text_of(told) and "part 1." not in text_of(told)


async def test_a_caller_that_cannot_decide_is_told_to_wait_for_the_page(client: LaunchClient) -> None:
    posted = await client.call("chieflab_post", {"channel": "linkedin", "body": "The import is ready."})
    issued = await client.key_with("runs:write")

    told = (await client.call(STATUS, key=issued)).payload

    [following] = calls_of(told)
    assert following["name"] == "chieflab_get_action"
    assert following["args"]["actionId"] == posted.payload["actions"][0]["id"]


async def test_what_somebody_stopped_is_told_from_what_nobody_has_decided(client: LaunchClient) -> None:
    posted = (await client.call("chieflab_post", {"channel": "site", "body": "The school offer."})).payload
    action_id = posted["actions"][0]["id"]
    seen = []
    for name, arguments in (
        (APPROVE, {"actionId": action_id}),
        ("chieflab_withdraw_approval", {"actionId": action_id, "reason": "Lena called."}),
        (APPROVE, {"actionId": action_id}),
        ("chieflab_edit_action", {"actionId": action_id, "body": "The offer for schools."}),
    ):
        await client.call(name, arguments)
        told = [
            text_of(await table(client)),
            text_of((await client.call(GET, {"actionId": action_id})).payload),
        ]
        seen.append(["Lena called." in each for each in told])

    assert seen == [[False, False], [True, True], [False, False], [False, False]]
