"""Approve, reject, edit, withdraw, ask for changes, publish by hand (E94, E98). Chat, page and command line all use
these functions (E70).

Every decision stores who made it and the assurance that it was a person (C8). It judges the stored
record under its lock; nothing that the caller claims about the record changes the result (E65).

A change request takes an approval back. It is stored in the action's `metadata.changesAsked`, which pages and workflow
steps read, and as an event, which the agent reads. The action then waits for the agent, and is not counted as waiting
for people, until its content is another.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions, approvals, boundary, hooks, send_jobs
from assent.engine.actions.content import PreparedEdit
from assent.engine.actions.hooks import Decided, Settled
from assent.gate import gate
from assent.gate.effects import MANUAL
from assent.gate.gate import ANY_CONTENT, Decider, SeenVersion
from assent.gate.policy import PERSON, digest_policy, holds, suffices
from assent.gate.preflight import after_edit, explain_expiry, extend_expiry, refuse_schedule
from assent.gate.records import (
    BY_HAND,
    CHANGES_ASKED,
    PROPOSAL,
    STOPPED,
    Action,
    Approval,
    Assurance,
    Effect,
    PlannedTime,
    Status,
    Voice,
    as_test,
    list_change_requests,
    mark_stopped,
    read_proposal,
)
from assent.gate.rules import drift
from assent.gate.seals import Seals
from assent.gate.transitions import Move, path
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Problem, Reason, Refusal, bad_argument
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.present import refusals
from assent.present.refusals import wording
from assent.present.workflow_step import refuse_confirmation
from assent.sql.loader import statements


def approve(
    decider: Decider,
    action_id: ActionId,
    seen: SeenVersion,
    now_ms: int,
    *,
    seals: Seals,
    send_now: bool = False,
    undo_ms: int = 0,
    comment: str = "",
) -> Transaction[Action]:
    """Approve an action, bound to exactly its present content. Approving again changes nothing. If its
    type says so, or with `send_now`, the approval also starts the execution, after `undo_ms`: until
    then it can be withdrawn. A `comment` is kept with the event, where the agent reads it.

    The server moves the status and seals the approval; a caller can only ask for it (E62).
    """
    facts = describe_decider(decider, **({"text": comment} if comment else {}))
    action, policy, head, heard = yield from actions.lock(decider.workspace_id, action_id)
    if action.revision > 1 and seen == ANY_CONTENT:
        seen = yield from _find_staged(action)
    if action.effect.everyone or action.view.facets.recipients:
        action = yield from actions.judge(action, now_ms)
    observed = gate.read_observation(action)
    with wording():
        steps, needed, voice = gate.judge_approval(action, policy, decider, seen, now_ms)
    shown_ms, since_ms = decider.shown_ms, observed.since_ms
    if shown_ms is not None and shown_ms < since_ms and not shown_ms <= now_ms < since_ms:
        # The page was rendered before something else was observed. If the clock was set back, it was not.
        raise refusals.refuse_stale(action)
    # An approval without a valid seal was written into the database directly; it counts for
    # nothing.
    held = action.approval if action.approval is not None and seals.hold(action) else None
    voices: tuple[Voice, ...] = (voice,)
    if needed.approvers > 1 or needed.groups:
        voices = yield from approvals.add(decider, action, held, needed, now_ms)
    approvers = len(voices)
    claimed = None
    if not suffices(Assurance.AGENT, decider.assurance):
        claimed = yield from boundary.find_claim(decider.assurance)
    facts |= {
        **({"claimed": claimed} if claimed is not None else {}),
        "approvers": approvers,
        "needed": needed.approvers,
        "policy": digest_policy(policy),
        "severity": action.preflight.severity,
    }
    first = held is None or action.status is Status.AWAITING_APPROVAL
    before = action
    if decider.test:
        action = as_test(action)
    if first and not holds(voices, needed, action):
        if decider.test:
            action = yield from actions.put_without_event(action)
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
        voices=voices,
        observed=observed,
        claimed=claimed,
    )
    if held is not None and not first:
        approval = _confirm(held, approval)
    if approval != held:
        decided = drift.with_observation(action, observed) if drift.DRIFTED in action.metadata else action
        metadata = {name: value for name, value in decided.metadata.items() if name != STOPPED}
        decided = msgspec.structs.replace(decided, metadata=metadata)
        action = yield from actions.put(seals.seal(decided, approval, policy), steps, facts, now_ms, head)
    yield from hooks.on_decided(
        Decided(before=before, action=action, move=Move.APPROVE, facts=facts, at_ms=now_ms, first=first),
        heard=heard,
    )
    runs = action.view.executes != "agent"  # an agent goes on with it; nothing is sent
    if runs and first and (action.schedule_ms is not None or send_now or action.view.approval_executes):
        due_ms = now_ms + undo_ms if action.schedule_ms is None else max(now_ms, action.schedule_ms)
        yield from send_jobs.enqueue(action, due_ms, now_ms)
    elif runs and send_now and (action.schedule_ms or 0) <= now_ms:
        yield from send_jobs.send_now(action, now_ms + undo_ms, now_ms)
    return action


def _find_staged(action: Action) -> Transaction[SeenVersion]:
    """Return the staged content. A caller that names no content counts as having seen this one."""
    rows = yield statements.find_revision(
        workspace_id=action.workspace_id, action_id=action.action_id, revision=1
    )
    return SeenVersion(digest=msgspec.json.decode(rows[0]["effect"], type=Effect).digest() if rows else "")


def _confirm(held: Approval, new: Approval) -> Approval:
    """Return a second approval. With higher assurance it replaces the first one."""
    if suffices(held.assurance, new.assurance):
        if new.approvers <= held.approvers:
            return held
        return msgspec.structs.replace(held, approvers=new.approvers, voices=new.voices)
    return msgspec.structs.replace(
        held,
        approvers=max(new.approvers, held.approvers),
        by=new.by,
        at_ms=new.at_ms,
        assurance=new.assurance,
        claimed=new.claimed,
        person_id=new.person_id,
        voices=new.voices,
    )


def reject(
    decider: Decider, action_id: ActionId, reason: str, seen: SeenVersion, now_ms: int
) -> Transaction[Action]:
    """Reject an action for good and store the reason. An approval is withdrawn first."""
    action, policy, *_ = yield from actions.lock(decider.workspace_id, action_id)
    with wording():
        steps = gate.judge_decision(action, Move.REJECT, seen, now_ms)
    changed = msgspec.structs.replace(action, rejection=reason)
    facts = describe_decider(decider, reason=reason, policy=digest_policy(policy))
    rejected = yield from approvals.end_approval(action, changed, steps, facts, now_ms, keep=True)
    yield from hooks.on_decided(
        Decided(before=action, action=rejected, move=Move.REJECT, facts=facts, at_ms=now_ms)
    )
    return rejected


def withdraw(decider: Decider, action_id: ActionId, reason: str, now_ms: int) -> Transaction[Action]:
    """Withdraw an approval before the action is claimed. One of several approvers withdraws their own,
    also if all have approved: the action then waits, and the other approvals are kept."""
    action, policy, *_ = yield from actions.lock(decider.workspace_id, action_id)
    facts = describe_decider(decider, reason=reason, policy=digest_policy(policy))
    own = yield from approvals.take_back(decider, action)
    if own and action.status is Status.AWAITING_APPROVAL:
        yield from actions.note(action, "approval_taken_back", facts, now_ms)
        return action
    with wording():
        steps = gate.judge_decision(action, Move.WITHDRAW, ANY_CONTENT, now_ms)
    stopped = action if own else mark_stopped(action, reason)
    return (
        yield from approvals.end_approval(action, stopped, steps, {**facts, "ownOnly": own}, now_ms, keep=own)
    )


def edit(
    decider: Decider,
    action_id: ActionId,
    prepared: PreparedEdit | Refusal | None,
    seen: SeenVersion,
    now_ms: int,
    *,
    due: PlannedTime | None = None,
    asked: str = "",
    comment: str = "",
    key_of: str = "",
) -> Transaction[Action]:
    """Change the content: revision + 1, and an approval is revoked (E66). `key_of` is the person whose
    key the decider uses: both count as proposers of the new content.

    `prepared` is None if only the time changes, `due` if it stays. `asked` is the reviewer's request for later drafts;
    without one, no lesson is stored. The agent reads both it and a `comment`, which is about this draft alone. Raises
    `Refusal` if the action changed after the edit was prepared.
    """
    action, policy, *_ = yield from actions.lock(decider.workspace_id, action_id)
    with wording():
        steps = gate.judge_decision(action, Move.EDIT, seen, now_ms)
    kept = due or PlannedTime(action.schedule_ms, action.effect.schedule_offset)
    refuse_schedule(due.ms if due is not None else None, now_ms, schedulable=action.view.schedulable)
    if isinstance(prepared, Refusal):
        raise prepared
    if prepared is not None and prepared.of != action.digest:
        raise refusals.refuse_stale(action)
    effect = prepared.effect if prepared is not None else action.effect
    view = prepared.view if prepared is not None else action.view
    names = prepared.names if prepared is not None else ()
    if effect == action.effect and kept.ms == action.schedule_ms:
        raise bad_argument("body", "a change", "the content as it already is")
    effect = msgspec.structs.replace(effect, schedule_ms=kept.ms, schedule_offset=kept.offset)
    expires_ms = extend_expiry(action.expires_ms, due.ms if due is not None else None)
    checked = prepared.checked if prepared is not None else None
    found = after_edit(action, effect, view, checked, explain_expiry(action.expires_ms, expires_ms))
    changed = msgspec.structs.replace(
        action,
        effect=effect,
        digest=effect.digest(),
        revision=action.revision + 1,
        schedule_ms=kept.ms,
        expires_ms=expires_ms,
        preflight=found,
        view=view,
    )
    if prepared is not None:
        observed = msgspec.structs.replace(prepared.observed, since_ms=now_ms)
        changed = drift.with_observation(changed, observed)
    changed = _name_editor(changed, decider.approver, f"{PERSON}{key_of}" if key_of else "")
    changed = as_test(changed) if decider.test else changed
    changed = yield from actions.judge(changed, now_ms)
    (changed,) = yield from hooks.weigh(changed.workspace_id, (changed,))
    moved_to = ["schedule"] if kept.ms != action.schedule_ms else []
    facts = describe_decider(
        decider,
        changed=sorted([*names, *moved_to]),
        before=action.digest,
        view=view.digest(),
        policy=digest_policy(policy),
        **({"text": said} if (said := comment or asked.strip()) else {}),
    )
    yield from actions.revise(action, changed)
    done = yield from approvals.end_approval(action, changed, steps, facts, now_ms, keep=True)
    yield from hooks.on_decided(
        Decided(
            before=action,
            action=done,
            move=Move.EDIT,
            facts=facts,
            at_ms=now_ms,
            changed=tuple(names),
            asked=asked.strip(),
        )
    )
    return done


def _name_editor(changed: Action, *editors: str) -> Action:
    """Return an edited action with those who edited it: for the policy they propose its new content."""
    proposal = read_proposal(changed)
    made = tuple((changed.revision, each) for each in editors if each)
    known = tuple(dict.fromkeys((*proposal.editors, *made)))
    said = msgspec.to_builtins(msgspec.structs.replace(proposal, editors=known))
    return msgspec.structs.replace(changed, metadata={**changed.metadata, PROPOSAL: said})


def describe_decider(decider: Decider, **more: Any) -> dict[str, Any]:
    """Describe the decider for the journal."""
    who = {"personId": decider.person_id, "role": decider.role} if decider.person_id else {}
    shown = {"shownAt": iso_time(decider.shown_ms)} if decider.shown_ms is not None else {}
    return {"by": decider.by, "assurance": decider.assurance, "via": decider.via, **who, **shown, **more}


MOST_KEPT: Final = 20
"""Requests stored with an action; the journal has all of them."""


def ask_for_changes(
    decider: Decider, action_id: ActionId, text: str, seen: SeenVersion, now_ms: int
) -> Transaction[Action]:
    """Store a change request about exactly the content that the reviewer saw, and withdraw its approval, as a
    rejection does. Raises STALE_REVISION for other content."""
    action, *_ = yield from actions.lock(decider.workspace_id, action_id)
    with wording():
        *withdrawal, _ = gate.judge_decision(action, Move.REJECT, seen, now_ms)
    own, facts = (yield from approvals.take_back(decider, action)), describe_decider(decider)
    wish = {
        "text": text,
        "by": decider.by,
        "assurance": decider.assurance,
        "revision": action.revision,
        "at": iso_time(now_ms),
    }
    kept = [*list_change_requests(action), wish][-MOST_KEPT:]
    changed = msgspec.structs.replace(action, metadata={**action.metadata, CHANGES_ASKED: kept})
    yield from actions.hold(action, actions.WITH_AGENT)
    if withdrawal:
        ended = {**facts, "ownOnly": own}
        stored = yield from approvals.end_approval(
            action, changed, tuple(withdrawal), ended, now_ms, keep=own
        )
    else:
        stored = yield from actions.put_without_event(changed)
        if own:
            yield from actions.note(stored, "approval_taken_back", facts, now_ms)
    yield from actions.note(stored, "changes_asked", {**facts, "text": text}, now_ms)
    return stored


HAND_OVER: Final[dict[str, Any]] = {"connector": MANUAL, "target": None}
"""The edit that hands an action over to a person."""


def hand_over(
    decider: Decider, action_id: ActionId, prepared: PreparedEdit | Refusal, now_ms: int
) -> Transaction[Action]:
    """Change an action's connector to manual: another effect, so it needs a new approval (C29).
    `prepared` is the edit `HAND_OVER`."""
    action, _ = yield from actions.find(decider.workspace_id, action_id)
    if action.effect.connector == MANUAL:
        return action
    refuse_confirmation(action)
    return (yield from edit(decider, action_id, prepared, ANY_CONTENT, now_ms))


def record_publish(
    decider: Decider,
    action_id: ActionId,
    url: str | None,
    now_ms: int,
    *,
    seals: Seals,
    blocked: bool = False,
) -> Transaction[Action]:
    """Record that a person published an approved action by hand, and where. Only a published post has a URL.

    `blocked` says that the connector cannot perform the action now, so that publishing by hand is
    the only way.
    """
    action, policy, *_ = yield from actions.lock(decider.workspace_id, action_id)
    by_hand = action.view.executes == "person" or blocked
    needed = policy.require(action)
    with refusals.wording():
        gate.judge_execution(action, needed, now_ms, seals, by_hand=by_hand)
    present = yield from approvals.list_present(action, needed)
    if present is not None and not holds(present, needed, action):
        raise refusals.needs_approval(action, refusals.APPROVER_LEFT)
    refuse_confirmation(action)
    if not by_hand:
        raise Refusal(
            Reason.VALIDATION_ERROR,
            action_id=action_id,
            problems=[
                Problem(
                    "actionId",
                    "an action that is published by hand; chieflab_use_manual_fallback makes it one",
                    f"one that {action.effect.connector} publishes",
                )
            ],
        )
    if url is None and action.view.has_address:
        raise bad_argument("url", "the live address, as the human gave it", "none")
    changed = msgspec.structs.replace(
        action,
        executed_ms=now_ms,
        external_id=url or f"by-hand:{action_id}",
        external_url=url,
        metadata={**action.metadata, BY_HAND: True},
    )
    facts = {"by": decider.by, "assurance": decider.assurance, "via": decider.via, "externalUrl": url}
    done = yield from actions.put(changed, path(action, Move.HAND_OVER), facts, now_ms)
    yield from hooks.on_settled(Settled(action=done, move=Move.HAND_OVER, facts=facts, at_ms=now_ms))
    return done
