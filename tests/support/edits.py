"""Edits actions in tests as the tools and pages do: prepared first, then stored."""

from __future__ import annotations

from typing import Any

from assent.engine.actions import actions
from assent.engine.actions.content import PreparedEdit, prepare_edit
from assent.engine.core.services import Services
from assent.gate.gate import ANY_CONTENT, Decider
from assent.gate.records import Action
from assent.kernel.ids import ActionId
from assent.kernel.refusals import Refusal
from assent.use_cases import decisions
from assent.use_cases.decisions import DecisionOrder


async def prepare(
    services: Services, decider: Decider, action_id: ActionId, changes: dict[str, Any]
) -> PreparedEdit | Refusal:
    action, _ = await services.store.read(lambda: actions.find(decider.workspace_id, action_id))
    return await prepare_edit(services, action, changes, recheck=False)


async def edit(services: Services, decider: Decider, action_id: ActionId, changes: dict[str, Any]) -> Action:
    action, _ = await services.store.read(lambda: actions.find(decider.workspace_id, action_id))
    wish = DecisionOrder(decider, action, ANY_CONTENT)
    return await decisions.edit(services, wish, changes, services.store.write)
