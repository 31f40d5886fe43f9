"""A text taken apart for judging: what is visible, what is quoted, its lines, sentences and `key: value` fields.

Takes apart and counts; judges nothing. Everything here is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import Final, NamedTuple

HEAD_CHARS: Final = 24_000
"""What a text is shows in its beginning; only what a template left open is looked for everywhere."""
TAIL_CHARS: Final = 4_000
LAST_SENTENCES: Final = 8
SENTENCE_CHARS: Final = 400
LINE_CHARS: Final = 1_000
KEY_CHARS: Final = 40
KEY_WORDS: Final = 5

_INK: Final = re.compile(r"[!-~]")
"""Whatever of ASCII can be seen."""
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Cn", "Zs", "Zl", "Zp", "Mn", "Me"))
# Letters and symbols by their category, blank by their shape.
_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffc\ufffd\U0001d159")
_BREAKS: Final = frozenset("\r\x0b\x0c\x85\u2028\u2029")
# Tags with a handler are left in: they do something, and a person should see them.
_LAYOUT: Final = re.compile(
    r"</?(?:p|br|div|span|b|i|u|em|strong|ul|ol|li|h[1-6]|hr|table|tbody|thead|tr|td|th|section|article|center|"
    r"font|html|head|body|blockquote|small|a|main|header|footer)(?=[\s/>])(?![^<>]{0,300}\son\w)[^<>]{0,300}>",
    re.IGNORECASE,
)
_BLANK_ENTITY: Final = re.compile(
    r"&(?:nbsp|ensp|emsp|thinsp|zwnj|zwj|shy|lrm|rlm|#160|#xa0|#8203|#x200b);", re.IGNORECASE
)
_BARE_MARK: Final = re.compile(
    r"^[ \t>]*+(?:#{1,6}|[-*+]|([-*_=~])(?:[ \t]*+\1){2,}+|`{3,}\w*|\|[-:| \t]*+|"
    r"[*_]{2,3}[ \t]*+[*_]{2,3})?[ \t]*+$",
    re.MULTILINE,
)
_RULE: Final = re.compile(r"[-+=| :]{3,}")
_FENCE: Final = re.compile(r"```[\s\S]*?```")
# A quotation ends at the next mark of its kind, opening ones too, so that unclosed ones cost nothing.
_QUOTED: Final = re.compile(
    r"``[^\n]{1,2000}?``|`[^`\n]{1,2000}`|(?<!\w)[fFrRbBuU]{0,2}\"[^\"\n]{1,2000}\"(?!\w)|“[^“”]{1,2000}”|"
    r"„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»|「[^「」]{1,2000}」|『[^『』]{1,2000}』|‘[^‘’\n]{1,2000}’(?!\w)"
)
_QUOTED_LINE: Final = re.compile(r"^[ \t]{0,3}>[^\n]*", re.MULTILINE)
_STAND_IN: Final = "“”"
_PAIRS: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "'": "'", "‘": "’"}
_LEAD: Final = re.compile(r"(?:[#>*_•–—+\-|~\s]|\d{1,2}[.)]\s|\[[ x]\]|[☐✅👉🔹])*+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"'”’)*_]{0,3}\s+|[。！？؟]+")
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"\w+")
_MACHINE_KEY: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+")


class Field(NamedTuple):
    """A line of the form `key: value`. `machine` for a key that only a program would write."""

    key: str
    value: str
    machine: bool


_WRITTEN: Final = re.compile(r"[A-Za-z0-9]")
_QUOTES: Final = tuple('`"“„«「『‘')


def says_something(text: str) -> bool:
    """Whether anything of a plain text can be seen once its markup is taken away."""
    if "<" not in text and "&" not in text and "`" not in text and _WRITTEN.search(text) is not None:
        return True  # of all markup only tags, entities and fences have a letter or a digit in them
    return visible(without_markup(text))


def visible(text: str) -> bool:
    """Whether any character of the text can be seen."""
    if text.isascii():
        return _INK.search(text) is not None
    return any(unicodedata.category(char) not in _UNSEEN and char not in _BLANK for char in set(text))


def without_markup(text: str) -> str:
    """The text without comments, tags that only lay out, and Markdown that marks nothing."""
    kept = _BLANK_ENTITY.sub(" ", _LAYOUT.sub("\n", _without_comments(text)))
    return _BARE_MARK.sub("", kept)


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


def plain(text: str) -> str:
    """One kind of line break, one kind of space, nothing invisible."""
    if text.isascii() and _BREAKS.isdisjoint(text):
        return text
    swaps: dict[int, str | None] = {0xFF1A: ":", 0xFF5C: "|"}
    for char in set(text):
        category = unicodedata.category(char)
        if char in _BREAKS:
            swaps[ord(char)] = "\n"
        elif category == "Cf":
            swaps[ord(char)] = None
        elif category == "Zs":
            swaps[ord(char)] = " "
    return text.replace("\r\n", "\n").translate(swaps)


def _unwrapped(text: str) -> str:
    """The text inside when all of it stands in one code fence, one quotation or one block quote."""
    for _ in range(3):
        text = text.strip()
        if len(text) > 6 and text.startswith('"""') and text.endswith('"""'):
            text = text[3:-3]
        elif text.startswith("```") and text.endswith("```") and text.count("```") == 2 and "\n" in text:
            text = text[text.index("\n") : -3]
        elif text.startswith(">") and all(line.lstrip()[:1] in (">", "") for line in text.split("\n")):
            text = "\n".join(line.lstrip().removeprefix(">") for line in text.split("\n"))
        elif len(text) > 2 and _PAIRS.get(text[0]) == text[-1] and not {text[0], text[-1]} & set(text[1:-1]):
            text = text[1:-1]
        else:
            break
    return text


def word_count(text: str) -> int:
    """Words; a run of letters in a script that does not space its words counts as several."""
    words = _WORD.findall(text)
    if text.isascii():
        return len(words)
    return sum(1 if word.isascii() or len(word) < 8 else len(word) // 6 for word in words)


def field_of(line: str) -> Field | None:
    """The line as `key: value`, whichever of the usual ways it is written in."""
    if ":" not in line and "=" not in line and "|" not in line:
        return None
    line = line.strip()
    if line.startswith("|"):
        cells = [cell.strip(" *_`") for cell in line.strip("|").split("|")]
        return as_field(cells[0], cells[1]) if len(cells) == 2 else None
    line = without_lead(line)
    at = min((i for i in (line.find(":", 0, 60), line.find("=", 0, 60)) if i > 0), default=-1)
    if at < 0 or line.startswith("//", at + 1):
        return None
    return as_field(line[:at], line[at + 1 :].lstrip(">"))


def as_field(key: str, value: str) -> Field | None:
    key = key.strip(" \t*_`\"'#")
    if not 0 < len(key) <= KEY_CHARS or len(key.split()) > KEY_WORDS or not _LETTER.match(key):
        return None
    if any(char in ".!?,;()[]{}<>" for char in key):
        return None
    machine = _MACHINE_KEY.fullmatch(key) is not None
    return Field(key.replace("_", " ").casefold(), value.strip(" \t*_`"), machine)


def without_lead(line: str) -> str:
    """The line without what makes it a heading or an item of a list."""
    found = _LEAD.match(line)
    return line[found.end() :] if found else line


def sentences_of(text: str) -> list[str]:
    found = []
    for line in _LAYOUT.sub("\n", text).split("\n"):
        for part in _SENTENCE_END.split(without_lead(line)):
            sentence = part[:SENTENCE_CHARS].strip(" \t*_")
            if sentence:
                found.append(sentence)
    return found


class Page:
    """One body, unwrapped, with the views that the judging needs."""

    def __init__(self, body: str) -> None:
        self.text: Final = _unwrapped(plain(body))

    @cached_property
    def unquoted(self) -> str:
        """Everything but code and quotations."""
        text = self.text
        if any(mark in text for mark in _QUOTES):
            text = _QUOTED.sub(_STAND_IN, _FENCE.sub("\n", text))
        return _QUOTED_LINE.sub("", text) if ">" in text else text

    @cached_property
    def head(self) -> str:
        return self.text[:HEAD_CHARS]

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the head that say something, one at least; parts of a one-line card are lines too."""
        lines = []
        for raw in self.head.split("\n"):
            line = raw.strip()[:LINE_CHARS]
            if not visible(line) or _BARE_MARK.fullmatch(line) or _RULE.fullmatch(line):
                continue
            parts = line.replace(" · ", " | ").split(" | ")
            if len(parts) > 1 and not line.startswith("|") and all(map(field_of, parts)):
                lines.extend(parts)
            else:
                lines.append(line)
        return lines or [self.head[:LINE_CHARS]]

    @cached_property
    def fields(self) -> list[Field | None]:
        """For each of `lines`, what it is as a field."""
        return [field_of(line) for line in self.lines]

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the unquoted head, without list marks."""
        return sentences_of(self.unquoted[:HEAD_CHARS])

    @cached_property
    def last_sentences(self) -> list[str]:
        if len(self.unquoted) <= TAIL_CHARS:
            return self.sentences[-LAST_SENTENCES:]
        return sentences_of(self.unquoted[-TAIL_CHARS:])[-LAST_SENTENCES:]
