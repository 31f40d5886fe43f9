"""Differences between two revisions of an action, field by field. Pure.

Compares every field of `Effect`, including fields added later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from assent.gate.records import Effect, Media
from assent.kernel.canonical import short_digest
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.serving.web.review.matching import Steps
from assent.serving.web.review.times import when
from assent.serving.web.review.word_diff import Piece, word_diff
from assent.serving.web.review.words import channel_name, connector_name

LABELS: Final = {
    "channel": "Channel",
    "verb": "What is done",
    "connector": "Through",
    "sender": "From",
    "recipients": "To",
    "subject": "Subject",
    "preheader": "Preview",
    "title": "Title",
    "target": "Goes to",
    "media": "Picture",
    "link": "Link",
    "details": "Details",
    "body": "Text",
    "html": "HTML part",
}
"""Labels of the fields, in display order."""


class FieldChange(Record):
    label: str
    pieces: tuple[Piece, ...]


def compare_fields(
    old: Effect, new: Effect, now_ms: int, steps: Steps | None = None
) -> tuple[FieldChange, ...]:
    names = [*LABELS, *(name for name in Effect.__struct_fields__ if name not in LABELS)]
    return tuple(
        FieldChange(
            LABELS.get(name, name.replace("_ms", "").replace("_", " ").capitalize()),
            word_diff(_words(name, before, now_ms), _words(name, after, now_ms), steps),
        )
        for name in names
        if (before := getattr(old, name)) != (after := getattr(new, name))
    )


def _words(name: str, value: Any, now_ms: int) -> str:
    if name == "channel":
        return channel_name(value)
    if name == "connector":
        return connector_name(value)
    if value is None or value == ():
        return ""
    if isinstance(value, int):
        return when(value, now_ms).text if name.endswith("_ms") else str(value)
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {to_text(part)}" for key, part in value.items())
    if isinstance(value, tuple):
        return "\n".join(_picture(each) if isinstance(each, Media) else str(each) for each in value)
    return str(value)


def _picture(media: Media) -> str:
    """Identify a picture: two may share a description."""
    which = short_digest(media.digest) if media.digest else media.url
    return f"{media.kind}: {media.alt or 'no description'} ({which})"
