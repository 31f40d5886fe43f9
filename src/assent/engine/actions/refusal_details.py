"""Complete a refusal with the facts that its texts mention: content, approval commands, next calls,
link.

Runs after the transaction that refused, at the one place where a refusal becomes an answer.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

import msgspec

from assent.engine.actions import actions, circumstances
from assent.engine.core.services import Services
from assent.engine.core.tenancy import Principal
from assent.gate.records import Action, Status
from assent.kernel.ids import ActionId, RunId, is_uuid
from assent.kernel.reasons import MEANINGS
from assent.kernel.refusals import Reason, Recovery, Refusal
from assent.ports import StoreUnavailable
from assent.present.calls import wait_call
from assent.present.cards import render_card
from assent.present.next_steps import commands, next_calls
from assent.present.refusals import describe_elsewhere

SHOWN: Final = frozenset({Reason.REQUIRES_APPROVAL, Reason.STALE_REVISION})
"""Refusals that tell the agent to show the content."""

ABOUT_AN_ACTION: Final = SHOWN | {
    Reason.ACTION_CLOSED,
    Reason.ACTION_EXPIRED,
    Reason.CONNECTOR_FAILED,
    Reason.MISSING_CONNECTOR,
    Reason.OUTCOME_UNKNOWN,
}
"""Refusals that list the next possible calls."""


async def complete(services: Services, principal: Principal, refusal: Refusal, arguments: Any) -> Refusal:
    """Return the completed refusal, or the given one if it cannot be completed."""
    recovery = refusal.recovery()
    with contextlib.suppress(StoreUnavailable):
        if refusal.reason is Reason.INSUFFICIENT_SCOPE:
            return Refusal.from_answer(await _with_link(services, principal, recovery, arguments))
        known = recovery.next is not msgspec.UNSET
        if refusal.reason in ABOUT_AN_ACTION and isinstance(recovery.action_id, str) and not known:
            return Refusal.from_answer(
                await _with_calls(services, principal, recovery, ActionId(recovery.action_id))
            )
    return refusal


async def _with_calls(
    services: Services, principal: Principal, recovery: Recovery, action_id: ActionId
) -> Recovery:
    """Add the present action and its next calls to a refusal."""
    action, outlook = await circumstances.read_action(services, principal, action_id)
    early = False
    if recovery.reason is Reason.REQUIRES_APPROVAL:
        action, early = _as_refused(action, services.clock.now_ms())
    around = outlook.of(action)
    if early:
        # As if it waited: the policy says who decides, also before its time.
        around = outlook.of(msgspec.structs.replace(action, status=Status.AWAITING_APPROVAL))
        around = msgspec.structs.replace(around, may_execute=False)
    key = action.effect.channel
    is_open = action.status is Status.AWAITING_APPROVAL or (
        action.status is Status.APPROVED and action.execution_state in ("none", "retryable")
    )
    added: dict[str, Any] = {"next": list(next_calls(key, action, around))}
    if recovery.reason in SHOWN and is_open:
        added["show"] = render_card(key, action, around)
        added["commands"] = list(commands(key, action, around))
        if recovery.review_url is msgspec.UNSET:
            added["review_url"] = _link(services, principal, action.run_id)
    usual = recovery.summary_for_user == MEANINGS[Reason.REQUIRES_APPROVAL].summary
    if usual and action.status is Status.AWAITING_APPROVAL and not around.may_decide:
        words = describe_elsewhere(around.decider_note)
        added |= {"user_message": words.user_message, "fix_action_for_agent": words.fix}
        added |= {"stop_rule": words.stop_rule}
    return msgspec.structs.replace(recovery, **added)


def _as_refused(action: Action, now_ms: int) -> tuple[Action, bool]:
    """Return the action as a refused send leaves it: waiting again, if its approval is no longer
    enough. Also return whether it is only too early to send it."""
    if action.status is not Status.APPROVED or action.execution_state not in ("none", "retryable"):
        return action, False
    if action.schedule_ms is not None and now_ms < action.schedule_ms:
        return action, True
    return msgspec.structs.replace(action, status=Status.AWAITING_APPROVAL), False


async def _with_link(
    services: Services, principal: Principal, recovery: Recovery, arguments: Any
) -> Recovery:
    """Add the link to the run, so that a person can do what the key may not."""
    given = arguments if isinstance(arguments, dict) else {}
    action_id, run_id = given.get("actionId"), given.get("runId")
    workspace_id = principal.workspace_id
    if isinstance(action_id, str) and is_uuid(action_id):
        with contextlib.suppress(Refusal):
            action, _ = await services.store.read(lambda: actions.find(workspace_id, ActionId(action_id)))
            url = _link(services, principal, action.run_id)
            calls = [wait_call(action)] if action.status is Status.AWAITING_APPROVAL else []
            return msgspec.structs.replace(
                recovery, review_url=url, action_id=action_id, status=action.status, next=calls
            )
    elif isinstance(run_id, str) and is_uuid(run_id):
        run = await services.store.read(lambda: actions.find_run(workspace_id, RunId(run_id)))
        if run is not None:
            return msgspec.structs.replace(recovery, review_url=_link(services, principal, run.run_id))
    return recovery


def _link(services: Services, principal: Principal, run_id: RunId) -> str:
    now_ms = services.clock.now_ms()
    return services.links.review_url(principal.workspace_id, run_id, now_ms, principal.link_scope)
