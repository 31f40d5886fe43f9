"""Looking again at an action whose connector was not ready when it was staged."""

from __future__ import annotations

import msgspec

from assent.engine import actions
from assent.engine.decisions import once_only
from assent.engine.services import Services
from assent.kernel.ids import ActionId, WorkspaceId
from assent.lifecycle.audit import ActionRecord, record_of
from assent.lifecycle.preflight import Readiness
from assent.lifecycle.preflight import preflight as computed
from assent.lifecycle.records import Action
from assent.lifecycle.transitions import TERMINAL, state_of
from assent.ports import Transaction

TOOL = "chieflab_retry_blocked_action"


async def look_again(
    services: Services, workspace_id: WorkspaceId, action_id: ActionId, by: str, key: str | None
) -> ActionRecord:
    """The action with its preflight as the connector stands now. Its content and its approval stay as they are."""
    action, _ = await services.store.read(lambda: actions.find(workspace_id, action_id))
    connector = services.connectors.get(action.effect.connector)
    readiness = (
        await connector.readiness(workspace_id)
        if connector is not None
        else Readiness(ready=False, blocker="provider_not_live", fix_hint=action.preflight.connector_fix_hint)
    )
    now_ms = services.clock.now_ms()

    def refresh() -> Transaction[ActionRecord]:
        return record_of((yield from _refresh(workspace_id, action_id, readiness, by, now_ms)), now_ms)

    return await services.store.write(
        lambda: once_only(workspace_id, TOOL, key, {"actionId": action_id}, now_ms, ActionRecord, refresh)
    )


def _refresh(
    workspace_id: WorkspaceId, action_id: ActionId, readiness: Readiness, by: str, now_ms: int
) -> Transaction[Action]:
    action, _ = yield from actions.lock(workspace_id, action_id)
    old = action.preflight
    if state_of(action) in TERMINAL or old.connector_ready == readiness.ready:
        return action
    fresh = computed(
        action.effect,
        readiness,
        declared=old.severity,
        warnings=old.warnings,
        recommendations=old.recommendations,
        gates=tuple(gate for gate in old.gates if gate != "connector_not_ready"),
        cost_credits=old.estimated_cost_credits,
    )
    changed = msgspec.structs.replace(action, preflight=fresh)
    stored = yield from actions.put_all(changed, (), now_ms)
    yield from actions.note(stored, "connector_rechecked", {"ready": readiness.ready, "by": by}, now_ms)
    return stored
