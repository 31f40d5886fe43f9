"""Writes the brief for a person who publishes by hand: where to go, what to paste into which field,
what fits there.

The texts are the approved ones. A field that is too long is marked, never cut. Pure.
"""

from __future__ import annotations

from assent.gate.effects import build_general_form
from assent.gate.records import Effect
from assent.gate.views import HandField, View
from assent.kernel.structs import WireRecord


class PasteField(WireRecord):
    """A text to paste. `fits` is false if the channel would cut or refuse it."""

    field: str
    text: str
    length: int
    limit: int | None
    fits: bool


class ManualBrief(WireRecord):
    """Everything a person needs to publish an effect by hand. `text` is the whole brief."""

    channel: str
    label: str
    where: str
    fields: tuple[PasteField, ...]
    media: tuple[str, ...]
    advice: tuple[str, ...]
    warnings: tuple[str, ...]
    text: str


def manual_brief(effect: Effect, view: View) -> ManualBrief:
    """Return the brief of an effect with its view. A view without a form gets the general one."""
    form = view.by_hand or build_general_form(view.label)
    fields = tuple(
        _to_paste(field, text) for field in form.fields if (text := _read_part(effect, field.source))
    )
    warnings = tuple(
        f"The {field.field} has {field.length} characters; {view.label} takes {field.limit}."
        for field in fields
        if not field.fits
    )
    media = tuple(
        f"{media.kind}: {media.url}" + (f" ({media.alt})" if media.alt else "") for media in effect.media
    )
    return ManualBrief(
        channel=effect.channel,
        label=view.label,
        where=form.where,
        fields=fields,
        media=media,
        advice=form.advice,
        warnings=warnings,
        text=_write(view, form.where, fields, media, (*form.advice, *warnings)),
    )


def _to_paste(field: HandField, text: str) -> PasteField:
    size = len(text) if field.length is None else field.length
    return PasteField(field.name, text, size, field.limit, field.limit is None or size <= field.limit)


def _read_part(effect: Effect, source: str) -> str:
    if source == "recipients":
        return ", ".join(effect.recipients)
    if source.startswith("details."):
        return str(effect.details.get(source.removeprefix("details."), ""))
    return str(getattr(effect, source))


def _write(
    view: View,
    where: str,
    fields: tuple[PasteField, ...],
    media: tuple[str, ...],
    notes: tuple[str, ...],
) -> str:
    what, done = f"Do this by hand: {view.label}.", "3. Do it, then tell your agent that you did."
    if view.mail:
        what, done = "Send this e-mail by hand.", "3. Send it, then tell your agent that you did."
    elif view.has_address:
        what = f"Publish this on {view.label} by hand."
        done = "3. Publish it, copy the address of the live page and tell your agent to record it."
    parts = [what, f"1. Open {where}", "2. Paste each text into its field:"]
    parts += [f"--- {field.field} ---\n{field.text}\n--- end of {field.field} ---" for field in fields]
    parts += [f"Attach {each}" for each in media]
    parts += [f"Note: {note}" for note in notes]
    return "\n\n".join([*parts, done])
