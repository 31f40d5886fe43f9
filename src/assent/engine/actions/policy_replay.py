"""Replays recorded approvals under a draft of a policy, and says which would have another result.

The journal has every yes: who gave it, with which assurance, to which revision. The action has that
revision's content. The replay applies the draft to each yes in the order in which they were given,
with the same functions that the gate uses (`assent.gate.policy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.gate.gate import approver_key
from assent.gate.policy import Policy, Requirement, counts, holds
from assent.gate.records import Action, Assurance, Effect, Voice
from assent.gate.views import Severity, View
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record, WireRecord
from assent.kernel.times import iso_time
from assent.ports import Row, Transaction
from assent.present.rule_text import describe_need
from assent.sql.loader import statements

WINDOW_MS: Final = 30 * DAY_MS
MOST_EVENTS: Final = 20_000
"""Decisions that one replay reads, the latest ones."""

APPROVED: Final = "approved"
RECORDED: Final = "recorded"
"""A yes that counts while more are needed."""
REFUSED: Final = "refused"
DENIED: Final = "denied"
EXPIRED: Final = "expired"

_KINDS: Final = {
    "action_approve": APPROVED,
    "approval_recorded": RECORDED,
    "action_withdraw": "",
    "approval_taken_back": "",
    "action_edit": "",
}


class ReplayedDecision(WireRecord):
    """One recorded yes, its result, and its result under the draft."""

    action_id: str
    title: str
    by: str
    assurance: str
    at: str | None
    was: str
    would_be: str
    needs: str
    """What the draft asks for."""

    @property
    def changes(self) -> bool:
        return self.was != self.would_be


class ReplayReport(WireRecord):
    """The decisions of the window, oldest first. `complete` is False if there were too many to read."""

    decisions: tuple[ReplayedDecision, ...]
    complete: bool

    @property
    def changed(self) -> tuple[ReplayedDecision, ...]:
        return tuple(each for each in self.decisions if each.changes)


class _Event(Record):
    kind: str
    at_ms: int
    facts: dict[str, Any]


def replay(workspace_id: WorkspaceId, draft: Policy, now_ms: int) -> Transaction[ReplayReport]:
    """Replay the approvals of the last 30 days under a draft."""
    rows = yield statements.list_events_since(
        workspace_id=workspace_id,
        since_ms=now_ms - WINDOW_MS,
        kinds=f" {' '.join(_KINDS)} ",
        most=MOST_EVENTS,
    )
    told: dict[str, list[_Event]] = {}
    for row in reversed(rows):
        facts = msgspec.json.decode(row["body"])
        if isinstance(action_id := facts.get("actionId"), str):
            told.setdefault(action_id, []).append(_Event(row["kind"], row["at_ms"], facts))
    found: list[tuple[int, ReplayedDecision]] = []
    for action_id, events in told.items():
        stored = yield statements.find_action(workspace_id=workspace_id, action_id=action_id)
        if stored:
            earlier = yield statements.list_revisions_with_views(
                workspace_id=workspace_id, action_id=ActionId(action_id)
            )
            found += replay_action(actions.action_of(stored[0]), earlier, events, draft)
    found.sort(key=lambda each: each[0])
    return ReplayReport(tuple(each for _, each in found), len(rows) < MOST_EVENTS)


def replay_action(
    action: Action, earlier: Iterable[Row], events: Sequence[_Event], draft: Policy
) -> list[tuple[int, ReplayedDecision]]:
    """Replay the decisions about one action, in order."""
    contents = {
        row["revision"]: (
            msgspec.json.decode(row["effect"], type=Effect),
            msgspec.json.decode(row["view"] or "{}", type=View),
        )
        for row in earlier
    }
    voices: dict[str, Voice] = {}
    found = []
    for event in events:
        facts = event.facts
        was = _KINDS[event.kind]
        if event.kind == "approval_taken_back":
            voices.pop(_key_approver(facts), None)
        if not was:
            if event.kind != "approval_taken_back":
                voices.clear()
            continue
        at = _rebuild(action, contents, facts)
        voice = _rebuild_voice(facts, event.at_ms)
        needed = draft.require(at)
        would_be = judge_yes(at, needed, voices.values(), voice)
        if would_be in (APPROVED, RECORDED):
            voices[voice.approver] = voice
        found.append(
            (
                event.at_ms,
                ReplayedDecision(
                    action_id=action.action_id,
                    title=at.view.heading,
                    by=str(facts.get("by", "")),
                    assurance=voice.assurance,
                    at=iso_time(event.at_ms),
                    was=was,
                    would_be=would_be,
                    needs=needed.denied or describe_need(needed),
                ),
            )
        )
    return found


def judge_yes(action: Action, needed: Requirement, given: Iterable[Voice], voice: Voice) -> str:
    """Return the result of a yes to an action that waits, as the gate would decide it."""
    if needed.denied:
        return DENIED
    if needed.within_ms is not None and voice.at_ms > action.created_ms + needed.within_ms:
        return EXPIRED
    if not counts(voice, needed, action):
        return REFUSED
    others = (each for each in given if each.approver != voice.approver)
    return APPROVED if holds((*others, voice), needed, action) else RECORDED


def _rebuild(action: Action, contents: dict[int, tuple[Effect, View]], facts: dict[str, Any]) -> Action:
    """Return the action as it was when the decision was made."""
    revision = facts.get("revision", action.revision)
    effect, view = contents.get(revision, (action.effect, action.view))
    severity = Severity(facts.get("severity", action.preflight.severity))
    preflight = msgspec.structs.replace(action.preflight, severity=severity)
    return msgspec.structs.replace(action, effect=effect, view=view, preflight=preflight, revision=revision)


def _key_approver(facts: dict[str, Any]) -> str:
    return approver_key(str(facts.get("personId", "")), str(facts.get("by", "")))


def _rebuild_voice(facts: dict[str, Any], at_ms: int) -> Voice:
    return Voice(_key_approver(facts), Assurance(facts["assurance"]), at_ms, str(facts.get("role", "")))
