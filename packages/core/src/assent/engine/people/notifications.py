"""Notifications to people, by the registered notifiers.

The transaction that makes an action wait enqueues a job, once per run and cause. A note says what
waits in the words of `notes`, and links to a page that requires sign-in. It contains no content and
no link that decides. After a decision the note is replaced, or followed by another. When a job runs,
it checks the cause, the target's choices and the person's access again.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, Final, Literal

import msgspec

from assent.engine.actions import actions, hooks, policies
from assent.engine.actions.hooks import ApprovalEnded, Decided, Listener, Settled, Staged
from assent.engine.core import jobs, journal, tenancy
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.services import Services
from assent.engine.people import members, targets
from assent.engine.people.targets import NotificationTarget, TargetOwner
from assent.gate.gate import approver_key
from assent.gate.records import Action, Assurance, ExecutionState, Status
from assent.gate.rules.drift import read_changes
from assent.gate.transitions import Move
from assent.kernel.ids import ActionId, RunId, WorkspaceId
from assent.kernel.limits import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from assent.kernel.refusals import Refusal
from assent.kernel.structs import Record, from_row
from assent.ports import Notification, NotificationReceipt, Transaction
from assent.present.notes import (
    HOW,
    WORDS,
    DecisionWords,
    describe_decisions,
    is_unsent,
    make_note_card,
    read_approval,
    say_when_expired,
    summarize,
)
from assent.sql.loader import statements

log = logging.getLogger("assent.notifications")

Cause = Literal[
    "waiting", "changed", "decided", "unknown", "stopped", "unsent", "reminder", "held", "uncopied", "test"
]

NOTIFY_JOB: Final = "notify_people"
UNSENT_AFTER_MS: Final = HOUR_MS
"""How long an approved action may stay unsent before people are notified."""
LEASE_MS: Final = 4 * SECOND_MS
"""How long a message stays as a process left it that died while it wrote it."""
DECIDED_WITHIN_MS: Final = 10 * SECOND_MS
"""Decisions about a run in this time share one note."""
MESSAGES_KEPT_MS: Final = 60 * DAY_MS
EVENTS: Final = 500
"""Events of a run that are searched for a rejection."""

_CHOICES: Final[dict[str, str]] = {
    "waiting": "waiting",
    "changed": "waiting",
    "decided": "decided",
    "unknown": "problems",
    "stopped": "problems",
    "unsent": "problems",
    "reminder": "reminders",
    "held": "waiting",
    "uncopied": "problems",
}
"""The choice of a person that each cause belongs to."""


_ASKING: Final = ("waiting", "changed", "reminder", "decided")
SHOWS_ACTIONS: Final = "_app"
"""The end of the kinds whose messages show the actions of a run as they are now."""
TURNS: Final = 6
"""How often such a message is written at most, because an action changed meanwhile."""


class _Order(Record):
    """The payload of a job. `home` is the workspace of the target."""

    target_id: str
    home: WorkspaceId
    cause: Cause
    run_id: str = ""
    actions: tuple[tuple[WorkspaceId, ActionId], ...] = ()
    """The actions of a reminder."""


class _Prepared(Record):
    """A note for a target, and the runs whose decision replaces or follows it."""

    target: NotificationTarget
    address: str
    note: Notification
    runs: tuple[tuple[WorkspaceId, str], ...] = ()


def ask(
    workspace_id: WorkspaceId,
    run_id: str,
    cause: Cause,
    now_ms: int,
    *,
    about: str = "",
    after_ms: int = 0,
) -> Transaction[None]:
    """Enqueue a notification, once per run, cause and `about`, for each target that chose the cause.
    When the job runs, it checks again and sends nothing if the cause is gone."""
    listeners = yield from hooks.list_listeners(workspace_id)
    yield from _enqueue(listeners, workspace_id, run_id, cause, now_ms, about=about, after_ms=after_ms)


def _enqueue(
    listeners: tuple[Listener, ...],
    workspace_id: WorkspaceId,
    run_id: str,
    cause: Cause,
    now_ms: int,
    *,
    about: str = "",
    after_ms: int = 0,
) -> Transaction[None]:
    for listener in listeners:
        if cause == "changed" and not listener.kind.endswith(SHOWS_ACTIONS):
            continue
        if not listener.url and _CHOICES[cause] in listener.wants:
            yield from jobs.enqueue(
                workspace_id,
                NOTIFY_JOB,
                f"{listener.listener_id}:{run_id}:{cause}{about and f':{about}'}",
                {
                    "targetId": listener.listener_id,
                    "home": listener.workspace_id,
                    "runId": run_id,
                    "cause": cause,
                },
                due_ms=now_ms + after_ms,
                now_ms=now_ms,
            )


def _ask_about_change(listeners: tuple[Listener, ...], action: Action, now_ms: int) -> Transaction[None]:
    """Enqueue that the messages which show this action are written again."""
    about = f"{action.action_id}:{action.version}"
    yield from _enqueue(listeners, action.workspace_id, action.run_id, "changed", now_ms, about=about)


def ask_about_change(action: Action, now_ms: int) -> Transaction[None]:
    """As above, of a change that no hook tells of."""
    listeners = yield from hooks.list_listeners(action.workspace_id)
    yield from _ask_about_change(listeners, action, now_ms)


def ask_about_staged(staged: Staged) -> Transaction[None]:
    """Enqueue the note that something waits: about the run, or once about a flood of proposals."""
    workspace_id, now_ms = staged.workspace_id, staged.at_ms
    if staged.held == 0:
        yield from _enqueue(
            staged.listeners, workspace_id, staged.proposer, "held", now_ms, about=str(now_ms)
        )
    elif staged.proposer and staged.actions and staged.held is None:
        yield from _enqueue(staged.listeners, workspace_id, staged.run_id, "waiting", now_ms)


def ask_about_decision(decided: Decided) -> Transaction[None]:
    """Enqueue the note that replaces or follows the one about a waiting action, and in an hour one about an
    approved action that no job sends."""
    action, now_ms = decided.action, decided.at_ms
    yield from _ask_about_change(decided.listeners, action, now_ms)
    if decided.move is Move.EDIT:
        return
    told = partial(_enqueue, decided.listeners, action.workspace_id, action.run_id)
    if action.version != decided.before.version:
        turn = now_ms // DECIDED_WITHIN_MS
        after_ms = (turn + 1) * DECIDED_WITHIN_MS - now_ms
        yield from told("decided", now_ms, about=str(turn), after_ms=after_ms)
    is_due = action.schedule_ms is None or action.schedule_ms <= now_ms
    if decided.move is Move.APPROVE and action.view.executes != "agent" and is_due:
        # Actions of a run that are approved one after another share one note.
        about = str(now_ms // UNSENT_AFTER_MS)
        yield from told("unsent", now_ms, about=about, after_ms=UNSENT_AFTER_MS)


def ask_about_ended(ended: ApprovalEnded) -> Transaction[None]:
    """Enqueue the note that an action waits again, unless a person decided so."""
    action = ended.action
    yield from _ask_about_change(ended.listeners, action, ended.at_ms)
    if ended.decided:
        return
    cause: Cause = "stopped" if read_changes(action) else "waiting"
    about = f"{action.action_id}:{action.version}"
    yield from _enqueue(ended.listeners, action.workspace_id, action.run_id, cause, ended.at_ms, about=about)


def ask_about_outcome(settled: Settled) -> Transaction[None]:
    """Enqueue the note about an action that was not sent, or whose outcome is unknown."""
    action = settled.action
    yield from _ask_about_change(settled.listeners, action, settled.at_ms)
    if action.execution_state is ExecutionState.OUTCOME_UNKNOWN:
        yield from _enqueue(settled.listeners, action.workspace_id, action.run_id, "unknown", settled.at_ms)
    elif action.status is Status.FAILED or is_unsent(action, settled.at_ms):
        yield from ask_about_stopped(action, settled.at_ms)


def ask_about_stopped(action: Action, now_ms: int) -> Transaction[None]:
    """Enqueue a notification that an approved action could not be sent, once per action."""
    yield from ask(action.workspace_id, action.run_id, "stopped", now_ms, about=action.action_id)


def enqueue_test(owner: TargetOwner, target_id: str, now_ms: int) -> Transaction[None]:
    """Enqueue a test notification to one target."""
    payload = {"targetId": target_id, "home": owner.workspace_id, "cause": "test"}
    key = f"{target_id}:test:{now_ms}"
    yield from jobs.enqueue(owner.workspace_id, NOTIFY_JOB, key, payload, due_ms=now_ms, now_ms=now_ms)


def enqueue_reminder(
    home: WorkspaceId, target_id: str, about: list[tuple[str, str]], now_ms: int
) -> Transaction[None]:
    """Enqueue one reminder to a target about some actions, which are named with their workspace."""
    payload = {"targetId": target_id, "home": home, "cause": "reminder", "actions": about}
    key = f"{target_id}:reminder:{now_ms}:{about[0][1]}"
    yield from jobs.enqueue(home, NOTIFY_JOB, key, payload, due_ms=now_ms, now_ms=now_ms)


def forget_messages(now_ms: int, most: int) -> Transaction[int]:
    """Delete messages that no decision follows any more. Returns the number deleted."""
    gone = yield statements.delete_old_notification_messages(before_ms=now_ms - MESSAGES_KEPT_MS, most=most)
    return len(gone)


async def notify_target(services: Services, job: Job) -> None:
    """Handle the job: send one note to one target. Raises to be tried again."""
    order = _read_order(job)
    found = await services.store.read(partial(_prepare, services, job.workspace_id, order))
    if found is None:
        return
    if not await _may_mail(services, job.workspace_id, found):
        return
    for _ in range(TURNS):
        receipt = await _send(services, found, job.key)
        await services.store.write(partial(_record, services, found, receipt, services.clock.now_ms()))
        # Two jobs may write one message: the one that writes last looks again whether it wrote what is so.
        if not found.note.cards or receipt.problem:
            break
        later = await services.store.read(partial(_prepare, services, job.workspace_id, order))
        if later is None or later.note.cards == found.note.cards:
            break
        found = later
    if receipt.problem and not receipt.gone:
        raise JobFailed(f"no one was notified: {receipt.problem}")


async def _may_mail(services: Services, workspace_id: WorkspaceId, found: _Prepared) -> bool:
    """Whether a note may go out by the server's own mail. Confirmed members get all of theirs. Any other address gets a
    few in an hour, and none from a workspace that is not the owner's: its reader may not have asked for it."""
    notifier = services.notifiers.get(found.target.kind)
    if notifier is None or not notifier.by_mail:
        return True
    place, chosen_by = (found.runs[0][0] if found.runs else workspace_id), found.target.person_id

    def look() -> Transaction[tuple[bool, tuple[WorkspaceId, ...]]]:
        confirmed = yield from members.is_confirmed(place, found.address, chosen_by)
        person = (yield from members.find(chosen_by)) if chosen_by else None
        places = (yield from members.list_member_workspaces(person)) if person is not None else ()
        return confirmed, tuple(each.workspace_id for each in places)

    confirmed, places = await services.store.read(look)
    if confirmed:
        return True
    if not any(services.for_workspace(each).owned for each in (place, *places)):
        log.warning("a note of workspace %s is not mailed: its address is no confirmed member's", place)
        return False
    try:
        await services.limits.count_mail("notice", place, found.address, services.clock.now_ms())
    except Refusal:
        log.warning("a note of workspace %s is not mailed: its address got enough in this hour", place)
        return False
    return True


def _read_order(job: Job) -> _Order:
    said: dict[str, Any] = job.payload
    return _Order(
        target_id=str(said["targetId"]),
        home=WorkspaceId(said["home"]),
        cause=said["cause"],
        run_id=str(said.get("runId", "")),
        actions=tuple((WorkspaceId(place), ActionId(each)) for place, each in said.get("actions", ())),
    )


def _prepare(services: Services, workspace_id: WorkspaceId, order: _Order) -> Transaction[_Prepared | None]:
    """Return the note for a target; None if the cause is gone or the target may not hear of it."""
    target = yield from targets.find(order.home, order.target_id)
    if target is None:
        return None
    person = None
    if target.person_id:
        person = yield from members.find(target.person_id)
        if person is None:
            return None
    address = yield from targets.open_address(services, target)
    now_ms, base_url = services.clock.now_ms(), services.links.base_url
    if order.cause == "test":
        place = person.name if person else (yield from tenancy.get_workspace(workspace_id)).name
        text = f"Notifications {'for' if person else 'about'} {place} arrive here."
        note = Notification("Assent can reach you", text, f"{base_url}/inbox", now_ms)
        return _Prepared(target, address, note)
    chosen = target.choices
    if _CHOICES[order.cause] not in chosen.causes:
        return None
    if order.cause == "uncopied":
        is_for = person is None or person.is_owner
        return _Prepared(target, address, _describe_uncopied(f"{base_url}/audit", now_ms)) if is_for else None
    if order.cause == "held":
        if person is not None and not (yield from members.may_see(person, workspace_id)):
            return None
        held = yield from _describe_held(workspace_id, order.run_id, f"{base_url}/inbox", now_ms)
        return _Prepared(target, address, held) if held is not None else None
    staged = yield from _list_actions(workspace_id, order)
    about: list[Action] = []
    places: dict[WorkspaceId, str] = {}
    approver = approver_key(person.person_id, person.name) if person else ""
    for action in staged:
        if action.preflight.severity not in chosen.risks:
            continue
        if action.workspace_id not in places:
            if person is not None and not (yield from members.may_see(person, action.workspace_id)):
                continue
            places[action.workspace_id] = (yield from tenancy.get_workspace(action.workspace_id)).name
        if order.cause not in ("decided", "changed") and not WORDS[order.cause].concerns(action, now_ms):
            continue
        if order.cause in ("waiting", "reminder") and (yield from _has_approved(action, approver)):
            continue
        about.append(action)
    if not about:
        return None
    runs = tuple(dict.fromkeys((each.workspace_id, str(each.run_id)) for each in about))
    link = f"{base_url}/runs/{runs[0][1]}" if len(runs) == 1 else f"{base_url}/inbox"
    if target.kind.endswith(SHOWS_ACTIONS) and not target.person_id and order.cause in _ASKING[:2]:
        return (
            yield from _prepare_cards(services, target, address, runs[0], staged, link, now_ms, order.cause)
        )
    if order.cause == "decided":
        if target.kind.endswith(SHOWS_ACTIONS):
            return None
        rows = yield statements.find_notification_message(
            workspace_id=workspace_id, target_id=target.target_id, run_id=order.run_id
        )
        decided = yield from _find_decisions(about, workspace_id, order.run_id)
        if not rows or not decided:
            return None
        title, text = describe_decisions(about, decided, places[workspace_id], now_ms)
        note = Notification(title, text, link, now_ms, replaces=rows[0]["message"])
    else:
        words = WORDS[order.cause]
        text = summarize(about, (places[each.workspace_id] for each in about), words)
        if order.cause == "reminder":
            text += say_when_expired(about)
        note = Notification(words.title, text, link, now_ms)
    subject = runs[0][1] if len(runs) == 1 else "reminder"
    note = msgspec.structs.replace(note, subject=subject, quiet=chosen.quiet)
    # A decision replaces or follows a note that asked for one, and no other.
    return _Prepared(target, address, note, runs if order.cause in _ASKING else ())


def _prepare_cards(
    services: Services,
    target: NotificationTarget,
    address: str,
    run: tuple[WorkspaceId, str],
    staged: tuple[Action, ...],
    link: str,
    now_ms: int,
    cause: Cause,
) -> Transaction[_Prepared | None]:
    """Return the message that shows the actions of a run, in place of an earlier one; None if none is to change."""
    rows = yield statements.find_notification_message(
        workspace_id=run[0], target_id=target.target_id, run_id=run[1]
    )
    if cause == "changed" and not rows:
        return None
    policy = yield from policies.find(run[0])
    decided = yield from _find_decisions(list(staged), run[0], run[1])
    place = (yield from tenancy.get_workspace(run[0])).name
    cards = tuple(
        make_note_card(each, policy, decided.get(each.action_id), f"{link}#action-{each.action_id}", now_ms)
        for each in sorted(staged, key=lambda each: each.position)
        if each.preflight.severity in target.choices.risks
    )
    title = f"{place}: {'waits for a decision' if any(not each.state for each in cards) else 'decided'}"
    note = Notification(
        title,
        "; ".join(each.title for each in cards),
        link,
        now_ms,
        subject=run[1],
        replaces=rows[0]["message"] if rows else "",
        quiet=target.choices.quiet,
        cards=cards,
    )
    return _Prepared(target, address, note, (run,))


def _describe_uncopied(url: str, now_ms: int) -> Notification:
    """Return the note about checkpoints without a copy (`engine/audit/copies.py`)."""
    text = (
        "For a day no signed checkpoint of the audit log is known to be on another machine. Without a copy, who owns "
        "this machine could rewrite the log. The audit page says what to do."
    )
    return Notification("The audit log has no fresh copy", text, url, now_ms)


def _describe_held(
    workspace_id: WorkspaceId, proposed_by: str, url: str, now_ms: int
) -> Transaction[Notification | None]:
    """Return the one note about a flood of proposals (`engine/actions/flood.py`); None if it is decided."""
    rows = yield statements.count_held(workspace_id=workspace_id, proposed_by=proposed_by, now_ms=now_ms)
    if not rows[0]["held"]:
        return None
    name = (yield from tenancy.get_workspace(workspace_id)).name
    text = (
        f"An agent made many proposals in {name}. They are held as one question: release or reject the list."
    )
    return Notification("Many proposals at once", text, url, now_ms)


def _list_actions(workspace_id: WorkspaceId, order: _Order) -> Transaction[tuple[Action, ...]]:
    if order.cause != "reminder":
        return (yield from actions.run_actions(workspace_id, RunId(order.run_id)))
    found = []
    for place, action_id in order.actions:
        rows = yield statements.find_action(workspace_id=place, action_id=action_id)
        found += [actions.action_of(row) for row in rows]
    return tuple(found)


def _has_approved(action: Action, approver: str) -> Transaction[bool]:
    """Whether this person approved the present revision, and others are needed too."""
    if not approver:
        return False
    rows = yield statements.find_own_approval(
        workspace_id=action.workspace_id,
        action_id=action.action_id,
        revision=action.revision,
        approver=approver,
    )
    return bool(rows)


def _find_decisions(
    about: list[Action], workspace_id: WorkspaceId, run_id: str
) -> Transaction[dict[str, DecisionWords]]:
    """Return who decided about each action. A rejection is found in the journal."""
    decided = {each.action_id: words for each in about if (words := read_approval(each)) is not None}
    if any(each.status is Status.REJECTED for each in about):
        rejected = {each.action_id for each in about if each.status is Status.REJECTED}
        head = yield from journal.read_head(workspace_id, run_id)
        for event in (yield from journal.read_latest(head, EVENTS)):
            if event.kind != "action_reject":
                continue
            body = msgspec.json.decode(event.body)
            if body["actionId"] in rejected:
                how = HOW.get(Assurance(body["assurance"]), "")
                decided[body["actionId"]] = DecisionWords("rejected", body["by"], event.at_ms, how)
    return {str(action_id): words for action_id, words in decided.items()}


async def _send(services: Services, found: _Prepared, key: str) -> NotificationReceipt:
    kind = found.target.kind
    notifier = services.notifiers.get(kind)
    if notifier is None:
        return NotificationReceipt(f"this server has no notifier {kind!r} any more")
    try:
        async with asyncio.timeout(2 * services.limits.connector_timeout_seconds):
            return await notifier.send(services.outgoing, found.address, found.note, key)
    except Exception as error:
        # An extension's code. The message might contain the address, which is a secret.
        log.warning("notifier %s failed: %s", kind, type(error).__name__)
        return NotificationReceipt(f"{notifier.label} failed ({type(error).__name__})")


def _record(
    services: Services, found: _Prepared, receipt: NotificationReceipt, now_ms: int
) -> Transaction[None]:
    """Store the result beside the target. An address that never works again is removed."""
    target = found.target
    if receipt.gone:
        owner = TargetOwner(target.workspace_id, target.person_id)
        yield from targets.remove(services, owner, target.target_id, now_ms, by=target.kind)
        return
    yield statements.note_notification(
        workspace_id=target.workspace_id,
        target_id=target.target_id,
        now_ms=now_ms,
        problem=receipt.problem or None,
    )
    if receipt.problem:
        return
    for workspace_id, run_id in found.runs:
        yield statements.put_notification_message(
            workspace_id=workspace_id,
            target_id=target.target_id,
            run_id=run_id,
            # A message about several runs is not replaced: the others still wait.
            message=receipt.message if len(found.runs) == 1 else "",
            now_ms=now_ms,
        )


# Reminders of actions that wait: after the time that a target chose, and again before expiry.
#
# A repeating job looks for what is due and enqueues one note per target, in the transaction that remembers the
# reminder. Nothing is enqueued when an action is staged, so an edited expiry, a new target and a changed choice count
# at once.

EVERY_MS: Final = 5 * MINUTE_MS

LEAD_MS: Final = DAY_MS
"""How long before expiry the last reminder comes; at most a quarter of the action's life."""


def enqueue_due(now_ms: int, most: int) -> Transaction[int]:
    """Enqueue the due reminders, one per target. Returns the number of actions found."""
    rows = yield statements.list_due_reminders(now_ms=now_ms, lead_ms=LEAD_MS, most=most)
    about: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows:
        named = about.setdefault((row["home"], row["target_id"]), [])
        if (action := (row["workspace_id"], row["action_id"])) not in named:
            named.append(action)
        yield from_row(statements.note_reminder, row, now_ms=now_ms)
    for (home, target_id), named in about.items():
        yield from enqueue_reminder(WorkspaceId(home), target_id, named, now_ms)
    return len(rows)


def forget_old(now_ms: int, most: int) -> Transaction[int]:
    """Delete the reminders of actions that wait no longer. Returns the number deleted."""
    return len((yield statements.delete_old_reminders(most=most)))
