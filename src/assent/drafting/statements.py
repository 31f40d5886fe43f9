"""Which lines of a page or repository state something about the product, and the forms a statement can be put into.

Menus, calls to sign up and notes to developers are not statements about a product.
"""

from __future__ import annotations

import re
from typing import Final

from assent.drafting.language import language_of, sentences, unended, word_set

_CALLS: Final = re.compile(
    r"^(?:sign (?:up|in)|log ?in|get started|start (?:your|a|for|now|free)|try (?:it|now|for|free|\w+ (?:for )?free)|"
    r"join |book a|contact|learn more|read more|subscribe|download|buy|order now|request a|schedule a|click|watch|"
    r"see (?:pricing|more|our|the (?:demo|docs))|ready to|jetzt |mehr erfahren|kostenlos|kontakt|anmelden|registrieren|"
    r"今すぐ|無料で|お問い合わせ|ログイン|詳しく|ابدأ|سجل|اشترك|تواصل|جرب)",
    re.IGNORECASE,
)
_MENU: Final = re.compile(
    r"^(?:home|welcome|pricing|prices|plans|features?|faqs?|frequently asked.*|about(?: us)?|blog|docs|documentation|"
    r"testimonials|customers|how it works|what (?:our|people|customers).*|why (?:us|\w+)\??|solutions?|products?|"
    r"resources|company|careers|legal|privacy.*|terms.*|newsletter|get in touch|follow us|latest.*|our .{0,20}|"
    r"preise|funktionen|über uns|impressum|datenschutz|kontakt|startseite|so funktioniert.*|häufige fragen|"
    r"ホーム|料金|機能|会社概要|よくある質問|お知らせ|特徴|الرئيسية|الأسعار|المميزات|من نحن|الأسئلة الشائعة)$",
    re.IGNORECASE,
)
_FOR_DEVELOPERS: Final = re.compile(
    r"\b(?:this (?:repo|repository|readme)|npm|yarn|pip install|docker|git clone|localhost|pull requests?|build status|"
    r"copyright|all rights reserved|cookies?|javascript (?:is|must)|node\.?js \d|env(?:ironment)? variables?)\b"
    r"|^(?:note|warning|todo|deprecated|see (?:the|docs|also)|run|clone|install|usage|example)\b[: ]"
    r"|©|dieses repository|このリポジトリ",
    re.IGNORECASE,
)
_ADDED: Final = re.compile(
    r"^(?:(?:we|i)(?:['’]ve| have)?(?: just| also| now)? )?(?:added|adds?|introduced|introduces?|introducing|shipped|"
    r"launched|released|new(?: feature)?:)\s+(?P<object>.{3,200})$",
    re.IGNORECASE,
)
_GERMAN_ADDED: Final = re.compile(
    r"^(?:neu(?: ist| sind| dabei)?:?\s+(?P<object>.{3,200})"
    r"|(?P<first>.{3,160}?) (?:wurden?\s)?(?:hinzugefügt|eingebaut|ergänzt))$",
    re.IGNORECASE,
)
PAST: Final = {
    "add": "Added", "fix": "Fixed", "improve": "Improved", "support": "Added support for", "introduce": "Introduced",
    "implement": "Added", "remove": "Removed", "simplify": "Simplified", "redesign": "Redesigned", "reduce": "Reduced",
    "replace": "Replaced", "enable": "Enabled", "rewrite": "Rewrote", "extend": "Extended", "create": "Created",
    "update": "Updated",
}  # fmt: skip
_LOWER: Final = word_set(
    "small freelance independent busy remote indie solo self-employed early-stage local growing non-technical young "
    "new people anyone everyone developers designers founders teams freelancers engineers parents teachers students "
    "writers owners companies startups agencies marketers creators managers product software backend frontend web "
    "mobile open-source restaurants bakeries clinics doctors therapists lawyers accountants photographers musicians "
    "runners cyclists gardeners hobby amateur community public private mid-sized medium-sized large families couples "
    "kleine kleinere mittlere mittelständische selbstständige freie junge alle lokale große familiengeführte"
)
"""First words of a group of people that are surely no names."""
_PEOPLE: Final = ("ers", "ors", "ists", "ants", "ents", "teams", "folks", "men", "women")


_GREETING: Final = re.compile(
    r"^(?:hi|hello|hey|dear|hallo|liebe\w*|guten tag|sehr geehrte\w*|bonjour|hola|مرحبا|السلام)\b[^.!?\n]{0,60}[,!،]?$",
    re.IGNORECASE,
)


def is_greeting(line: str) -> bool:
    return _GREETING.match(line) is not None


def states_something(text: str, least_words: int = 3) -> bool:
    """Whether a line says something about the product."""
    if _CALLS.match(text) or _MENU.match(text) or _FOR_DEVELOPERS.search(text):
        return False
    if text.rstrip().endswith((":", "：", "?", "？", "؟", "…")):
        return False
    return len(text.split()) >= least_words or sum(1 for char in text if ord(char) > 0x2E7F) >= 6


def shouted(heading: str) -> bool:
    """A heading in capitals is decoration."""
    return heading.isupper() and language_of(heading) in ("en", "de", "und") and len(heading) > 4


def past(subject: str) -> str:
    """A commit's imperative as what was done."""
    first, _, rest = subject.partition(" ")
    done = PAST.get(first.casefold())
    return f"{done} {rest}" if done and rest else subject


def added(text: str, language: str) -> str:
    """What a change added, for the middle of a sentence; nothing if it did something else."""
    pattern = {"en": _ADDED, "de": _GERMAN_ADDED}.get(language)
    match = pattern.match(unended(text)) if pattern is not None else None
    if match is None:
        return ""
    thing: str = next(group for group in match.groups() if group)
    return thing if len(sentences(thing)) == 1 and not thing.endswith(("!", "?")) else ""


def capitalised(text: str) -> str:
    """With a capital letter, unless its first word is written by its owner's rules, like iPhone or git-cliff."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    bare = first.rstrip(",.;:")
    plain = bare.isalpha() and bare.islower()
    return text[:1].upper() + text[1:] if plain else text


def inner(text: str, language: str) -> str:
    """A noun phrase for the middle of a sentence, its first word in lower case; nothing where that may be a name."""
    first, _, rest = text.partition(" ")
    if not first[:1].isupper():
        return text
    flat = first.casefold()
    if language == "de":
        # German nouns keep their capital; of the adjectives only the listed ones are surely none of a name.
        return f"{flat} {rest}".strip() if flat in _LOWER and flat.endswith("e") else text
    if language == "en" and first[1:].islower() and (flat in _LOWER or flat.endswith(_PEOPLE)):
        return f"{flat} {rest}".strip()
    return ""
