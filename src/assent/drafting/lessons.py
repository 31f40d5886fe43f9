"""What earlier launches taught (rejected wordings, edits, numbers, refused claims) and the rules that follow from it.

The rules are deterministic, so that the same memory always shapes a draft the same way and the answer can name the
entry behind each change. What cannot be read from a reason still counts: the draft opens
differently from the rejected one. Learning from edits has a number of steps: an edit that cannot be compared within
them teaches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import msgspec

from assent.drafting.counting import emoji_in
from assent.drafting.language import sentences, word_set
from assent.drafting.matching import Steps, compare, likeness
from assent.drafting.statements import is_greeting


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a human turned down, and why."""

    entry_id: str
    text: str
    reason: str = ""
    channel: str = ""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """What a human made of a text."""

    entry_id: str
    before: str
    after: str
    channel: str = ""


class Performance(msgspec.Struct, frozen=True, kw_only=True):
    """What came back for a text that led with an angle (`Composed.angle`)."""

    entry_id: str
    channel: str
    angle: str
    metric: str
    value: float


class RefusedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that must not be made again."""

    entry_id: str
    text: str


class Lessons(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the brain has learned, newest last."""

    rejections: tuple[Rejection, ...] = ()
    edits: tuple[Edit, ...] = ()
    performance: tuple[Performance, ...] = ()
    refused_claims: tuple[RefusedClaim, ...] = ()


class Rule(msgspec.Struct, frozen=True):
    """One rule, the entry it comes from, and what it says in a sentence."""

    kind: str
    entry_id: str
    value: str = ""
    after: str = ""

    @property
    def why(self) -> str:
        value = ANGLE_NAMES.get(self.value, self.value) if self.kind == "angle" else self.value
        return RULES[self.kind].replace("{value}", value).replace("{after}", self.after)


RULES: Final[dict[str, str]] = {
    "no_emoji": "Written without emoji: an earlier draft was changed or rejected over them.",
    "no_hashtags": "Written without hashtags: an earlier draft was changed or rejected over them.",
    "no_exclamation": "Written without exclamation marks: they were taken out or rejected before.",
    "no_question": "Ends without a question: an earlier draft was rejected over it.",
    "plain": "Kept plain: an earlier draft was rejected as too promotional.",
    "shorter": "Kept shorter: an earlier draft was too long.",
    "phrase": "Avoids “{value}”, which was rejected before.",
    "opening": "Opens differently from a draft that was rejected or rewritten.",
    "replace": "Says “{after}” where “{value}” was edited before.",
    "angle": "Leads with {value}, which brought the most {after} before.",
    "claim": "Leaves out a claim that was refused before.",
}
"""Every rule that can follow from memory, and how it is told."""

ANGLE_NAMES: Final = {
    "change": "what is new",
    "value": "what it is",
    "audience": "whom it is for",
    "proof": "a proof",
    "feature": "a single feature",
}

MAX_LESSONS: Final = 60
MAX_PHRASE_CHARS: Final = 80
MAX_RULES: Final = 120

EDIT_STEPS: Final = 100_000
"""Comparisons for one edit: several times what 1,500 words of prose with a hundred changes take."""
SENTENCE_STEPS: Final = 10_000
"""Comparisons for two sentences of 80 words."""
LESSON_STEPS: Final = 500_000
"""Comparisons for all edits together, the newest first: about 50 ms."""

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
            r"\b(?:sales-?y|hype|hypey|marketing|promotional|pushy|cheesy|cringe|corporate|buzzword\w*|clickbait\w*|"
            r"too loud|overselling|oversells|werblich|reißerisch|marktschreier\w*|floskel\w*)\b|宣伝|煽|دعائي",
            re.IGNORECASE,
        ),
    ),
    (
        "shorter",
        re.compile(
            r"\b(?:too long|shorter|shorten|long-winded|wordy|cut it|zu lang|kürzer|kürzen)\b|長すぎ|短く|طويل|أقصر",
            re.IGNORECASE,
        ),
    ),
)
"""What a reason says about a text, and the rule that follows."""
_QUOTED: Final = re.compile(
    r"[\"“”„«‚‘「『]([^\"“”„«»‘’「」『』\n]{2,80})[\"”“»’」』]|(?<!\w)'([^'\n]{2,80})'(?!\w)"
)
_UNQUOTED: Final = re.compile(
    r"\b(?:never|don['’]?t|do not|stop|avoid|without|drop|remove|no) (?:ever )?"
    r"(?:say(?:ing)?|us(?:e|ing)|writ(?:e|ing)|call(?:ing)?(?: it)?|the (?:word|phrase|term)s?)"
    r"(?: the (?:word|phrase|term)s?)? ([\w'’-]+(?: [\w'’-]+){0,3}?)"
    r"(?=[.,;:!?]|$| (?:again|because|any ?more|please|it|in|for|so|and)\b)",
    re.IGNORECASE,
)
_SMALL: Final = word_set(
    "the a an and or of to in for with on is are it its this that we you our your i der die das ein eine und oder zu "
    "mit auf ist sind es wir"
)
_TOKEN: Final = re.compile(r"https?://\S+|[\w'’-]+|[^\w\s]")


@lru_cache(maxsize=16)
def rules_from(lessons: Lessons, channel: str) -> tuple[Rule, ...]:
    """Every rule that follows for a draft on this channel; the first of a kind names its entry."""
    found: list[Rule] = []
    for rejection in lessons.rejections[-MAX_LESSONS:]:
        found += _from_rejection(rejection)
    steps = Steps(LESSON_STEPS)
    newest_first = [_from_edit(edit, steps) for edit in reversed(lessons.edits[-MAX_LESSONS:])]
    for learned in reversed(newest_first):
        found += learned
    for refused in lessons.refused_claims[-MAX_LESSONS:]:
        found.append(Rule("claim", refused.entry_id, refused.text))
    found += _from_performance(lessons.performance, channel)
    unique: dict[tuple[str, str], Rule] = {}
    for rule in found:
        key = (rule.kind, rule.value.casefold())
        if rule.kind == "replace" or key not in unique:
            # The newest edit of a wording wins, the first rejection of it is enough.
            unique[key] = rule
    return tuple(unique.values())[:MAX_RULES]


def ranked_channels(channels: Iterable[str], lessons: Lessons) -> tuple[str, ...]:
    """The channels with the one that worked best first; those without numbers keep their order behind it."""
    best: dict[str, float] = {}
    for result in lessons.performance:
        best[result.channel] = max(best.get(result.channel, 0.0), result.value)
    return tuple(sorted(channels, key=lambda channel: -best.get(channel, 0.0)))


def _from_rejection(rejection: Rejection) -> list[Rule]:
    reason, entry = rejection.reason[:2_000], rejection.entry_id
    found = [Rule(kind, entry) for kind, words in _REASONS if words.search(reason)]
    for match in _QUOTED.finditer(reason):
        phrase = (match.group(1) or match.group(2)).strip(" .,;:!")
        found.append(Rule("phrase", entry, phrase[:MAX_PHRASE_CHARS]))
    for match in _UNQUOTED.finditer(reason):
        phrase = match.group(1).strip()
        if not any(kind != "phrase" and words.search(phrase) for kind, words in _REASONS):
            found.append(Rule("phrase", entry, phrase[:MAX_PHRASE_CHARS]))
    if opening := first_sentence(rejection.text):
        found.append(Rule("opening", entry, opening))
    return found


def _from_edit(edit: Edit, steps: Steps) -> list[Rule]:
    before, after, entry = edit.before[:20_000], edit.after[:20_000], edit.entry_id
    found = []
    if emoji_in(before) and not emoji_in(after):
        found.append(Rule("no_emoji", entry))
    if re.search(r"#\w", before) and not re.search(r"#\w", after):
        found.append(Rule("no_hashtags", entry))
    if "!" in before and "!" not in after:
        found.append(Rule("no_exclamation", entry))
    if len(after) < 0.6 * len(before):
        found.append(Rule("shorter", entry))
    kept = {_flat(sentence) for sentence in sentences(after)}
    opening = first_sentence(before)
    if opening and similarity(opening, first_sentence(after)) < 0.5:
        found.append(Rule("opening", entry, opening))
    return found + [
        Rule("replace", entry, old, new)
        for old, new in replacements(before, after, steps)
        if _flat(old) not in kept
    ]


def replacements(before: str, after: str, steps: Steps | None = None) -> list[tuple[str, str]]:
    """Short wordings that were exchanged for others; none where the steps do not suffice to find out. Numbers,
    addresses and names of one launch are not voice."""
    old, new = _TOKEN.findall(before)[:1_500], _TOKEN.findall(after)[:1_500]
    most = EDIT_STEPS if steps is None else min(EDIT_STEPS, steps.left)
    mine = Steps(most)
    compared = list(compare(old, new, mine))
    if steps is not None:
        steps.take(most - max(0, mine.left))
    if mine.used_up:
        return []
    found = []
    for kind, i, j, k, m in compared:
        was, now = old[i:j], new[k:m]
        if kind != "replace" or len(was) > 4 or len(now) > 6:
            continue
        if any(not re.fullmatch(r"[^\W\d_][\w'’-]*", token) for token in was + now):
            continue
        if all(token.casefold() in _SMALL for token in was):
            continue
        found.append((" ".join(was), " ".join(now)))
    return found[:20]


def _from_performance(results: Iterable[Performance], channel: str) -> list[Rule]:
    mine = [result for result in results if result.value > 0 and result.angle in ANGLE_NAMES]
    here = [result for result in mine if result.channel == channel] or mine
    if not here:
        return []
    best = max(here, key=lambda result: result.value)
    return [Rule("angle", best.entry_id, best.angle, best.metric)]


def first_sentence(text: str) -> str:
    """How a text begins, after its greeting."""
    found = [sentence for sentence in sentences(text.strip()[:2_000]) if not is_greeting(sentence)]
    return found[0] if found else ""


def similarity(one: str, other: str) -> float:
    """How alike two sentences are by their words, from 0 to 1."""
    if not one or not other:
        return 0.0
    first, second = _TOKEN.findall(one.casefold())[:80], _TOKEN.findall(other.casefold())[:80]
    return likeness(first, second, Steps(SENTENCE_STEPS))


def _flat(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()
