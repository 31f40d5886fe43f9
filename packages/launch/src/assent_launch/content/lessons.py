"""Reads a tenant's lessons and derives the rules for a draft. Pure.

A lesson is a person's request in words: a reason for a rejection, a request with an edit, or a
recorded lesson. A rule shortens a draft, leaves out a statement or a sign, or warns; it never
rewords a statement. A difference between two texts is no lesson. If no rule can be derived, the
writer and the reviewer read the request as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from assent.platform import cut, sentences
from assent.sdk import Record
from assent_launch.content.counting import emoji_in
from assent_launch.content.evidence import Evidence
from assent_launch.content.language import is_greeting, word_set


class Rejection(Record, kw_only=True):
    entry_id: str
    reason: str = ""


class Asked(Record, kw_only=True):
    """A request for later drafts, in the words of its author or the recording agent."""

    entry_id: str
    text: str
    confirmed: bool = True
    """Whether a person made or confirmed the request. An unconfirmed one is only a reminder."""


class RefusedClaim(Record, kw_only=True):
    entry_id: str
    text: str


class MeasuredResult(Record, kw_only=True):
    """A measured result of a channel, as a sentence. A writer may read it; no rule uses it."""

    entry_id: str
    channel: str
    text: str


class Edited(Record, kw_only=True):
    """A text before and after a person's edit. A writer may read it; no rule uses it."""

    channel: str
    before: str
    after: str


class Lessons(Record, kw_only=True):
    """All lessons of a tenant, oldest first."""

    rejections: tuple[Rejection, ...] = ()
    asked: tuple[Asked, ...] = ()
    refused_claims: tuple[RefusedClaim, ...] = ()
    results: tuple[MeasuredResult, ...] = ()
    edits: tuple[Edited, ...] = ()
    standing: tuple[Asked, ...] = ()
    """Rules that the user stated for every later text, word for word."""

    @property
    def chars(self) -> int:
        said = (
            *(each.reason for each in self.rejections),
            *(each.text for each in (*self.asked, *self.standing)),
        )
        return sum(map(len, (*said, *(each.text for each in self.refused_claims))))


NOTHING_LEARNED: Final = Lessons()


class Rule(Record):
    kind: str
    entry_id: str
    value: str = ""

    @property
    def why(self) -> str:
        return RULES[self.kind].replace("{value}", cut(self.value, MAX_WORDS_CHARS))


RULES: Final[dict[str, str]] = {
    "no_emoji": "Written without emoji, as asked before.",
    "no_hashtags": "Written without hashtags, as asked before.",
    "no_exclamation": "Written without exclamation marks, as asked before.",
    "plain": "Kept plain, as asked before.",
    "shorter": "Kept shorter, as asked before.",
    "phrase": "Avoids “{value}”, as asked before.",
    "must": "Has “{value}”, as asked before.",
    "claim": "Leaves out a claim that was refused before: “{value}”",
    "words": "Asked before: “{value}”",
}

READ_CHARS: Final = 600
"""How much of a reason is read."""
MAX_LESSONS: Final = 60
MAX_WORDS_CHARS: Final = 200
MAX_RULES: Final = 120
MAX_REMINDERS: Final = 3
MAX_BREACHES: Final = 10
"""How many broken requests a draft is warned about."""

_LEAD: Final = (
    r"(?:(?:and|but|also|so|just|then|please|we|und|aber|bitte)\s+)*"
    r"(?:(?:(?:make|keep|write|try)\s+(?:it|this)|there\s+(?:are|is)|(?:it|this)\s+has|has)\s+)?"
)
"""Words before a request that do not change its meaning."""
_TAIL: Final = (
    r"(?:\s+(?:again|any\s?more|ever|at all|here|next time|please|thanks|bitte|mehr|in \w+ posts?))*$"
)
_SIGN: Final = (
    _LEAD
    + r"(?:(?:no|without|avoid|drop|remove|lose|skip|delete|fewer|less|zero|too many|(?:never|don['’]?t|do not) use|"
    r"stop using|leave out|get rid of|keine?|ohne|weniger|zu viele|vermeide)\s+"
    r"(?:(?:the|any|all|more|so many|these|those)\s+)?{sign}|{foreign})" + _TAIL
)
_TEXT: Final = (
    _LEAD
    + r"(?:(?:it['’]s|it|this|that|(?:the|this|der|das)\s+(?:text|draft|post|mail|e-?mail|message|copy|thread))\s+)?"
    r"(?:(?:is|was|sounds?|reads?|feels?|looks?|ist|klingt|don['’]?t be|do not be)\s+)?"
    r"(?:(?:like|way|far|much|a bit|a little|rather|really|very|so|too|less|no|avoid|viel|etwas|sehr|zu|weniger|"
    r"keine?)\s+)*"
)
"""Matches a judgement about a text that has no negation."""
_REASONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            "no_emoji",
            _SIGN.format(
                sign="emojis?", foreign=r"絵文字(?:なし|不要|は不要|は使わないで).*|بدون (?:رموز تعبيرية|إيموجي)"
            ),
        ),
        (
            "no_hashtags",
            _SIGN.format(
                sign="hash-?tags?", foreign=r"ハッシュタグ(?:なし|不要|は不要|は使わないで).*|بدون (?:هاشتاغ|وسوم)"
            ),
        ),
        (
            "no_exclamation",
            _SIGN.format(
                sign=r"(?:exclamation(?:\s+(?:marks?|points?))?|ausrufezeichen)",
                foreign=r"感嘆符(?:なし|不要|は不要|は使わないで).*|بدون علامات التعجب",
            ),
        ),
        (
            "plain",
            _TEXT + r"(?:sales-?y|hype|hypey|promotional|pushy|"
            r"(?<=\s)(?:marketing(?:[- ](?:speak|talk|language))?|corporate|loud)|"
            r"cheesy|cringe|buzzwords?|clickbait\w*|werblich|reißerisch|marktschreierisch|floskeln?)"
            + _TAIL + r"|.*(?:宣伝っぽい|煽りすぎ|煽らないで).*|دعائي جدا",
        ),
        (
            "shorter",
            _TEXT + r"(?:(?<=too )long|(?<=zu )lang|shorter|wordy|long-winded|kürzer|(?:bitte\s+)?kürzen|"
            r"shorten(?:\s+(?:it|this))?|cut it (?:down|short))" + _TAIL
            + r"|.*(?:長すぎ(?:る|ます)|短くして).*|طويل جدا|أقصر",
        ),
    )
)  # fmt: skip
"""Patterns of whole clauses, and their rules. A clause with other words makes none."""
_MASK: Final = "\ue000"
"""Replaces a quotation while a text is split into clauses."""
_QUOTE: Final = re.compile(
    r"[\"“”„«‚‘「『]([^\"“”„«»‘’「」『』\n]{2,80})[\"”“»’」』]|(?<!\w)'([^'\n]{2,80})'(?!\w)"
)
_CLAUSE: Final = re.compile(rf"[.,;:!\n]+\s*|\s+(?:but|aber|sondern|and(?! {_MASK})|und(?! {_MASK}))\s+")
_NAMES: Final = r"(?:the\s+)?(?:words?|phrases?|terms?)"
_CALLS: Final = r"call(?:ing)?\s+(?:it|us|them|this)"
_FORBIDS: Final = re.compile(
    _LEAD + r"(?:(?:(?:never|don['’]?t|do not|stop|no more|avoid)\s+(?:ever\s+)?"
    rf"(?:say(?:ing)?|us(?:e|ing)|writ(?:e|ing)|mention(?:ing)?|{_CALLS})|never|avoid|vermeide\w*|nie(?:mals)?|"
    r"(?:sag|schreib|verwende|nenn)\w*(?:\s+(?:es|uns|bitte))?\s+(?:nie(?:mals)?|nicht))"
    rf"(?:\s+{_NAMES})?)\s+({_MASK}(?:\s+(?:or|and|nor|oder|und)\s+{_MASK})*)"
    rf"(?:\s+(?:sagen|schreiben|verwenden))?{_TAIL}",
    re.IGNORECASE,
)
"""Matches a clause that forbids the quoted wordings at its end."""
_FORBIDS_UNQUOTED: Final = re.compile(
    _LEAD + r"(?:never|don['’]?t|do not|stop|avoid)\s+(?:ever\s+)?"
    rf"(?:say(?:ing)?(?:\s+{_NAMES})?|{_CALLS}|us(?:e|ing)\s+{_NAMES}|{_NAMES})\s+"
    r"((?:(?:a|an|the)\s+)?[\w'’-]+(?:\s+[\w'’-]+){0,2}?)" + _TAIL,
    re.IGNORECASE,
)
_SIGNS_AS: Final = (
    r"(?:always\s+)?sign(?:\s+(?:off|it|them|all|every|each|posts?|texts?|e-?mails?|mails?))*\s+(?:as|with)"
)
_DEMANDS: Final = re.compile(
    _LEAD
    + rf"(?:{_SIGNS_AS}|always\s+(?:(?:end|close|finish|start|begin|open)(?:\s+\w+){{0,2}}\s+with|say|write|"
    rf"mention|name|include|add|use|{_CALLS}))(?:\s+(?:the\s+)?(?:words?|phrases?|line|link|name|signature))?\s+"
    rf"({_MASK}(?:\s+(?:and|und)\s+{_MASK})*){_TAIL}",
    re.IGNORECASE,
)
"""Matches a clause that asks for the quoted wordings at its end in every text."""
_DEMANDS_UNQUOTED: Final = re.compile(_LEAD + rf"{_SIGNS_AS}\s+([^,;:]{{2,60}}?){_TAIL}", re.IGNORECASE)
_SMALL: Final = word_set(
    "the a an and or of to in for with on is are it its this that we you our your i so too very about anything nothing "
    "never no not more much less only before after than when if unless der die das ein eine und oder zu mit auf ist "
    "sind es wir"
)
_ELSEWHERE: Final = re.compile(
    r"\b(?:wait|hold|later|postpone\w*|tomorrow|until|ask|approv\w+|legal|wrong|incorrect|typos?|mistake|misspel\w+|"
    r"untrue|outdated|duplicate\w*|already|send|sent|warte\w*|später|morgen|falsch\w*|doppelt|schon)\b",
    re.IGNORECASE,
)
"""Matches reasons about timing, sending, other people, or a mistake in one text."""
_ABOUT_TEXTS: Final = re.compile(
    r"\b(?:wording|words?|phras\w+|tone|style|sentences?|paragraphs?|title|headline|subject|say|mention|reword|rewrite|"
    r"rephrase|sounds?|reads (?:like|as|too)|emojis?|hash-?tags?|exclamation|call (?:it|us)|"
    r"(?:make|keep) it (?:more|less|a bit|much|short|simple|plain|\w+er)|"
    r"too (?:long|short|wordy|formal|informal|casual|dry|stiff|vague|generic|technical|boring|chatty)|"
    r"(?:always|never|don['’]?t|do not) (?:name|quote|promise|compare|repeat|(?:start|begin|end|open) with)|"
    r"klingt|tonfall|stil|überschrift|betreff|absatz|satz|sätze|wort|wörter|formulier\w*|duzen|siezen|ausrufezeichen|"
    r"zu (?:lang|kurz|förmlich|steif|trocken|technisch|werblich))\b|言葉|文体|口調|أسلوب|كلمة",
    re.IGNORECASE,
)
"""Matches reasons about the way texts are written."""


def can_check(rule: str) -> bool:
    """Whether a draft is warned if it breaks a rule. Others are only read by the writer."""
    return bool(_read_rules(rule[:READ_CHARS]))


@lru_cache(maxsize=16)
def standing_rules(lessons: Lessons) -> tuple[Rule, ...]:
    """Return the user's own rules that can be checked. They hold for personal mail, too."""
    found = [
        Rule(kind, each.entry_id, value)
        for each in lessons.standing[-MAX_LESSONS:]
        for kind, value in _read_rules(each.text[:READ_CHARS])
    ]
    return tuple(found[:MAX_RULES])


@lru_cache(maxsize=16)
def rules_from(lessons: Lessons, channel: str) -> tuple[Rule, ...]:
    """Return the rules for this channel. The first lesson of a rule gives its entry id."""
    found: list[Rule] = list(standing_rules(lessons))
    for rejection in lessons.rejections[-MAX_LESSONS:]:
        if is_about_writing(rejection.reason):
            found += _from_words(rejection.reason, rejection.entry_id)
    for asked in lessons.asked[-MAX_LESSONS:]:
        found += (_from_words if asked.confirmed else _in_words)(asked.text, asked.entry_id)
    for refused in lessons.refused_claims[-MAX_LESSONS:]:
        found.append(Rule("claim", refused.entry_id, refused.text))
    unique: dict[tuple[str, str], Rule] = {}
    for rule in found:
        unique.setdefault((rule.kind, rule.value.casefold()), rule)
    return tuple(unique.values())[:MAX_RULES]


def lessons_in_words(lessons: Lessons, channel: str) -> tuple[str, ...]:
    """Return requests that no rule can apply, newest first, and the newest result."""
    asked = [rule.value for rule in rules_in_words(lessons, channel)]
    results = [each.text for each in lessons.results if each.channel == channel]
    return (*asked, *(f"Measured before: {cut(text, MAX_WORDS_CHARS)}" for text in results[-1:]))


def rules_in_words(lessons: Lessons, channel: str) -> tuple[Rule, ...]:
    """Return the channel's requests that no rule can apply, newest first by id."""
    found = [rule for rule in rules_from(lessons, channel) if rule.kind == "words"]
    return tuple(sorted(found, key=lambda rule: rule.entry_id, reverse=True)[:MAX_REMINDERS])


@lru_cache(maxsize=1_024)
def is_about_writing(reason: str) -> bool:
    """Whether a reason is about how texts are written. False in doubt."""
    text = reason[:READ_CHARS]
    return bool(_read_rules(text)) or bool(_ABOUT_TEXTS.search(text) and not _ELSEWHERE.search(text))


def _from_words(said: str, entry: str) -> list[Rule]:
    found = [Rule(kind, entry, value) for kind, value in _read_rules(said[:READ_CHARS])]
    return found or _in_words(said, entry)


def _in_words(said: str, entry: str) -> list[Rule]:
    words = " ".join(said[:READ_CHARS].split())
    return [Rule("words", entry, cut(words, MAX_WORDS_CHARS))] if words else []


def _read_rules(text: str) -> list[tuple[str, str]]:
    """Return the rules that a text states, one per clause. A question states none."""
    quoted = [(match.group(1) or match.group(2)).strip(" .,;:!") for match in _QUOTE.finditer(text)]
    found: list[tuple[str, str]] = []
    for sentence in re.findall(r"[^.!?？\n]+[.!?？\n]?", _QUOTE.sub(_MASK, text)):
        for clause in _CLAUSE.split(sentence):
            held = [quoted.pop(0) for _ in range(clause.count(_MASK))]
            if not sentence.endswith(("?", "？")):
                found += _read_clause(clause.strip(), held)
    return found


def _read_clause(clause: str, quoted: list[str]) -> list[tuple[str, str]]:
    if _FORBIDS.fullmatch(clause):
        return [("phrase", phrase) for phrase in quoted if _is_wording(phrase)]
    if _DEMANDS.fullmatch(clause):
        return [("must", phrase) for phrase in quoted]
    if not quoted and (signed := _DEMANDS_UNQUOTED.fullmatch(clause)) is not None:
        return [("must", signed.group(1).strip())]
    kinds = [(kind, "") for kind, pattern in _REASONS if pattern.fullmatch(clause)]
    unquoted = None if kinds else _FORBIDS_UNQUOTED.fullmatch(clause)
    if unquoted is None:
        return kinds
    words = unquoted.group(1).casefold().split()
    plain = words[1:] if words[0] in ("a", "an", "the") else words
    return [("phrase", unquoted.group(1))] if plain and not _SMALL.intersection(plain) else []


def _is_wording(phrase: str) -> bool:
    return any(word.casefold() not in _SMALL for word in phrase.split())


def first_sentence(text: str) -> str:
    found = [sentence for sentence in sentences(text.strip()[:2_000]) if not is_greeting(sentence)]
    return found[0] if found else ""


_WORD: Final = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]|[^\W\u3041-\u30ff\u3400-\u9fff]+")


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()[:2_000]))


def repeats(text: str, claim: str) -> bool:
    """Whether a statement repeats a claim: it has all its words and numbers."""
    claimed = _words(claim)
    return bool(claimed) and claimed - _SMALL <= _words(text)


# Breaches: where a text breaks the brand's voice or an earlier request.
#
# A breach is a warning about a text that was supplied, and leaves a sentence out of a note. The writer decides about
# the tone.

_SIGNS: Final = {"no_emoji": "emoji", "no_hashtags": "hashtags", "no_exclamation": "exclamation marks"}
_NOT_SAID: Final = "Left out what the brand's voice does not say."


class Breach(Record):
    told: str
    """The warning about a text that has it."""
    why: str
    """What is said of a text that leaves it out."""
    entry_id: str = ""


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_BANNED: Final = _any_case(
    r"\b(?:never|don['’]?t|do not|avoid|no|banned|forbidden|verboten|vermeide|nicht|kein\w*)\b"
    r"(?: (?:say|use|write|words?|the|phrases?|terms?|wörter|wort|sagen|verwenden|like|such|as|saying|using)\b|:)*"
    r"((?:[\s,]*(?:or |and |oder |und )?[\"“”„'‘’「][^\"“”„'‘’「」\n]{2,40}[\"“”'‘’」])+)"
)
_LISTED: Final = r"([\w-]+(?:(?:, (?:and |or )?| and | or )[\w-]+){0,12})"
_BARE_BANNED: Final = _any_case(
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
        elif rule.kind == "must" and rule.value.casefold() not in text.casefold():
            told = f"Lacks “{rule.value}”, which an earlier request asks for."
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
