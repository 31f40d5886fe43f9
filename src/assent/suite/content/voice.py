"""The limits of a draft from the brand's voice and earlier rejections: banned words, exclamation
marks, length.

Only limits that can be met by leaving something out; the writer decides about the tone.
"""

from __future__ import annotations

import re
from typing import Final

from assent.platform.values import Record
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import word_set
from assent.suite.content.lessons import Rule


class Voice(Record, kw_only=True):
    banned: tuple[str, ...] = ()
    short: bool = False
    plain: bool = False
    no_exclamation: bool = False


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NO: Final = r"\b(?:no|without|never|avoid|zero|keine?|ohne) (?:\w+ ){0,2}"
_SAYS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("shorter", _words(r"\b(?:terse|concise|crisp|brief|punchy|minimal|knapp|prägnant)\b|簡潔|موجز")),
    ("no_exclamation", _words(_NO + r"(?:exclamation\w*|ausrufezeichen)")),
    (
        "plain",
        _words(
            r"\b(?:plain|no hype|understated|no marketing|no buzzwords|nüchtern|keine werbesprache)\b"
            r"|誇張(?:なし|しない)"
        ),
    ),
)
"""Patterns in the description of a voice, and the limit that follows from each."""
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


def read_voice(evidence: Evidence, rules: tuple[Rule, ...]) -> Voice:
    text = "\n".join(fact.text for _, fact in evidence.of("brand_voice"))
    kinds = {name for name, pattern in _SAYS if pattern.search(text)} | {rule.kind for rule in rules}
    banned = [*find_banned_words(text), *(rule.value for rule in rules if rule.kind == "phrase")]
    return Voice(
        banned=tuple(dict.fromkeys(word.casefold() for word in banned if len(word) > 1)),
        short="shorter" in kinds,
        plain="plain" in kinds,
        no_exclamation="no_exclamation" in kinds,
    )


def find_banned_words(text: str) -> list[str]:
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
    return [word.strip(" .,;:") for word in found]


def forbids(voice: Voice, text: str) -> bool:
    flat = text.casefold()
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", flat) for word in voice.banned)
