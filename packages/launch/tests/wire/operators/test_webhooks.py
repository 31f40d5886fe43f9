"""Results that are posted: signed, on the contract's schedule, once enqueued with what they carry, and never inside."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.net.stub_server import Answer, Asked, StubServer, redirect
from tests.support.operators.fixtures import CLUB, LaunchClient
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.core import jobs, tenancy
from assent.engine.core.jobs import Job, JobKind
from assent.engine.webhooks import subscriptions as webhook_hosts
from assent.engine.webhooks import webhooks
from assent.engine.webhooks.webhooks import DeliveryRecord, Try
from assent.gate.webhooks import RETRY_DELAYS_MS, WebhookReply, mask_url
from assent.jobs import kinds as job_kinds
from assent.jobs.worker import CONCURRENCY_APART, Runner
from assent.kernel.ids import WorkspaceId
from assent.kernel.limits import WEBHOOK_RETENTION_MS
from assent.net import addresses as outgoing_addresses
from assent.outgoing_calls import post_webhook
from assent.ports import StoreUnavailable, Transaction
from assent.processes.serve import running_jobs

LAUNCH = "chieflab_launch_product"
HERE = ("127.0.0.1",)


async def launched(client: LaunchClient, url: str, **more: Any) -> dict[str, Any]:
    client.clock.advance(seconds=0.001)  # ids sort by the millisecond
    answer = await client.call(LAUNCH, {"channels": ["site"], "webhookUrl": url, **CLUB, **more})
    assert not answer.is_error, answer.payload
    return answer.payload


async def workspace_of(client: LaunchClient) -> WorkspaceId:
    return WorkspaceId((await client.call("chieflab_get_workspace")).payload["workspaceId"])


async def secret_of(client: LaunchClient, **options: Any) -> str:
    return await webhooks.signing_secret(client.app.owner_services, await workspace_of(client), **options)


async def log_of(client: LaunchClient) -> tuple[DeliveryRecord, tuple[Try, ...]]:
    """The newest delivery and its tries."""
    workspace_id = await workspace_of(client)
    newest, *_ = await client.app.store.read(partial(webhooks.recent, workspace_id, "", 10))
    lines = await client.app.store.read(partial(webhooks.tries, workspace_id, newest.delivery_id))
    return newest, lines


def genuine(asked: Asked, secret: str) -> bool:
    """Whether a receiver that was given the secret would believe it, by either signature."""
    own = hmac.new(secret.encode(), asked.body, hashlib.sha256).hexdigest()
    signed = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    standard = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return (asked.headers["x-chieflab-signature"], asked.headers["webhook-signature"]) == (
        f"sha256={own}",
        f"v1,{standard}",
    )


def bare(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as others may have it: its links without what makes them work."""
    without: dict[str, Any] = json.loads(re.sub(r"\?token=[\w.-]+", "", json.dumps(answer)))
    assert without != answer
    return without


def impatient(client: LaunchClient, seconds: float = 0.3) -> None:
    """Wait for nobody longer than this."""
    post = partial(post_webhook, HERE, timeout_seconds=seconds)
    client.app.owner_services = dataclasses.replace(
        client.app.owner_services,
        outgoing=dataclasses.replace(client.app.owner_services.outgoing, post_webhook=post),
    )


@pytest.mark.rule("E89")
async def test_the_result_of_a_launch_is_posted_too_and_signed_with_the_workspaces_secret(
    client: LaunchClient, stub: StubServer
) -> None:
    run = await launched(client, stub.url("/hook"))
    assert stub.asked == []

    await client.run_jobs()

    [asked] = stub.asked
    body = json.loads(asked.body)
    assert (asked.method, asked.headers["content-type"]) == ("POST", "application/json")
    assert body == {"type": "launch_product.completed", "runId": run["runId"], "result": bare(run)}
    assert genuine(asked, await secret_of(client))
    delivery, [line] = await log_of(client)
    assert (delivery.state, delivery.run_id, asked.headers["webhook-id"]) == (
        "delivered",
        run["runId"],
        delivery.delivery_id,
    )
    assert (line.outcome, line.status) == ("delivered", 200)
    kinds = [
        event["kind"]
        for event in (await client.call("chieflab_query_audit", {"runId": run["runId"]})).payload["events"]
    ]
    assert kinds == ["run_prepared", "webhook_delivered"]


@pytest.mark.rule("E35", "E89")
async def test_a_delivery_names_the_run_and_carries_no_token(client: LaunchClient, stub: StubServer) -> None:
    run = await launched(client, stub.url("/hook"), imagesNeeded=True)
    assert "token=" in run["reviewUrl"] and "token=" in text_of(run)
    await client.run_jobs()

    [asked] = stub.asked
    assert b"token=" not in asked.body
    assert json.loads(asked.body)["result"]["reviewUrl"] == run["reviewUrl"].partition("?")[0]


async def limited(client: LaunchClient, *hosts: str) -> None:
    """Only these hosts from here on."""
    workspace_id, now_ms = await workspace_of(client), client.clock.now_ms()
    await client.app.store.write(partial(webhook_hosts.limit_hosts, workspace_id, hosts, now_ms, by="test"))


@pytest.mark.rule("E89")
async def test_a_host_that_the_workspace_does_not_allow_is_refused_when_it_is_named(
    client: LaunchClient, stub: StubServer
) -> None:
    first = await launched(client, stub.url("/hook"), idempotencyKey="before")
    for hosts in (("hooks.example.org",), ()):
        await limited(client, *hosts)
        for tool, more in ((LAUNCH, {"channels": ["site"], **CLUB}), ("chieflab_diagnose_marketing", {})):
            refused = await client.call(tool, {"webhookUrl": stub.url("/hook"), **more})
            assert refused.reason == "validation_error"
            [problem] = refused.payload["problems"]
            assert (problem["path"], problem["got"]) == ("webhookUrl", "'127.0.0.1'")
            assert all(host in problem["expected"] for host in hosts)
    assert len((await client.call("chieflab_list_runs")).payload["runs"]) == 1
    assert await launched(client, stub.url("/hook"), idempotencyKey="before") == first

    await limited(client, "hooks.example.org", "127.0.0.1")
    await launched(client, stub.url("/hook"))


async def test_a_limit_holds_for_what_was_queued_before_it_and_its_end_lets_it_go(
    client: LaunchClient, stub: StubServer
) -> None:
    await launched(client, stub.url("/hook"))
    await limited(client, "hooks.example.org")

    await client.run_jobs()

    assert stub.asked == []
    delivery, [line] = await log_of(client)
    assert (delivery.state, line.outcome, line.status) == ("waiting", "refused", None)
    assert "hooks.example.org" in line.detail

    await limited(client, "127.0.0.1")
    client.clock.advance(seconds=60)
    await client.run_jobs()
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org@evil.example/",
        "https://evil.example#@hooks.example.org/",
        "https://evil.example\\@hooks.example.org/",
        "https://evil.example/.hooks.example.org",
        "https://hooks.example.org.evil.example/",
        "https://evil.example?hooks.example.org",
    ],
)
async def test_no_spelling_of_another_address_passes_for_an_allowed_host(
    client: LaunchClient, url: str
) -> None:
    await limited(client, "hooks.example.org")
    refused = await client.call(LAUNCH, {"channels": ["site"], "webhookUrl": url, **CLUB})
    assert refused.reason == "validation_error"
    assert [problem["path"] for problem in refused.payload["problems"]] == ["webhookUrl"]


async def test_each_bad_endpoint_is_bounded_and_logged(client: LaunchClient, stub: StubServer) -> None:
    stub.answers |= {
        "/inside": redirect(stub.url("/secret")),
        "/gone": Answer(status=410),
        "/hangs": Answer(stall=True),
        "/streams": Answer(body=b"y" * 65_536, endless=True),
    }
    expected = {
        "/inside": ("waiting", "redirect", 302),
        "/gone": ("failed", "gone", 410),
        "/hangs": ("waiting", "unreachable", None),
        "/streams": ("delivered", "delivered", 200),
    }
    for path, (state, outcome, status) in expected.items():
        if path == "/hangs":
            impatient(client)
        elif path == "/streams":
            impatient(client, 20)
        await launched(client, stub.url(path))
        await client.run_jobs()
        delivery, [line] = await log_of(client)
        assert (delivery.state, line.outcome, line.status) == (state, outcome, status), path
        assert line.detail and line.duration_ms >= 0
    assert "/secret" not in {asked.path for asked in stub.asked}


async def test_a_name_that_leads_inside_at_delivery_is_refused_and_tried_again_later(
    client: LaunchClient, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    leads: list[str] = ["203.0.113.9", "10.0.0.7"]

    async def resolve(host: str, port: int) -> Sequence[str]:
        return leads

    monkeypatch.setattr(outgoing_addresses, "_resolve", resolve)
    await launched(client, "https://hook.example.org/x?token=s3cret")
    await client.run_jobs()

    delivery, [line] = await log_of(client)
    assert (delivery.state, line.outcome, line.status) == ("waiting", "refused", None)
    assert delivery.next_try_ms == client.clock.now_ms() + RETRY_DELAYS_MS[0]
    assert "s3cret" not in line.detail + mask_url(delivery.url)
    assert stub.asked == []


async def test_a_repeated_call_posts_once_and_a_refused_one_nothing(
    client: LaunchClient, stub: StubServer
) -> None:
    first = await launched(client, stub.url("/hook"), idempotencyKey="k1")
    again = await launched(client, stub.url("/hook"), idempotencyKey="k1")
    refused = await client.call(LAUNCH, {"webhookUrl": stub.url("/hook")})
    await client.run_jobs()

    assert again == first
    assert refused.reason == "missing_repo_context"
    assert len(stub.asked) == 1


async def test_what_was_posted_by_a_process_that_died_is_posted_again_under_the_same_id(
    client: LaunchClient, stub: StubServer
) -> None:
    alive = client.app.owner_services.outgoing.post_webhook

    async def dies(url: str, body: bytes, headers: Any) -> WebhookReply:
        await alive(url, body, headers)
        raise StoreUnavailable("this process is gone before it can write the answer down")

    await launched(client, stub.url("/hook"))
    client.app.owner_services = dataclasses.replace(
        client.app.owner_services,
        outgoing=dataclasses.replace(client.app.owner_services.outgoing, post_webhook=dies),
    )
    await Runner(
        client.app.store, client.clock, job_kinds.job_kinds(client.app), worker="dies"
    ).run_due_once()
    client.app.owner_services = dataclasses.replace(
        client.app.owner_services,
        outgoing=dataclasses.replace(client.app.owner_services.outgoing, post_webhook=alive),
    )
    client.clock.advance(seconds=10)
    await client.run_jobs()

    delivery, lines = await log_of(client)
    assert (delivery.state, [line.status for line in lines]) == ("delivered", [200])
    assert len(stub.asked) == 2
    assert len({(asked.headers["webhook-id"], asked.body) for asked in stub.asked}) == 1


async def test_of_many_who_need_the_first_secret_all_get_the_same(client: LaunchClient) -> None:
    workspace_id = await workspace_of(client)

    made = await asyncio.gather(
        *(webhooks.signing_secret(client.app.owner_services, workspace_id) for _ in range(8))
    )

    assert len(set(made)) == 1


async def test_what_has_ended_can_be_sent_again_under_the_same_id(
    client: LaunchClient, stub: StubServer
) -> None:
    stub.answers["/hook"] = Answer(status=410)
    await launched(client, stub.url("/hook"))
    workspace_id, now_ms = await workspace_of(client), client.clock.now_ms()
    waiting, _ = await log_of(client)

    def resend(of: WorkspaceId) -> Transaction[str]:
        return (yield from webhooks.resend(of, waiting.delivery_id, now_ms, by="test"))

    assert await client.app.store.write(partial(resend, workspace_id)) == "waiting"
    await client.run_jobs()
    stub.answers["/hook"] = Answer(status=200)
    stranger = (await client.new_workspace("stranger")).workspace_id
    assert await client.app.store.write(partial(resend, stranger)) == "unknown"
    assert await client.app.store.write(partial(resend, workspace_id)) == "resent"
    await client.run_jobs()

    delivery, lines = await log_of(client)
    assert (delivery.state, [line.status for line in lines]) == ("delivered", [410, 200])
    assert len({(asked.headers["webhook-id"], asked.body) for asked in stub.asked}) == 1
    assert await client.app.store.read(partial(webhooks.recent, stranger, "", 10)) == ()


@pytest.mark.own_database
async def test_the_log_is_bounded_and_old_deliveries_are_forgotten(
    client: LaunchClient, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MAX_TRIES_KEPT", 3)
    stub.answers["/hook"] = Answer(status=410)
    await launched(client, stub.url("/hook"))
    await client.run_jobs()
    workspace_id = await workspace_of(client)
    delivery, _ = await log_of(client)
    for _ in range(webhooks.MAX_TRIES_KEPT + 2):
        now_ms = client.clock.now_ms()
        resend = partial(webhooks.resend, workspace_id, delivery.delivery_id, now_ms, by="test")
        await client.app.store.write(resend)
        await client.run_jobs()
    _, lines = await log_of(client)
    assert (len(lines), lines[-1].number) == (webhooks.MAX_TRIES_KEPT, webhooks.MAX_TRIES_KEPT + 3)

    client.clock.advance(seconds=WEBHOOK_RETENTION_MS / 1000)
    now_ms = client.clock.now_ms()
    assert await client.app.store.write(partial(webhooks.forget_old, now_ms, 100)) == 1
    assert await client.app.store.read(partial(webhooks.recent, workspace_id, "", 10)) == ()
    assert await client.app.store.read(partial(webhooks.tries, workspace_id, delivery.delivery_id)) == ()


async def test_endpoints_that_hang_keep_no_other_job_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    app = App(settings_for(new_sqlite(tmp_path / "assent.db"), tmp_path), clock=clock)
    assert job_kinds.job_kinds(app)[webhooks.DELIVER_JOB].apart
    hanging, other, over = asyncio.Semaphore(0), asyncio.Event(), asyncio.Event()

    async def hang(job: Job) -> None:
        hanging.release()
        await over.wait()

    async def run(job: Job) -> None:
        other.set()

    kinds = {"hangs": JobKind(hang, apart=True), "other": JobKind(run)}
    monkeypatch.setattr(job_kinds, "job_kinds", lambda app: kinds)
    enqueue = partial(jobs.enqueue, tenancy.LOCAL_WORKSPACE, due_ms=clock.now_ms(), now_ms=clock.now_ms())
    try:
        async with asyncio.timeout(20), running_jobs(app):
            for number in range(2 * CONCURRENCY_APART):
                await app.store.write(partial(enqueue, "hangs", str(number), {}))
            app.wake_jobs()
            for _ in range(CONCURRENCY_APART):
                await hanging.acquire()
            await app.store.write(partial(enqueue, "other", "one", {}))
            app.wake_jobs()
            await other.wait()
            over.set()
    finally:
        await app.close()
