"""Any order of calls, crashes and passing time against a small model of what must be true.

The model is written from the contract and knows nothing of the server's own table. Providers are honest about what they
declare; what happens to a call is hypothesis's choice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.support.actions.kit import SEND, StageEffect, armed, preparation
from tests.support.actions.kit import StageRequest as Staging
from tests.support.actions.provider import (
    DELIVERIES,
    Provider,
    Sent,
    Step,
    happens,
    lost_after,
    lost_before,
    providers,
    refused,
    slowed,
    unreachable,
)
from tests.support.edits import prepare
from tests.support.effort import rounds, share
from tests.support.own_sql import bind
from tests.support.reliability import Prove
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App
from assent.engine.actions import actions, decisions, reconciliation
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core import journal
from assent.engine.core.journal import Event, Head
from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate.effects import EXECUTE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.records import Action, Assurance
from assent.jobs.kinds import job_kinds
from assent.jobs.worker import Runner
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Refusal
from assent.ports import Single, Transaction
from assent.present.outlook import Executed
from assent.use_cases import executions, runs
from assent_launch.testing import any_effects

T = TypeVar("T")

TEXTS = tuple(f"Version {n}: the importer is fast now, and it says what is wrong." for n in range(3))
KEYS = (None, "k1", "k2")
STEPS: tuple[Step, ...] = (happens, happens, unreachable, slowed, refused, lost_before, lost_after)
PLACES = ("execute.claimed", "execute.performed", "execute.recorded")
NUMBERS = st.integers(0, 5)
MOSTLY = (True, True, False)
LEADS_TO = {
    "happens": "executed",
    "unreachable": "retryable",
    "slowed": "retryable",
    "refused": "failed",
    "lost_before": "outcome_unknown",
    "lost_after": "outcome_unknown",
}
"""Where an attempt leads that nobody interrupts."""
NO_JOBS = bind("DELETE FROM jobs", "DELETE FROM jobs")
IN_QUESTION = {"executing", "outcome_unknown"}
TERMINAL = {"rejected", "executed", "failed"}
MOVED_BY_JOBS = IN_QUESTION | {"retryable"}
LEASE_SECONDS = 60
PAUSE_SECONDS = 10
"""The server does not try again sooner what was not sent."""


class Crash(BaseException):
    """The process ends here."""


def crash() -> None:
    raise Crash


@dataclass
class Believed:
    """What the model knows of one action."""

    action_id: ActionId
    connector: str
    text: str
    state: str = "awaiting_approval"
    revision: int = 1
    approved: str | None = None
    """The text that the standing approval covers."""
    key: str | None = None
    """The key of the attempt in flight or in question."""
    staged: str = ""
    attempts: int = 0
    since_ms: int = 0
    again_ms: int | None = None
    """The server may try again from then on; None: nothing failed under the standing approval."""
    answers: dict[str, bytes] = field(default_factory=dict)
    record: Action | None = None


class Server:
    """One server on one store, used by every example with a workspace of its own."""

    def __init__(self, database_url: str, data_dir: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.providers = providers()
        self.app = App(
            settings_for(database_url, data_dir),
            clock=self.clock,
            connectors=self.providers,
            effects=any_effects(),
        )
        self.steps = 0
        self.actions = 0
        self.effects = 0
        self.retries = 0

    def run(self, awaitable: Awaitable[T]) -> T:
        return self.loop.run_until_complete(awaitable)

    def close(self) -> None:
        self.run(self.app.close())
        self.loop.close()


class Machine(RuleBasedStateMachine):
    """The rules. A subclass per store sets `world`."""

    server: ClassVar[Server]

    def __init__(self) -> None:
        super().__init__()
        for provider in self.server.providers.values():
            provider.plan.clear()
            provider.ledger.clear()
            provider.seen.clear()
        # What earlier examples left to be looked into is not this one's.
        self.server.run(self.server.app.store.write(Single(NO_JOBS)))
        services = self.server.app.owner_services
        self.workspace = WorkspaceId(services.new_id(self.clock.now_ms()))
        self.principal = msgspec.structs.replace(LOCAL_PRINCIPAL, workspace_id=self.workspace)
        self.believed: list[Believed] = []
        self.approvals: set[tuple[str, int, str]] = set()
        """Action, revision and text of every approval that was ever given."""

    @property
    def clock(self) -> ManualClock:
        return self.server.clock

    def write(self, begin: Callable[[], Any]) -> Any:
        return self.server.run(self.server.app.store.write(begin))

    def attempt(self, begin: Callable[[], Any]) -> str | Action:
        """A decision: the action afterwards, or the reason why not."""
        self.server.steps += 1
        try:
            done: Action = self.write(begin)
        except Refusal as refusal:
            return refusal.reason.value
        return done

    def decider(self, assurance: Assurance = Assurance.AGENT) -> Decider:
        return Decider(self.workspace, "Ada", assurance, "test")

    def expected_refusal(self, one: Believed) -> str | None:
        """What every decision hears in states that nobody decides about."""
        return {
            "executing": "execution_in_progress",
            "outcome_unknown": "outcome_unknown",
            **dict.fromkeys(TERMINAL, "action_closed"),
        }.get(one.state)

    # ── rules ────────────────────────────────────────────────────────────────────────────────────

    @property
    def open(self) -> list[Believed]:
        return [one for one in self.believed if one.state not in TERMINAL]

    def pick(self, number: int) -> Believed:
        return self.open[number % len(self.open)]

    @precondition(lambda self: len(self.open) < 3)
    @rule(
        connector=st.sampled_from([*DELIVERIES]),
        text=st.sampled_from(TEXTS),
        approved=st.sampled_from(MOSTLY),
    )
    def stage(self, connector: str, text: str, approved: bool) -> None:
        self.server.steps += 1
        self.server.actions += 1
        request = Request(principal=self.principal, operator="test", tool="stage", inputs={})
        wanted = preparation(Staging(effects=[StageEffect(body=text, connector=connector)]))
        run = self.server.run(runs.prepare(self.server.app.owner_services, request, wanted, PreparedRun))
        self.believed.append(Believed(ActionId(run.actions[0].id), connector, text, staged=text))
        if approved:
            self.decide_approval(self.believed[-1], "current")

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS, look=st.sampled_from(["none", "current", "stale"]))
    def approve(self, number: int, look: str) -> None:
        self.decide_approval(self.pick(number), look)

    def decide_approval(self, one: Believed, look: str) -> None:
        digest = {"none": None, "current": self.stored(one).digest, "stale": "0" * 64}[look]
        now_ms = self.clock.now_ms()
        done = self.attempt(
            lambda: decisions.approve(
                self.decider(),
                one.action_id,
                SeenVersion(digest=digest),
                now_ms,
                seals=self.server.app.keys.seals,
            )
        )
        # Who does not say what they looked at has seen what was staged.
        stale = look == "stale" or (look == "none" and one.text != one.staged)
        expected = self.expected_refusal(one) or ("stale_revision" if stale else None)
        if expected is not None:
            assert done == expected
            return
        assert isinstance(done, Action)
        if one.state == "awaiting_approval":
            one.state, one.approved = "approved", one.text
            self.approvals.add((one.action_id, one.revision, one.text))

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS)
    def reject(self, number: int) -> None:
        self.decide_rejection(self.pick(number))

    def decide_rejection(self, one: Believed) -> None:
        now_ms = self.clock.now_ms()
        done = self.attempt(
            lambda: decisions.reject(self.decider(), one.action_id, "no", SeenVersion(), now_ms)
        )
        if (expected := self.expected_refusal(one)) is not None:
            assert done == expected
            return
        one.state, one.approved = "rejected", None

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS, text=st.sampled_from(TEXTS), approved=st.sampled_from(MOSTLY))
    def edit(self, number: int, text: str, approved: bool) -> None:
        one = self.pick(number)
        self.decide_edit(one, text)
        if approved and one.state == "awaiting_approval":
            self.decide_approval(one, "current")

    def decide_edit(self, one: Believed, text: str) -> None:
        now_ms, decider = self.clock.now_ms(), self.decider()
        prepared = self.server.run(
            prepare(self.server.app.owner_services, decider, one.action_id, {"body": text})
        )
        done = self.attempt(lambda: decisions.edit(decider, one.action_id, prepared, SeenVersion(), now_ms))
        expected = self.expected_refusal(one) or ("validation_error" if text == one.text else None)
        if expected is not None:
            assert done == expected
            return
        one.state, one.approved, one.text = "awaiting_approval", None, text
        one.revision += 1
        one.again_ms = None

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS)
    def withdraw(self, number: int) -> None:
        self.decide_withdrawal(self.pick(number))

    def decide_withdrawal(self, one: Believed) -> None:
        now_ms = self.clock.now_ms()
        done = self.attempt(lambda: decisions.withdraw(self.decider(), one.action_id, "", now_ms))
        expected = self.expected_refusal(one)
        if expected is None and one.state == "awaiting_approval":
            expected = "requires_approval"
        if expected is not None:
            assert done == expected
            return
        one.state, one.approved, one.again_ms = "awaiting_approval", None, None

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS, key=st.sampled_from(KEYS), step=st.sampled_from(STEPS))
    def execute(self, number: int, key: str | None, step: Step) -> None:
        self.fire(self.pick(number), key, step)

    @precondition(lambda self: self.open)
    @rule(
        number=NUMBERS, key=st.sampled_from(KEYS), step=st.sampled_from(STEPS), place=st.sampled_from(PLACES)
    )
    def execute_and_die(self, number: int, key: str | None, step: Step, place: str) -> None:
        self.fire(self.pick(number), key, step, place)

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS, key=st.sampled_from(KEYS))
    def execute_by_the_wrong_tool(self, number: int, key: str | None) -> None:
        self.fire(self.pick(number), key, happens, wrong_tool=True)

    @precondition(lambda self: len(self.open) < len(self.believed))
    @rule(number=NUMBERS, key=st.sampled_from(KEYS))
    def try_everything_on_what_is_closed(self, number: int, key: str | None) -> None:
        closed = [one for one in self.believed if one.state in TERMINAL]
        one = closed[number % len(closed)]
        self.decide_approval(one, "current")
        self.decide_rejection(one)
        self.decide_edit(one, TEXTS[number % len(TEXTS)])
        self.decide_withdrawal(one)
        self.fire(one, key, happens)
        self.say(one)

    def fire(
        self,
        one: Believed,
        key: str | None,
        step: Step,
        place: str | None = None,
        *,
        wrong_tool: bool = False,
    ) -> None:
        self.server.steps += 1
        provider = self.server.providers[one.connector]
        calls, effects = provider.calls, len(provider.ledger)
        provider.plan.append(step)
        order = ExecutionOrder(
            workspace_id=self.workspace,
            action_id=one.action_id,
            tool=SEND if wrong_tool else EXECUTE,
            by="test",
            key=f"{key} {one.action_id}" if key is not None else None,
        )
        answer: Executed | Refusal | None = None
        with armed({place: crash} if place is not None else {}), contextlib.suppress(Crash):
            try:
                answer = self.server.run(executions.execute(self.server.app.owner_services, order))
            except Refusal as refusal:
                answer = refusal
        provider.plan.clear()
        if key is not None and not wrong_tool and key in one.answers:
            assert provider.calls == calls
            assert encoded(answer) == one.answers[key]
            return
        expected = {
            "executing": "execution_in_progress",
            "outcome_unknown": "outcome_unknown",
            "awaiting_approval": "requires_approval",
            **dict.fromkeys(TERMINAL, "requires_approval"),
        }.get(one.state, "validation_error" if wrong_tool else None)
        if expected is not None:
            assert isinstance(answer, Refusal)
            assert answer.reason == expected
            assert provider.calls == calls
            return
        one.attempts += 1
        one.key, one.since_ms = key, self.clock.now_ms()
        assert provider.calls - calls == int(place != "execute.claimed")
        if place in ("execute.claimed", "execute.performed"):
            one.state = "executing"
            assert answer is None
        else:
            one.state = LEADS_TO[step.__name__]
            if one.state == "retryable":
                self.paused(one)
            self.ended(one, answer if place is None else None)
        self.server.effects += len(provider.ledger) - effects

    def paused(self, one: Believed) -> None:
        """It was not sent, and the server tries again after a pause."""
        one.again_ms = self.clock.now_ms() + PAUSE_SECONDS * 1000

    def ended(self, one: Believed, answer: Executed | Refusal | None) -> None:
        """Keep the answer that the attempt's key gets from now on."""
        if one.state not in ("executed", "failed") or one.key is None:
            return
        if answer is None:
            order = ExecutionOrder(
                workspace_id=self.workspace,
                action_id=one.action_id,
                tool=EXECUTE,
                by="test",
                key=f"{one.key} {one.action_id}",
            )
            try:
                answer = self.server.run(executions.execute(self.server.app.owner_services, order))
            except Refusal as refusal:
                answer = refusal
        one.answers[one.key] = encoded(answer)

    @precondition(lambda self: any(one.state in MOVED_BY_JOBS for one in self.believed))
    @rule(
        seconds=st.sampled_from([0, 1, PAUSE_SECONDS, LEASE_SECONDS - 1, LEASE_SECONDS, LEASE_SECONDS]),
        step=st.sampled_from([happens, happens, unreachable, refused, lost_before, lost_after]),
    )
    def time_passes_and_jobs_run(self, seconds: int, step: Step) -> None:
        """Whoever is past its lease is looked into, and what was not sent is tried again; each provider does the same
        to every call."""
        self.clock.advance(seconds=seconds)
        self.server.steps += 1
        for provider in self.server.providers.values():
            provider.plan.extend([step] * 8)
            provider.seen.clear()
        effects = self.count_effects()
        runner = Runner(
            self.server.app.store, self.clock, job_kinds(self.server.app), worker="test", concurrency=64
        )
        with contextlib.suppress(Crash):
            self.server.run(runner.run_due_once())
        for provider in self.server.providers.values():
            provider.plan.clear()
        self.server.effects += self.count_effects() - effects
        for one in self.believed:
            calls = [each.action_id for each in self.server.providers[one.connector].seen].count(
                one.action_id
            )
            if one.state == "retryable":
                self.retried(one, calls, step)
            elif one.state in IN_QUESTION:
                self.reconciled(one, calls, step)

    def count_effects(self) -> int:
        return sum(len(provider.ledger) for provider in self.server.providers.values())

    def retried(self, one: Believed, calls: int, step: Step) -> None:
        """After jobs ran, what was not sent may have been tried again: once, under the approval under which it
        failed, and after a pause. The answer is kept for the caller of the first try."""
        if calls == 0:
            return
        assert calls == 1
        assert one.approved == one.text
        assert one.again_ms is not None and self.clock.now_ms() >= one.again_ms
        self.server.retries += 1
        one.attempts += 1
        one.state, one.since_ms = LEADS_TO[step.__name__], self.clock.now_ms()
        if one.state == "retryable":
            self.paused(one)
        self.ended(one, None)

    def reconciled(self, one: Believed, calls: int, step: Step) -> None:
        """After jobs ran, an open question may have been answered, by the truth and by nothing else."""
        action = self.stored(one)
        now = state_of(action)
        if now == one.state:
            return
        happened = bool(self.sent(one))
        allowed = {"outcome_unknown"} | ({"executed"} if happened else set())
        if one.connector == "readback" and not happened:
            allowed.add("retryable")
            if calls:  # found not to have happened, and tried by a job that was due
                assert one.again_ms is not None and self.clock.now_ms() >= one.again_ms
                allowed.add(LEADS_TO[step.__name__])
        assert now in allowed, (one.state, now, happened)
        if one.state == "executing":
            assert self.clock.now_ms() - one.since_ms >= LEASE_SECONDS * 1000
        one.state = now
        if now == "retryable":
            self.paused(one)
        self.ended(one, None)

    @precondition(lambda self: any(one.state in IN_QUESTION for one in self.believed))
    @rule(number=NUMBERS)
    def a_human_says_what_happened(self, number: int) -> None:
        self.say(self.pick(number))

    def say(self, one: Believed) -> None:
        """They look, and say what is true."""
        happened = bool(self.sent(one))
        facts = {"by": "Ada", "assurance": "person", "via": "test", "evidence": "https://provider.example/1"}
        now_ms = self.clock.now_ms()
        done = self.attempt(
            lambda: reconciliation.resolve(self.workspace, one.action_id, happened, facts, now_ms)
        )
        if one.state != "outcome_unknown":
            assert isinstance(done, str)
            return
        assert isinstance(done, Action)
        one.state = "executed" if happened else "retryable"
        self.ended(one, None)

    # ── what must be true ────────────────────────────────────────────────────────────────────────

    @invariant()
    def every_action_is_where_the_model_says(self) -> None:
        found = self.server.run(
            self.server.app.store.read(lambda: actions.trail(self.workspace, None, "", 1_000))
        )
        stored = {action.action_id: action for action in found}
        assert len(stored) == len(self.believed), "an action was lost"
        for one in self.believed:
            action = stored[one.action_id]
            assert state_of(action) == one.state
            if one.record is not None:
                assert action == one.record
                continue
            assert (action.effect.body, action.revision) == (one.text, one.revision)
            assert (action.approval is not None) == (one.approved is not None)
            if action.approval is not None:
                assert action.approval.digest == action.digest == action.effect.digest()
            if one.state in TERMINAL:
                one.record = action

    @invariant()
    def nothing_happened_without_an_approval_or_twice(self) -> None:
        ledger = [sent for provider in self.server.providers.values() for sent in provider.ledger]
        for sent in ledger:
            assert (sent.action_id, sent.revision, sent.body) in self.approvals
        happened = [sent.action_id for sent in ledger]
        assert len(happened) == len(set(happened))

    def teardown(self) -> None:
        """The journal of every run is whole."""
        for one in self.believed:
            action = self.stored(one)
            events, head = self.server.run(self.server.app.store.read(partial(self.chain, action)))
            assert journal.verify_chain(events, head) is None

    def chain(self, action: Action) -> Transaction[tuple[list[Event], Head]]:
        events = yield from journal.read_stream(self.workspace, action.run_id)
        head = yield from journal.read_head(self.workspace, action.run_id)
        return events, head

    def stored(self, one: Believed) -> Action:
        action, _ = self.server.run(
            self.server.app.store.read(lambda: actions.find(self.workspace, one.action_id))
        )
        return action

    def sent(self, one: Believed) -> list[Sent]:
        provider: Provider = self.server.providers[one.connector]
        return [sent for sent in provider.of(one.action_id) if sent.revision == one.revision]


def state_of(action: Action) -> str:
    beside = action.execution_state.value
    return action.status.value if beside in ("none", "done") else beside


def encoded(answer: Executed | Refusal | None) -> bytes:
    """An answer beside the word that it is a replay."""
    told = answer.recovery() if isinstance(answer, Refusal) else answer
    if told is not None:
        told = msgspec.structs.replace(told, replay=msgspec.UNSET)
    return msgspec.json.encode(told)


STEPS_PER_EXAMPLE = 50


def explore(server: Server, examples: int, run: int) -> None:
    @seed(run)
    class OnThisStore(Machine):
        pass

    OnThisStore.server = server
    OnThisStore.TestCase.settings = settings(
        max_examples=examples,
        stateful_step_count=STEPS_PER_EXAMPLE,
        deadline=None,
        database=None,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    OnThisStore.TestCase("runTest").debug()  # raises what it finds


@pytest.fixture
def server(own_database_url: str, tmp_path: Path) -> Iterator[Server]:
    """A server on a store of its own."""
    server = Server(own_database_url, tmp_path)
    yield server
    server.close()


EXAMPLES = {"sqlite": rounds(20, 400), "postgres": rounds(8, 200)}
"""In each run on each store."""
RUNS = [("sqlite", run) for run in range(share(1, 16))] + [("postgres", run) for run in range(share(1, 2))]


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.rule("E29", "E5", "E66", "E67", "E68", "E27")
@pytest.mark.parametrize(("database", "run"), RUNS)
def test_no_order_of_events_breaks_a_promise(server: Server, prove: Prove, database: str, run: int) -> None:
    examples = EXAMPLES[database]
    explore(server, examples, run)
    prove.row(
        f"any order of calls and crashes against a model, {database}",
        "stateful steps",
        server.steps,
        calls=server.steps,
        actions=server.actions,
        effects=server.effects,
    )
    assert server.steps >= examples * STEPS_PER_EXAMPLE // 2
    assert server.effects >= examples // 3, "a run in which nothing is ever sent proves nothing"
    assert server.retries, "the server never tried again"
