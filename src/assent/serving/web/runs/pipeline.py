"""The pipeline of a run, prepare, approve, send, measure: what is done, since when, and what it waits
for. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from assent.engine.learning.measured import Measurement
from assent.engine.views.run_views import ActionCount, RunDetail
from assent.gate.effects import EffectTypes
from assent.gate.measurement.metrics import describe_number, read_numbers
from assent.gate.measurement.recommend import group_numbers
from assent.gate.records import ExecutionState, Status
from assent.kernel.structs import Record
from assent.serving.web.runs import words
from assent.serving.web.shell.times import When, when

Progress = Literal["done", "now", "failed", "ask", "later"]

MOST_RESULTS: Final = 2
"""Numbers of a channel in the line about a result."""


class Stage(Record):
    name: str
    progress: Progress
    text: str
    at: When | None = None


def draw_pipeline(found: RunDetail, effects: EffectTypes, now_ms: int) -> tuple[Stage, ...]:
    """The four stages of a run. A run that stages nothing has one."""
    total = sum(each.actions for each in found.standings)
    drafts = f"{total:,} {'draft' if total == 1 else 'drafts'}" if total else words.NOTHING_TO_SEND
    prepared = Stage("Prepared", "done", drafts, when(found.run.created_ms, now_ms))
    if not total:
        return (prepared,)
    approved_ms = [each.approval.at_ms for each in found.actions if each.approval is not None]
    sent_ms = [each.executed_ms for each in found.actions if each.executed_ms is not None]
    return (
        prepared,
        _draw_approval(found.standings, total, _latest(approved_ms, now_ms)),
        _draw_sending(found.standings, _latest(sent_ms, now_ms)),
        _draw_measurement(found, effects, now_ms),
    )


def _latest(times: Iterable[int], now_ms: int) -> When | None:
    return when(max(times, default=None), now_ms)


def _count(standings: Iterable[ActionCount], *names: str) -> int:
    return sum(each.actions for each in standings if {each.status, each.execution_state} & set(names))


def _draw_approval(standings: tuple[ActionCount, ...], total: int, at: When | None) -> Stage:
    waiting, rejected = _count(standings, Status.AWAITING_APPROVAL), _count(standings, Status.REJECTED)
    decided = total - waiting
    if waiting:
        return Stage("Approve", "now", f"{decided:,} of {total:,} decided", at)
    if rejected == total:
        return Stage("Approve", "failed", "Rejected", at)
    text = f"{total - rejected:,} approved" + (f", {rejected:,} rejected" if rejected else "")
    return Stage("Approved", "done", text, at)


def _draw_sending(standings: tuple[ActionCount, ...], at: When | None) -> Stage:
    sent, failed = _count(standings, Status.EXECUTED), _count(standings, Status.FAILED)
    unknown = _count(standings, ExecutionState.OUTCOME_UNKNOWN)
    ready = _count(standings, Status.APPROVED) - unknown
    parts = ((sent, "sent"), (failed, "failed"), (unknown, "unknown"), (ready, words.TO_GO))
    text = ", ".join(f"{count:,} {word}" for count, word in parts if count)
    if unknown:
        return Stage("Send", "ask", text, at)
    if failed:
        return Stage("Send", "failed", text, at)
    if ready:
        return Stage("Send", "now", text, at)
    return Stage("Sent", "done", text, at) if sent else Stage("Send", "later", words.NOTHING_DONE_YET, at)


def _draw_measurement(found: RunDetail, effects: EffectTypes, now_ms: int) -> Stage:
    planned = found.measurement
    if planned is None:
        return Stage("Measure", "later", words.A_DAY_AFTER)
    if planned.measured_ms is not None:
        return Stage("Measured", "done", words.NUMBERS_ARE_IN, when(planned.measured_ms, now_ms))
    due = planned.due_ms <= now_ms
    return Stage("Measure", "now" if due else "later", words.NO_NUMBERS_YET, when(planned.due_ms, now_ms))


def describe_result(found: Measurement, effects: EffectTypes) -> str:
    """`1,840 views, 31 comments on LinkedIn`: the channel with the best defined numbers."""
    best = ""
    for channel, numbers in group_numbers(found.sources).items():
        known = read_numbers(numbers)
        told = [*known.seen[:1], *known.answered[:1]][:MOST_RESULTS]
        if not told:
            continue
        said = ", ".join(describe_number(name, numbers[name]) for name in told)
        line = f"{said} on {effects.page_label(channel)}"
        if known.exposure is not None:
            return line
        best = best or line
    return best
