"""The words of the review page, its forms and the edit page; the state, risk and approval of an action.

An approval that an agent relayed is never worded like a person's (C8). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from assent.engine.people.approvals import GivenApproval
from assent.extensions.texts import render_value
from assent.gate.names import name_by_link
from assent.gate.policy import Requirement
from assent.gate.preflight import (
    MANY_RECIPIENTS,
    TOO_MANY_TODAY,
    is_expired,
)
from assent.gate.records import Action, Approval, Assurance
from assent.gate.rules.words import describe_need
from assent.gate.transitions import (
    APPROVED,
    AWAITING,
    EXECUTED,
    EXECUTING,
    FAILED,
    REJECTED,
    RETRYABLE,
    UNKNOWN,
    State,
    state_of,
)
from assent.gate.views import Severity
from assent.kernel.structs import Record
from assent.kernel.texts import truncate
from assent.serving.web.shell.times import when

GATES: Final = {
    "human_approval": "A human approves it",
    "recipients_missing": "It has recipients (none are named yet)",
    "connector_not_ready": "Its connector is ready (it was not when this was prepared)",
}


ONLY_LOOKING: Final = "This link shows, and does not decide"
LINKS_HINT: Final = (
    "Anyone with a review link of this run can read it and decide what the policy allows by link. Your "
    "agent holds one. Ending them locks out everyone who is not signed in."
)
BY_LINK: Final = "You see this page because you hold its review link. It shows this run and nothing else."
SENDS_NOTHING: Final = "This run sends nothing"
SENDS_NOTHING_HINT: Final = "It only produced what is below, so there is nothing to decide."
NO_APPROVAL_NO_SENDING: Final = "Nothing goes out without an approval."
GONE: Final = "It cannot be executed any more"
NOT_YET: Final = "It cannot be approved yet"
CHANGED_SINCE: Final = "This has changed since it was approved or shown"
CHANGED_SINCE_HINT: Final = "The content is the same. Nothing goes out before it is approved again."
ASKED_FOR: Final = "Asked for"
OTHERS_TOO: Final = (
    "You have approved it; another person has to, too. Until then you can withdraw your approval."
)
ASK_THE_AGENT: Final = "Ask your agent to prepare a new draft."
NAME_HINT: Final = "It is recorded with your decision, as the name you gave."
FOLLOW_AT_ONCE: Final = "It cannot be withdrawn."
EDIT_HINT: Final = "The saved version needs its own approval."
ASK_HINT: Final = (
    "Your agent reads this and can prepare a new version. This neither approves nor rejects the draft."
)
GOES_ON: Final = "Your agent goes on when it next asks. Until then the approval can be withdrawn."
BY_HAND_HINT: Final = "After that the page shows what to paste where, and asks for the address."
YES_THERE: Final = "Yes, it is there."
NOT_THERE: Final = "No, it is not there."
CANNOT_SAY: Final = "I cannot say yet."
CANNOT_SAY_HINT: Final = "It stays as it is; nothing is sent."
TAKEN_BACK: Final = "The approval that it has is taken back."
HTML_DROPPED: Final = "Its HTML part was made from this text and is dropped when the text changes."
NO_DIFFERENCE: Final = "Nothing is different yet."
EDIT_NAME_HINT: Final = "It is recorded with the change, as the name you gave."


class Badge(Record):
    """A label and its tone: ok, warn, danger, ask (a question to the person), info or none."""

    text: str
    tone: str = ""


STATES: Final = {
    AWAITING: Badge("Waits for approval", "warn"),
    APPROVED: Badge("Approved", "ok"),
    EXECUTING: Badge("Being sent", "info"),
    UNKNOWN: Badge("Outcome unknown", "ask"),
    RETRYABLE: Badge("Approved, not sent yet", "warn"),
    REJECTED: Badge("Rejected"),
    EXECUTED: Badge("Done", "ok"),
    FAILED: Badge("Failed", "danger"),
}

STATES_OF_FUNCTIONS: Final = {
    **STATES,
    EXECUTING: Badge("Running", "info"),
    RETRYABLE: Badge("Approved, not run yet", "warn"),
}

SEVERITIES: Final = {
    Severity.LOW: Badge("Low risk"),
    Severity.MEDIUM: Badge("Medium risk", "warn"),
    Severity.HIGH: Badge("High risk", "danger"),
}

ASSURANCES: Final = {
    Assurance.AGENT: "An agent said that its user approved, in a chat. The server did not see a human decide.",
    Assurance.LINK: "The server knows the link, which the agent holds too, and not the person.",
    Assurance.CLIENT: "They were signed in here, or answered in the dialog of their chat program.",
    Assurance.PERSON: "They were signed in on this server and confirmed it there.",
    Assurance.PASSKEY: "They confirmed it on this server with a passkey.",
}

COULD_BE_AGENT: Final = "signed in, as an agent of this machine could"
COULD_BE_AGENT_HOW: Final = (
    "They were signed in. A check of this machine found that an agent there can sign in as them, too."
)
"""Of an approval for which the server claims less than it saw."""
UNSURE: Final = {
    Assurance.AGENT: "Approval relayed by an agent",
    Assurance.LINK: "Approved over the review link",
}
"""Approvals that may be the agent's own (C8). They have the tone of a warning."""

TITLE_CHARS: Final = 64

ARGUMENT_CHARS: Final = 120
"""How much of an argument a row has; the review page shows it whole."""

BY_AGENT: Final = "you, or your agent on your behalf"
"""Who approves where the policy lets an agent pass on a yes."""

_WEB: Final = re.compile(r"https?://[^/\s]", re.IGNORECASE)


def web_address(url: str | None) -> str | None:
    """The URL if a link may lead to it."""
    return url if url is not None and _WEB.match(url) else None


def explain_severity(action: Action) -> str:
    """The rule of C8 that gave this action its severity."""
    view, severity = action.view, action.preflight.severity
    people = max(len(view.facets.recipients), len(action.effect.recipients))
    if severity is view.risk and (view.mail or people) and people <= MANY_RECIPIENTS:
        return f"It goes to {say_people(people)}." if people else "It has no recipients yet."
    if severity is view.risk and people <= MANY_RECIPIENTS:
        return view.why or "Its operator gives it this risk."
    if people > MANY_RECIPIENTS:
        return f"It goes to {people} people, which is more than {MANY_RECIPIENTS}."
    if TOO_MANY_TODAY in action.preflight.warnings:
        return TOO_MANY_TODAY
    if severity is Severity.MEDIUM and action.preflight.warnings:
        return "There are warnings."
    return "The risk was declared when it was prepared."


def is_function(action: Action) -> bool:
    """Whether it runs with arguments, instead of sending a text."""
    return action.view.preview.kind == "arguments"


def count_people(action: Action) -> int:
    return max(len(action.view.facets.recipients), len(action.effect.recipients))


def say_people(count: int) -> str:
    """`1 person`, `214 people`."""
    return "1 person" if count == 1 else f"{count:,} people"


def say_effect(action: Action) -> str:
    """What an approval lets happen, in one line: `E-mail 214 people: “We opened our books”`."""
    view, effect = action.view, action.effect
    if view.title or view.executes == "agent" or is_function(action):
        return view.heading
    words = f"“{_cut(' '.join((effect.subject or effect.title or view.summary).split()))}”"
    if view.mail or effect.recipients:
        people = count_people(action)
        return (
            f"{view.noun} {say_people(people)}: {words}"
            if people
            else f"{view.noun} without recipients: {words}"
        )
    if view.removes or not view.label:
        return f"{view.noun}: {words}"
    if view.preview.kind == "page":
        return f"Publish on {_inside(view.destination.removeprefix('To '))}: {words}"
    return f"Post on {_inside(view.label)}: {words}"


def _cut(text: str) -> str:
    """As much of a text as a title has room for, at the end of a word where there is one."""
    cut = truncate(text, TITLE_CHARS)
    words, space, _ = cut.rpartition(" ")
    return cut if cut == text or len(words) < TITLE_CHARS // 2 or not space else f"{words}…"


def say_place(action: Action) -> str:
    """Where it goes, for a row: `E-mail to 214 people`, `LinkedIn as Acme`."""
    view = action.view
    if view.mail or action.effect.recipients:
        people = count_people(action)
        return f"{view.noun} to {say_people(people)}" if people else f"{view.noun}, no recipients yet"
    place = view.destination.removeprefix("To ")
    thread = f", thread of {len(view.preview.sizes)}" if view.preview.kind == "thread" else ""
    return (place[:1].upper() + place[1:] if place else view.noun) + thread


def _inside(label: str) -> str:
    """A channel's name within a sentence."""
    return label[:1].lower() + label[1:] if label.startswith("Your ") else label


def name_state(action: Action, state: State) -> Badge:
    return (STATES_OF_FUNCTIONS if is_function(action) else STATES)[state]


def status_badge(action: Action, now_ms: int) -> Badge:
    """An approval by an agent or a link does not look like a person's."""
    if is_expired(action, now_ms):
        return Badge("Expired")
    state = state_of(action)
    if state == EXECUTED:
        return Badge(action.view.done, "ok")
    if state == APPROVED and action.approval is not None and action.approval.claim in UNSURE:
        unsure = action.approval.claimed is not None
        return Badge("Approved, perhaps by an agent" if unsure else UNSURE[action.approval.claim], "warn")
    return name_state(action, state)


def describe_assurance(approval: Approval) -> str:
    """Say how the server knows that a person approved."""
    return ASSURANCES[approval.assurance] if approval.claimed is None else COULD_BE_AGENT_HOW


def name_approver(approval: Approval) -> str:
    """Name the approver, worded by assurance."""
    if approval.claimed is not None:
        return f"{approval.by} ({COULD_BE_AGENT})"
    if approval.assurance is Assurance.AGENT:
        return f"Approval relayed by {agent_name(approval.by)}"
    if approval.assurance is Assurance.LINK:
        return f"Approval by {name_by_link(approval.by)}"
    return approval.by


def agent_name(by: str) -> str:
    """Name a caller from the journal in words."""
    if by.startswith("key:"):
        return f"an agent with key {by.removeprefix('key:')}"
    known = {"local": "an agent on this computer", "approve_and_send": "the server, as approved"}
    return known.get(by, by)


def count_approvals(needed: Requirement, given: Iterable[GivenApproval], now_ms: int) -> str:
    """Say who of several people has approved, when, and how many are missing."""
    said = [f"{yes.name} ({when(yes.at_ms, now_ms).ago})" for yes in given]
    missing = max(0, needed.approvers - len(said))
    who = f" {', '.join(said)}." if said else ""
    # Enough people may have approved, and none of a group that must.
    more = f"{missing} are missing." if missing > 1 else "One more is missing."
    return f"{len(said)} of {needed.approvers} people have approved so far.{who} {more}"


def needs(needed: Requirement) -> str:
    """The approval that the workspace requires."""
    if needed == Requirement(Assurance.AGENT):
        return BY_AGENT
    return f"no one: the policy denies it. {needed.denied}" if needed.denied else describe_need(needed)


def shorten_value(value: Any) -> str:
    """One argument on one line."""
    text = value if isinstance(value, str) and value.strip() else render_value(value)
    return truncate(" ".join(text.split()), ARGUMENT_CHARS)


def missing(action: Action) -> str:
    """The change needed before it can be approved, or an empty text."""
    unfit = action.view.unfit
    return (unfit.on_page or unfit.words) if unfit is not None else ""


def size(text: str) -> str:
    words = len(text.split())
    return f"{len(text):,} characters, {words:,} word{'' if words == 1 else 's'}"


def cost(credits: int) -> str:
    return "nothing" if credits == 0 else f"{credits} credit{'' if credits == 1 else 's'}"
