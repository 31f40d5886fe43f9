"""Fits a text to a channel without rewording it, whoever wrote it: the calling agent, a model or this server.

Splits the text into posts or adds a title where the channel needs it. Checks it against the
channel's limits, the evidence and the lessons.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.suite.channels.channel import check
from assent.suite.channels.registry import BY_ID
from assent.suite.content import threads
from assent.suite.content.claims import claims_in, warnings_for
from assent.suite.content.evidence import Evidence
from assent.suite.content.language import UNKNOWN, detect_language
from assent.suite.content.lessons import NOTHING_LEARNED, Lessons, rules_from, rules_in_words
from assent.suite.content.mail_html import mail_html
from assent.suite.content.naming import find_name
from assent.suite.content.records import SUPPLIED, CheckedText, Facts, MemoryUse, Written
from assent.suite.content.supplied import split_title
from assent.suite.content.voice import find_breaches

MAX_REMINDERS: Final = 8
QUOTED: Final = "Quoted in the draft."


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
) -> CheckedText:
    """Return the text as a draft; `problems` lists what the channel would refuse. `title` is the
    subject of an e-mail.

    A `personal` e-mail is checked against its channel only, not against claims and lessons.
    """
    row = BY_ID[channel_id]
    rules = () if personal else rules_from(lessons, channel_id)
    given = split_title(row, text, title, find_name(evidence))
    language = detect_language(given.body)
    language = evidence.language if language == UNKNOWN else language
    mail = row.shape == "email"
    preheader = (preheader or given.preheader) if mail else ""
    parts = threads.split(given.body, row.body.most, row.body.count) if row.splits else ()
    read = (given.title, given.body) if title else (given.body,)
    found = () if personal else claims_in(read, evidence)
    checked = check(row, given.body, title=given.title, preheader=preheader, parts=parts)
    problems = checked.problems
    if len(parts) > threads.MOST_PARTS:
        problems = (*problems, f"A thread of {len(parts)} posts; {row.label} takes {threads.MOST_PARTS}.")
    breaches = () if personal else find_breaches(given.body, evidence, rules)[:MAX_REMINDERS]
    return CheckedText(
        channel=channel_id,
        body="\n\n".join(parts) if len(parts) > 1 else given.body,
        title="" if mail else given.title,
        subject=given.title if mail else "",
        preheader=preheader,
        html=mail_html(given.body, preheader=preheader, language=language) if mail else "",
        parts=parts if len(parts) > 1 else (),
        claims=found,
        warnings=(*problems, *warnings_for(found, evidence), *(each.told for each in breaches)),
        recommendations=checked.advice,
        problems=problems,
        memory_used=tuple(MemoryUse(each.entry_id, each.told) for each in breaches if each.entry_id),
        language=language,
        source=source,
    )


def adapt_written(channel_id: str, written: Written, facts: Facts) -> CheckedText:
    """Check the text of a writer like a supplied one, and name the memory behind it."""
    made = adapt(
        channel_id,
        written.body,
        facts.evidence,
        facts.lessons,
        title=written.title,
        preheader=written.preheader,
        source=written.source,
    )
    broken = {use.entry_id for use in made.memory_used}
    kept = [use for use in written.left_out if use.entry_id not in broken]
    quoted = {each.entry_id: QUOTED for claim in made.claims for each in claim.evidence if each.entry_id}
    used = {use.entry_id: use.how for use in (*kept, *made.memory_used)} | quoted
    advice = BY_ID[channel_id].note.advice
    return msgspec.structs.replace(
        made,
        warnings=(*written.warnings, *made.warnings),
        recommendations=(
            *(use.how for use in kept),
            *([advice] if advice else []),
            *made.recommendations,
        ),
        memory_used=tuple(MemoryUse(entry, how) for entry, how in used.items()),
    )


def remind(made: CheckedText, lessons: Lessons) -> CheckedText:
    """Add the lessons that no rule can apply to the draft's recommendations."""
    asked = rules_in_words(lessons, made.channel)
    return msgspec.structs.replace(
        made,
        recommendations=(*made.recommendations, *(rule.why for rule in asked)),
        memory_used=(*made.memory_used, *(MemoryUse(rule.entry_id, rule.why) for rule in asked)),
    )
