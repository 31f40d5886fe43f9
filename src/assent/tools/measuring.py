"""Measurement as tools (E30–E32, E99, E100, C7, C28)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assent.engine import actions, measurement
from assent.engine.decisions import once_only
from assent.engine.measurement import Measurement, unavailable
from assent.engine.staging import PreparedRun
from assent.kernel.refusals import Problem, Reason, Refusal
from assent.kernel.times import iso_time
from assent.lifecycle import guidance
from assent.lifecycle.guidance import SuggestedCall
from assent.lifecycle.measurement import NextMove
from assent.ports import Transaction
from assent.tools.arguments import IdempotencyKey, PageSize, RunIdArgument
from assent.tools.definition import READS, WRITES, Behaviour, Call, Tool
from assent.tools.runs import nothing_there

MAX_METRICS = 30

KEEPS = Behaviour(read_only=False, destructive=False, idempotent=True, open_world=True)
"""Reads from the world and keeps what it read; the same numbers again are kept once."""


class Measure(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    run_id: RunIdArgument


class MeasureReply(PreparedRun, frozen=True, kw_only=True, rename="camel"):
    """The full shape of a run, here the one that was measured; nothing is staged."""

    measurement: Measurement
    next_move: NextMove


class CheckMeasurementDue(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    limit: PageSize = 20


class DueRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    run_id: str
    due_at: str
    overdue: bool


class DueRuns(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    runs: tuple[DueRun, ...]
    stop_rule: str


class RecordManualMetrics(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    run_id: RunIdArgument
    channel: Annotated[str, msgspec.Meta(min_length=1, max_length=40, description="The channel's id.")]
    metrics: Annotated[
        dict[str, Annotated[float, msgspec.Meta(ge=0)]],
        msgspec.Meta(min_length=1, max_length=MAX_METRICS, description="Numbers as the human read them."),
    ]
    source: Annotated[str, msgspec.Meta(min_length=1, max_length=500, description="Where they were read.")]
    idempotency_key: IdempotencyKey | None = None


class MetricsRecorded(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool
    run_id: str
    channel: str
    metrics: dict[str, float]


async def measure(call: Call, request: Measure) -> MeasureReply:
    workspace_id, run_id = call.caller.workspace_id, actions.require_run_id(request.run_id)
    run = await call.services.store.read(lambda: actions.find_run(workspace_id, run_id))
    if run is None:
        raise nothing_there("run")
    found, asset = await measurement.measure(call.services, workspace_id, run_id, by=call.caller.name)
    guide = guidance.agent_guide((), (asset,), NEXT, run_id)
    return MeasureReply(
        ok=True,
        run_id=run_id,
        workspace_id=workspace_id,
        tenant_id=run.tenant_id,
        assets=(guidance.asset_view(asset),),
        actions=(),
        review_url=call.review_url(run_id),
        agent_guide=guide,
        stop_rule=guide.stop_rule,
        approval_state_machine=guidance.STATE_MACHINE,
        side_effects_prepared_but_not_fired=(),
        external_actions_executed=0,
        agent_usefulness=guidance.usefulness((), (asset,)),
        outputs={},
        measurement=found,
        next_move=found.next_move,
    )


async def check_measurement_due(call: Call, request: CheckMeasurementDue) -> DueRuns:
    workspace_id = call.caller.workspace_id
    waiting = await call.services.store.read(lambda: measurement.due(workspace_id, request.limit))
    return DueRuns(
        ok=True,
        runs=tuple(
            DueRun(run_id=each.run_id, due_at=iso_time(each.due_ms), overdue=each.due_ms <= call.now_ms)
            for each in waiting
        ),
        stop_rule="Do not poll: every run is measured by itself when it is due.",
    )


async def record_manual_metrics(call: Call, request: RecordManualMetrics) -> MetricsRecorded:
    workspace_id, run_id = call.caller.workspace_id, actions.require_run_id(request.run_id)

    def record() -> Transaction[MetricsRecorded]:
        of_run = yield from actions.run_actions(workspace_id, run_id)
        if not of_run:
            raise nothing_there("run")
        sent = sorted({action.effect.channel for action in of_run if action.status == "executed"})
        if request.channel not in sent:
            if not sent:
                raise unavailable("Nothing of this run has been sent.")
            problem = Problem("channel", "one that was sent: " + ", ".join(sent), repr(request.channel))
            raise Refusal(Reason.VALIDATION_ERROR, problems=[problem])
        yield from measurement.record_by_hand(
            workspace_id, run_id, request.channel, request.metrics, request.source, call.now_ms
        )

        return MetricsRecorded(ok=True, run_id=run_id, channel=request.channel, metrics=request.metrics)

    arguments = msgspec.to_builtins(msgspec.structs.replace(request, idempotency_key=None))
    return await call.services.store.write(
        lambda: once_only(
            call.caller,
            "chieflab_record_manual_metrics",
            request.idempotency_key,
            arguments,
            call.now_ms,
            MetricsRecorded,
            record,
        )
    )


NEXT = (
    SuggestedCall("chieflab_launch_product", {"goal": "…"}, "the user wants to act on the next move"),
    SuggestedCall("chieflab_check_measurement_due", {}, "to see what is still to be measured"),
    SuggestedCall("chieflab_diagnose_marketing", {"goal": "…"}, "the user asks why it is not working"),
    SuggestedCall(
        "chieflab_record_manual_metrics",
        {"runId": "…", "channel": "…", "metrics": {}, "source": "…"},
        "the user has numbers of a channel without an interface",
    ),
)

DESCRIPTION = (
    "Reads what became of a run that was published or sent: numbers per source, compared with earlier runs, and the "
    "next move. Measurement happens by itself about a day after publishing. USE WHEN the user asks how it went and "
    "the "
    "time has come; too early it answers measurement_unavailable with when to come back. Numbers are never invented."
)

TOOLS = (
    Tool(
        name="chieflab_measure",
        title="Measure results",
        description=DESCRIPTION,
        category="primary",
        behaviour=KEEPS,
        request=Measure,
        reply=MeasureReply,
        handler=measure,
        aliases=("chieflab_measure_launch_results",),
        legacy_names=("chiefmo_measure_launch_results",),
    ),
    Tool(
        name="chieflab_post_launch_review",
        title="Review a launch",
        description="The same as chieflab_measure, for replaying a review whose scheduled measurement came back "
        "empty, "
        "12 to 24 hours later. DO NOT call it on a normal launch.",
        category="review",
        behaviour=KEEPS,
        request=Measure,
        reply=MeasureReply,
        handler=measure,
    ),
    Tool(
        name="chieflab_check_measurement_due",
        title="What is to be measured",
        description="Lists runs that wait for their measurement and when it is due.",
        category="review",
        behaviour=READS,
        request=CheckMeasurementDue,
        reply=DueRuns,
        handler=check_measurement_due,
    ),
    Tool(
        name="chieflab_record_manual_metrics",
        title="Record numbers by hand",
        description="Keeps numbers that the user read where no interface gives them, such as points on Hacker News. "
        "USE "
        "WHEN the user tells you numbers; never guess them.",
        category="review",
        behaviour=WRITES,
        request=RecordManualMetrics,
        reply=MetricsRecorded,
        handler=record_manual_metrics,
        scope="runs:write",
    ),
)
