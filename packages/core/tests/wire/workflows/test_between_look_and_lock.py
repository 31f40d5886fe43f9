"""What another process does between the look-up of a step and the lock of its run counts (PostgreSQL: each statement
sees what was committed before it)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.surfaces import ManualClock, Outcome, Surface, settings_for
from tests.support.workflows.kit import APPROVE, REJECT, Payload, WorkflowClient, definition
from tests.support.workflows.library import step

from assent.app import App
from assent.engine.workflows import store
from assent.ports import Begin, Transaction

GATED = definition("gated", step("release", requireConfirmation=True), step("after"))
WRITTEN = definition("written", step("one", notesOptional=False), step("two"))
NOTES = {"notesMarkdown": "Release 1.4."}
LOCKS_THE_RUN: tuple[str, ...] = ("lock_head", "lock_seen_head")

Meanwhile = Callable[[WorkflowClient], Awaitable[Any]]


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """Only there are two writers at once."""
    return postgres_url


@pytest.fixture
async def surface(database_url: str, tmp_path: Path) -> AsyncIterator[Surface]:
    async with Surface(App(settings_for(database_url, tmp_path), clock=ManualClock())) as made:
        yield made


class Two:
    """Two processes on one database: the second acts in the middle of a call of the first."""

    def __init__(self, client: WorkflowClient, url: str, data_dir: Path) -> None:
        self.client = client
        self.url = url
        self.data_dir = data_dir
        self.before = LOCKS_THE_RUN
        """The statements, after its first one, before which the first waits."""

    async def send(self, at: Payload, other: Meanwhile, **content: Any) -> Outcome:
        """An advance; just before it locks the run, the other process acts, and is done before it goes on."""
        store = self.client.surface.app.store
        real = store.write
        waiting = [other]

        async def write(begin: Begin[Any]) -> Any:
            return await real(lambda: self.interrupted(begin(), waiting))

        store.write = write  # type: ignore[method-assign]
        try:
            answer = await self.client.send(at, **content)
        finally:
            store.write = real  # type: ignore[method-assign]
        assert not waiting, "there was no such moment"
        return answer

    def interrupted(self, running: Transaction[Any], waiting: list[Meanwhile]) -> Transaction[Any]:
        """A transaction before whose first lock of a run another process acts."""
        bound = next(running)
        while True:
            rows = yield bound
            try:
                bound = running.send(rows)
            except StopIteration as end:
                return end.value
            if bound.statement.name in self.before and waiting:
                self.elsewhere(waiting.pop())

    def elsewhere(self, other: Meanwhile) -> None:
        failures: list[BaseException] = []

        async def act() -> None:
            app = App(settings_for(self.url, self.data_dir), clock=self.client.surface.clock)
            async with Surface(app) as surface:
                surface.key = self.client.surface.key
                await other(WorkflowClient(surface, self.client.folder))

        def run() -> None:
            try:
                asyncio.run(act())
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]


@pytest.fixture
def two(client: WorkflowClient, database_url: str, tmp_path: Path) -> Two:
    return Two(client, database_url, tmp_path)


@pytest.mark.rule("W14")
async def test_the_same_call_by_another_process_is_one_advance(two: Two) -> None:
    at = await two.client.start()
    answer = await two.send(at, lambda other: other.advance(at, **NOTES), **NOTES)
    assert not answer.is_error
    assert answer.payload == await two.client.advance(at, **NOTES)
    assert (await two.client.kinds(at["session"]["runId"])).count("step_acked") == 1


@pytest.mark.rule("W12")
async def test_other_content_by_another_process_is_another_branch(two: Two) -> None:
    at = await two.client.start()
    answer = await two.send(at, lambda other: other.advance(at, notesMarkdown="theirs"), **NOTES)
    assert not answer.is_error
    events = await two.client.events(at["session"]["runId"])
    acked = [body for kind, body in events if kind == "step_acked"]
    assert [(body["parent"], body["node"], body["branch"]) for body in acked] == [(0, 1, False), (0, 2, True)]
    assert await two.client.journal_holds()


@pytest.mark.rule("W39")
async def test_attempts_that_another_process_was_refused_count(two: Two) -> None:
    at = await two.client.start(WRITTEN)

    async def nine(other: WorkflowClient) -> None:
        for number in range(9):
            blocked = await other.advance(at, output={"kind": "other", "n": number})
            assert blocked["kind"] == "blocked"

    answer = await two.send(at, nine)
    assert answer.payload["kind"] == "blocked"
    [(snapshot,)] = await two.client.sql("SELECT snapshot FROM workflow_nodes WHERE node = 0")
    assert '"blocked":10' in snapshot
    assert (await two.client.send(at, output={"kind": "last"})).is_error


@pytest.mark.rule("W8", "W72")
async def test_a_run_that_retention_removed_is_unknown_and_stays_removed(two: Two) -> None:
    at = await two.client.start()
    now_ms = two.client.surface.clock.now_ms()

    async def forgotten(other: WorkflowClient) -> None:
        app = other.surface.app
        assert await app.store.write(lambda: store.forget_old_sessions(now_ms + 1, now_ms, 10)) == 1

    answer = await two.send(at, forgotten, **NOTES)
    assert answer.reason == "token_unknown_node"
    assert await two.client.sql("SELECT 1 FROM workflow_nodes") == []
    assert await two.client.journal_holds()


@pytest.mark.rule("W8", "W72")
async def test_a_replay_in_a_run_that_retention_removes_meanwhile_is_unknown(two: Two) -> None:
    at = await two.client.start()
    await two.client.advance(at, **NOTES)
    now_ms = two.client.surface.clock.now_ms()

    async def forgotten(other: WorkflowClient) -> None:
        app = other.surface.app
        assert await app.store.write(lambda: store.forget_old_sessions(now_ms + 1, now_ms, 10)) == 1

    two.before = ("find_workflow_node",)
    answer = await two.send(at, forgotten, **NOTES)
    assert answer.reason == "token_unknown_node"


@pytest.mark.rule("W40")
async def test_two_processes_that_ask_at_once_ask_one_question(two: Two) -> None:
    at = await two.client.start(GATED)
    theirs: list[Outcome] = []

    async def asks(other: WorkflowClient) -> None:
        theirs.append(await other.send(at, **NOTES))

    answer = await two.send(at, asks, **NOTES)
    assert answer.reason == "requires_approval"
    assert answer.payload["actionId"] == theirs[0].payload["actionId"]
    assert len(await two.client.sql("SELECT 1 FROM actions")) == 1


@pytest.mark.rule("W40")
async def test_a_question_asked_and_approved_meanwhile_lets_the_next_call_pass_once(two: Two) -> None:
    at = await two.client.start(GATED)

    async def asks_and_approves(other: WorkflowClient) -> None:
        refusal = await other.send(at, **NOTES)
        await other.decide(APPROVE, refusal.payload["actionId"])

    answer = await two.send(at, asks_and_approves, **NOTES)
    if answer.is_error:
        assert answer.payload["status"] == "approved"
        answer = await two.client.send(at, **NOTES)
    assert answer.payload["pending"]["stepId"] == "after"
    assert (await two.client.kinds(at["session"]["runId"])).count("action_hand_over") == 1


@pytest.mark.rule("W40")
async def test_a_question_asked_and_rejected_meanwhile_lets_nothing_pass(two: Two) -> None:
    at = await two.client.start(GATED)

    async def asks_and_rejects(other: WorkflowClient) -> None:
        refusal = await other.send(at, **NOTES)
        await other.decide(REJECT, refusal.payload["actionId"], reason="Not now")

    answer = await two.send(at, asks_and_rejects, **NOTES)
    assert (answer.reason, answer.payload["status"]) == ("requires_approval", "rejected")
    assert "Not now" in answer.payload["userMessage"]
    assert len(await two.client.sql("SELECT 1 FROM actions")) == 1


@pytest.mark.rule("W40", "W14")
async def test_what_another_process_asked_passed_and_replayed_meanwhile_is_the_same_answer(two: Two) -> None:
    at = await two.client.start(GATED)
    passed: list[Payload] = []

    async def whole_way(other: WorkflowClient) -> None:
        refusal = await other.send(at, **NOTES)
        await other.decide(APPROVE, refusal.payload["actionId"])
        passed.append(await other.advance(at, **NOTES))

    answer = await two.send(at, whole_way, **NOTES)
    assert answer.payload == passed[0]
    assert len(await two.client.sql("SELECT 1 FROM actions")) == 1


@pytest.mark.rule("W72", "W40")
async def test_a_session_in_which_a_question_was_just_asked_is_not_removed(two: Two) -> None:
    """The question is asked after the stale sessions were listed, and before they are locked."""
    at = await two.client.start(GATED)
    two.client.surface.clock.advance(days=1)
    now_ms = two.client.surface.clock.now_ms()
    waiting: list[Meanwhile] = [lambda other: other.send(at, **NOTES)]
    await two.client.surface.app.store.write(
        lambda: two.interrupted(store.forget_old_sessions(now_ms, now_ms, 10), waiting)
    )
    assert not waiting
    assert (await two.client.rehydrate(at))["pending"]["stepId"] == "release"
    assert (await two.client.send(at, **NOTES)).payload["status"] == "awaiting_approval"
