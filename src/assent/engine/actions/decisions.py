"""Approve, reject, edit, withdraw. Chat, page and command line all use these functions (E70).

Every decision stores who made it and the assurance that it was a person (C8). It judges the stored record under its
lock; nothing that the caller claims about the record changes the result (E65).
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.engine.actions import actions, credits, recipients
from assent.engine.actions.confirming import refuse_cut
from assent.engine.actions.editing import apply_edit
from assent.engine.core import jobs
from assent.engine.learning import memory as brain
from assent.engine.learning import pictures
from assent.engine.people import notifications
from assent.gate import gate, guidance, schedules
from assent.gate.gate import Links
from assent.gate.names import read_claim
from assent.gate.policy import Requirement, suffices
from assent.gate.preflight import BLOCKING_GATES, Checked, after_edit, blocking_gate
from assent.gate.records import Action, Approval, Assurance, Effect, Status
from assent.gate.seals import Seals
from assent.gate.step_calls import WORKFLOW
from assent.gate.transitions import AWAITING, Move, follow, path, state_of
from assent.kernel import canonical
from assent.kernel.ids import ActionId, WorkspaceId
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.times import full_time, iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

SEND_JOB = "send_approved_action"


class Decider(msgspec.Struct, frozen=True):
    """The person who decides, the surface, and the assurance that it is a person."""

    workspace_id: WorkspaceId
    by: str
    assurance: Assurance
    via: str
    person_id: str = ""
    """The id of a signed-in person. It distinguishes approvers."""
    shown_ms: int | None = None
    """When the page that this decision came from was shown."""

    @property
    def approver(self) -> str:
        return approver_key(self.person_id, self.by)


def approver_key(person_id: str, name: str) -> str:
    """Key that identifies an approver: the person id if signed in, else the given name."""
    return f"person:{person_id}" if person_id else read_claim(name)


class Seen(msgspec.Struct, frozen=True):
    """The revision or digest that the caller saw. A mismatch raises STALE_REVISION."""

    revision: int | None = None
    digest: str | None = None


def approve(
    decider: Decider,
    action_id: ActionId,
    seen: Seen,
    links: Links,
    now_ms: int,
    *,
    seals: Seals,
    send_now: bool = False,
) -> Transaction[Action]:
    """Approve an action, bound to exactly its present content. Approving again changes nothing.

    The server moves the status and seals the approval; a caller can only ask for it (E62).
    """
    action, policy = yield from actions.lock(decider.workspace_id, action_id)
    gate.judge_decision(action, Move.APPROVE, now_ms, links)
    refuse_stale(action, seen)
    yield from _refuse_unseen(action, seen)
    refuse_unfit(action)
    refuse_cut(action)
    refuse_overdue(decider, action, now_ms)
    action = yield from recipients.judge(action, now_ms)
    gate.judge_assurance(action, policy, decider.assurance, links)
    state = state_of(action)
    needed = policy.requirement(action.preflight.severity)
    # An approval without a valid seal was written into the database directly; it counts for nothing.
    held = action.approval if seals.hold(action) else None
    approvers = yield from _approvers(decider, action, held, needed, now_ms)
    facts = facts_of(decider, approvers=approvers, needed=needed.approvers)
    if state == AWAITING or held is None:
        if approvers < needed.approvers:
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
            policy=canonical.digest(policy),
        )
        reached = follow(state, Move.APPROVE) if state == AWAITING else state
        action = yield from actions.put(seals.sealed(action, approval), reached, Move.APPROVE, facts, now_ms)
        yield from brain.remember_approval(action, facts, now_ms)
    else:
        approval = msgspec.structs.replace(held, approvers=max(approvers, held.approvers))
        if not suffices(approval.assurance, decider.assurance):
            # A decision with higher assurance confirms the earlier approval.
            approval = msgspec.structs.replace(
                approval,
                by=decider.by,
                at_ms=now_ms,
                assurance=decider.assurance,
                person_id=decider.person_id,
            )
        if approval != held:
            approval = msgspec.structs.replace(approval, policy=canonical.digest(policy))
            action = yield from actions.put_all(
                seals.sealed(action, approval), ((Move.APPROVE, facts),), now_ms
            )
    yield from _schedule(action, now_ms, send_now)
    yield from notifications.ask_about_unsent(action, now_ms)
    return action


def refuse_unfit(action: Action) -> None:
    """Raise `Refusal` for content that can never be delivered, such as a mail without recipients."""
    if (unfit := blocking_gate(action.effect)) is None:
        return
    needs = {"to": "who gets it"} if "recipients" in unfit else {"body": "what to change"}
    raise Refusal(
        Reason.VALIDATION_ERROR,
        action_id=action.action_id,
        status=action.status,
        user_message=BLOCKING_GATES[unfit],
        fix="STOP. Ask the user, change the action with the recovery tool, show the new version and wait for a yes.",
        stop_rule="Do not approve this action before the user has seen the changed version.",
        problems=[Problem("actionId", "an action that could go out once it is approved", unfit)],
        recovery_tool="chieflab_edit_action",
        recovery_args={"actionId": action.action_id},
        recovery_needs=needs,
    )


def refuse_overdue(decider: Decider, action: Action, now_ms: int) -> None:
    """Raise `Refusal` if the scheduled time has passed, so that an approval would send at once.

    A page rendered after that time said so beside its button and is not refused; a chat is asked for a new time.
    """
    due_ms = action.schedule_ms
    if due_ms is None or state_of(action) != AWAITING or not schedules.overdue(action, now_ms):
        return
    if decider.shown_ms is not None and decider.shown_ms >= due_ms:
        return
    raise Refusal(
        Reason.VALIDATION_ERROR,
        action_id=action.action_id,
        status=action.status,
        user_message=f"It was to go out on {full_time(due_ms)}, and that time has passed. It is not approved and "
        "nothing was sent. When should it go out?",
        fix="STOP. Ask the user for a new time, set it with the recovery tool, show the new version and wait for a "
        "yes.",
        stop_rule="Do not approve this action before the user has seen the new time.",
        problems=[Problem("actionId", "an action whose time has not passed", "one whose time has passed")],
        recovery_tool="chieflab_edit_action",
        recovery_args={"actionId": action.action_id},
        recovery_needs={"scheduleFor": "when it goes out"},
    )


def _approvers(
    decider: Decider, action: Action, first: Approval | None, needed: Requirement, now_ms: int
) -> Transaction[int]:
    """Count the different people who approved this revision with enough assurance."""
    if needed.approvers == 1:
        return 1
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


def _schedule(action: Action, now_ms: int, send_now: bool) -> Transaction[None]:
    """Enqueue the job that sends the action now or at its approved time, independent of the chat."""
    if action.status is not Status.APPROVED or (action.schedule_ms is None and not send_now):
        return
    if action.effect.connector == WORKFLOW:
        return  # its effect is the agent's next advance; nothing is sent
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
    decider: Decider, action_id: ActionId, reason: str, seen: Seen, links: Links, now_ms: int
) -> Transaction[Action]:
    """Reject an action, which is final, and store the reason. An approved action is withdrawn first."""
    action, _ = yield from actions.lock(decider.workspace_id, action_id)
    gate.judge_decision(action, Move.REJECT, now_ms, links)
    refuse_stale(action, seen)
    changed = msgspec.structs.replace(action, rejection=reason, approval=None, attempt=None)
    facts = facts_of(decider, reason=reason)
    rejected = yield from walk(changed, Move.REJECT, facts, now_ms)
    yield from brain.forget_approval(action)
    if brain.keeps(rejected):
        entry = brain.decision_entry(rejected, "rejection", facts)
        yield from brain.remember(action.workspace_id, entry, now_ms)
    return rejected


def withdraw(
    decider: Decider, action_id: ActionId, reason: str, links: Links, now_ms: int
) -> Transaction[Action]:
    """Withdraw an approval before the action is claimed. If more approvals are needed, an approver withdraws their
    own."""
    action, _ = yield from actions.lock(decider.workspace_id, action_id)
    if state_of(action) == AWAITING and (yield from _take_back(decider, action, reason, now_ms)):
        return action
    gate.judge_decision(action, Move.WITHDRAW, now_ms, links)
    yield statements.forget_approvals(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=action.revision
    )
    yield from brain.forget_approval(action)
    changed = msgspec.structs.replace(action, approval=None, attempt=None)
    return (yield from walk(changed, Move.WITHDRAW, facts_of(decider, reason=reason), now_ms))


def _take_back(decider: Decider, action: Action, reason: str, now_ms: int) -> Transaction[bool]:
    """Withdraw one of several needed approvals, by the person who gave it. Returns whether there was one."""
    taken = yield statements.forget_approval(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        approver=decider.approver,
    )
    if taken:
        yield from actions.note(action, "approval_taken_back", facts_of(decider, reason=reason), now_ms)
    return bool(taken)


def edit(
    decider: Decider,
    action_id: ActionId,
    changes: dict[str, Any],
    seen: Seen,
    links: Links,
    now_ms: int,
    *,
    schedule_ms: int | None = None,
    checked: Checked | None = None,
    asked: str = "",
) -> Transaction[Action]:
    """Change the content: revision + 1, and an approval is revoked (E66).

    `checked` is the result of `assent.engine.actions.rechecking`. `asked` is the reviewer's request for later drafts;
    without one, no lesson is stored.
    """
    action, _ = yield from actions.lock(decider.workspace_id, action_id)
    gate.judge_decision(action, Move.EDIT, now_ms, links)
    refuse_stale(action, seen)
    schedules.refuse_unfit(schedule_ms, now_ms)
    kept_ms = action.schedule_ms if schedule_ms is None else schedule_ms
    effect = apply_edit(action.effect, changes)
    if effect == action.effect and kept_ms == action.schedule_ms:
        raise Refusal(
            Reason.VALIDATION_ERROR, problems=[Problem("body", "a change", "the content as it already is")]
        )
    # Actions staged by an earlier version have no time in their content yet.
    effect = msgspec.structs.replace(effect, schedule_ms=kept_ms)
    expires_ms = schedules.expiry(action.expires_ms, schedule_ms)
    found = after_edit(
        action.preflight,
        action.effect,
        effect,
        checked,
        schedules.explain_expiry(action.expires_ms, expires_ms),
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
    facts = facts_of(decider, changed=sorted([*changes, *moved_to]), before=action.digest)
    yield statements.keep_revision(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        effect=msgspec.json.encode(action.effect).decode(),
    )
    done = yield from walk(changed, Move.EDIT, facts, now_ms)
    if "media" in changes:
        yield from pictures.take_along(done)
    yield from brain.forget_approval(action)
    if "body" in changes and brain.keeps(done) and brain.keeps(action):
        entry = brain.decision_entry(done, "edit", facts)
        yield from brain.remember(action.workspace_id, entry, now_ms)
    if asked.strip() and brain.keeps_requests(done) and brain.keeps_requests(action):
        yield from brain.remember(action.workspace_id, brain.lesson_entry(done, asked.strip(), facts), now_ms)
    return done


def walk(changed: Action, move: Move, facts: dict[str, Any], now_ms: int) -> Transaction[Action]:
    """Store a changed action after the moves that lead to `move`, each with its event (E70)."""
    state, steps = state_of(changed), []
    for step in path(state, move):
        state = follow(state, step)
        steps.append((step, {**facts, "status": state.status}))
    changed = msgspec.structs.replace(changed, status=state.status, execution_state=state.execution)
    return (yield from actions.put_all(changed, tuple(steps), now_ms))


def refuse_stale(action: Action, seen: Seen) -> None:
    """Raise STALE_REVISION if `seen` is not the present content. A digest may be abbreviated."""
    plain = action.digest.removeprefix(canonical.DIGEST_PREFIX)
    given = (seen.digest or "").removeprefix(canonical.DIGEST_PREFIX)
    if (seen.revision is not None and seen.revision != action.revision) or (
        seen.digest is not None and (len(given) < 8 or not plain.startswith(given))
    ):
        raise stale(action)


def _refuse_unseen(action: Action, seen: Seen) -> Transaction[None]:
    """Raise STALE_REVISION if the content was changed after staging and the caller does not say which content they
    saw."""
    if action.revision == 1 or seen.revision is not None or seen.digest is not None:
        return
    rows = yield statements.find_revision(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=1
    )
    if not rows or msgspec.json.decode(rows[0]["effect"], type=Effect).digest() != action.digest:
        raise stale(action)


def stale(action: Action, *, user_message: str | None = None) -> Refusal:
    """Build the STALE_REVISION refusal. `explaining` adds the present content."""
    return Refusal(
        Reason.STALE_REVISION,
        user_message=user_message,
        status=action.status,
        action_id=action.action_id,
        render_in_chat=msgspec.to_builtins(guidance.as_it_is(action)),
    )


def facts_of(decider: Decider, **more: Any) -> dict[str, Any]:
    """Describe the decider for the journal."""
    who = {"personId": decider.person_id} if decider.person_id else {}
    shown = {"shownAt": iso_time(decider.shown_ms)} if decider.shown_ms is not None else {}
    return {"by": decider.by, "assurance": decider.assurance, "via": decider.via, **who, **shown, **more}
