"""A connector that marks its requests: before the mark nothing was sent, afterwards the outcome is unknown."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.support.connectors.kit import engine_with

from assent.gate import gate
from assent.gate.preflight import Readiness
from assent.gate.records import Effect
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import REFERENCE, Context, Delivered, Delivery, NotSent, OutcomeUnknown
from assent_conform.testing.connector_contract import claim_action
from assent_conform.testing.operator import Wanted

POST = Effect(channel="linkedin", verb="post", connector="marked", body="We shipped it.")
SECONDS = 0.2

Step = Callable[[Context], Awaitable[Delivered]]


async def falls_before(ctx: Context) -> Delivered:
    raise KeyError("id")


async def hangs_before(ctx: Context) -> Delivered:
    await asyncio.Event().wait()
    raise AssertionError


async def falls_inside(ctx: Context) -> Delivered:
    async with ctx.sending():
        raise KeyError("id")


async def falls_after(ctx: Context) -> Delivered:
    with ctx.sending():
        pass
    raise KeyError("id")


async def hangs_inside(ctx: Context) -> Delivered:
    async with ctx.sending():
        await asyncio.Event().wait()
    raise AssertionError


async def says_not_sent_inside(ctx: Context) -> Delivered:
    async with ctx.sending():
        raise NotSent("later", retry=True, reason=Reason.RATE_LIMITED)


async def says_unknown_before(ctx: Context) -> Delivered:
    raise OutcomeUnknown("no whole answer")


class Marked:
    id = "marked"
    delivery = Delivery("none")

    def __init__(self, step: Step, *, uses_sending: bool = True) -> None:
        self.uses_sending = uses_sending
        self.step = step

    async def readiness(self, workspace_id: WorkspaceId) -> Readiness:
        return Readiness(ready=True)

    async def perform(self, ctx: Context, effect: Effect) -> Delivered:
        return await self.step(ctx)

    async def look_up(self, ctx: Context, effect: Effect) -> Delivered | None:
        raise OutcomeUnknown("cannot be asked")


@pytest.mark.own_database
@pytest.mark.parametrize(
    ("step", "uses_sending", "reason", "state"),
    [
        (falls_before, True, "connector_failed", "retryable"),
        (hangs_before, True, "connector_failed", "retryable"),
        (says_not_sent_inside, True, "rate_limited", "retryable"),
        (falls_inside, True, "outcome_unknown", "outcome_unknown"),
        (falls_after, True, "outcome_unknown", "outcome_unknown"),
        (hangs_inside, True, "outcome_unknown", "outcome_unknown"),
        (says_unknown_before, True, "outcome_unknown", "outcome_unknown"),
        (falls_before, False, "outcome_unknown", "outcome_unknown"),
        (hangs_before, False, "outcome_unknown", "outcome_unknown"),
    ],
)
async def test_an_undeclared_failure_is_not_sent_only_before_a_declared_mark(
    database_url: str, tmp_path: Path, step: Step, uses_sending: bool, reason: str, state: str
) -> None:
    connector = Marked(step, uses_sending=uses_sending)
    async with engine_with(
        database_url, tmp_path, lambda _: {"marked": connector}, connector_timeout_seconds=SECONDS
    ) as engine:
        action_id = await engine.approved(Wanted(connector="marked", channel="linkedin"))
        refusal = await engine.execute(action_id)
        action = await engine.action(action_id)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, action.execution_state) == (reason, state)


def test_a_thread_that_is_late_cannot_send_after_its_call_was_judged() -> None:
    ctx = Context(gate.open_gate(claim_action(POST)), 1)
    told: list[BaseException] = []

    def send_late() -> None:
        try:
            with ctx.sending():
                told.append(AssertionError("it was sent"))
        except NotSent as refused:
            told.append(refused)

    assert ctx.close() is False
    late = threading.Thread(target=send_late)
    late.start()
    late.join()
    assert [type(each) for each in told] == [NotSent]


def test_a_context_tells_the_approved_action_and_the_time_left() -> None:
    action = claim_action(POST, revision=3)
    ctx = Context(gate.open_gate(action), 10)
    assert (ctx.key, ctx.action_id, ctx.revision) == (action.provider_key, action.action_id, 3)
    assert (ctx.workspace_id, ctx.timeout_seconds) == (action.workspace_id, 10)
    assert REFERENCE not in ctx.metadata
    assert 0 < ctx.left() < 10
