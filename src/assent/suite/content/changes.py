"""Reads changes from release notes and commits: one statement each, whether it is a fix, and the version.

Reads a sentence, a list, a changelog or a paragraph. A heading says whether the items below it are
fixes, or nothing for users. Pull request numbers, authors and list marks are dropped; the words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from assent.platform.values import Record
from assent.suite.content.readme import LINE_CHARS, MAX_LINES, plain

MAX_CHANGES: Final = 30

_ASIDE: Final = re.compile(
    r"\W*(?:new contributors|contribut|full changelog|thank|checksums|downloads?|assets|install|known issues|upgrad|"
    r"migrat|sponsor|credits|internal|chores?|maintenance|dependenc|develop|documentation|docs|tests?|ci\b|build|"
    r"refactor|under the hood|intern|housekeeping|misc|deprecat|remov|packaging)",
    re.IGNORECASE,
)
"""Headings above items that are no news for users."""
_FIXES: Final = re.compile(
    r"\W*(?:bug ?)?fix(?:es|ed)?\b|\W*(?:bugs?\b|resolved|behoben|fehler|korrig|修正|不具合)", re.I
)
_PREFIX: Final = re.compile(
    r"^(?:[0-9a-f]{7,40}\s+)?(?P<type>feat\w*|fix|bug ?fix(?:es)?|perf|improvements?|enhancements?|changed?|"
    r"chore|ci|tests?|build|style|refactor|docs?|deps|revert)(?:\([^)]{0,60}\))?!?:\s*",
    re.IGNORECASE,
)
_TOLD: Final = ("feat", "perf", "improvement", "enhancement", "change", "fix", "bug")
"""The types of commits that matter to users."""
_NO_NEWS: Final = re.compile(
    r"^\W*(?:[0-9a-f]{7,40}\s+)?(?:merge|revert|wip|bump|release|prepare|chore|lint|typos?|clean ?up|refactor\w*|"
    r"rename|initial commit|first (?:\w+ )?(?:commit|release|version)|tests?|v?\d+\.\d+[\w.]*|thanks?|thank you|please|"
    r"note|warning|important|full changelog|what['’]?s (?:changed|new)|see|if you|"
    r"(?:various|minor|misc\w*|small|several) (?:\w+ ){0,3}(?:changes|fixes|improvements)|"
    r"bug ?fixes(?: and (?:\S+ )?improvements)?|"
    r"(?:updated?|upgraded?|add|fix) (?:\w+ ){0,2}(?:deps|dependenc\w*|lockfile|readme|changelog|tests?|docs|ci))\b"
    r"(?!:)(?=\W*$| )|first contribution|\[ \]",
    re.IGNORECASE,
)
"""Lines that are no change for users: housekeeping, thanks, references, fillers."""
_SCOPE: Final = re.compile(r"^(?:\[[\w./-]{2,24}\]\s+|[a-z][\w/-]{1,20}:\s+(?=[a-z]))")
"""The part of the code that a changelog item names first."""
_REFERENCES: Final = re.compile(
    r"\s*(?:\([^()]{0,80}(?:#\d|@\w|\b[0-9a-f]{7,40}\b)[^()]{0,80}\)|\(?:?(?:issue|pr|pull):`[^`]{1,40}`\)?|"
    r"\bby @[\w-]+(?: in https?://\S+)?|\bin https?://\S+|#\d+|https?://\S+/(?:pull|issues|commit|compare)/\S+|@[\w-]+)(?=[.!\s]|$)",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(
    r"^\W*(?:release |version |[a-zA-Z][\w-]{0,30} )?\[?v?(\d+\.\d+(?:\.\d+){0,2}(?:-[a-z]+\.?\d*)?)\]?"
    r"(?:\s*[-–—(:,/]*\s*(?:\d{4}-\d\d-\d\d|\w+ \d{1,2},? \d{4}|\d{1,2}\.\s?\d{1,2}\.\s?\d{4})\)?)?\W*$",
    re.IGNORECASE,
)
_LEADING_VERSION: Final = re.compile(r"^v?(\d+\.\d+(?:\.\d+)?)\s*(?:[:–—]|-\s)\s*(?=\S)", re.IGNORECASE)
_MARK: Final = re.compile(r"^(\s*)(?:[-*+•・–]|\d{1,2}[.)])\s+(?:\[[xX]\]\s+)?")
_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s+(.+)|\*\*([^*]{2,40})\*\*:?\s*)$")


class Change(Record):
    """A statement about a change. `kind` is `fixed` for a fix."""

    text: str
    kind: str = ""


class Changes(Record):
    version: str = ""
    items: tuple[Change, ...] = ()


def read_changes(lines: Iterable[str]) -> Changes:
    """Return the statements of release notes, fixes last."""
    version, heading = "", ""
    found: list[Change] = []
    for line in _join_lines(islice(lines, MAX_LINES)):
        mark, head = _MARK.match(line), _HEADING.match(line)
        bare = plain((head[1] or head[2]) if head else line[mark.end() :] if mark else line)
        if number := _VERSION.match(bare):
            version = version or number[1]
        elif head or (not mark and bare.endswith(":") and len(bare.split()) < 4):
            heading = bare
        elif not _ASIDE.match(heading) and not (mark and len(mark[1].expandtabs(4)) > 1 and found):
            if first := _LEADING_VERSION.match(bare):
                version, bare = version or first[1], bare[first.end() :]
            change = _read(_SCOPE.sub("", bare) if mark and not _PREFIX.match(bare) else bare)
            fixed = change is not None and (change.kind or (_FIXES.match(heading) and "fixed"))
            found += [Change(change.text, fixed or "")] if change is not None else []
    found.sort(key=lambda change: change.kind == "fixed")
    return Changes(version, tuple(found[:MAX_CHANGES]))


def read_commit(message: str) -> Change | None:
    """Return the change of a commit; None for housekeeping."""
    return _read(plain(message.strip().partition("\n")[0]))


def _read(line: str) -> Change | None:
    prefix = _PREFIX.match(line)
    kind = prefix["type"].lower() if prefix else ""
    text = re.sub(r"^[\s–-]+|[\s–:-]+$", "", _REFERENCES.sub("", line[prefix.end() :] if prefix else line))
    if not text or (kind and not kind.startswith(_TOLD)) or _NO_NEWS.search(text) or "](" in text:
        return None
    return Change(
        text, "fixed" if kind.startswith(("fix", "bug")) or re.match(r"fix(?:ed|es)?\b", text, re.I) else ""
    )


def _join_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield each statement or heading as one line, without code."""
    held, fenced = "", False
    for line in lines:
        fence = re.match(r"\s*(?:```|~~~(?!~))", line) is not None
        fenced = fenced != fence
        if fence or fenced:
            continue
        if re.fullmatch(r"\s*([=~^\"-])\1{2,}\s*", line):
            held = f"## {held.strip()}" if held.strip() else ""
            continue
        goes_on = line[:1].isspace() or (line[:1].islower() and len(held) > 40 and not _PREFIX.match(line))
        if (
            held
            and line.strip()
            and goes_on
            and len(held) < LINE_CHARS
            and not _MARK.match(line)
            and not re.search(r"[.!?:。！？]\s*$|^#", held)
        ):
            held = f"{held.rstrip()} {line.strip()}"
            continue
        if held.strip():
            yield held
        held = line
    if held.strip():
        yield held
