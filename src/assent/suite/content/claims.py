"""The claims of a draft, the facts that support each, and the warnings for the reviewer.

The composer knows the facts of its sentences; a supplied text's sentences are compared with the evidence by their words
and numbers. A comparison can only say that the evidence has nothing like it, not that a sentence is false. A warning is
for a claim that nothing supports, and for one that needs a proof even where the evidence makes it.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from assent.suite.content.cleaning import cut
from assent.suite.content.counting import addresses
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import sentences, unended
from assent.suite.content.risks import WHY, numbers_in, risks_of
from assent.suite.content.sources import SOURCES

MAX_CLAIMS: Final = 60
MAX_WARNINGS: Final = 8
MAX_NAMED: Final = 3
ALWAYS_TOLD: Final = frozenset({"superlative", "medical", "financial", "guarantee", "compliance"})
"""Risks that a reviewer should look at although the evidence says the same."""
NOT_SAID: Final = ("brand_voice", "voice_sample")
"""Sources that shape a text and state nothing."""
NO_GROUNDS: Final = (
    *NOT_SAID,
    "brand_name",
    "brand_audience",
    "brand_pillar",
    "targetCustomer",
    "launchGoal",
)
"""Sources that say nothing about what the product is or does. Their numbers are given all the same."""
_EXCERPT: Final = 240
_SHARE: Final = 0.5


class Support(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A fact behind a claim: its place in the evidence, where it came from, and what it says."""

    place: int
    source: str
    text: str
    entry_id: str | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A sentence that states something. Without support it is the author's word alone."""

    text: str
    evidence: tuple[Support, ...] = ()
    risk: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        return bool(self.evidence)


def claim(text: str, places: tuple[int, ...], evidence: Evidence) -> Claim:
    """A claim made from these facts."""
    return Claim(
        text=text, evidence=tuple(_support(place, evidence) for place in places), risk=risks_of(text)
    )


def claims_in(text: str, evidence: Evidence) -> tuple[Claim, ...]:
    """The claims of a supplied text, each with the facts that say something like it."""
    bags = [
        (place, _tokens(fact.text), numbers_in(fact.text))
        for place, fact in enumerate(evidence.facts)
        if fact.source not in NOT_SAID
    ]
    # A goal gives numbers and proves nothing else.
    stated = [bag for bag in bags if evidence.facts[bag[0]].source != "launchGoal"]
    found = []
    for sentence in sentences(text):
        bare = _without_addresses(re.sub(r"^\s*(?:[-*+•・]|#{1,6}|\d{1,2}[.)/])\s+", "", sentence))
        tokens, risk = _tokens(bare), risks_of(bare)
        if not risk and (len(tokens) < 3 or bare.rstrip().endswith(("?", "？", "؟"))):
            continue
        near = _nearest(tokens, numbers_in(bare), stated)
        if not near and risk == ("number",):
            near = _giving(tokens, numbers_in(bare), bags)
        found.append(
            Claim(text=bare.strip(), evidence=tuple(_support(place, evidence) for place in near), risk=risk)
        )
        if len(found) == MAX_CLAIMS:
            break
    return tuple(found)


def has_grounds(evidence: Evidence) -> bool:
    """Whether the evidence says anything that claims could be checked against."""
    return any(fact.source not in NO_GROUNDS for fact in evidence.facts)


def warnings_for(claims: tuple[Claim, ...], evidence: Evidence) -> list[str]:
    """The warnings about risky claims, those without support first; one line for all where nothing was handed in."""
    risky = [each for each in claims if each.risk and not each.supported]
    if risky and not has_grounds(evidence):
        named = ", ".join(f"“{cut(unended(each.text), 60)}”" for each in risky[:MAX_NAMED])
        more = f" and {len(risky) - MAX_NAMED} more" if len(risky) > MAX_NAMED else ""
        return [f"No facts were handed in to check this: {named}{more}."]
    risky += [each for each in claims if each.supported and ALWAYS_TOLD.intersection(each.risk)]
    found = []
    for each in risky[:MAX_WARNINGS]:
        what = " and ".join(WHY[risk] for risk in each.risk[:2])
        where = (
            f"it is taken from {SOURCES[each.evidence[-1].source]}"
            if each.evidence
            else "nothing in the evidence says so"
        )
        found.append(f"Check this claim: “{cut(each.text, 120)}” It {what}; {where}.")
    if len(risky) > MAX_WARNINGS:
        found.append(
            f"{len(risky) - MAX_WARNINGS} more claims should be checked; they are listed with the draft."
        )
    return found


def _support(place: int, evidence: Evidence) -> Support:
    fact = evidence.facts[place]
    return Support(place=place, source=fact.source, text=cut(fact.text, _EXCERPT), entry_id=fact.entry_id)


def _nearest(tokens: set[str], numbers: set[str], bags: list[tuple[int, set[str], set[str]]]) -> list[int]:
    """Up to two facts that share most of the words, with every number of the sentence among them."""
    scored = sorted(
        ((len(tokens & bag) / max(1, len(tokens)), place) for place, bag, _ in bags), reverse=True
    )[:2]
    chosen = [place for share, place in scored if share >= _SHARE]
    if not chosen and scored and len(scored) == 2:
        both = set().union(*(bag for place, bag, _ in bags if place in (scored[0][1], scored[1][1])))
        if len(tokens & both) / max(1, len(tokens)) >= _SHARE:
            chosen = [place for _, place in scored]
    known: set[str] = set().union(*(held for place, _, held in bags if place in chosen)) if chosen else set()
    return chosen if numbers <= known else []


def _giving(tokens: set[str], numbers: set[str], bags: list[tuple[int, set[str], set[str]]]) -> list[int]:
    """The facts that give the numbers of a sentence and are about the same; none where a number is not given."""
    about = [(place, held & numbers) for place, bag, held in bags if held & numbers and bag & tokens]
    given: set[str] = set().union(*(held for _, held in about)) if about else set()
    return [place for place, _ in about][:2] if numbers and numbers <= given else []


def _tokens(text: str) -> set[str]:
    """Words by their stem, and pairs of characters where words are not spaced."""
    found = {word[:6] for word in re.findall(r"[^\W\d_]{4,}", text.casefold()) if ord(word[0]) < 0x2E80}
    for run in re.findall(r"[\u3041-\u30ff\u3400-\u9fff]{2,}", text):
        found |= {run[place : place + 2] for place in range(len(run) - 1)}
    return found


def _without_addresses(text: str) -> str:
    for start, end in reversed(list(addresses(text))):
        text = text[:start] + text[end:]
    return text.strip(" :→-")
