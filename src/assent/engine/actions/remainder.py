"""The remainder of a partly delivered effect: a separate action for the accounts that were not
reached.

The delivered action stays executed. The remainder needs its own approval, because part of the
content is public by then.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from assent.engine.actions import actions
from assent.gate.preflight import Readiness, preflight
from assent.gate.records import OBSERVED, Action, ExecutionState, Status
from assent.kernel.ids import RANDOM_BYTES, ActionId, uuid7
from assent.kernel.limits import ACTION_TTL_MS
from assent.ports import Remainder, Transaction

PARTLY: Final = "partly"
OFFERED_AS: Final = "restActionId"


def build_action(action: Action, left: Remainder, now_ms: int) -> Action:
    """Build the action for the remainder. Its id is derived from the attempt, because a store may
    run a transaction twice."""
    seed = hashlib.sha256(f"{action.action_id}:{action.revision}:rest".encode()).digest()
    old = action.preflight
    effect = msgspec.structs.replace(left.effect, schedule_ms=None)  # its time has passed
    return msgspec.structs.replace(
        action,
        action_id=ActionId(uuid7(now_ms, seed[:RANDOM_BYTES])),
        version=1,
        effect=effect,
        digest=effect.digest(),
        revision=1,
        status=Status.AWAITING_APPROVAL,
        execution_state=ExecutionState.NONE,
        view=left.view,
        preflight=preflight(
            effect,
            left.view,
            Readiness(ready=True),
            declared=old.severity,
            warnings=(
                f"Already out on {left.reached}; this is the rest, which failed there ({left.why}).",
                *old.warnings,
            ),
            recommendations=old.recommendations,
            gates=tuple(gate for gate in old.gates if gate != "connector_not_ready"),
            cost_credits=0,  # paid with the first action
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
        metadata={
            **{name: each for name, each in action.metadata.items() if name != OBSERVED},
            "restOf": action.action_id,
        },
    )


def with_offer(action: Action, left: Remainder, offered: Action) -> Action:
    """Return the delivered action with a note of the remainder."""
    warning = (
        f"Only a part went out, on {left.reached}. The rest ({left.why}) is offered as an action of its own."
    )
    warned = msgspec.structs.replace(action.preflight, warnings=(warning, *action.preflight.warnings))
    metadata = {**action.metadata, PARTLY: warning, OFFERED_AS: offered.action_id}
    return msgspec.structs.replace(action, preflight=warned, metadata=metadata)


def offer(done: Action, offered: Action, now_ms: int) -> Transaction[None]:
    """Store the action for the remainder, with the event that names its origin."""
    yield from actions.insert_action(offered)
    facts = {
        "restOf": done.action_id,
        "digest": offered.digest,
        "view": offered.view.digest(),
        "why": offered.preflight.warnings[0],
    }
    yield from actions.note(offered, "action_staged", facts, now_ms)
