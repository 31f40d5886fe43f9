"""Parses authors' regular expressions into a tree: the common syntax of Python and JavaScript.

Accepts the syntax of Python's `re` for texts, and both dialects of group names. Flags are resolved
here: every node has its own. Constructs that no finite automaton can match (back references,
conditional groups) are refused by name.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from assent.kernel.limits import MAX_REGEX_CHARS
from assent.kernel.structs import Record

MAX_NESTED_GROUPS: Final = 100
"""The deepest nesting of groups, which bounds the stack."""

_CLASSES: Final = "dDsSwW"
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX: Final = {"x": 2, "u": 4, "U": 8}
_OCTAL: Final = "01234567"
_DIGITS: Final = "0123456789"
_BLANKS: Final = " \t\n\r\v\f"
_MOST_CODE: Final = 0x10FFFF
_NO_AUTOMATON: Final = "Back references and conditional groups are not supported; write out the alternatives."


class BadPattern(ValueError):  # noqa: N818 - a state of the pattern
    """The pattern cannot be used; the message says why and what to write instead."""


class CharacterSet(Record):
    """One character: in the ranges or classes, or in none of them if `negate` is set."""

    ranges: tuple[tuple[int, int], ...] = ()
    classes: tuple[str, ...] = ()
    negate: bool = False
    fold: bool = False


class Anchor(Record):
    """A position: `begin` or `end` of the text (with `lines`, of a line), a word `boundary`, or
    `inside` if there is none."""

    kind: str
    lines: bool = False


class Lookaround(Record):
    """A pattern that must, or must not, match before or after a position."""

    ahead: bool
    wanted: bool
    body: Sequence


class Repetition(Record):
    """A repeated part; without `most` it is unbounded."""

    least: int
    most: int | None
    body: Sequence


class Choice(Record):
    """Alternatives."""

    choices: tuple[Sequence, ...]


class Sequence(Record):
    """Parts in order."""

    parts: tuple[Node, ...] = ()


Node = CharacterSet | Anchor | Lookaround | Repetition | Choice | Sequence


class _Flags(Record):
    """The flags `i`, `m`, `s` and `x` at a point of the pattern."""

    on: frozenset[str]

    def has(self, flag: str) -> bool:
        return flag in self.on


def parse(source: str, flags: str) -> Sequence:
    """Parse a pattern. Raises `BadPattern`. `flags` are some of i, m and s."""
    reader = _PatternReader(source)
    on = frozenset(flags) & frozenset("ims")
    while True:
        reader.at, reader.names, reader.added = 0, set(), frozenset()
        tree = reader.alternatives(_Flags(on), 0)
        if reader.at < len(source):
            raise _bad("there is a ) without its (", reader.at)
        if reader.added <= on:
            return tree
        on |= reader.added  # a flag for the whole pattern occurred inside it


def _bad(what: str, at: int) -> BadPattern:
    return BadPattern(
        f"Not a regular expression: {what} at position {at}. Write it in the common syntax of Python and JavaScript."
    )


class _PatternReader:
    """Parses from left to right; `at` is the next character."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.names: set[str] = set()
        self.added: frozenset[str] = frozenset()

    def peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def take(self) -> str:
        char = self.peek()
        self.at += len(char)
        return char

    def takes(self, text: str) -> bool:
        found = self.source.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def while_in(self, chars: str, most: int) -> str:
        begun = self.at
        while self.at - begun < most and self.peek() and self.peek() in chars:
            self.at += 1
        return self.source[begun : self.at]

    def until(self, mark: str, what: str) -> str:
        end = self.source.find(mark, self.at)
        if end < 0:
            raise _bad(f"{what} has no {mark}", self.at)
        text, self.at = self.source[self.at : end], end + 1
        return text

    # ── the structure ────────────────────────────────────────────────────────────────────────────

    def alternatives(self, flags: _Flags, level: int) -> Sequence:
        if level > MAX_NESTED_GROUPS:
            raise BadPattern(f"Groups nest at most {MAX_NESTED_GROUPS} deep; write the pattern flatter.")
        choices = [self.sequence(flags, level, first=level == 0)]
        while self.takes("|"):
            choices.append(self.sequence(flags, level, first=False))
        return choices[0] if len(choices) == 1 else Sequence((Choice(tuple(choices)),))

    def sequence(self, flags: _Flags, level: int, *, first: bool) -> Sequence:
        parts: list[Node] = []
        while (char := self.peek()) and char not in "|)":
            begun = self.at
            self.at += 1
            if flags.has("x") and char in _BLANKS:
                continue
            if flags.has("x") and char == "#":
                while self.peek() and self.take() != "\n":
                    pass
                continue
            if char in "*+?{" and (times := self.times(char, begun)) is not None:
                parts.append(self.repeat(parts, *times, begun))
            elif char == "(":
                made = self.group(flags, level, begun, first=first and not parts)
                parts += [] if made is None else [made]
            else:
                parts.append(self.item(char, flags, begun))
        return Sequence(tuple(parts))

    def item(self, char: str, flags: _Flags, begun: int) -> Node:
        match char:
            case ".":
                return CharacterSet(negate=True) if flags.has("s") else CharacterSet(((10, 10),), negate=True)
            case "^":
                return Anchor("begin", flags.has("m"))
            case "$":
                return Anchor("end", flags.has("m"))
            case "[":
                return self.set(flags, begun)
            case "\\":
                return self.escape(flags, begun)
            case _:
                return _literal(ord(char), flags)

    def times(self, char: str, begun: int) -> tuple[int, int | None] | None:
        """Return the bounds of a repetition; None if the brace is a literal."""
        if char != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        least = self.while_in(_DIGITS, MAX_REGEX_CHARS)
        most = self.while_in(_DIGITS, MAX_REGEX_CHARS) if (listed := self.takes(",")) else least
        if not self.takes("}") or not (least or listed):
            self.at = begun + 1
            return None
        if most and int(most) < int(least or 0):
            raise _bad("a repetition counts down", begun)
        return int(least or 0), int(most) if most else None

    def repeat(self, parts: list[Node], least: int, most: int | None, begun: int) -> Repetition:
        if not parts or isinstance(parts[-1], Anchor):
            raise _bad("there is nothing to repeat", begun)
        if isinstance(parts[-1], Repetition):
            raise _bad("a repetition is repeated; put it into a group", begun)
        # Greedy or lazy changes which text is found, never whether.
        _ = self.takes("?") or self.takes("+")
        return Repetition(least, most, Sequence((parts.pop(),)))

    def group(self, flags: _Flags, level: int, begun: int, *, first: bool) -> Node | None:
        look: tuple[bool, bool] | None = None
        if self.takes("?"):
            if self.takes("#"):
                self.until(")", "a comment")
                return None
            if self.takes("P=") or self.takes("("):
                raise BadPattern(_NO_AUTOMATON)
            looks = {"=": (True, True), "!": (True, False), "<=": (False, True), "<!": (False, False)}
            if mark := next((mark for mark in looks if self.takes(mark)), None):
                look = looks[mark]
            elif self.takes("P<") or self.takes("<"):
                self.name(begun)
            elif not (self.takes(":") or self.takes(">")):
                changed = self.flags(flags, begun, first=first)
                if changed is None:
                    return None
                flags = changed
        body = self.alternatives(flags, level + 1)
        if not self.takes(")"):
            raise _bad("a ( has no )", begun)
        return body if look is None else Lookaround(*look, body)

    def name(self, begun: int) -> None:
        name = self.until(">", "the name of a group")
        if not name.isidentifier() or name in self.names:
            raise _bad("a group has no name, or one that another has", begun)
        self.names.add(name)

    def flags(self, flags: _Flags, begun: int, *, first: bool) -> _Flags | None:
        """Parse the flags of a group; None if they apply to the whole pattern."""
        on, off = self.while_in("aimsux", 20), ""
        if self.takes("-"):
            off = self.while_in("imsx", 20)
            if not off:
                raise _bad("a flag is missing after -", begun)
        elif on and self.takes(")"):
            if not first:
                raise _bad("flags for the whole pattern must be at its start", begun)
            self.added |= frozenset(on) & set("imsx")
            return None
        if not (on or off) or not self.takes(":") or {*on} & {*off} or {"a", "u"} <= {*on}:
            raise _bad("a group begins with ( ? and something unknown", begun)
        return _Flags((flags.on | frozenset(on)) - frozenset(off))

    # ── single characters ────────────────────────────────────────────────────────────────────────

    def escape(self, flags: _Flags, begun: int) -> Node:
        char = self.take()
        edges = {
            "A": Anchor("begin"),
            "Z": Anchor("end"),
            "b": Anchor("boundary"),
            "B": Anchor("inside"),
        }
        if char and char in edges:
            return edges[char]
        if char and char in _CLASSES:
            return CharacterSet(classes=(char,))
        if char and char in "123456789":
            more = self.source[self.at : self.at + 2]
            if len(more) < 2 or any(each not in _OCTAL for each in char + more):
                raise BadPattern(_NO_AUTOMATON)
        return _literal(self.code(char, begun), flags)

    def set(self, flags: _Flags, begun: int) -> CharacterSet:
        ranges: list[tuple[int, int]] = []
        classes: list[str] = []
        negate = self.takes("^")
        while True:
            if not (char := self.take()):
                raise _bad("a [ has no ]", begun)
            if char == "]" and (ranges or classes):
                break
            low = self.member(char, begun)
            if self.peek() == "-" and self.source[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                high = self.member(self.take(), begun)
                if isinstance(low, str) or isinstance(high, str) or high < low:
                    raise _bad("a set has an invalid range", begun)
                ranges.append((low, high))
            elif isinstance(low, str):
                classes.append(low)
            else:
                ranges.append((low, low))
        return CharacterSet(tuple(ranges), tuple(classes), negate, flags.has("i"))

    def member(self, char: str, begun: int) -> int | str:
        """Return a character of a set, or the letter of a class."""
        if char != "\\":
            if not char:
                raise _bad("a [ has no ]", begun)
            return ord(char)
        char = self.take()
        if char and char in _CLASSES:
            return char
        return 8 if char == "b" else self.code(char, begun)

    def code(self, char: str, begun: int) -> int:
        """Return the code point of an escape."""
        if char in _CONTROLS:
            return ord(_CONTROLS[char])
        if char in _HEX:
            digits = self.while_in("0123456789abcdefABCDEF", _HEX[char])
            if len(digits) == _HEX[char] and int(digits, 16) <= _MOST_CODE:
                return int(digits, 16)
        elif char == "N" and self.takes("{"):
            try:
                return ord(unicodedata.lookup(self.until("}", "the name of a character")))
            except (KeyError, TypeError):
                raise _bad("there is no character of this name", begun)
        elif char and char in _OCTAL:
            value = int(char + self.while_in(_OCTAL, 2), 8)
            if value <= 0o377:
                return value
        elif char and not (char.isascii() and char.isalnum()):
            return ord(char)
        raise _bad("\\ stands before something that it gives no meaning", begun)


def _literal(code: int, flags: _Flags) -> CharacterSet:
    return CharacterSet(((code, code),), fold=flags.has("i"))


def list_parts(tree: Any) -> list[Node]:
    """Return every node of a tree."""
    found, stack = [], [tree]
    while stack:
        node = stack.pop()
        found.append(node)
        match node:
            case Sequence():
                stack += node.parts
            case Choice():
                stack += node.choices
            case Repetition() | Lookaround():
                stack.append(node.body)
    return found
