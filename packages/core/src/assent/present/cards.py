"""The card of an action for the chat, as Markdown. Pages draw it from `serving.web.review.content`.

It shows the whole effect and its destination, then warnings, blockers, and who decides.

Also the brief for a person who publishes by hand: where to go, what to paste into which field, what fits there. The
texts are the approved ones; a field that is too long is marked, never cut.
"""

from __future__ import annotations

from typing import Final

from assent.gate.effects import build_general_form
from assent.gate.preflight import is_overdue
from assent.gate.records import OPEN, Action, Effect, why_stopped
from assent.gate.rules.drift import describe_changes, read_changes
from assent.gate.views import Block, Diff, Facts, HandField, Table, Text, View
from assent.kernel.canonical import short_digest
from assent.kernel.domains import with_ascii_form
from assent.kernel.limits import MAX_DIALOG_CHARS
from assent.kernel.structs import WireRecord
from assent.kernel.texts import name_unseen
from assent.kernel.times import zoned_time
from assent.present.next_steps import PLAIN, Circumstances, ask
from assent.present.status_report import describe_test

NAMED_IN_CHAT: Final = 50
"""Most recipients listed one by one. A mail to more has high risk and is decided on its page."""


INTO_BCC: Final = "Put the recipients into Bcc, so that they do not see each other."


def _has_title(effect: Effect) -> bool:
    """Whether a title is sent besides the subject, also one from the text's first line."""
    return bool(effect.title) and effect.title != effect.subject


def _mail_head(action: Action) -> list[tuple[str, str]]:
    effect, sees = action.effect, say_who_sees(action)
    shown = ", ".join(map(with_ascii_form, effect.recipients[:NAMED_IN_CHAT]))
    left = len(effect.recipients) - NAMED_IN_CHAT
    to = shown + (f" and {left} more" if left > 0 else "")
    found = {
        "From": with_ascii_form(effect.sender) if effect.sender else "",
        "Reply to": with_ascii_form(effect.reply_to) if effect.reply_to else "",
        "To": f"{to} ({sees})" if sees else to,
        "Cc": ", ".join(map(with_ascii_form, effect.cc)),
        "Subject": effect.subject,
        "Preview text": effect.preheader,
    }
    return [(name, value) for name, value in found.items() if value]


def _list_extras(action: Action, circumstances: Circumstances) -> list[tuple[str, str]]:
    effect, view, pictures = action.effect, action.view, circumstances.views
    found = [("Picture", f"{media.alt} ({pictures.get(media.url, media.url)})") for media in effect.media]
    if effect.link and effect.link not in effect.body and view.sends_link:
        found.append(("Link", effect.link))
    if action.tenant_id is not None:
        found.append(("For", action.tenant_id))
    if said := describe_test(action):
        found.append(("Test", said))
    if (why := why_stopped(action)) is not None:
        found.append(("Stopped", f"the yes to this was taken back{f': “{why}”' if why else ''}"))
    return found


def list_due(action: Action, overdue: bool) -> list[tuple[str, str]]:
    """Return the line with the time of an action, which stands first wherever it appears; none without one."""
    if action.schedule_ms is None:
        return []
    passed = ", a time that has passed" if overdue and action.status in OPEN else ""
    return [("Not before", zoned_time(action.schedule_ms, action.effect.schedule_offset) + passed)]


def begin_with_due(action: Action, now_ms: int) -> str:
    """Return the words with which a line about an open action begins if it has a time; else empty."""
    found = list_due(action, is_overdue(action, now_ms)) if action.status in OPEN else []
    return "".join(f"{label} {value}: " for label, value in found)


def goes_to(target: dict[str, str] | None) -> str | None:
    """Describe an account, in the chat and on the page. Its id only if it has no name."""
    if not target or "accountId" not in target or set(target) - {"accountId", "platform", "name"}:
        return None
    named, platform = target.get("name") or target["accountId"], target.get("platform")
    return f"{named} ({platform})" if platform else named


def destination(action: Action) -> str | None:
    """Describe the effect's destination unless it is a message, whose recipients are listed."""
    return action.view.place or (None if action.view.mail else goes_to(action.effect.target))


def render_card(action: Action, circumstances: Circumstances) -> str:
    """Render the card of an action as Markdown: the content, then what can be done."""
    parts = [render_content(action, circumstances)]
    if (blocked := explain_block(action, circumstances)) is not None:
        parts.append(blocked)
    if (ending := ask(action, circumstances)) is not None:
        parts.append(ending)
    return "\n\n".join(parts)


def render_content(action: Action, circumstances: Circumstances = PLAIN) -> str:
    """Render an action's effect with its warnings as Markdown. The content is quoted, so that it cannot
    pass for the server's words."""
    effect = action.effect
    facts = list_due(action, circumstances.overdue)
    # The label of a channel says what happens. That of an operator does not: it may have many functions.
    said = "" if action.view.preview.kind == "arguments" else action.view.noun
    if action.view.title not in ("", said):
        facts.append(("Action", action.view.title))
    if (where := destination(action)) is not None:
        facts.append(("Goes to", where))
    facts += _mail_head(action)
    if _has_title(effect):
        facts.append(("Title", effect.title))
    facts += _list_extras(action, circumstances)
    found = action.preflight
    facts.append(("Risk", _risk(action)))
    parts = [
        "\n".join(
            [
                f"**{action.view.label}**",
                *(f"- {name}: {value}" for name, value in facts),
            ]
        ),
        quote(effect.body),
        *(quote(write_block(block)) for block in action.view.blocks),
    ]
    notes = [f"- Check: {warning.removeprefix('Check this claim: ')}" for warning in found.warnings]
    notes += [f"- Advice: {advice}" for advice in found.recommendations]
    if notes:
        parts.append("\n".join(notes))
    if changes := read_changes(action):
        parts.append(f"**Changed since it was shown or approved:** {describe_changes(changes)}.")
    return "\n\n".join(parts)


def render_question(action: Action) -> str:
    """Render the content for a client's dialog, which may show it as plain text. Invisible characters
    are named."""
    about = f"Revision {action.revision}, content {short_digest(action.digest)}"
    return name_unseen(f"{render_content(action)}\n\n{about}")


def explain_unshown(action: Action, place: str) -> str:
    """Say what a place with text alone, such as a dialog, cannot show of an action; empty if it shows it whole."""
    effect, people = action.effect, len(action.effect.everyone)
    shows = (
        ("its picture", bool(effect.media)),
        ("its HTML part", bool(effect.html)),
        (f"its {people} recipients", people > NAMED_IN_CHAT),
    )
    return next((f"{place} cannot show {what}." for what, is_there in shows if is_there), "")


def explain_no_dialog(action: Action) -> str | None:
    """Explain why a client's dialog cannot show an action whole; None if it can."""
    if why := explain_unshown(action, "A dialog"):
        return why
    if len(render_question(action)) > MAX_DIALOG_CHARS:
        return "It is too long for a dialog."
    return None


def write_block(block: Block) -> str:
    """Write what a type shows beside the content as plain text, complete. Values are indented, so that
    none can look like an argument, and invisible characters are named."""
    match block:
        case Facts(rows):
            found = "\n".join(_write_fact(label, value) for label, value in rows)
        case Text(label, text, _):
            found = f"{label}:\n{_indent(text)}"
        case Table(label, columns, rows):
            found = "\n".join([f"{label}:", *(_indent(" | ".join(row)) for row in (columns, *rows))])
        case Diff(label, before, after):
            found = f"{label}, before:\n{_indent(before)}\n{label}, after:\n{_indent(after)}"
    return name_unseen(found)


def _write_fact(label: str, value: str) -> str:
    return f"{label}: {value}" if len(value.splitlines()) <= 1 else f"{label}:\n{_indent(value)}"


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _risk(action: Action) -> str:
    cost = action.preflight.estimated_cost_credits
    final = ", cannot be undone" if action.effect.arguments and action.view.undo is None else ""
    return f"{action.preflight.severity}{final}{f', costs {cost} credits' if cost else ''}"


def say_who_sees(action: Action) -> str:
    """Say of several people whether they see each other; empty of one, and where it is not known."""
    people = len(action.effect.everyone)
    if people > 1 and action.effect.is_open:
        return f"{people} people; they see each other"
    hides = people > 1 and action.view.hides_recipients
    return f"{people} people; they do not see each other" if hides else ""


def describe_foreign_sender(sender: str, own: str) -> str:
    """Warn of a sender who is not of the workspace. An edit finds stored warnings by their words."""
    return f"{sender} is not an address of this workspace, which sends as {own}. Check that you may write as that."


def describe_unproven(passage: str) -> str:
    """Warn of a sentence about something that no action of the workspace did."""
    return f"“{passage}” Unproven: no executed action of this workspace did that. Check that it has happened."


def explain_block(action: Action, circumstances: Circumstances) -> str | None:
    """Explain why it cannot be delivered yet, with the link that helps."""
    if (
        circumstances.expired
        or circumstances.obstacle is None
        or action.status not in ("awaiting_approval", "approved")
    ):
        return None
    if circumstances.frozen:
        return f"**Nothing goes out now.** {circumstances.frozen}"
    if circumstances.missing:
        return f"**It cannot go out.** {circumstances.blocker}"
    said = f"**It cannot go out yet.** {circumstances.blocker}"
    if circumstances.unfit:
        return said
    if circumstances.help_url:
        return f"{said} Connect it ({circumstances.help_url}) or do it by hand."
    return f"{said} You can do it by hand."


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


def manual_brief(effect: Effect, view: View, first: str = "") -> ManualBrief:
    """Return the brief of an effect with its view, with what is to be done `first`. A view without a form gets the
    general one."""
    form = view.by_hand or build_general_form(view.label)
    fields = tuple(
        _to_paste(field, text) for field in form.fields if (text := _read_part(effect, field.source))
    )
    warnings = tuple(
        f"The {field.field} has {field.length} characters; {view.label} takes {field.limit}."
        for field in fields
        if not field.fits
    )
    hidden = view.mail and len(effect.everyone) > 1 and not effect.is_open
    advice = (*form.advice, INTO_BCC) if hidden else form.advice
    media = tuple(
        f"{media.kind}: {media.url}" + (f" ({media.alt})" if media.alt else "") for media in effect.media
    )
    return ManualBrief(
        channel=effect.channel,
        label=view.label,
        where=form.where,
        fields=fields,
        media=media,
        advice=advice,
        warnings=warnings,
        text=_write(effect, view, first, form.where, fields, media, (*advice, *warnings)),
    )


def _to_paste(field: HandField, text: str) -> PasteField:
    size = len(text) if field.length is None else field.length
    return PasteField(field.name, text, size, field.limit, field.limit is None or size <= field.limit)


def _read_part(effect: Effect, source: str) -> str:
    if source in ("recipients", "cc"):
        return ", ".join(getattr(effect, source))
    if source.startswith("details."):
        return str(effect.details.get(source.removeprefix("details."), ""))
    return str(getattr(effect, source))


def _write(
    effect: Effect,
    view: View,
    first: str,
    where: str,
    fields: tuple[PasteField, ...],
    media: tuple[str, ...],
    notes: tuple[str, ...],
) -> str:
    what, done = f"Do this by hand: {view.label}.", "3. Do it, then tell me that you did."
    if view.mail:
        what, done = "Send this e-mail by hand.", "3. Send it, then tell me that you did."
    elif view.has_address:
        what = f"Publish this on {view.label} by hand."
        done = "3. Publish it, then tell me the address where it is."
    due = []
    if effect.schedule_ms is not None:
        due = [f"Not before: {zoned_time(effect.schedule_ms, effect.schedule_offset)}"]
    parts = [*due, *filter(None, [first]), what, f"1. Open {where}", "2. Paste each text into its field:"]
    parts += [f"--- {field.field} ---\n{field.text}\n--- end of {field.field} ---" for field in fields]
    parts += [f"Attach {each}" for each in media]
    parts += [f"Note: {note}" for note in notes]
    return "\n\n".join([*parts, done])
