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
from assent.kernel.structs import Record
from assent.kernel.times import parse_time
from assent.serving.web.review.naming import COULD_BE_AGENT, UNSURE, agent_name
from assent.serving.web.shell.times import When, when


class HistoryEntry(Record):
    """One line of a timeline; `tone` colours it."""

    what: str
    note: str
    at: When
    tone: str = ""


Facts = dict[str, Any]


def name_actor(facts: Facts) -> str:
    """Name the actor, worded by assurance."""
    by, assurance = str(facts.get("by", "someone")), facts.get("assurance")
    if facts.get("claimed") is not None:
        return f"{by} ({COULD_BE_AGENT})"
    if assurance == Assurance.AGENT:
        return agent_name(by)
    if assurance == Assurance.LINK:
        return name_by_link(by)
    if assurance is None:
        return agent_name(by)
    if assurance in (Assurance.PERSON, Assurance.PASSKEY):
        return f"{by} (signed in)"
    on_page = facts.get("via") == "review page"
    return f"{by} (in a signed-in browser)" if on_page else f"{by} (in their chat program)"


MISSING_FACTS: Final = {
    "by": "someone",
    "person": "someone",
    "shown": "an address",
    "url": "a page",
    "amount": 0,
}


class FactWords(dict[str, object]):
    """An event's facts by the names in a sentence. `agent` and `who` are in words."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        relayed = facts.get("assurance") == Assurance.AGENT
        self["agent"] = agent_name(str(facts.get("by", "someone")))
        self["who"] = name_actor(facts)
        self["approval"] = f"{'Approval relayed' if relayed else 'Approved'} by {self['who']}"
        self["named"] = facts.get("name") or facts.get("person", "someone")

    def __missing__(self, name: str) -> object:
        return MISSING_FACTS.get(name, "")


def _tell_answer(facts: Facts) -> str:
    return f"{name_actor(facts)} says that it {'happened' if facts.get('happened') else 'did not happen'}"


def _tell_claim(facts: Facts) -> str:
    by = agent_name(str(facts.get("by", "someone")))
    return "Sending started" if by == "the server" else f"Sending started, asked for by {by}"


def _tell_handover(facts: Facts) -> str:
    if facts.get("via") == ADVANCE:
        return f"The workflow went on past this step, led by {agent_name(str(facts.get('by', 'someone')))}"
    return f"Published by hand, recorded by {name_actor(facts)}"


def _tell_withdrawal(facts: Facts) -> str:
    if facts.get("drift"):
        return "Not sent: the approval no longer holds, because something has changed"
    if facts.get("left"):
        return "Not sent: a person who approved it may no longer decide here"
    return f"Approval withdrawn by {name_actor(facts)}"


def _tell_readiness(facts: Facts) -> str:
    return f"Connector checked again: {'ready' if facts.get('ready') else 'not ready'}"


Sentence = str | Callable[[Facts], str]
"""A template for `FactWords`, or a function where the words depend on the facts."""


def _tell_staging(facts: Facts) -> str:
    if "againOf" in facts:
        return f"Prepared again after it failed, by {name_actor(facts)}"
    if "undoOf" in facts:
        return f"Prepared to undo what was done, by {name_actor(facts)}"
    return "The part that was not delivered became an action of its own, to be approved"


DECISIONS: Final[dict[str, Sentence]] = {
    "action_staged": _tell_staging,
    "action_approve": "{approval}",
    "approval_recorded": "{approval} ({approvers} of {needed})",
    "approval_taken_back": "Approval taken back by {who}",
    "changes_asked": "{who} asked for changes",
    "action_reject": "Rejected by {who}",
    "action_edit": "Edited by {who}: revision {revision}",
    "action_withdraw": _tell_withdrawal,
    "outcome_answered": _tell_answer,
    "outcome_asked": "{who} had the provider asked at once",
    "outcome_still_unknown": "{who} looked and cannot say yet",
    "confirmation_asked": "A workflow asked a human",
    "confirmation_superseded": "The agent submitted another version of this step",
    "drift_found": "Something was no longer as it was shown",
    "review_links_ended": "Review links ended by {who}",
}
SENDING: Final[dict[str, Sentence]] = {
    "action_claim": _tell_claim,
    "execution_refused": "An attempt to send by {agent} was refused",
    "action_succeed": "Sent; the provider confirmed it",
    "action_refuse": "The provider rejected it",
    "action_postpone": "Not sent; it can be tried again",
    "action_lose": "Not confirmed: the outcome is unknown",
    "action_restore": "A backup was restored: it may have been sent since",
    "restore_doubt": "A backup was restored: it is checked before it is sent",
    "action_found_done": "It was sent after all",
    "action_found_refused": "The provider had rejected it",
    "action_found_not_done": "It was not sent",
    "action_hand_over": _tell_handover,
    "late_answer": "A late answer arrived and was kept as evidence",
    "connector_rechecked": _tell_readiness,
}
SENTENCES: Final[dict[str, Sentence]] = {"run_prepared": "Prepared by {agent}", **DECISIONS, **SENDING}


def write_sentence(sentence: Sentence, facts: Facts) -> str:
    """The sentence about an event with these facts."""
    return capital(sentence.format_map(FactWords(facts)) if isinstance(sentence, str) else sentence(facts))


TONES: Final = {
    **dict.fromkeys(("action_approve", "action_succeed", "action_found_done", "action_hand_over"), "ok"),
    **dict.fromkeys(("action_reject", "action_refuse", "action_found_refused", "run_failed"), "danger"),
    **dict.fromkeys(("execution_refused", "webhook_failed", "connector_expired", "sending_frozen"), "danger"),
    **dict.fromkeys(("action_lose", "action_restore", "outcome_still_unknown"), "ask"),
    **dict.fromkeys(("action_postpone", "action_withdraw", "drift_found", "changes_asked"), "warn"),
}
"""Kinds of events that stand out, each with the colour of its meaning."""

EVERY_ACTION: Final = "*"
OF_EVERY_ACTION: Final = frozenset({"run_prepared", "review_links_ended"})
"""Events of a run that the history of each of its actions includes."""

NOTES: Final = ("text", "detail", "evidence", "reason", "externalUrl", "externalId")
"""Fields of an event that may become its note; the first that is set is used."""


def entries(events: Iterable[Event], now_ms: int) -> tuple[tuple[str | None, HistoryEntry], ...]:
    """Each event with the action it is about, oldest first. Before a decision on a page comes when the page
    was shown."""
    found: list[tuple[str | None, HistoryEntry]] = []
    for event in events:
        facts: Facts = msgspec.json.decode(event.body)
        about, entry = _entry(event, facts, now_ms)
        if (shown_ms := parse_time(str(facts.get("shownAt", "")))) is not None:
            found.append((about, HistoryEntry(f"Viewed by {name_actor(facts)}", "", when(shown_ms, now_ms))))
        found.append((about, entry))
    return tuple(found)


def of_action(
    history: tuple[tuple[str | None, HistoryEntry], ...], action_id: str
) -> tuple[HistoryEntry, ...]:
    return tuple(entry for about, entry in history if about in (EVERY_ACTION, action_id))


def _entry(event: Event, facts: Facts, now_ms: int) -> tuple[str | None, HistoryEntry]:
    what = write_sentence(SENTENCES.get(event.kind, event.kind.replace("_", " ")), facts)
    note = next((text for name in NOTES if isinstance(text := facts.get(name), str) and text), "")
    if event.kind == "action_edit" and not facts.get("text") and isinstance(facts.get("digest"), str):
        note = f"Content is now {short_digest(facts['digest'])}"
    about = EVERY_ACTION if event.kind in OF_EVERY_ACTION else facts.get("actionId")
    tone = TONES.get(event.kind, "")
    if event.kind == "action_approve" and (facts.get("claimed") or facts.get("assurance")) in UNSURE:
        tone = "warn"
    return (about if isinstance(about, str) else None), HistoryEntry(
        what, note, when(event.at_ms, now_ms), tone
    )


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
