"""`chieflab_diagnose_marketing`: what is wrong, with which number, from where and when; or that nobody knows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.support.actions.kit import PREPARED_FIELDS
from tests.support.operators.fixtures import CLUB, Loop

from assent.gate.content.check import find_flaw
from assent.gate.preflight import Readiness
from assent.kernel.times import iso_time
from assent.ports import Campaign, Reading

DIAGNOSE = "chieflab_diagnose_marketing"


async def diagnosed(loop: Loop, **arguments: Any) -> dict[str, Any]:
    answer = await loop.call(DIAGNOSE, arguments)
    assert not answer.is_error, answer.payload
    return answer.payload


async def posted(loop: Loop, channel: str = "linkedin", **more: Any) -> dict[str, Any]:
    run = (await loop.call("chieflab_post", {"channel": channel, **CLUB, **more})).payload
    await loop.approve_and_send(run["actions"][0]["id"])
    return run


@pytest.mark.rule("E100")
async def test_without_data_it_says_so_and_what_would_bring_some(loop: Loop) -> None:
    reply = await diagnosed(loop, goal="more users")

    found = reply["diagnosis"]
    assert (found["hasData"], found["findings"], found["observations"]) == (False, [], [])
    assert "chieflab_launch_product" in [each["call"]["name"] for each in found["missingData"]]
    said = reply["agentGuide"]["renderInChat"]["text"]["body"]
    assert "no numbers" in said
    assert find_flaw(said) is None


@pytest.mark.rule("E46")
async def test_it_answers_the_whole_shape_and_stages_nothing(loop: Loop) -> None:
    await posted(loop)
    loop.zernio.metrics = {"impressions": 400, "likes": 0, "comments": 0}
    sent = len(loop.zernio.done)

    reply = await diagnosed(loop)

    assert set(reply) >= PREPARED_FIELDS
    assert (reply["actions"], reply["externalActionsExecuted"]) == ([], 0)
    assert reply["stopRule"] == reply["agentGuide"]["stopRule"]
    assert [asset["type"] for asset in reply["assets"]] == ["diagnosis"]
    assert len(loop.zernio.done) == sent
    kept = (await loop.call("chieflab_get_run", {"runId": reply["runId"]})).payload
    assert (kept["operator"], kept["outputs"]["findings"]) == ("chieflab-measure", ["seen_not_answered"])


@pytest.mark.rule("E100")
async def test_a_finding_names_its_number_its_source_and_its_time(loop: Loop) -> None:
    run = await posted(loop)
    loop.zernio.metrics = {"impressions": 400, "likes": 0}

    [finding] = (await diagnosed(loop))["diagnosis"]["findings"]

    assert (finding["rule"], finding["channel"], finding["runId"]) == (
        "seen_not_answered",
        "linkedin",
        run["runId"],
    )
    assert finding["numbers"] == {"impressions": 400, "likes": 0}
    assert (finding["source"], finding["readAt"]) == ("zernio", iso_time(loop.clock.now_ms()))
    assert finding["call"] == {
        "name": "chieflab_post",
        "args": {"channel": "linkedin"},
        "when": "the user wants to try it differently",
        "needs": {"body": "the text, written by you"},
    }


@pytest.mark.rule("E100")
async def test_what_a_source_said_before_counts_with_its_own_date_when_it_is_silent_now(loop: Loop) -> None:
    await posted(loop)
    loop.zernio.metrics = {"impressions": 50, "likes": 0}
    loop.clock.advance(hours=25)
    measured_at = iso_time(loop.clock.now_ms())
    await loop.due()
    loop.zernio.metrics = None
    loop.clock.advance(days=3)

    found = (await diagnosed(loop))["diagnosis"]

    assert [each["readAt"] for each in found["findings"]] == [measured_at]
    assert found["hasData"] is True


async def test_a_source_that_is_silent_is_missing_and_never_zero(loop: Loop) -> None:
    await posted(loop)

    found = (await diagnosed(loop))["diagnosis"]

    assert (found["hasData"], found["findings"]) == (False, [])
    assert any("lag two days" in each["how"] for each in found["missingData"])


async def test_a_channel_done_by_hand_asks_for_the_numbers_that_the_person_sees(loop: Loop) -> None:
    post = {"channel": "hn", "title": "Show HN: Ledgerleaf", "body": "Bookkeeping for clubs."}
    action_id = (await loop.call("chieflab_post", post)).payload["actions"][0]["id"]
    await loop.call("chieflab_approve_action", {"actionId": action_id})
    url = "https://news.ycombinator.com/item?id=1"
    await loop.call("chieflab_record_manual_publish", {"actionId": action_id, "url": url})

    missing = (await diagnosed(loop))["diagnosis"]["missingData"]

    [gap] = [each for each in missing if each["call"]["name"] == "chieflab_record_manual_metrics"]
    assert gap["call"]["args"] == {"channel": "hn"}


async def test_numbers_by_hand_are_used_with_who_read_them_where(loop: Loop) -> None:
    run = await posted(loop)
    await loop.call(
        "chieflab_record_manual_metrics",
        {
            "runId": run["runId"],
            "channel": "linkedin",
            "metrics": {"views": 80, "comments": 0},
            "source": "the page itself",
        },
    )

    [finding] = (await diagnosed(loop))["diagnosis"]["findings"]

    assert finding["source"] == "recorded by hand: the page itself"
    assert finding["numbers"] == {"views": 80, "comments": 0}


@pytest.mark.rule("E100")
async def test_a_source_of_whole_runs_is_asked_and_one_that_is_not_connected_is_missing(loop: Loop) -> None:
    run = await posted(loop, "site")
    loop.clock.advance(hours=1)
    before = (await diagnosed(loop))["diagnosis"]
    assert "ga4" in [each["call"]["args"].get("provider") for each in before["missingData"]]

    class Analytics:
        """Counts the visitors of a run's pages."""

        async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None:
            return Reading(
                source="ga4", channel="web", status="ok", metrics={"sessions": 60, "conversions": 0}
            )

    connectors: dict[str, Any] = {**loop.app.owner_services.connectors, "ga4": Analytics()}
    services = dataclasses.replace(loop.app.owner_services, make_connectors=lambda: connectors)
    loop.app.owner_services = loop.surfaces.edge.services = services

    [finding] = (await diagnosed(loop))["diagnosis"]["findings"]

    assert (finding["rule"], finding["source"], finding["runId"]) == (
        "visitors_do_nothing",
        "ga4",
        run["runId"],
    )
    assert finding["numbers"] == {"sessions": 60, "conversions": 0}


async def test_rejections_and_lessons_are_part_of_it_and_other_tenants_are_not(loop: Loop) -> None:
    for _ in range(2):
        run = (await loop.call("chieflab_post", {"channel": "site", "tenantId": "a", **CLUB})).payload
        await loop.call(
            "chieflab_reject_action", {"actionId": run["actions"][0]["id"], "reason": "Too loud for us."}
        )
    await loop.call(
        "chieflab_brain_record", {"kind": "lesson", "body": "Screenshots get replies.", "tenantId": "a"}
    )

    own = (await diagnosed(loop, tenantId="a"))["diagnosis"]
    other = (await diagnosed(loop, tenantId="b"))["diagnosis"]
    nobody = (await diagnosed(loop))["diagnosis"]

    assert [each["rule"] for each in own["findings"]] == ["drafts_rejected"]
    assert "Too loud for us." in own["findings"][0]["problem"]
    assert own["lessons"][0]["body"] == "Screenshots get replies."
    for each in (other, nobody):
        assert (each["findings"], each["lessons"]) == ([], [])
    await loop.sign_in()
    assert (await diagnosed(loop, tenantId="a"))["diagnosis"]["findings"] == []


async def test_what_could_not_go_out_is_said_with_its_count(loop: Loop) -> None:
    for _ in range(2):
        await loop.call("chieflab_post", {"channel": "bluesky", "body": "The import is ready."})
    loop.clock.advance(days=3)

    async def unready(workspace_id: str) -> Readiness:
        return Readiness(ready=False, blocker="missing_connector", fix_hint="Connect it.")

    loop.zernio.readiness = unready  # type: ignore[method-assign]

    found = {each["rule"]: each for each in (await diagnosed(loop))["diagnosis"]["findings"]}

    assert found["not_connected"]["numbers"] == {"actions": 2}
    assert found["decisions_wait"]["numbers"] == {"actions": 2, "days": 3}
