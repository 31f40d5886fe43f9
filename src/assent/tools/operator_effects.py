"""The tools that prepare effects of other packages' operators: one per effect, made from its
function (E9, E11)."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

import msgspec

from assent.engine.actions import staging
from assent.engine.actions.staging import PreparedRun, Request
from assent.engine.core.extension_calls import call_extension
from assent.extensions.effect_types import prepare_effect
from assent.extensions.operators import EffectFunction
from assent.kernel.ids import TenantId
from assent.ports import Draft, Preparation, StagedEffect
from assent.tools.arguments import IdempotencyKey, TenantIdArgument, moment
from assent.tools.definition import WRITES, Call, Tool

NOTHING_HAPPENS: Final = "Only prepares it for approval: nothing happens by this call."

ScheduleFor = Annotated[
    str,
    msgspec.Meta(
        max_length=40,
        description="When it is done, once approved: a time with a zone, such as 2027-01-31T09:00:00+01:00.",
    ),
]


def make_tool(effect: EffectFunction) -> Tool:
    """Return the tool that prepares an effect. Its arguments are the function's parameters."""
    own: list[tuple[str, Any, Any]] = [
        ("tenantId", TenantIdArgument | None, None),
        ("idempotencyKey", IdempotencyKey | None, None),
    ]
    if effect.options.schedulable:
        own.insert(0, ("scheduleFor", ScheduleFor | None, None))
    return Tool(
        name=effect.tool,
        title=effect.options.title,
        description=f"{effect.description} {NOTHING_HAPPENS}",
        category="primary",
        behaviour=WRITES,
        request=effect.signature.request_type(effect.tool, own),
        reply=PreparedRun,
        handler=partial(prepare, effect),
        scope="runs:write",
        owned=True,
    )


async def prepare(effect: EffectFunction, call: Call, request: Any) -> PreparedRun:
    """Stage an effect with the arguments of the call. The function itself is not called."""
    given = msgspec.to_builtins(request)
    arguments = {each.name: given[each.name] for each in effect.signature.parameters}
    schedule_for = getattr(request, "scheduleFor", None)
    schedule_ms = moment("scheduleFor", schedule_for) if schedule_for is not None else None
    wanted = await call_extension(
        effect.operator.id,
        f"the checks of {effect.type_id}",
        lambda: prepare_effect(effect, arguments, schedule_ms),
    )
    given.pop("idempotencyKey")
    noun, options = effect.options.title, effect.options
    return await staging.stage(
        call.services,
        Request(
            principal=call.caller,
            operator=effect.operator.id,
            tool=effect.tool,
            inputs={name: value for name, value in given.items() if value is not None},
            tenant_id=TenantId(request.tenantId) if request.tenantId is not None else None,
            key=request.idempotencyKey,
        ),
        Preparation(
            drafts=(Draft(type=effect.type_id, title=noun, body=wanted.body, channel=options.channel),),
            effects=(
                StagedEffect(
                    effect=wanted,
                    executor_tool=options.executor_tool,
                    draft=0,
                    severity=options.risk,
                    schedule_ms=schedule_ms,
                    paths={"body": "arguments", "scheduleFor": "scheduleFor"},
                ),
            ),
        ),
        PreparedRun,
    )
