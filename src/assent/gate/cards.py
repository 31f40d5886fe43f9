"""The card of an action for the chat: Markdown, commands, and their calls.

The card shows the whole effect and its destination, then warnings, blockers, and who decides. Pure: present facts
(rights, policy, connection) are passed as `Circumstances`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assent.gate.domains import with_ascii_form
from assent.gate.mail import is_mail
from assent.gate.records import Action, Effect, is_by_hand
from assent.gate.step_calls import WORKFLOW
from assent.kernel.limits import HOUR_MS
from assent.kernel.times import full_time

NAMED_IN_CHAT: Final = 50
"""Most recipients listed one by one. A mail to more has high risk and is decided on its page."""

MANUAL: Final = "manual"
EDIT: Final = "chieflab_edit_action"
UNPUBLISH: Final = "unpublish"
"""The verb of an action that removes a published page."""
SENDS_LINK: Final = frozenset({"site", "slack", "bluesky", MANUAL})
"""Connectors that put the link of an effect beside its text."""
HIDES_RECIPIENTS: Final = frozenset({"smtp", "resend"})
"""Connectors that hide the recipients of a mail from each other."""


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """Present facts that are not stored with the action."""

    label: str = ""
    """The channel's name for people."""
    place: str | None = None
    """The destination if it is no account: the address of this server's feed."""
    blocker: str | None = None
    """Why it cannot be delivered yet, in a sentence for the person."""
    help_url: str | None = None
    """The page that removes the blocker."""
    nameable: bool = False
    """Whether only the account is missing, and a new check would bind one."""
    unfit: bool = False
    """Whether the content must be changed before it can be approved."""
    may_edit: bool = True
    may_decide: bool = True
    """Whether this caller can approve this action in the chat."""
    may_execute: bool = True
    may_write: bool = True
    """Whether this caller may prepare drafts and connect providers."""
    who_decides: str | None = None
    review_url: str | None = None
    views: dict[str, str] = {}
    """URLs that show the pictures to a person who is not signed in, by picture URL."""
    overdue: bool = False
    """Whether its scheduled time has passed. It needs a new time before it can be approved."""
    expired: bool = False
    """Whether it can no longer be approved or sent."""


PLAIN: Final = Circumstances()
"""No obstacles."""


def readable_body(action: Action, circumstances: Circumstances = PLAIN) -> str:
    """Return the complete text that will be sent, below its other fields."""
    effect = action.effect
    head = [f"{name}: {value}" for name, value in _mail_head(effect)]
    if _has_title(effect):
        head.append(f"Title: {effect.title}")
    head += [f"{name}: {value}" for name, value in _alongside(action, circumstances)]
    return "\n".join([*head, "", effect.body] if head else [effect.body])


def _has_title(effect: Effect) -> bool:
    """Whether a title is sent besides the subject, including one made from the first line of the text."""
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


def _alongside(action: Action, circumstances: Circumstances) -> list[tuple[str, str]]:
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
    """Describe the destination of the effect. A mail goes to its recipients; its account is the sender's."""
    effect = action.effect
    if effect.connector == MANUAL:
        return f"{_label(action, circumstances)}, by your own hand"
    return circumstances.place or (None if is_mail(effect) else goes_to(effect.target))


def render_card(key: str, action: Action, circumstances: Circumstances) -> str:
    """Render the card of an action as Markdown. The content is quoted, so that it cannot pass for the server's
    words."""
    effect = action.effect
    facts = []
    if (where := destination(action, circumstances)) is not None:
        facts.append(("Goes to", where))
    facts += [
        (name, _with_privacy(effect, value) if name == "To" else value) for name, value in _mail_head(effect)
    ]
    if _has_title(effect):
        facts.append(("Title", effect.title))
    facts += _alongside(action, circumstances)
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


def ask(key: str, action: Action, circumstances: Circumstances) -> str | None:
    """Tell the person which commands work now, or who decides instead."""
    if action.execution_state == "outcome_unknown":
        link = f" {circumstances.review_url}" if circumstances.review_url else ""
        seen = "If you see it there, tell me where. If not, s" if circumstances.may_edit else "S"
        return f"It is not known whether it went out. {seen}ay so on the review page.{link}"
    if circumstances.expired:
        return None if action.effect.connector == WORKFLOW else _after_expiry(action, circumstances)
    if action.status == "approved":
        return _after_approval(key, action, circumstances)
    if action.status != "awaiting_approval":
        return None
    if circumstances.unfit and circumstances.may_edit:
        return "Tell me what to change; it can be approved after that."
    if circumstances.overdue and circumstances.may_edit:
        return "Its time has passed. Tell me when it should go out; it can be approved after that."
    if circumstances.may_decide:
        if action.effect.verb == UNPUBLISH:
            return f"Say “approve {key}” or “reject {key}”."
        return f"Say “approve {key}”, “reject {key}”, or what to change."
    link = f" {circumstances.review_url}" if circumstances.review_url else ""
    editable = circumstances.may_edit and action.effect.verb != UNPUBLISH
    change = " You can still tell me what to change." if editable else ""
    return f"{circumstances.who_decides or 'It is decided on the review page.'}{link}{change}"


def _after_expiry(action: Action, circumstances: Circumstances) -> str:
    said = "It has expired and does not go out any more. Tell me if you want it prepared again."
    return f"{said} If you did it by hand, tell me that." if is_by_hand_only(action, circumstances) else said


def is_by_hand_only(action: Action, circumstances: Circumstances) -> bool:
    """Whether an action was approved and only a person can perform it."""
    stuck = circumstances.blocker is not None and not circumstances.unfit
    return action.status == "approved" and (action.effect.connector == MANUAL or stuck)


def _after_approval(key: str, action: Action, circumstances: Circumstances) -> str | None:
    effect = action.effect
    if action.execution_state not in ("none", "retryable") or effect.connector == WORKFLOW:
        return None
    link = f" {circumstances.review_url}" if circumstances.review_url else ""
    if effect.connector == MANUAL:
        if not circumstances.may_execute:
            return f"Do it by hand. This chat may not record it; record it on the review page.{link}"
        done = BY_MAIL if is_mail(effect) else BY_HAND
        return f"It is planned for {full_time(action.schedule_ms)}. {done}" if action.schedule_ms else done
    if circumstances.blocker is not None:
        return None
    if action.schedule_ms is not None and not circumstances.overdue:
        return f"It goes out on {full_time(action.schedule_ms)}. Until then say “withdraw {key}” to stop it."
    if not circumstances.may_execute:
        return f"This chat may not send it. Open the review page and send it there.{link}"
    return f"Say “send {key}” and it goes out, or “withdraw {key}”."


BY_HAND: Final = "Publish it by hand, then tell me the address where it is."
BY_MAIL: Final = "Send it from your own mail program, then tell me that you did."


def describe_decision(move: str, key: str, action: Action, circumstances: Circumstances) -> str:
    """Tell the person what a decision did, without a promise that cannot be kept now."""
    if move == "withdraw":
        return "Stopped. Nothing was sent. It waits for your decision as it was."
    if action.status == "rejected":
        return "Rejected. It will never be sent; the reason is kept. I can write another version."
    if action.status == "awaiting_approval":
        if move == "approve":
            return "Your yes is recorded. It still needs the yes of another person."
        if circumstances.may_decide:
            return "This is the new version. It waits for your approval."
        return f"This is the new version. {circumstances.who_decides or 'It is decided on the review page.'}"
    if circumstances.blocker is not None:
        how = f" Connect it here: {circumstances.help_url}" if circumstances.help_url else ""
        return f"Approved. It cannot be sent yet: {circumstances.blocker}{how}"
    ending = _after_approval(key, action, circumstances)
    return f"Approved. Nothing has been sent yet. {ending or ''}".rstrip()


def describe_stuck(action: Action, circumstances: Circumstances, now_ms: int) -> str | None:
    """Explain what keeps a scheduled action from being delivered; None if nothing does or it has no future time."""
    due_ms, blocker = action.schedule_ms, circumstances.blocker
    if action.status != "approved" or blocker is None or due_ms is None or due_ms <= now_ms:
        return None
    how = f" Connect it here: {circumstances.help_url}" if circumstances.help_url else ""
    return f"Approved for {full_time(due_ms)}, but it cannot go out yet: {blocker}{how}"


def describe_outcome(action: Action, label: str, measured_after_ms: int | None) -> str:
    """Describe what was delivered and where, and when its results arrive."""
    effect = action.effect
    name = label or effect.channel
    if is_by_hand(action):
        said = f"Recorded as done by hand: {name}."
    elif effect.verb == UNPUBLISH:
        return f"Taken down: {action.external_url or name}"
    elif is_mail(effect):
        people = len(effect.recipients)
        said = f"Sent to {effect.recipients[0] if people == 1 else f'{people} people'}: “{effect.subject}”."
    else:
        said = f"Published: {name}."
    if action.external_url:
        said += f" {action.external_url}"
    hours = round((measured_after_ms or 0) / HOUR_MS)
    return said + (f"\nResults arrive in about {hours} hours." if hours else "")
