"""Publishing by hand: a person publishes an action and records where it is (E94, E98)."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assent.engine.actions import actions, approvals, decisions, hooks
from assent.engine.actions.editing import PreparedEdit
from assent.engine.actions.hooks import Settled
from assent.gate import gate
from assent.gate.effects import MANUAL
from assent.gate.gate import ANY_CONTENT, Decider
from assent.gate.policy import holds
from assent.gate.records import BY_HAND, Action
from assent.gate.seals import Seals
from assent.gate.transitions import Move, path
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Problem, Reason, Refusal, bad_argument
from assent.ports import Transaction
from assent.present import refusals
from assent.present.refusals import Links
from assent.present.workflow_step import refuse_confirmation

HAND_OVER: Final[dict[str, Any]] = {"connector": MANUAL, "target": None}
"""The edit that hands an action over to a person."""


def hand_over(
    decider: Decider, action_id: ActionId, prepared: PreparedEdit | Refusal, links: Links, now_ms: int
) -> Transaction[Action]:
    """Change an action's connector to manual: another effect, so it needs a new approval (C29).
    `prepared` is the edit `HAND_OVER`."""
    action, _ = yield from actions.find(decider.workspace_id, action_id)
    if action.effect.connector == MANUAL:
        return action
    refuse_confirmation(action)
    return (yield from decisions.edit(decider, action_id, prepared, ANY_CONTENT, links, now_ms))


def record_publish(
    decider: Decider,
    action_id: ActionId,
    url: str | None,
    links: Links,
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
    with refusals.wording(links):
        gate.judge_execution(action, needed, now_ms, seals, by_hand=by_hand)
    present = yield from approvals.list_present(action, needed)
    if present is not None and not holds(present, needed, action):
        raise refusals.needs_approval(action, links(action), refusals.APPROVER_LEFT)
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
