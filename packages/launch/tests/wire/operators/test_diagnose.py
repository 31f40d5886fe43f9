"""`chieflab_diagnose_marketing`: what is wrong, with which number, from where and when; or that nobody knows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.support.actions.kit import PREPARED_FIELDS
from tests.support.operators.fixtures import CLUB, LaunchClient

from assent.gate.content.check import find_flaw
from assent.gate.preflight import Readiness
from assent.kernel.times import iso_time
from assent.ports import Reading
from assent_launch.learning.measurement import Campaign

DIAGNOSE = "chieflab_diagnose_marketing"


async def diagnosed(client: LaunchClient, **arguments: Any) -> dict[str, Any]:
    answer = await client.call(DIAGNOSE, arguments)
    assert not answer.is_error, answer.payload
    return answer.payload


async def posted(client: LaunchClient, channel: str = "linkedin", **more: Any) -> dict[str, Any]:
    run = (await client.call("chieflab_post", {"channel": channel, **CLUB, **more})).payload
    await client.approve_and_send(run["actions"][0]["id"])
    return run


@pytest.mark.rule("E100")
async def test_without_data_it_says_so_and_what_would_bring_some(client: LaunchClient) -> None:
    reply = await diagnosed(client, goal="more users")

    found = reply["diagnosis"]
    assert (found["hasData"], found["findings"], found["observations"]) == (False, [], [])
    assert "chieflab_launch_product" in [each["call"]["name"] for each in found["missingData"]]
    said = reply["agentGuide"]["renderInChat"]["text"]["body"]
    assert "no numbers" in said
    assert find_flaw(said) is None


@pytest.mark.rule("E46")
async def test_it_answers_the_whole_shape_and_stages_nothing(client: LaunchClient) -> None:
    await posted(client)
    client.zernio.metrics = {"impressions": 400, "likes": 0, "comments": 0}
    sent = len(client.zernio.done)

    reply = await diagnosed(client)

    assert set(reply) >= PREPARED_FIELDS
    assert (reply["actions"], reply["externalActionsExecuted"]) == ([], 0)
    assert reply["stopRule"] == reply["agentGuide"]["stopRule"]
    assert [asset["type"] for asset in reply["assets"]] == ["diagnosis"]
    assert len(client.zernio.done) == sent
    kept = (await client.call("chieflab_get_run", {"runId": reply["runId"]})).payload
    assert (kept["operator"], kept["outputs"]["findings"]) == ("chieflab-measure", ["seen_not_answered"])


@pytest.mark.rule("E100")
async def test_a_finding_names_its_number_its_source_and_its_time(client: LaunchClient) -> None:
    run = await posted(client)
    client.zernio.metrics = {"impressions": 400, "likes": 0}

    [finding] = (await diagnosed(client))["diagnosis"]["findings"]

    assert (finding["rule"], finding["channel"], finding["runId"]) == (
        "seen_not_answered",
        "linkedin",
        run["runId"],
    )
    assert finding["numbers"] == {"impressions": 400, "likes": 0}
    assert (finding["source"], finding["readAt"]) == ("zernio", iso_time(client.clock.now_ms()))
    assert finding["call"] == {
        "name": "chieflab_post",
        "args": {"channel": "linkedin"},
        "when": "the user wants to try it differently",
        "needs": {"body": "the text, written by you"},
    }


@pytest.mark.rule("E100")
async def test_what_a_source_said_before_counts_with_its_own_date_when_it_is_silent_now(
    client: LaunchClient,
) -> None:
    await posted(client)
    client.zernio.metrics = {"impressions": 50, "likes": 0}
    client.clock.advance(hours=25)
    measured_at = iso_time(client.clock.now_ms())
    await client.run_jobs()
    client.zernio.metrics = None
    client.clock.advance(days=3)

    found = (await diagnosed(client))["diagnosis"]

    assert [each["readAt"] for each in found["findings"]] == [measured_at]
    assert found["hasData"] is True


async def test_a_source_that_is_silent_is_missing_and_never_zero(client: LaunchClient) -> None:
    await posted(client)

    found = (await diagnosed(client))["diagnosis"]

    assert (found["hasData"], found["findings"]) == (False, [])
    assert any("lag two days" in each["how"] for each in found["missingData"])


async def test_a_channel_done_by_hand_asks_for_the_numbers_that_the_person_sees(client: LaunchClient) -> None:
    post = {"channel": "hn", "title": "Show HN: Ledgerleaf", "body": "Bookkeeping for clubs."}
    action_id = (await client.call("chieflab_post", post)).payload["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id})
    url = "https://news.ycombinator.com/item?id=1"
    await client.call("chieflab_record_manual_publish", {"actionId": action_id, "url": url})

    missing = (await diagnosed(client))["diagnosis"]["missingData"]

    [gap] = [each for each in missing if each["call"]["name"] == "chieflab_record_manual_metrics"]
    assert gap["call"]["args"] == {"channel": "hn"}


async def test_numbers_by_hand_are_used_with_who_read_them_where(client: LaunchClient) -> None:
    run = await posted(client)
    await client.call(
        "chieflab_record_manual_metrics",
        {
            "runId": run["runId"],
            "channel": "linkedin",
            "metrics": {"views": 80, "comments": 0},
            "source": "the page itself",
        },
    )

    [finding] = (await diagnosed(client))["diagnosis"]["findings"]

    assert finding["source"] == "recorded by hand: the page itself"
    assert finding["numbers"] == {"views": 80, "comments": 0}


@pytest.mark.rule("E100")
async def test_a_source_of_whole_runs_is_asked_and_one_that_is_not_connected_is_missing(
    client: LaunchClient,
) -> None:
    run = await posted(client, "site")
    client.clock.advance(hours=1)
    before = (await diagnosed(client))["diagnosis"]
    assert "ga4" in [each["call"]["args"].get("provider") for each in before["missingData"]]

    class Analytics:
        """Counts the visitors of a run's pages."""

        async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None:
            return Reading(
                source="ga4", channel="web", status="ok", metrics={"sessions": 60, "conversions": 0}
            )

    connectors: dict[str, Any] = {**client.app.owner_services.connectors, "ga4": Analytics()}
    services = dataclasses.replace(client.app.owner_services, make_connectors=lambda: connectors)
    client.app.owner_services = client.surfaces.edge.services = services

    [finding] = (await diagnosed(client))["diagnosis"]["findings"]

    assert (finding["rule"], finding["source"], finding["runId"]) == (
        "visitors_do_nothing",
        "ga4",
        run["runId"],
    )
    assert finding["numbers"] == {"sessions": 60, "conversions": 0}


async def test_rejections_and_lessons_are_part_of_it_and_other_tenants_are_not(client: LaunchClient) -> None:
    for _ in range(2):
        run = (await client.call("chieflab_post", {"channel": "site", "tenantId": "a", **CLUB})).payload
        await client.call(
            "chieflab_reject_action", {"actionId": run["actions"][0]["id"], "reason": "Too loud for us."}
        )
    await client.call(
        "chieflab_brain_record", {"kind": "lesson", "body": "Screenshots get replies.", "tenantId": "a"}
    )

    own = (await diagnosed(client, tenantId="a"))["diagnosis"]
    other = (await diagnosed(client, tenantId="b"))["diagnosis"]
    nobody = (await diagnosed(client))["diagnosis"]

    assert [each["rule"] for each in own["findings"]] == ["drafts_rejected"]
    assert "Too loud for us." in own["findings"][0]["problem"]
    assert own["lessons"][0]["body"] == "Screenshots get replies."
    for each in (other, nobody):
        assert (each["findings"], each["lessons"]) == ([], [])
    await client.sign_in()
    assert (await diagnosed(client, tenantId="a"))["diagnosis"]["findings"] == []


async def test_what_could_not_go_out_is_said_with_its_count(client: LaunchClient) -> None:
    for _ in range(2):
        await client.call("chieflab_post", {"channel": "bluesky", "body": "The import is ready."})
    client.clock.advance(days=3)

    async def unready(workspace_id: str) -> Readiness:
        return Readiness(ready=False, blocker="missing_connector", fix_hint="Connect it.")

    client.zernio.readiness = unready  # type: ignore[method-assign]

    found = {each["rule"]: each for each in (await diagnosed(client))["diagnosis"]["findings"]}

    assert found["not_connected"]["numbers"] == {"actions": 2}
    assert found["decisions_wait"]["numbers"] == {"actions": 2, "days": 3}
