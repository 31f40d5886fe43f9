"""Names an action in words: its effect, place, state, severity, approver and cost. Pure.

An approval that an agent relayed is never worded like a person's (C8).
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, Final

from assent.engine.actions.approvals import GivenApproval
from assent.extensions.effect_types import render_value
from assent.gate.connection import ConnectorInfo
from assent.gate.names import name_by_link
from assent.gate.outcomes import REFERENCE
from assent.gate.policy import Requirement
from assent.gate.preflight import TOO_MANY_TODAY
from assent.gate.records import PARTLY, REACHED, Action, Approval, Assurance, is_test, is_with_agent
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
from assent.kernel.limits import MANY_RECIPIENTS
from assent.kernel.structs import Record
from assent.kernel.texts import to_text, truncate
from assent.present.rule_text import describe_need
from assent.serving.web.review.access import VIA
from assent.serving.web.shell.rendering import Badge
from assent.serving.web.shell.times import when

TITLE_CHARS: Final = 64

ARGUMENT_CHARS: Final = 120
"""How much of an argument a row has; the review page shows it whole."""


class Verb(Record):
    """What an approval leads to: sending a text, or running a function."""

    now: str
    does: str
    past: str


VERBS: Final = {False: Verb("send", "sends", "sent"), True: Verb("run", "runs", "run")}
"""By whether the action is a function."""


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

ASSURANCES: Final = {
    Assurance.AGENT: "An agent said that its user approved, in a chat. The server did not see a human decide.",
    Assurance.LINK: "The server knows the link, which the agent holds too, and not the person.",
    Assurance.CLIENT: "They answered in the dialog of their chat program.",
    Assurance.CHAT_APP: "They tapped it in a chat app, with an account that they linked here once.",
    Assurance.PERSON: "They were signed in on this server and confirmed it there.",
    Assurance.PASSKEY: "They confirmed it on this server with a passkey.",
}

ON_PAGE: Final = "They decided on a page, in a signed-in browser."
"""The same assurance, of an approval on a page."""
COULD_BE_AGENT: Final = "signed in, which an agent of this machine could do, too"
COULD_BE_AGENT_HOW: Final = (
    "They were signed in. A check of this machine found that an agent there can sign in as them, too."
)
"""Of an approval for which the server claims less than it saw."""
UNSURE: Final = {
    Assurance.AGENT: "Approval relayed by an agent",
    Assurance.LINK: "Approved over the review link",
}
"""Approvals that may be the agent's own (C8). They have the tone of a warning."""
BY_AGENT: Final = "you, or your agent on your behalf"
"""Who approves where the policy lets an agent pass on a yes."""

_WEB: Final = re.compile(r"https?://[^/\s]", re.IGNORECASE)


def web_address(url: str | None) -> str | None:
    """The URL if a link may lead to it."""
    return url if url is not None and _WEB.match(url) else None


def explain_severity(action: Action) -> str:
    """The rule of C8 that gave this action its severity."""
    view, severity = action.view, action.preflight.severity
    people = count_people(action)
    if severity is view.risk and (view.mail or people) and people <= MANY_RECIPIENTS:
        text = f"It goes to {say_people(people)}." if people else "It has no recipients yet."
        return f"{text} {view.why}".rstrip() if is_function(action) else text
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
    return max(len(action.view.facets.recipients), len(action.effect.everyone))


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
        return f"Publish on {name_inside(view.destination.removeprefix('To '))}: {words}"
    return f"Post on {name_inside(view.label)}: {words}"


def _cut(text: str) -> str:
    """As much of a text as a title has room for, at the end of a word where there is one."""
    cut = truncate(text, TITLE_CHARS)
    words, space, _ = cut.rpartition(" ")
    return cut if cut == text or len(words) < TITLE_CHARS // 2 or not space else f"{words.rstrip('.!?…')}…"


def say_place(action: Action) -> str:
    """Where it goes, for a row: `E-mail to 214 people`, `LinkedIn as Acme`."""
    view = action.view
    if view.mail or action.effect.recipients:
        people = count_people(action)
        return f"{view.noun} to {say_people(people)}" if people else f"{view.noun}, no recipients yet"
    place = view.destination.removeprefix("To ")
    thread = f", thread of {len(view.preview.sizes)}" if view.preview.kind == "thread" else ""
    return (place[:1].upper() + place[1:] if place else view.noun) + thread


def _write(value: Any) -> str:
    return "" if value is None else to_text(value)


def choose_icon(info: ConnectorInfo) -> str:
    """The icon of a service: its own, else one of what it does."""
    if info.icon:
        return info.icon
    if "publish" not in info.does:
        return "mail" if "send" in info.does else "results" if "measure" in info.does else "act"
    return "page" if info.auth_mode == "none" else "post"


def name_inside(label: str) -> str:
    """The name of a channel or a connector within a sentence."""
    return label[:1].lower() + label[1:] if label.startswith("Your ") else label


def name_state(action: Action, state: State) -> Badge:
    return (STATES_OF_FUNCTIONS if is_function(action) else STATES)[state]


def name_outcome(action: Action) -> str:
    """Name what an executed action did: `Sent`, or `Partly sent, 2 of 3` where a remainder was left."""
    done = action.view.done
    if PARTLY not in action.metadata:
        return done
    reached = action.metadata.get(REACHED)
    return f"Partly {done[:1].lower()}{done[1:]}{f', {reached}' if reached else ''}"


def status_badge(action: Action, now_ms: int, given: int = 0, needed: int = 1) -> Badge:
    """An approval by an agent or a link does not look like a person's. `given`: how many of several approvals
    there are."""
    if action.is_expired(now_ms):
        return Badge("Expired")
    state = state_of(action)
    if is_with_agent(action):
        return Badge("Changes asked for", "info")
    if state == AWAITING and given:
        return Badge(f"{given} of {needed} approved", "warn")
    if state == EXECUTED:
        if is_test(action):
            return Badge("Tested, not sent", "warn")
        return Badge(name_outcome(action), "warn" if PARTLY in action.metadata else "ok")
    if state == APPROVED and action.approval is not None and action.approval.claim in UNSURE:
        unsure = action.approval.claimed is not None
        return Badge("Approved, perhaps by an agent" if unsure else UNSURE[action.approval.claim], "warn")
    return name_state(action, state)


def describe_assurance(approval: Approval, via: str) -> str:
    """Say how the server knows that a person approved. `via`: where they did, by the journal."""
    if approval.claimed is not None:
        return COULD_BE_AGENT_HOW
    on_page = approval.assurance is Assurance.CLIENT and via == VIA
    return ON_PAGE if on_page else ASSURANCES[approval.assurance]


def explain_undo(verb: Verb, seconds: int) -> str:
    """Say when what is approved now is sent, and until when that can be undone."""
    if not seconds:
        return f"The approval {verb.does} it at once. After that it cannot be taken back."
    then = "runs" if verb.now == "run" else "goes out"
    due = f"{seconds} seconds after the approval, or as soon as your agent asks for it"
    return f"It {then} {due}. Until then you can undo it."


def explain_doubt(action: Action) -> str:
    """Say why it is not known whether it happened, with the reference of the provider."""
    why = _write(action.metadata.get("lastAttempt")).rstrip(".")
    said = f"{name_inside(action.view.via)} did not confirm it"
    said = f"{said[:1].upper()}{said[1:]}{f': {why}' if why else ''}."
    if action.attempt is not None and action.attempt.lost_by_restore:
        said = (
            f"{why[:1].upper()}{why[1:]}."
            if why
            else "A backup was restored, and it may have been sent since."
        )
    reference = _write(action.metadata.get(REFERENCE))
    return f"{said} Its reference there: {reference}." if reference else said


def name_approver(approval: Approval) -> str:
    """Name the approver, worded by assurance."""
    if approval.claimed is not None:
        return f"{approval.by} ({COULD_BE_AGENT})"
    if approval.assurance is Assurance.AGENT:
        return f"Approval relayed by {agent_name(approval.by)}"
    if approval.assurance is Assurance.LINK:
        return f"Approval by {name_by_link(approval.by)}"
    return approval.by


_AGENTS: ContextVar[Mapping[str, str]] = ContextVar("agents", default=types.MappingProxyType({}))


def know_agents(labels: Mapping[str, str]) -> None:
    """Name the agents of this request by the labels of their keys, by `key:` and the id."""
    _AGENTS.set({**_AGENTS.get(), **{name: label for name, label in labels.items() if label}})


def agent_name(by: str) -> str:
    """Name a caller from the journal in words. A key that is not known is no name to a person."""
    if by.startswith("key:"):
        return _AGENTS.get().get(by, "an agent")
    return "an agent on this computer" if by == "local" else by


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
    return f"another policy: this one denies it. {needed.denied}" if needed.denied else describe_need(needed)


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


def say_amount(amount: Decimal | int, currency: str) -> str:
    return f"{amount:,f} {currency}".rstrip()


def cost(credits: int) -> str:
    return "nothing" if credits == 0 else f"{credits} credit{'' if credits == 1 else 's'}"
