"""Results that are posted: signed, on the contract's schedule, once enqueued with what they carry, and never inside."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.answers import text_of
from tests.support.net.far_side import Answer, Asked, FarSide, far_side, redirect
from tests.support.operators.fixtures import CLUB, Loop
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


@pytest.fixture
def side() -> Iterator[FarSide]:
    with far_side() as running:
        yield running


async def launched(loop: Loop, url: str, **more: Any) -> dict[str, Any]:
    loop.clock.advance(seconds=0.001)  # ids sort by the millisecond
    answer = await loop.call(LAUNCH, {"channels": ["site"], "webhookUrl": url, **CLUB, **more})
    assert not answer.is_error, answer.payload
    return answer.payload


async def workspace_of(loop: Loop) -> WorkspaceId:
    return WorkspaceId((await loop.call("chieflab_get_workspace")).payload["workspaceId"])


async def secret_of(loop: Loop, **options: Any) -> str:
    return await webhooks.signing_secret(loop.app.owner_services, await workspace_of(loop), **options)


async def log_of(loop: Loop) -> tuple[DeliveryRecord, tuple[Try, ...]]:
    """The newest delivery and its tries."""
    workspace_id = await workspace_of(loop)
    newest, *_ = await loop.app.store.read(partial(webhooks.recent, workspace_id, "", 10))
    lines = await loop.app.store.read(partial(webhooks.tries, workspace_id, newest.delivery_id))
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


def impatient(loop: Loop, seconds: float = 0.3) -> None:
    """Wait for nobody longer than this."""
    post = partial(post_webhook, HERE, timeout_seconds=seconds)
    loop.app.owner_services = dataclasses.replace(
        loop.app.owner_services,
        outgoing=dataclasses.replace(loop.app.owner_services.outgoing, post_webhook=post),
    )


@pytest.mark.rule("E89")
async def test_the_result_of_a_launch_is_posted_too_and_signed_with_the_workspaces_secret(
    loop: Loop, side: FarSide
) -> None:
    run = await launched(loop, side.url("/hook"))
    assert side.asked == []

    await loop.due()

    [asked] = side.asked
    body = json.loads(asked.body)
    assert (asked.method, asked.headers["content-type"]) == ("POST", "application/json")
    assert body == {"type": "launch_product.completed", "runId": run["runId"], "result": bare(run)}
    assert genuine(asked, await secret_of(loop))
    delivery, [line] = await log_of(loop)
    assert (delivery.state, delivery.run_id, asked.headers["webhook-id"]) == (
        "delivered",
        run["runId"],
        delivery.delivery_id,
    )
    assert (line.outcome, line.status) == ("delivered", 200)
    kinds = [
        event["kind"]
        for event in (await loop.call("chieflab_query_audit", {"runId": run["runId"]})).payload["events"]
    ]
    assert kinds == ["run_prepared", "webhook_delivered"]


@pytest.mark.rule("E35", "E89")
async def test_a_delivery_names_the_run_and_carries_no_token(loop: Loop, side: FarSide) -> None:
    run = await launched(loop, side.url("/hook"), imagesNeeded=True)
    assert "token=" in run["reviewUrl"] and "token=" in text_of(run)
    await loop.due()

    [asked] = side.asked
    assert b"token=" not in asked.body
    assert json.loads(asked.body)["result"]["reviewUrl"] == run["reviewUrl"].partition("?")[0]


async def limited(loop: Loop, *hosts: str) -> None:
    """Only these hosts from here on."""
    workspace_id, now_ms = await workspace_of(loop), loop.clock.now_ms()
    await loop.app.store.write(partial(webhook_hosts.limit_hosts, workspace_id, hosts, now_ms, by="test"))


@pytest.mark.rule("E89")
async def test_a_host_that_the_workspace_does_not_allow_is_refused_when_it_is_named(
    loop: Loop, side: FarSide
) -> None:
    first = await launched(loop, side.url("/hook"), idempotencyKey="before")
    for hosts in (("hooks.example.org",), ()):
        await limited(loop, *hosts)
        for tool, more in ((LAUNCH, {"channels": ["site"], **CLUB}), ("chieflab_diagnose_marketing", {})):
            refused = await loop.call(tool, {"webhookUrl": side.url("/hook"), **more})
            assert refused.reason == "validation_error"
            [problem] = refused.payload["problems"]
            assert (problem["path"], problem["got"]) == ("webhookUrl", "'127.0.0.1'")
            assert all(host in problem["expected"] for host in hosts)
    assert len((await loop.call("chieflab_list_runs")).payload["runs"]) == 1
    assert await launched(loop, side.url("/hook"), idempotencyKey="before") == first

    await limited(loop, "hooks.example.org", "127.0.0.1")
    await launched(loop, side.url("/hook"))


async def test_a_limit_holds_for_what_was_queued_before_it_and_its_end_lets_it_go(
    loop: Loop, side: FarSide
) -> None:
    await launched(loop, side.url("/hook"))
    await limited(loop, "hooks.example.org")

    await loop.due()

    assert side.asked == []
    delivery, [line] = await log_of(loop)
    assert (delivery.state, line.outcome, line.status) == ("waiting", "refused", None)
    assert "hooks.example.org" in line.detail

    await limited(loop, "127.0.0.1")
    loop.clock.advance(seconds=60)
    await loop.due()
    assert len(side.asked) == 1


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
async def test_no_spelling_of_another_address_passes_for_an_allowed_host(loop: Loop, url: str) -> None:
    await limited(loop, "hooks.example.org")
    refused = await loop.call(LAUNCH, {"channels": ["site"], "webhookUrl": url, **CLUB})
    assert refused.reason == "validation_error"
    assert [problem["path"] for problem in refused.payload["problems"]] == ["webhookUrl"]


async def test_each_bad_endpoint_is_bounded_and_logged(loop: Loop, side: FarSide) -> None:
    impatient(loop)
    side.answers |= {
        "/inside": redirect(side.url("/secret")),
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
        await launched(loop, side.url(path))
        await loop.due()
        delivery, [line] = await log_of(loop)
        assert (delivery.state, line.outcome, line.status) == (state, outcome, status), path
        assert line.detail and line.duration_ms >= 0
    assert "/secret" not in {asked.path for asked in side.asked}


async def test_a_name_that_leads_inside_at_delivery_is_refused_and_tried_again_later(
    loop: Loop, side: FarSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    leads: list[str] = ["203.0.113.9", "10.0.0.7"]

    async def resolve(host: str, port: int) -> Sequence[str]:
        return leads

    monkeypatch.setattr(outgoing_addresses, "_resolve", resolve)
    await launched(loop, "https://hook.example.org/x?token=s3cret")
    await loop.due()

    delivery, [line] = await log_of(loop)
    assert (delivery.state, line.outcome, line.status) == ("waiting", "refused", None)
    assert delivery.next_try_ms == loop.clock.now_ms() + RETRY_DELAYS_MS[0]
    assert "s3cret" not in line.detail + mask_url(delivery.url)
    assert side.asked == []


async def test_a_repeated_call_posts_once_and_a_refused_one_nothing(loop: Loop, side: FarSide) -> None:
    first = await launched(loop, side.url("/hook"), idempotencyKey="k1")
    again = await launched(loop, side.url("/hook"), idempotencyKey="k1")
    refused = await loop.call(LAUNCH, {"webhookUrl": side.url("/hook")})
    await loop.due()

    assert again == first
    assert refused.reason == "missing_repo_context"
    assert len(side.asked) == 1


async def test_what_was_posted_by_a_process_that_died_is_posted_again_under_the_same_id(
    loop: Loop, side: FarSide
) -> None:
    alive = loop.app.owner_services.outgoing.post_webhook

    async def dies(url: str, body: bytes, headers: Any) -> WebhookReply:
        await alive(url, body, headers)
        raise StoreUnavailable("this process is gone before it can write the answer down")

    await launched(loop, side.url("/hook"))
    loop.app.owner_services = dataclasses.replace(
        loop.app.owner_services,
        outgoing=dataclasses.replace(loop.app.owner_services.outgoing, post_webhook=dies),
    )
    await Runner(loop.app.store, loop.clock, job_kinds.job_kinds(loop.app), worker="dies").run_due_once()
    loop.app.owner_services = dataclasses.replace(
        loop.app.owner_services,
        outgoing=dataclasses.replace(loop.app.owner_services.outgoing, post_webhook=alive),
    )
    loop.clock.advance(seconds=10)
    await loop.due()

    delivery, lines = await log_of(loop)
    assert (delivery.state, [line.status for line in lines]) == ("delivered", [200])
    assert len(side.asked) == 2
    assert len({(asked.headers["webhook-id"], asked.body) for asked in side.asked}) == 1


async def test_of_many_who_need_the_first_secret_all_get_the_same(loop: Loop) -> None:
    workspace_id = await workspace_of(loop)

    made = await asyncio.gather(
        *(webhooks.signing_secret(loop.app.owner_services, workspace_id) for _ in range(8))
    )

    assert len(set(made)) == 1


async def test_what_has_ended_can_be_sent_again_under_the_same_id(loop: Loop, side: FarSide) -> None:
    side.answers["/hook"] = Answer(status=410)
    await launched(loop, side.url("/hook"))
    workspace_id, now_ms = await workspace_of(loop), loop.clock.now_ms()
    waiting, _ = await log_of(loop)

    def resend(of: WorkspaceId) -> Transaction[str]:
        return (yield from webhooks.resend(of, waiting.delivery_id, now_ms, by="test"))

    assert await loop.app.store.write(partial(resend, workspace_id)) == "waiting"
    await loop.due()
    side.answers["/hook"] = Answer(status=200)
    stranger = (await loop.new_workspace("stranger")).workspace_id
    assert await loop.app.store.write(partial(resend, stranger)) == "unknown"
    assert await loop.app.store.write(partial(resend, workspace_id)) == "resent"
    await loop.due()

    delivery, lines = await log_of(loop)
    assert (delivery.state, [line.status for line in lines]) == ("delivered", [410, 200])
    assert len({(asked.headers["webhook-id"], asked.body) for asked in side.asked}) == 1
    assert await loop.app.store.read(partial(webhooks.recent, stranger, "", 10)) == ()


@pytest.mark.own_database
async def test_the_log_is_bounded_and_old_deliveries_are_forgotten(
    loop: Loop, side: FarSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MAX_TRIES_KEPT", 3)
    side.answers["/hook"] = Answer(status=410)
    await launched(loop, side.url("/hook"))
    await loop.due()
    workspace_id = await workspace_of(loop)
    delivery, _ = await log_of(loop)
    for _ in range(webhooks.MAX_TRIES_KEPT + 2):
        now_ms = loop.clock.now_ms()
        resend = partial(webhooks.resend, workspace_id, delivery.delivery_id, now_ms, by="test")
        await loop.app.store.write(resend)
        await loop.due()
    _, lines = await log_of(loop)
    assert (len(lines), lines[-1].number) == (webhooks.MAX_TRIES_KEPT, webhooks.MAX_TRIES_KEPT + 3)

    loop.clock.advance(seconds=WEBHOOK_RETENTION_MS / 1000)
    now_ms = loop.clock.now_ms()
    assert await loop.app.store.write(partial(webhooks.forget_old, now_ms, 100)) == 1
    assert await loop.app.store.read(partial(webhooks.recent, workspace_id, "", 10)) == ()
    assert await loop.app.store.read(partial(webhooks.tries, workspace_id, delivery.delivery_id)) == ()


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
