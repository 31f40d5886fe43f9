"""Finds the sentences that describe a product, best first, and short descriptions for a title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assent.platform.values import Record
from assent.suite.composer.statements import (
    is_personal,
    is_price,
    is_sentence,
    shorten,
    states_something,
)
from assent.suite.content.counting import without_emoji
from assent.suite.content.evidence import Evidence, Fact
from assent.suite.content.language import sentences, speaks
from assent.suite.content.naming import SEPARATOR, is_named, is_subject
from assent.suite.content.risks import find_risks

UNCLEAR: Final = re.compile(
    r"^(?:it|its|this|these|they|that|those|you|your|we|our|but|and|or|also|however|because|instead|there|so|with|when|"
    r"while|in|at|as|unlike|then|thus|therefore|moreover|additionally|finally|first|no|not|es|dies\w*|das|sie|wir|und|"
    r"aber|außerdem|dabei|damit|so|これ|それ|この|その)\b",
    re.IGNORECASE,
)
"""Beginnings of sentences that refer to the one before."""
_IS_A: Final = (
    r"{name}(?: \([^)]*\)| \[[^\]]*\])?(?: [-–—] [^–—]{2,60} [-–—]|, [^,]{2,60},(?: [^,]{2,40},)?)? "
    r"(?:is|ist) (?P<what>(?:an?|the|your|eine?|das|die|der) .+)"
)
_BEING: Final = r"^ (?:is|are|was|has|does|did|will|can|may|should|must|ist|hat|kann)\b"
"""Verbs that give a property of a product instead of its description."""
_OTHER: Final = re.compile(r"^[A-Z][\w.+-]* (?:is|ist) (?:an?|the|eine?|der|die|das)\b")
"""Matches a definition of something else."""
_NOUN: Final = re.compile(r"^(?:an?|the|eine?|der|die|das)\s", re.IGNORECASE)
_ORIGIN: Final = re.compile(
    r"\b(?:means|refers to|stands for|is named|named after|is pronounced|pronounced|comes from|heißt nach|steht für)\b",
    re.IGNORECASE,
)
"""Matches the origin of a name, which is no description."""
_POINTS: Final = re.compile(
    r"^(?!an? ).*(?:\b(?:manual|documentation|docs|wiki|handbook|faq|readme|dokumentation|handbuch)\b|"
    r"\bthe (?:\S+ )?page\b)",
    re.IGNORECASE,
)
"""Matches a pointer to documentation, which is no description."""
_CONDITION: Final = re.compile(r"^(?:if|when|while|because|once|since|although|to)\b", re.IGNORECASE)
_SOURCES: Final = {
    "page_description": 1.5,
    "og_description": 1.0,
    "readme": 0.0,
    "repo_fact": 0.0,
    "headline": -2.0,
    "page_text": -1.0,
}
"""Sources of a product's description, and the score of each."""
TITLE_SCORE: Final = -1.5


class SourcedText(Record):
    text: str
    facts: tuple[int, ...]


class ProductStatements:
    def __init__(self, evidence: Evidence, name: str) -> None:
        self.evidence, self.name, self.language = evidence, name, evidence.language
        # NATS Server calls itself NATS, too.
        first = name.partition(" ")[0]
        called = [name, first] if first != name and len(first) > 3 and first[0].isupper() else [name]
        self.is_a = re.compile(
            _IS_A.replace("{name}", f"(?:{'|'.join(map(re.escape, called))})"), re.IGNORECASE
        )

    def statements(self) -> Iterator[tuple[float, SourcedText]]:
        for place, fact, sentence, (paragraph, order) in self._sentences():
            score = self._score(fact, sentence)
            if fact.source == "readme" and not self.is_a.match(sentence):
                # The first sentence below the title describes the product; later ones may be about
                # anything.
                first = paragraph == order == 0 and not self._begins(sentence) and not _OTHER.match(sentence)
                first = first and not is_personal(sentence)
                unnamed = bool(self.name) and not is_named(self.name, sentence)
                says = is_sentence(sentence, self.language)
                # "A server that wastes nothing answers sooner" is about servers in general.
                general = unnamed and says and _NOUN.match(sentence) is not None
                first, score = first and not general, score - 5.0 * general
                unnamed = unnamed and (says or not _NOUN.match(sentence))
                score += 4.0 * first - 1.0 * paragraph - 4.0 * (unnamed and paragraph + order > 0)
            yield score - 0.5 * paragraph - 0.7 * order, SourcedText(sentence, (place,))
        for title in self._titles():
            yield TITLE_SCORE, title

    def briefs(self, said: SourcedText | None) -> list[SourcedText]:
        """Return short descriptions of the product for a title. `said` is the chosen sentence."""
        chosen = [said] if said is not None else []
        others = [
            SourcedText(text, (place,))
            for place, fact, text, (paragraph, order) in self._sentences()
            if fact.source != "page_text" and paragraph < 3 and order == 0
        ]
        found: list[SourcedText] = []
        for saying in (*chosen, *others):
            match = self.is_a.match(saying.text)
            if match and self.name:
                found.append(SourcedText(re.sub(r"\s*\([^)]*\)", "", match.group("what")), saying.facts))
            elif self._is_tagline(saying):
                found.append(saying)
        found += self._titles()
        for saying in chosen:
            rest = saying.text[len(self.name) :].strip() if self._begins(saying.text) else ""
            verb = re.match(r"(?!is\b|ist\b|was\b)[a-zäöü]+[st]\b", rest)
            found += [] if self.is_a.match(saying.text) else [saying]
            found += [SourcedText(rest, saying.facts)] if verb else []
        found += [saying for saying in others if self.evidence.facts[saying.facts[0]].source == "headline"]
        calm = [each for each in found if not is_price(each.text)]
        return sorted(calm, key=lambda each: "superlative" in find_risks(each.text))

    def _sentences(self) -> Iterator[tuple[int, Fact, str, tuple[int, int]]]:
        """Yield sentences with their facts, and the numbers of paragraph and sentence."""
        seen: dict[str, int] = {}
        for place, fact in self.evidence.of(*_SOURCES):
            number = seen[fact.source] = seen.get(fact.source, -1) + 1
            # A name in small letters may begin a sentence.
            text = re.sub(
                rf"(?<=[a-z)][.!]) (?={re.escape(self.name or ' ')} )", "\n", without_emoji(fact.text)
            )
            for order, sentence in enumerate(sentences(text)):
                bare = sentence.strip()
                if fact.source == "readme" and number == order == 0:
                    # Below its title, "it" is the product.
                    bare = re.sub(r"^(?:it|this) is (?=an? )", "", bare, flags=re.IGNORECASE)
                if (_ORIGIN.search(bare) or self._points(bare)) and not self.is_a.match(bare):
                    continue
                if states_something(bare, named=self._begins(bare)) and speaks(bare, self.language):
                    yield place, fact, bare, (number, order)

    def _score(self, fact: Fact, text: str) -> float:
        score = _SOURCES[fact.source]
        if self.name and self.is_a.match(text):
            score += 7
        elif self._begins(text):
            score += 1 if re.search(_BEING, text[len(self.name) :][:12]) else 5
        elif is_named(self.name, text):
            score += -1 if _CONDITION.match(text) else 2
        elif _NOUN.match(text) and len(text) >= 25 and not is_sentence(text, self.language):
            score += 3
        elif UNCLEAR.match(text):
            score -= 5
        elif _OTHER.match(text):
            score -= 7
        score -= (
            4.0 * is_personal(text)
            + 2.5 * ("superlative" in find_risks(text))
            + 1.5 * ("!" in text or "！" in text)
        )
        score -= 1.0 * (len(text) > 180) + 2.0 * (len(text) > 240)
        return score - 2.0 * (len(text) < 25 and ord(text[0]) < 0x2E7F)

    def _titles(self) -> list[SourcedText]:
        found = []
        for place, fact in self.evidence.of("og_title", "page_title", "readme_title"):
            parts = [part.strip() for part in SEPARATOR.split(without_emoji(fact.text)) if part.strip()]
            rest = [part for part in parts if part.casefold() != self.name.casefold()]
            alone = len(rest) == 1 and len(parts) > 1
            if alone and states_something(rest[0], 2) and speaks(rest[0], self.language):
                found.append(SourcedText(rest[0], (place,)))
        return found

    def _is_tagline(self, saying: SourcedText) -> bool:
        text, source = saying.text, self.evidence.facts[saying.facts[0]].source
        if self.language not in ("en", "de") or is_named(self.name, text) or UNCLEAR.match(text):
            return False
        verbless = not is_sentence(shorten(text, 60) or text, self.language)
        if source == "readme":
            return verbless and re.match(r"^(?:an?|eine?)\s", text, re.IGNORECASE) is not None
        return verbless and (source != "headline" or _NOUN.match(text) is not None)

    def _points(self, text: str) -> bool:
        return _POINTS.match(text) is not None and not self._begins(text)

    def _begins(self, text: str) -> bool:
        return bool(self.name) and is_subject(self.name, text)
