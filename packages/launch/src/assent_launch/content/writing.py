"""Gathers help for the writer of a text: facts with their sources, the voice, and lessons.

The writer is the calling agent or a model. The facts are whole sentences of the evidence, and few
of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assent.platform import cut, sentences
from assent.sdk import Record
from assent_launch.content.evidence import Evidence
from assent_launch.content.lessons import Lessons, lessons_in_words, rules_from

MOST_FACTS: Final = 10
MOST_CHARS: Final = 1_000
"""The most characters of all facts together."""
MOST_SENTENCE_CHARS: Final = 240
MOST_LESSONS: Final = 5
MOST_EDITS: Final = 3
MOST_EDIT_CHARS: Final = 300

_USEFUL: Final[tuple[tuple[int, tuple[str, ...]], ...]] = (
    (4, ("whatChanged",)),
    (2, ("readme", "page_description", "og_description", "page_text")),
    (1, ("targetCustomer", "brand_audience")),
    (2, ("proof", "repo_fact", "told_fact")),
    (3, ("readme_feature", "heading", "brand_pillar")),
    (2, ("commit",)),
)
"""How many facts of which sources, the most useful first."""


class FactTold(Record):
    text: str
    source: str


class EditTold(Record):
    channel: str
    before: str
    after: str


class Writing(Record, kw_only=True, omit_defaults=True):
    """The facts, voice and lessons for a writer. `channels.needs` has the channel's limits."""

    goal: str = ""
    link: str = ""
    facts: tuple[FactTold, ...] = ()
    voice: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Standing requests of the user, word for word. The text has to obey each."""
    lessons: tuple[str, ...] = ()
    edits: tuple[EditTold, ...] = ()
    """What people changed lately in texts for these channels."""


def gather_writing(
    channel_ids: Iterable[str],
    evidence: Evidence,
    lessons: Lessons,
    *,
    goal: str = "",
) -> Writing:
    wanted = tuple(channel_ids)
    learned = (said for each in wanted for said in _list_lessons(lessons, each))
    voice = (_beginning(fact.text) for _, fact in evidence.of("brand_voice", "voice_sample"))
    return Writing(
        goal=goal or evidence.first("launchGoal"),
        link=evidence.product_url,
        facts=_facts(evidence),
        voice=tuple(dict.fromkeys(filter(None, voice)))[:3],
        rules=lessons.stated,
        edits=tuple(
            EditTold(each.channel, cut(each.before, MOST_EDIT_CHARS), cut(each.after, MOST_EDIT_CHARS))
            for channel in wanted
            for each in [each for each in lessons.edits if each.channel == channel][-MOST_EDITS:]
        ),
        lessons=tuple(dict.fromkeys(learned))[:MOST_LESSONS],
    )


def _list_lessons(lessons: Lessons, channel: str) -> tuple[str, ...]:
    rules = rules_from(lessons, channel)
    said = (_ASKED[rule.kind].replace("{value}", rule.value) for rule in rules if rule.kind in _ASKED)
    return (*lessons_in_words(lessons, channel), *said)


_ASKED: Final[dict[str, str]] = {
    "no_emoji": "No emoji.",
    "no_hashtags": "No hashtags.",
    "no_exclamation": "No exclamation marks.",
    "plain": "Plain words, nothing promotional.",
    "shorter": "Keep it short.",
    "phrase": "Do not say “{value}”.",
    "claim": "Do not claim “{value}”.",
    "must": "Always have “{value}” in it.",
}


def _facts(evidence: Evidence) -> tuple[FactTold, ...]:
    """Return the most useful facts, a share of each group, until `MOST_CHARS` is reached."""
    told: dict[str, FactTold] = {}
    room = MOST_CHARS
    for share, sources in _USEFUL:
        taken = 0
        for _, fact in evidence.of(*sources):
            text = _beginning(fact.text)
            if taken == share or len(told) == MOST_FACTS:
                break
            if text and text.casefold() not in told and len(text) <= room:
                told[text.casefold()] = FactTold(text, fact.source)
                taken, room = taken + 1, room - len(text)
    return tuple(told.values())


def _beginning(text: str) -> str:
    """Return the first whole sentences of a text; empty if the first is too long."""
    kept: list[str] = []
    for sentence in sentences(text):
        if sum(map(len, kept)) + len(sentence) > MOST_SENTENCE_CHARS:
            break
        kept.append(sentence)
    return " ".join(kept)
