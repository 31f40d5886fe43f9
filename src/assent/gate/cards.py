"""The card of an action for the chat, as Markdown.

It shows the whole effect and its destination, then warnings, blockers, and who decides.
"""

from __future__ import annotations

from typing import Final

from assent.gate.card_calls import MANUAL, PLAIN, Circumstances, ask
from assent.gate.domains import with_ascii_form
from assent.gate.mail import is_mail
from assent.gate.records import Action, Effect
from assent.kernel.times import full_time

NAMED_IN_CHAT: Final = 50
"""Most recipients listed one by one. A mail to more has high risk and is decided on its page."""

SENDS_LINK: Final = frozenset({"site", "slack", "bluesky", MANUAL})
"""Connectors that put the link of an effect beside its text."""
HIDES_RECIPIENTS: Final = frozenset({"smtp", "resend"})
"""Connectors that hide the recipients of a mail from each other."""


def readable_body(action: Action, circumstances: Circumstances = PLAIN) -> str:
    """Return the complete text that will be sent, below its other fields."""
    effect = action.effect
    head = [f"{name}: {value}" for name, value in _mail_head(effect)]
    if _has_title(effect):
        head.append(f"Title: {effect.title}")
    head += [f"{name}: {value}" for name, value in _list_extras(action, circumstances)]
    return "\n".join([*head, "", effect.body] if head else [effect.body])


def _has_title(effect: Effect) -> bool:
    """Whether a title is sent besides the subject, also one from the text's first line."""
    return bool(effect.title) and effect.title != effect.subject


def _mail_head(effect: Effect) -> list[tuple[str, str]]:
    shown = ", ".join(map(with_ascii_form, effect.recipients[:NAMED_IN_CHAT]))
    left = len(effect.recipients) - NAMED_IN_CHAT
    to = shown + (f" and {left} more" if left > 0 else "")
    found = {
        "From": with_ascii_form(effect.sender) if effect.sender else "",
        "To": to,
        "Subject": effect.subject,
        "Preview text": effect.preheader,
    }
    return [(name, value) for name, value in found.items() if value]


def _list_extras(action: Action, circumstances: Circumstances) -> list[tuple[str, str]]:
    effect, views = action.effect, circumstances.views
    found = [("Picture", f"{media.alt} ({views.get(media.url, media.url)})") for media in effect.media]
    if effect.link and effect.link not in effect.body and effect.connector in SENDS_LINK:
        found.append(("Link", effect.link))
    if action.schedule_ms is not None:
        passed = ", a time that has passed" if circumstances.overdue else ""
        name = "Planned for" if effect.connector == MANUAL else "Goes out"
        found.append((name, full_time(action.schedule_ms) + passed))
    return found


def goes_to(target: dict[str, str] | None) -> str | None:
    """Describe an account, in the chat and on the page. Its id only if it has no name."""
    if not target or "accountId" not in target or set(target) - {"accountId", "platform", "name"}:
        return None
    named, platform = target.get("name") or target["accountId"], target.get("platform")
    return f"{named} ({platform})" if platform else named


def destination(action: Action, circumstances: Circumstances) -> str | None:
    """Describe the effect's destination: a mail's recipients, else the account."""
    effect = action.effect
    if effect.connector == MANUAL:
        return f"{_label(action, circumstances)}, by your own hand"
    return circumstances.place or (None if is_mail(effect) else goes_to(effect.target))


def render_card(key: str, action: Action, circumstances: Circumstances) -> str:
    """Render the card of an action as Markdown. The content is quoted, so that it cannot pass for
    the server's words."""
    effect = action.effect
    facts = []
    if (where := destination(action, circumstances)) is not None:
        facts.append(("Goes to", where))
    facts += [
        (name, _with_privacy(effect, value) if name == "To" else value) for name, value in _mail_head(effect)
    ]
    if _has_title(effect):
        facts.append(("Title", effect.title))
    facts += _list_extras(action, circumstances)
    found = action.preflight
    facts.append(("Risk", _risk(action)))
    parts = [
        "\n".join([f"**{_label(action, circumstances)}**", *(f"- {name}: {value}" for name, value in facts)]),
        quote(effect.body),
    ]
    notes = [f"- Check: {warning.removeprefix('Check this claim: ')}" for warning in found.warnings]
    notes += [f"- Advice: {advice}" for advice in found.recommendations]
    if notes:
        parts.append("\n".join(notes))
    if (blocked := explain_block(action, circumstances)) is not None:
        parts.append(blocked)
    if (ending := ask(key, action, circumstances)) is not None:
        parts.append(ending)
    return "\n\n".join(parts)


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _risk(action: Action) -> str:
    cost = action.preflight.estimated_cost_credits
    return str(action.preflight.severity) + (f", costs {cost} credits" if cost else "")


def _label(action: Action, circumstances: Circumstances) -> str:
    return circumstances.label or action.effect.channel.replace("_", " ").capitalize()


def _with_privacy(effect: Effect, to: str) -> str:
    several = len(effect.recipients) > 1
    if several and effect.connector in HIDES_RECIPIENTS:
        return f"{to} ({len(effect.recipients)} people; they do not see each other)"
    return to


def explain_block(action: Action, circumstances: Circumstances) -> str | None:
    """Explain why it cannot be delivered yet, with the link that helps."""
    if (
        circumstances.expired
        or circumstances.blocker is None
        or action.status not in ("awaiting_approval", "approved")
    ):
        return None
    said = f"**It cannot go out yet.** {circumstances.blocker}"
    if circumstances.unfit:
        return said
    if circumstances.help_url:
        return f"{said} Connect it ({circumstances.help_url}) or do it by hand."
    return f"{said} You can do it by hand."
