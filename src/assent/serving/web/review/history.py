"""The events of a run as sentences, from one table by kind. An unknown kind is still shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from assent.engine.core.journal import Event
from assent.engine.workflows.answers import ADVANCE
from assent.gate.names import name_by_link
from assent.gate.records import Assurance
from assent.kernel.canonical import short_digest
from assent.serving.web.review.times import When, when
from assent.serving.web.review.words import agent_name


class HistoryEntry(msgspec.Struct, frozen=True):
    what: str
    note: str
    at: When


Facts = dict[str, Any]


def who(facts: Facts) -> str:
    """Name the actor, worded by assurance."""
    by, assurance = str(facts.get("by", "somebody")), facts.get("assurance")
    if assurance == Assurance.AGENT:
        return agent_name(by)
    if assurance == Assurance.LINK:
        return name_by_link(by)
    if assurance is None:
        return agent_name(by)
    return (
        f"{by} (signed in)"
        if assurance in (Assurance.PERSON, Assurance.PASSKEY)
        else f"{by} (in their client)"
    )


def _tell_approval(facts: Facts) -> str:
    if facts.get("assurance") == Assurance.AGENT:
        return f"Approval relayed by {who(facts)}"
    return f"Approved by {who(facts)}"


def _tell_answer(facts: Facts) -> str:
    return f"{_capital(who(facts))} says that it {'happened' if facts.get('happened') else 'did not happen'}"


def _attempt(facts: Facts) -> str:
    return f"Sending began, asked for by {agent_name(str(facts.get('by', 'somebody')))}"


def _tell_handover(facts: Facts) -> str:
    if facts.get("via") == ADVANCE:
        return f"The workflow went on past this step, led by {agent_name(str(facts.get('by', 'somebody')))}"
    return f"Published by hand, recorded by {who(facts)}"


SENTENCES: Final[dict[str, Callable[[Facts], str]]] = {
    "run_prepared": lambda facts: f"Prepared by {agent_name(str(facts.get('by', 'somebody')))}",
    "action_approve": _tell_approval,
    "approval_recorded": lambda facts: (
        f"{_tell_approval(facts)} ({facts.get('approvers')} of {facts.get('needed')})"
    ),
    "approval_taken_back": lambda facts: f"Approval taken back by {who(facts)}",
    "changes_asked": lambda facts: f"{_capital(who(facts))} asked for changes",
    "action_reject": lambda facts: f"Rejected by {who(facts)}",
    "action_edit": lambda facts: f"Edited by {who(facts)}: revision {facts.get('revision')}",
    "action_withdraw": lambda facts: f"Approval withdrawn by {who(facts)}",
    "action_claim": _attempt,
    "execution_refused": lambda facts: (
        f"An attempt to send by {agent_name(str(facts.get('by', 'the server')))} was refused"
    ),
    "action_succeed": lambda facts: "Sent; the provider confirmed it",
    "action_refuse": lambda facts: "Refused by the provider for good",
    "action_postpone": lambda facts: "Not sent; it can be tried again",
    "action_lose": lambda facts: "No answer from the provider: the outcome is unknown",
    "action_found_done": lambda facts: "Found out: it had been sent",
    "action_found_refused": lambda facts: "Found out: the provider had refused it",
    "action_found_not_done": lambda facts: "Found out: it had not been sent",
    "action_hand_over": _tell_handover,
    "late_answer": lambda facts: "A late answer arrived and was kept as evidence",
    "outcome_answered": _tell_answer,
    "outcome_still_unknown": lambda facts: f"{_capital(who(facts))} looked and cannot say yet",
    "confirmation_asked": lambda facts: "A workflow asked a human",
    "confirmation_superseded": lambda facts: "The agent submitted another version of this step",
    "connector_rechecked": lambda facts: (
        f"Connector looked at again: {'ready' if facts.get('ready') else 'not ready'}"
    ),
    "review_links_ended": lambda facts: f"Review links ended by {who(facts)}",
}

EVERY_ACTION: Final = "*"
OF_EVERY_ACTION: Final = frozenset({"run_prepared", "review_links_ended"})
"""Events of a run that the history of each of its actions includes."""

NOTES: Final = ("text", "detail", "evidence", "reason", "externalUrl", "externalId")
"""Fields of an event that may become its note; the first that is set is used."""


def entries(events: Iterable[Event], now_ms: int) -> tuple[tuple[str | None, HistoryEntry], ...]:
    """Each event with the action it is about, oldest first."""
    return tuple(_entry(event, now_ms) for event in events)


def of_action(
    history: tuple[tuple[str | None, HistoryEntry], ...], action_id: str
) -> tuple[HistoryEntry, ...]:
    return tuple(entry for about, entry in history if about in (EVERY_ACTION, action_id))


def _entry(event: Event, now_ms: int) -> tuple[str | None, HistoryEntry]:
    facts: Facts = msgspec.json.decode(event.body)
    sentence = SENTENCES.get(event.kind)
    what = sentence(facts) if sentence is not None else _capital(event.kind.replace("_", " "))
    note = next((text for name in NOTES if isinstance(text := facts.get(name), str) and text), "")
    if event.kind == "action_edit" and isinstance(facts.get("digest"), str):
        note = f"Content is now {short_digest(facts['digest'])}"
    about = EVERY_ACTION if event.kind in OF_EVERY_ACTION else facts.get("actionId")
    return (about if isinstance(about, str) else None), HistoryEntry(what, note, when(event.at_ms, now_ms))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
