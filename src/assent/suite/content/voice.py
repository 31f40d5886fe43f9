"""Finds where a text breaks the brand's voice or an earlier request: banned words, signs, refused claims.

A breach is a warning about a text that was supplied, and leaves a sentence out of a note. The writer
decides about the tone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from assent.platform.content import cut, sentences
from assent.platform.values import Record
from assent.suite.content.counting import emoji_in
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import word_set
from assent.suite.content.lessons import Rule, repeats

_SIGNS: Final = {"no_emoji": "emoji", "no_hashtags": "hashtags", "no_exclamation": "exclamation marks"}
_NOT_SAID: Final = "Left out what the brand's voice does not say."


class Breach(Record):
    told: str
    """The warning about a text that has it."""
    why: str
    """What is said of a text that leaves it out."""
    entry_id: str = ""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_BANNED: Final = _words(
    r"\b(?:never|don['’]?t|do not|avoid|no|banned|forbidden|verboten|vermeide|nicht|kein\w*)\b"
    r"(?: (?:say|use|write|words?|the|phrases?|terms?|wörter|wort|sagen|verwenden|like|such|as|saying|using)\b|:)*"
    r"((?:[\s,]*(?:or |and |oder |und )?[\"“”„'‘’「][^\"“”„'‘’「」\n]{2,40}[\"“”'‘’」])+)"
)
_LISTED: Final = r"([\w-]+(?:(?:, (?:and |or )?| and | or )[\w-]+){0,12})"
_BARE_BANNED: Final = _words(
    rf"\b(?:never|don['’]?t|do not) (?:say|use|write)(?: the words?)? {_LISTED}"
    rf"|\b(?:banned|forbidden) words?:? {_LISTED}|\bavoid the words? {_LISTED}"
)
_GENERAL: Final = word_set(
    "emoji emojis hashtag hashtags exclamation marks points question questions jargon hype buzzwords marketing the any "
    "a slang superlatives passive"
)
"""Kinds of wording, which are not banned as words."""


def find_breaches(text: str, evidence: Evidence, rules: tuple[Rule, ...]) -> tuple[Breach, ...]:
    """Return the breaches of a text, the requests of people first."""
    has = {
        "no_emoji": bool(emoji_in(text)),
        "no_hashtags": "#" in text,
        "no_exclamation": "!" in text or "！" in text,
    }
    said = sentences(text) if any(rule.kind == "claim" for rule in rules) else ()
    found: dict[str, Breach] = {}
    for rule in rules:
        told = ""
        if has.get(rule.kind):
            told = f"Has {_SIGNS[rule.kind]}, which an earlier request rules out."
        elif rule.kind == "phrase" and _says(text, rule.value):
            told = f"Says “{rule.value}”, which an earlier request rules out."
        elif rule.kind == "claim" and any(repeats(each, rule.value) for each in said):
            told = f"Makes a claim that was refused before: “{cut(rule.value, 80)}”"
        if told:
            found.setdefault(told, Breach(told, rule.why, rule.entry_id))
    known = {rule.value.casefold() for rule in rules}
    for _, fact in evidence.of("brand_voice"):
        for word in find_banned_words(fact.text):
            if word not in known and _says(text, word):
                told = f"Says “{word}”, which the brand's voice does not."
                found.setdefault(told, Breach(told, _NOT_SAID, fact.entry_id or ""))
    return tuple(found.values())


@lru_cache(maxsize=64)
def find_banned_words(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for match in _BANNED.finditer(text):
        found += re.findall(r"[\"“”„'‘’「]([^\"“”„'‘’「」\n]{2,40})[\"“”'‘’」]", match.group(1))
    for match in _BARE_BANNED.finditer(text):
        listed = next(group for group in match.groups() if group)
        found += [
            word
            for word in re.split(r", (?:and |or )?| and | or ", listed)
            if word.casefold() not in _GENERAL
        ]
    bare = (word.strip(" .,;:").casefold() for word in found)
    return tuple(dict.fromkeys(word for word in bare if len(word) > 1))


def _says(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text.casefold()) is not None
