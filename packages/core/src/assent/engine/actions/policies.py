"""The approval policy of a workspace (C8): its versions, who set them, and what a draft of one would change.

The journal has every yes: who gave it, with which assurance, to which revision. The action has that revision's
content. A replay applies the draft to each yes in the order in which they were given, with the same functions that the
gate uses (`assent.gate.policy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.actions.actions import policy_of
from assent.engine.core import freezes, journal
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.gate import approver_key
from assent.gate.policy import (
    DEFAULT,
    PEOPLE,
    TWO_PEOPLE,
    Policy,
    Requirement,
    counts,
    digest_policy,
    find_preset,
    holds,
    name_preset,
)
from assent.gate.records import Action, Assurance, Effect, Freeze, Voice
from assent.gate.rules.source import preset_source, read_policy
from assent.gate.views import Severity, View
from assent.kernel.ids import SYSTEM_WORKSPACE, ActionId, WorkspaceId
from assent.kernel.limits import DAY_MS
from assent.kernel.structs import Record, WireRecord
from assent.kernel.times import iso_time
from assent.ports import Row, Rows, Transaction
from assent.present.rule_text import describe_need
from assent.sql.loader import statements

FOR_ONE: Final = {TWO_PEOPLE: PEOPLE}
"""The preset that a signed-up workspace gets in place of another: it begins with one person."""


class PolicyVersion(Record):
    """One version of a workspace's policy, as its author wrote it."""

    version: int
    digest: str
    source: dict[str, Any]
    by: str
    at_ms: int | None


def find(workspace_id: WorkspaceId) -> Transaction[Policy]:
    return policy_of((yield statements.find_policy(workspace_id=workspace_id))[0])


def find_with_freezes(workspace_id: WorkspaceId) -> Transaction[tuple[Policy, tuple[Freeze, ...]]]:
    """Return the policy of a workspace and what stops something there."""
    rows = yield statements.find_policy_with_freezes(workspace_id=workspace_id)
    return policy_of(rows[0]), tuple(freezes.read_joined(row) for row in rows if row["frozen_in"])


def find_version(workspace_id: WorkspaceId) -> Transaction[PolicyVersion]:
    """Return the present version. A policy that was never set is version 0."""
    rows = yield statements.find_policy_version(workspace_id=workspace_id)
    if not rows:
        return PolicyVersion(0, digest_policy(DEFAULT), preset_source("relay"), "", None)
    row = rows[0]
    source = msgspec.json.decode(row["source"])
    return PolicyVersion(row["version"], row["digest"], source, row["by"], row["at_ms"])


def save(workspace_id: WorkspaceId, source: dict[str, Any], now_ms: int, *, by: str) -> Transaction[Policy]:
    """Set the policy to what `source` describes, as a new version. It also applies to earlier
    approvals. Raises `BadPolicy`."""
    policy = yield from read(source)
    yield from _store(workspace_id, policy, source, now_ms, by=by)
    return policy


def read(source: Any) -> Transaction[Policy]:
    """Return the policy that `source` describes, with the people of this server. Raises `BadPolicy`."""
    rows = yield statements.list_person_names(workspace_id=SYSTEM_WORKSPACE)
    listed = [(row["email"] or "").casefold() for row in rows]
    # An address that several people gave names none of them.
    named = {
        each: row["person_id"] for each, row in zip(listed, rows, strict=True) if listed.count(each) == 1
    }
    return read_policy(source, {**named, **{row["person_id"].casefold(): row["person_id"] for row in rows}})


def choose(workspace_id: WorkspaceId, preset: str, now_ms: int, *, by: str) -> Transaction[None]:
    """Set the policy to a preset."""
    policy = find_preset(preset)
    if policy is None:
        raise ValueError(f"{preset!r} is no preset")
    yield from _store(workspace_id, policy, preset_source(preset), now_ms, by=by)


def begin(workspace_id: WorkspaceId, preset: str, now_ms: int, *, by: str) -> Transaction[None]:
    """Set the first policy of a new workspace, unless it is the default one."""
    if find_preset(preset) != DEFAULT:
        yield from choose(workspace_id, preset, now_ms, by=by)


def choose_first(preset: str | None) -> Transaction[str]:
    """Return the preset of a new workspace: that of the settings, else that of the default workspace without
    its rules. Rules alone, without a preset, stand for `people`, as what no rule matches needs a person."""
    if preset is not None:
        return preset
    return name_preset((yield from find(LOCAL_WORKSPACE))) or PEOPLE


def _store(
    workspace_id: WorkspaceId, policy: Policy, source: dict[str, Any], now_ms: int, *, by: str
) -> Transaction[None]:
    yield statements.set_policy(workspace_id=workspace_id, policy=msgspec.json.encode(policy).decode())
    digest = digest_policy(policy)
    rows = yield statements.add_policy_version(
        workspace_id=workspace_id,
        digest=digest,
        source=msgspec.json.encode(source).decode(),
        set_by=by,
        at_ms=now_ms,
    )
    facts = {"policy": source.get("preset", ""), "version": rows[0]["version"], "digest": digest, "by": by}
    yield from journal.note(workspace_id, "policy_changed", facts, now_ms)


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


SHOWN: Final = 40
"""Decisions that a page replays under each of its rules."""

History = list[tuple[Action, Rows, list[_Event]]]


def replay(workspace_id: WorkspaceId, draft: Policy, now_ms: int) -> Transaction[ReplayReport]:
    """Replay the approvals of the last 30 days under a draft."""
    history, complete = yield from _read_history(workspace_id, now_ms, MOST_EVENTS)
    return ReplayReport(_judge(history, draft), complete)


def replay_each(
    workspace_id: WorkspaceId, drafts: Iterable[Policy], now_ms: int
) -> Transaction[list[ReplayReport]]:
    """Replay the latest approvals of the last 30 days under each draft."""
    history, complete = yield from _read_history(workspace_id, now_ms, SHOWN)
    return [ReplayReport(_judge(history, draft), complete) for draft in drafts]


def _read_history(workspace_id: WorkspaceId, now_ms: int, most: int) -> Transaction[tuple[History, bool]]:
    rows = yield statements.list_events_since(
        workspace_id=workspace_id, since_ms=now_ms - WINDOW_MS, kinds=f" {' '.join(_KINDS)} ", most=most
    )
    told: dict[str, list[_Event]] = {}
    for row in reversed(rows):
        facts = msgspec.json.decode(row["body"])
        if isinstance(action_id := facts.get("actionId"), str):
            told.setdefault(action_id, []).append(_Event(row["kind"], row["at_ms"], facts))
    history: History = []
    for action_id, events in told.items():
        stored = yield statements.find_action(workspace_id=workspace_id, action_id=action_id)
        if stored:
            earlier = yield statements.list_revisions_with_views(
                workspace_id=workspace_id, action_id=ActionId(action_id)
            )
            history.append((actions.action_of(stored[0]), earlier, events))
    return history, len(rows) < most


def _judge(history: History, draft: Policy) -> tuple[ReplayedDecision, ...]:
    found = [
        each for action, earlier, events in history for each in replay_action(action, earlier, events, draft)
    ]
    return tuple(each for _, each in sorted(found, key=lambda each: each[0]))


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
