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
from assent_launch.channels.registry import ALIASES, BY_ID
from assent_launch.content.counting import emoji_in
from assent_launch.content.evidence import Evidence
from assent_launch.content.language import is_greeting, word_set


class Rejection(Record, kw_only=True):
    entry_id: str
    reason: str = ""
    channel: str = ""


class Asked(Record, kw_only=True):
    """A request for later drafts, in the words of its author or the recording agent."""

    entry_id: str
    text: str
    confirmed: bool = True
    """Whether a person made or confirmed the request. An unconfirmed one is only a reminder."""
    channel: str = ""
    """The channel of the edit that it came with."""


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
    def stated(self) -> tuple[str, ...]:
        """The user's own rules in words, for a writer."""
        return (
            *(each.text for each in self.standing),
            *(state_claim(each.text) for each in self.refused_claims),
        )

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
    channels: tuple[str, ...] = ()
    """Where it holds; everywhere if it names no channel."""

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

READ_CHARS: Final = 2_000
"""How much of a reason or rule is read."""
MAX_LESSONS: Final = 60
MAX_WORDS_CHARS: Final = 200
MAX_RULES: Final = 120
MAX_REMINDERS: Final = 3
MAX_BREACHES: Final = 10
"""How many broken requests a draft is warned about."""

_LEAD: Final = (
    r"(?:(?:and|but|also|so|just|then|please|we|from\s+now\s+on|und|aber|bitte)\s+)*"
    r"(?:(?:(?:make|keep|write|try)\s+(?:it|this)|there\s+(?:are|is)|(?:it|this)\s+has|has)\s+)?"
)
"""Words before a request that do not change its meaning."""
_TAIL: Final = (
    r"(?:\s+(?:again|any\s?more|ever|at all|here|anywhere|next time|please|thanks|bitte|mehr|in public|"
    r"in (?:(?:any|all) (?:of )?)?(?:\w+ )?(?:posts?|texts?|drafts?|copy)))*$"
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
_CLAUSE: Final = re.compile(
    rf"(?:[.,](?!\d)|[;:!\n])+\s*|\s+(?:but|aber|sondern|and(?! {_MASK})|und(?! {_MASK}))\s+"
)
_LISTED_QUOTES: Final = re.compile(rf"{_MASK}\s*,\s*(?:(and|or|nor|und|oder)\s+)?(?={_MASK})")
_BARE_LIST: Final = re.compile(
    r"\b((?:never|don['’]?t|do not|avoid)\s+(?:(?:say|write|mention)|(?:(?:say|use)\s+)?(?:the\s+)?words?)\s+)"
    r"([\w-]+(?:,\s+[\w-]+){0,12},?\s+(?:or|and|nor)\s+[\w-]+)(?=\W*(?:$|[.;:!\n]|\b(?:on|in)\b))",
    re.IGNORECASE,
)
"""Several words without quotation marks."""
_CHANNEL_NAMES: Final = {
    name: row.id
    for row in BY_ID.values()
    for known in (row.id, row.label, *(each for each, of in ALIASES.items() if of == row.id))
    for name in (known.casefold().replace("_", " "),)
} | {"newsletter": "email"}
_CHANNEL: Final = (
    rf"\b(?:{'|'.join(re.escape(each) for each in sorted(_CHANNEL_NAMES, key=len, reverse=True))})(?=s?\b)"
)
_ONE_CHANNEL: Final = (
    rf"(?:(?:the|our|my|your|any|all|every|each|of|einer?|der|den|dem)\s+)*{_CHANNEL}s?\b"
    r"(?:\s+(?:posts?|texts?|drafts?|copy|updates?|articles?))?"
)
_ON: Final = re.compile(
    rf"\b(?:on|in|for|auf|bei)\s+{_ONE_CHANNEL}"
    rf"(?:(?:\s*,\s*|\s+)(?:(?:and|or|nor|und|oder)\s+)?(?:(?:on|in|for|auf|bei)\s+)?{_ONE_CHANNEL})*",
    re.IGNORECASE,
)
"""Matches the channels that a clause is about."""
_EXCEPT: Final = re.compile(rf"\b(?:except|but not|not|außer) ({_ON.pattern})(?!.*\beither\b)", re.IGNORECASE)
_ALLOWS: Final = re.compile(r"\b(?:fine|ok|okay|allowed|all right|erlaubt|in ordnung)\b", re.IGNORECASE)
"""Matches a sentence that allows elsewhere what another forbids."""
_NAMES: Final = r"(?:the\s+)?(?:words?|phrases?|terms?)"
_CALLS: Final = r"call(?:ing)?\s+(?:it|us|them|this)"
_FORBIDS: Final = re.compile(
    _LEAD + r"(?:(?:(?:never|don['’]?t|do not|stop|no more|avoid)\s+(?:ever\s+)?"
    rf"(?:say(?:ing)?|us(?:e|ing)|writ(?:e|ing)|mention(?:ing)?|{_CALLS})|never|avoid|vermeide\w*|nie(?:mals)?|"
    r"(?:sag|schreib|verwende|nenn)\w*(?:\s+(?:es|uns|bitte))?\s+(?:nie(?:mals)?|nicht))"
    rf"(?:\s+{_NAMES})?(?:\s+(?:such as|like|wie))?)\s+({_MASK}(?:\s+(?:or|and|nor|oder|und)\s+{_MASK})*)"
    rf"(?:\s+(?:sagen|schreiben|verwenden))?(?:\s+(?:for|about)\s+[^{_MASK}]{{1,40}})?{_TAIL}",
    re.IGNORECASE,
)
"""Matches a clause that forbids the quoted wordings at its end."""
_FORBIDS_UNQUOTED: Final = re.compile(
    _LEAD + r"(?:never|don['’]?t|do not|stop|avoid)\s+(?:ever\s+)?"
    rf"(?:say(?:ing)?(?:\s+{_NAMES})?|{_CALLS}|us(?:e|ing)\s+{_NAMES}|{_NAMES}|"
    r"(?:writ(?:e|ing)|mention(?:ing)?|claim(?:ing)?|quot(?:e|ing))(?=\s+\d))\s+"
    r"((?:(?:a|an|the)\s+)?[\w'’-]+(?:\s+[\w'’-]+){0,2}?)" + _TAIL,
    re.IGNORECASE,
)
_SIGNS_AS: Final = (
    r"(?:always\s+)?sign(?:\s+(?:off|it|them|all|every|each|posts?|texts?|e-?mails?|mails?))*\s+(?:as|with)"
)
_DEMANDS: Final = re.compile(
    _LEAD
    + rf"(?:{_SIGNS_AS}|always\s+(?:(?:end|close|finish|start|begin|open)(?:\s+\w+){{0,2}}\s+with|say|write|"
    rf"mention|name|include|add|use|link\s+to|{_CALLS}))(?:\s+(?:the\s+)?(?:words?|phrases?|line|link|name|signature))?\s+"
    rf"({_MASK}(?:\s+(?:and|und)\s+{_MASK})*){_TAIL}",
    re.IGNORECASE,
)
"""Matches a clause that asks for the quoted wordings at its end in every text."""
_BARE_LINK: Final = re.compile(
    r"(\blink\s+to\s+)(?:https?://)?([\w-]+(?:\.[\w-]+)+(?:/[^\s,;]*)?)", re.IGNORECASE
)
"""Matches an address that stands without quotation marks, whose dots would end the clause."""
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


def describe_checks(text: str, *, is_claim: bool = False) -> str:
    """Say what each later text is checked for because of a rule, and on which channels. What is not named is only read
    by the writer."""
    where: dict[tuple[str, ...], list[str]] = {}
    for rule in read_rules(text, "", is_claim=is_claim):
        quoted = f"“{rule.value}”" if rule.value else ""
        named = _SIGNS.get(rule.kind) or (f"the claim {quoted}" if rule.kind == "claim" else quoted)
        if named and named not in where.setdefault(rule.channels, []):
            where[rule.channels].append(named)
    told = (
        f"each later text{_name_channels(channels)} is checked for {', '.join(named)}"
        for channels, named in where.items()
        if named
    )
    return " and ".join(told)


def _name_channels(channels: tuple[str, ...]) -> str:
    others = [each for each in BY_ID if each not in channels] if channels else []
    named, word = (others, "except") if 0 < len(others) < len(channels) else (list(channels), "for")
    return f" {word} {', '.join(BY_ID[each].label for each in named)}" if named else ""


def state_claim(text: str) -> str:
    """Return a refused claim as a rule: in the user's words if they forbid it."""
    said = text[:READ_CHARS]
    is_rule = _name_claim(said) != said or bool(_read_rules(said))
    return text if is_rule else f"Never claim: {text}"


@lru_cache(maxsize=16)
def standing_rules(lessons: Lessons) -> tuple[Rule, ...]:
    """Return the user's own rules that can be checked. They hold for personal mail, too."""
    found = [
        rule for each in lessons.standing[-MAX_LESSONS:] for rule in read_rules(each.text, each.entry_id)
    ]
    for refused in lessons.refused_claims[-MAX_LESSONS:]:
        found += read_rules(refused.text, refused.entry_id, is_claim=True)
    return tuple(found[:MAX_RULES])


@lru_cache(maxsize=16)
def rules_from(lessons: Lessons, channel: str, *, personal: bool = False) -> tuple[Rule, ...]:
    """Return the rules for this channel. The first lesson of a rule gives its entry id. For a personal mail these are
    the user's own rules and why earlier mails were rejected."""
    found: list[Rule] = list(standing_rules(lessons))
    for rejection in lessons.rejections[-MAX_LESSONS:]:
        if (not personal or rejection.channel == channel) and is_about_writing(rejection.reason):
            found += _from_words(rejection.reason, rejection.entry_id, rejection.channel)
    for asked in () if personal else lessons.asked[-MAX_LESSONS:]:
        found += (_from_words if asked.confirmed else _in_words)(asked.text, asked.entry_id, asked.channel)
    unique: dict[tuple[str, str], Rule] = {}
    for rule in found:
        if not rule.channels or channel in rule.channels:
            unique.setdefault((rule.kind, rule.value.casefold()), rule)
    return tuple(unique.values())[:MAX_RULES]


def lessons_in_words(lessons: Lessons, channel: str) -> tuple[str, ...]:
    """Return requests that no rule can apply, newest first, and the newest result."""
    asked = [rule.value for rule in rules_in_words(lessons, channel)]
    results = [each.text for each in lessons.results if each.channel == channel]
    return (*asked, *(f"Measured before: {cut(text, MAX_WORDS_CHARS)}" for text in results[-1:]))


def rules_in_words(lessons: Lessons, channel: str, *, personal: bool = False) -> tuple[Rule, ...]:
    """Return the channel's requests that no rule can apply, newest first by id."""
    found = [rule for rule in rules_from(lessons, channel, personal=personal) if rule.kind == "words"]
    return tuple(sorted(found, key=lambda rule: rule.entry_id, reverse=True)[:MAX_REMINDERS])


@lru_cache(maxsize=1_024)
def is_about_writing(reason: str) -> bool:
    """Whether a reason is about how texts are written. False in doubt."""
    text = reason[:READ_CHARS]
    return bool(_read_rules(text)) or bool(_ABOUT_TEXTS.search(text) and not _ELSEWHERE.search(text))


def _from_words(said: str, entry: str, channel: str) -> list[Rule]:
    return read_rules(said, entry) or _in_words(said, entry, channel)


def _in_words(said: str, entry: str, channel: str) -> list[Rule]:
    words = " ".join(said[:READ_CHARS].split())
    channels = (channel,) if channel else tuple(sorted(_find_channels(words)))
    return [Rule("words", entry, cut(words, MAX_WORDS_CHARS), channels)] if words else []


def read_rules(text: str, entry: str, *, is_claim: bool = False) -> list[Rule]:
    """Return the rules that a memory states. A claim that is to be left out is a rule itself if it states none."""
    found = [Rule(kind, entry, value, channels) for kind, value, channels in _read_rules(text[:READ_CHARS])]
    return found or ([Rule("claim", entry, _name_claim(text))] if is_claim else [])


def _read_rules(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the rules that a text states, one per clause, with the channels that it limits them to. A question
    states none."""
    text = _BARE_LINK.sub(r'\1"\2"', _BARE_LIST.sub(_quote_words, re.sub(r"[^\S\n]+", " ", text)))
    quoted = [(match.group(1) or match.group(2)).strip(" .,;:!") for match in _QUOTE.finditer(text)]
    masked = _LISTED_QUOTES.sub(lambda match: f"{_MASK} {match.group(1) or 'and'} ", _QUOTE.sub(_MASK, text))
    found: list[tuple[str, str, tuple[str, ...]]] = []
    excepted: set[str] = set()
    for sentence in re.findall(r"(?:[^.!?？\n]|\.(?=\d))+[.!?？\n]?", masked):
        read, limits, mentioned = [], set[str](), set[str]()
        for clause in _CLAUSE.split(sentence):
            held = [quoted.pop(0) for _ in range(clause.count(_MASK))]
            for place in _EXCEPT.findall(clause):
                excepted |= _find_channels(place)
            named = _find_channels(clause := _EXCEPT.sub("", clause))
            bare = " ".join(_ON.sub("", clause).split())
            rules = [] if sentence.endswith(("?", "？")) else _read_clause(bare, held)
            if not bare:
                limits |= named
            if not rules:
                mentioned |= named
            read += [(kind, value, named) for kind, value in rules]
        if _ALLOWS.search(sentence):
            excepted |= mentioned
        found += [(kind, value, tuple(sorted(named or limits))) for kind, value, named in read]
    if excepted:
        found = [
            (kind, value, tuple(each for each in channels or BY_ID if each not in excepted))
            for kind, value, channels in found
            if not channels or not excepted.issuperset(channels)
        ]
    return found


def _find_channels(text: str) -> set[str]:
    return {
        _CHANNEL_NAMES[re.sub(r"[\s_]+", " ", name.casefold())]
        for place in _ON.findall(text)
        for name in re.findall(_CHANNEL, place, re.IGNORECASE)
    }


def _quote_words(match: re.Match[str]) -> str:
    words = re.findall(r"[\w'’-]+", match.group(2))
    listed = [word for word in words if word not in ("or", "and", "nor")]
    if _SMALL.union(_GENERAL).intersection(word.casefold() for word in listed):
        return match.group()
    return match.group(1) + " or ".join(f'"{word}"' for word in listed)


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


_JUDGED: Final = re.compile(
    r"(?:(?:never|don['’]?t|do not) claim(?: that)?\s+)?(.+?)"
    r"(?:\s+(?:is|are|has|was|were)(?:n['’]t|\s+(?:not|never))(?:\s+(?:yet|been))*\s+(?:prove[dn]|true|verified|certified))?\W*",
    re.IGNORECASE,
)


def _name_claim(risk: str) -> str:
    """Return a claim without the judgement about it: `carbon neutral` of `"carbon neutral" is not proven.`"""
    found = _JUDGED.fullmatch(risk)
    return found.group(1).strip(" \"'“”„") if found is not None else risk


def repeats(text: str, claim: str) -> bool:
    """Whether a statement repeats a claim: it has all its words and numbers."""
    claimed = _words(claim) - _SMALL
    return bool(claimed) and claimed <= _words(text)


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
            told = f"Has {_SIGNS[rule.kind]}, which an earlier request ruled out."
        elif rule.kind == "phrase" and _says(text, rule.value):
            told = f"Says “{rule.value}”, which an earlier request ruled out."
        elif rule.kind == "must" and rule.value.casefold() not in text.casefold():
            told = f"Lacks “{rule.value}”, which an earlier request asked for."
        elif rule.kind == "claim" and any(repeats(each, rule.value) for each in said):
            told = f"Makes a claim that was refused before: “{cut(rule.value, 80)}”"
        if told:
            found.setdefault(told, Breach(told, rule.why, rule.entry_id))
    known = {rule.value.casefold() for rule in rules}
    for _, fact in evidence.of("brand_voice"):
        # A remembered voice is a rule of the user, and is read as one.
        for word in find_banned_words(fact.text) if fact.entry_id is None else ():
            if word not in known and _says(text, word):
                told = f"Says “{word}”, which the brand's voice does not."
                found.setdefault(told, Breach(told, _NOT_SAID))
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
