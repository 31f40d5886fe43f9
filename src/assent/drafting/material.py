"""Chooses from the evidence what a draft can say: what it is, what changed, what it does, for whom, and proofs.

Sentences are taken as the evidence has them, in the language of the draft, without those that the voice or memory
forbids, and none twice in other words.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from assent.drafting.evidence import Evidence
from assent.drafting.language import ended, sentences, speaks, unended
from assent.drafting.lessons import Rule, similarity
from assent.drafting.naming import SEPARATOR, name_of
from assent.drafting.risks import risks_of
from assent.drafting.sources import CHANGE_SOURCES
from assent.drafting.statements import added, capitalised, inner, past, shouted, states_something
from assent.drafting.voice import Voice, forbids

MAX_SENTENCE_CHARS: Final = 320
MAX_FEATURE_CHARS: Final = 160
MAX_EACH: Final = 8
SAME: Final = 0.7
"""From here on two statements say the same."""


class Saying(msgspec.Struct, frozen=True):
    """A statement and the fact it is made from.

    `object` is the same for the middle of a sentence: what a change added, a group of people; empty where it has no
    such form. A `short` one is a title, which is no sentence beside others.
    """

    text: str
    fact: int
    object: str = ""
    short: bool = False


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a draft may say, best first. `left_out` are the entries whose refused claims were met."""

    name: str = ""
    name_fact: int | None = None
    values: tuple[Saying, ...] = ()
    changes: tuple[Saying, ...] = ()
    features: tuple[Saying, ...] = ()
    audience: Saying | None = None
    proofs: tuple[Saying, ...] = ()
    pillars: tuple[Saying, ...] = ()
    url: str = ""
    language: str = "und"
    left_out: tuple[str, ...] = ()


def material_of(evidence: Evidence, voice: Voice, rules: tuple[Rule, ...]) -> Material:
    """What a draft in this voice can say."""
    name, name_fact = name_of(evidence)
    pick = _Picker(evidence, voice, rules, name)
    changes, values, features = pick.changes(), pick.values(), pick.features()
    return Material(
        name=name,
        name_fact=name_fact,
        values=tuple(values),
        changes=tuple(changes),
        features=tuple(features),
        audience=pick.audience(),
        proofs=tuple(pick.proofs()),
        pillars=tuple(Saying(fact.text, place) for place, fact in evidence.of("brand_pillar")),
        url=evidence.product_url,
        language=evidence.language,
        left_out=tuple(sorted(pick.left_out)),
    )


class _Picker:
    """Takes statements out of the evidence, each once."""

    def __init__(self, evidence: Evidence, voice: Voice, rules: tuple[Rule, ...], name: str) -> None:
        self.evidence = evidence
        self.voice = voice
        self.refused = [rule for rule in rules if rule.kind == "claim"]
        self.name = name
        self.taken: list[str] = []
        self.left_out: set[str] = set()

    def changes(self) -> list[Saying]:
        found: list[Saying] = []
        for place, fact in self.evidence.of(*CHANGE_SOURCES):
            text = past(fact.text) if self.evidence.language == "en" else fact.text
            if len(found) < MAX_EACH and not text.endswith("…") and self._takes(text):
                found.append(Saying(self._sentence(text), place, added(text, self.evidence.language)))
        return found

    def values(self) -> list[Saying]:
        found: list[Saying] = []
        for place, fact in self.evidence.of(
            "page_description", "og_description", "readme", "repo_fact", "page_text"
        ):
            for sentence in sentences(fact.text):
                if len(found) < MAX_EACH and states_something(sentence) and self._takes(sentence):
                    found.append(Saying(self._sentence(sentence), place))
        for place, fact in self.evidence.of("og_title", "page_title", "readme_title"):
            rest = self._without_name(fact.text)
            if rest and states_something(rest) and self._takes(rest):
                found.append(Saying(self._sentence(rest), place, short=True))
        # A claim to be proved is a poor first sentence while there is another.
        return sorted(found, key=lambda saying: (bool(risks_of(saying.text)), saying.short))

    def features(self) -> list[Saying]:
        found: list[Saying] = []
        for place, fact in self.evidence.of("readme_feature", "heading"):
            text = unended(fact.text) if len(sentences(fact.text)) == 1 else fact.text
            heading = fact.source == "heading"
            if heading and (shouted(text) or text.casefold() == self.name.casefold()):
                continue
            fits = len(found) < MAX_EACH and len(text) <= MAX_FEATURE_CHARS
            if fits and states_something(text, 2 if heading else 1) and self._takes(text):
                found.append(Saying(capitalised(text), place))
        return found

    def audience(self) -> Saying | None:
        for place, fact in self.evidence.of("targetCustomer", "brand_audience"):
            text = re.sub(r"^(?:for|für)\s+", "", unended(fact.text), flags=re.IGNORECASE)
            short = len(text) <= MAX_FEATURE_CHARS and len(sentences(text)) == 1
            if short and speaks(text, self.evidence.language) and not forbids(self.voice, text):
                return Saying(text, place, inner(text, self.evidence.language))
        return None

    def proofs(self) -> list[Saying]:
        found: list[Saying] = []
        for place, fact in self.evidence.of("proof"):
            if len(found) < MAX_EACH and self._takes(fact.text):
                found.append(Saying(fact.text, place))
        return found

    def _takes(self, text: str) -> bool:
        """Whether a statement may be made and was not made already."""
        if (
            len(text) > MAX_SENTENCE_CHARS
            or not speaks(text, self.evidence.language)
            or forbids(self.voice, text)
        ):
            return False
        if self.voice.plain and "superlative" in risks_of(text):
            return False
        for rule in self.refused:
            if similarity(rule.value, text) >= SAME or rule.value.casefold() in text.casefold():
                self.left_out.add(rule.entry_id)
                return False
        if any(similarity(text, other) >= SAME for other in self.taken):
            return False
        self.taken.append(text)
        return True

    def _sentence(self, text: str) -> str:
        return capitalised(ended(text, self.evidence.language))

    def _without_name(self, text: str) -> str:
        parts = [part.strip() for part in SEPARATOR.split(text) if part.strip()]
        rest = [part for part in parts if part.casefold() != self.name.casefold()]
        return max(rest, key=len) if rest else ""
