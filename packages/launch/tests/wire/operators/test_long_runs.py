"""A run that takes long is answered at once, goes on by itself, survives its process, and is posted when it ends."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest
from packages.launch.tests.wire.operators.test_webhooks import bare
from tests.support.net.stub_server import StubServer
from tests.support.operators.fixtures import CLUB, LaunchClient

from assent.engine.actions import actions
from assent.engine.webhooks import long_runs
from assent.gate.next_try import RETRY_PAUSES_MS
from assent.gate.records import Action
from assent.kernel.ids import RunId
from assent.kernel.refusals import Reason, Refusal
from assent.net.addresses import FetchRefused
from assent.net.outgoing import FetchedPage
from assent.ports import Reading

LAUNCH = "chieflab_launch_product"
PAGE = "https://ledgerleaf.example.org"


class SlowPage:
    """A product page that takes its time until somebody lets it go."""

    def __init__(self, client: LaunchClient, patience_seconds: float = 0.05) -> None:
        self.reads = 0
        self.here = asyncio.Event()
        markup = "<title>Ledgerleaf</title><h1>Bookkeeping for clubs</h1><p>It is fast.</p>"
        self.page: FetchedPage | FetchRefused = FetchedPage(url=PAGE, content_type="text/html", text=markup)
        made = client.app.owner_services
        services = dataclasses.replace(
            made,
            outgoing=dataclasses.replace(made.outgoing, fetch_page=self.read),
            limits=dataclasses.replace(made.limits, long_run_seconds=patience_seconds),
        )
        client.app.owner_services = client.surfaces.edge.services = services

    async def read(self, url: str) -> FetchedPage:
        self.reads += 1
        await self.here.wait()
        if isinstance(self.page, FetchRefused):
            raise self.page
        return self.page


async def launched(client: LaunchClient, stub: StubServer, **more: Any) -> dict[str, Any]:
    arguments = {"productUrl": PAGE, "channels": ["site"], "webhookUrl": stub.url("/hook"), **CLUB, **more}
    answer = await client.call(LAUNCH, arguments)
    assert not answer.is_error, answer.payload
    return answer.payload


@pytest.mark.rule("E89")
async def test_a_slow_launch_answers_at_once_and_posts_its_result(
    client: LaunchClient, stub: StubServer
) -> None:
    slow = SlowPage(client)

    early = await launched(client, stub)

    assert (early["status"], early["actions"], early["assets"]) == ("running", [], [])
    assert early["agentGuide"]["nextToolCalls"]["primary"] == {
        "name": "chieflab_get_run",
        "args": {"runId": early["runId"]},
        "when": "the user asks for the result later",
    }
    assert early["stopRule"] == early["agentGuide"]["stopRule"]
    assert early["reviewUrl"]
    kept = (await client.call("chieflab_get_run", {"runId": early["runId"]})).payload
    assert (kept["status"], kept["actions"]) == ("running", [])
    slow.here.set()
    await client.run_jobs()

    [asked] = stub.asked
    posted = json.loads(asked.body)
    assert (posted["type"], posted["runId"]) == ("launch_product.completed", early["runId"])
    assert posted["result"]["status"] == "prepared"
    kept = (await client.call("chieflab_get_run", {"runId": early["runId"]})).payload
    assert kept["status"] == "awaiting_approval"
    assert [action["id"] for action in kept["actions"]] == [a["id"] for a in posted["result"]["actions"]]
    done = await client.approve_and_send(kept["actions"][0]["id"])
    assert done["status"] == "executed"
    kinds = [
        event["kind"]
        for event in (await client.call("chieflab_query_audit", {"runId": early["runId"]})).payload["events"]
    ]
    assert kinds[:3] == ["run_started", "run_prepared", "webhook_delivered"]


async def test_a_quick_one_is_the_answer_and_posted_too(client: LaunchClient, stub: StubServer) -> None:
    SlowPage(client, 30).here.set()

    run = await launched(client, stub)
    await client.run_jobs()

    assert (run["status"], len(run["actions"])) == ("prepared", 1)
    assert json.loads(stub.asked[0].body)["result"] == bare(run)


async def test_without_a_webhook_a_caller_waits_for_the_result(client: LaunchClient) -> None:
    slow = SlowPage(client)
    asyncio.get_running_loop().call_later(0.2, slow.here.set)

    run = (await client.call(LAUNCH, {"productUrl": PAGE, "channels": ["site"], **CLUB})).payload

    assert (run["status"], slow.reads) == ("prepared", 1)


async def test_the_same_key_gives_the_early_answer_and_one_run(
    client: LaunchClient, stub: StubServer
) -> None:
    slow = SlowPage(client)
    early = await launched(client, stub, idempotencyKey="k")
    again = await launched(client, stub, idempotencyKey="k")
    slow.here.set()
    await client.run_jobs()
    after = await launched(client, stub, idempotencyKey="k")
    await client.run_jobs()

    assert early == again == after
    assert len(stub.asked) == 1
    assert len((await client.call("chieflab_list_runs")).payload["runs"]) == 1


async def test_what_would_have_been_refused_is_posted_as_failed(
    client: LaunchClient, stub: StubServer
) -> None:
    slow = SlowPage(client)
    early = (
        await client.call(LAUNCH, {"productUrl": PAGE, "channels": ["site"], "webhookUrl": stub.url("/hook")})
    ).payload
    assert early["status"] == "running"
    slow.page = FetchRefused("status", "The page answered with status 404.", status=404)
    slow.here.set()
    await client.run_jobs()

    [asked] = stub.asked
    posted = json.loads(asked.body)
    assert (posted["type"], posted["result"]["reason"]) == ("launch_product.failed", "missing_repo_context")
    kept = (await client.call("chieflab_get_run", {"runId": early["runId"]})).payload
    assert (kept["status"], kept["outputs"]["refusal"]["reason"]) == ("failed", "missing_repo_context")


async def test_a_run_that_two_processes_finish_ends_once(client: LaunchClient, stub: StubServer) -> None:
    slow = SlowPage(client)
    early = await launched(client, stub)
    slow.here.set()
    await client.run_jobs()
    workspace = (await client.call("chieflab_get_workspace")).payload["workspaceId"]
    run = await client.app.store.read(lambda: actions.find_run(workspace, RunId(early["runId"])))
    assert run is not None

    await long_runs.fail(client.app.owner_services, run, Refusal(Reason.INTERNAL_ERROR))
    await client.run_jobs()

    assert len(stub.asked) == 1
    kept = (await client.call("chieflab_get_run", {"runId": early["runId"]})).payload
    assert (kept["status"], len(kept["actions"])) == ("awaiting_approval", 1)


async def test_a_bug_in_a_long_run_is_tried_again_and_in_the_end_said(
    client: LaunchClient, stub: StubServer
) -> None:
    slow = SlowPage(client)
    await launched(client, stub)

    async def broken(url: str) -> FetchedPage:
        raise KeyError("a bug")

    client.app.owner_services = dataclasses.replace(
        client.app.owner_services,
        outgoing=dataclasses.replace(client.app.owner_services.outgoing, fetch_page=broken),
    )
    for _ in RETRY_PAUSES_MS:
        await client.run_jobs()
        assert stub.asked == []
        client.clock.advance(hours=3)
    await client.run_jobs()

    [asked] = stub.asked
    posted = json.loads(asked.body)
    assert (posted["type"], posted["result"]["reason"]) == ("launch_product.failed", "internal_error")
    assert slow.reads == 1


async def test_a_slow_source_does_not_hold_up_a_diagnosis(client: LaunchClient, stub: StubServer) -> None:
    run = (await client.call("chieflab_post", {"channel": "linkedin", **CLUB})).payload
    await client.approve_and_send(run["actions"][0]["id"])
    slow = SlowPage(client)

    async def measure(action: Action, timeout_seconds: float) -> Reading:
        await slow.here.wait()
        return Reading(
            source="zernio", channel="linkedin", status="ok", metrics={"impressions": 90, "likes": 0}
        )

    client.zernio.measure = measure  # type: ignore[method-assign]

    early = (await client.call("chieflab_diagnose_marketing", {"webhookUrl": stub.url("/hook")})).payload
    assert (early["status"], early["diagnosis"]) == ("running", None)
    slow.here.set()
    await client.run_jobs()

    posted = json.loads(stub.asked[0].body)
    assert posted["type"] == "diagnose_marketing.completed"
    assert [each["rule"] for each in posted["result"]["diagnosis"]["findings"]] == ["seen_not_answered"]
