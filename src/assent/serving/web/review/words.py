"""Describes an action: its type, effect, risk with its reason, and approval.

An approval that an agent relayed is never worded like a person's (C8). Pure.
"""

from __future__ import annotations

import re
from typing import Final

from assent.gate.card_calls import UNPUBLISH
from assent.gate.domains import with_ascii_form
from assent.gate.mail import MAIL_VERBS
from assent.gate.names import name_by_link
from assent.gate.policy import Policy, suffices
from assent.gate.preflight import (
    BLOCKING_GATES,
    HIGH_VERBS,
    LOW_CONNECTORS,
    MANY_RECIPIENTS,
    TOO_MANY_TODAY,
    blocking_gate,
    is_expired,
)
from assent.gate.records import Action, Approval, Assurance, Effect, Severity
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    state_of,
)
from assent.kernel.structs import Record
from assent.kernel.texts import truncate
from assent.suite.connectors.registry import CONNECTORS

SENDS_NOTHING: Final = frozenset({"manual", "workflow"})
"""Connectors through which the server sends nothing: a person publishes, or an agent continues."""

CONTACTS: Final = "contacts"
NAMES_IN_A_SENTENCE: Final = 3
SUMMARY_CHARS: Final = 110

CHANNELS: Final = {
    "bluesky": "Bluesky",
    "slack": "Slack",
    "contacts": "Contact",
    "email": "E-mail",
    "facebook": "Facebook",
    "hn": "Hacker News",
    "instagram": "Instagram",
    "linkedin": "LinkedIn",
    "product_hunt": "Product Hunt",
    "reddit": "Reddit",
    "site": "Your site",
    "threads": "Threads",
    "tiktok": "TikTok",
    "x": "X",
}
KINDS: Final = {"post": "post", "publish": "post", "email": "message", "send": "message"}
CONNECTOR_LABELS: Final = {info.id: info.label for info in CONNECTORS}

GATES: Final = {
    "human_approval": "A human approves it",
    "recipients_missing": "It has recipients (none are named yet)",
    "connector_not_ready": "Its connector is ready (it was not when this was prepared)",
}


MISSING: Final = {
    "recipients_missing": "It has no recipients. Press “Edit” and add whom it goes to.",
}
"""Problems that block approval, where the page has its own words for them."""


class Badge(Record):
    """A label and its tone: ok, warn, danger or none."""

    text: str
    tone: str = ""


STATES: Final = {
    AWAITING: Badge("Waits for approval", "warn"),
    APPROVED: Badge("Approved", "ok"),
    EXECUTING: Badge("Being sent", "info"),
    UNKNOWN: Badge("Outcome unknown", "danger"),
    RETRYABLE: Badge("Approved, not sent yet", "warn"),
    REJECTED: Badge("Rejected"),
    EXECUTED: Badge("Done", "ok"),
    FAILED: Badge("Refused by the provider", "danger"),
}

SEVERITIES: Final = {
    Severity.LOW: Badge("Low risk"),
    Severity.MEDIUM: Badge("Medium risk", "info"),
    Severity.HIGH: Badge("High risk", "danger"),
}

ASSURANCES: Final = {
    Assurance.AGENT: "An agent said that its user approved, in a chat. The server did not see a human decide.",
    Assurance.LINK: "The server knows the link, which the agent holds too, and not the person.",
    Assurance.CLIENT: "The user answered in their client’s own dialog.",
    Assurance.PERSON: "They were signed in on this server.",
    Assurance.PASSKEY: "They were signed in on this server, with a passkey.",
}

UNSURE: Final = {
    Assurance.AGENT: "Approval relayed by an agent",
    Assurance.LINK: "Approved over the review link",
}
"""Approvals that may be the agent's own (C8). They have the tone of a warning."""

LOOK_AT: Final = {
    "bluesky": "https://bsky.app/profile",
    "facebook": "https://www.facebook.com/me",
    "hn": "https://news.ycombinator.com/newest",
    "instagram": "https://www.instagram.com/",
    "linkedin": "https://www.linkedin.com/in/me/recent-activity/all/",
    "product_hunt": "https://www.producthunt.com/my/products",
    "reddit": "https://www.reddit.com/user/me/submitted/",
    "threads": "https://www.threads.com/",
    "tiktok": "https://www.tiktok.com/",
    "x": "https://x.com/home",
}
"""Where an account's own posts are listed."""

NEEDED: Final = {
    Assurance.AGENT: "anyone with the link",
    Assurance.LINK: "anyone with the link",
    Assurance.CLIENT: "someone who answers in their client’s own dialog",
    Assurance.PERSON: "a signed-in person",
    Assurance.PASSKEY: "a person signed in with a passkey",
}


def channel_name(channel: str) -> str:
    return CHANNELS.get(channel, channel.replace("_", " ").strip().capitalize() or "Action")


def connector_name(connector: str) -> str:
    return CONNECTOR_LABELS.get(connector, connector)


_WEB: Final = re.compile(r"https?://[^/\s]", re.IGNORECASE)


def web_address(url: str | None) -> str | None:
    """The URL if a link may lead to it."""
    return url if url is not None and _WEB.match(url) else None


def title(effect: Effect) -> str:
    """Name the action in two words."""
    if effect.verb in MAIL_VERBS and effect.channel == "email":
        return "E-mail"
    if effect.connector == "workflow":
        return "Step of a workflow"
    if effect.verb == UNPUBLISH:
        return "Page to take down"
    if effect.channel == CONTACTS:
        return f"Contact in {connector_name(effect.connector)}"
    return f"{channel_name(effect.channel)} {KINDS.get(effect.verb, effect.verb.replace('_', ' '))}"


def is_mail(effect: Effect) -> bool:
    return effect.verb in MAIL_VERBS or bool(effect.recipients or effect.subject)


def describe_effect(effect: Effect) -> str:
    """Say in one sentence what an approval permits."""
    through = connector_name(effect.connector)
    if effect.connector == "manual":
        return (
            f"The server sends nothing. You take the text, publish it on {channel_name(effect.channel)} yourself and "
            "say where it is."
        )
    if effect.connector == "workflow":
        return "Lets your agent go on past this step of its workflow. Nothing is sent."
    if effect.verb in MAIL_VERBS:
        return f"Sends this to {people_named(effect.recipients)}{_sender(effect)} through {through}."
    if effect.channel == CONTACTS:
        return f"Creates this contact in {through}{_account(effect)}, or updates the one with the same e-mail address."
    if effect.verb == UNPUBLISH:
        return "Takes this page down. Its address says that it is gone; its text and numbers are kept."
    if effect.connector == "site":
        return "Publishes this on your own site, where everybody can read it."
    if effect.verb in KINDS:
        return f"Posts this to {channel_name(effect.channel)}{_account(effect)} through {through}."
    return f"Does “{effect.verb.replace('_', ' ')}” on {channel_name(effect.channel)} through {through}."


def destination(effect: Effect) -> str:
    if effect.connector == "workflow":
        return "Lets an agent go on"
    if effect.verb in MAIL_VERBS:
        return f"To {people_named(effect.recipients)}"
    if effect.connector == "manual":
        return f"By hand on {channel_name(effect.channel)}"
    if effect.verb == UNPUBLISH:
        return "Off your own site"
    return f"To {channel_name(effect.channel)}{_account(effect)}"


def word_for_done(effect: Effect) -> str:
    """The label of the completed action."""
    if effect.connector == "workflow":
        return "Confirmed"
    if effect.verb in MAIL_VERBS:
        return "Sent"
    if effect.channel == CONTACTS:
        return "Saved"
    if effect.verb == UNPUBLISH:
        return "Taken down"
    return "Published" if effect.verb in KINDS else "Done"


def people_named(recipients: tuple[str, ...]) -> str:
    """`2 people: a@example.org, b@example.org`, shortened past three."""
    if not recipients:
        return "no one yet (recipients are missing)"
    if len(recipients) == 1:
        return with_ascii_form(recipients[0])
    shown = ", ".join(map(with_ascii_form, recipients[:NAMES_IN_A_SENTENCE]))
    more = len(recipients) - NAMES_IN_A_SENTENCE
    return f"{len(recipients)} people: {shown}" + (f" and {more} more" if more > 0 else "")


def _sender(effect: Effect) -> str:
    return f" from {with_ascii_form(effect.sender)}" if effect.sender else ""


def _account(effect: Effect) -> str:
    account = (effect.target or {}).get("account") or (effect.target or {}).get("name")
    return f" as {account}" if account else ""


def explain_severity(action: Action) -> str:
    """The rule of C8 that gave this action its severity."""
    effect, severity = action.effect, action.preflight.severity
    if severity is Severity.HIGH:
        if effect.verb in HIGH_VERBS:
            return f"A {effect.verb} cannot be taken back."
        if len(effect.recipients) > MANY_RECIPIENTS:
            return f"It goes to {len(effect.recipients)} people, which is more than {MANY_RECIPIENTS}."
        if TOO_MANY_TODAY in action.preflight.warnings:
            return TOO_MANY_TODAY
        return "The risk was declared when it was prepared."
    if severity is Severity.LOW:
        return (
            "Nothing leaves for another service."
            if effect.connector != "site"
            else "It stays on your own site."
        )
    if effect.connector in LOW_CONNECTORS:
        return (
            "There are warnings."
            if action.preflight.warnings
            else "The risk was declared when it was prepared."
        )
    if effect.verb in MAIL_VERBS:
        return f"It goes to other people, at most {MANY_RECIPIENTS}."
    if effect.channel == CONTACTS:
        return "It changes what another service keeps about a person."
    return "It is published under your name."


def status_badge(action: Action, now_ms: int) -> Badge:
    """An approval by an agent or a link does not look like a person's."""
    if is_expired(action, now_ms):
        return Badge("Expired")
    state = state_of(action)
    if state == EXECUTED:
        return Badge(word_for_done(action.effect), "ok")
    if state == APPROVED and action.approval is not None and action.approval.assurance in UNSURE:
        return Badge(UNSURE[action.approval.assurance], "warn")
    return STATES[state]


def name_approver(approval: Approval) -> str:
    """Name the approver, worded by assurance."""
    if approval.assurance is Assurance.AGENT:
        return f"Approval relayed by {agent_name(approval.by)}"
    if approval.assurance is Assurance.LINK:
        return f"Approval by {name_by_link(approval.by)}"
    return approval.by


def agent_name(by: str) -> str:
    """Name a caller from the journal in words."""
    if by.startswith("key:"):
        return f"an agent with key {by.removeprefix('key:')}"
    known = {"local": "an agent on this machine", "approve_and_send": "the server, as approved"}
    return known.get(by, by)


def needs(policy: Policy, severity: Severity) -> str:
    """The approval that the workspace requires."""
    requirement = policy.requirement(severity)
    many = f", {requirement.approvers} of them" if requirement.approvers > 1 else ""
    return NEEDED[requirement.assurance] + many


def may_approve(policy: Policy, severity: Severity, assurance: Assurance) -> bool:
    return suffices(assurance, policy.requirement(severity).assurance)


def missing(effect: Effect) -> str:
    """The change needed before it can be approved, or an empty text."""
    gate = blocking_gate(effect)
    return MISSING.get(gate, BLOCKING_GATES[gate]) if gate is not None else ""


def size(text: str) -> str:
    words = len(text.split())
    return f"{len(text):,} characters, {words:,} word{'' if words == 1 else 's'}"


def look_at(effect: Effect) -> str:
    """Where a person can check whether it arrived, or an empty text."""
    return LOOK_AT.get(effect.channel, "")


def cost(credits: int) -> str:
    return "nothing" if credits == 0 else f"{credits} credit{'' if credits == 1 else 's'}"


def summary(effect: Effect) -> str:
    text = " ".join((effect.subject or effect.title or effect.body).split())
    return truncate(text, SUMMARY_CHARS)
