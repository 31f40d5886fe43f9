"""Events of actions: posted to the subscribed addresses, once per transition, signed, retried and logged."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from functools import partial
from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, BODY, EDIT, EXECUTE, OTHER, REJECT, WITHDRAW, Gate
from tests.support.docs.pages import block_of
from tests.support.net.stub_server import Answer, Asked, StubServer

from assent.engine.core.jobs import JobDeferred, JobKind
from assent.engine.webhooks import events as outgoing_events
from assent.engine.webhooks import subscriptions, webhooks
from assent.engine.webhooks.subscriptions import Subscription, UnfitSubscription
from assent.engine.webhooks.webhooks import DeliveryRecord, InFlight
from assent.gate.records import Assurance
from assent.gate.webhooks import EVENT_AFTER, EVENTS, RETRY_DELAYS_MS
from assent.jobs.worker import Runner
from assent.kernel.limits import DELIVERIES_AT_ONCE, MAX_SUBSCRIPTIONS, MINUTE_MS
from assent.kernel.times import iso_time

pytestmark = pytest.mark.parametrize(
    "changed_settings", [{"allow_hosts": ("127.0.0.1",)}], indirect=True, ids=[""]
)


async def subscribe(gate: Gate, url: str, *events: str) -> str:
    services = gate.app.owner_services
    begin = subscriptions.add(services, gate.workspace_id, url, events or EVENTS, by="Ada")
    return await gate.app.store.write(begin)


async def change(gate: Gate, subscription_id: str, *events: str, enabled: bool = True) -> None:
    now_ms, chosen = gate.clock.now_ms(), events or EVENTS
    alter = partial(subscriptions.change, gate.workspace_id, subscription_id, chosen, now_ms)
    assert await gate.app.store.write(partial(alter, enabled=enabled, by="Ada"))


async def find(gate: Gate, subscription_id: str) -> Subscription:
    found = await gate.app.store.read(partial(subscriptions.find, gate.workspace_id, subscription_id))
    assert found is not None
    return found


async def log_of(gate: Gate, **chosen: str) -> tuple[DeliveryRecord, ...]:
    return await gate.app.store.read(partial(webhooks.recent, gate.workspace_id, "", 100, **chosen))


async def resend(gate: Gate, delivery_id: str) -> str:
    now_ms = gate.clock.now_ms()
    return await gate.app.store.write(
        partial(webhooks.resend, gate.workspace_id, delivery_id, now_ms, by="Ada")
    )


def arrived(stub: StubServer, action_id: str) -> list[dict[str, Any]]:
    """The events of an action, in the order that a receiver can restore."""
    bodies = [json.loads(asked.body) for asked in stub.asked]
    about = [body for body in bodies if body.get("action", {}).get("id") == action_id]
    assert all(body["type"].startswith("action.") for body in about)
    assert len({body["sequence"] for body in about}) == len({body["id"] for body in about}) == len(about)
    return sorted(about, key=lambda body: body["sequence"])


def names(stub: StubServer, action_id: str) -> str:
    return " ".join(body["type"].removeprefix("action.") for body in arrived(stub, action_id))


def is_genuine(asked: Asked, secret: str) -> bool:
    """By the functions of docs/webhooks.md, as a receiver has them."""
    known: dict[str, Any] = {}
    exec(block_of("webhooks.md", "python", 0), known)  # noqa: S102 - our own page
    exec(block_of("webhooks.md", "python", 1), known)  # noqa: S102 - our own page
    own: bool = known["is_ours"](secret, asked.body, asked.headers["x-chieflab-signature"])
    standard: bool = known["is_standard"](secret, asked.body, asked.headers)
    assert own is standard
    return own


async def test_every_transition_is_announced_once_however_it_comes_about(
    surface: Gate, stub: StubServer
) -> None:
    await subscribe(surface, stub.url("/hook"))
    expected = {
        "awaiting_approval": "waiting",
        "approved": "waiting approved",
        "rejected": "waiting rejected",
        "executing": "waiting approved",
        "executed": "waiting approved executed",
        "failed": "waiting approved failed",
        "retryable": "waiting approved failed",
        "outcome_unknown": "waiting approved unknown",
    }
    at = {state: await surface.bring_to(state) for state in expected}
    found = await surface.bring_to("outcome_unknown", connector="native")
    denied = await surface.bring_to("outcome_unknown")
    await surface.run_jobs()
    assert {state: names(stub, action_id) for state, action_id in at.items()} == expected

    await surface.answer_as_person(at["outcome_unknown"], happened=True)
    await surface.answer_as_person(denied, happened=False)
    await surface.done(EDIT, actionId=at["awaiting_approval"], body=OTHER)
    await surface.done(WITHDRAW, actionId=at["approved"])
    await surface.done(REJECT, actionId=at["approved"], reason="no")
    await surface.done(EDIT, actionId=at["retryable"], body=OTHER)
    surface.clock.advance(seconds=60)
    await surface.run_jobs()
    surface.clock.advance(seconds=60)
    await surface.run_jobs()

    assert names(stub, at["outcome_unknown"]) == "waiting approved unknown executed"
    assert names(stub, denied) == "waiting approved unknown failed"
    assert names(stub, at["awaiting_approval"]) == "waiting waiting"
    assert names(stub, at["approved"]) == "waiting approved waiting rejected"
    assert names(stub, at["retryable"]) == "waiting approved failed waiting"
    assert names(stub, at["executing"]) == "waiting approved unknown"
    assert names(stub, found) == "waiting approved unknown executed"
    assert set(EVENT_AFTER.values()) == set(EVENTS)
    assert {each.state for each in await log_of(surface)} == {"delivered"}


async def test_replayed_and_concurrent_calls_announce_nothing_twice_and_a_refused_one_nothing(
    surface: Gate, stub: StubServer
) -> None:
    await subscribe(surface, stub.url("/hook"))
    options = {"effects": [{}], "idempotencyKey": "stage"}
    staged = [await surface.done("gate_stage", **options) for _ in range(3)]
    [action_id] = {run["actions"][0]["id"] for run in staged}
    await surface.denied(EXECUTE, actionId=action_id)
    await surface.denied(APPROVE, actionId=action_id, revision=7)
    for _ in range(2):
        await surface.done(APPROVE, actionId=action_id, idempotencyKey="yes")
        await surface.done(APPROVE, actionId=action_id)
    await surface.approve_as(Assurance.PERSON, action_id)  # a stronger yes is no other state
    await surface.gather(8, EXECUTE, {"actionId": action_id})
    await asyncio.gather(
        *(surface.call(EXECUTE, {"actionId": action_id, "idempotencyKey": "go"}) for _ in range(4))
    )
    await surface.run_jobs()

    assert names(stub, action_id) == "waiting approved executed"
    assert len(surface.ledger) == 1
    assert len(stub.asked) == 3


async def test_an_event_says_what_it_is_about_and_gives_no_power_to_decide(
    surface: Gate, stub: StubServer
) -> None:
    await subscribe(surface, stub.url("/hook"))
    long_body = BODY + " And more of it." * 200
    action_id = await surface.staged(connector="native", body=long_body)
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.done(EXECUTE, actionId=action_id)
    rejected = await surface.bring_to("rejected")
    failed = await surface.bring_to("failed")
    mail = {"channel": "email", "verb": "email", "subject": "About Ada", "recipients": ["ada@example.org"]}
    run = await surface.run({**mail, "connector": "unaware"})
    await surface.run_jobs()

    waiting, approved, executed = arrived(stub, action_id)
    record, now = await surface.record(action_id), iso_time(surface.clock.now_ms())
    action = waiting["action"]
    assert waiting == {
        "type": "action.waiting",
        "id": waiting["id"],
        "createdAt": now,
        "workspaceId": surface.workspace_id,
        "sequence": 1,
        "action": {
            "id": action_id,
            "runId": record["runId"],
            "type": "linkedin_post",
            "channel": "linkedin",
            "operator": "test",
            "risk": record["preflight"]["severity"],
            "status": "awaiting_approval",
            "execution": "none",
            "revision": 1,
            "digest": record["digest"],
            "title": "LinkedIn post",
            "summary": action["summary"],
            "reviewUrl": f"http://127.0.0.1:8080/runs/{record['runId']}",
            "expiresAt": record["expiresAt"],
        },
    }
    decided = {"decidedBy": "Ada", "assurance": "person", "decidedAt": now}
    assert approved["action"] == {**action, "status": "approved", **decided}
    assert executed["action"] == {
        **approved["action"],
        "status": "executed",
        "execution": "done",
        "receiptId": record["externalId"],
        "receiptUrl": record["externalUrl"],
    }
    no = arrived(stub, rejected)[-1]["action"]
    assert (no["decidedBy"].partition(":")[0], no["assurance"], no["detail"]) == ("key", "agent", "not now")
    wrong = arrived(stub, failed)[-1]["action"]
    assert (wrong["status"], wrong["reason"]) == ("failed", "connector_failed")
    assert "too long" in wrong["detail"]
    [sent] = arrived(stub, run["actions"][0]["id"])
    assert sent["action"]["summary"] == "About Ada"
    stored = await surface.stored(sent["action"]["id"])
    view = msgspec.structs.replace(stored.view, personal="always", title="Write to Ada")
    personal = outgoing_events.describe(
        "waiting", msgspec.structs.replace(stored, view=view), {}, stored.created_ms, held=False
    )
    assert (personal.title, personal.summary) == (stored.view.noun, "")
    for asked in stub.asked:
        assert len(asked.body) < 4_000
        assert b"token" not in asked.body and b"whsec_" not in asked.body
        assert b"ada@example.org" not in asked.body
        assert BODY.encode() + b" And more of it." * 2 not in asked.body


async def fail_to_deliver(surface: Gate, stub: StubServer) -> None:
    """Subscribe an address that answers the first event with an error."""
    await subscribe(surface, stub.url("/hook"))
    stub.answers["/hook"] = Answer(status=500)
    await surface.staged()
    await surface.run_jobs()


async def test_an_event_is_signed_both_ways_also_after_the_secret_was_rotated(
    surface: Gate, stub: StubServer
) -> None:
    await fail_to_deliver(surface, stub)
    services, workspace_id = surface.app.owner_services, surface.workspace_id
    before = await webhooks.signing_secret(services, workspace_id)
    after = await webhooks.signing_secret(services, workspace_id, rotate=True)
    stub.answers.clear()
    surface.clock.advance(seconds=60)
    await surface.run_jobs()

    first, second = stub.asked
    assert is_genuine(first, before) and not is_genuine(first, after)
    assert is_genuine(second, after) and not is_genuine(second, before)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert not is_genuine(Asked("POST", "/hook", second.headers, second.body + b" "), after)


async def test_a_failing_address_is_retried_by_the_clock_shown_as_failing_and_left_in_the_log(
    surface: Gate, stub: StubServer
) -> None:
    subscription_id = await subscribe(surface, stub.url("/hook"))
    stub.answers["/hook"] = Answer(status=503)
    action_id = await surface.staged()
    began_ms = surface.clock.now_ms()
    for tries, delay_ms in enumerate(RETRY_DELAYS_MS, start=1):
        await surface.run_jobs()
        assert len(stub.asked) == tries
        surface.clock.advance(seconds=delay_ms / 1000 - 0.001)
        await surface.run_jobs()
        assert len(stub.asked) == tries, "it was tried too early"
        surface.clock.advance(seconds=0.001)
    await surface.run_jobs()

    chosen = {"subscription_id": subscription_id, "state": "failed"}
    [delivery] = await log_of(surface, **chosen)
    assert (delivery.tries, delivery.action_id) == (6, action_id)
    subscription = await find(surface, subscription_id)
    assert subscription.failing_since_ms == began_ms
    assert not subscription.is_failing(surface.clock.now_ms())
    surface.clock.advance(days=1)
    assert subscription.is_failing(surface.clock.now_ms())

    stub.answers.clear()
    assert await resend(surface, delivery.delivery_id) == "resent"
    await surface.run_jobs()
    assert await log_of(surface, **chosen) == ()
    subscription = await find(surface, subscription_id)
    assert (subscription.failing_since_ms, subscription.delivered_ms) == (None, surface.clock.now_ms())
    assert {asked.headers["webhook-id"] for asked in stub.asked} == {delivery.delivery_id}


async def test_only_what_is_subscribed_arrives_and_nothing_of_another_workspace(
    surface: Gate, stub: StubServer
) -> None:
    some = await subscribe(surface, stub.url("/some"), "rejected", "executed")
    every = await subscribe(surface, stub.url("/every"))
    other = await surface.new_workspace("other")
    theirs = await surface.staged(key=other.api_key)
    first = await surface.bring_to("executed")
    await surface.run_jobs()
    assert names(stub, theirs) == ""
    assert [(asked.path, json.loads(asked.body)["type"]) for asked in stub.asked].count(
        ("/some", "action.executed")
    ) == 1
    assert [asked.path for asked in stub.asked].count("/some") == 1
    assert [asked.path for asked in stub.asked].count("/every") == 3

    stub.asked.clear()
    queued = await surface.staged()
    await change(surface, every, enabled=False)
    await change(surface, some, "waiting")
    await surface.run_jobs()
    assert stub.asked == [], "it was queued before the subscription was turned off"
    assert (
        await surface.app.store.write(
            partial(outgoing_events.send_test, surface.workspace_id, every, surface.clock.now_ms())
        )
        is None
    )
    later = await surface.staged()
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(partial(subscriptions.remove, surface.workspace_id, some, now_ms, by="Ada"))
    await surface.staged()
    await surface.run_jobs()
    assert stub.asked == []
    ended = {each.action_id: each.state for each in await log_of(surface) if each.state != "delivered"}
    assert ended == {queued: "failed", later: "failed"}
    assert first not in ended
    assert (await find(surface, every)).failing_since_ms is None


async def test_a_test_event_has_no_action_and_is_logged(surface: Gate, stub: StubServer) -> None:
    subscription_id = await subscribe(surface, stub.url("/hook"), "failed")
    send = partial(outgoing_events.send_test, surface.workspace_id, subscription_id, surface.clock.now_ms())
    assert await surface.app.store.write(send) == await surface.app.store.write(send)
    await surface.run_jobs()

    [asked] = stub.asked
    body = json.loads(asked.body)
    assert body == {
        "type": "webhook.test",
        "id": body["id"],
        "createdAt": iso_time(surface.clock.now_ms()),
        "workspaceId": surface.workspace_id,
    }
    [delivery] = await log_of(surface, subscription_id=subscription_id, state="delivered")
    assert (delivery.type, delivery.delivery_id) == ("webhook.test", asked.headers["webhook-id"])
    assert await resend(surface, delivery.delivery_id) == "resent"


async def test_a_queue_is_bounded_and_what_does_not_fit_is_shown_and_can_be_resent(
    surface: Gate, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing_events, "MAX_QUEUED_EVENTS", 2)
    slow = await subscribe(surface, stub.url("/slow"))
    stub.answers["/slow"] = Answer(status=500)
    staged = [await surface.staged() for _ in range(3)]
    [dropped] = await log_of(surface, subscription_id=slow, state="failed")
    assert dropped.action_id == staged[-1]
    [line] = await surface.app.store.read(partial(webhooks.tries, surface.workspace_id, dropped.delivery_id))
    assert (line.outcome, line.number) == ("refused", 0)
    assert len(await log_of(surface, subscription_id=slow, state="waiting")) == 2

    stub.answers.clear()
    assert await resend(surface, dropped.delivery_id) == "resent"
    await surface.run_jobs()
    assert {each.state for each in await log_of(surface)} == {"delivered"}
    assert names(stub, staged[-1]) == "waiting"


async def test_an_address_that_hangs_or_fails_leaves_places_for_others(surface: Gate) -> None:
    in_flight, key = InFlight(), ("one", "hangs.example")
    with ExitStack() as held:
        for _ in range(DELIVERIES_AT_ONCE):
            held.enter_context(in_flight.hold(*key, fails=False))
        with pytest.raises(JobDeferred), in_flight.hold(*key, fails=False):
            pass
        held.enter_context(in_flight.hold("one", "other.example", fails=False))
        held.enter_context(in_flight.hold("two", "hangs.example", fails=True))
        with pytest.raises(JobDeferred) as deferred, in_flight.hold("two", "hangs.example", fails=True):
            pass
    assert deferred.value.delay_ms == MINUTE_MS
    with in_flight.hold(*key, fails=True):
        pass


async def test_while_a_failing_address_is_tried_its_other_deliveries_are_deferred_and_not_counted(
    surface: Gate, stub: StubServer
) -> None:
    await fail_to_deliver(surface, stub)
    stub.answers.clear()
    for _ in range(3):
        await surface.staged()
    in_flight = InFlight()
    handler = partial(webhooks.deliver, surface.app.owner_services, in_flight)
    kinds = {webhooks.DELIVER_JOB: JobKind(handler, retry_delays_ms=RETRY_DELAYS_MS)}
    runner = Runner(surface.app.store, surface.clock, kinds, worker="test")
    with in_flight.hold(surface.workspace_id, "127.0.0.1", fails=False):
        assert (await runner.run_due_once(), await runner.run_due_once()) == (3, 0)
        assert len(stub.asked) == 1
    surface.clock.advance(seconds=60)
    while await runner.run_due_once():
        surface.clock.advance(seconds=60)
    found = await log_of(surface)
    assert {each.state for each in found} == {"delivered"}
    assert sorted(each.tries for each in found) == [1, 1, 1, 2], "a deferral is no try"


async def test_an_address_that_cannot_get_events_is_refused_with_the_reason(
    surface: Gate, stub: StubServer
) -> None:
    for url in ("http://example.org/h", "https://10.0.0.1/h", "https://[::1]/h", "https://localhost/h", "x"):
        with pytest.raises(UnfitSubscription):
            await subscribe(surface, url)
    with pytest.raises(UnfitSubscription):
        await subscribe(surface, stub.url("/hook"), "executed", "born")
    made = [await subscribe(surface, stub.url(f"/{number}")) for number in range(MAX_SUBSCRIPTIONS - 1)]
    with pytest.raises(UnfitSubscription, match="already"):
        await subscribe(surface, stub.url("/0"))
    both = await asyncio.gather(
        *(subscribe(surface, stub.url(f"/last-{number}")) for number in range(3)), return_exceptions=True
    )
    assert sum(isinstance(each, UnfitSubscription) for each in both) == 2
    now_ms = surface.clock.now_ms()
    await surface.app.store.write(
        partial(subscriptions.remove, surface.workspace_id, made[0], now_ms, by="Ada")
    )
    limit = partial(subscriptions.limit_hosts, surface.workspace_id, ("hooks.example.org",), now_ms, by="Ada")
    await surface.app.store.write(limit)
    with pytest.raises(UnfitSubscription, match=r"hooks\.example\.org"):
        await subscribe(surface, stub.url("/again"))
    kinds = [event["kind"] for event in await surface.events(surface.workspace_id)]
    assert kinds.count("subscription_added") == MAX_SUBSCRIPTIONS
    assert kinds.count("subscription_removed") == 1
