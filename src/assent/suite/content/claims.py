"""Finds the claims of a draft, the facts that support each, and the warnings for the reviewer.

The sentences of a text are compared with the evidence, whoever wrote it. A fact supports a sentence
only if it has the same risky wordings and the same numbers with their units. A comparison shows that
the evidence has nothing similar, not that a sentence is false. The reviewer is warned about unsupported
claims, and about claims that need proof even if the evidence makes them. Numbers have units, so that
3 GB differs from 3 TB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from assent.platform.content import cut, sentences
from assent.platform.values import Record, WireRecord, from_record
from assent.suite.content.counting import addresses
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import strip_full_stop, word_set
from assent.suite.content.risks import WHY, Patterns, find_possible, find_risks, risky_wordings
from assent.suite.content.sources import SOURCES

MAX_CLAIMS: Final = 60
MAX_WARNINGS: Final = 8
MAX_NAMED: Final = 3
ALWAYS_TOLD: Final = frozenset({"superlative", "medical", "financial", "guarantee", "compliance"})
"""Risks that the reviewer is warned about even if the evidence supports the claim."""
NOT_SAID: Final = ("brand_voice", "voice_sample")
"""Sources about style, which state no facts."""
NO_GROUNDS: Final = (
    *NOT_SAID,
    "brand_name",
    "brand_audience",
    "brand_pillar",
    "targetCustomer",
    "launchGoal",
)
"""Sources that do not describe the product. Only their numbers count as support."""
_EXCERPT: Final = 240
_SHARE: Final = 0.5
_BULLET: Final = re.compile(r"^\s*(?:[-*+•・]|#{1,6}|\d{1,2}[.)/])\s+")
_ARTICLES: Final = word_set("the a an it that der die das")

_UNITS: Final = {
    name: unit
    for unit, names in {
        "%": "% ％ ٪ percent prozent",
        "x": "x times mal fach 倍",
        "ms": "ms millisecond milliseconds millisekunde millisekunden",
        "s": "s sec secs second seconds sekunde sekunden 秒",
        "min": "min mins minute minutes minuten 分",
        "h": "h hr hrs hour hours stunde stunden 時",
        "day": "day days tag tage tagen 日",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years jahr jahre jahren",
        "kb": "kb",
        "mb": "mb",
        "gb": "gb",
        "tb": "tb",
        "$": "$ usd dollar dollars",
        "€": "€ eur euro euros",
        "£": "£ gbp pound pounds",
        "¥": "¥ yen 円",
        "k": "k thousand tausend",
        "m": "m million millionen",
    }.items()
    for name in names.split()
}
_AMOUNT: Final = re.compile(
    r"([$€£¥])?\s?(?<![\w.,])(\d[\d.,]*)"
    r"(?:[ \u00a0-]?(%|％|٪|[$€£¥]|[\u3041-\u30ff\u3400-\u9fff]|[^\W\d_\u3041-\u30ff\u3400-\u9fff]+))?"
)
_NO_NOUN: Final = word_set(
    "with that this from have were will when than into over more less about after before until"
)
_STEM: Final = 5
_LEAST_NOUN: Final = 4


class _Fact(Record):
    place: int
    text: str
    tokens: set[str]


class Support(WireRecord, kw_only=True, omit_defaults=True):
    """A fact behind a claim: its index in the evidence, its source and its text."""

    place: int
    source: str
    text: str
    entry_id: str | None = None


class Claim(WireRecord, kw_only=True):
    """A sentence that states something. Without support, only its author vouches for it."""

    text: str
    evidence: tuple[Support, ...] = ()
    risk: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        return bool(self.evidence)


def claims_in(texts: Iterable[str], evidence: Evidence) -> tuple[Claim, ...]:
    """Return the claims of a draft's title and body, each with the facts that resemble it."""
    known = [
        _Fact(place, fact.text, _tokens(fact.text))
        for place, fact in enumerate(evidence.facts)
        if fact.source not in NOT_SAID
    ]
    # A goal supports numbers only.
    stated = [fact for fact in known if evidence.facts[fact.place].source != "launchGoal"]
    found = []
    said = (sentence for text in texts for sentence in sentences(text))
    stripped = [_without_addresses(_BULLET.sub("", sentence)) for sentence in said]
    possible = find_possible("\n".join(stripped))
    for bare in stripped:
        tokens, risk = _tokens(bare), find_risks(bare, possible)
        if not risk and (len(tokens) < 3 or bare.rstrip().endswith(("?", "？", "؟"))):
            continue
        near = _find_support(bare, tokens, stated, possible)
        if not near and risk == ("number",):
            near = _find_support(bare, tokens, known, possible)
        found.append(
            Claim(text=bare.strip(), evidence=tuple(_support(place, evidence) for place in near), risk=risk)
        )
        if len(found) == MAX_CLAIMS:
            break
    return tuple(found)


def has_grounds(evidence: Evidence) -> bool:
    return any(fact.source not in NO_GROUNDS for fact in evidence.facts)


def warnings_for(claims: tuple[Claim, ...], evidence: Evidence) -> list[str]:
    """Return warnings about risky claims, unsupported first; a single one without evidence. An edit
    removes stored ones by their words, which must not change."""
    risky = [each for each in claims if each.risk and not each.supported]
    if risky and not has_grounds(evidence):
        named = ", ".join(f"“{cut(strip_full_stop(each.text), 60)}”" for each in risky[:MAX_NAMED])
        more = f" and {len(risky) - MAX_NAMED} more" if len(risky) > MAX_NAMED else ""
        return [f"No facts were handed in to check this: {named}{more}."]
    risky += [each for each in claims if each.supported and ALWAYS_TOLD.intersection(each.risk)]
    found = []
    for each in risky[:MAX_WARNINGS]:
        what = " and ".join(WHY[risk] for risk in each.risk[:2])
        where = (
            f"it is taken from {SOURCES[_name_source(each)]}"
            if each.evidence
            else "nothing in the evidence says so"
        )
        found.append(f"Check this claim: “{cut(each.text, 120)}” It {what}; {where}.")
    if len(risky) > MAX_WARNINGS:
        found.append(
            f"{len(risky) - MAX_WARNINGS} more claims should be checked; they are listed with the draft."
        )
    return found


def _name_source(made: Claim) -> str:
    wordings = risky_wordings(made.text)
    holding = (each for each in made.evidence if all(_contains(each.text, wording) for wording in wordings))
    return next(holding, made.evidence[0]).source


def _support(place: int, evidence: Evidence) -> Support:
    fact = evidence.facts[place]
    return from_record(Support, fact, place=place, text=cut(fact.text, _EXCERPT))


def _find_support(sentence: str, tokens: set[str], facts: list[_Fact], possible: Patterns) -> list[int]:
    """Return up to two facts that have most words of a sentence, all its risky wordings and all its
    numbers with units."""
    same = strip_full_stop(sentence).casefold()
    if quoted := [fact.place for fact in facts if strip_full_stop(fact.text).casefold() == same]:
        return quoted[:1]
    if not facts:
        return []
    wordings, amounts = risky_wordings(sentence, possible), amounts_in(sentence)
    ranked = sorted(facts, key=lambda fact: (-_share(tokens, fact.tokens), fact.place))
    near = [
        fact
        for fact in ranked
        if _share(tokens, fact.tokens) >= _SHARE
        and all(_contains(fact.text, wording) for wording in wordings)
    ][:2]
    if not near and not wordings and _share(tokens, set().union(*(f.tokens for f in ranked[:2]))) >= _SHARE:
        near = ranked[:2]
    missing = [each for each in amounts if not any(has_amount(fact.text, each) for fact in near)]
    if near and missing:
        # A fact without words is a number, such as the version.
        about = (fact for fact in ranked if tokens & fact.tokens or not fact.tokens)
        giving = next((fact for fact in about if all(has_amount(fact.text, each) for each in missing)), None)
        near = [near[0], giving] if giving is not None else []
    return [fact.place for fact in near]


def _share(tokens: set[str], known: set[str]) -> float:
    return len(tokens & known) / max(1, len(tokens))


def _contains(text: str, wording: str) -> bool:
    words = _words(wording)
    return wording.casefold() in text.casefold() or (bool(words) and words <= _words(text))


def _words(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[^\W\d_]+", text.casefold())} - _ARTICLES


def _tokens(text: str) -> set[str]:
    """Return the stems of the words, and pairs of characters in scripts without spaces."""
    found = {word[:6] for word in re.findall(r"[^\W\d_]{4,}", text.casefold()) if ord(word[0]) < 0x2E80}
    if text.isascii():
        return found
    for run in re.findall(r"[\u3041-\u30ff\u3400-\u9fff]{2,}", text):
        found |= {run[place : place + 2] for place in range(len(run) - 1)}
    return found


def _without_addresses(text: str) -> str:
    for start, end in reversed(list(addresses(text))):
        text = text[:start] + text[end:]
    return text.strip(" :→-")


class Amount(Record):
    """A number with its unit or, if the unit is unknown, the stem of the next word."""

    number: str
    unit: str = ""
    noun: str = ""


def amounts_in(text: str) -> set[Amount]:
    found = set()
    for sign, digits, behind in _AMOUNT.findall(text.casefold()):
        number = re.sub(r"[.,](?=\d{3}(?!\d))", "", digits.rstrip(".,")).replace(",", ".")
        unit = _UNITS.get(sign or behind, "")
        noun = behind[:_STEM] if not unit and len(behind) >= _LEAST_NOUN and behind not in _NO_NOUN else ""
        found.add(Amount(number, unit, noun))
    return found


def has_amount(text: str, wanted: Amount) -> bool:
    """Whether a text has an amount: the same number with the same unit or noun."""
    same = [each for each in amounts_in(text) if each.number == wanted.number]
    if wanted.unit:
        return any(each.unit == wanted.unit for each in same)
    stems = {word[:_STEM] for word in re.findall(r"[^\W\d_]+", text.casefold())}
    return any(not wanted.noun or (not each.unit and wanted.noun in stems) for each in same)
