"""Differences between two revisions of an action, field by field. Pure.

Compares every field of `Effect`, including fields added later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from assent.extensions.texts import render_value
from assent.gate.effects import EffectTypes
from assent.gate.records import Effect, Media
from assent.kernel.canonical import short_digest
from assent.kernel.structs import Record
from assent.kernel.texts import to_text
from assent.serving.web.review.matching import Steps
from assent.serving.web.shell.times import when
from assent.serving.web.shell.word_diff import Piece, word_diff

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
    effects: EffectTypes,
    old: Effect,
    new: Effect,
    now_ms: int,
    steps: Steps | None = None,
    labels: Mapping[str, str] | None = None,
) -> tuple[FieldChange, ...]:
    """`labels`: those of arguments, by name. The text form of arguments is not compared beside them."""
    has_arguments = bool(old.arguments or new.arguments)
    left_out = {"arguments", *(("body",) if has_arguments else ())}
    names = [*LABELS, *(name for name in Effect.__struct_fields__ if name not in LABELS)]
    of_arguments = _compare_arguments(old, new, steps, labels or {})
    return of_arguments + tuple(
        FieldChange(
            LABELS.get(name, name.replace("_ms", "").replace("_", " ").capitalize()),
            word_diff(_words(effects, name, before, now_ms), _words(effects, name, after, now_ms), steps),
        )
        for name in names
        if name not in left_out and (before := getattr(old, name)) != (after := getattr(new, name))
    )


def _compare_arguments(
    old: Effect, new: Effect, steps: Steps | None, labels: Mapping[str, str]
) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(labels.get(name, name), word_diff(render_value(before), render_value(after), steps))
        for name in dict.fromkeys([*labels, *old.arguments, *new.arguments])
        if (before := old.arguments.get(name)) != (after := new.arguments.get(name))
    )


def _words(effects: EffectTypes, name: str, value: Any, now_ms: int) -> str:
    if name == "channel":
        return effects.page_label(value)
    if name == "connector":
        return effects.connector(value).label
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
