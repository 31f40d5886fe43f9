"""Finite automata for patterns: built from a parsed one, and run over a text once.

At most `MAX_REGEX_STATES` states, with a set of states held in one number and made as it is met, so that a step costs
the same for every pattern and text. Look-around is one more automaton run over the text in the needed direction.
"""

from __future__ import annotations

import re
import re._constants as sre  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable
from typing import Any, Final

from assent.kernel.limits import MAX_REGEX_STATES
from assent.workflow.characters import Test, accepts, is_word

_CACHE_ENTRIES: Final = 4_000
_ENDS: Final = (sre.AT_BEGINNING, sre.AT_END, sre.AT_BEGINNING_STRING, sre.AT_END_STRING)
MAX_LOOK_AROUNDS: Final = 16
"""Each one is another pass over the text."""


class BadPattern(ValueError):  # noqa: N818 - a state of the pattern
    """The pattern cannot be used; the message says why and what to write instead."""


class _Budget:
    """How much a pattern may still cost, its look-around included: every automaton in it spends from the same."""

    def __init__(self) -> None:
        self.states = MAX_REGEX_STATES
        # Repetitions of nothing add no states, so the work is bounded beside them.
        self.work = 8 * MAX_REGEX_STATES
        self.looks = MAX_LOOK_AROUNDS

    def spend_state(self) -> None:
        self.states -= 1
        if self.states < 0:
            raise BadPattern(
                f"The pattern needs more than {MAX_REGEX_STATES} states; use smaller repetitions."
            )

    def spend_work(self) -> None:
        self.work -= 1
        if self.work < 0:
            raise BadPattern("The pattern repeats too much; use smaller repetitions.")

    def spend_look(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise BadPattern(
                f"The pattern looks around more than {MAX_LOOK_AROUNDS} times; split it into several rules."
            )


class _Consumer:
    """The edges that one test guards, as sets of states: `ahead` leads to the next state, `others` elsewhere."""

    def __init__(self, test: Test) -> None:
        self.test = test
        self.ahead = 0
        self.others: dict[int, int] = {}


class Automaton:
    """States are integers and a set of them is one integer, a bit for each. Edges consume a character; `free` ones do
    not, and may hang on an assertion."""

    def __init__(self, tree: Any, *, backwards: bool, budget: _Budget | None = None) -> None:
        self.backwards = backwards
        self.budget = budget or _Budget()
        self.consumers: dict[tuple[Any, int, int], _Consumer] = {}
        self.free: list[list[tuple[int | None, int]]] = []
        self.assertions: dict[tuple[str, int, int], tuple[int, Any]] = {}
        self._looks: dict[int, Automaton] = {}
        self.flags = tree.state.flags
        self.start = self._state()
        self.accept = self._sequence(tree, self.start, self.flags)
        self._leaps, self._conditional = self._free_moves()
        self._plain = not backwards and all(
            kind == "at" and where in _ENDS and not flags & re.MULTILINE
            for (kind, _, flags), (_, where) in self.assertions.items()
        )
        self._steps: dict[tuple[int, str], int] = {}
        self._closures: dict[tuple[int, int], int] = {}
        self._moves: dict[tuple[int, str], int] = {}
        self._tables: dict[str, tuple[int, list[tuple[int, int]]]] = {}

    def _state(self) -> int:
        self.budget.spend_state()
        self.free.append([])
        return len(self.free) - 1

    # ── building ─────────────────────────────────────────────────────────────────────────────────

    def _sequence(self, tree: Iterable[Any], at: int, flags: int) -> int:
        items = list(tree)
        for op, argument in reversed(items) if self.backwards else items:
            at = self._item(op, argument, at, flags)
        return at

    def _item(self, op: Any, argument: Any, at: int, flags: int) -> int:
        self.budget.spend_work()
        match op:
            case sre.LITERAL | sre.NOT_LITERAL | sre.ANY | sre.IN:
                after = self._state()
                self._consume(op, argument, flags, at, after)
                return after
            case sre.SUBPATTERN:
                _, add, remove, body = argument
                return self._sequence(body, at, (flags | add) & ~remove)
            case sre.BRANCH:
                after = self._state()
                for choice in argument[1]:
                    begin = self._state()
                    self.free[at].append((None, begin))
                    self.free[self._sequence(choice, begin, flags)].append((None, after))
                return after
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                return self._repeat(*argument, at=at, flags=flags)
            case sre.AT:
                return self._assert("at", argument, at, flags)
            case sre.ASSERT | sre.ASSERT_NOT:
                direction, body = argument
                if id(body) not in self._looks:
                    self.budget.spend_look()
                    inner = Automaton(_Tree(body, self.flags), backwards=direction > 0, budget=self.budget)
                    self._looks[id(body)] = inner
                return self._assert("yes" if op is sre.ASSERT else "no", self._looks[id(body)], at, flags)
            case sre.ATOMIC_GROUP:
                return self._sequence(argument, at, flags)
            case _:
                raise BadPattern(
                    "Back references and conditional groups are not taken; write the choices out."
                )

    def _repeat(self, least: int, most: Any, body: Any, *, at: int, flags: int) -> int:
        if least > MAX_REGEX_STATES or (most is not sre.MAXREPEAT and most > MAX_REGEX_STATES):
            raise BadPattern(f"A repetition counts at most to {MAX_REGEX_STATES}; use a length rule instead.")
        for _ in range(least):
            at = self._sequence(body, at, flags)
        if most is sre.MAXREPEAT:
            loop, after = self._state(), self._state()
            self.free[at].append((None, loop))
            self.free[self._sequence(body, loop, flags)].append((None, loop))
            self.free[loop].append((None, after))
            return after
        ends = [at]
        for _ in range(most - least):
            at = self._sequence(body, at, flags)
            ends.append(at)
        after = self._state()
        for end in ends:
            self.free[end].append((None, after))
        return after

    def _assert(self, kind: str, what: Any, at: int, flags: int) -> int:
        after = self._state()
        key = (kind, what if kind == "at" else id(what), flags)
        number, _ = self.assertions.setdefault(key, (len(self.assertions), what))
        self.free[at].append((number, after))
        return after

    def _consume(self, op: Any, argument: Any, flags: int, at: int, after: int) -> None:
        # A repetition meets the same part of the tree again and again: one test serves all its copies.
        key = (op, argument if isinstance(argument, int) else id(argument), flags)
        if key not in self.consumers:
            self.consumers[key] = _Consumer(accepts(op, argument, flags))
        consumer = self.consumers[key]
        if after == at + 1:
            consumer.ahead |= 1 << at
        else:
            consumer.others[after] = consumer.others.get(after, 0) | 1 << at

    def _free_moves(self) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
        """What is reached without a character: always, as (from any of, to all of); and on an assertion."""
        reach = [self._reached(state) for state in range(len(self.free))]
        leaps: dict[int, int] = {}
        conditional: list[tuple[int, int, int]] = []
        for state, moves in enumerate(self.free):
            for need, target in moves:
                if need is None:
                    leaps[target] = leaps.get(target, 0) | 1 << state
                else:
                    conditional.append((need, 1 << state, reach[target]))
        return [(sources, reach[target]) for target, sources in leaps.items()], conditional

    def _reached(self, state: int) -> int:
        reached, stack = 1 << state, [state]
        while stack:
            for need, target in self.free[stack.pop()]:
                if need is None and not reached >> target & 1:
                    reached |= 1 << target
                    stack.append(target)
        return reached

    # ── running ──────────────────────────────────────────────────────────────────────────────────

    def run(self, text: str, *, first: bool) -> list[bool]:
        """For each position whether a match ends there (starts there, when backwards); with `first` one answer."""
        if first and self._plain and len(text) > 1:
            return [self._searched(text)]
        truths = [_truth(kind, what, flags, text) for (kind, _, flags), (_, what) in self.assertions.items()]
        found = [False] * (1 if first else len(text) + 1)
        states, begin, accept = 0, 1 << self.start, 1 << self.accept
        positions = range(len(text), -1, -1) if self.backwards else range(len(text) + 1)
        for here in positions:
            holding = sum(1 << n for n, truth in enumerate(truths) if truth(here)) if truths else 0
            states = self._close(states | begin, holding)
            if states & accept:
                if first:
                    return [True]
                found[here] = True
            if self.backwards and here > 0:
                states = self._move(states, text[here - 1])
            elif not self.backwards and here < len(text):
                states = self._move(states, text[here])
        return found

    def _searched(self, text: str) -> bool:
        """The same for a pattern whose assertions are about the two ends: between them nothing has to be asked."""
        begin, accept, steps = 1 << self.start, 1 << self.accept, self._steps
        states = self._closed(begin, self._holding_at(text, 0))
        for char in text[:-1]:
            if states & accept:
                return True
            key = (states, char)
            following = steps.get(key)
            if following is None:
                following = self._closed(self._moved(states, char) | begin, 0)
                _keep(steps, key, following)
            states = following
        last = self._closed(self._moved(states, text[-1]) | begin, self._holding_at(text, len(text)))
        return bool((states | last) & accept)

    def _holding_at(self, text: str, here: int) -> int:
        """Which assertions about the ends hold at a position."""
        return sum(
            1 << number
            for (_, _, flags), (number, where) in self.assertions.items()
            if _at(where, flags, text, here)
        )

    def _close(self, states: int, holding: int) -> int:
        key = (states, holding)
        if (known := self._closures.get(key)) is None:
            known = self._closed(states, holding)
            _keep(self._closures, key, known)
        return known

    def _closed(self, states: int, holding: int) -> int:
        reached = self._leapt(states)
        grows = bool(self._conditional)
        while grows:
            before = reached
            for need, source, gain in self._conditional:
                if holding >> need & 1 and reached & source:
                    reached |= gain
            grows = reached != before
        return reached

    def _leapt(self, states: int) -> int:
        reached = states
        for sources, gain in self._leaps:
            if states & sources:
                reached |= gain
        return reached

    def _move(self, states: int, char: str) -> int:
        key = (states, char)
        if (known := self._moves.get(key)) is None:
            known = self._moved(states, char)
            _keep(self._moves, key, known)
        return known

    def _moved(self, states: int, char: str) -> int:
        ahead, others = self._tables.get(char) or self._table(char)
        moved = (states & ahead) << 1
        for sources, target in others:
            if states & sources:
                moved |= target
        return moved

    def _table(self, char: str) -> tuple[int, list[tuple[int, int]]]:
        """Every edge that takes a character."""
        ahead = 0
        others: dict[int, int] = {}
        for consumer in self.consumers.values():
            if consumer.test(char):
                ahead |= consumer.ahead
                for target, sources in consumer.others.items():
                    others[target] = others.get(target, 0) | sources
        made = (ahead, [(sources, 1 << target) for target, sources in others.items()])
        _keep(self._tables, char, made)
        return made


def _keep(cache: dict[Any, Any], key: Any, value: Any) -> None:
    if len(cache) >= _CACHE_ENTRIES:
        cache.clear()
    cache[key] = value


class _Tree:
    """A part of a parsed pattern that looks like a whole one."""

    def __init__(self, body: Any, flags: int) -> None:
        self._body = body
        self.state = type("state", (), {"flags": flags})

    def __iter__(self) -> Any:
        return iter(self._body)


def _truth(kind: str, what: Any, flags: int, text: str) -> Callable[[int], bool]:
    if kind == "at":
        return lambda here: _at(what, flags, text, here)
    table = what.run(text, first=False)
    return lambda here: table[here] is (kind == "yes")


def _at(where: Any, flags: int, text: str, here: int) -> bool:
    before, after = text[here - 1 : here], text[here : here + 1]
    match where:
        case sre.AT_BEGINNING:
            return here == 0 or bool(flags & re.MULTILINE and before == "\n")
        case sre.AT_END:
            # The end is the end: a line break after it is not forgiven, as in the dialect most authors write.
            return here == len(text) or bool(flags & re.MULTILINE and after == "\n")
        case sre.AT_BEGINNING_STRING:
            return here == 0
        case sre.AT_END_STRING:
            return here == len(text)
        case _:
            boundary = is_word(before) != is_word(after)
            return boundary if where is sre.AT_BOUNDARY else not boundary
