"""The tool that diagnoses running campaigns: numbers, decisions and failures, each with its source
(S3, E100).

Reads the workspace's sources and history and stores the result as an asset of its own run; stages
nothing.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

import msgspec

from assent.platform import Connection, Reading
from assent.sdk import (
    DAY_MS,
    Action,
    Arguments,
    Behaviour,
    Call,
    Draft,
    IdempotencyKey,
    Preparation,
    PreparedRun,
    Record,
    Services,
    Status,
    SuggestedCall,
    TenantIdArgument,
    Tool,
    Transaction,
    WorkspaceId,
    iso_time,
    list_actions_since,
    prepare_run,
)
from assent_launch.channels.registry import CONNECTORS, TABLE
from assent_launch.diagnosis import (
    WINDOW_DAYS,
    ActionFacts,
    ChannelReading,
    Diagnosis,
    DiagnosisFacts,
    Learned,
    Silence,
    as_text,
    diagnose,
    summarise,
)
from assent_launch.learning import measurement, memory
from assent_launch.learning.measurement import Scheduled, decode_measurement
from assent_launch.learning.memory import Entry
from assent_launch.learning.metrics import BY_HAND, select_credible
from assent_launch.operators import MEASURE
from assent_launch.tools.requests import Goal, WebhookUrl, make_request

MAX_ACTIONS: Final = 500
"""The most actions of the window that are read, newest first."""
RUNS_ASKED: Final = 5
"""Runs whose sources are read again; providers limit calls."""
RUNS_READ: Final = 30
"""Runs whose manually reported numbers are read."""
MAX_EFFECTS_ASKED: Final = 40
LESSONS: Final = 3
MAX_QUOTE_CHARS: Final = 240


class StoredFacts(Record, kw_only=True):
    """The stored facts."""

    actions: tuple[Action, ...]
    measured: list[Scheduled]
    due: list[Scheduled]
    by_hand: tuple[ChannelReading, ...]
    lessons: list[Entry]


async def gather(services: Services, workspace_id: WorkspaceId, tenant_id: str, goal: str) -> DiagnosisFacts:
    """Gather all facts about a tenant's campaigns."""
    now_ms = services.clock.now_ms()
    kept = await services.store.read(partial(_read_stored, workspace_id, tenant_id, now_ms))
    connections = await services.connections.list_all(workspace_id)
    asked = _newest_runs(kept.actions)
    answers, unready = await asyncio.gather(
        asyncio.gather(
            *(measurement.read_all(services, sent, {}, connections, now_ms) for sent in asked.values())
        ),
        _unready(services, workspace_id, kept.actions),
    )
    live = dict(zip(asked, answers, strict=True))
    observations = _observations(kept, live, now_ms)
    return DiagnosisFacts(
        now_ms=now_ms,
        goal=goal,
        observations=observations,
        silences=_silences(live, observations),
        actions=tuple(_make_action_facts(action, unready, now_ms) for action in kept.actions),
        due_ms=tuple(each.due_ms for each in kept.due if each.tenant_id == tenant_id),
        lessons=tuple(
            Learned(
                entry_id=each.entry_id,
                body=shorten(each.body),
                source=each.source,
                at=iso_time(each.created_ms),
            )
            for each in kept.lessons
        ),
        unconnected=_list_unconnected(services, connections),
    )


def _read_stored(workspace_id: WorkspaceId, tenant_id: str, now_ms: int) -> Transaction[StoredFacts]:
    recent_ms = now_ms - WINDOW_DAYS * DAY_MS
    newest = yield from list_actions_since(workspace_id, tenant_id, recent_ms, MAX_ACTIONS)
    found = tuple(action for action in newest if not action.is_step)
    measured = yield from measurement.list_measured(workspace_id, tenant_id, measurement.HISTORY)
    due = yield from measurement.due(workspace_id, measurement.HISTORY)
    lessons = yield from memory.read(workspace_id, tenant_id, kind="lesson", most=LESSONS)
    by_hand: list[ChannelReading] = []
    sent = dict.fromkeys(action.run_id for action in found if action.status is Status.EXECUTED)
    for run_id in list(sent)[:RUNS_READ]:
        lines = yield from measurement.list_reported(workspace_id, run_id)
        by_hand += [
            ChannelReading(
                channel=line["channel"],
                source=f"{BY_HAND}: {line['source']}",
                at_ms=line["recorded_ms"],
                run_id=run_id,
                metrics=select_credible(msgspec.json.decode(line["metrics"]))[0],
            )
            for line in lines
        ]
    return StoredFacts(
        actions=found,
        measured=[each for each in measured if (each.measured_ms or 0) > recent_ms],
        due=due,
        by_hand=tuple(by_hand),
        lessons=lessons,
    )


def _newest_runs(found: tuple[Action, ...]) -> dict[str, tuple[Action, ...]]:
    """Return the sent actions of the newest runs."""
    runs: dict[str, tuple[Action, ...]] = {}
    for action in [action for action in found if action.status is Status.EXECUTED][:MAX_EFFECTS_ASKED]:
        if action.run_id in runs or len(runs) < RUNS_ASKED:
            runs[action.run_id] = (*runs.get(action.run_id, ()), action)
    return runs


async def _unready(
    services: Services, workspace_id: WorkspaceId, found: tuple[Action, ...]
) -> frozenset[str]:
    """Return connectors that are not ready and that an action waits for."""
    waiting = {a.effect.connector for a in found if a.status in (Status.AWAITING_APPROVAL, Status.APPROVED)}
    unready = set()
    for name in sorted(waiting):
        connector = services.connectors.get(name)
        if connector is None or not (await connector.readiness(workspace_id)).ready:
            unready.add(name)
    return frozenset(unready)


def _list_unconnected(services: Services, connections: dict[str, Connection]) -> tuple[str, ...]:
    live = {each.provider for each in connections.values() if each.live}
    return tuple(name for name, _ in measurement.sources(services) if name not in live)


def _observations(
    kept: StoredFacts, live: dict[str, tuple[Reading, ...]], now_ms: int
) -> tuple[ChannelReading, ...]:
    """Return numbers, newest first: reported, read now, or read earlier without newer ones."""
    found = list(kept.by_hand)
    covered = {(each.run_id, each.channel) for each in found}
    for run_id, readings in live.items():
        found += [_make_observation(run_id, each, now_ms) for each in readings if each.status == "ok"]
    covered |= {(each.run_id, each.channel) for each in found}
    for past in kept.measured:
        if past.body is None:
            continue
        found += [
            _make_observation(past.run_id, each, past.measured_ms or now_ms)
            for each in decode_measurement(past.body).sources
            if each.status == "ok" and (past.run_id, each.channel) not in covered
        ]
    return tuple(sorted(found, key=lambda each: (each.run_id, each.at_ms), reverse=True))


def _make_observation(run_id: str, reading: Reading, at_ms: int) -> ChannelReading:
    return ChannelReading(
        channel=reading.channel,
        source=reading.source,
        at_ms=at_ms,
        run_id=run_id,
        metrics={name: float(value) for name, value in reading.metrics.items()},
    )


def _silences(
    live: dict[str, tuple[Reading, ...]], observations: tuple[ChannelReading, ...]
) -> tuple[Silence, ...]:
    """Return the sources that were read without result, if no other source has numbers."""
    known = {(each.run_id, each.channel) for each in observations}
    found = {
        (each.channel, each.source): Silence(
            channel=each.channel, source=each.source, reason=(each.reason or "no numbers").rstrip(".")
        )
        for run_id, readings in live.items()
        for each in readings
        if each.status != "ok" and (run_id, each.channel) not in known
    }
    return tuple(found.values())


def shorten(text: str) -> str:
    """Return a text on one line, shortened for a quotation."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTE_CHARS else line[: MAX_QUOTE_CHARS - 1] + "…"


def _make_action_facts(action: Action, unready: frozenset[str], now_ms: int) -> ActionFacts:
    return ActionFacts(
        action_id=action.action_id,
        run_id=action.run_id,
        channel=action.effect.channel,
        connector=action.effect.connector,
        status=action.status,
        execution_state=action.execution_state,
        created_ms=action.created_ms,
        executed_ms=action.executed_ms,
        expired=action.is_expired(now_ms),
        ready=action.effect.connector not in unready,
        rejection=shorten(action.rejection or "") if action.keeps_text else "",
        last_attempt=shorten(str(action.metadata.get("lastAttempt", ""))).rstrip("."),
    )


NAME: Final = "chieflab_diagnose_marketing"
MAX_CALLS: Final = 6
TEXT: Final = "text"
"""The channel of a text that belongs to none."""
LOOKS: Final = Behaviour(read_only=False, destructive=False, idempotent=False, open_world=True)
"""Reads from providers and stores the result."""


class DiagnoseMarketing(Arguments, kw_only=True):
    goal: Goal | None = None
    tenant_id: TenantIdArgument | None = None
    webhook_url: WebhookUrl | None = None
    idempotency_key: IdempotencyKey | None = None


class DiagnoseReply(PreparedRun, kw_only=True):
    """The full shape of a run; nothing is staged. `diagnosis` is null while it runs."""

    diagnosis: Diagnosis | None


LABELS: Final = {row.id: row.label for row in TABLE} | {info.id: info.label for info in CONNECTORS}


async def diagnose_marketing(call: Call, request: DiagnoseMarketing) -> DiagnoseReply:
    call.require_webhook(request.webhook_url)
    tenant_id = memory.tenant_of(request.tenant_id)
    reading = gather(call.services, call.caller.workspace_id, tenant_id, request.goal or "")
    facts = await call.await_within_limit(request.webhook_url, reading)
    if facts is None:
        asked = make_request(call, request, MEASURE.id, NAME)
        return await call.defer(asked, DiagnoseReply, {"diagnosis": None})
    found = diagnose(msgspec.structs.replace(facts, labels=LABELS))
    draft = Draft(
        type="diagnosis",
        title="What is wrong, and what to try" if found.findings else "What the numbers say",
        body=as_text(found),
        channel=TEXT,
        metadata={"diagnosis": msgspec.to_builtins(found)},
    )
    outputs: dict[str, Any] = {
        "hasData": found.has_data,
        "findings": [each.rule for each in found.findings],
        "missingData": [each.what for each in found.missing_data],
    }
    return await prepare_run(
        call.services,
        make_request(call, request, MEASURE.id, NAME),
        Preparation(
            drafts=(draft,),
            outputs=outputs,
            next_calls=suggest_calls(found),
            user_message=summarise(found),
        ),
        DiagnoseReply,
        lambda assets, staged: {"diagnosis": found},
    )


def suggest_calls(found: Diagnosis) -> tuple[SuggestedCall, ...]:
    """Suggest calls about the findings, then about missing numbers."""
    wanted = [each.call for each in found.findings] + [each.call for each in found.missing_data]
    calls: dict[bytes, SuggestedCall] = {}
    for each in wanted:
        calls.setdefault(msgspec.json.encode((each.name, each.args)), each)
    return tuple(calls.values())[:MAX_CALLS]


TOOLS = (
    Tool(
        name=NAME,
        title="Diagnose marketing",
        description="Says what is wrong with EXISTING campaigns: which number, from which source and when, and what "
        "to try. USE WHEN the user asks why something is not working, why no one signs up, what went wrong or costs "
        "too much, such as ads. NOT for new launches. Without numbers it says so and what would bring them.",
        behaviour=LOOKS,
        request=DiagnoseMarketing,
        reply=DiagnoseReply,
        handler=diagnose_marketing,
        scope="runs:write",
        legacy_names=("chiefmo_diagnose_marketing",),
    ),
)
