"""Finite automata for patterns: built from the syntax tree, run over a text in one pass.

An automaton has at most `MAX_REGEX_STATES` states. A set of states is one integer, computed when
needed, so a step costs the same for every pattern and text. Look-around is another automaton, run
over the text in the needed direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from assent.kernel.limits import MAX_REGEX_STATES
from assent.workflow.regex.characters import Test, accepts, is_word
from assent.workflow.regex.syntax import (
    Anchor,
    BadPattern,
    CharacterSet,
    Choice,
    Lookaround,
    Node,
    Repetition,
    Sequence,
)

_CACHE_ENTRIES: Final = 4_000
MAX_LOOK_AROUNDS: Final = 16
"""The most look-arounds: each one is another pass over the text."""


class _Budget:
    """The remaining cost of a pattern; its look-arounds share it."""

    def __init__(self) -> None:
        self.states = MAX_REGEX_STATES
        # Empty repetitions add no states, so the work is bounded, too.
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
    """The edges behind one test, as sets: `ahead` leads to the next state, `others` elsewhere."""

    def __init__(self, test: Test) -> None:
        self.test = test
        self.ahead = 0
        self.others: dict[int, int] = {}


class Automaton:
    """States are integers, and a set of them is one integer with a bit each. Edges consume a
    character; `free` edges do not, and may depend on an assertion."""

    def __init__(self, tree: Sequence, *, backwards: bool, budget: _Budget | None = None) -> None:
        self.backwards = backwards
        self.budget = budget or _Budget()
        self.consumers: dict[CharacterSet, _Consumer] = {}
        self.free: list[list[tuple[int | None, int]]] = []
        self.assertions: dict[Anchor | int, int] = {}
        self._looks: dict[int, tuple[Lookaround, Automaton]] = {}
        self.start = self._state()
        self.accept = self._sequence(tree, self.start)
        self._plain = not backwards and all(
            isinstance(each, Anchor) and each.kind in ("begin", "end") and not each.lines
            for each in self.assertions
        )
        self._leaps: list[tuple[int, int]] = []
        self._conditional: list[tuple[int, int, int]] = []
        self._ready = False
        self._steps: dict[tuple[int, str], int] = {}
        self._closures: dict[tuple[int, int], int] = {}
        self._moves: dict[tuple[int, str], int] = {}
        self._tables: dict[str, tuple[int, list[tuple[int, int]]]] = {}

    def _state(self) -> int:
        self.budget.spend_state()
        self.free.append([])
        return len(self.free) - 1

    # ── building ─────────────────────────────────────────────────────────────────────────────────

    def _sequence(self, tree: Sequence, at: int) -> int:
        for part in reversed(tree.parts) if self.backwards else tree.parts:
            at = self._item(part, at)
        return at

    def _item(self, part: Node, at: int) -> int:
        self.budget.spend_work()
        match part:
            case CharacterSet():
                after = self._state()
                self._consume(part, at, after)
                return after
            case Sequence():
                return self._sequence(part, at)
            case Choice():
                after = self._state()
                for choice in part.choices:
                    begin = self._state()
                    self.free[at].append((None, begin))
                    self.free[self._sequence(choice, begin)].append((None, after))
                return after
            case Repetition():
                return self._repeat(part, at)
            case Anchor():
                return self._assert(part, at)
            case Lookaround():
                # A repetition contains the same subtree several times; one automaton serves all
                # copies.
                if id(part) not in self._looks:
                    self.budget.spend_look()
                    inner = Automaton(part.body, backwards=part.ahead, budget=self.budget)
                    self._looks[id(part)] = (part, inner)
                return self._assert(id(part), at)

    def _repeat(self, part: Repetition, at: int) -> int:
        if max(part.least, part.most or 0) > MAX_REGEX_STATES:
            raise BadPattern(f"A repetition counts at most to {MAX_REGEX_STATES}; use a length rule instead.")
        for _ in range(part.least):
            at = self._sequence(part.body, at)
        if part.most is None:
            loop, after = self._state(), self._state()
            self.free[at].append((None, loop))
            self.free[self._sequence(part.body, loop)].append((None, loop))
            self.free[loop].append((None, after))
            return after
        ends = [at]
        for _ in range(part.most - part.least):
            at = self._sequence(part.body, at)
            ends.append(at)
        after = self._state()
        for end in ends:
            self.free[end].append((None, after))
        return after

    def _assert(self, what: Anchor | int, at: int) -> int:
        after = self._state()
        number = self.assertions.setdefault(what, len(self.assertions))
        self.free[at].append((number, after))
        return after

    def _consume(self, place: CharacterSet, at: int, after: int) -> None:
        if place not in self.consumers:
            self.consumers[place] = _Consumer(accepts(place))
        consumer = self.consumers[place]
        if after == at + 1:
            consumer.ahead |= 1 << at
        else:
            consumer.others[after] = consumer.others.get(after, 0) | 1 << at

    def _free_moves(self) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
        """Return the moves without a character: unconditional ones as (from any of, to all of), and
        those on an assertion."""
        reach = [self._reach(state) for state in range(len(self.free))]
        leaps: dict[int, int] = {}
        conditional: list[tuple[int, int, int]] = []
        for state, moves in enumerate(self.free):
            for need, target in moves:
                if need is None:
                    leaps[target] = leaps.get(target, 0) | 1 << state
                else:
                    conditional.append((need, 1 << state, reach[target]))
        return [(sources, reach[target]) for target, sources in leaps.items()], conditional

    def _reach(self, state: int) -> int:
        reached, stack = 1 << state, [state]
        while stack:
            for need, target in self.free[stack.pop()]:
                if need is None and not reached >> target & 1:
                    reached |= 1 << target
                    stack.append(target)
        return reached

    # ── running ──────────────────────────────────────────────────────────────────────────────────

    def run(self, text: str, *, first: bool) -> list[bool]:
        """Return for each position whether a match ends there (starts there, if backwards); with
        `first` a single answer."""
        if not self._ready:
            self._leaps, self._conditional = self._free_moves()
            self._ready = True
        if first and self._plain and len(text) > 1:
            return [self._search_plain(text)]
        truths = [self._truth(what, text) for what in self.assertions]
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

    def _search_plain(self, text: str) -> bool:
        """Like `run` with `first`, for patterns with assertions only about the ends of the text,
        which are checked twice."""
        begin, accept, steps = 1 << self.start, 1 << self.accept, self._steps
        states = self._compute_closure(begin, self._holding_at(text, 0))
        for char in text[:-1]:
            if states & accept:
                return True
            key = (states, char)
            following = steps.get(key)
            if following is None:
                following = self._compute_closure(self._compute_move(states, char) | begin, 0)
                _keep(steps, key, following)
            states = following
        last = self._compute_closure(
            self._compute_move(states, text[-1]) | begin, self._holding_at(text, len(text))
        )
        return bool((states | last) & accept)

    def _truth(self, what: Anchor | int, text: str) -> Callable[[int], bool]:
        if isinstance(what, Anchor):
            return lambda here: _at(what, text, here)
        look, inner = self._looks[what]
        table, wanted = inner.run(text, first=False), look.wanted
        return lambda here: table[here] is wanted

    def _holding_at(self, text: str, here: int) -> int:
        """Return the assertions about the ends that hold at a position."""
        return sum(
            1 << number
            for edge, number in self.assertions.items()
            if isinstance(edge, Anchor) and _at(edge, text, here)
        )

    def _close(self, states: int, holding: int) -> int:
        key = (states, holding)
        if (known := self._closures.get(key)) is None:
            known = self._compute_closure(states, holding)
            _keep(self._closures, key, known)
        return known

    def _compute_closure(self, states: int, holding: int) -> int:
        reached = self._leap(states)
        grows = bool(self._conditional)
        while grows:
            before = reached
            for need, source, gain in self._conditional:
                if holding >> need & 1 and reached & source:
                    reached |= gain
            grows = reached != before
        return reached

    def _leap(self, states: int) -> int:
        reached = states
        for sources, gain in self._leaps:
            if states & sources:
                reached |= gain
        return reached

    def _move(self, states: int, char: str) -> int:
        key = (states, char)
        if (known := self._moves.get(key)) is None:
            known = self._compute_move(states, char)
            _keep(self._moves, key, known)
        return known

    def _compute_move(self, states: int, char: str) -> int:
        ahead, others = self._tables.get(char) or self._table(char)
        moved = (states & ahead) << 1
        for sources, target in others:
            if states & sources:
                moved |= target
        return moved

    def _table(self, char: str) -> tuple[int, list[tuple[int, int]]]:
        """Return every edge that accepts a character."""
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


def _at(edge: Anchor, text: str, here: int) -> bool:
    before, after = text[here - 1 : here], text[here : here + 1]
    match edge.kind:
        case "begin":
            return here == 0 or (edge.lines and before == "\n")
        case "end":
            # `$` matches only at the end, not before a final line break, as in most authors'
            # dialect.
            return here == len(text) or (edge.lines and after == "\n")
        case kind:
            return (is_word(before) != is_word(after)) is (kind == "boundary")
