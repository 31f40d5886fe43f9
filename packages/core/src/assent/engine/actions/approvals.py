"""Approvals: who has approved an action, which of several approvals count, and how an approval ends.

An approval is stored with the revision that it was given for. Those of earlier revisions stay, so that
an approver is shown what has changed since; they do not count. Nor does the approval of a person who
may no longer decide in the workspace: this is judged when an action is approved and, in the
transaction that claims it, when it is executed.

The approval of an action ends in `end_approval` alone, whatever ends it: a person withdraws, rejects, edits or asks
for changes (`decisions`); an account is bound (`account_binding`); what it relied on has changed (`drift_probe`); too
few of those who gave it may still decide (`reopen`); the person who gave it or the content is erased
(`engine.erasure.contents`). One person's approval among several goes by `take_back` or `forget`.

An approval that is still stored may also count no longer: it has expired, the policy has become stricter or denies, or
its seal does not hold. Nothing ends it; `gate.gate` refuses each time that it is used.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions, hooks
from assent.engine.actions.hooks import ApprovalEnded
from assent.gate import policy as policy_of
from assent.gate.gate import Decider, approver_key
from assent.gate.policy import PERSON, Requirement
from assent.gate.records import Action, Approval, Assurance, Status, Voice
from assent.gate.transitions import Move, Step, path
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record, from_row
from assent.ports import Row, Transaction
from assent.present.refusals import APPROVER_HAS_LEFT
from assent.sql.loader import statements


class GivenApproval(Record):
    """One person's approval of one revision. `stands`: the person may still decide in the workspace."""

    approver: str
    name: str
    assurance: Assurance
    at_ms: int
    revision: int
    role: str
    stands: bool

    @property
    def voice(self) -> Voice:
        return Voice(self.approver, self.assurance, self.at_ms, self.role)


def counts(given: GivenApproval, action: Action, needed: Requirement) -> bool:
    """Whether an approval counts towards what is needed: of the present revision, by someone who may
    still decide, and as the policy asks."""
    return (
        given.revision == action.revision and given.stands and policy_of.counts(given.voice, needed, action)
    )


def list_given(action: Action) -> Transaction[tuple[GivenApproval, ...]]:
    """List the approvals of all revisions of an action, oldest first."""
    rows = yield statements.list_approvals(
        workspace_id=action.workspace_id, action_id=action.action_id, people=SYSTEM_WORKSPACE
    )
    return tuple(_given(row) for row in rows)


def list_counted(action: Action, needed: Requirement) -> Transaction[tuple[GivenApproval, ...]]:
    """List the approvals that count. Until the transaction ends, none of these people can be removed."""
    yield statements.lock_approvers(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        people=SYSTEM_WORKSPACE,
    )
    found = yield from list_given(action)
    return tuple(given for given in found if counts(given, action, needed))


def add(
    decider: Decider, action: Action, first: Approval | None, needed: Requirement, now_ms: int
) -> Transaction[tuple[Voice, ...]]:
    """Record an approval and return those that count. `first` is one that was given while one sufficed."""
    said = [(decider.approver, decider.by, decider.assurance, now_ms)]
    if first is not None:
        said.insert(0, (approver_key(first.person_id, first.by), first.by, first.assurance, first.at_ms))
    for approver, name, assurance, at_ms in said:
        yield statements.add_approval(
            workspace_id=action.workspace_id,
            action_id=action.action_id,
            revision=action.revision,
            approver=approver,
            name=name,
            assurance=assurance.value,
            at_ms=at_ms,
        )
    counted = yield from list_counted(action, needed)
    return tuple(given.voice for given in counted)


def list_present(action: Action, needed: Requirement) -> Transaction[tuple[Voice, ...] | None]:
    """Return what the approval of an action rests on, of those who may still decide in its workspace. None if it is
    a single person's decision: that stays, as long as the policy names no group."""
    approval = action.approval
    if approval is None or (needed.approvers == 1 and not needed.groups):
        return None
    present: list[Voice] = []
    for voice in approval.voices:
        if not voice.approver.startswith(PERSON):
            present.append(voice)
            continue
        rows = yield statements.lock_person_in(
            people=SYSTEM_WORKSPACE,
            workspace_id=action.workspace_id,
            person_id=voice.approver.removeprefix(PERSON),
        )
        present += [msgspec.structs.replace(voice, role=row["role"]) for row in rows]
    return tuple(present)


def reopen(seen: Action, by: str, via: str, now_ms: int) -> Transaction[Action]:
    """Let an action whose approvals are no longer enough wait again. Those that count are kept."""
    action, *_ = yield from actions.lock(seen.workspace_id, seen.action_id)
    if action.version != seen.version:
        return action
    facts = {"by": by, "via": via, "reason": APPROVER_HAS_LEFT, "left": True}
    steps = path(action, Move.WITHDRAW)
    return (yield from end_approval(action, action, steps, facts, now_ms, keep=True, decided=False))


def end_approval(
    action: Action,
    changed: Action,
    steps: tuple[Step, ...],
    facts: dict[str, Any],
    now_ms: int,
    *,
    keep: bool = False,
    decided: bool = True,
) -> Transaction[Action]:
    """Store a locked action after moves that end its approval, if it has one. `changed` is the action with
    whatever else changes. `keep` says that what each person approved of this revision stays on record;
    `decided`, that a person decided so. Otherwise people are told that it waits again."""
    if not keep:
        yield from forget(action)
    ended = msgspec.structs.replace(changed, approval=None, attempt=None)
    stored = yield from actions.put(ended, steps, facts, now_ms)
    if action.approval is not None:
        last, _ = steps[-1]
        yield from hooks.on_approval_ended(
            ApprovalEnded(action=stored, revision=action.revision, move=last, decided=decided, at_ms=now_ms)
        )
    return stored


def forget(action: Action) -> Transaction[None]:
    """Forget what each person has approved of the present revision."""
    yield statements.forget_approvals(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=action.revision
    )


def take_back(decider: Decider, action: Action) -> Transaction[bool]:
    """Delete one's own of several approvals. Returns whether the action keeps others or waits anyway."""
    about = {
        "workspace_id": action.workspace_id,
        "action_id": action.action_id,
        "revision": action.revision,
    }
    taken = yield statements.forget_approval(approver=decider.approver, **about)
    if taken and action.status is Status.AWAITING_APPROVAL:
        return True
    others = yield from list_given(action)
    return bool(taken) and any(given.revision == action.revision for given in others)


def _given(row: Row) -> GivenApproval:
    return from_row(
        GivenApproval,
        row,
        name=row["name"] or row["approver"],
        assurance=Assurance(row["assurance"]),
        role=row["role"] or "",
        stands=bool(row["stands"]),
    )
