"""Events of actions, posted to the addresses that a workspace subscribed.

The transaction that stages or moves an action enqueues its event (`assent.engine.actions.hooks`), so an event
exists if and only if its change does, once: its id is made from the action and its version. A delivery is that of
`webhooks`, with the same signatures, retries and log.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions.hooks import ApprovalEnded, Decided, Listener, Settled, Staged
from assent.engine.webhooks import subscriptions, webhooks
from assent.engine.webhooks.webhooks import NewDelivery
from assent.gate.records import Action, read_proposal
from assent.gate.transitions import Move
from assent.gate.webhooks import EVENT_AFTER, TEST_EVENT, ActionEvent, EventAction, EventName
from assent.kernel.ids import WorkspaceId, derive_uuid7
from assent.kernel.limits import MAX_QUEUED_EVENTS
from assent.kernel.texts import truncate
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

MAX_LINE_CHARS: Final = 200
MAX_NAME_CHARS: Final = 500
"""An id, an address or a name that a provider or a person gave."""


def announce_staged(staged: Staged) -> Transaction[None]:
    for action in staged.actions:
        held = staged.held is not None
        yield from _announce(staged.listeners, "waiting", action, {}, staged.at_ms, held=held)


def announce_decision(decided: Decided) -> Transaction[None]:
    """Announce a decision, but not a second approval."""
    before, action = decided.before, decided.action
    if decided.move is Move.EDIT or before.status is not action.status:
        yield from _announce_move(decided.listeners, decided.move, action, decided.facts, decided.at_ms)


def announce_ended(ended: ApprovalEnded) -> Transaction[None]:
    """Announce that an action waits again. If it was rejected or edited, that is announced."""
    if ended.move is Move.WITHDRAW:
        yield from _announce_move(ended.listeners, ended.move, ended.action, {}, ended.at_ms)


def announce_outcome(settled: Settled) -> Transaction[None]:
    yield from _announce_move(settled.listeners, settled.move, settled.action, settled.facts, settled.at_ms)


def _announce_move(
    listeners: tuple[Listener, ...], move: Move, action: Action, facts: dict[str, Any], now_ms: int
) -> Transaction[None]:
    yield from _announce(listeners, EVENT_AFTER[move], action, facts, now_ms)


def _announce(
    listeners: tuple[Listener, ...],
    name: EventName,
    action: Action,
    facts: dict[str, Any],
    now_ms: int,
    *,
    held: bool = False,
) -> Transaction[None]:
    """Enqueue an event for each subscription that wants it. `facts` are those of the journal's event."""
    wanted = [each for each in listeners if each.url and name in each.wants]
    if not wanted:
        return
    workspace_id, sequence = action.workspace_id, action.version
    event = ActionEvent(
        type=f"action.{name}",
        id=_make_id(now_ms, workspace_id, action.action_id, sequence),
        created_at=iso_time(now_ms),
        workspace_id=workspace_id,
        sequence=sequence,
        action=describe(name, action, facts, now_ms, held=held),
    )
    body = msgspec.json.encode(event)
    for listener in wanted:
        queued = yield statements.count_queued_deliveries(
            workspace_id=workspace_id, subscription_id=listener.listener_id, most=MAX_QUEUED_EVENTS
        )
        full = queued[0]["queued"] >= MAX_QUEUED_EVENTS
        delivery = NewDelivery(
            workspace_id,
            _make_id(now_ms, event.id, listener.listener_id),
            action.run_id,
            event.type,
            listener.url,
            body,
            listener.listener_id,
            action.action_id,
        )
        yield from webhooks.drop(delivery, now_ms) if full else webhooks.post(delivery, now_ms)


def describe(
    name: EventName, action: Action, facts: dict[str, Any], now_ms: int, *, held: bool
) -> EventAction:
    """Describe an action for an event. Personal data has its kind for a title, and no summary."""
    effect, view, approval, personal = action.effect, action.view, action.approval, action.is_personal
    by, assurance, at_ms, reason, detail = "", "", None, "", ""
    if name == "rejected":
        by, assurance, at_ms, detail = facts["by"], facts["assurance"], now_ms, action.rejection or ""
    elif approval is not None:
        by, assurance, at_ms = approval.by, approval.claim.value, approval.at_ms
    if name in ("failed", "unknown"):
        reason, detail = facts.get("reason", ""), facts["detail"]
    return EventAction(
        id=action.action_id,
        run_id=action.run_id,
        type=effect.type,
        channel=effect.channel,
        operator=read_proposal(action).operator,
        risk=action.preflight.severity.value,
        status=action.status.value,
        execution=action.execution_state.value,
        revision=action.revision,
        digest=action.digest,
        title=truncate(view.noun if personal or not view.title else view.title, MAX_LINE_CHARS),
        summary="" if personal else truncate(view.summary, MAX_LINE_CHARS),
        review_url=f"/runs/{action.run_id}",
        expires_at=iso_time(action.expires_ms),
        held=held,
        decided_by=truncate(by, MAX_LINE_CHARS),
        assurance=assurance,
        decided_at=iso_time(at_ms),
        receipt_id=(action.external_id or "")[:MAX_NAME_CHARS],
        receipt_url=(action.external_url or "")[:MAX_NAME_CHARS],
        reason=reason,
        detail=truncate(detail, MAX_LINE_CHARS),
    )


def send_test(workspace_id: WorkspaceId, subscription_id: str, now_ms: int) -> Transaction[str | None]:
    """Enqueue a test event. Returns the id of its delivery; None if the subscription is off or gone."""
    found = yield from subscriptions.find(workspace_id, subscription_id)
    if found is None or not found.enabled:
        return None
    event_id = _make_id(now_ms, workspace_id, subscription_id, TEST_EVENT)
    event = ActionEvent(type=TEST_EVENT, id=event_id, created_at=iso_time(now_ms), workspace_id=workspace_id)
    body = msgspec.json.encode(event)
    delivery_id = _make_id(now_ms, event_id, subscription_id)
    delivery = NewDelivery(workspace_id, delivery_id, "", TEST_EVENT, found.url, body, subscription_id)
    yield from webhooks.post(delivery, now_ms)
    return delivery_id


def _make_id(now_ms: int, *parts: object) -> str:
    return derive_uuid7(now_ms, msgspec.json.encode(parts))
