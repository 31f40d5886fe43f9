"""Prepare a run, and end its links: an operator's drafts and effects become actions that wait for a person.

One transaction stores the run, its assets and its actions and remembers the answer under the
caller's idempotency key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from assent.engine.actions import actions, circumstances, staging
from assent.engine.actions.content import READ_FIELDS, check_contents, warn_of_deeds
from assent.engine.actions.idempotency import run_once
from assent.engine.actions.staging import Reply, Request
from assent.engine.core.failpoints import failpoint
from assent.engine.core.offloading import run_long_apart
from assent.engine.core.quota import meter
from assent.engine.core.services import EffectServices, MessageServices, Services, StoreServices
from assent.engine.views import review
from assent.engine.webhooks import subscriptions as webhook_hosts
from assent.engine.webhooks import webhooks
from assent.gate.gate import Decider
from assent.gate.preflight import refuse_schedule
from assent.gate.records import Action, Asset, Run
from assent.gate.webhooks import name_event
from assent.kernel.ids import WorkspaceId
from assent.kernel.structs import Record
from assent.ports import Begin, Preparation, Transaction


async def prepare(
    services: Services,
    request: Request,
    preparation: Preparation,
    shape: type[Reply],
    more: Callable[[tuple[Asset, ...], tuple[Action, ...]], dict[str, Any]] = lambda assets, staged: {},
) -> Reply:
    """Store a preparation and return the answer for the agent. Calls no provider (E11).

    `shape` is the type of the operator's answer, `more` returns the fields that it adds or
    replaces.
    """
    workspace_id = request.principal.workspace_id
    preparation = await _check(services, workspace_id, preparation)
    now_ms = services.clock.now_ms()
    preparation, readiness = await circumstances.with_targets(services, workspace_id, preparation)
    staged = await staging.build(services, request, preparation, readiness, now_ms)
    reply = await staging.answer(services, request, preparation, readiness, staged, shape, more)
    delivery = _Delivery.plan(services, request.webhook_url, now_ms)

    def begin() -> Transaction[Reply]:
        if delivery is not None:
            yield from webhook_hosts.require_host(workspace_id, delivery.host)
        if request.run_id is not None and not (yield from actions.finish_run(staged.run)):
            return reply
        most = services.limits.held_after
        held = yield from staging.store(staged, request.principal, most, begun=request.run_id is not None)
        answer = staging.say_held(reply) if held else reply
        if delivery is not None:
            kind = name_event(request.tool, "completed")
            yield from webhooks.enqueue(
                workspace_id, delivery.id, staged.run.run_id, kind, delivery.url, answer, now_ms
            )
        return answer

    def begin_once() -> Transaction[Reply]:
        return run_once(request.principal, request.tool, request.key, request.inputs, now_ms, shape, begin)

    most_bytes = services.limits.storage_quota_bytes
    metered = meter(begin_once, workspace_id, most_bytes, now_ms) if request.metered else begin_once
    reply = await services.store.write(metered)
    failpoint("prepare.committed")
    if delivery is not None:
        services.background.wake_jobs()
    return reply


async def end_links(services: StoreServices, admit: Begin[tuple[Run, Decider]]) -> None:
    """Revoke the review links of a run. `admit` finds the run and who may do that, in the same transaction."""
    now_ms = services.clock.now_ms()

    def begin() -> Transaction[bool]:
        run, decider = yield from admit()
        return (yield from review.end_links(run, decider, now_ms))

    await services.store.write(begin)


class _Delivery(Record):
    """The post of the answer to the caller's webhook."""

    id: str
    url: str
    host: str

    @classmethod
    def plan(cls, services: MessageServices, url: str | None, now_ms: int) -> _Delivery | None:
        if url is None:
            return None
        return cls(services.new_id(now_ms), url, services.outgoing.webhook_host(url))


async def _check(
    services: EffectServices, workspace_id: WorkspaceId, preparation: Preparation
) -> Preparation:
    """Add warnings about the texts. Raises `Refusal` for an unfit text or time."""
    chars = sum(len(getattr(each.effect, name)) for each in preparation.effects for name in READ_FIELDS)
    preparation = await run_long_apart(chars, check_contents, services.effects, preparation)
    for index, wanted in enumerate(preparation.effects):
        path = wanted.paths.get("scheduleFor", f"actions[{index}].scheduleFor")
        found = services.effects.find(wanted.effect)
        schedulable = found is None or found.schedulable
        refuse_schedule(wanted.schedule_ms, services.clock.now_ms(), path, schedulable=schedulable)
    effects = [
        msgspec.structs.replace(
            each, warnings=(*each.warnings, *await warn_of_deeds(services, workspace_id, each.effect))
        )
        for each in preparation.effects
    ]
    return msgspec.structs.replace(preparation, effects=tuple(effects))
