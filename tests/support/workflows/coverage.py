"""Which ways through a program were taken, and which no run can take.

A way is a step, an outcome of a condition (also of each part of one) or a number of iterations of a loop. What no run
took is either reachable, and then a run to take it is known, or it is proven not to be: conditions compare variables
with the values that they name, so a few values of each variable stand for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, Final

import msgspec
import pytest
from tests.support.workflows.agent import Agent, Journey, choices, variables

from assent.workflow import Program
from assent.workflow.machine import conditions
from assent.workflow.machine.values import Scope
from assent.workflow.program import Ask, Node, Repeat

SEEDS: Final = 60
DIRECTED_SEEDS: Final = 200
ITERATIONS: Final = ("none", "one", "many")


class Way(msgspec.Struct, frozen=True, order=True):
    """One way to take: where, and how it turns out there."""

    place: str
    turn: str


class Guard(msgspec.Struct, frozen=True):
    """A condition of a program: the node it is at and where in it. `whole` is the condition that it is a part of."""

    node: Node
    place: str
    part: dict[str, Any]
    whole: dict[str, Any]


class Covered(msgspec.Struct):
    """What was taken, the journeys that took it, and what cannot be, with the reason."""

    ways: set[Way]
    taken: set[Way]
    journeys: list[Journey]
    excluded: dict[Way, str]


def guards(program: Program) -> list[Guard]:
    """Every condition of a program and every part of one."""
    found: list[Guard] = []
    for node in program.nodes:
        roots = {"when": node.when}
        if isinstance(node, Ask):
            roots |= {f"prompt[{n}]": part.when for n, part in enumerate(node.prompt)}
            roots["confirm"] = node.confirm.when if node.confirm is not None else None
        else:
            roots["condition"] = node.condition
        for name, whole in roots.items():
            if whole is not None:
                found += [
                    Guard(node, f"{node.id}.{name}{path}", part, whole) for path, part in _parts(whole, "")
                ]
    return found


def _parts(condition: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, condition
    for key in ("and", "or"):
        for n, part in enumerate(condition.get(key, ())):
            yield from _parts(part, f"{path}.{key}[{n}]")
    if "not" in condition:
        yield from _parts(condition["not"], f"{path}.not")


@contextmanager
def watched() -> Iterator[set[tuple[int, bool]]]:
    """Every condition that is asked meanwhile, by identity, with its outcome."""
    seen: set[tuple[int, bool]] = set()
    real = conditions.holds

    def holds(condition: dict[str, Any] | None, scope: Scope) -> bool:
        outcome = real(condition, scope)
        if condition is not None:
            seen.add((id(condition), outcome))
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        # The parts of a condition are asked through the same name.
        patch.setattr(conditions, "holds", holds)
        yield seen


def explore(program: Program) -> Covered:
    """Take every way that can be taken."""
    known = guards(program)
    loops = {node.id: node for node in program.nodes if isinstance(node, Repeat)}
    ways = {Way(node.id, "asked") for node in program.nodes if isinstance(node, Ask)}
    ways |= {Way(guard.place, outcome) for guard in known for outcome in ("holds", "fails")}
    ways |= {Way(loop, turn) for loop in loops for turn in ITERATIONS}
    covered = Covered(ways, set(), [], {})
    for seed in range(SEEDS):
        play(program, known, covered, seed)
    for way in sorted(ways - covered.taken):
        if (reason := _excluded(program, known, loops, way)) is not None:
            covered.excluded[way] = reason
            continue
        for seed, pinned in enumerate(_directions(program, known, loops, way), start=SEEDS):
            play(program, known, covered, seed, pinned=pinned, without=_without(loops, way))
            if way in covered.taken:
                break
    return covered


def play(
    program: Program,
    known: list[Guard],
    covered: Covered,
    seed: int,
    *,
    pinned: dict[str, Any] | None = None,
    without: str | None = None,
) -> None:
    """One run; it is kept if it took a way that none before it took."""
    with watched() as seen:
        journey = Agent(program, seed, pinned=pinned, without=without).run()
    taken = {Way(key.rsplit("/", 1)[-1], "asked") for key in journey.keys}
    taken |= {Way(loop, ITERATIONS[min(count, 2)]) for loop, count in journey.loops}
    for guard in known:
        taken |= {
            Way(guard.place, word)
            for word, outcome in (("holds", True), ("fails", False))
            if (id(guard.part), outcome) in seen
        }
    if taken - covered.taken:
        covered.taken |= taken
        covered.journeys.append(journey)


def _excluded(program: Program, known: list[Guard], loops: dict[str, Repeat], way: Way) -> str | None:
    """Why no run can take a way, or None where one can."""
    if way.place in loops and way.turn in ITERATIONS:
        return _excluded_count(program, loops[way.place], way.turn)
    guard = next((guard for guard in known if guard.place == way.place), None)
    if guard is None or next(_deciding(program, guard, way), None) is not None:
        return None
    return "the step is asked only where its own condition holds, and that decides this one"


def _excluded_count(program: Program, loop: Repeat, turn: str) -> str | None:
    first = program.top[0]
    if turn == "none" and loop.artifact is not None and program.nodes[first] is loop and loop.when is None:
        return "the loop comes first, and only an earlier step could tell it to stop"
    if turn == "many" and loop.most < 2:
        return "the loop has one iteration at most"
    if isinstance(loop.count, int) and ITERATIONS[min(loop.count, 2)] != turn:
        return f"the loop has {loop.count} iterations, always"
    return None


def _deciding(program: Program, guard: Guard, way: Way) -> Iterator[dict[str, Any]]:
    """Values under which a condition is asked and turns out so, where its step is asked at all."""
    when = guard.node.when
    options = choices(program)
    names = sorted({*variables(guard.whole), *variables(when)})
    free = [name for name in names if name in options]
    for values in product(*(options[name] for name in free)):
        pinned = dict(zip(free, values, strict=True))
        scope = Scope(({name: value for name, value in pinned.items() if value is not None},))
        if guard.whole is not when and not conditions.holds(when, scope):
            continue
        with watched() as seen:
            conditions.holds(guard.whole, scope)
        if (id(guard.part), way.turn == "holds") in seen:
            yield pinned


def _directions(
    program: Program, known: list[Guard], loops: dict[str, Repeat], way: Way
) -> Iterator[dict[str, Any]]:
    """Values to keep in further runs, so that they take this way."""
    guard = next((guard for guard in known if guard.place == way.place), None)
    chosen: list[dict[str, Any]] = [{}]
    if guard is not None:
        chosen = list(_deciding(program, guard, way)) or [{}]
    elif way.place in loops and loops[way.place].items is not None:
        chosen = [{loops[way.place].items or "": [{"name": "a"}] * ITERATIONS.index(way.turn)}]
    for n in range(DIRECTED_SEEDS):
        yield chosen[n % len(chosen)]


def _without(loops: dict[str, Repeat], way: Way) -> str | None:
    return way.place if way.turn == "none" and way.place in loops and loops[way.place].artifact else None
