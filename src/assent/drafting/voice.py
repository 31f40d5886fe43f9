"""How the brand speaks, as far as rules can follow it: what its voice says, what its samples show, what memory forbids.

Everything that changes wording goes through `said`, so that a rule holds for every sentence of every draft.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Final

import msgspec

from assent.drafting.counting import addresses, emoji_in, without_emoji
from assent.drafting.evidence import Evidence
from assent.drafting.language import sentences, word_set
from assent.drafting.lessons import Rule


class Voice(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one draft. `used` are the entries that made them."""

    formal: bool = False
    playful: bool = False
    singular: bool = False
    short: bool = False
    british: bool = False
    emoji: str = ""
    no_emoji: bool = False
    no_exclamation: bool = False
    no_hashtags: bool = False
    no_question: bool = False
    plain: bool = False
    banned: tuple[str, ...] = ()
    replace: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[str, str], ...] = ()


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_NO: Final = r"\b(?:no|without|never|avoid|zero|keine?|ohne) (?:\w+ ){0,2}"
_SAYS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "formal",
        _words(
            r"\b(?:formal|professional|serious|sober|sachlich|förmlich|seriös|siezen)\b|丁寧|フォーマル|رسمي"
        ),
    ),
    (
        "playful",
        _words(
            r"\b(?:playful|fun|funny|cheeky|witty|casual|quirky|verspielt|locker|humorvoll|frech)\b"
            r"|遊び心|カジュアル|مرح"
        ),
    ),
    (
        "short",
        _words(
            r"\b(?:short sentences|terse|concise|crisp|brief|punchy|minimal|kurze sätze|knapp|prägnant)\b|簡潔|موجز"
        ),
    ),
    ("british", _words(r"\b(?:british|uk) (?:english|spelling)\b|\ben-gb\b")),
    ("singular", _words(r"\b(?:first[- ]person singular|say i\b|as i\b|solo founder|ich-form)")),
    ("no_emoji", _words(_NO + r"emojis?\b|絵文字(?:なし|は使わ|を使わ)|بدون (?:رموز|إيموجي)")),
    ("no_exclamation", _words(_NO + r"(?:exclamation\w*|ausrufezeichen)")),
    ("no_hashtags", _words(_NO + r"hash-?tags?\b|ハッシュタグ(?:なし|は使わ)|بدون (?:هاشتاغ|وسوم)")),
    ("no_question", _words(_NO + r"(?:questions?|fragen)\b")),
    (
        "plain",
        _words(
            r"\b(?:plain|no hype|understated|no marketing|no buzzwords|nüchtern|keine werbesprache)\b"
            r"|誇張(?:なし|しない)"
        ),
    ),
)
"""What a description of a voice says, and the flag that follows."""
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
"""Kinds of wording that are not words themselves."""

BRITISH: Final[tuple[tuple[str, str], ...]] = (
    (r"\b([Cc])olor(s|ed|ing|ful)?\b", r"\1olour\2"),
    (r"\b([Ff])avor(s|ed|ite|ites|able)?\b", r"\1avour\2"),
    (r"\b([Bb])ehavior(s|al)?\b", r"\1ehaviour\2"),
    (r"\b([Ll])abor(s|ed)?\b", r"\1abour\2"),
    (r"\b([Nn])eighbor(s|hood|ing)?\b", r"\1eighbour\2"),
    (r"\b([Cc])enter(s|ed)?\b", r"\1entre\2"),
    (r"\b([Cc])atalog(s)?\b", r"\1atalogue\2"),
    (
        r"\b([Oo]rgan|[Oo]ptim|[Rr]ecogn|[Ss]ummar|[Pp]ersonal|[Cc]ustom|[Ss]ynchron|[Pp]riorit|[Cc]ategor|[Aa]uthor|"
        r"[Vv]isual|[Mm]inim|[Mm]axim|[Rr]eal|[Aa]nonym|[Ss]tandard)iz(e|es|ed|ing|ation|er|ers)\b",
        r"\1is\2",
    ),
    (r"\b([Aa]nal|[Pp]aral)yz(e|es|ed|ing)\b", r"\1ys\2"),
    (r"\b([Cc]ancel|[Tt]ravel|[Ll]abel|[Mm]odel|[Ss]ignal)(ed|ing|er|ers)\b", r"\1l\2"),
)
"""American to British spelling; `practice` and `license` differ by what they are, and stay."""


def voice_of(evidence: Evidence, rules: tuple[Rule, ...]) -> Voice:
    """The voice of a draft, from brand, samples and memory."""
    said_facts = evidence.of("brand_voice")
    text = "\n".join(fact.text for _, fact in said_facts)
    flags = {name for name, pattern in _SAYS if pattern.search(text)}
    used = {(fact.entry_id, "The brand's voice.") for _, fact in said_facts if fact.entry_id}
    banned = [*banned_words(text)]
    emoji, singular, short, sampled = _from_samples(evidence)
    used |= sampled
    for rule in rules:
        if rule.kind in ("no_emoji", "no_hashtags", "no_exclamation", "no_question", "plain"):
            flags.add(rule.kind)
        elif rule.kind == "shorter":
            flags.add("short")
        elif rule.kind == "phrase":
            banned.append(rule.value)
    return Voice(
        formal="formal" in flags,
        playful="playful" in flags and "formal" not in flags and "plain" not in flags,
        singular=singular or "singular" in flags,
        short=short or "short" in flags,
        british="british" in flags,
        emoji="" if "no_emoji" in flags or "formal" in flags else emoji,
        no_emoji="no_emoji" in flags,
        no_exclamation="no_exclamation" in flags,
        no_hashtags="no_hashtags" in flags,
        no_question="no_question" in flags,
        plain="plain" in flags,
        banned=tuple(dict.fromkeys(word.casefold() for word in banned if len(word) > 1)),
        entries=tuple(sorted(used)),
    )


def banned_words(text: str) -> list[str]:
    """The words that a description of a voice forbids."""
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


def _from_samples(evidence: Evidence) -> tuple[str, bool, bool, set[tuple[str, str]]]:
    """The usual picture, whether one person speaks, whether sentences are short, and the entries that say so."""
    samples = evidence.of("voice_sample")
    if not samples:
        return "", False, False, set()
    text = "\n".join(fact.text for _, fact in samples)
    spoken = sentences(text)
    words = sum(len(sentence.split()) for sentence in spoken) / max(1, len(spoken))
    pictures = Counter(emoji_in(text))
    ones = len(re.findall(r"\b(?:I|my|me|ich|mein\w*)\b", text))
    many = len(re.findall(r"\b(?:we|our|us|wir|unser\w*)\b", text, re.IGNORECASE))
    used = {(fact.entry_id, "A sample of the voice.") for _, fact in samples if fact.entry_id}
    emoji = pictures.most_common(1)[0][0] if pictures else ""
    return emoji, ones > many, 0 < words <= 9, used


def forbids(voice: Voice, text: str) -> bool:
    """Whether a wording holds something that must not be said."""
    flat = text.casefold()
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", flat) for word in voice.banned)


def said(voice: Voice, text: str) -> str:
    """A sentence the way this voice says it; addresses are left alone."""
    if voice.no_emoji:
        text = without_emoji(text)
    pieces, at = [], 0
    for start, end in addresses(text):
        pieces += [_reworded(voice, text[at:start]), text[start:end]]
        at = end
    return "".join([*pieces, _reworded(voice, text[at:])])


def _reworded(voice: Voice, text: str) -> str:
    if voice.no_exclamation:
        text = re.sub(r"!+(?=\s|$|[\"”’)])", ".", text).replace("！", "。")
    if voice.british:
        for pattern, british in BRITISH:
            text = re.sub(pattern, british, text)
    for was, now in voice.replace:
        found = re.compile(rf"(?<!\w){re.escape(was)}(?!\w)", re.IGNORECASE)
        text = found.sub(partial(_cased, now), text)
    return text


def _cased(now: str, was: re.Match[str]) -> str:
    first = was.group()[:1]
    return now[:1].upper() + now[1:] if first.isupper() and not was.group().isupper() else now
