"""Finds the claims of a draft, the facts that support each, and the warnings for the reviewer.

The sentences of a text are compared with the evidence, no matter who wrote it. A fact supports a sentence
only if it has the same risky wordings and the same numbers with their units. A comparison shows that
the evidence has nothing similar, not that a sentence is false. The reviewer is warned about unsupported
claims, and about claims that need proof even if the evidence makes them. Numbers have units, so that
3 GB differs from 3 TB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from assent.platform import cut, sentences
from assent.sdk import Record, WireRecord, from_record
from assent_launch.content.counting import addresses
from assent_launch.content.evidence import SOURCES, TOLD, Evidence, affirm
from assent_launch.content.language import strip_full_stop, word_set
from assent_launch.content.screen import PatternSet


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# Risks: superlatives, numbers, comparisons, testimonials, medicine, money, promises.
#
# A risk is not an error: it is logged and shown to the reviewer. The word lists are in English, German, Japanese and
# Arabic and find plain statements, not implied ones. Greetings, closings, dates, small counts and comparisons with the
# product's own past are no claims.
#
# A look-behind comes after `\b` and the first letters: Python would look behind every character.

_THING: Final = (
    r"(?:app|tool|product|platform|service|solution|software|library|framework|company|editor|database|server|system|"
    r"client|way)s?"
)
_ILLNESS: Final = (
    r"diseases?|illness\w*|conditions?|disorders?|patients?|cancer|symptoms?|pain|anxiety|depression"
)
_OWN_PAST: Final = (
    r"(?!(?:it |we |you |they )?(?:before|ever|last|usual|earlier|previously|yesterday|today|was|were|used|nothing)\b"
    r"|(?:the|our|my|its|your) (?:own|old|last|previous|earlier|first|former|current|present)"
    r"(?: (?-i:[a-z])[\w-]*){0,3}\W*(?:[.!;:)]|$)"
    r"|(?:in |with |on )?(?:v|version |release )?\d[\d.]*(?:\W*$|[.,;!)]| (?:was|is|did|had)\b))"
)
"""Excludes comparisons with the product's own past."""
_OWN_PAST_IS: Final = _OWN_PAST.replace("(?!", "(?=", 1)
_EIGENE_ZEIT: Final = (
    r"(?!bisher|früher|zuvor|vorher|je\b|jemals|gedacht|(?:die|der|das|den|dem) (?:alte|letzte|vorige|erste)\w*"
    r"|(?:unser|mein)\w* (?:alte|letzte|vorige|erste)\w*"
    r"|(?:in |mit )?(?:v|version )?\d[\d.]*(?:\W*$|[.,;!)]))"
)

RISKS: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = (
    (
        "superlative",
        "says it is the best, first or only one",
        _any_case(
            r"\b(?=[tw])(?<!all )(?<!for )(?<!hope )(?<!one of )(?:the|world['’]s) best\b"
            r"(?! (?:of both|(?:we|i|you|they) c\w+|practices?|part|time|thing|place|moment|case)\b)"
            r"|\b(?=best)(?<!my )(?<!your )(?<!their )(?<!its )(?<!all the )(?<!the )(?<!our )best[- ]"
            r"(?:in[- ]class|(?:[\w-]+ ){0,2}" + _THING + r")\b"
            r"|\b(?:(?:fastest|easiest|cheapest|smartest|safest|simplest|greatest)"
            r"(?! (?:release|version|build|update)\b)|"
            r"(?:largest|biggest)(?! (?:change|release|update|file|problem|challenge|difference|part))|"
            r"most (?:popular|loved|used|trusted|advanced|powerful|accurate)|market leader|"
            r"no other (?:[\w-]+ )?" + _THING + r"|"
            r"leading(?! (?:to|up|zeros?|slash\w*|space\w*|edge)\b)|"
            r"the first (?:and only|of its kind|ever|to (?!know|try|hear|see|get|read|join)|" + _THING + r"\b)|"
            r"world[- ]class|number one|no\. ?1|top[- ]rated|unrivall?ed|unmatched|unparallell?ed|revolutionary|"
            r"game[- ]chang\w+|groundbreaking|ultimate|perfect(?! for\b)|first[- ]ever|world['’]?s first|"
            r"the only (?:one (?:that|which|of)|(?:[\w-]+ ){0,2}" + _THING + r")|award[- ]winning|"
            r"schnellste\w*|einfachste\w*|günstigste\w*|größte\w*|führende\w*|"
            r"(?:der|die|das) einzige\w* (?:app|tool|werkzeug|produkt|plattform|dienst|lösung|software|anbieter)\w*|"
            r"erste[rns]? seiner art|weltweit erste\w*|revolutionär\w*|einzigartig\w*|unschlagbar\w*|"
            r"perfekt\w*|marktführ\w+)\b"
            r"|\b(?=best)(?<!am )(?<!zum )(?<!dein )(?<!mein )beste[nrsm]?\b"
            r"(?! (?:grü(?:ß|ss)e\w*|dank|wünsche\w*|praxis))"
            r"|(?<!\w)#1\b|世界一|日本一|世界初|業界初|業界最|最高|最速|最強|最安|唯一|No\.? ?1|ナンバーワン|完璧|"
            r"الأفضل|أفضل|الأسرع|أسرع|الأول |الوحيد|الأكبر|الأرخص|رقم واحد"
        ),
    ),
    (
        "comparison",
        "compares with others",
        _any_case(
            r"\b(?:(?:better|faster|cheaper|easier|smarter|safer|simpler|more \w+|less \w+) than " + _OWN_PAST + r"|"
            r"unlike (?:(?:other|any|all|most)\b|(?-i:[A-Z]))|half the (?:price|cost|size) of (?-i:[A-Z])|"
            r"compared (?:to|with) " + _OWN_PAST + r"|alternative to\b|"
            r"(?:beats|outperforms?) (?!me\b|us\b)|(?:vs\.?|versus) " + _OWN_PAST + r"|"
            r"(?:instead of|replaces?|ersetzt) (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?-i:[A-Z][\w.]+)|"
            r"(?:besser|schneller|günstiger|einfacher|sicherer) als " + _EIGENE_ZEIT + r"|"
            r"im (?:vergleich|gegensatz) zu[rm]? " + _EIGENE_ZEIT + r"|anders als " + _EIGENE_ZEIT + r")"
            r"|(?<!以前)(?<!従来)(?<!これまで)より(?:も)?(?:速|安|簡単|優)|(?<!以前)(?<!従来)[とに]比べ"
            r"|(?:أفضل|أسرع|أرخص) من (?!ذي قبل|قبل|السابق)|مقارنة ب|على عكس"
        ),
    ),
    (
        "number",
        "gives a number",
        _any_case(
            r"(?<![\d.,])\d[\d.,]{0,20}\s?(?:%|percent|prozent|x\b|times (?:faster|more|less|cheaper|as|the)\b|"
            r"mal (?:so|schneller|mehr)\b|fach|k\b|m\b|million|thousand|tausend|billion|"
            r"users|customers|teams|companies|downloads|stars|kunden|nutzer|hours|minutes|seconds|ms\b|milliseconds|days|stunden|minuten|"
            r"sekunden|倍|％|万|億|人|社|件|時間|分|秒|٪)"
            r"|[$€£¥₹]\s?\d|(?<![\d.,])\d[\d.,]{0,20}\s?(?:usd|eur|euro|dollars?|円|ドル|ريال|دولار)"
            r"|\b(?:twice (?:the|as(?! \w+ as " + _OWN_PAST_IS + r"))|"
            r"tenfold|doubles|doubled|double (?:the|your|our)|halve[sd]?|"
            r"(?<!thanks a )millions?(?! thanks| of thanks)|thousands|"
            r"doppelt so|halbiert|millionen|tausende)\b|[٠-٩]{1,}\s?(?:٪|مرة|مستخدم)"
            r"|(?<![#.\w-])\b\d{1,3}(?:[.,]\d{3})+\b"
            r"|(?<![#.\w-])(?<!order )(?<!invoice )(?<!ticket )(?<!issue )(?<!port )"
            r"\b\d{4,6}\b(?<!\b19\d\d)(?<!\b20\d\d)"
        ),
    ),
    (
        "testimonial",
        "says what users think or do",
        _any_case(
            r"\b(?:users?|customers?|people|teams|everyone|testers|readers|clients) "
            r"(?:say|said|love[ds]?|asked|told|complain\w*|report\w*|prefer\w*|hate[ds]?|rave\w*)\b|"
            r"\b(?:the|our|main|biggest|usual|common|only) complaint\b|"
            r"\b\w{3,}s (?:love|adore|rave about)\b|\b(?:loved|trusted) by\b|"
            r"\bused by (?:\d|thousands|millions|teams|companies)|"
            r"\b(?:nutzer|kunden) (?:sagen|lieben|loben|berichten)\b|\bbeliebt bei\b"
        ),
    ),
    (
        "medical",
        "speaks about health",
        _any_case(
            r"\b(?:cures?|(?<!self-)heals?|(?:treats?|diagnos\w+) (?:\w+ ){0,3}(?:" + _ILLNESS + r")|"
            r"clinically|medical(?:ly)?|therap\w+|fda|"
            r"prevents? (?:disease|illness|cancer)|symptoms?|weight loss|anti-?aging|heilt|heilung|"
            r"klinisch\w*|medizinisch\w*|krankheit\w*)\b"
            r"|治療|治す|治る|診断|臨床|医療|病気|علاج|يعالج|تشخيص|طبي|سريري"
        ),
    ),
    (
        "financial",
        "speaks about money to be made or saved",
        _any_case(
            r"\b(?:returns? on|roi|profits?|earn (?:money|more|up|passive|\d)|earnings|passive income|"
            r"invest(?:ing|ments?)?|interest rate|save[sd]? (?:money|you|thousands|hundreds|\$|€|£)|"
            r"cut costs?|tax[- ]free|wealth|"
            r"rendite|gewinn\w*|verdien\w+|anlage\w*|zinsen|spart (?:geld|kosten))\b"
            r"|利益|儲|収益|投資|稼|節税|أرباح|ربح|استثمار|عائد|توفير المال"
        ),
    ),
    (
        "guarantee",
        "promises a result",
        _any_case(
            r"\b(?:guarante\w+|100 ?%|never (?:fails?|lose|miss|again)|always works?|risk[- ]free|no risk|"
            r"(?:we|i) promise|promises (?:to|that|you)\b|"
            r"foolproof|bulletproof|zero downtime|forever|unlimited|garantier\w*|garantie|risikofrei|"
            r"ausfallsicher|für immer|unbegrenzt\w*)\b|保証|必ず|絶対|永久|無制限|يضمن|مضمون|ضمان|بدون مخاطر|للأبد"
        ),
    ),
    (
        "compliance",
        "claims security or compliance",
        _any_case(
            r"\b(?:hipaa|gdpr|dsgvo|soc ?2|iso ?\d{4,5}|pci(?:[- ]dss)?|certified|compliant|compliance|bank[- ]grade|"
            r"military[- ]grade|unhackable|fully secure|end[- ]to[- ]end encrypted|"
            r"zertifizier\w+|konform\w*|rechtssicher\w*|ende-zu-ende-verschlüssel\w+)\b"
            r"|準拠|認証取得|暗号化|متوافق مع|معتمد|مشفر"
        ),
    ),
)  # fmt: skip

WHY: Final = {name: why for name, why, _ in RISKS}
PATTERNS: Final = {name: words for name, _, words in RISKS}


_NAMED: Final = (
    r"(?:[ ,]+(?:from|to|and|for|of|all|aus|und|für|an|you|your|the|team|euch|dich|sie|"
    r"(?-i:[A-Z])[\w.'-]*)){0,6}"
)
"""Sender and recipients of a greeting."""
_CLOSING: Final = _any_case(
    r"^\W*(?:"
    r"(?:all the best|best (?:wishes|regards|of luck)|(?:kind|warm)(?:est)? regards|yours (?:sincerely|truly)|"
    r"(?:mit )?(?:vielen |den )?(?:besten?|herzlich\w+|freundlich\w+|lieben?|viele[nr]?) "
    r"(?:grü(?:ß|ss)en?|dank|wünschen?))\b" + _NAMED + r"[.!,]?"
    r"|best" + _NAMED + r",?"
    r"|perfect[,!.]?(?: (?:thanks?|thank you))?[.!]?"
    r"|(?:hello|hi|hey|dear|hallo|liebe[rs]?|guten (?:tag|morgen))\b[^.!?,]{0,40}[,!]"
    r")\s*$"
)


def find_risks(sentence: str) -> tuple[str, ...]:
    """Return the kinds of risk in a sentence; a greeting or closing has none."""
    if _CLOSING.match(sentence[:200]):
        return ()
    text = sentence[:2_000]
    possible = (RISKS[place] for place in _screen().list_possible(text))
    return tuple(name for name, _, words in possible if words.search(text))


@cache
def _screen() -> PatternSet:
    """Most sentences have no risk, and it took eight searches to say so."""
    return PatternSet([words.pattern for _, _, words in RISKS])


_OTHER: Final = _any_case(r"\s*(?:(?:the|a|an|any|all|every|other)\s+)?[a-zà-ÿ][\w.+#-]*")
"""The object of a comparison."""


def risky_wordings(sentence: str, risks: Iterable[str]) -> tuple[str, ...]:
    """Return the wordings of a sentence's risks; numbers are in `amounts_in`."""
    text, found = sentence[:2_000], []
    for name in risks:
        for match in PATTERNS[name].finditer(text):
            other = _OTHER.match(text, match.end()) if name == "comparison" else None
            wording = text[match.start() : other.end() if other else match.end()].strip(" .,;:!")
            if name != "number" or not re.search(r"\d", wording):
                found.append(wording)
    return tuple(found)


# Claims and their support.

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
        """Whether more than a word in the chat supports it."""
        return any(each.source != TOLD for each in self.evidence)


def claims_in(texts: Iterable[str], evidence: Evidence) -> tuple[Claim, ...]:
    """Return the claims of a draft's title and body, each with the facts that resemble it."""
    known = [
        _Fact(place, text, _tokens(text))
        for place, fact in enumerate(evidence.facts)
        if fact.source not in NOT_SAID and (text := affirm(fact.text))
    ]
    # A goal supports numbers only.
    stated = [fact for fact in known if evidence.facts[fact.place].source != "launchGoal"]
    found = []
    said = (sentence for text in texts for sentence in sentences(text))
    stripped = [_without_addresses(_BULLET.sub("", sentence)) for sentence in said]
    for bare in stripped:
        tokens, risk = _tokens(bare), find_risks(bare)
        if not risk and (len(tokens) < 3 or bare.rstrip().endswith(("?", "？", "؟"))):
            continue
        if (stating := affirm(bare)) != bare:
            tokens = _tokens(stating)
        near = _find_support(stating, tokens, stated, risk)
        if not near and risk == ("number",):
            near = _find_support(stating, tokens, known, risk)
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
    wordings = risky_wordings(made.text, made.risk)
    holding = (each for each in made.evidence if all(_contains(each.text, wording) for wording in wordings))
    return next(holding, made.evidence[0]).source


def _support(place: int, evidence: Evidence) -> Support:
    fact = evidence.facts[place]
    return from_record(Support, fact, place=place, text=cut(fact.text, _EXCERPT))


def _find_support(sentence: str, tokens: set[str], facts: list[_Fact], risk: tuple[str, ...]) -> list[int]:
    """Return up to two facts that have most words of a sentence and all its risky wordings, and those that have its
    numbers with units."""
    same = strip_full_stop(sentence).casefold()
    if quoted := [fact.place for fact in facts if strip_full_stop(fact.text).casefold() == same]:
        return quoted[:1]
    if not facts:
        return []
    wordings, amounts = risky_wordings(sentence, risk), amounts_in(sentence)
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
        about = [fact for fact in ranked if tokens & fact.tokens or not fact.tokens]
        giving = [next((fact for fact in about if has_amount(fact.text, each)), None) for each in missing]
        near = [near[0], *(fact for fact in giving if fact is not None)] if None not in giving else []
    return list(dict.fromkeys(fact.place for fact in near))


def _share(tokens: set[str], known: set[str]) -> float:
    return len(tokens & known) / max(1, len(tokens))


def _contains(text: str, wording: str) -> bool:
    words = _words(wording)
    return wording.casefold() in text.casefold() or (bool(words) and words <= _words(text))


def _words(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[^\W\d_]+", text.casefold())} - _ARTICLES


def _tokens(text: str) -> set[str]:
    """Return the stems of the words, the units of amounts (90 s is 90 seconds), and pairs of characters in scripts
    without spaces."""
    said = _AMOUNT.sub(lambda found: " " if found[3] in _UNITS else found[0], text.casefold())
    found = {word[:6] for word in re.findall(r"[^\W\d_]{4,}", said) if ord(word[0]) < 0x2E80}
    found |= {each.unit for each in amounts_in(text) if each.unit}
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
