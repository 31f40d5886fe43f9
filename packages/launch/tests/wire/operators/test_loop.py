"""The closed loop: what went out is measured once, remembered, and changes what comes next."""

from __future__ import annotations

from functools import partial

import pytest
from tests.support.answers import bodies_of, calls_of, draft_of, text_of
from tests.support.jobs.kit import claim
from tests.support.operators.fixtures import CLUB, LaunchClient
from tests.support.surfaces import BASE_URL

from assent.client import Client, Refused
from assent.engine.core import jobs
from assent.engine.core.jobs import JobFailed, JobState
from assent.jobs.kinds import job_kinds
from assent_launch.learning.measurement import MEASURE_JOB
from assent_launch.learning.measuring import measure_job

BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/150.0"}


@pytest.mark.rule("E30", "E31", "E32", "E9")
async def test_a_run_is_measured_by_itself_a_day_after_it_went_out(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    done = await client.approve_and_send(run["actions"][0]["id"])
    for _ in range(3):
        assert (
            await client.http.get(done["externalUrl"].removeprefix(BASE_URL), headers=BROWSER)
        ).status_code == 200

    await client.run_jobs()
    assert (
        await client.call("chieflab_measure", {"runId": run["runId"]})
    ).reason == "measurement_unavailable"
    client.clock.advance(hours=25)
    await client.run_jobs()

    assets = (await client.call("chieflab_list_assets", {"runId": run["runId"]})).payload["assets"]
    measured = [asset for asset in assets if asset["type"] == "measurement"]
    assert len(measured) == 1
    assert measured[0]["runId"] == run["runId"]
    answer = (await client.call("chieflab_measure", {"runId": run["runId"]})).payload
    assert answer["runId"] == run["runId"]
    assert answer["measurement"]["sources"][0]["metrics"] == {"views": 3, "clicks": 0}
    assert answer["nextMove"]["move"]


@pytest.mark.rule("E31")
async def test_a_worker_that_lost_the_measurement_stores_nothing_of_it(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    await client.approve_and_send(run["actions"][0]["id"])
    client.clock.advance(hours=25)
    services, store = client.app.owner_services, client.app.store
    kinds = {MEASURE_JOB: job_kinds(client.app)[MEASURE_JOB]}
    [lost] = await claim(store, kinds, client.clock.now_ms())
    assert lost.lease_until_ms is not None
    [held] = await claim(store, kinds, lost.lease_until_ms)

    with pytest.raises(JobFailed):
        await measure_job(services, lost)
    assets = (await client.call("chieflab_list_assets", {"runId": run["runId"]})).payload["assets"]
    assert "measurement" not in [asset["type"] for asset in assets]

    assert await measure_job(services, held)
    done = await store.read(partial(jobs.find, held.workspace_id, held.job_id))
    assets = (await client.call("chieflab_list_assets", {"runId": run["runId"]})).payload["assets"]
    assert done is not None and done.state is JobState.DONE
    assert [asset["type"] for asset in assets].count("measurement") == 1


@pytest.mark.rule("E99")
async def test_asked_too_early_it_says_when_to_come_back(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    await client.approve_and_send(run["actions"][0]["id"])

    outcome = await client.call("chieflab_post_launch_review", {"runId": run["runId"]})

    assert outcome.reason == "measurement_unavailable"
    assert (outcome.payload["retry"], "retryAfterSeconds" in outcome.payload) == ("never", False)
    assert "tomorrow at" in outcome.payload["userMessage"]


@pytest.mark.rule("E100")
async def test_a_source_without_numbers_says_why_and_is_never_zero(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    await client.approve_and_send(run["actions"][0]["id"])
    client.clock.advance(hours=25)

    outcome = await client.call("chieflab_measure", {"runId": run["runId"]})
    assert outcome.reason == "measurement_unavailable"
    assert "lag two days" in outcome.payload["userMessage"]
    assert (outcome.payload["retry"], outcome.payload["retryAfterSeconds"]) == ("same", 43_200)

    client.zernio.metrics = {"impressions": 120, "likes": 4}
    measured = (await client.call("chieflab_measure", {"runId": run["runId"]})).payload
    assert measured["measurement"]["sources"][0]["metrics"] == {"impressions": 120, "likes": 4}


async def test_numbers_by_hand_are_only_taken_for_what_was_sent(client: LaunchClient) -> None:
    run = (await client.call("chieflab_launch_product", {"channels": ["site", "linkedin"], **CLUB})).payload
    site = next(action for action in run["actions"] if action["channel"] == "site")
    await client.approve_and_send(site["id"])
    numbers = {"runId": run["runId"], "metrics": {"points": 7}, "source": "the page itself"}

    refused = await client.call("chieflab_record_manual_metrics", {**numbers, "channel": "linkedin"})
    taken = await client.call("chieflab_record_manual_metrics", {**numbers, "channel": "site"})

    assert refused.reason == "validation_error"
    assert taken.payload["ok"] is True


@pytest.mark.rule("E33")
async def test_what_was_rejected_changes_the_next_launch_and_what_was_measured_is_kept(
    client: LaunchClient,
) -> None:
    arguments = {"channels": ["site"], **CLUB}
    first = (await client.call("chieflab_launch_product", arguments)).payload
    rejected = (await client.call("chieflab_launch_product", arguments)).payload
    await client.call(
        "chieflab_reject_action",
        {"actionId": rejected["actions"][0]["id"], "reason": "Never say “bank statements” again."},
    )
    await client.approve_and_send(first["actions"][0]["id"])
    client.clock.advance(hours=25)
    await client.run_jobs()

    second = (await client.call("chieflab_launch_product", arguments)).payload

    assert "bank statements" in draft_of(first, "site")
    assert "bank statements" not in draft_of(second, "site")
    used = {memory["kind"] for asset in second["assets"] for memory in asset.get("memoryUsed", [])}
    assert "rejection" in used
    kinds = {
        entry["kind"]
        for entry in (await client.call("chieflab_brain_read", {"limit": 50})).payload["entries"]
    }
    assert kinds >= {"approval", "rejection", "channel_performance"}


@pytest.mark.rule("E2")
async def test_memory_of_another_tenant_or_workspace_is_never_seen(client: LaunchClient) -> None:
    await client.call(
        "chieflab_brain_record", {"kind": "proof", "body": "Forty clubs use it.", "tenantId": "a"}
    )

    own = await client.call("chieflab_brain_read", {"tenantId": "a", "query": "forty clubs"})
    other = await client.call("chieflab_brain_read", {"tenantId": "b", "query": "forty clubs"})
    await client.sign_in()
    foreign = await client.call("chieflab_brain_read", {"tenantId": "a", "query": "forty clubs"})

    assert [entry["body"] for entry in own.payload["entries"]] == ["Forty clubs use it."]
    assert other.payload["entries"] == []
    assert foreign.payload["entries"] == []


async def test_a_search_takes_any_text_as_words(client: LaunchClient) -> None:
    await client.call("chieflab_brain_record", {"kind": "proof", "body": "Über 40 Vereine sparen Zeit."})

    for query in ('"', "AND OR NOT", "a*b(c)", "';--", "vereine:40", "   ", "日本語"):
        outcome = await client.call("chieflab_brain_read", {"query": query})
        assert outcome.payload["ok"] is True, query
    found = await client.call("chieflab_brain_read", {"query": "Vereine"})
    assert len(found.payload["entries"]) == 1


async def test_the_status_names_the_most_urgent_loop_first(client: LaunchClient) -> None:
    empty = (await client.call("chieflab_status")).payload
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload
    pending = (await client.call("chieflab_status")).payload
    await client.approve_and_send(run["actions"][0]["id"])
    client.clock.advance(hours=25)
    due = (await client.call("chieflab_status")).payload

    assert calls_of(empty)[0]["name"] == "chieflab_launch_product"
    assert calls_of(pending)[0]["name"] == "chieflab_list_pending_actions"
    assert calls_of(due) == [
        {
            "name": "chieflab_measure",
            "args": {"runId": run["runId"]},
            "when": "to see how it went",
        }
    ]


@pytest.mark.rule("E94", "E98")
async def test_a_channel_served_by_hand_is_published_when_its_address_is_there(client: LaunchClient) -> None:
    run = await client.call(
        "chieflab_post",
        {"channel": "hn", "title": "Show HN: Ledgerleaf", "body": "Bookkeeping for clubs, in one file."},
    )
    action_id = run.payload["actions"][0]["id"]
    await client.call("chieflab_approve_action", {"actionId": action_id})

    refused = await client.call("chieflab_publish_approved_post", {"actionId": action_id})
    brief = (await client.call("chieflab_use_manual_fallback", {"actionId": action_id})).payload
    url = "https://news.ycombinator.com/item?id=1"
    done = (await client.call("chieflab_record_manual_publish", {"actionId": action_id, "url": url})).payload

    assert refused.reason == "missing_connector"
    assert (refused.payload["retry"], refused.payload["recoveryTool"]) == ("never", None)
    assert "chieflab_use_manual_fallback" in refused.payload["fixActionForAgent"]
    assert brief["published"] is False
    assert "Show HN: Ledgerleaf" in text_of(brief)
    assert (done["status"], done["externalUrl"]) == ("executed", url)


@pytest.mark.rule("E16", "E17", "E55", "E56", "E102")
async def test_an_agent_that_goes_by_the_book_shows_asks_and_stops(client: LaunchClient) -> None:
    async with Client(BASE_URL, client.key, transport=client.wire) as agent:
        run = await agent.call("chieflab_launch_product", channels=["site", "linkedin"], **CLUB)
        assert {each["channel"] for each in run["actions"]} <= set(bodies_of(run))
        assert run["reviewUrl"] not in run["agentGuide"]["userMessage"]

        with pytest.raises(Refused) as stopped:
            await agent.follow("chieflab_publish_approved_post", actionId=run["actions"][0]["id"])
        assert stopped.value.reason == "requires_approval"
        assert stopped.value.recovery["recoveryTool"] is None

    assert client.zernio.done == []


@pytest.mark.rule("E55")
async def test_an_agent_calls_the_recovery_tool_and_then_repeats_once(client: LaunchClient) -> None:
    calls: list[str] = []

    class Watched(Client):
        async def call(self, tool: str, **arguments: object) -> dict[str, object]:
            calls.append(tool)
            return await super().call(tool, **arguments)

    async with Watched(BASE_URL, transport=client.wire) as agent:
        # Signing up needs an address that only the user has: without it nothing is called blindly.
        with pytest.raises(Refused):
            await agent.follow("chieflab_get_workspace")
        assert calls == ["chieflab_get_workspace"]
        with pytest.raises(Refused):
            await agent.follow(
                "chieflab_get_workspace", ask=lambda needs: dict.fromkeys(needs, "ada@example.org")
            )

    assert calls[1:] == ["chieflab_get_workspace", "chieflab_signup_workspace", "chieflab_get_workspace"]


async def test_an_edited_thread_is_divided_anew(client: LaunchClient) -> None:
    long = " ".join(f"Sentence number {n} says something about clubs." for n in range(12))
    run = (await client.call("chieflab_post", {"channel": "x", "body": long})).payload
    action_id = run["actions"][0]["id"]
    before = (await client.call("chieflab_get_action", {"actionId": action_id})).payload["content"]
    assert len(before["details"]["thread"]) > 1

    await client.call(
        "chieflab_edit_action", {"actionId": action_id, "body": before["body"].replace("clubs", "choirs")}
    )
    after = (await client.call("chieflab_get_action", {"actionId": action_id})).payload["content"]
    await client.call("chieflab_edit_action", {"actionId": action_id, "body": "Short now."})
    short = (await client.call("chieflab_get_action", {"actionId": action_id})).payload["content"]

    assert "clubs" not in " ".join(after["details"]["thread"])
    assert "\n\n".join(after["details"]["thread"]) == after["body"]
    assert len(after["details"]["thread"]) == len(before["details"]["thread"])
    assert (short["body"], short.get("details", {})) == ("Short now.", {})


async def test_an_edit_is_held_to_the_channels_limit(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "bluesky", "body": "The import is ready."})).payload

    outcome = await client.call(
        "chieflab_edit_action", {"actionId": run["actions"][0]["id"], "body": "word " * 100}
    )

    assert outcome.reason == "validation_error"
