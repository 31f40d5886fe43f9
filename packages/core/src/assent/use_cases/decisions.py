"""Approve, reject, edit, ask for changes, withdraw: for the chat, the review page and its link, the batch and wrapped
calls alike.

`write` runs the transaction in the way of the caller: once per idempotency key, or after a check of the caller's access
in the same transaction. What it returns is returned.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from assent.engine.actions import account_binding, actions, circumstances, decisions, flood, recording
from assent.engine.actions.content import PreparedEdit, describe, prepare_edit
from assent.engine.actions.flood import HeldGroup
from assent.engine.core.failpoints import failpoint
from assent.engine.core.services import EffectServices, ExecutionServices, Services, StoreServices
from assent.engine.core.tenancy import Principal
from assent.engine.people import notifications
from assent.gate.effects import EXECUTE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.preflight import Readiness
from assent.gate.records import OPEN, Action, Assurance, Effect, PlannedTime
from assent.gate.transitions import APPROVED, AWAITING, RETRYABLE, state_of
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.structs import Record
from assent.ports import Begin, Clock, Guarded, Transaction
from assent.present.outlook import describe_binding
from assent.present.refusals import needs_approval, refuse_missing_type, refuse_stale, refuse_unready

log = logging.getLogger("assent.decisions")

T = TypeVar("T")
R = TypeVar("R")
Write = Callable[[Begin[T]], Awaitable[R]]

LeftOut = tuple[Action, Refusal]
"""An action that left a plan, and why."""

READINESS_SECONDS: Final = 2.0
"""After this time a decision is made without the readiness of the connector."""


class DecisionOrder(Record):
    """A decision that is asked for: by whom, about which action as the caller read it, and what they saw of it. With
    `send`, what is approved is also executed; a `comment` goes with an approval or an edit."""

    decider: Decider
    action: Action
    seen: SeenVersion
    send: bool = False
    comment: str = ""

    @property
    def sends_at_once(self) -> bool:
        return self.action.schedule_ms is None and (self.send or self.action.view.approval_executes)


async def approve(
    services: ExecutionServices,
    wish: DecisionOrder,
    write: Write[Action, R],
    *,
    undo: bool = False,
    by_job: bool = True,
    readiness: Readiness | None = None,
) -> R:
    """Approve an action. `undo`: what it sends can be taken back for a while. `by_job`: a job sends it, not the caller.
    `readiness` of its connector, if the caller has just asked for it.

    An account that can be named now is bound first, and what the approval relies on is observed. If either changes the
    action, its new content waits, and this refuses with STALE_REVISION. What is to be sent and cannot be is refused.
    """
    bound, now_ms = await _look_again(services, wish, readiness), services.clock.now_ms()
    queued = msgspec.structs.replace(wish, send=wish.send and by_job)
    return await _write(services, bound, write, lambda: _approve(services, queued, now_ms, undo=undo))


async def approve_together(
    services: Services, asked: Sequence[DecisionOrder], write: Write[tuple[Action, ...], R]
) -> R:
    """Approve several actions, of one or more workspaces: all or none. What they send can be taken back for a while."""
    bound = None
    for wish in asked:
        here = services.for_workspace(wish.action.workspace_id)
        bound = await _look_again(here, wish, None) or bound
    now_ms = services.clock.now_ms()

    def begin() -> Transaction[tuple[Action, ...]]:
        done = []
        for wish in asked:
            done.append((yield from _approve(services, wish, now_ms, undo=True)))
        return tuple(done)

    return await _write(services, bound, write, begin)


async def approve_plan(
    services: Services, asked: Sequence[DecisionOrder], write: Write[tuple[LeftOut, ...], tuple[LeftOut, ...]]
) -> tuple[LeftOut, ...]:
    """Approve the actions of a plan, each judged alone and with an approval of its own. What has changed since it was
    shown, what expired and what the policy refuses leaves the plan; the others are approved. Returns what left it."""
    before, kept = list[LeftOut](), list[DecisionOrder]()
    for wish in asked:
        try:
            bound = await _look_again(services.for_workspace(wish.action.workspace_id), wish, None)
        except Refusal as refusal:
            before.append((wish.action, refusal))
            continue
        if bound is None:
            kept.append(wish)
        else:
            before.append((bound, refuse_stale(bound, user_message=describe_binding(bound))))
    now_ms = services.clock.now_ms()

    def begin() -> Transaction[tuple[LeftOut, ...]]:
        left = list[LeftOut]()
        for wish in kept:
            failed = yield Guarded(begin=partial(_approve, services, wish, now_ms, undo=True))
            if failed and not isinstance(failed[0][0], Refusal):
                raise failed[0][0]
            if failed:
                left.append((wish.action, failed[0][0]))
        return tuple(left)

    return (*before, *await _write(services, None, write, begin))


async def _look_again(
    services: EffectServices, wish: DecisionOrder, readiness: Readiness | None
) -> Action | None:
    """Check what an approval needs before its transaction. Returns the action if it was bound to an account just now:
    that is a new revision, which the decider has not seen."""
    try:
        bound = await _bind(services, wish, readiness)
    except Refusal as refusal:
        await _keep_attempt(services, wish, refusal)
        raise
    if bound is not None:
        await _keep_attempt(services, wish, needs_approval(bound, None))
    return bound


async def _keep_attempt(services: StoreServices, wish: DecisionOrder, refusal: Refusal) -> None:
    """Keep that an approved action could not be sent, as if an executor had been called."""
    if wish.send and state_of(wish.action) in (APPROVED, RETRYABLE):
        workspace_id, by = wish.action.workspace_id, wish.decider.by
        await recording.record_refused(services, workspace_id, refusal, by=by, tool=EXECUTE)


async def _bind(services: EffectServices, wish: DecisionOrder, readiness: Readiness | None) -> Action | None:
    action, by, via = wish.action, wish.decider.by, wish.decider.via
    refuse_missing_type(services.effects, action)
    if action.status not in OPEN:
        return None  # the transaction refuses it, or changes nothing
    connector = services.connectors.get(action.effect.connector)
    ready = readiness or await read_readiness(services, action)
    if ready is not None and not ready.ready and _needs_account(services, wish):
        bound, ready = await account_binding.bind(services, action, by=by, via=via)
        if bound is not None:
            return bound
        if not ready.ready and wish.sends_at_once and connector is not None:
            raise refuse_unready(action, ready)
    if services.effects.must_observe(action, connector) or circumstances.rereads(services, action.effect):
        await account_binding.check_before_approval(services, action, by=by, via=via)
    return None


def _needs_account(services: EffectServices, wish: DecisionOrder) -> bool:
    """Whether an approval is about where its action goes: it waits, or is to be sent. Another approval alone sends
    nothing."""
    state = state_of(wish.action)
    if state not in (AWAITING, APPROVED, RETRYABLE) or wish.action.is_expired(services.clock.now_ms()):
        return False
    return state == AWAITING or wish.send


async def read_readiness(services: EffectServices, action: Action) -> Readiness | None:
    """Return whether an action can be executed now; None if its connector does not say."""
    try:
        async with asyncio.timeout(READINESS_SECONDS):
            return await circumstances.ask_readiness(services, action.workspace_id, action.effect)
    except Exception as error:
        name = type(error).__name__
        log.warning("connector %s does not say whether it is ready: %s", action.effect.connector, name)
        return None


def _approve(
    services: ExecutionServices, wish: DecisionOrder, now_ms: int, *, undo: bool
) -> Transaction[Action]:
    return (
        yield from decisions.approve(
            wish.decider,
            wish.action.action_id,
            wish.seen,
            now_ms,
            seals=services.keys.seals,
            send_now=wish.send,
            undo_ms=services.limits.undo_ms if undo else 0,
            comment=wish.comment,
        )
    )


async def _write(services: ExecutionServices, bound: Action | None, write: Write[T, R], begin: Begin[T]) -> R:
    try:
        done = await write(begin)
    except Refusal as refusal:
        if bound is not None and refusal.reason in (Reason.STALE_REVISION, Reason.REQUIRES_APPROVAL):
            raise refuse_stale(bound, user_message=describe_binding(bound)) from None
        raise
    failpoint("approve.committed")
    services.background.wake_jobs()
    return done


async def reject(clock: Clock, wish: DecisionOrder, reason: str, write: Write[Action, R]) -> R:
    """Reject an action for good, with a reason."""
    now_ms = clock.now_ms()
    return await write(lambda: _reject(wish, reason, now_ms))


async def reject_together(
    clock: Clock, asked: Sequence[DecisionOrder], reason: str, write: Write[tuple[Action, ...], R]
) -> R:
    """Reject several actions for the same reason: all or none."""
    now_ms = clock.now_ms()

    def begin() -> Transaction[tuple[Action, ...]]:
        done = []
        for wish in asked:
            done.append((yield from _reject(wish, reason, now_ms)))
        return tuple(done)

    return await write(begin)


def _reject(wish: DecisionOrder, reason: str, now_ms: int) -> Transaction[Action]:
    return decisions.reject(wish.decider, wish.action.action_id, reason, wish.seen, now_ms)


async def reject_held(
    clock: Clock,
    decider: Decider,
    group: HeldGroup,
    reason: str,
    until_ms: int,
    write: Write[int, int],
) -> int:
    """Reject what a flood of proposals brought until a time, in parts. Returns how many."""
    count, now_ms = 0, clock.now_ms()
    while some := await write(lambda: flood.reject_some(decider, group, reason, until_ms, now_ms)):
        count += some
    return count


async def release_held(
    clock: Clock, decider: Decider, group: HeldGroup, until_ms: int, write: Write[int, R]
) -> R:
    """Let what a flood of proposals brought until a time appear in the inbox. `write` gets how many."""
    now_ms = clock.now_ms()
    return await write(lambda: flood.release(decider, group, until_ms, now_ms))


async def withdraw(clock: Clock, wish: DecisionOrder, reason: str, write: Write[Action, R]) -> R:
    """Withdraw an approval of an action that is not sent yet."""
    now_ms = clock.now_ms()

    def begin() -> Transaction[Action]:
        yield from require_seen(wish)
        return (yield from decisions.withdraw(wish.decider, wish.action.action_id, reason, now_ms))

    return await write(begin)


def require_seen(wish: DecisionOrder) -> Transaction[None]:
    """Lock the action. Raises STALE_REVISION if its content is not what the decider saw."""
    action, *_ = yield from actions.lock(wish.decider.workspace_id, wish.action.action_id)
    if not wish.seen.matches(action):
        raise refuse_stale(action)


async def ask_for_changes(clock: Clock, wish: DecisionOrder, text: str, write: Write[Action, R]) -> R:
    """Ask the agent for changes. The content stays as it is; an approval is withdrawn."""
    now_ms = clock.now_ms()

    def begin() -> Transaction[Action]:
        asked = yield from decisions.ask_for_changes(
            wish.decider, wish.action.action_id, text, wish.seen, now_ms
        )
        # No hook tells of it: the action only waits for another one.
        yield from notifications.ask_about_change(asked, now_ms)
        return asked

    return await write(begin)


async def edit(
    services: EffectServices,
    wish: DecisionOrder,
    changes: dict[str, Any] | PreparedEdit,
    write: Write[Action, R],
    *,
    due: PlannedTime | None = None,
    asked: str = "",
    key_of: str = "",
) -> R:
    """Change the content of an action, its time, or both. An approval is revoked, and the new content waits.

    `asked` and `key_of` are those of `engine.actions.decisions.edit`.
    """
    prepared: PreparedEdit | Refusal | None = None
    if isinstance(changes, PreparedEdit):
        prepared = changes
    elif changes:
        prepared = await prepare_edit(services, wish.action, changes)
    now_ms = services.clock.now_ms()
    return await write(
        lambda: decisions.edit(
            wish.decider,
            wish.action.action_id,
            prepared,
            wish.seen,
            now_ms,
            due=due,
            asked=asked,
            comment=wish.comment,
            key_of=key_of,
        )
    )


async def replace_content(
    services: EffectServices, caller: Principal, waiting: Action, effect: Effect, part: str, via: str
) -> Action:
    """Give an open question that the server itself asks for a caller other content. A decision about what it showed
    before is refused."""
    view = await describe(services, caller.workspace_id, effect)
    prepared = PreparedEdit(of=waiting.digest, names=(part,), effect=effect, view=view, checked=None)
    return await edit(services, _order_of(caller, waiting, via), prepared, services.store.write)


async def take_back(
    services: StoreServices, caller: Principal, action: Action, reason: str, via: str
) -> Action:
    """Reject an action for the caller that asked for it and does not want it any more."""
    return await reject(services.clock, _order_of(caller, action, via), reason, services.store.write)


def _order_of(caller: Principal, action: Action, via: str) -> DecisionOrder:
    decider = Decider(caller.workspace_id, caller.name, Assurance.AGENT, via, test=caller.is_test)
    return DecisionOrder(decider, action, SeenVersion())


async def hand_over(services: EffectServices, wish: DecisionOrder, write: Write[Action, R]) -> R:
    """Turn an action into one that a person does by hand: other content, which waits."""
    prepared = await prepare_edit(services, wish.action, decisions.HAND_OVER, recheck=False)
    now_ms = services.clock.now_ms()
    return await write(lambda: decisions.hand_over(wish.decider, wish.action.action_id, prepared, now_ms))
