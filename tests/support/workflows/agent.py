"""An agent that follows any program to its end, taking what blocks it as instructions."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from assent.workflow import (
    Advanced,
    Blocked,
    Complete,
    Content,
    Decision,
    NeedsConfirmation,
    Program,
    Snapshot,
    advance,
    pending,
    start,
    step_key,
)
from assent.workflow.machine.state import decode, encode, pending_step
from assent.workflow.program import Ask, Repeat

Choices = dict[str, list[Any]]


def choices(program: Program) -> Choices:
    """For each variable that a program reads, values that decide its conditions both ways."""
    found: Choices = {}
    for node in program.nodes:
        conditions = [node.when]
        if isinstance(node, Ask):
            conditions += [part.when for part in node.prompt] + [node.confirm.when if node.confirm else None]
        else:
            conditions.append(node.condition)
            if node.items is not None:
                found[node.items] = [None, [], [{"name": "a"}], [{"name": "a"}, {"name": "b"}]]
            if isinstance(node.count, str):
                found[node.count] = [None, 0, 1, 2]
        for condition in conditions:
            _collect(condition, found)
    return {name: values for name, values in found.items() if not name.startswith("wr.")}


def variables(condition: dict[str, Any] | None) -> list[str]:
    """The variables that a condition reads."""
    if condition is None:
        return []
    found = [condition["var"]] if "var" in condition else []
    for key in ("and", "or"):
        found += [name for part in condition.get(key, ()) for name in variables(part)]
    return found + (variables(condition["not"]) if "not" in condition else [])


def _collect(condition: dict[str, Any] | None, found: Choices) -> None:
    if condition is None:
        return
    for name in variables(condition):
        found.setdefault(name, [None, "something else", True, False])
    if "var" in condition:
        values = found[condition["var"]]
        for key, operand in condition.items():
            if key in ("gt", "gte", "lt", "lte"):
                values += [operand - 1, operand, operand + 1]
            elif key == "in":
                values += operand
            elif key == "contains":
                values += [[operand], []]
            elif key in ("equals", "not_equals"):
                values.append(operand)
    for key in ("and", "or"):
        for part in condition.get(key, ()):
            _collect(part, found)
    _collect(condition.get("not"), found)


class Move(msgspec.Struct, frozen=True):
    """What was sent for one step until it passed, and what a person said where one was asked."""

    key: str
    content: Content
    decision: Decision | None


class Journey(msgspec.Struct):
    """What one run met, and what the agent did: enough to play it again."""

    context: dict[str, Any] = {}
    moves: list[Move] = []
    loops: list[tuple[str, int]] = []
    """Every loop that was left, with its iterations."""

    keys: list[str] = []
    warnings: list[str] = []
    events: list[str] = []
    blocked: list[str] = []
    confirmations: int = 0
    snapshots: list[Snapshot] = []


def bound(program: Program) -> int:
    """How often a program can ask at most: every step as often as the loops around it allow."""

    def count(indexes: tuple[int, ...]) -> int:
        total = 0
        for index in indexes:
            node = program.nodes[index]
            total += node.most * count(node.body) if isinstance(node, Repeat) else 1
        return total

    return count(program.top)


class Agent:
    """Plays one run with a seed: the same seed plays the same run.

    `pinned` variables keep their value throughout; `without` is a loop that is told to stop before it begins.
    """

    def __init__(
        self,
        program: Program,
        seed: int,
        *,
        loops: str = "mixed",
        pinned: dict[str, Any] | None = None,
        without: str | None = None,
    ) -> None:
        self.program = program
        self.random = random.Random(seed)  # noqa: S311 - a script, not a secret
        self.loops = loops
        self.choices = choices(program)
        self.pinned = pinned or {}
        self.without = without
        self.restless = self.random.choice([0.0, 0.02, 0.1, 0.5])
        self.journey = Journey(moves=[], loops=[], keys=[], warnings=[], events=[], blocked=[], snapshots=[])

    def values(self, share: float) -> dict[str, Any]:
        """New values for a share of the variables; the length of a list is decided by a list."""
        patch: dict[str, Any] = {}
        for name, options in self.choices.items():
            if self.random.random() < share:
                base, dot, _ = name.partition(".")
                patch[base] = self.random.choice([["one"], []]) if dot else self.random.choice(options)
        return {name: value for name, value in patch.items() if name not in self.pinned}

    def run(self) -> Journey:
        drawn = {**self.values(0.9), **self.pinned}
        context = {key: value for key, value in drawn.items() if value is not None}
        outcome = start(self.program, context)
        for _ in range(5):
            if isinstance(outcome, Blocked):
                context |= self._missing(outcome)
                outcome = start(self.program, context)
        assert not isinstance(outcome, Blocked), outcome
        snapshot = outcome.snapshot
        self.journey.context = context
        self._note(outcome)
        most = bound(self.program)
        while not snapshot.is_complete:
            snapshot = decode(encode(snapshot))
            self.journey.snapshots.append(snapshot)
            self.journey.keys.append(step_key(self.program, snapshot))
            assert pending(self.program, snapshot) is not None
            snapshot = self._step(snapshot)
            assert len(self.journey.keys) <= most
        return self.journey

    def _step(self, snapshot: Snapshot) -> Snapshot:
        content = Content(context=self.values(self.restless), output=self._early(self._spoiled(snapshot)))
        outcome = advance(self.program, snapshot, content)
        for _ in range(5):
            if not isinstance(outcome, Blocked):
                break
            self.journey.blocked += [issue.code for issue in outcome.issues]
            context = {**content.context, **self._missing(outcome)}
            content = Content(
                notes=outcome.notes_example,
                output=self._early(self._decided(outcome.example)),
                context=context,
            )
            outcome = advance(self.program, snapshot, content)
        decision: Decision | None = None
        if isinstance(outcome, NeedsConfirmation):
            self.journey.confirmations += 1
            word = "rejected" if pending_step(self.program, snapshot).on_reject == "continue" else "approved"
            decision = Decision(self.random.choice([word, "approved"]), "why")
            outcome = advance(self.program, snapshot, content, decision)
        assert isinstance(outcome, Advanced | Complete), outcome
        self.journey.moves.append(Move(step_key(self.program, snapshot), content, decision))
        self.journey.warnings += [warning.code for warning in outcome.warnings]
        self._note(outcome)
        return outcome.snapshot

    def _note(self, outcome: Advanced | Complete) -> None:
        self.journey.events += [f"{event.kind}:{event.reason}" for event in outcome.events]
        self.journey.loops += [
            (event.loop_id, event.iteration) for event in outcome.events if event.kind == "loop_exited"
        ]

    def _early(self, output: Any) -> Any:
        """The output, with the decision that ends a loop before it begins."""
        if self.without is None:
            return output
        stop = {"kind": "wr.loop_control", "loopId": self.without, "decision": "stop"}
        parts = (output or {}).get("artifacts", [output] if output else [])
        return {"artifacts": [*parts, stop]}

    def _spoiled(self, snapshot: Snapshot) -> Any:
        """Sometimes an assessment at a level that asks for a follow-up."""
        step = pending_step(self.program, snapshot)
        if not step.consequences or self.random.random() < 0.5:
            return None
        level = step.consequences[0].level
        dimensions = {part.id: level for part in step.assessments[0].dimensions}
        return {"kind": "wr.assessment", "assessmentId": step.assessments[0].id, "dimensions": dimensions}

    def _missing(self, outcome: Blocked) -> dict[str, Any]:
        """Values that let a loop begin: two items, or one where two are too many; a list counts where a list is due."""
        patch: dict[str, Any] = {}
        for issue in outcome.issues:
            if issue.path.startswith("context."):
                name = issue.path.removeprefix("context.")
                few = issue.code == "loop_limit_exceeded"
                counted = "_count_" in issue.code or any(
                    isinstance(node, Repeat) and node.count == name for node in self.program.nodes
                )
                patch[name] = (
                    (1 if few else 2) if counted else [{"name": "a"}, {"name": "b"}][: 1 if few else 2]
                )
        return patch

    def _decided(self, example: dict[str, Any] | None) -> dict[str, Any] | None:
        """The example, with the loop decision this agent prefers."""
        word = self.random.choice(["continue", "stop"]) if self.loops == "mixed" else self.loops
        parts = (example or {}).get("artifacts", [example] if example else [])
        changed = [
            {**part, "decision": word} if part["kind"] == "wr.loop_control" else part for part in parts
        ]
        return None if not changed else changed[0] if len(changed) == 1 else {"artifacts": changed}
