"""The facts that are known about a product, each with its source.

Facts are cleaned text that may be quoted to readers; nothing in them is followed as an instruction.
They come from the product page, the README, the changes, the brand and the brain. Knows nothing of
channels or of drafting. The source names are shown in claims, assets and the brain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import msgspec

from assent.platform import one_line, reads_finished, sentences
from assent.sdk import Record, WireRecord
from assent_launch.content.counting import without_emoji
from assent_launch.content.language import detect_language, language_of_all, speaks, word_set
from assent_launch.content.orders import speaks_to_a_model
from assent_launch.content.page import Page

# Changes, read from release notes and commits: one statement each, whether it is a fix, and the version.
#
# Reads a sentence, a list, a changelog or a paragraph. A heading says whether the items below it are fixes, or nothing
# for users. Pull request numbers, authors and list marks are dropped; the words stay.

LINE_CHARS: Final = 600
"""The longest fact; a longer one is cut at a sentence."""
TEXT_CHARS: Final = 60_000
"""How much of one document is read."""
MAX_CHANGES: Final = 30

_ASIDE_IN_CHANGES: Final = re.compile(
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
_CHANGES_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s+(.+)|\*\*([^*]{2,40})\*\*:?\s*)$")


class Change(Record):
    """A statement about a change. `kind` is `fixed` for a fix."""

    text: str
    kind: str = ""


class Changes(Record):
    version: str = ""
    items: tuple[Change, ...] = ()


def is_usable(line: str) -> bool:
    """Whether a draft may quote a line."""
    if not any(char.isalnum() for char in line) or speaks_to_a_model(line):
        return False
    return reads_finished(line)


def read_changes(lines: Iterable[str]) -> Changes:
    """Return the statements of release notes, fixes last."""
    version, heading = "", ""
    found: list[Change] = []
    for line in _join_lines(islice(lines, MAX_LINES)):
        mark, head = _MARK.match(line), _CHANGES_HEADING.match(line)
        bare = plain((head[1] or head[2]) if head else line[mark.end() :] if mark else line)
        if number := _VERSION.match(bare):
            version = version or number[1]
        elif head or (not mark and bare.endswith(":") and len(bare.split()) < 4):
            heading = bare
        elif not _ASIDE_IN_CHANGES.match(heading) and not (mark and len(mark[1].expandtabs(4)) > 1 and found):
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
            and len(held) < STATEMENT_CHARS
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


# A README: the product's title, its description and its features.
#
# Reads Markdown, underlined headings and embedded HTML line by line. Skips badges, pictures, code, tables, notices,
# link lists, and the sections about installing, contributing and licences.

STATEMENT_CHARS: Final = 4_000
"""How much of one statement is read."""
MAX_FEATURES: Final = 12
MAX_PARAGRAPHS: Final = 8
MAX_LINES: Final = 3_000

_ASIDE: Final = re.compile(
    r"^(?:install\w*|set ?up|(?:getting|get) started|quick ?start|usage|how to|develop\w*|compil\w*|contribut\w*|"
    r"licen[cs]\w*|credits|acknowledg\w*|thanks|tests?|testing|build\w*|requirements|prerequisites|dependencies|"
    r"deploy\w*|config\w*|change ?log|what['’]?s new|news|releases?|road ?map|support\w*|sponsor\w*|backers|donat\w*|"
    r"(?:table of )?contents|toc|authors?|maintainers?|team|community|contact|links|api|faq|frequently asked|todo|"
    r"(?:project )?status|structure|architecture|internals|how it works|examples?|demo|screenshots?|documentation|docs|"
    r"resources|references?|related|alternatives|similar|comparison|benchmarks?|limitations|caveats|disclaimer|warning|"
    r"notice|known issues|troubleshooting|security|privacy|upgrad\w*|migrat\w*|download\w*|translations?|who uses|"
    r"used by|testimonials|press|pricing|why|feedback|help|installation|lizenz|mitwirken|mitmachen|nutzung|"
    r"voraussetzungen|entwicklung|danksagung|kontakt|インストール|使い方|開発|ライセンス|目次|安装|使用|许可|贡献|文档|"
    r"快速开始|التثبيت|الترخيص|المساهمة)(?!\w)",
    re.IGNORECASE,
)
"""Headings of sections that do not describe the product."""
_FEATURES: Final = re.compile(
    r"^(?:\w+ )?(?:features?|highlights|capabilities|functionality)\b|^what (?:it|you|does|can)\b|^at a glance|"
    r"^funktion\w*|^merkmale|^特徴|^機能|^主な機能|^功能|^特性|^特点|^المميزات|^fonctionnalités|^características",
    re.IGNORECASE,
)
_GENERAL: Final = re.compile(
    r"^(?:readme(?:\.\w+)?|about|introduction|overview|welcome|description)$", re.IGNORECASE
)
_TARGET: Final = r"(?:\((?:[^()\n]|\([^()\n]{0,100}\)){0,600}\)|\[[^\]\n]{0,100}\])"
_PICTURE: Final = re.compile(r"!\[[^\]\n]{0,300}+\]" + _TARGET)
_LINK: Final = re.compile(r"\[([^\]\n]{1,300}+)\]" + _TARGET)
_EMPHASIS: Final = re.compile(r"(\*\*|__|\*|(?<!\w)_|~~|`{1,3})(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_BULLET: Final = re.compile(r"^(\s{0,12})(?:[-*+•・]|\d{1,2}[.)])\s+(?:\[[xX]\]\s+)?(.+)")
_HEADING: Final = re.compile(r"^\s{0,3}(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE: Final = re.compile(r"^\s{0,3}([=~^\"-])\1{2,}\s*$")
_SKIPPED: Final = re.compile(
    r"^\s*(?:\.\. |:[\w-]+:|\[[^\]]{1,80}\]:\s|<!|\||[=\-*_~\s|:#.]+$|⚠|"
    r">\s*(?:\[!\w+\]|\W*(?:note|warning|important)\b))",
    re.IGNORECASE,
)
"""Directives, definitions, tables, rules, and the first lines of notices."""
_MARKUP: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"<!--.*?-->|<(pre|table|script|style|svg|details|picture)\b.*?</\1\s*>", re.I | re.S), "\n"),
    (re.compile(r"^\s{0,3}(```|~~~).*?(?:^\s{0,3}\1.*?$|\Z)", re.M | re.S), "\n"),
    (re.compile(r"<(?:img|source|hr|input)\b[^>]{0,2000}>", re.I), " "),
    (re.compile(r"<h([1-6])\b[^>]{0,300}>\s*", re.I), "\n\n# "),
    (re.compile(r"<li\b[^>]{0,300}>\s*", re.I), "\n- "),
    (
        re.compile(r"</?(?:p|div|center|ul|ol|section|blockquote|br|tr|td|th|h[1-6])\b[^>]{0,500}>\s*", re.I),
        "\n\n",
    ),
    (re.compile(r"(?<=\n)[ \t]+(?=<)|</?[a-zA-Z][^<>\n]{0,500}>"), ""),
)
"""What replaces code and HTML."""


class Readme(Record, kw_only=True):
    """The parts of a README that describe the product, each one cleaned line."""

    title: str = ""
    paragraphs: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def read_readme(markdown: str) -> Readme:
    """Parse the text of a README. Never raises."""
    text = markdown[:TEXT_CHARS].replace("\r", "\n" if "\n" not in markdown else "")
    text = re.sub(r"\A---\n.{0,4000}?\n---\n", "", text, flags=re.DOTALL)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    reader = _ReadmeReader()
    lines = text.splitlines()[:MAX_LINES]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        reader.read(line, following)
    reader.close()
    return Readme(
        title=reader.title,
        paragraphs=tuple(reader.paragraphs[:MAX_PARAGRAPHS]),
        features=tuple((reader.features or reader.first_items)[:MAX_FEATURES]),
    )


class _ReadmeReader:
    """Reads line by line; a paragraph or list item ends where the next one begins."""

    def __init__(self) -> None:
        self.title = ""
        self.paragraphs: list[str] = []
        self.features: list[str] = []
        self.first_items: list[str] = []
        """List items before the first section. They are the features if no section lists any."""
        self.held: list[str] = []
        self.kind = ""
        self.section, self.level = "first", 0
        self.skips = False

    def read(self, line: str, following: str) -> None:
        bare, bullet = line.strip(), _BULLET.match(line)
        if not bare:
            self.close()
            self.skips = False
        elif self.skips or _SKIPPED.match(line):
            # What is below a notice or directive belongs to it.
            self.close()
            self.skips = not _UNDERLINE.match(line)
        elif heading := _HEADING.match(line):
            self._head(heading[2], len(heading[1]))
        elif _UNDERLINE.match(following) and not bullet and not self.held and len(bare) <= 120:
            self._head(line, 1 if following.lstrip()[0] == "=" else 2)
        elif bullet:
            self.close()
            self.kind = "item" if len(bullet[1].expandtabs(4)) <= 3 else "detail"
            self.held.append(bullet[2])
        elif self.kind or not line.startswith(("    ", "\t")):
            self.kind = self.kind or "paragraph"
            self.held.append(re.sub(r"^\s*(?:>\s?)*|\\$", "", line))

    def close(self) -> None:
        """Store the current paragraph or item, if it is useful to a reader."""
        raw, kind = " ".join(self.held), self.kind
        self.held, self.kind = [], ""
        text = plain(raw)
        if not text or self.section == "aside" or _is_links(raw, text):
            return
        if kind == "paragraph" and len(text) > 20 and (self.section != "other" or text[-1] in ".!。！"):
            self.paragraphs.append(text)
        elif kind == "item" and not re.search(r"https?://|\?|^\[ \]", text):
            listed = {"features": self.features, "first": self.first_items}.get(self.section, [])
            listed.append(text)

    def _head(self, raw: str, level: int) -> None:
        self.close()
        text = plain(raw)
        bare = re.sub(r"^[\W\d_]+", "", text)
        general = _GENERAL.match(bare) is not None
        kind = "features" if _FEATURES.match(bare) else "aside" if _ASIDE.match(bare) else ""
        if not bare or (level > self.level > 0 and self.section in ("features", "aside")):
            return
        if not (self.title or kind or general or self.paragraphs or self.first_items):
            self.title = text
            return
        if self.section == "first" and not kind and text.endswith(".") and not self.paragraphs:
            # A heading directly below the title is a tagline.
            self.paragraphs.append(text)
            return
        self.level = level
        self.section = kind or ("first" if general else "other")


def _is_links(raw: str, text: str) -> bool:
    """Whether a line is a list of links or a menu."""
    rest = _LINK.sub(" ", _PICTURE.sub(" ", raw))
    links, words = len(_LINK.findall(raw)), len(re.findall(r"\w{2,}", re.sub(r"<[^>]{0,300}>", " ", rest)))
    return (
        (links > 0 and words < links) or len(re.findall(r"\s[|·•](?=\s)", raw)) > 1 or text.startswith("http")
    )


def plain(markdown: str) -> str:
    """Return a line without the marks of Markdown and reStructuredText."""
    # On one line first: patterns that begin with a run of blanks would try it from each of them.
    text = _PICTURE.sub(" ", one_line(markdown[:STATEMENT_CHARS]))
    # A badge is a picture inside a link; without the picture the link is empty.
    text = re.sub(r"\[\s*\](?:\([^)\n]{0,600}\)|\[[^\]\n]{0,100}\])", " ", text)
    # A link alone in parentheses is not part of the sentence.
    text = re.sub(r"\s*\(\s*" + _LINK.pattern + r"\s*\)", "", text)
    text = _LINK.sub(r"\1", text)
    text = re.sub(r"`([^`<\n]{1,200}) <[^>\n]{1,300}>`_{1,2}|(?<!\S)\|[\w-]{1,40}\|", r"\1", text)
    text = re.sub(r"\s*\((?::\w+:`[^`\n]{1,80}`[,;\s]*)+\)", "", text)
    text = re.sub(r"(?<!\w):[a-z0-9_+-]{2,40}:(?!\w)", " ", text)
    text = re.sub(r"(`+)([^`\n]{1,400})\1", r"\2", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!-])", r"\1", text)
    return re.sub(r"\s+([,.;:!?])(?=\s|$)", r"\1", one_line(text))


# The sources of facts: their names in claims and the brain, and their uses.

TOLD: Final = "told_fact"
"""A fact or proof that was recorded in the chat. A draft may use it; it proves no claim."""

SOURCES: Final[dict[str, str]] = {
    "brand_name": "the brand's name",
    "brand_audience": "the brand's audience",
    "brand_voice": "the brand's voice",
    "brand_pillar": "a pillar of the brand",
    "page_site_name": "the product page's name",
    "page_title": "the product page's title",
    "page_description": "the product page's description",
    "og_title": "the product page's OpenGraph title",
    "og_description": "the product page's OpenGraph description",
    "headline": "the product page's headline",
    "heading": "a heading of the product page",
    "page_text": "a paragraph of the product page",
    "readme_title": "the README's title",
    "readme": "a paragraph of the README",
    "readme_feature": "a bullet of the README",
    "version": "the version",
    "whatChanged": "what changed",
    "commit": "a commit",
    "changedFile": "a changed file",
    "route": "a route",
    "targetCustomer": "the target customer",
    "launchGoal": "the goal of the launch",
    "repo_fact": "a remembered fact about the product",
    "proof": "a proof",
    "voice_sample": "a sample of the voice",
    "told_fact": "what was told in the chat, which no person has confirmed",
}
"""Every source with its name in a sentence."""

VALUE_SOURCES: Final = (
    "page_description",
    "og_description",
    "readme",
    "repo_fact",
    "told_fact",
    "headline",
    "page_text",
    "og_title",
    "page_title",
)
"""Sources of a product's description, best first."""
FEATURE_SOURCES: Final = ("readme_feature", "heading", "repo_fact", "told_fact")
CHANGE_SOURCES: Final = ("whatChanged", "commit")

MEMORY_SOURCES: Final[dict[str, str]] = {
    "voice_sample": "voice_sample",
    "brand_voice": "brand_voice",
    "proof": "proof",
    "proof_asset": "proof",
    "repo_fact": "repo_fact",
    "repo_facts": "repo_fact",
    TOLD: TOLD,
}
"""Kinds of brain entries that are facts, with their source. `lessons` reads the others."""


MAX_FACTS: Final = 120
MAX_PER_LIST: Final = 30


_FORBIDDING: Final = re.compile(
    r"(?:(?<=[.!?;:,])|(?<=[—–])|^)\s*(?:(?:and|but|so|please|und|aber|bitte)\s+)*"
    r"(?:never|do not|don['’]?t|avoid|stop|nie(?:mals)?)\s+(?:ever\s+)?"
    r"(?:say|writ|mention|claim|quot|stat|promis|call|tell|publish|post|repeat|sag|schreib)"
    r"(?:[^.!?;\n]|\.(?=\d))*[.!?;]?",
    re.IGNORECASE | re.MULTILINE,
)
"""Matches how a remembered fact is not to be stated, which is no fact. `lessons` reads it as a rule."""
_DENYING: Final = re.compile(
    r"\b(?:not|nicht|never|no longer)\s+(?:(?:about|around|under|over|the)\s+)?[$€£]?\d[\d.,]*(?:[ -]?(?:%|[^\W\d]+))?",
    re.IGNORECASE,
)
_UNTRUE: Final = re.compile(
    r"\b(?:is|are|was|were)\s+(?:all\s+)?(?:wrong|incorrect|untrue|outdated|not (?:true|right|correct)|"
    r"no longer (?:true|right|correct))\b",
    re.IGNORECASE,
)


def affirm(text: str) -> str:
    """Return a text without what it denies: numbers after a “not”, and sentences that call something untrue."""
    if _UNTRUE.search(text):
        text = " ".join(sentence for sentence in sentences(text) if not _UNTRUE.search(sentence))
    return _DENYING.sub(" ", text)


class Fact(WireRecord, kw_only=True, omit_defaults=True):
    """A fact and its source. `entry_id` is its id in the brain; `kind` is `fixed` for a fix."""

    source: str
    text: str
    entry_id: str | None = None
    kind: str = ""


class MemoryEntry(Record, kw_only=True):
    entry_id: str
    kind: str
    text: str


class Evidence(Record, kw_only=True):
    """All facts in order of arrival. A claim refers to a fact by its index."""

    facts: tuple[Fact, ...] = ()
    product_url: str = ""
    language: str = "und"

    def of(self, *sources: str) -> list[tuple[int, Fact]]:
        """Return the facts of these sources with their indexes, in the order of the sources."""
        return [
            (place, fact)
            for source in sources
            for place, fact in enumerate(self.facts)
            if fact.source == source
        ]

    def first(self, *sources: str) -> str:
        found = self.of(*sources)
        return found[0][1].text if found else ""


def gather(
    *,
    product_url: str = "",
    page: Page | None = None,
    repo_context: Mapping[str, Any] | None = None,
    brand: Mapping[str, Any] | None = None,
    entries: Iterable[MemoryEntry] = (),
) -> Evidence:
    """Gather the evidence of a launch. A text that was seen before is dropped."""
    found = [
        *from_brand(brand or {}),
        *from_repo_context(repo_context or {}),
        *(from_page(page) if page is not None else ()),
        *from_entries(entries),
    ]
    facts: list[Fact] = []
    seen: set[tuple[str, bool]] = set()
    for fact in found:
        # A remembered fact is kept beside an equal one, so that the answer can name the memory that
        # was used.
        key = (fact.text.casefold(), fact.entry_id is not None)
        if key not in seen and len(facts) < MAX_FACTS:
            seen.add(key)
            facts.append(fact)
    return Evidence(facts=tuple(facts), product_url=product_url.strip(), language=_language(facts))


def from_page(page: Page) -> tuple[Fact, ...]:
    return (
        *_facts("page_site_name", [page.site_name], 80),
        *_facts("page_title", [page.title], 200),
        *_facts("page_description", [page.description]),
        *_facts("og_title", [page.og_title], 200),
        *_facts("og_description", [page.og_description]),
        *_facts("headline", [page.headline], 160),
        *_facts("heading", page.headings, 160),
        *_facts("page_text", page.paragraphs),
    )


def from_readme(markdown: str) -> tuple[Fact, ...]:
    read = read_readme(markdown)
    return (
        *_facts("readme_title", [read.title], 120),
        *_facts("readme", read.paragraphs),
        *_facts("readme_feature", read.features, 240),
    )


def from_repo_context(context: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return the facts of `repoContext`, from lists or texts with one item per line."""
    readme = context.get("readme") or context.get("README") or ""
    changed = read_changes(_lines(context.get("whatChanged")))
    commits = [read_commit(raw) for raw in _lines(context.get("recentCommits"))]
    return (
        *_facts("version", [changed.version], 40),
        *_changes("whatChanged", changed.items),
        *_changes("commit", [commit for commit in commits if commit is not None]),
        *_facts("changedFile", _lines(context.get("changedFiles")), 200, prose=False),
        *_facts("route", _lines(context.get("routes")), 200, prose=False),
        *_facts("targetCustomer", _lines(context.get("targetCustomer"))[:1], 240),
        *_facts("launchGoal", list(dict.fromkeys(_lines(context.get("launchGoal"))))[:2], 240, prose=False),
        *from_readme(readme if isinstance(readme, str) else "\n".join(_lines(readme))),
    )


def from_brand(brand: Mapping[str, Any]) -> tuple[Fact, ...]:
    return (
        *_facts("brand_name", _lines(brand.get("name"))[:1], 80),
        *_facts("brand_audience", _lines(brand.get("audience"))[:1], 240),
        *_facts("brand_voice", _lines(brand.get("voice")), prose=False),
        *_facts("brand_pillar", _lines(brand.get("pillars")), 120),
    )


def from_entries(entries: Iterable[MemoryEntry]) -> tuple[Fact, ...]:
    """Return the facts of the brain. Entries of other kinds are read by `lessons`."""
    found: list[Fact] = []
    for entry in entries:
        source = MEMORY_SOURCES.get(entry.kind)
        if source is None:
            continue
        prose = source in ("proof", "repo_fact", TOLD)
        text = _FORBIDDING.sub(" ", entry.text) if prose else entry.text
        most = 4_000 if source in ("voice_sample", "brand_voice") else LINE_CHARS
        found += _facts(source, [text], most, entry_id=entry.entry_id, prose=prose)
    return tuple(found)


def is_enough(evidence: Evidence) -> bool:
    """Whether there is a subject to write about: the product, or a change."""
    grounds = evidence.of(*VALUE_SOURCES, *FEATURE_SOURCES, *CHANGE_SOURCES)
    return any(_says_something(fact.text) for _, fact in grounds)


def _says_something(text: str) -> bool:
    words = text.split()
    return len(words) >= 2 or sum(1 for char in text if char.isalpha() and ord(char) > 0x2E7F) >= 5


def _lines(value: Any) -> list[str]:
    """Split a text or list into lines; convert other values (numbers, objects) to text."""
    if value is None or isinstance(value, bool):
        return []
    if isinstance(value, str):
        return [line for line in value.splitlines() if line.strip()][:200]
    if isinstance(value, Mapping):
        value = [value.get("message") or value.get("text") or value.get("name") or ""]
    if isinstance(value, Sequence):
        return [line for each in value[:200] for line in _lines(each)]
    return [str(value)]


def _changes(source: str, changes: Iterable[Change]) -> list[Fact]:
    made = [
        msgspec.structs.replace(fact, kind=change.kind)
        for change in changes
        for fact in _facts(source, [change.text], LINE_CHARS if source == "whatChanged" else 200)
    ]
    return made[:MAX_PER_LIST]


def _facts(
    source: str,
    texts: Iterable[str],
    most: int = LINE_CHARS,
    *,
    entry_id: str | None = None,
    prose: bool = True,
) -> list[Fact]:
    """Clean texts into facts. Without `prose` they steer rules and are never quoted."""
    found: list[Fact] = []
    for text in texts:
        if len(found) >= MAX_PER_LIST:
            break
        line = one_line(plain(text) if source == "commit" else text, most)
        if line and prose:
            line = _safe(line)
        if line:
            found.append(Fact(source=source, text=line, entry_id=entry_id))
    return found


@lru_cache(maxsize=4_096)
def _safe(line: str) -> str:
    """Drop sentences that are not for readers. Cached: every prepare reads the same memory."""
    if is_usable(line):
        return line
    return " ".join(sentence for sentence in sentences(line) if is_usable(sentence)) if len(line) > 60 else ""


def _language(facts: Sequence[Fact]) -> str:
    speaking = {
        *VALUE_SOURCES,
        "readme_title",
        "whatChanged",
        "readme_feature",
        "heading",
        "targetCustomer",
        "brand_audience",
    }
    own = [fact.text for fact in facts if fact.source in speaking]
    found = language_of_all(own or [fact.text for fact in facts if fact.source == "commit"])
    changed = " ".join(fact.text for fact in facts if fact.source == "whatChanged")
    # If the changes are in another language than the README, the draft is in the language of the
    # changes.
    return found if not changed or speaks(changed, found) else detect_language(changed)


# The product's name, found in the evidence.

_SEPARATOR: Final = re.compile(r"\s+(?:[|–—·•:›»-]|--)\s+|\s*[|｜]\s*|:\s+|：")
"""Separates the name from the rest of a title."""
_BESIDE: Final = re.compile(
    r"^(?:welcome to|what is|what['’]s|why) (?:the )?|\s*\([^)]*\)|\s+v?\d+(?:\.\d+)+$|\?$", re.IGNORECASE
)
_GENERIC_NAMES: Final = word_set(
    "home welcome readme index app website untitled document documentation startseite ホーム"
)
_HOSTS_OF_MANY: Final = word_set(
    "github.com gitlab.com codeberg.org bitbucket.org npmjs.com pypi.org crates.io sr.ht hub.docker.com apps.apple.com "
    "play.google.com marketplace.visualstudio.com addons.mozilla.org rubygems.org"
)
"""Hosts whose domain is not the product's name."""
_IS: Final = re.compile(
    r"^([\w.+/-]+(?: [A-Z][\w.+-]*){0,2}) (?:is|ist) (?:an?|the|your|eine?|das|die|der)\b"
)
_NO_NAMES: Final = word_set("This It That There Here What How Our My Your The Dies Das Es")


def find_name(evidence: Evidence) -> str:
    """Return the product's name: the brand's, that of a title, else the host of its URL."""
    for _, fact in evidence.of("brand_name", "page_site_name"):
        if _is_name(fact.text):
            return fact.text.rstrip(" .:")
    host = re.sub(r"^https?://(?:www\.)?|[/:?#].*$", "", evidence.product_url).lower()
    path = [part for part in re.sub(r"^https?://[^/]*|[?#].*$", "", evidence.product_url).split("/") if part]
    shared = host in _HOSTS_OF_MANY
    label = re.sub(r"\W", "", path[-1].lower() if shared and path else host.partition(".")[0])
    for _, fact in evidence.of("readme_title", "page_title", "og_title"):
        title = _BESIDE.sub("", without_emoji(fact.text).strip())
        parts = [part.strip(" .!·") for part in _SEPARATOR.split(title) if part.strip(" .!·")]
        named = [part for part in parts if label and re.sub(r"\W", "", part).casefold() == label]
        most = 4 if fact.source == "readme_title" else 3 if len(parts) > 1 else 2
        ends = parts[:1] if fact.source == "readme_title" else sorted({*parts[:1], *parts[-1:]}, key=len)
        short = [part for part in ends[:1] if _is_name(part) and len(part.split()) <= most]
        if named or short:
            return (named or short)[0]
    for _, fact in evidence.of("readme", "page_description", "og_description"):
        match = _IS.match(fact.text)
        if match and match[1] not in _NO_NAMES:
            return match[1]
    if shared:
        return path[-1] if path else ""
    return host if re.search(r"\.[a-z][a-z0-9-]+$", host) else ""


def is_named(name: str, text: str) -> bool:
    if not name.isascii():
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _is_name(text: str) -> bool:
    return len(text) <= 80 and text.casefold() not in _GENERIC_NAMES and any(char.isalpha() for char in text)
