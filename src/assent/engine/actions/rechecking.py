"""Check an edited text like a staged one: hidden content, readiness, and the remarks of its type.

Runs before the transaction of the edit, which takes the result.
"""

from __future__ import annotations

from assent.engine.actions import circumstances
from assent.engine.actions.content import content_warnings
from assent.engine.core.extension_calls import await_extension
from assent.engine.core.offloading import run_long_apart
from assent.engine.core.services import Services
from assent.gate.preflight import Checked, Remarks
from assent.gate.records import Action, Effect


async def recheck(services: Services, action: Action, effect: Effect) -> Checked:
    """Check an effect that would replace the content of an action. Returns the findings. Raises
    `Refusal` if the code of its type fails."""
    readiness = await circumstances.ask_readiness(services, action.workspace_id, effect)
    outdated = await run_long_apart(len(action.effect.body), content_warnings, action.effect)
    warnings = await run_long_apart(len(effect.body), content_warnings, effect)
    found, said = services.effects.find(effect), Remarks()
    if found is not None and found.recheck is not None:
        call = found.recheck(services, action, effect)
        said = await (call if found.trusted else await_extension(f"the remarks of {found.id}", call))
    return Checked(
        readiness=readiness,
        outdated=(*outdated, *said.outdated),
        warnings=(*warnings, *said.warnings),
        recommendations=said.recommendations,
    )
