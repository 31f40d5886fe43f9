"""Finds the title in a supplied text, or makes one from its first words. The text stays as it
is."""

from __future__ import annotations

import re
from typing import Final

from assent.platform.content import cut, one_line, sentences
from assent.platform.values import Record
from assent.suite.channels.channel import Channel
from assent.suite.content.language import is_greeting

_LABELLED: Final = re.compile(
    r"^\s*(?:\*\*)?(?:title|subject|tagline|headline|betreff|titel|件名|الموضوع)(?:\*\*)?\s*[:：]\s*(?:\*\*)?\s*(.+)",
    re.IGNORECASE,
)
_PREHEADER: Final = re.compile(r"^\s*(?:preheader|preview(?: text)?)\s*[:：]\s*(.+)", re.IGNORECASE)
_ENDS: Final = (".", "!", "?", "。", "！", "？")
"""A first line with this ending is a sentence and no headline."""
_HEADING: Final = re.compile(r"^#{1,3}\s+(.+)")


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
