"""Start, advance, fork, replay, checkpoint, rotate, restart, export and import in any order, against a small model.

The model knows a run as a tree: each node has a parent and the number of steps done on its way. Every answer must fit
it, the log must tell the same tree, and the journal must hold at the end.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import Bundle as Drawn
from hypothesis.stateful import (
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.support.effort import rounds
from tests.support.postgres_server import Server
from tests.support.reliability import Prove
from tests.support.sqlite_files import new_sqlite
from tests.support.surfaces import ManualClock, Surface, settings_for
from tests.support.workflows.kit import Payload, WorkflowClient, three_steps

from assent.app import App
from assent.engine.workflows import bundles
from assent.kernel.ids import WorkspaceId
from assent.workflow import bundle as files
from assent.workflow.tokens import read

EXAMPLES = rounds(4, 100)
STEPS = 200
"""In each example: a proof has 20,000 in all."""

SHARES = {
    ("stdio", "sqlite"): 0.72,
    ("http", "sqlite"): 0.20,
    ("stdio", "postgres"): 0.04,
    ("http", "postgres"): 0.04,
}
"""How many of the examples each surface gets: a fresh PostgreSQL database and its restarts cost the most."""

pytestmark = [pytest.mark.slow, pytest.mark.prove]

NAMES = ("one", "two", "three")
SECRETS = tuple(f"master secret number {n} of the tests, long enough" for n in range(200))

T = TypeVar("T")


class Place(dict[str, Any]):
    """An answer of the server, with what the model knows about it."""


class Workflows(RuleBasedStateMachine):
    places = Drawn("places")

    def __init__(self, transport: str, postgres: Server | None) -> None:
        super().__init__()
        self.transport = transport
        self.postgres = postgres
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory(prefix="assent-")
        self.root = Path(self.folder.name)
        self.url = postgres.create() if postgres is not None else new_sqlite(self.root / "assent.db")
        self.generation = 0
        self.key: str | None = None
        self.clock = ManualClock()
        self.trees: dict[str, dict[int, int | None]] = {}
        self.asked: dict[tuple[str, int, int, str], Payload] = {}
        self.session = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def open(self) -> None:
        ring = tuple(reversed(SECRETS[max(0, self.generation - 1) : self.generation + 1]))
        app = App(settings_for(self.url, self.root, secrets=ring), clock=self.clock)
        self.surface = Surface(app, self.transport)
        self.surface.key = self.key
        self.do(app.prepare())
        self.client = WorkflowClient(self.surface, self.root / "workflows")

    @initialize()
    def begin(self) -> None:
        self.open()
        self.client.write(three_steps())
        issued = self.do(self.surface.sign_in())
        self.key, self.workspace = issued.api_key, WorkspaceId(issued.workspace_id)

    def place(self, answer: Payload, depth: int) -> Place:
        return Place(answer=answer, depth=depth, generation=self.generation)

    def at(self, place: Place) -> tuple[str, int]:
        """Which node of which run a place is. Asked of the token, as the server reads it."""
        handle = read(self.surface.app.keys.workflow_tokens, self.fresh(place)["stateToken"], "st")
        return handle.run_id, handle.node

    def fresh(self, place: Place) -> Payload:
        """The answer with tokens that this server still takes: those older than the previous key are re-minted."""
        if self.generation - place["generation"] <= 1:
            answer: Payload = place["answer"]
            return answer
        run_id = place["answer"]["session"]["runId"]
        place["answer"] = {**place["answer"], **self.reminted(run_id, place)}
        place["generation"] = self.generation
        return place["answer"]  # type: ignore[no-any-return]

    def reminted(self, run_id: str, place: Place) -> Payload:
        from assent.kernel.ids import RunId
        from assent.workflow.tokens import TokenClaims, mint
        from assent.workflow.tokens import place as named

        old = named(place["answer"]["stateToken"], run_id)
        node, series = old.node, old.series
        keys = self.surface.app.keys.workflow_tokens
        ack = place["answer"]["ackToken"]
        return {
            "stateToken": mint(keys, TokenClaims("st", RunId(run_id), node, series)),
            "ackToken": None if ack is None else mint(keys, TokenClaims("ack", RunId(run_id), node, series)),
        }

    @rule(target=places)
    def start(self) -> Place:
        self.session += 1
        answer = self.do(self.client.start(sessionId=f"S{self.session}"))
        assert answer["pending"]["stepId"] == "one"
        self.trees[answer["session"]["runId"]] = {0: None}
        return self.place(answer, 0)

    @rule(target=places, place=places, notes=strategies.sampled_from(["a", "b", "c", "d"]))
    def advance(self, place: Place, notes: str) -> Any:
        """A step, a fork or a replay: which of them the model says."""
        at = self.fresh(place)
        if place["depth"] == 3:
            answer = self.do(self.client.ask("workflow_advance", stateToken=at["stateToken"]))
            assert answer.payload["isComplete"] is True
            return multiple()
        run_id, node = self.at(place)
        tree = self.trees[run_id]
        got = self.do(self.client.advance(at, notesMarkdown=notes))
        known = self.asked.get((run_id, node, 0, notes))
        if known is not None:
            assert got == known
            return multiple()
        tree[len(tree)] = node
        self.asked[run_id, node, 0, notes] = got
        depth = place["depth"] + 1
        assert got["isComplete"] is (depth == 3)
        assert depth == 3 or got["pending"]["stepId"] == NAMES[depth]
        made = self.place(got, depth)
        assert self.at(made) == (run_id, len(tree) - 1)
        return made

    @rule(place=places)
    def rehydrate(self, place: Place) -> None:
        run_id, node = self.at(place)
        told = self.do(self.client.rehydrate(self.fresh(place)))
        assert told["isComplete"] is (place["depth"] == 3)
        assert len(told["branches"]) == list(self.trees[run_id].values()).count(node)

    @rule(place=places, notes=strategies.sampled_from(["x", "y"]))
    def checkpoint(self, place: Place, notes: str) -> None:
        kept = self.do(self.client.checkpoint(self.fresh(place), notes))
        assert kept["kind"] == "checkpoint"
        assert notes in self.do(self.client.rehydrate(self.fresh(place)))["recap"]

    @rule()
    def restart(self) -> None:
        self.do(self.surface.close())
        self.open()

    @rule()
    def rotate(self) -> None:
        self.do(self.surface.close())
        self.generation += 1
        self.open()

    @rule(place=consumes(places))
    def forget(self, place: Place) -> None:
        """The agent loses a place; the run is found again by its session."""
        run_id = place["answer"]["session"]["runId"]
        found = self.do(self.client.ask("workflow_resume", sessionId=place["answer"]["session"]["sessionId"]))
        assert [run["nodes"] for run in found.payload["runs"] if run["runId"] == run_id] == [
            len(self.trees[run_id])
        ]

    @rule(place=places)
    def export_and_import(self, place: Place) -> None:
        session_id, now_ms = place["answer"]["session"]["sessionId"], self.clock.now_ms()
        app = self.surface.app
        made = self.do(app.store.read(lambda: bundles.export(self.workspace, session_id, now_ms)))
        assert made is not None
        raw = files.write(made)
        done = self.do(
            app.store.write(
                lambda: bundles.import_session(
                    self.workspace,
                    files.read(raw),
                    files.digest_of(raw),
                    app.keys.workflow_tokens,
                    app.owner_services.new_id,
                    now_ms,
                )
            )
        )
        again = self.do(app.store.read(lambda: bundles.export(self.workspace, done.session_id, now_ms)))
        assert again is not None
        for before, after in zip(made.runs, again.runs, strict=True):
            told, retold = bundles.fold_lineage(before), bundles.fold_lineage(after)
            orders = [sorted(each.steps, key=lambda step: step.latest) for each in (told, retold)]
            assert [step.node for step in orders[0]] == [step.node for step in orders[1]]
            self.trees[after.run_id] = dict(self.trees[before.run_id])
            assert {step.node: step.parent for step in retold.steps} == self.trees[after.run_id]

    @invariant()
    def time_passes(self) -> None:
        self.clock.advance(seconds=1)

    def teardown(self) -> None:
        try:
            for run_id, tree in self.trees.items():
                events = self.do(self.client.events(run_id))
                acked = [body for kind, body in events if kind == "step_acked"]
                assert {body["node"]: body["parent"] for body in acked} | {0: None} == tree
            assert self.do(self.client.journal_holds())
        finally:
            self.do(self.surface.close())
            self.loop.close()
            self.folder.cleanup()
            if self.postgres is not None:
                self.postgres.drop(self.url)


@pytest.mark.rule("W6", "W7", "W10", "W11", "W12", "W71")
@pytest.mark.parametrize(("transport", "dialect"), SHARES)
def test_calls_in_any_order_fit_the_model(
    transport: str, dialect: str, request: pytest.FixtureRequest, prove: Prove
) -> None:
    server: Server | None = request.getfixturevalue("postgres_server") if dialect == "postgres" else None
    examples = max(1, round(EXAMPLES * SHARES[transport, dialect]))
    run_state_machine_as_test(
        lambda: Workflows(transport, server),  # type: ignore[arg-type]  # whatever makes a machine
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    prove.row("any order of workflow calls against a model", "workflow steps", examples * STEPS)
