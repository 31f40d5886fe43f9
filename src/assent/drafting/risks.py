"""Words that make a claim one to be able to prove: superlatives, numbers, comparisons, medicine, money, promises.

A risk is not an error. It is written to the claim-risk log and shown to whoever approves. English, German, Japanese and
Arabic; a word list finds what is said plainly, not what is implied.
"""

from __future__ import annotations

import re
from typing import Final


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


TABLE: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = (
    (
        "superlative",
        "says it is the best, first or only one",
        _words(
            r"\b(?:best|fastest|easiest|cheapest|smartest|safest|simplest|greatest|largest|biggest|leading|"
            r"the first (?:and only|of its kind|ever|to|app|tool|product|platform|service)|"
            r"world[- ]class|number one|no\. ?1|top[- ]rated|unrivall?ed|unmatched|unparallell?ed|revolutionary|"
            r"game[- ]chang\w+|"
            r"groundbreaking|ultimate|perfect|first[- ]ever|world['’]?s first|the only|award[- ]winning|"
            r"beste[nrsm]?|schnellste\w*|einfachste\w*|günstigste\w*|größte\w*|führende\w*|"
            r"einzige\w*|erste[rns]? seiner art|weltweit erste\w*|revolutionär\w*|einzigartig\w*|unschlagbar\w*|"
            r"perfekt\w*|marktführ\w+)\b"
            r"|(?<!\w)#1\b|世界一|日本一|世界初|業界初|業界最|最高|最速|最強|最安|唯一|No\.? ?1|ナンバーワン|完璧|"
            r"الأفضل|أفضل|الأسرع|أسرع|الأول |الوحيد|الأكبر|الأرخص|رقم واحد"
        ),
    ),
    (
        "comparison",
        "compares with others",
        _words(
            r"\b(?:(?:better|faster|cheaper|easier|smarter|safer|simpler|more \w+|less \w+) than|"
            r"unlike (?:other|any|all|most)|compared (?:to|with)|alternative to|beats|outperforms?|"
            r"vs\.?|versus|instead of \w+|replaces? \w+|"
            r"(?:besser|schneller|günstiger|einfacher|sicherer) als|im (?:vergleich|gegensatz) zu|anders als|ersetzt)\b"
            r"|より(?:も)?(?:速|安|簡単|優)|と比べ|に比べ|أفضل من|أسرع من|أرخص من|مقارنة ب|على عكس"
        ),
    ),
    (
        "number",
        "gives a number",
        _words(
            r"\d[\d.,]*\s?(?:%|percent|prozent|x\b|times\b|mal\b|fach|k\b|m\b|million|thousand|tausend|billion|"
            r"users|customers|teams|companies|downloads|stars|kunden|nutzer|hours|minutes|seconds|days|stunden|minuten|"
            r"sekunden|倍|％|万|億|人|社|件|時間|分|秒|٪)"
            r"|[$€£¥₹]\s?\d|\d[\d.,]*\s?(?:usd|eur|euro|dollars?|円|ドル|ريال|دولار)|\b(?:twice|tenfold|double[sd]?|"
            r"halve[sd]?|millions?|thousands|doppelt|halbiert|millionen|tausende)\b|[٠-٩]{1,}\s?(?:٪|مرة|مستخدم)"
            r"|\b\d{1,3}(?:[.,]\d{3})+\b|\b\d{4,}\b(?<!\b19\d\d)(?<!\b20\d\d)"
        ),
    ),
    (
        "medical",
        "speaks about health",
        _words(
            r"\b(?:cures?|heals?|treats?|diagnos\w+|clinically|medical(?:ly)?|therap\w+|fda|"
            r"prevents? (?:disease|illness|cancer)|symptoms?|weight loss|anti-?aging|heilt|heilung|diagnose\w*|"
            r"klinisch\w*|medizinisch\w*|krankheit\w*)\b"
            r"|治療|治す|治る|診断|臨床|医療|病気|علاج|يعالج|تشخيص|طبي|سريري"
        ),
    ),
    (
        "financial",
        "speaks about money to be made or saved",
        _words(
            r"\b(?:returns? on|roi|profits?|earn(?:s|ings)?|passive income|invest(?:ing|ment|ments|ors?)?|yields?|"
            r"interest rate|save[sd]? (?:money|you|thousands|hundreds|\$|€|£)|cut costs?|tax[- ]free|wealth|"
            r"rendite|gewinn\w*|verdien\w+|anlage\w*|zinsen|spart (?:geld|kosten))\b"
            r"|利益|儲|収益|投資|稼|節税|أرباح|ربح|استثمار|عائد|توفير المال"
        ),
    ),
    (
        "guarantee",
        "promises a result",
        _words(
            r"\b(?:guarante\w+|100 ?%|never (?:fails?|lose|miss|again)|always works?|risk[- ]free|no risk|promise[sd]?|"
            r"foolproof|bulletproof|zero downtime|forever|unlimited|instantly|garantier\w*|garantie|risikofrei|"
            r"ausfallsicher|für immer|unbegrenzt\w*)\b|保証|必ず|絶対|永久|無制限|يضمن|مضمون|ضمان|بدون مخاطر|للأبد"
        ),
    ),
    (
        "compliance",
        "claims security or compliance",
        _words(
            r"\b(?:hipaa|gdpr|dsgvo|soc ?2|iso ?\d{4,5}|pci(?:[- ]dss)?|certified|compliant|compliance|bank[- ]grade|"
            r"military[- ]grade|unhackable|fully secure|end[- ]to[- ]end encrypted|"
            r"zertifizier\w+|konform\w*|rechtssicher\w*|ende-zu-ende-verschlüssel\w+)\b"
            r"|準拠|認証取得|暗号化|متوافق مع|معتمد|مشفر"
        ),
    ),
)  # fmt: skip

RISKS: Final = tuple(name for name, _, _ in TABLE)
WHY: Final = {name: why for name, why, _ in TABLE}


def risks_of(sentence: str) -> tuple[str, ...]:
    """Which kinds of risk a sentence carries."""
    return tuple(name for name, _, words in TABLE if words.search(sentence[:2_000]))


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, without their separators."""
    return {re.sub(r"[.,\s]", "", found).lstrip("0") or "0" for found in re.findall(r"\d[\d.,]*", text)}
