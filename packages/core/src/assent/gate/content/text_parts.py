"""Parses a text for the content checks: visible characters, lines, sentences, `key: value` fields,
quotations. The claims of a draft are found in the same sentences.

Everything here is linear in the length of the text. What each check needs is computed at once and
kept by `parse`, because two modules read each text: apart they took 30 µs more for a post.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

HEAD_CHARS: Final = 6_000
"""Length of the beginning that most checks read. Slots are searched in the whole text."""
LINE_CHARS: Final = 1_000
SENTENCE_CHARS: Final = 400

_ASCII_BREAKS: Final = "\r\x0b\x0c"
_BREAKS: Final = frozenset((*_ASCII_BREAKS, "\x85", "\u2028", "\u2029"))
_JOINERS: Final = frozenset(("\u034f", *map(chr, range(0xFE00, 0xFE10))))
_BLANKS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffc\ufffd\U0001d159")
"""Characters that Unicode counts as letters or symbols and that look blank."""
_LETTERS: Final = ("L", "N")
_SYMBOLS: Final = ("So", "Sc")

# A tag with any other attribute has an effect, so the reviewer should see it.
_LAYOUT: Final = re.compile(
    r"</?[a-z][a-z0-9]{0,12}(?:\s{1,4}(?:style|class|align|href)=\"[^\"<>]{0,200}\"){0,4}\s{0,4}/?>",
    re.IGNORECASE,
)
_ENTITY: Final = re.compile(
    r"&(?:nbsp|ensp|emsp|thinsp|zwnj|zwj|shy|lrm|rlm|#160|#xa0|#8203|#x200b);", re.IGNORECASE
)
_FENCE_LINE: Final = re.compile(r"^[ \t>]{0,8}(?:`{3,}|~{3,})\w{0,20}[ \t]*$", re.MULTILINE)
_CODE: Final = re.compile(r"```[\s\S]*?```|~~~[\s\S]*?~~~|``[^\n]{1,2000}?``|`[^`\n]{1,2000}`")
# Any quotation mark of the same kind ends a quotation, so an unclosed one costs no search.
_QUOTED: Final = re.compile(
    r"(?<!\w)\"[^\"\n]{1,2000}\"(?!\w)|“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»|"
    r"「[^「」]{1,2000}」|『[^『』]{1,2000}』|‘[^‘’\n]{1,2000}’(?!\w)"
)
_QUOTED_LINE: Final = re.compile(r"^[ \t]{0,3}>[^\n]*", re.MULTILINE)
_STAND_IN: Final = "“”"
_PAIRS: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」"}
_MARKS: Final = re.compile(r"(?:[#>*_•–—+\-|~=\s]|\d{1,2}[.)]\s|\[[ xX]\]\s)*+")
_NOT_AN_END: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|prof|st|no|nr|approx|ca|bzw|z\.\s?b|d\.\s?h|u\.\s?a|inkl|ggf|usw|evtl|"
    r"inc|ltd|"
    r"co|corp|jan|feb|aug|sept|oct|nov|dec|min|max|vol|p|pp|cf)|\b[A-Za-zÄÖÜ]|(?<![\d.])\d{1,2})\.$",
    re.IGNORECASE,
)
_END_CHARS: Final = 12
"""Longer than any of these abbreviations."""
_BREAK: Final = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]*_]*\s+(?=[\"'“„«(\[¿¡]?[^\W_a-zäöüß])|(?<=[。！？｡।])(?![。！？」』）])|"
    r"(?<=[؟!.])\s+(?=[\u0600-\u06ff])|\n+"
)
_MACHINE_KEY: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+")
_BAR: Final = re.compile(r" [|·] ")
_RULER: Final = re.compile(r"[-+=|*_~ :]{3,}")


def sign(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    """Join patterns into one that ignores case."""
    return re.compile("|".join(patterns), re.IGNORECASE | flags)


def words(listed: str) -> frozenset[str]:
    """Split a list at its commas."""
    return frozenset(word.strip() for word in listed.split(","))


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    """Split a text into its sentences. Cached: the gate's checks and the claims of a draft read the same text."""
    found: list[str] = []
    at = 0
    for match in _BREAK.finditer(text):
        piece = text[at : match.end()].strip()
        before = text[max(at, match.start() - _END_CHARS) : match.start()].rstrip()
        if "\n" not in match.group() and before.endswith(".") and _NOT_AN_END.search(before):
            continue
        if piece:
            found.append(piece)
        at = match.end()
    if rest := text[at:].strip():
        found.append(rest)
    return tuple(found)


class TextField(NamedTuple):
    """A line of the form `key: value`. `machine`: only a program writes such a key."""

    key: str
    value: str
    machine: bool


def fold(text: str) -> str:
    """Unify breaks and spaces, drop invisible characters, turn styled letters into ASCII."""
    if text.isascii() and not any(map(text.__contains__, _ASCII_BREAKS)):
        return text
    swaps: dict[int, str | None] = {}
    for char in set(text):
        category = unicodedata.category(char)
        if char in _BREAKS:
            swaps[ord(char)] = "\n"
        elif category == "Cf" or char in _JOINERS:
            swaps[ord(char)] = None
        elif category == "Zs":
            swaps[ord(char)] = " "
        elif (
            not char.isascii() and len(plain := unicodedata.normalize("NFKC", char)) == 1 and plain.isascii()
        ):
            swaps[ord(char)] = plain
    return text.replace("\r\n", "\n").translate(swaps)


def says_something(text: str) -> bool:
    """Whether a folded text without its markup has a letter, digit or symbol."""
    if text[:1].isalnum() and text[0].isascii():
        return True  # no markup begins with one
    kept = _FENCE_LINE.sub("", _ENTITY.sub(" ", _LAYOUT.sub(" ", _without_comments(text))))
    return any(_is_seen(char) for char in set(kept))


def _is_seen(char: str) -> bool:
    if char in _BLANKS:
        return False
    category = unicodedata.category(char)
    return category.startswith(_LETTERS) or category in _SYMBOLS


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


def _unwrap(text: str) -> str:
    """Return the inner text if the whole text is one code fence or one quotation."""
    for _ in range(3):
        text = text.strip()
        if len(text) > 6 and text.startswith('"""') and text.endswith('"""'):
            text = text[3:-3]
        elif text.startswith("```") and text.endswith("```") and text.count("```") == 2 and "\n" in text:
            text = text[text.index("\n") : -3]
        elif len(text) > 2 and _PAIRS.get(text[0]) == text[-1] and not {text[0], text[-1]} & set(text[1:-1]):
            text = text[1:-1]
        else:
            break
    return text


def without_marks(line: str) -> str:
    """Strip the marks of a heading, quotation or list item."""
    found = _MARKS.match(line)
    return line[found.end() :] if found else line


def parse_field(line: str) -> TextField | None:
    """Parse a line as `key: value` in any of its usual notations."""
    if ":" not in line and "=" not in line and "|" not in line:
        return None
    line = line.strip()
    if line.startswith("|"):
        cells = [cell.strip(" *_`") for cell in line.strip("|").split("|")]
        return _as_field(cells[0], cells[1]) if len(cells) == 2 else None
    line = without_marks(line)
    at = min((i for i in (line.find(":", 0, 60), line.find("=", 0, 60)) if i > 0), default=-1)
    if at < 0 or line.startswith("//", at + 1):
        return None
    return _as_field(line[:at], line[at + 1 :])


def _as_field(key: str, value: str) -> TextField | None:
    key = key.strip(" \t*_`\"'#")
    if not 0 < len(key) <= 40 or len(key.split()) > 5 or not key[0].isalpha():
        return None
    if any(char in ".!?,;()[]{}<>" for char in key):
        return None
    machine = _MACHINE_KEY.fullmatch(key) is not None
    return TextField(key.replace("_", " ").casefold(), value.strip(" \t*_`"), machine)


def _facts(line: str) -> list[str]:
    """Split a one-line card into its fields; return other lines unchanged."""
    if not line.startswith("|"):
        for parts in (_BAR.split(line), line.split(", "), line.split()):
            if len(parts) > 1 and all(map(parse_field, parts)):
                return parts
    return [line]


class Parts:
    """A text, unwrapped, in the forms that the checks read."""

    def __init__(self, text: str) -> None:
        self.text: Final = _unwrap(fold(text))
        self.head: Final = self.text[:HEAD_CHARS]
        self.unquoted: Final = self._unquote()
        """The text without code and quotations."""
        self.lines: Final = self._split_lines()
        """The beginning's lines that are not blank, with one-line cards split into fields."""
        self.first: Final = without_marks(self.lines[0]).strip(" \t*_")
        """The first line, without its marks."""
        self.fields: Final = [parse_field(line) for line in self.lines]
        """Each of `lines` parsed as a field; None for other lines."""
        stripped = (without_marks(each)[:SENTENCE_CHARS].strip(" \t*_") for each in sentences(self.head))
        self.sentences: Final = tuple(filter(None, stripped))
        """The sentences of the beginning, with quotations, without list marks."""

    def _unquote(self) -> str:
        text = self.text
        if "`" in text or "~~~" in text:
            text = _CODE.sub(_STAND_IN, text)
        if any(map(text.__contains__, '"“„«「『‘')):
            text = _QUOTED.sub(_STAND_IN, text)
        return _QUOTED_LINE.sub("", text) if ">" in text else text

    def _split_lines(self) -> list[str]:
        lines: list[str] = []
        for raw in self.head.split("\n"):
            line = raw.strip()[:LINE_CHARS]
            if not line or _RULER.fullmatch(line) or _FENCE_LINE.fullmatch(line) or not says_something(line):
                continue
            lines.extend(_facts(line))
        return lines or [self.head[:LINE_CHARS]]


parse: Final = lru_cache(maxsize=64)(Parts)
