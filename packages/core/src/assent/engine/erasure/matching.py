"""Finds a person in stored texts and removes what names them.

A person is named by an e-mail address or by other words, such as a full name. A text names them if one
of these is in it as a whole: `ada@example.com` is not in `ada@example.community`. Letter case does not
matter, nor that the text is JSON or part of a URL. Pure.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec

from assent.engine.actions.idempotency import pack, unpack
from assent.engine.audit.actions import ERASED

C = TypeVar("C")

MIN_CHARS: Final = 3
"""Shorter words would be found everywhere."""
MIN_PICTURE_CHARS: Final = 6
"""Shorter words are in the bytes of a picture by chance: three letters in every fifth megabyte."""
MIN_CONTENT_CHARS: Final = 20
"""A shorter text of an erased action says nothing about a person."""

_BEFORE: Final = r"(?:(?<![\w.+-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9a-fA-F]{2}))"
"""What may stand before a name: no letter of a longer word, but an escape of JSON or of a URL."""
_AFTER: Final = r"(?![\w-])(?!\.\w)"

OWN_KEYS: Final = frozenset(
    [
        "assurance",
        "channel",
        "claimed",
        "connector",
        "executes",
        "kind",
        "operator",
        "risk",
        "severity",
        "status",
        "tool",
        "type",
        "verb",
        "via",
    ]
)
"""Keys of JSON under which the server writes words of its own, which no name replaces: a person may be called
Agent."""
_WORD: Final = re.compile(r"[\w-]+")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
"""A key of JSON that is the name of a field."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Matcher:
    """Judges texts by the names of a person, and by the texts of what was erased.

    `contents` has the texts of erased actions by the ids of these actions, their runs and their drafts:
    where such an id is in a row, a copy of these texts may be too.
    """

    def __init__(self, names: Iterable[str], contents: Mapping[str, Sequence[str]] | None = None) -> None:
        self.names = tuple(names)
        self.contents = dict(contents or {})
        self._pattern = _compile(self.names)
        self._long = _compile([name for name in self.names if len(name) >= MIN_PICTURE_CHARS])

    def find(self, values: Iterable[object], keys: Iterable[object] = ()) -> bool:
        """Whether a row with these values names the person or has a copy of what was erased."""
        return bool(self.find_columns(dict(enumerate(values)), keys))

    def find_columns(self, row: Mapping[C, object], keys: Iterable[object] = ()) -> list[C]:
        """Return the columns of a row that name the person or have a copy of what was erased."""
        texts = {name: read(value) for name, value in row.items()}
        copies = self._copied(texts.values(), keys)
        return [name for name, text in texts.items() if self.names_person(text) or _has(text, copies)]

    def names_person(self, text: str) -> bool:
        pattern = self._long if "\0" in text else self._pattern
        if pattern is None or pattern.search(text) is None:
            return False
        found = _decode(text)
        return found is None or self._is_in(found)

    def is_name(self, *texts: str | None) -> bool:
        """Whether one of the texts is a name of the person, and nothing else."""
        return not {each.casefold() for each in texts if each}.isdisjoint(map(str.casefold, self.names))

    def _is_in(self, value: Any) -> bool:
        """Whether a value of JSON names the person, other than by words of the server."""
        if isinstance(value, str):
            return self.names_person(value)
        if isinstance(value, list):
            return any(map(self._is_in, value))
        return isinstance(value, dict) and any(
            (not _IDENTIFIER.fullmatch(key) and self.names_person(key))
            or (not _is_own_word(key, each) and self._is_in(each))
            for key, each in value.items()
        )

    def erase(self, value: object, values: Iterable[object], keys: Iterable[object] = ()) -> object:
        """Return a value of a row without the texts that name the person."""
        copies = self._copied([read(each) for each in values], keys)
        text = read(value)
        if not (self.names_person(text) or _has(text, copies)):
            return value
        erased = self._erase_text(text, copies)
        return pack(erased) if isinstance(value, bytes) else erased

    def _erase_text(self, text: str, copies: Sequence[str]) -> str:
        found = _decode(text)
        if found is None:
            return ERASED
        return msgspec.json.encode(self._erase_value(found, copies)).decode()

    def _erase_value(self, value: Any, copies: Sequence[str]) -> Any:
        if isinstance(value, str):
            return ERASED if self.names_person(value) or _has(value, copies) else value
        if isinstance(value, list):
            return [self._erase_value(each, copies) for each in value]
        if isinstance(value, dict):
            return {
                key if _IDENTIFIER.fullmatch(key) else self._erase_value(key, copies): (
                    each if _is_own_word(key, each) else self._erase_value(each, copies)
                )
                for key, each in value.items()
            }
        return value

    def _copied(self, texts: Iterable[str], keys: Iterable[object]) -> list[str]:
        """Return the texts of the erased actions that the row mentions."""
        if not self.contents:
            return []
        named = {each for each in keys if isinstance(each, str)}
        named.update(found for text in texts for found in _UUID.findall(text))
        return [content for each in named for content in self.contents.get(each, ())]


def read(value: object) -> str:
    """Return a stored value as text: JSON, plain text, a packed answer, or the bytes of a picture."""
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        try:
            return unpack(raw)
        except (ValueError, zlib.error):
            return raw.decode("latin-1")
    return value if isinstance(value, str) else ""


def collect_texts(*values: object) -> tuple[str, ...]:
    """Return the texts inside some values that are long enough to say something."""
    found: set[str] = set()
    waiting: list[Any] = [msgspec.to_builtins(value) for value in values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and len(value) >= MIN_CONTENT_CHARS:
            found.add(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
    return tuple(sorted(found))


def _has(text: str, copies: Sequence[str]) -> bool:
    return any(copy in text or json.dumps(copy, ensure_ascii=False)[1:-1] in text for copy in copies)


def _decode(text: str) -> Any:
    """Return an object or list of JSON, or None if the text is neither."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _is_own_word(key: str, value: object) -> bool:
    return key in OWN_KEYS and isinstance(value, str) and _WORD.fullmatch(value) is not None


def _compile(names: Sequence[str]) -> re.Pattern[str] | None:
    if not names:
        return None
    listed = "|".join(_spell(name) for name in names)
    return re.compile(f"{_BEFORE}(?:{listed}){_AFTER}", re.IGNORECASE)


def _spell(name: str) -> str:
    """Return a pattern for a name as plain text, in JSON, in HTML and in a URL."""
    spellings: set[str] = set()
    for each in (name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)):
        marked = html.escape(each)
        spellings |= {each, json.dumps(each)[1:-1], json.dumps(each, ensure_ascii=False)[1:-1]}
        spellings |= {marked, marked.replace("&#x27;", "&#39;"), quote(each, safe=""), quote(each, safe=" @")}
    escaped = {re.escape(each) for each in spellings}
    escaped |= {each.replace("@", "%40") for each in escaped if "@" in each}
    escaped |= {each.replace(r"\ ", r"(?:\+|%20|(?:\s|\\[nrt])+)") for each in escaped if r"\ " in each}
    return "|".join(sorted(escaped, key=len, reverse=True))
