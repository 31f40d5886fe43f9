"""Fits a text to a channel without rewording it, written by the calling agent, a model or this server.

Splits the text into posts or adds a title where the channel needs it. Checks it against the
channel's limits, the evidence and the lessons.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

import msgspec

from assent.platform import cut, one_line, sentences
from assent.sdk import Record
from assent_launch.channels.channel import Channel, check
from assent_launch.channels.registry import BY_ID
from assent_launch.content import threads
from assent_launch.content.claims import claims_in, warnings_for
from assent_launch.content.counting import addresses
from assent_launch.content.evidence import Evidence, find_name
from assent_launch.content.language import RIGHT_TO_LEFT, UNKNOWN, detect_language, is_greeting
from assent_launch.content.lessons import (
    MAX_BREACHES,
    NOTHING_LEARNED,
    Lessons,
    find_breaches,
    rules_from,
    rules_in_words,
)
from assent_launch.content.records import SUPPLIED, CheckedText, MemoryUse, ProductFacts, Written

MAX_REMINDERS: Final = 8
QUOTED: Final = "Quoted in the draft."
_LABELLED: Final = re.compile(
    r"^\s*(?:\*\*)?(?:title|subject|tagline|headline|betreff|titel|件名|الموضوع)(?:\*\*)?\s*[:：]\s*(?:\*\*)?\s*(.+)",
    re.IGNORECASE,
)
_PREHEADER: Final = re.compile(r"^\s*(?:preheader|preview(?: text)?)\s*[:：]\s*(.+)", re.IGNORECASE)
_ENDS: Final = (".", "!", "?", "。", "！", "？")
"""A first line with this ending is a sentence and no headline."""
_HEADING: Final = re.compile(r"^#{1,3}\s+(.+)")


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

    A `personal` e-mail is checked against its channel, the user's own rules and the reasons for which earlier ones
    were rejected, not against claims and other lessons.
    """
    row = BY_ID[channel_id]
    rules = rules_from(lessons, channel_id, personal=personal)
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
    breaches = find_breaches(given.body, evidence, rules)[:MAX_BREACHES]
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


def adapt_written(channel_id: str, written: Written, facts: ProductFacts) -> CheckedText:
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


def remind(made: CheckedText, lessons: Lessons, *, personal: bool = False) -> CheckedText:
    """Add the lessons that no rule can apply to the draft's recommendations."""
    asked = rules_in_words(lessons, made.channel, personal=personal)
    return msgspec.structs.replace(
        made,
        recommendations=(*made.recommendations, *(rule.why for rule in asked)),
        memory_used=(*made.memory_used, *(MemoryUse(rule.entry_id, rule.why) for rule in asked)),
    )


class TitledText(Record):
    title: str
    body: str
    preheader: str = ""


def split_title(row: Channel, text: str, title: str, name: str) -> TitledText:
    """Return title and body. A labelled first line (“Subject: …”) or a heading is the title."""
    body, preheader = text.strip(), ""
    if row.title is None:
        return TitledText("", body)
    title = one_line(title, 2_000)
    first, _, rest = body.partition("\n")
    labelled = _LABELLED.match(first) or (_HEADING.match(first) if row.action and not title else None)
    if labelled and rest.strip():
        title = title or one_line(labelled.group(1), 2_000).strip("* ")
        body = rest.strip()
    if row.shape == "email":
        first, _, rest = body.partition("\n")
        if (found := _PREHEADER.match(first)) and rest.strip():
            preheader, body = one_line(found.group(1)), rest.strip()
    kept = (
        row.shape == "email"
        or not row.action
        or (not title and body.partition("\n")[0].rstrip().endswith(_ENDS))
    )
    title = title or _derive_title(row, body, name)
    return TitledText(title, body if kept else _without_title(title, body), preheader)


def _without_title(title: str, body: str) -> str:
    """Remove a first line that repeats the title, unless the rest of the body has no words."""
    first, _, rest = body.partition("\n")
    same = _plain(first) == _plain(title)
    return rest.strip() if same and len(rest.split()) > 1 else body


def _plain(line: str) -> str:
    return one_line(line, 2_000).strip("#* .。").casefold()


def _derive_title(row: Channel, body: str, name: str) -> str:
    most = min(row.title.most if row.title is not None else 80, row.title_advice or 1_000)
    lines = [line.strip() for line in body.splitlines() if line.strip() and not is_greeting(line.strip())]
    for sentence in sentences("\n".join(lines))[:3]:
        text = one_line(re.sub(r"^[#>*•-]+\s*", "", sentence), 2_000).rstrip(".。 ")
        if text:
            return cut(text, most)
    return cut(name, most)


# Renders the HTML part of an e-mail from its text. Everything is escaped.

_STYLE: Final = (
    "font-family:-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5"
)
_HIDDEN: Final = "display:none;max-height:0;overflow:hidden;opacity:0"


def mail_html(body: str, *, preheader: str = "", language: str = "en") -> str:
    """Return the text as HTML: paragraphs, lists from lines with a dash, links."""
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    code = language if language != "und" else "en"
    hidden = f'<div style="{_HIDDEN}">{escape(preheader)}</div>\n' if preheader else ""
    blocks = "\n".join(_block(block) for block in re.split(r"\n\s*\n", body.strip()) if block.strip())
    return (
        f'<!doctype html>\n<html lang="{escape(code)}" dir="{direction}">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"></head>\n'
        f'<body style="margin:0;padding:24px">\n{hidden}<div style="max-width:600px;margin:0 auto;{_STYLE}">\n'
        f"{blocks}\n</div>\n</body>\n</html>\n"
    )


def _block(block: str) -> str:
    lines: list[str] = []
    items: list[str] = []
    out: list[str] = []

    def flush() -> None:
        if lines:
            out.append("<p>" + "<br>\n".join(lines) + "</p>")
            lines.clear()
        if items:
            out.append("<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>")
            items.clear()

    for line in block.splitlines():
        if bullet := re.match(r"^\s*[-*•・]\s+(.+)", line):
            if lines:
                flush()
            items.append(_inline(bullet.group(1)))
        else:
            if items:
                flush()
            lines.append(_inline(line))
    flush()
    return "\n".join(out)


def _inline(text: str) -> str:
    pieces, at = [], 0
    for start, end in addresses(text):
        address = text[start:end]
        pieces.append(escape(text[at:start]))
        if address.lower().startswith(("http://", "https://")):
            pieces.append(f'<a href="{escape(address)}">{escape(address)}</a>')
        else:
            pieces.append(escape(address))
        at = end
    return "".join([*pieces, escape(text[at:])])
