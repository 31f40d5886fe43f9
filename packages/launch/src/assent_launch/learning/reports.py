"""What the core's answers and pages say about results, lessons and credits where this is installed.

Each function is a row of `assent_launch.subscribers`. It reads inside a transaction of the core and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from assent.platform import (
    ChannelResult,
    EffectTypes,
    Origin,
    RunResult,
    StatusPart,
    StatusQuery,
    cut,
    read_heads,
)
from assent.sdk import (
    Asset,
    SuggestedCall,
    Transaction,
    WireRecord,
    WorkspaceId,
    from_record,
    iso_time,
    readable_time,
)
from assent_launch.learning import credits, measurement, memory
from assent_launch.learning.measurement import Measurement, Scheduled, decode_measurement
from assent_launch.learning.memory import Entry
from assent_launch.learning.metrics import (
    describe_number,
    describe_numbers,
    is_told,
    quote_teller,
    read_numbers,
)
from assent_launch.learning.recommend import Numbers, group_numbers

LISTED: Final = 5
"""Measured runs of a report, and runs that wait for their numbers."""
LESSONS: Final = 6
LESSONS_READ: Final = 4 * LESSONS
"""More than are shown: a rejection may not be about the text."""
LESSONS_SHOWN: Final = 3
LESSON_KINDS: Final = ("channel_performance", "rejection", "lesson")
MAX_LESSON: Final = 200
MOST_NUMBERS: Final = 2
"""Numbers of a channel in the line about a result."""


class RunTotals(WireRecord, kw_only=True):
    """The numbers of a run; the text of the status says what it was, and what to do next."""

    run_id: str
    tenant_id: str
    totals: dict[str, float]


class MeasuredEntry(RunTotals, kw_only=True):
    what: str
    next_move: str
    results: str
    """The numbers of every channel in words."""


class DueMeasurement(WireRecord, kw_only=True):
    run_id: str
    due_at: str


class Lesson(WireRecord, kw_only=True):
    entry_id: str
    tenant_id: str
    kind: str
    body: str


class CreditsView(WireRecord):
    """The remaining credits for metered actions; `balance` is null without a limit."""

    unlimited: bool
    balance: int | None
    reserved: int
    spent: int


def read_results(
    workspace_id: WorkspaceId, run_ids: tuple[str, ...], effects: EffectTypes
) -> Transaction[dict[str, RunResult]]:
    """Read when some runs are or were measured, and what came of it."""
    found = yield from measurement.find_all(workspace_id, run_ids)
    return {each.run_id: _describe_run(each, effects) for each in found}


def _describe_run(planned: Scheduled, effects: EffectTypes) -> RunResult:
    if planned.body is None:
        return RunResult(due_ms=planned.due_ms, read_ms=planned.measured_ms)
    found = decode_measurement(planned.body)
    told = {each.channel: quote_teller(each.source) for each in found.sources}
    return RunResult(
        due_ms=planned.due_ms,
        read_ms=planned.measured_ms,
        summary=summarise(found, effects),
        channels={
            channel: _describe_channel(numbers, told[channel])
            for channel, numbers in group_numbers(found.sources).items()
        },
        advice=(found.next_move.move, found.next_move.why),
    )


def _describe_channel(numbers: Numbers, told: str) -> ChannelResult:
    known = read_numbers(numbers)
    name = known.exposure
    return ChannelResult(known.summarise() + told, name or "", numbers[name] if name is not None else 0)


def summarise(found: Measurement, effects: EffectTypes) -> str:
    """`1,840 views, 31 comments on LinkedIn`: the channel with the best defined numbers."""
    best, told = "", {each.channel for each in found.sources if is_told(each.source)}
    for channel, numbers in group_numbers(found.sources).items():
        known = read_numbers(numbers)
        names = [*known.seen[:1], *known.answered[:1]][:MOST_NUMBERS]
        if not names:
            continue
        said = ", ".join(describe_number(name, numbers[name]) for name in names)
        line = f"{said} on {effects.page_label(channel).replace('Your ', 'your ', 1)}"
        line += ", as told" if channel in told else ""
        if known.exposure is not None:
            return line
        best = best or line
    return best


def read_origins(assets: tuple[Asset, ...]) -> Transaction[dict[str, tuple[Origin, ...]]]:
    """Read the memories that changed some drafts."""
    used = [(asset, memory.memory_used(asset)) for asset in assets]
    entries: dict[str, Entry | None] = {}
    for asset, uses in used:
        for use in uses:
            if use.entry_id not in entries:
                entries[use.entry_id] = yield from memory.find(asset.workspace_id, use.entry_id)
    return {
        asset.asset_id: tuple(
            Origin(entry.kind.replace("_", " "), entry.body, use.how, entry.source, entry.state == "proposed")
            for use in uses
            if (entry := entries[use.entry_id]) is not None
        )
        for asset, uses in used
    }


def read_account(workspace_id: WorkspaceId) -> Transaction[dict[str, Any]]:
    had = yield from credits.account(workspace_id)
    return {"credits": CreditsView(had.unlimited, had.available, had.reserved, had.spent)}


def read_status(query: StatusQuery) -> Transaction[StatusPart]:
    """Read what was measured since a time, what is due, and the lessons."""
    workspace_id, now_ms, tenant_id = query.workspace_id, query.now_ms, query.tenant_id or ""
    read = yield from measurement.list_read(workspace_id, query.since_ms, LISTED, tenant_id)
    heads = yield from read_heads(workspace_id, [each.run_id for each in read])
    due = []
    for each in (yield from measurement.due(workspace_id, 2 * LISTED, tenant_id)):
        if (yield from measurement.has_source(workspace_id, each.run_id)):
            due.append(each)
    lessons = yield from _read_lessons(query)
    rules = yield from memory.read_rules(workspace_id, query.tenant_id)
    measured = tuple(
        _make_entry(each, head.name if head else "", head.undone if head else (), query.effects)
        for each in read
        for head in [heads.get(each.run_id)]
    )
    return StatusPart(
        extra={
            "measured": tuple(from_record(RunTotals, each) for each in measured),
            "dueMeasurements": tuple(
                DueMeasurement(run_id=each.run_id, due_at=iso_time(each.due_ms)) for each in due[:LISTED]
            ),
            "rules": tuple(from_record(Lesson, each, body=memory.state_rule(each)) for each in rules),
            "lessons": tuple(
                from_record(Lesson, each, body=_short(each))
                for each in lessons
                if each.kind != "channel_performance" or each.run_id not in {run.run_id for run in measured}
            ),
        },
        said=_tell_lesson(measured, lessons),
        shown=_show(measured, due[:LISTED], lessons, rules, now_ms),
        next=tuple(
            SuggestedCall("chieflab_measure", {"runId": each.run_id}, "to see how it went")
            for each in [each for each in due[:LISTED] if each.due_ms <= now_ms][:1]
        ),
    )


def _tell_lesson(measured: tuple[MeasuredEntry, ...], lessons: list[Entry]) -> str:
    """Return what to do better next time: the advice after the last measurement, else what people said."""
    for each in measured:
        if each.next_move:
            about = f"“{each.what}”" if each.what else "the last run"
            whose = f" for {each.tenant_id}" if each.tenant_id != memory.DEFAULT_TENANT else ""
            return f"Learned from {about}{whose}: {each.next_move}"
    said = _list_said(lessons)
    return f"Learned lately: {_short(said[0])}" if said else ""


def _list_said(lessons: list[Entry]) -> list[Entry]:
    """What people said. Results stand with their runs."""
    return [each for each in lessons if each.kind != "channel_performance"]


def _read_lessons(query: StatusQuery) -> Transaction[list[Entry]]:
    workspace_id, tenant_id = query.workspace_id, query.tenant_id
    if tenant_id is None:
        found = yield from memory.read_lessons(workspace_id, LESSONS_READ)
    else:
        found = []
        for kind in LESSON_KINDS:
            found += yield from memory.read(workspace_id, tenant_id, kind=kind, most=LESSONS_READ)
    taught = [
        entry
        for entry in found
        if not memory.list_rules([entry])  # these stand whole among the rules
        if entry.kind != "rejection" or query.effects.is_lesson(entry.channel, entry.facts.get("reason", ""))
    ]
    return sorted(taught, key=lambda entry: entry.entry_id, reverse=True)[:LESSONS]


def _make_entry(found: Scheduled, about: str, undone: Collection[str], effects: EffectTypes) -> MeasuredEntry:
    measured = decode_measurement(found.body) if found.body is not None else None
    known = [each for each in measured.sources if each.status == "ok"] if measured is not None else []
    lines = [
        f"{effects.label(each.channel)}: {measurement.describe_reading(each, short=True)}." for each in known
    ]
    move = measured.next_move if measured is not None else None
    if move is not None and move.channel in undone:
        move = None  # nothing is to be done about what was taken back
    return MeasuredEntry(
        run_id=found.run_id,
        tenant_id=found.tenant_id,
        what=about,
        totals=measured.totals if measured is not None else {},
        next_move=move.move if move is not None else "",
        results=" ".join(lines) or "No numbers.",
    )


def _short(lesson: Entry) -> str:
    return cut(" ".join(lesson.body.split()), MAX_LESSON)


def _show(
    measured: tuple[MeasuredEntry, ...],
    due: list[Scheduled],
    lessons: list[Entry],
    rules: list[Entry],
    now_ms: int,
) -> tuple[str, ...]:
    parts = []
    if rules:
        lines = [f"- {_name_tenant(each.tenant_id)}{memory.state_rule(each)}" for each in rules]
        parts.append("\n".join(["**Your rules**", *lines]))
    if measured:
        lines = [
            f"- {_name_tenant(each.tenant_id)}“{each.what or 'A run'}”: {each.results}"
            + (f" Next: {each.next_move}" if each.next_move else "")
            for each in measured
        ]
        parts.append("\n".join(["**Measured lately**", *lines]))
    if waiting := [each for each in due if each.due_ms > now_ms]:
        parts.append(f"The next results arrive {readable_time(waiting[0].due_ms, now_ms)}.")
    if said := _list_said(lessons)[:LESSONS_SHOWN]:
        lines = [f"- {_name_tenant(each.tenant_id)}{_short(each)}" for each in said]
        parts.append("\n".join(["**Learned lately**", *lines]))
    return tuple(parts)


def _name_tenant(tenant_id: str) -> str:
    return f"{tenant_id}: " if tenant_id != memory.DEFAULT_TENANT else ""


# The sentences of the audit log.


def _describe_measurement(facts: Mapping[str, Any]) -> str:
    totals = facts.get("totals")
    return f"Measured: {describe_numbers(totals)}" if isinstance(totals, dict) and totals else "Measured"


def _describe_reported(facts: Mapping[str, Any]) -> str:
    numbers = facts.get("metrics")
    told = describe_numbers(numbers) if isinstance(numbers, dict) else "no numbers"
    return f"Numbers for {facts['channelName']} entered by hand: {told}"


def _describe_decided(facts: Mapping[str, Any]) -> str:
    did = {"confirmed": "confirmed", "deleted": "deleted"}.get(str(facts.get("state")), "stopped the use of")
    return f"{facts.get('by', 'Someone')} {did} a memory"


def _describe_written(facts: Mapping[str, Any]) -> str:
    return f"{facts.get('by', 'Someone')} {'rewrote' if facts.get('replaces') else 'wrote'} a memory"


SENTENCES: Final[Mapping[str, Mapping[str, Any]]] = {
    "runs": {
        "run_measured": _describe_measurement,
        "measurement_empty": "Measured, and no source had numbers yet",
        "metrics_recorded": _describe_reported,
        "memory_decided": _describe_decided,
        "memory_written": _describe_written,
    },
    "access": {
        "credits_granted": "{amount} credits were granted by {agent}",
        "credits_limited": "Credits were limited to {amount} by {agent}",
        "credits_unlimited": "The limit of credits was removed by {agent}",
    },
}
