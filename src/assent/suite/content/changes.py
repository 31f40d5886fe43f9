"""Reads changes from release notes and commits: one statement each, whether it is a fix, and the
version.

Reads a sentence, a list, a changelog section or a paragraph. A heading gives the kind of the items
below it. Pull request numbers, authors and list marks are dropped; the words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from assent.platform.values import Record
from assent.suite.content.language import sentences
from assent.suite.content.readme import ONLY_LINK, plain

MAX_CHANGES: Final = 30

_KIND: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "aside",
        re.compile(
            r"\W*(?:new contributors|contributors|contributed|full changelog|thank|checksums|downloads?|assets|install|"
            r"known issues|upgrad|migrat|sounds|sponsor|credits)",
            re.I,
        ),
    ),
    ("breaking", re.compile(r"\W*(?:breaking|incompatible)", re.I)),
    (
        "fixed",
        re.compile(
            r"\W*(?:bug ?)?fix(?:es|ed)?\b|\W*bugs?\b|\W*resolved|\W*(?:behoben|fehler|korrig)|\W*修正|\W*不具合",
            re.I,
        ),
    ),
    (
        "inside",
        re.compile(
            r"\W*(?:internal|chores?|maintenance|dependenc|development|documentation|docs|tests?|ci\b|build|refactor|"
            r"under the hood|intern|housekeeping|misc|deprecat|remov|packaging)",
            re.I,
        ),
    ),
)
"""The kind of the items below a heading, by the words of the heading."""
_PREFIX: Final = re.compile(
    r"^(?:[0-9a-f]{7,40}\s+)?(?P<type>feat|feature|fix|bug ?fix(?:es)?|perf|improvements?|enhancements?|changed?|"
    r"changes|chore|ci|tests?|build|style|refactor|docs?|deps|"
    r"revert)"
    r"(?:\([^)]{0,60}\))?!?:\s*",
    re.IGNORECASE,
)
_TOLD: Final = ("feat", "perf", "improvement", "enhancement", "change", "fix", "bug")
"""The kinds of commits and items that matter to users."""
_FIX: Final = re.compile(
    r"^(?:bug ?fix:|fix(?:ed|es)?(?! and\b)|resolved?|repair(?:ed)?|correct(?:ed)?|hotfix|patch(?:ed)?|behoben|behebt|"
    r"korrigiert)(?!\w)"
    r"|\b(?:behoben|korrigiert)\.?$|修正",
    re.IGNORECASE,
)
_INSIDE: Final = re.compile(
    r"^(?:[0-9a-f]{7,40}\s+)?(?:merge\b|revert\b|wip\b|bump\b|release\b|prepare\b|v?\d+\.\d+|chore\b|lint\b|format\b|"
    r"typos?\b|"
    r"clean ?up\b|refactor\w*\b|rename\b|initial commit|first commit|tests?\b|"
    r"(?:updated?|upgraded?|migrated?|switch(?:ed)?) to (?:go|node\w*|python|rust|java|ruby|php|react|typescript|"
    r"webpack|vite)\b|use (?:jdk|java|node|python|go|gradle|electron) ?\d|\[(?:dev ?)?deps\]|"
    r"\[(?:meta|tests?|actions|readme|docs|ci|refactor|maint\w*|chore)\]|"
    r"(?:update|upgrade|pin|bump|reformat|npm)\b(?! (?:the|your|notifi|check|all)\w*\b)|"
    r"(?:updated?|upgraded?) (?:\w+ ){0,2}(?:deps|dependenc\w*|lockfile|readme|changelog|version|ci|actions|"
    r"translations?|workflows?)\b|"
    r"(?:add|fix|improve|update|more) (?:\w+ ){0,2}(?:lint\w*|tests?|test coverage|ci|build|typos?|docs|"
    r"documentation|types|"
    r"typings|comments?|docstrings?|logging|benchmarks?|readme|license|changelog|workflow|github actions?)\b)",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"\s*(?:(?<=\s)(?:(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}|\d{7})|"
    r"\((?:[^()]{0,80}(?:#\d+|@[\w-]+|\b[0-9a-f]{7,40}\b|/pull/|/issues/)[^()]{0,200})\)"
    r"|\[[^\]]{0,60}(?:#\d+|[0-9a-f]{7,40})[^\]]{0,60}\]"
    r"|\b(?:by|thanks(?: to)?|via|von) \[?@[\w-]+(?:\[bot\])?[^.]{0,160}"
    r"|\bin (?:https?://\S+|#\d+)|#\d+|https?://\S+/(?:pull|issues|commit|compare)/\S+|@[\w-]+)\s*(?=[.!]?$)",
    re.IGNORECASE,
)
_REFERENCES: Final = re.compile(
    r"\s*\(\s*(?:(?:#\d++|@[\w-]++|\b(?:and|by|see|thanks|to|closes|fixes|pr)\b|[,;&])\s*+)+\)"
    r"|(?<=[.!])\s+(?:see|closes|fixes|refs?):?(?: also)? #\d+(?:(?:,|,? and| &) #\d+)*\.?"
    r"|,?\s+(?:see|closes|fixes|refs?)(?: also)? #\d+(?:(?:,|,? and| &) #\d+)*|\s+[-–—]\s+@[\w-]+(?=[.,]|$)",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(
    r"^\W*(?:release |version |changelog (?:for )?|"
    r"[a-zA-Z][\w-]{0,30} )?\s*\[?v?(\d+\.\d+(?:\.\d+){0,2}(?:-[a-z]+\.?\d*)?)\]?"
    r"(?:\([^)]*\))?(?:\s*[-–—(:,/]*\s*(?:\(?\d{4}-\d\d-\d\d\)?|\w+ \d{1,2},? \d{4}|"
    r"\d{1,2}\.\s?\d{1,2}\.\s?\d{4})\)?)?\W*$",
    re.IGNORECASE,
)
_LEADING_VERSION: Final = re.compile(r"^v?(\d+\.\d+(?:\.\d+)?)\s*(?:[:–—]|-\s)\s*(?=\S)", re.IGNORECASE)
_UNDONE: Final = re.compile(r"^\s*[-*+]\s+\[ \]\s")
_FIRST: Final = re.compile(
    r"^\W*(?:the |our )?(?:(?:first|initial)(?: public| stable| official)? (?:release|version|launch|publish|"
    r"implementation\b.*)|launch|"
    r"launch of (?:our|the|my)\b.{0,40}|erste(?:s|r)? (?:version|veröffentlichung))\W*$",
    re.IGNORECASE,
)
"""Matches the announcement of a first release, which is no change."""
_ANNOUNCES: Final = re.compile(
    r"^\W*(?:we|i)\b.{0,20}\b(?:excited|thrilled|proud|happy|pleased|delighted)\b",
    re.IGNORECASE,
)
"""Matches a sentence that only announces something."""
_DROPS: Final = re.compile(r"^(?:breaking|drop|remov|deprecat|no longer|requires?\b|minimum)", re.IGNORECASE)
"""Matches a removal or a new requirement. It goes after the additions."""
_ADDS: Final = re.compile(r"^(?:add(?:ed|s)?|introduc\w+|support(?:s|ed)?|new)\b", re.IGNORECASE)
_MARK: Final = re.compile(r"^(\s*)(?:[-*+•・–]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_ASIDE_LINE: Final = re.compile(
    r"first contribution|^\W*(?:full changelog|https?://\S+\W*$|what['’]?s (?:changed|new)\W*$|thank(?:s| you)\b|"
    r"(?:see|refs?):? |note[:!]|nb:|some changes\b.*\battention|"
    r"warning|caution|careful|beware|heads[ -]up|attention|important:|disclaimer|"
    r"experimental!|please |make sure|be sure|(?:before|after) (?:you )?upgrad|if you|for (?:more|details|the full)|"
    r"read (?:more|the)|check out|enjoy|happy \w+ing|stay tuned|more (?:info|details)|nothing|"
    r"no (?:\S+ )?changes?\b|version (?:was )?bump|"
    r"this (?:release|version|update)\b.* (?:fixes|improvements|changes)\W*$|.*\bunder[- ]the[- ]hood\b|"
    r"(?:fix(?:ed|es)?|improved?) (?:\w+ )?(?:bugs?|issues|errors|performance|stability|design)\W*$|"
    r"(?:made )?(?:various|minor|misc\w*|other|small|several|some|many|lots of|a few)\b(?: \S+){0,4} "
    r"(?:changes?|fixes|bug ?fixes|"
    r"tweaks|improvements|enhancements|stuff|updates|cleanups?)(?: \(.*\))?\W*$|"
    r"bug ?fixes(?: and (?:\S+ )?improvements)?\W*$|and (?:much|many) more\b|hinweis|achtung|danke|bitte )",
    re.I,
)
"""Matches lines that are no change: thanks, references, upgrade warnings, fillers."""
_BROKEN: Final = re.compile(r"https?://|\]\(|^\W*/\w|\b(?:by|in|see|via|and|or)$", re.IGNORECASE)
"""Matches a line that lost its meaning together with its link."""
_SCOPE: Final = re.compile(
    r"^(?:\[[\w./-]{2,24}\]\s+|(?!(?:feat|feature|fix|bugfix|perf|chore|ci|tests?|build|style|refactor|docs?|deps|"
    r"revert|fixed|new|added|behoben|neu)\b)[a-z][\w/-]{1,20}:\s+(?=[a-z-]))"
)
"""Matches the part of the code that a changelog item names first."""
_INTRO: Final = re.compile(r"^(?:hi|hello|hey|hallo)\b[^.!?:]{0,80}:\s+(\w)", re.IGNORECASE)
"""Matches a greeting before the first change."""


class Change(Record):
    """A statement about a change. `kind` is `fixed` for a fix, `more` for a sentence that continues
    the one before it, `new` for a commit that added something, else empty."""

    text: str
    kind: str = ""


class Changes(Record):
    version: str = ""
    items: tuple[Change, ...] = ()


def read_changes(lines: Iterable[str]) -> Changes:
    """Return the statements of release notes: fixes last, a breaking change never first."""
    version, kind, listed, before = "", "", False, ""
    found: list[list[Change]] = []
    breaking: list[list[Change]] = []
    notes = _unwrap(_normalize_headings(lines))
    for place, line in enumerate(notes):
        heading = re.match(r"^\s*#{1,6}\s+(.+)$", line) or re.match(r"^\s*\*\*([^*]{2,40})\*\*:?\s*$", line)
        bare = plain(heading.group(1) if heading else _MARK.sub("", line))
        if number := _VERSION.match(bare):
            version = version or number.group(1)
        elif heading or (len(bare.split()) <= 3 and _is_heading(line, notes[place + 1 : place + 2])):
            listed = False
            kind = next((name for name, words in _KIND if words.match(bare)), "")
        elif kind in ("aside", "inside") or _is_aside(bare) or ONLY_LINK.match(_MARK.sub("", line)):
            before = ""
        else:
            mark = _MARK.match(line)
            if mark and len(mark.group(1).expandtabs(4)) >= 2 and listed:
                continue
            bare = _SCOPE.sub("", bare) if mark else _INTRO.sub(lambda found: found[1].upper(), bare)
            if first := _LEADING_VERSION.match(bare):
                version, bare = version or first.group(1), bare[first.end() :]
            if mark and bare.endswith(":") and len(bare.split()) > 3:
                # An item that has sub-items is used without them.
                bare = bare[:-1]
            listed = bool(mark) and not bare.endswith(":")
            if _UNDONE.match(line) or _FIRST.match(strip_marks(bare)) or not (item := _item(bare, kind)):
                continue
            if found and not mark and _is_title(before) and bare.endswith((".", "!", "。")):
                found[-1] += [Change(change.text, "more") for change in item]
            else:
                found.append(item)
                breaking += [item] if kind == "breaking" else []
            before = "" if mark else bare
    announced = [item for item in found if _ANNOUNCES.match(item[0].text)]
    if announced and len(announced) < len(found):
        told = re.search(r"\b\d+\.\d+(?:\.\d+)?\b", announced[0][0].text)
        version = version or (told.group() if told else "")
        found = [item for item in found if item not in announced]
    found.sort(
        key=lambda item: (
            item[0].kind == "fixed",
            item in breaking or bool(_DROPS.match(item[0].text)),
            is_code(item[0].text),
        )
    )
    # Two additions after the first statement, then the breaking changes: a reader who upgrades must
    # not miss them.
    gains = [item for item in found if item not in breaking]
    found = [*gains[:3], *breaking, *gains[3:]] if gains and gains[0][0].kind != "fixed" else found
    return Changes(version, tuple(change for item in found for change in item)[:MAX_CHANGES])


def is_code(text: str) -> bool:
    return re.match(r"\S*[_(=.:]\w", text) is not None or re.search(r"\w\(\)|=|::", text) is not None


def _is_heading(line: str, following: list[str]) -> bool:
    if not line.strip() or line.rstrip().endswith((".", "!", "。")):
        return False
    if (mark := _MARK.match(line)) is not None:
        # An item of one or two words that has sub-items.
        below = [found for after in following if (found := _MARK.match(after)) is not None]
        return any(len(found[1].expandtabs(4)) > len(mark[1].expandtabs(4)) for found in below)
    return line.rstrip().endswith(":") or any(_MARK.match(after) for after in following)


def _is_aside(line: str) -> bool:
    first = sentences(line)[:1]
    return bool(first) and _ASIDE_LINE.search(first[0]) is not None


def _is_title(line: str) -> bool:
    return 0 < len(line.split()) <= 6 and line[-1] not in ".!?。"


def read_commit(message: str) -> Change | None:
    """Return the change of a commit; None for housekeeping."""
    subject = message.strip().partition("\n")[0]
    item = _item(plain(subject), "")
    if not item:
        return None
    text = item[0].text if len(item) == 1 else strip_marks(plain(subject))
    added = re.match(r"^(?:[0-9a-f]{7,40}\s+)?(?:feat|feature)\b", subject, re.IGNORECASE) or _ADDS.match(
        text
    )
    return Change(text, item[0].kind or ("new" if added else ""))


def strip_marks(line: str) -> str:
    """Strip the commit type, issue numbers and authors from a line."""
    bare = re.sub(r"^(?:[0-9a-f]{7,40}|(?:(?:PR )?\[?#\d+\]?,? ?)+:?)\s+", "", _PREFIX.sub("", line.strip()))
    bare = _REFERENCES.sub("", bare)
    for _ in range(3):
        bare = _TAIL.sub("", bare).strip()
    return re.sub(r"^\s*[-–]\s+|[\s–-]+$", "", bare)


def _item(line: str, kind: str) -> list[Change]:
    prefix = _PREFIX.match(line)
    commit = prefix.group("type").lower() if prefix else ""
    if (commit and not commit.startswith(_TOLD)) or _INSIDE.match(line):
        return []
    parts = [
        text
        for sentence in sentences(strip_marks(line))
        if (text := strip_marks(sentence)) and not text.endswith((":", "：")) and not _ASIDE_LINE.search(text)
    ]
    if not parts or _INSIDE.match(parts[0]) or _BROKEN.search(parts[0]):
        return []
    repaired = kind == "fixed" or commit.startswith(("fix", "bug")) or bool(_FIX.search(parts[0]))
    first = Change(parts[0], "fixed" if repaired else "")
    return [first, *(Change(text, "more") for text in parts[1:])]


def _normalize_headings(lines: Iterable[str]) -> list[str]:
    """Drop code blocks and turn underlined headings into Markdown headings."""
    found: list[str] = []
    fenced = False
    for line in lines:
        fence = re.match(r"^\s*(?:```|~~~(?!~))", line) is not None
        if fence or fenced:
            fenced = fenced != fence
            found.append("")
        elif re.fullmatch(r"\s*([=~^\"-])\1{2,}\s*", line) and found and found[-1].strip():
            found[-1] = f"## {found[-1].strip()}"
        else:
            found.append(line)
    return found


def _unwrap(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        marked = _MARK.match(line) or re.match(r"^\s*(?:#|\*\*)", line)
        before = found[-1] if found else ""
        open_ended = len(before) > 40 and not re.search(r"[.!?:。！？]\s*$|^#", before)
        lower = re.match(r"^\s*[a-zäöü(]", line) is not None and not _PREFIX.match(line.strip())
        indented = _MARK.match(before) and line.startswith((" ", "\t"))
        if not marked and ((open_ended and lower) or indented):
            found[-1] = f"{before.rstrip()} {line.strip()}"
        else:
            found.append(line)
    return found
