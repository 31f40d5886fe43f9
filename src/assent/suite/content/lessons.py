"""Lessons of a tenant, and the rules that follow from them for a draft. Pure.

A lesson is something that a person asked for in words: a reason for a rejection, a request that came with an edit, or a
recorded lesson. A rule shortens a draft, leaves a statement or a sign out, or warns. No rule changes the words of a
statement. A text that differs from an earlier one teaches nothing. Where no rule can be read from the words, they stay
words: the writer and the reviewer get them as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from assent.suite.composer.statements import is_greeting
from assent.suite.content.cleaning import cut
from assent.suite.content.language import sentences, word_set


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """The reason for which a person rejected a text."""

    entry_id: str
    reason: str = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request of a person for later drafts, in their words."""

    entry_id: str
    text: str


class RefusedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that must not be made again."""

    entry_id: str
    text: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A measured result of a channel, as a sentence. It shapes no draft; a writer may know it."""

    entry_id: str
    channel: str
    text: str


class Lessons(msgspec.Struct, frozen=True, kw_only=True):
    """All lessons of a tenant, newest last."""

    rejections: tuple[Rejection, ...] = ()
    asked: tuple[Asked, ...] = ()
    refused_claims: tuple[RefusedClaim, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def chars(self) -> int:
        """How much there is to read."""
        said = (*(each.reason for each in self.rejections), *(each.text for each in self.asked))
        return sum(map(len, (*said, *(each.text for each in self.refused_claims))))


class Rule(msgspec.Struct, frozen=True):
    """One rule and the entry it comes from."""

    kind: str
    entry_id: str
    value: str = ""

    @property
    def why(self) -> str:
        """The rule as a sentence."""
        return RULES[self.kind].replace("{value}", self.value)


RULES: Final[dict[str, str]] = {
    "no_emoji": "Written without emoji, as asked before.",
    "no_hashtags": "Written without hashtags, as asked before.",
    "no_exclamation": "Written without exclamation marks, as asked before.",
    "no_question": "Ends without a question, as asked before.",
    "plain": "Kept plain: an earlier draft was rejected as too promotional.",
    "shorter": "Kept shorter: an earlier draft was too long.",
    "phrase": "Avoids “{value}”, which was rejected before.",
    "claim": "Leaves out a claim that was refused before.",
    "words": "Asked before: “{value}”",
}
"""Every kind of rule and its sentence."""

READ_CHARS: Final = 600
"""The beginning of a reason that is read."""
MAX_LESSONS: Final = 60
MAX_PHRASE_CHARS: Final = 80
MAX_WORDS_CHARS: Final = 200
MAX_RULES: Final = 120
MAX_REMINDERS: Final = 3

_REASONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("no_emoji", re.compile(r"\bemojis?\b|絵文字|رموز تعبيرية|إيموجي", re.IGNORECASE)),
    ("no_hashtags", re.compile(r"\bhash-?tags?\b|ハッシュタグ|هاشتاغ|وسوم", re.IGNORECASE)),
    ("no_exclamation", re.compile(r"\bexclamation|ausrufezeichen|感嘆符|علامات التعجب", re.IGNORECASE)),
    (
        "no_question",
        re.compile(
            r"\b(?:no|drop|without|skip|remove|ending|closing) (?:the |a )?questions?\b|\bkeine frage",
            re.IGNORECASE,
        ),
    ),
    (
        "plain",
        re.compile(
            r"\b(?:sales-?y|hype|hypey|too marketing|marketing[- ](?:speak|talk|language)|promotional|pushy|"
            r"cheesy|cringe|too corporate|buzzword\w*|clickbait\w*|too loud|"
            r"overselling|oversells|werblich|reißerisch|marktschreier\w*|floskel\w*)\b|宣伝|煽|دعائي",
            re.IGNORECASE,
        ),
    ),
    (
        "shorter",
        re.compile(
            r"\b(?:too long|shorter|shorten|long-winded|wordy|cut it (?:down|short)|"
            r"zu lang|kürzer|kürzen)\b|長すぎ|短く|طويل|أقصر",
            re.IGNORECASE,
        ),
    ),
)
"""Words about a text, and the rule that follows."""
_SIGNS: Final = ("no_emoji", "no_hashtags", "no_exclamation")
_WANTED: Final = re.compile(
    r"\b(?:add|more|use|with|want|bring back|please include|mehr|mit)\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)
"""Before a sign that is asked for and not refused: “use emoji”."""
_ALLOWED: Final = re.compile(r"\s+(?:is|are|sind|ist) (?:fine|ok|okay|good|welcome|gut)\b", re.IGNORECASE)
_NOT: Final = (
    r"\b(?:never|not|don['’]?t|do not|stop|avoid|without|drop|remove|lose|no|skip|nie(?:mals)?|nicht|kein\w*|ohne|"
    r"vermeide\w*)\b"
)
_REFUSED: Final = re.compile(_NOT, re.IGNORECASE)
_QUOTED: Final = re.compile(
    _NOT + r"[^.,;:!?\n\"“”„«‚‘「『]{0,40}"
    r"(?:[\"“”„«‚‘「『]([^\"“”„«»‘’「」『』\n]{2,80})[\"”“»’」』]|(?<!\w)'([^'\n]{2,80})'(?!\w))",
    re.IGNORECASE,
)
"""A wording in quotation marks after a word that refuses it."""
_UNQUOTED: Final = re.compile(
    r"\b(?:never|don['’]?t|do not|stop|avoid) (?:ever )?"
    r"(?:say(?:ing)?|writ(?:e|ing)|call(?:ing)? (?:it|us|them|this)|"
    r"us(?:e|ing) the (?:word|phrase|term)s?|the (?:word|phrase|term)s?)"
    r"(?: the (?:word|phrase|term)s?)? ([\w'’-]+(?: [\w'’-]+){0,3}?)"
    r"(?=[.,;:!?]|$| (?:again|because|any ?more|please|it|in|for|so|and)\b)",
    re.IGNORECASE,
)
_SMALL: Final = word_set(
    "the a an and or of to in for with on is are it its this that we you our your i so too very about anything nothing "
    "never der die das ein eine und oder zu mit auf ist sind es wir"
)
_ELSEWHERE: Final = re.compile(
    r"\b(?:wait|hold (?:on|off|it)|on hold|not (?:now|yet|today|anymore|needed)|later|postpone\w*|tomorrow|"
    r"next (?:week|month)|too (?:early|late|soon)|"
    r"(?:do not|don['’]?t|do n[o']t|never) (?:send|post|publish|share|e-?mail)\b|stop sending|"
    r"(?:send|post|publish|share|put) (?:it|this|that) (?:to|on|at|in|via|from|first)\b|"
    r"(?:wrong|other|another|different) (?:person|people|recipient\w*|address\w*|account|channel|client|customer|list|"
    r"tenant|time|date|day)|duplicate\w*|twice|already (?:sent|posted|published|done|out)|by hand|myself|"
    r"chang(?:e|ed|ing) (?:my|our|his|her|their) minds?|never ?mind|cancel\w*|no longer (?:needed|wanted|relevant)|"
    r"obsolete|just (?:a )?test\w*|testing|incorrect|typos?|mistake|not true|untrue|wrong|outdated|"
    r"warte\w*|abwarten|noch nicht|nicht (?:jetzt|heute|senden|schicken|veröffentlichen)|später|verschieb\w*|morgen|"
    r"zu (?:früh|spät)|falsch\w*|doppelt|abbrechen|schon (?:gesendet|verschickt)|"
    r"erledigt|storniere\w*)\b|後で|待って|まだ|あとで|間違|لاحقا|انتظر|خطأ",
    re.IGNORECASE,
)
"""Reasons about time, sending, recipients, a change of mind or a mistake in one text."""
_ABOUT_TEXTS: Final = re.compile(
    r"\b(?:never|always|avoid|please|instead|should|must|say|says|call|write|mention\w*|name|(?:make|keep) it|"
    r"(?:do not|don['’]?t) (?:use|promise|compare|sell|overdo|exaggerate|start|begin|end|open|repeat|quote|link)|"
    r"wording|words?|phrase\w*|tone|voice|style|sounds?|reads?|title|headline|subject|opening|opens?|begins?|starts?|"
    r"ends?|"
    r"paragraph\w*|sentences?|too (?!early|late|soon)\w+|less|more|"
    r"nie|niemals|immer|bitte|statt|stattdessen|soll\w*|klingt|ton|stil|überschrift|betreff|absatz|sätze?|wort\w*|"
    r"zu (?!früh|spät)\w+|weniger|mehr|duzen|siezen)\b|言葉|文体|口調|أسلوب|كلمة",
    re.IGNORECASE,
)
"""Words that speak about how texts are written."""


@lru_cache(maxsize=16)
def rules_from(lessons: Lessons, channel: str) -> tuple[Rule, ...]:
    """Every rule for a draft on this channel. The first lesson of a rule names its entry."""
    found: list[Rule] = []
    for rejection in lessons.rejections[-MAX_LESSONS:]:
        if teaches(rejection.reason):
            found += _from_words(rejection.reason, rejection.entry_id)
    for asked in lessons.asked[-MAX_LESSONS:]:
        found += _from_words(asked.text, asked.entry_id)
    for refused in lessons.refused_claims[-MAX_LESSONS:]:
        found.append(Rule("claim", refused.entry_id, refused.text))
    unique: dict[tuple[str, str], Rule] = {}
    for rule in found:
        unique.setdefault((rule.kind, rule.value.casefold()), rule)
    return tuple(unique.values())[:MAX_RULES]


def lessons_in_words(lessons: Lessons, channel: str) -> tuple[str, ...]:
    """For a writer: the requests that no rule can apply, newest first, and the newest result of the channel."""
    asked = [rule.value for rule in asked_rules(lessons, channel)]
    results = [each.text for each in lessons.results if each.channel == channel]
    return (*asked, *(f"Measured before: {cut(text, MAX_WORDS_CHARS)}" for text in results[-1:]))


def asked_rules(lessons: Lessons, channel: str) -> tuple[Rule, ...]:
    """The rules in words for a channel, newest first. Entry ids are made in order of time."""
    found = [rule for rule in rules_from(lessons, channel) if rule.kind == "words"]
    return tuple(sorted(found, key=lambda rule: rule.entry_id, reverse=True)[:MAX_REMINDERS])


@lru_cache(maxsize=1_024)
def teaches(reason: str) -> bool:
    """Whether a reason is about how texts are written, and so holds for later ones. In doubt it is not."""
    text = reason[:READ_CHARS]
    if any(_rule_words(text)) or _phrases(text):
        return True
    return not _ELSEWHERE.search(text) and bool(_ABOUT_TEXTS.search(text)) and len(text.split()) > 1


def _from_words(said: str, entry: str) -> list[Rule]:
    text = said[:READ_CHARS]
    found = [Rule(kind, entry) for kind in _rule_words(text)]
    found += [Rule("phrase", entry, phrase) for phrase in _phrases(text)]
    words = " ".join(text.split())
    return found or ([Rule("words", entry, cut(words, MAX_WORDS_CHARS))] if words else [])


def _rule_words(text: str) -> list[str]:
    """The kinds of rules that a text names; a sign that is asked for is none."""
    return [
        kind
        for kind, words in _REASONS
        if (match := words.search(text)) and not (kind in _SIGNS and _is_wanted(text, match))
    ]


def _is_wanted(text: str, match: re.Match[str]) -> bool:
    """Whether a text asks for a sign or lets it be."""
    before, after = text[: match.start()], text[match.end() :]
    if _ALLOWED.match(after):
        return True
    return bool(_WANTED.search(before)) and not _REFUSED.search(before)


def _phrases(text: str) -> list[str]:
    """The wordings that a text refuses."""
    found = [(match.group(1) or match.group(2)).strip(" .,;:!") for match in _QUOTED.finditer(text)]
    for match in _UNQUOTED.finditer(text):
        phrase = match.group(1).strip(" '’")
        if not any(words.search(phrase) for _, words in _REASONS):
            found.append(phrase)
    return [
        phrase[:MAX_PHRASE_CHARS]
        for phrase in found
        if any(word.casefold() not in _SMALL for word in phrase.split())
    ]


def first_sentence(text: str) -> str:
    """The first sentence of a text after its greeting."""
    found = [sentence for sentence in sentences(text.strip()[:2_000]) if not is_greeting(sentence)]
    return found[0] if found else ""


def similarity(one: str, other: str) -> float:
    """The share of words that two sentences have in common, from 0 to 1."""
    first, second = (set(_WORD.findall(text.casefold()[:2_000])) for text in (one, other))
    return 2 * len(first & second) / max(1, len(first) + len(second))


_WORD: Final = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]|[^\W\u3041-\u30ff\u3400-\u9fff]+")
