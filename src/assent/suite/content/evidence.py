"""The facts that are known about a product, each with its source.

Facts are cleaned text that may be quoted to readers; nothing in them is followed as an instruction.
Knows nothing of channels or of drafting. The source names are shown in claims, assets and the
brain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from assent.platform.content import LINE_CHARS, is_usable, one_line, sentences
from assent.platform.values import Record, WireRecord
from assent.suite.content.changes import Change, read_changes, read_commit
from assent.suite.content.language import detect_language, language_of_all, speaks
from assent.suite.content.page import Page
from assent.suite.content.readme import plain, read_readme
from assent.suite.content.sources import (
    CHANGE_SOURCES,
    FEATURE_SOURCES,
    MEMORY_SOURCES,
    VALUE_SOURCES,
)

MAX_FACTS: Final = 120
MAX_PER_LIST: Final = 30


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
        most = 4_000 if source in ("voice_sample", "brand_voice") else LINE_CHARS
        found += _facts(
            source, [entry.text], most, entry_id=entry.entry_id, prose=source in ("proof", "repo_fact")
        )
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
