"""Fits a text that the calling agent or a model wrote to a channel, without rewording it.

Splits the text into posts or adds a title where the channel needs it. Checks it against the
channel's limits, the evidence and the lessons.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.platform.content import cut
from assent.suite.channels.channel import check
from assent.suite.channels.registry import BY_ID
from assent.suite.content import threads
from assent.suite.content.claims import claims_in, warnings_for
from assent.suite.content.counting import emoji_in
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import UNKNOWN, detect_language, sentences
from assent.suite.content.lessons import NOTHING_LEARNED, Lessons, Rule, repeats, rules_from, rules_in_words
from assent.suite.content.mail_html import mail_html
from assent.suite.content.naming import find_name
from assent.suite.content.records import SUPPLIED, Composed, MemoryUse
from assent.suite.content.supplied import split_title
from assent.suite.content.voice import Voice, forbids, read_voice

MAX_REMINDERS: Final = 8
_SIGNS: Final = {"no_emoji": "emoji", "no_hashtags": "hashtags", "no_exclamation": "exclamation marks"}


def adapt(
    channel_id: str,
    text: str,
    evidence: Evidence,
    lessons: Lessons = NOTHING_LEARNED,
    *,
    title: str = "",
    preheader: str = "",
    source: str = SUPPLIED,
    personal: bool = False,
) -> Composed:
    """Return the text as a draft; `problems` lists what the channel would refuse. `title` is the
    subject of an e-mail.

    A `personal` e-mail is checked against its channel only, not against claims and lessons.
    """
    row = BY_ID[channel_id]
    rules = () if personal else rules_from(lessons, channel_id)
    given = split_title(row, text, title, find_name(evidence)[0])
    language = detect_language(given.body)
    language = evidence.language if language == UNKNOWN else language
    mail = row.shape == "email"
    preheader = (preheader or given.preheader) if mail else ""
    parts = threads.split(given.body, row.body.most, row.body.count) if row.splits else ()
    read = "\n".join([given.title, given.body]) if title else given.body
    found = () if personal else claims_in(read, evidence)
    checked = check(row, given.body, title=given.title, preheader=preheader, parts=parts)
    problems = checked.problems
    if len(parts) > threads.MOST_PARTS:
        problems = (*problems, f"A thread of {len(parts)} posts; {row.label} takes {threads.MOST_PARTS}.")
    reminders, used = ((), ()) if personal else _reminders(given.body, read_voice(evidence, rules), rules)
    return Composed(
        channel=channel_id,
        body="\n\n".join(parts) if len(parts) > 1 else given.body,
        title="" if mail else given.title,
        subject=given.title if mail else "",
        preheader=preheader,
        html=mail_html(given.body, preheader=preheader, language=language) if mail else "",
        parts=parts if len(parts) > 1 else (),
        claims=found,
        warnings=(*problems, *warnings_for(found, evidence), *reminders),
        recommendations=checked.advice,
        problems=problems,
        memory_used=used,
        language=language,
        source=source,
    )


def remind(made: Composed, lessons: Lessons) -> Composed:
    """Add the lessons that no rule can apply to the draft's recommendations."""
    asked = rules_in_words(lessons, made.channel)
    return msgspec.structs.replace(
        made,
        recommendations=(*made.recommendations, *(rule.why for rule in asked)),
        memory_used=(*made.memory_used, *(MemoryUse(rule.entry_id, rule.why) for rule in asked)),
    )


def _reminders(
    text: str, voice: Voice, rules: tuple[Rule, ...]
) -> tuple[tuple[str, ...], tuple[MemoryUse, ...]]:
    """List where the text breaks a rule or the voice, and the memory entries behind it."""
    has = {
        "no_emoji": bool(emoji_in(text)),
        "no_hashtags": "#" in text,
        "no_exclamation": "!" in text or "！" in text,
    }
    said = sentences(text)
    told: dict[str, str] = {}
    for rule in rules:
        says = rule.value and forbids(Voice(banned=(rule.value.casefold(),)), text)
        if has.get(rule.kind):
            reminder = f"Has {_SIGNS[rule.kind]}, which an earlier request rules out."
        elif rule.kind == "phrase" and says:
            reminder = f"Says “{rule.value}”, which an earlier request rules out."
        elif rule.kind == "claim" and any(repeats(each, rule.value) for each in said):
            reminder = f"Makes a claim that was refused before: “{cut(rule.value, 80)}”"
        else:
            continue
        told.setdefault(reminder, rule.entry_id)
    used = {entry: reminder for reminder, entry in told.items()}
    known = {rule.value.casefold() for rule in rules}
    for word in voice.banned:
        if word not in known and forbids(Voice(banned=(word,)), text):
            told.setdefault(f"Says “{word}”, which the brand's voice does not.", "")
    return tuple(told)[:MAX_REMINDERS], tuple(MemoryUse(entry, how) for entry, how in used.items())
