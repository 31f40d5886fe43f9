"""Approve, reject, edit, withdraw. Chat, page and command line all use these functions (E70).

Every decision stores who made it and the assurance that it was a person (C8). It judges the stored
record under its lock; nothing that the caller claims about the record changes the result (E65).
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions, credits, recipients
from assent.engine.actions.editing import apply_edit
from assent.engine.core import jobs
from assent.engine.learning import memory as brain
from assent.engine.learning import pictures
from assent.engine.people import notifications
from assent.gate import gate
from assent.gate.gate import ANY_CONTENT, Decider, Links, SeenVersion, approver_key
from assent.gate.mail import keeps_requests, keeps_text
from assent.gate.policy import Requirement, suffices
from assent.gate.preflight import Checked, after_edit, explain_expiry, extend_expiry, refuse_schedule
from assent.gate.records import Action, Approval, Assurance, Effect, Status
from assent.gate.seals import Seals
from assent.gate.step_calls import WORKFLOW
from assent.gate.transitions import Move
from assent.kernel.ids import ActionId
from assent.kernel.refusals import bad_argument
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

SEND_JOB = "send_approved_action"


def approve(
    decider: Decider,
    action_id: ActionId,
    seen: SeenVersion,
    links: Links,
    now_ms: int,
    *,
    seals: Seals,
    send_now: bool = False,
) -> Transaction[Action]:
    """Approve an action, bound to exactly its present content. Approving again changes nothing.

    The server moves the status and seals the approval; a caller can only ask for it (E62).
    """
    facts = describe_decider(decider)
    action, policy = yield from actions.lock(decider.workspace_id, action_id)
    if action.revision > 1 and seen == ANY_CONTENT:
        seen = yield from _find_staged(action)
    if action.effect.recipients:
        action = yield from recipients.judge(action, now_ms)
    steps, needed = gate.judge_approval(action, policy, decider, seen, now_ms, links)
    # An approval without a valid seal was written into the database directly; it counts for
    # nothing.
    held = action.approval if action.approval is not None and seals.hold(action) else None
    approvers = 1
    if needed.approvers > 1:
        approvers = yield from _count_approvers(decider, action, held, needed, now_ms)
    facts |= {"approvers": approvers, "needed": needed.approvers}
    first = held is None or action.status is Status.AWAITING_APPROVAL
    if first and approvers < needed.approvers:
        yield from actions.note(action, "approval_recorded", facts, now_ms)
        return action
    approval = Approval(
        by=decider.by,
        at_ms=now_ms,
        assurance=decider.assurance,
        digest=action.digest,
        approvers=approvers,
        since=action.version,
        person_id=decider.person_id,
    )
    if held is not None and not first:
        approval = _confirm(held, approval)
    if approval != held:
        action = yield from actions.put(seals.seal(action, approval, policy), steps, facts, now_ms)
    if first and keeps_text(action):
        yield from brain.remember_approval(action, facts, now_ms)
    if action.effect.connector == WORKFLOW:
        return action  # its effect is the agent's next advance; nothing is sent
    if action.schedule_ms is not None or send_now:
        yield from _schedule(action, now_ms)
    if action.schedule_ms is None or action.schedule_ms <= now_ms:
        yield from notifications.ask_about_unsent(action, now_ms)
    return action


def _find_staged(action: Action) -> Transaction[SeenVersion]:
    """Return the staged content. A caller that names no content counts as having seen this one."""
    rows = yield statements.find_revision(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=1
    )
    return SeenVersion(digest=msgspec.json.decode(rows[0]["effect"], type=Effect).digest() if rows else "")


def _confirm(held: Approval, new: Approval) -> Approval:
    """Return a second approval. With higher assurance it replaces the first one."""
    approvers = max(new.approvers, held.approvers)
    if suffices(held.assurance, new.assurance):
        return msgspec.structs.replace(held, approvers=approvers)
    return msgspec.structs.replace(
        held,
        approvers=approvers,
        by=new.by,
        at_ms=new.at_ms,
        assurance=new.assurance,
        person_id=new.person_id,
    )


def _count_approvers(
    decider: Decider, action: Action, first: Approval | None, needed: Requirement, now_ms: int
) -> Transaction[int]:
    """Count the different people who approved this revision with enough assurance."""
    about = {
        "workspace_id": action.workspace_id,
        "action_id": action.action_id,
        "revision": action.revision,
    }
    said = [(decider.approver, decider.by, decider.assurance, now_ms)]
    if first is not None:
        # An approval given while one was enough counts as the first.
        said.insert(0, (approver_key(first.person_id, first.by), first.by, first.assurance, first.at_ms))
    for approver, name, assurance, at_ms in said:
        yield statements.add_approval(
            approver=approver, name=name, assurance=assurance.value, at_ms=at_ms, **about
        )
    rows = yield statements.list_approvals(**about)
    return sum(suffices(Assurance(row["assurance"]), needed.assurance) for row in rows)


def _schedule(action: Action, now_ms: int) -> Transaction[None]:
    """Enqueue the job that sends an approved action now or at its time."""
    due_ms = now_ms if action.schedule_ms is None else max(now_ms, action.schedule_ms)
    yield from jobs.enqueue(
        action.workspace_id,
        SEND_JOB,
        f"{action.action_id}:{action.version}",
        {
            "actionId": action.action_id,
            "approval": action.approval.since if action.approval is not None else None,
        },
        due_ms=due_ms,
        now_ms=now_ms,
    )


def reject(
    decider: Decider, action_id: ActionId, reason: str, seen: SeenVersion, links: Links, now_ms: int
) -> Transaction[Action]:
    """Reject an action for good and store the reason. An approval is withdrawn first."""
    action, _ = yield from actions.lock(decider.workspace_id, action_id)
    steps = gate.judge_decision(action, Move.REJECT, seen, now_ms, links)
    changed = msgspec.structs.replace(action, rejection=reason, approval=None, attempt=None)
    facts = describe_decider(decider, reason=reason)
    rejected = yield from actions.put(changed, steps, facts, now_ms)
    yield from brain.forget_approval(action)
    if keeps_text(rejected):
        entry = brain.decision_entry(rejected, "rejection", facts)
        yield from brain.remember(action.workspace_id, entry, now_ms)
    return rejected


def withdraw(
    decider: Decider, action_id: ActionId, reason: str, links: Links, now_ms: int
) -> Transaction[Action]:
    """Withdraw an approval before the action is claimed. If more approvals are needed, an approver
    withdraws their own."""
    action, _ = yield from actions.lock(decider.workspace_id, action_id)
    waits = action.status is Status.AWAITING_APPROVAL
    if waits and (yield from _take_back(decider, action, reason, now_ms)):
        return action
    steps = gate.judge_decision(action, Move.WITHDRAW, ANY_CONTENT, now_ms, links)
    yield statements.forget_approvals(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=action.revision
    )
    yield from brain.forget_approval(action)
    changed = msgspec.structs.replace(action, approval=None, attempt=None)
    return (yield from actions.put(changed, steps, describe_decider(decider, reason=reason), now_ms))


def _take_back(decider: Decider, action: Action, reason: str, now_ms: int) -> Transaction[bool]:
    """Withdraw one's own of several approvals. Returns whether there was one."""
    taken = yield statements.forget_approval(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        approver=decider.approver,
    )
    if taken:
        yield from actions.note(
            action, "approval_taken_back", describe_decider(decider, reason=reason), now_ms
        )
    return bool(taken)


def edit(
    decider: Decider,
    action_id: ActionId,
    changes: dict[str, Any],
    seen: SeenVersion,
    links: Links,
    now_ms: int,
    *,
    schedule_ms: int | None = None,
    checked: Checked | None = None,
    asked: str = "",
) -> Transaction[Action]:
    """Change the content: revision + 1, and an approval is revoked (E66).

    `checked` is the result of `assent.engine.actions.rechecking`. `asked` is the reviewer's request
    for later drafts; without one, no lesson is stored.
    """
    action, _ = yield from actions.lock(decider.workspace_id, action_id)
    steps = gate.judge_decision(action, Move.EDIT, seen, now_ms, links)
    refuse_schedule(schedule_ms, now_ms)
    kept_ms = action.schedule_ms if schedule_ms is None else schedule_ms
    effect = apply_edit(action.effect, changes)
    if effect == action.effect and kept_ms == action.schedule_ms:
        raise bad_argument("body", "a change", "the content as it already is")
    # Actions staged by an earlier version have no time in their content yet.
    effect = msgspec.structs.replace(effect, schedule_ms=kept_ms)
    expires_ms = extend_expiry(action.expires_ms, schedule_ms)
    found = after_edit(
        action.preflight,
        action.effect,
        effect,
        checked,
        explain_expiry(action.expires_ms, expires_ms),
    )
    changed = msgspec.structs.replace(
        action,
        effect=effect,
        digest=effect.digest(),
        revision=action.revision + 1,
        schedule_ms=kept_ms,
        expires_ms=expires_ms,
        approval=None,
        attempt=None,
        preflight=found,
    )
    changed = yield from recipients.judge(changed, now_ms)
    (changed,) = yield from credits.weigh_costs(changed.workspace_id, (changed,))
    moved_to = ["schedule"] if kept_ms != action.schedule_ms else []
    facts = describe_decider(decider, changed=sorted([*changes, *moved_to]), before=action.digest)
    yield statements.keep_revision(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        effect=msgspec.json.encode(action.effect).decode(),
    )
    done = yield from actions.put(changed, steps, facts, now_ms)
    if "media" in changes:
        yield from pictures.show_attached(done)
    yield from brain.forget_approval(action)
    if "body" in changes and keeps_text(done) and keeps_text(action):
        entry = brain.decision_entry(done, "edit", facts)
        yield from brain.remember(action.workspace_id, entry, now_ms)
    if asked.strip() and keeps_requests(done) and keeps_requests(action):
        yield from brain.remember(action.workspace_id, brain.lesson_entry(done, asked.strip(), facts), now_ms)
    return done


def describe_decider(decider: Decider, **more: Any) -> dict[str, Any]:
    """Describe the decider for the journal."""
    who = {"personId": decider.person_id} if decider.person_id else {}
    shown = {"shownAt": iso_time(decider.shown_ms)} if decider.shown_ms is not None else {}
    return {"by": decider.by, "assurance": decider.assurance, "via": decider.via, **who, **shown, **more}
