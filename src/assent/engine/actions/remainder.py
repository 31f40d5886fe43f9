"""What is left of an effect that went out in part: an action of its own, for the accounts that were not reached.

What went out is executed and stays so. The rest waits for approval like everything else, because the world has changed
since it was approved: half of it is public.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.gate.preflight import Readiness, preflight
from assent.gate.records import Action, ExecutionState, Status
from assent.kernel.ids import RANDOM_BYTES, ActionId, uuid7
from assent.kernel.limits import ACTION_TTL_MS
from assent.ports import Remainder, Transaction

PARTLY: Final = "partly"
OFFERED_AS: Final = "restActionId"


def action_for(action: Action, left: Remainder, now_ms: int) -> Action:
    """The new action. Its id follows from the attempt, because a store may run a transaction twice."""
    seed = hashlib.sha256(f"{action.action_id}:{action.revision}:rest".encode()).digest()
    old = action.preflight
    effect = msgspec.structs.replace(left.effect, schedule_ms=None)  # its time has come and gone
    return msgspec.structs.replace(
        action,
        action_id=ActionId(uuid7(now_ms, seed[:RANDOM_BYTES])),
        version=1,
        effect=effect,
        digest=effect.digest(),
        revision=1,
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        preflight=preflight(
            effect,
            Readiness(ready=True),
            declared=old.severity,
            warnings=(
                f"Already out on {left.reached}; this is the rest, which failed there ({left.why}).",
                *old.warnings,
            ),
            recommendations=old.recommendations,
            gates=tuple(gate for gate in old.gates if gate != "connector_not_ready"),
            cost_credits=0,  # it was paid for with the whole
        ),
        created_ms=now_ms,
        expires_ms=now_ms + ACTION_TTL_MS,
        schedule_ms=None,
        approval=None,
        rejection=None,
        attempt=None,
        executed_ms=None,
        external_id=None,
        external_url=None,
        metadata={**action.metadata, "restOf": action.action_id},
    )


def with_offer(action: Action, left: Remainder, offered: Action) -> Action:
    """What of it did not go out, on the action that did."""
    told = (
        f"Only a part went out, on {left.reached}. The rest ({left.why}) is offered as an action of its own."
    )
    warned = msgspec.structs.replace(action.preflight, warnings=(told, *action.preflight.warnings))
    metadata = {**action.metadata, PARTLY: told, OFFERED_AS: offered.action_id}
    return msgspec.structs.replace(action, preflight=warned, metadata=metadata)


def offer(done: Action, offered: Action, now_ms: int) -> Transaction[None]:
    """Store the new action with the event that says where it comes from."""
    yield from actions.insert_action(offered)
    facts = {"restOf": done.action_id, "digest": offered.digest, "why": offered.preflight.warnings[0]}
    yield from actions.note(offered, "action_staged", facts, now_ms)
