"""Computes views with the code of an effect's type, before the transaction that stores them."""

from __future__ import annotations

from functools import partial

from assent.engine.core.extension_calls import call_extension
from assent.engine.core.offloading import run_long_apart
from assent.engine.core.services import Services
from assent.gate.records import Effect
from assent.gate.views import View
from assent.kernel.ids import WorkspaceId


async def describe(services: Services, workspace_id: WorkspaceId, effect: Effect) -> View:
    """Return the view of an effect. Raises `Refusal` if the code of its type fails."""
    found, base_url = services.effects.find(effect), services.links.base_url
    work = partial(services.effects.describe, effect, workspace_id=workspace_id, base_url=base_url)
    if found is None or found.trusted:
        return await run_long_apart(len(effect.body), work)
    return await call_extension(found.operator or found.id, f"the description of {found.id}", work)
