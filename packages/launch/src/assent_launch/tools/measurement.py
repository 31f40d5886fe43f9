"""Measurement as tools (C7, C28)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec

from assent.platform import EffectTypes, Problem
from assent.sdk import (
    DAY_MS,
    HOUR_MS,
    READS,
    WRITES,
    Action,
    Arguments,
    Behaviour,
    Call,
    Guide,
    IdempotencyKey,
    PageSize,
    PreparedRun,
    Reason,
    Refusal,
    Replay,
    RunIdArgument,
    SuggestedCall,
    Tool,
    Transaction,
    WireRecord,
    iso_time,
    make_guide,
    parse_time,
    read_run,
    readable_time,
    report_run,
    require_run_id,
)
from assent_launch import LAUNCH_NEEDS
from assent_launch.learning import measurement, measuring
from assent_launch.learning.measurement import Measurement
from assent_launch.learning.metrics import LARGEST, describe_numbers, fold_name, is_told
from assent_launch.learning.recommend import NextMove, describe_usual

MAX_METRICS = 30
MAX_NAME_CHARS = 60

KEEPS = Behaviour(read_only=False, destructive=False, idempotent=True, open_world=True)
"""Reads from providers and stores the result; the same numbers are stored once."""


class Measure(Arguments, kw_only=True):
    run_id: RunIdArgument


class MeasureReply(PreparedRun, kw_only=True):
    """The full shape of the measured run; nothing is staged."""

    measurement: Measurement
    next_move: NextMove


class CheckMeasurementDue(Arguments, kw_only=True):
    limit: PageSize = 20


class DueRun(WireRecord, kw_only=True):
    run_id: str
    due_at: str
    overdue: bool


class DueRuns(WireRecord, kw_only=True):
    ok: bool
    runs: tuple[DueRun, ...]
    stop_rule: str


class RecordManualMetrics(Arguments, kw_only=True):
    run_id: RunIdArgument
    channel: Annotated[str, msgspec.Meta(min_length=1, max_length=40, description="The channel's id.")]
    metrics: Annotated[
        dict[str, Annotated[float, msgspec.Meta(ge=0)]],
        msgspec.Meta(min_length=1, max_length=MAX_METRICS, description="Numbers as the human read them."),
    ]
    source: Annotated[str, msgspec.Meta(min_length=1, max_length=500, description="Where they were read.")]
    idempotency_key: IdempotencyKey | None = None


class MetricsRecorded(WireRecord, kw_only=True):
    ok: bool
    run_id: str
    channel: str
    metrics: dict[str, float]
    user_message: str = ""
    agent_guide: Guide | msgspec.UnsetType = msgspec.UNSET
    replay: Replay | msgspec.UnsetType = msgspec.UNSET


async def measure(call: Call, request: Measure) -> MeasureReply:
    workspace_id, run_id = call.caller.workspace_id, require_run_id(request.run_id)

    known = await report_run(call, run_id)
    found, asset = await measuring.measure(call.services, workspace_id, run_id, by=call.caller.name)
    head = "\n".join([f"**{known.said}**", *known.lines])
    return known.answer(
        MeasureReply,
        show_results(call, found, head, is_open=known.is_open),
        f"{known.said} {describe_results(found, known.actions, call.services.effects)}",
        _following(run_id, known.first),
        (asset,),
        measurement=found,
        next_move=found.next_move,
    )


def show_results(call: Call, found: Measurement, head: str, *, is_open: bool) -> str:
    """Return the whole result as Markdown: what was sent, the numbers, what is left, and the next move."""
    effects, now_ms = call.services.effects, call.now_ms
    parts = [head]
    read_ms = parse_time(found.measured_at)
    is_read = any(not is_told(each.source) for each in found.sources)
    when = f", read {readable_time(read_ms, now_ms)}" if read_ms is not None and is_read else ""
    numbers = [
        f"- {effects.label(each.channel)}: {measurement.describe_reading(each)}" for each in found.sources
    ]
    parts.append("\n".join([f"**Results**{when}", *numbers]))
    if found.baseline:
        usual = [f"- {effects.label(each.channel)} {describe_usual(each)}" for each in found.baseline]
        parts.append("\n".join(["**Earlier**", *usual]))
    if is_open:
        parts.append("**Next:** finish what is still open above.")
    parts.append(f"**Advice:** {found.next_move.move} {found.next_move.why}")
    return "\n\n".join(parts)


def describe_results(found: Measurement, of_run: tuple[Action, ...], effects: EffectTypes) -> str:
    """The numbers of every source in a sentence: `Site: 0 views, 0 clicks after one day.`"""
    first_ms = min((action.executed_ms for action in of_run if action.executed_ms is not None), default=None)
    read_ms = parse_time(found.measured_at)
    after = (
        f" after {_describe_age(read_ms - first_ms)}" if first_ms is not None and read_ms is not None else ""
    )
    return " ".join(
        f"{effects.label(each.channel)}: {measurement.describe_reading(each, short=True)}"
        f"{'' if is_told(each.source) else after}."
        for each in found.sources
    )


def _describe_age(ms: int) -> str:
    """`one day`, `3 days`, `5 hours`."""
    unit_ms, name = (DAY_MS, "day") if ms >= DAY_MS else (HOUR_MS, "hour")
    count = ms // unit_ms
    if count == 0:
        return "less than an hour"
    return f"one {name}" if count == 1 else f"{count} {name}s"


def _following(run_id: str, first: tuple[SuggestedCall, ...]) -> tuple[SuggestedCall, ...]:
    """Suggest the next calls: finish the run first, then act on its results."""
    by_hand = SuggestedCall(
        "chieflab_record_manual_metrics",
        {"runId": run_id},
        "the user has numbers of a channel without an interface",
        {"channel": "which channel", "metrics": "the numbers", "source": "where they were read"},
    )
    return (*first, *NEXT, by_hand)


async def check_measurement_due(call: Call, request: CheckMeasurementDue) -> DueRuns:
    workspace_id = call.caller.workspace_id
    waiting = await call.services.store.read(lambda: measurement.due(workspace_id, request.limit))
    return DueRuns(
        ok=True,
        runs=tuple(
            DueRun(run_id=each.run_id, due_at=iso_time(each.due_ms), overdue=each.due_ms <= call.now_ms)
            for each in waiting
        ),
        stop_rule="Do not poll: the server measures every run when it is due.",
    )


async def record_manual_metrics(call: Call, request: RecordManualMetrics) -> MetricsRecorded:
    workspace_id, run_id = call.caller.workspace_id, require_run_id(request.run_id)
    if problems := _find_problems(request.metrics):
        raise Refusal(Reason.VALIDATION_ERROR, problems=problems)

    def write(begin: Callable[[], Transaction[dict[str, float]]]) -> Awaitable[MetricsRecorded]:
        def record() -> Transaction[MetricsRecorded]:
            yield from read_run(workspace_id, run_id)
            return answer((yield from begin()))

        return call.write_once(request, record, MetricsRecorded)

    def answer(kept: dict[str, float]) -> MetricsRecorded:
        numbers = describe_numbers(request.metrics)
        said = f"Noted for {call.services.effects.label(request.channel)}: {numbers} ({request.source})."
        before = {name: value for name, value in kept.items() if name not in request.metrics}
        if before:
            said += f" Known from before: {describe_numbers(before)}."
        return MetricsRecorded(
            ok=True,
            run_id=run_id,
            channel=request.channel,
            metrics=kept,
            user_message=said,
            agent_guide=make_guide(
                {},
                [
                    SuggestedCall(
                        "chieflab_measure", {"runId": run_id}, "the user wants to see all the results"
                    )
                ],
            ),
        )

    return await measuring.report_numbers(
        call.services.clock,
        workspace_id,
        run_id,
        request.channel,
        request.metrics,
        request.source,
        write,
    )


def _find_problems(metrics: dict[str, float]) -> list[Problem]:
    """Find unknown or repeated metric names, and impossible numbers."""
    found = []
    seen: set[str] = set()
    for name, value in metrics.items():
        path, folded = f"metrics.{name[:40]}", fold_name(name)
        if not folded or not name.isprintable() or len(name) > MAX_NAME_CHARS:
            found.append(Problem("metrics", f"names of 1 to {MAX_NAME_CHARS} characters", repr(name[:40])))
        elif folded in seen:
            found.append(Problem(path, "one number for each metric", "the same metric twice"))
        elif value > LARGEST:
            found.append(Problem(path, f"at most {LARGEST:,}", f"{value:g}"))
        seen.add(folded)
    return found


NEXT = (
    SuggestedCall(
        "chieflab_launch_product",
        {},
        "the user wants to act on the advice",
        LAUNCH_NEEDS,
    ),
    SuggestedCall("chieflab_diagnose_marketing", {}, "the user asks why it is not working"),
    SuggestedCall("chieflab_check_measurement_due", {}, "the user asks when other results arrive"),
)

TOOLS = (
    Tool(
        name="chieflab_measure",
        title="Measure results",
        description="Reads what became of a run that went out: numbers per source, compared with earlier runs, and "
        "the next move. The server measures about a day after publishing; before that it answers "
        "measurement_unavailable with when to come back. USE WHEN the user asks how a launch or post did go, what "
        "people think of it, how many opened a newsletter, or how many clicks, visits or how much traffic it got.",
        behaviour=KEEPS,
        request=Measure,
        reply=MeasureReply,
        handler=measure,
        legacy_names=("chiefmo_measure_launch_results",),
    ),
    Tool(
        name="chieflab_post_launch_review",
        title="Review a launch",
        description="The same as chieflab_measure. USE WHEN a scheduled measurement came back empty, 12 to 24 hours "
        "later, to replay it. DO NOT call it on a normal launch.",
        behaviour=KEEPS,
        request=Measure,
        reply=MeasureReply,
        handler=measure,
    ),
    Tool(
        name="chieflab_check_measurement_due",
        title="What is to be measured",
        description="Lists runs that wait for their measurement and when it is due. USE WHEN the user asks when "
        "results arrive.",
        behaviour=READS,
        request=CheckMeasurementDue,
        reply=DueRuns,
        handler=check_measurement_due,
    ),
    Tool(
        name="chieflab_record_manual_metrics",
        title="Record numbers by hand",
        description="Keeps numbers that the user read where no interface gives them: points, upvotes, likes, comments "
        "or visitors that a post got or had. USE WHEN the user tells you numbers to note; never guess them.",
        behaviour=WRITES,
        request=RecordManualMetrics,
        reply=MetricsRecorded,
        handler=record_manual_metrics,
        keyed_as="chieflab_record_manual_metrics",
        scope="runs:write",
    ),
)
