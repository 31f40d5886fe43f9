"""Completes a refusal with what its texts speak of: the link where a person can act.

Runs outside the transaction that refused, in the one place where a refusal becomes an answer. Deliberately unaware of
why the call was refused.
"""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from assent.engine import actions
from assent.engine.services import Services
from assent.engine.tenancy import Principal
from assent.kernel.ids import ActionId, RunId, is_uuid
from assent.kernel.refusals import Reason, Refusal
from assent.ports import StoreUnavailable


async def complete(services: Services, principal: Principal, refusal: Refusal, arguments: Any) -> Refusal:
    """The refusal to answer with. One that cannot be completed is answered as it is."""
    with contextlib.suppress(StoreUnavailable):
        if refusal.reason is Reason.INSUFFICIENT_SCOPE:
            return await _with_link(services, principal, refusal, arguments)
    return refusal


async def _with_link(services: Services, principal: Principal, refusal: Refusal, arguments: Any) -> Refusal:
    """The link to the run that the call is about, so that a person can do what the key may not."""
    run_id = await _named_run(services, principal, arguments)
    if run_id is None:
        return refusal
    now_ms = services.clock.now_ms()
    url = services.review_url(principal.workspace_id, run_id, now_ms, principal.link_scope)
    return Refusal(refusal.reason, answer=msgspec.structs.replace(refusal.recovery(), review_url=url))


async def _named_run(services: Services, principal: Principal, arguments: Any) -> RunId | None:
    """The run that the arguments name, or whose action they name, where it is the caller's."""
    given = arguments if isinstance(arguments, dict) else {}
    action_id, run_id = given.get("actionId"), given.get("runId")
    workspace_id = principal.workspace_id
    if isinstance(action_id, str) and is_uuid(action_id):
        with contextlib.suppress(Refusal):
            action, _ = await services.store.read(lambda: actions.find(workspace_id, ActionId(action_id)))
            return action.run_id
    if isinstance(run_id, str) and is_uuid(run_id):
        run = await services.store.read(lambda: actions.find_run(workspace_id, RunId(run_id)))
        return run.run_id if run is not None else None
    return None
