"""No subscriber undoes the record of what happened: its fault is kept apart, and its work is made up for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.own_sql import bind_marks
from tests.support.review.kit import Server, post

from assent.engine.actions import decisions, hooks
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.audit.log import Signer
from assent.engine.core.jobs import Job
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.erasure import contents
from assent.engine.people import targets
from assent.engine.webhooks import subscriptions
from assent.gate.effects import EXECUTE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Assurance
from assent.gate.webhooks import EVENTS
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import from_row
from assent.ports import Delivered, NotSent, Remainder, Single, Transaction
from assent.subscribers import list_subscribers
from assent.use_cases import executions
from assent_launch.learning import memory

SUBSCRIBERS = list_subscribers()


@pytest.fixture
async def server(own_database_url: str, tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(own_database_url, tmp_path)
    await made.app.prepare()
    services, owner = made.services, targets.TargetOwner(LOCAL_WORKSPACE)
    await targets.add(services, owner, services.notifiers["email"], "kim@example.org", by="Kim")
    url = "https://hooks.example.org/in"
    await made.app.store.write(subscriptions.add(services, LOCAL_WORKSPACE, url, tuple(EVENTS), by="Kim"))
    yield made
    await made.close()


def break_subscriber(monkeypatch: pytest.MonkeyPatch, name: str, hook: str) -> Callable[[], None]:
    """Let a subscriber fail after it has written something, until the returned function is called."""

    def fail(event: Any) -> Transaction[None]:
        yield from getattr(known[name], hook)(event)
        raise RuntimeError(f"{name} is broken")

    known = {each.name: each for each in SUBSCRIBERS}
    broken = msgspec.structs.replace(known[name], **{hook: fail})
    monkeypatch.setattr(
        hooks._table, "_loaded", tuple(broken if each.name == name else each for each in SUBSCRIBERS)
    )
    return lambda: monkeypatch.setattr(hooks._table, "_loaded", SUBSCRIBERS)


async def approve(server: Server) -> Action:
    run = await server.stage(post(cost_credits=2))
    action = await server.action(run.actions[0].id)
    decider, seen = Decider(LOCAL_WORKSPACE, "Kim", Assurance.PERSON, "page"), SeenVersion(action.revision)
    begin = partial(decisions.approve, decider, action.action_id, seen, server.clock.now_ms())
    return await server.app.store.write(partial(begin, seals=server.app.keys.seals))


async def execute(server: Server, action: Action) -> None:
    order = ExecutionOrder(workspace_id=LOCAL_WORKSPACE, action_id=action.action_id, tool=EXECUTE, by="local")
    try:
        await executions.execute(server.services, order)
    except Refusal as refusal:
        assert refusal.reason is Reason.CONNECTOR_FAILED


async def list_work(server: Server, action: Action) -> list[tuple[str, ...]]:
    """What subscribers did about the outcome of an action."""
    asked = {
        "ledger": "SELECT kind FROM launch_credit_entries WHERE action_id = ? AND kind <> 'reserve'",
        "event": "SELECT type AS kind FROM webhook_deliveries WHERE action_id = ?",
        "job": "SELECT kind FROM jobs WHERE kind <> 'repeat_subscriber' AND "
        "(key LIKE '%stopped:' || ? OR key = (SELECT run_id FROM actions WHERE action_id = ?))",
    }
    found = []
    for what, text in asked.items():
        bound = bind_marks(text, *[action.action_id] * text.count("?"))
        found += [(what, row["kind"]) for row in await server.app.store.read(Single(bound))]
    return sorted(found)


def deliver(action: Action) -> Delivered:
    return Delivered("post-1", "https://social.example/posts/1")


def refuse(action: Action) -> Delivered:
    raise NotSent("no such account")


@pytest.mark.parametrize("outcome", [deliver, refuse])
async def test_an_outcome_is_stored_although_a_subscriber_fails_and_its_work_is_made_up_for(
    server: Server, monkeypatch: pytest.MonkeyPatch, outcome: Callable[[Action], Delivered]
) -> None:
    server.provider.then = outcome
    whole = await approve(server)
    await execute(server, whole)
    for name in [each.name for each in SUBSCRIBERS if each.settled is not None]:
        disturbed = await approve(server)
        mend = break_subscriber(monkeypatch, name, "settled")

        await execute(server, disturbed)

        stored = await server.action(disturbed.action_id)
        assert stored.status == ("executed" if outcome is deliver else "failed"), name
        assert server.provider.done[-1].action_id == disturbed.action_id
        mend()
        while await server.run_jobs():
            pass
        work = await list_work(server, whole)
        assert len(work) >= 2 and await list_work(server, disturbed) == work, name


@pytest.mark.parametrize("name", [each.name for each in SUBSCRIBERS if each.staged is not None])
async def test_a_partial_delivery_is_stored_although_a_subscriber_fails_about_the_rest(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    server.provider.then = lambda action: Delivered(
        "post-1", rest=Remainder(action.effect, "one account", "the other was not reached")
    )
    disturbed = await approve(server)
    break_subscriber(monkeypatch, name, "staged")

    await execute(server, disturbed)

    stored = await server.action(disturbed.action_id)
    rest = await server.action(stored.metadata["restActionId"])
    assert (stored.status, rest.status) == ("executed", "awaiting_approval")


async def test_work_that_fails_again_is_repeated_until_it_succeeds(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed = await approve(server)
    mend = break_subscriber(monkeypatch, "credits", "settled")
    await execute(server, disturbed)
    await server.run_jobs()
    assert ("ledger", "settle") not in await list_work(server, disturbed)
    mend()
    server.clock.advance(seconds=60)
    await server.run_jobs()
    assert ("ledger", "settle") in await list_work(server, disturbed)


def postpone(action: Action) -> Delivered:
    raise NotSent("try again", retry=True)


async def reject(server: Server, action: Action) -> None:
    decider, seen = Decider(LOCAL_WORKSPACE, "Kim", Assurance.PERSON, "page"), SeenVersion(action.revision)
    begin = partial(decisions.reject, decider, action.action_id, "no", seen, server.clock.now_ms())
    await server.app.store.write(begin)


async def find_repetition(server: Server) -> Job:
    rows = await server.app.store.read(
        Single(bind_marks("SELECT * FROM jobs WHERE kind = ?", hooks.REPEAT_JOB))
    )
    [row] = rows
    return from_row(Job, row, payload=msgspec.json.decode(row["payload"]))


@pytest.mark.parametrize("name", [each.name for each in SUBSCRIBERS if each.settled is not None])
async def test_work_that_is_repeated_twice_is_done_once_also_if_the_action_has_moved_on(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    server.provider.then = postpone
    whole, disturbed = await approve(server), await approve(server)
    await execute(server, whole)
    await reject(server, whole)
    mend = break_subscriber(monkeypatch, name, "settled")
    await execute(server, disturbed)
    mend()
    job = await find_repetition(server)

    await hooks.repeat(server.services, job)
    await reject(server, disturbed)
    await hooks.repeat(server.services, job)

    assert await list_work(server, disturbed) == await list_work(server, whole)


async def test_credits_are_released_late_although_the_action_was_rejected_meanwhile(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.provider.then = postpone
    disturbed = await approve(server)
    mend = break_subscriber(monkeypatch, "credits", "settled")
    await execute(server, disturbed)
    mend()
    await reject(server, disturbed)

    await hooks.repeat(server.services, await find_repetition(server))

    assert ("ledger", "release") in await list_work(server, disturbed)


async def test_an_approval_ends_although_the_memory_fails_and_the_memory_follows(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved = await approve(server)
    mend = break_subscriber(monkeypatch, "memory", "approval_ended")
    decider = Decider(LOCAL_WORKSPACE, "Kim", Assurance.PERSON, "page")
    begin = partial(decisions.withdraw, decider, approved.action_id, "", server.clock.now_ms())
    await server.app.store.write(begin)
    find = partial(memory.read, LOCAL_WORKSPACE, memory.DEFAULT_TENANT, most=5)
    before = await server.app.store.read(find)
    mend()
    await server.run_jobs()
    assert (await server.action(approved.action_id)).status == "awaiting_approval"
    assert ([each.kind for each in before], await server.app.store.read(find)) == (["approval"], [])


async def test_content_is_erased_although_the_memory_fails_and_the_memory_follows(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved = await approve(server)
    await execute(server, approved)
    mend = break_subscriber(monkeypatch, "memory", "erased")
    sign, now_ms = Signer(server.app.keys.master).sign_text, server.clock.now_ms()
    await server.app.store.write(
        partial(
            contents.erase_content,
            LOCAL_WORKSPACE,
            approved.action_id,
            contents.FOR_PERSON,
            now_ms,
            by="cli",
            sign=sign,
        )
    )
    find = partial(memory.read, LOCAL_WORKSPACE, memory.DEFAULT_TENANT, kind="approval", most=5)
    (before,) = await server.app.store.read(find)
    mend()
    await server.run_jobs()
    erased = await server.action(approved.action_id)
    assert erased.effect.body == contents.word_notice(contents.FOR_PERSON, now_ms)
    assert approved.effect.body[:20] in before.body and await server.app.store.read(find) == []
