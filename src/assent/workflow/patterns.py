"""Regular expressions of authors, matched in time linear in the text.

The standard engine backtracks, and a file from anywhere must not be able to stop the server. So a pattern is parsed
by the standard parser, built into a finite automaton of at most `MAX_REGEX_STATES` states, and run over the text once,
with the automaton's subset states made as they are met. Look-around becomes one more automaton run over the text
in the needed direction. What no finite automaton can do (back references, conditional groups) is refused by name.
"""

from __future__ import annotations

import functools
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Callable, Iterable
from typing import Any, Final

from assent.kernel.limits import MAX_REGEX_CHARS, MAX_REGEX_STATES
from assent.workflow.characters import Test, accepts, is_word, sample
from assent.workflow.issues import shown

_CACHE_ENTRIES: Final = 20_000
_FLAGS: Final = {
    "i": re.IGNORECASE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "g": 0,
    "u": 0,
    "y": 0,
    "v": 0,
    "d": 0,
}
_NAMED: Final = re.compile(r"\(\?<(?![=!])")


class BadPattern(ValueError):  # noqa: N818 - a state of the pattern
    """The pattern cannot be used; the message says why and what to write instead."""


class Pattern:
    """A pattern ready to search. Made by `compiled`."""

    def __init__(self, source: str, flags: str) -> None:
        self.tree = _parse(source, flags)
        self._build = _Automaton(self.tree, backwards=False)

    def search(self, text: str) -> bool:
        """Whether the pattern occurs anywhere in the text."""
        return self._build.run(text, first=True)[0]

    def sample(self, *, roomy: bool = False) -> str:
        """A short text that is meant to match: the first choice everywhere. The caller checks it."""
        return sample(self.tree, roomy=roomy)


@functools.lru_cache(maxsize=256)
def compiled(source: str, flags: str = "") -> Pattern:
    """The pattern for a source, or `BadPattern`."""
    return Pattern(source, flags)


def _parse(source: str, flags: str) -> Any:
    if len(source) > MAX_REGEX_CHARS:
        raise BadPattern(
            f"The pattern has {len(source)} characters; at most {MAX_REGEX_CHARS} are taken. Split it."
        )
    if unknown := sorted(set(flags) - set(_FLAGS)):
        raise BadPattern(f"Unknown flag {shown(unknown[0])}; use i, m or s.")
    number = functools.reduce(lambda total, flag: total | int(_FLAGS[flag]), flags, 0)
    try:
        return parser.parse(_NAMED.sub("(?P<", source), number)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(
            f"Not a regular expression: {error}. Write it in the common syntax of Python and JavaScript."
        )


class _Automaton:
    """States are integers; `edges` consume a character, `free` do not, and may hang on an assertion."""

    def __init__(self, tree: Any, *, backwards: bool) -> None:
        self.backwards = backwards
        self.edges: list[list[tuple[Test, int]]] = []
        self.free: list[list[tuple[int | None, int]]] = []
        self.assertions: list[tuple[str, Any, int]] = []
        self.flags = tree.state.flags
        self._work = 0
        self.start = self._state()
        self.accept = self._sequence(tree, self.start, self.flags)
        self._closures: dict[tuple[frozenset[int], int], frozenset[int]] = {}
        self._moves: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def _state(self) -> int:
        if len(self.edges) >= MAX_REGEX_STATES:
            raise BadPattern(
                f"The pattern needs more than {MAX_REGEX_STATES} states; use smaller repetitions."
            )
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    # ── building ─────────────────────────────────────────────────────────────────────────────────

    def _sequence(self, tree: Iterable[Any], at: int, flags: int) -> int:
        items = list(tree)
        for op, argument in reversed(items) if self.backwards else items:
            at = self._item(op, argument, at, flags)
        return at

    def _item(self, op: Any, argument: Any, at: int, flags: int) -> int:
        # Repetitions of nothing add no states, so the work is bounded beside them.
        self._work += 1
        if self._work > 8 * MAX_REGEX_STATES:
            raise BadPattern("The pattern repeats too much; use smaller repetitions.")
        match op:
            case sre.LITERAL | sre.NOT_LITERAL | sre.ANY | sre.IN:
                after = self._state()
                self.edges[at].append((accepts(op, argument, flags), after))
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
                inner = _Automaton(_Tree(body, self.flags), backwards=direction > 0)
                return self._assert("yes" if op is sre.ASSERT else "no", inner, at, flags)
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
        self.assertions.append((kind, what, flags))
        self.free[at].append((len(self.assertions) - 1, after))
        return after

    # ── running ──────────────────────────────────────────────────────────────────────────────────

    def run(self, text: str, *, first: bool) -> list[bool]:
        """For each position whether a match ends there (starts there, when backwards); with `first` one answer."""
        truths = [_truth(kind, what, flags, text) for kind, what, flags in self.assertions]
        found = [False] * (1 if first else len(text) + 1)
        states: frozenset[int] = frozenset()
        positions = range(len(text), -1, -1) if self.backwards else range(len(text) + 1)
        for here in positions:
            holding = sum(1 << n for n, truth in enumerate(truths) if truth(here))
            states = self._close(states | {self.start}, holding)
            if self.accept in states:
                if first:
                    return [True]
                found[here] = True
            if self.backwards and here > 0:
                states = self._move(states, text[here - 1])
            elif not self.backwards and here < len(text):
                states = self._move(states, text[here])
        return found

    def _close(self, states: frozenset[int], holding: int) -> frozenset[int]:
        key = (states, holding)
        if (known := self._closures.get(key)) is not None:
            return known
        reached, stack = set(states), list(states)
        while stack:
            for need, target in self.free[stack.pop()]:
                if target not in reached and (need is None or holding >> need & 1):
                    reached.add(target)
                    stack.append(target)
        if len(self._closures) > _CACHE_ENTRIES:
            self._closures.clear()
        self._closures[key] = closed = frozenset(reached)
        return closed

    def _move(self, states: frozenset[int], char: str) -> frozenset[int]:
        key = (states, char)
        if (known := self._moves.get(key)) is not None:
            return known
        if len(self._moves) > _CACHE_ENTRIES:
            self._moves.clear()
        moved = frozenset(target for state in states for test, target in self.edges[state] if test(char))
        self._moves[key] = moved
        return moved


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
