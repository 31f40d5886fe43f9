"""Measures what was sent (C28).

Scheduled in the transaction that records the first effect of a run, so it runs once, late if the
server was down and never skipped. Every source is read separately; one without numbers gives the
reason, and no number is invented. Where no interface gives numbers, a person reports them. The result is an asset of
the run, a memory of the tenant, and a next move: readings are facts, and totals, comparisons and advice are computed
from them when they are stored (E100).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from assent import NotSent
from assent.platform import Connection, EffectTypes, Reading, Settled, note_event
from assent.sdk import (
    Action,
    Asset,
    Reason,
    Record,
    Refusal,
    Retry,
    Row,
    RunId,
    Services,
    Status,
    SuggestedCall,
    Transaction,
    WireRecord,
    WorkspaceId,
    add_asset,
    enqueue_job,
    from_row,
    list_actions,
    make_guide,
    read_asset,
)
from assent_launch.component import statements
from assent_launch.learning import memory as brain
from assent_launch.learning.metrics import (
    BY_HAND,
    NO_SOURCE,
    describe_numbers,
    fold_name,
    quote_teller,
    read_numbers,
    select_credible,
)
from assent_launch.learning.recommend import NextMove, Usual, assess

ASSET_TYPE = "measurement"


@runtime_checkable
class Measurable(Protocol):
    """A connector that can measure an effect."""

    async def measure(self, action: Action, timeout_seconds: float) -> Reading: ...


class Campaign(Record, kw_only=True):
    """A run's delivered effects for a source that counts visitors: pages, and since when."""

    workspace_id: WorkspaceId
    connections: Mapping[str, Connection]
    """The workspace's connections, by provider."""
    pages: tuple[str, ...]
    since_ms: int
    until_ms: int


@runtime_checkable
class CampaignSource(Protocol):
    """A connector that can measure a whole run. None: the workspace has not connected it."""

    async def measure_campaign(self, campaign: Campaign, timeout_seconds: float) -> Reading | None: ...


class Measurement(WireRecord, kw_only=True):
    """One measurement of a whole run."""

    measured_at: str
    sources: tuple[Reading, ...]
    totals: dict[str, float]
    """Counts of the run; only numbers that may be added over its channels."""
    baseline: tuple[Usual, ...]
    next_move: NextMove


def assess_run(
    measured_at: str,
    sources: tuple[Reading, ...],
    effects: EffectTypes,
    earlier: Iterable[tuple[Reading, ...]] = (),
) -> Measurement:
    """Assess the readings of a run in comparison with those of earlier runs."""
    found = assess(sources, effects, earlier)
    return Measurement(
        measured_at=measured_at,
        sources=sources,
        totals=found.totals,
        baseline=found.usual,
        next_move=found.next_move,
    )


def decode_measurement(body: str) -> Measurement:
    return msgspec.json.decode(body, type=Measurement)


def present(found: Measurement, described: list[str]) -> dict[str, Any]:
    """Return text and metadata of a measurement's asset; `described` has its sources' texts."""
    lines = [
        text + _mention_left_out(reading) for text, reading in zip(described, found.sources, strict=True)
    ]
    advice = f"Next: {found.next_move.move} {found.next_move.why}"
    return {
        "body": "\n".join([*lines, "", advice]),
        "metadata": {ASSET_TYPE: msgspec.to_builtins(found)},
    }


def check_reading(reading: Reading) -> Reading:
    """Keep credible numbers only and name the others. Without any, it is unavailable."""
    if reading.status != "ok":
        return reading if reading.reason else msgspec.structs.replace(reading, reason=NO_SOURCE)
    kept, left_out = select_credible(reading.metrics)
    named = tuple(dict.fromkeys((*reading.left_out, *left_out)))
    if kept:
        return msgspec.structs.replace(reading, metrics=kept, left_out=named)
    reason = (
        f"it gave only values that cannot be right ({', '.join(named)})" if named else "it gave no numbers"
    )
    return Reading(source=reading.source, channel=reading.channel, status="unavailable", reason=reason)


def describe_sources(readings: Iterable[Reading], effects: EffectTypes) -> list[str]:
    """Describe the numbers of each source, or why it has none, under the name of its channel."""
    return [f"{effects.label(each.channel)}: {_describe_numbers(each)}" for each in readings]


def describe_reading(reading: Reading, *, short: bool = False) -> str:
    """Describe the numbers of one source, or why it has none, and the values that were left out."""
    if short and reading.status == "ok":
        told = quote_teller(reading.source)
        return read_numbers(reading.metrics).summarise() + told + _mention_left_out(reading)
    return _describe_numbers(reading) + _mention_left_out(reading)


def _describe_numbers(reading: Reading) -> str:
    if reading.status != "ok":
        return f"no numbers ({reading.reason})"
    return describe_numbers(reading.metrics) + quote_teller(reading.source)


def _mention_left_out(reading: Reading) -> str:
    named = ", ".join(reading.left_out)
    return f" (left out as not credible: {named})" if named and reading.status == "ok" else ""


log = logging.getLogger("assent.measurement")

MEASURE_JOB: Final = "measure_run"
HISTORY: Final = 20
RETRY_AFTER_SECONDS: Final = 12 * 60 * 60


class Scheduled(Record, kw_only=True):
    """When a run is or was measured."""

    run_id: RunId
    tenant_id: str
    asset_id: str | None
    due_ms: int
    measured_ms: int | None
    body: str | None
    """The stored measurement; None before the first one."""


def schedule(settled: Settled) -> Transaction[None]:
    """Schedule the measurement of a run whose effect was sent: a durable job, once per run, after the
    interval of the action (E31)."""
    action, now_ms = settled.action, settled.at_ms
    after_ms = action.measure_after_ms
    if action.status is not Status.EXECUTED or after_ms is None:
        return
    due_ms = now_ms + after_ms
    first = yield statements.schedule_measurement(
        workspace_id=action.workspace_id,
        run_id=action.run_id,
        tenant_id=brain.tenant_of(action.tenant_id),
        due_ms=due_ms,
    )
    if first:
        yield from enqueue_job(
            action.workspace_id,
            MEASURE_JOB,
            action.run_id,
            {"runId": action.run_id},
            due_ms=due_ms,
            now_ms=now_ms,
        )


class RunFacts(Record, kw_only=True):
    """The stored facts about a run that is measured."""

    planned: Scheduled
    sent: tuple[Action, ...]
    by_hand: dict[str, Reading]
    """Numbers that a person reported, by channel."""
    personal: frozenset[str]
    """Channels with only personal e-mail. Their numbers are neither remembered nor compared."""
    earlier: list[tuple[Reading, ...]]
    """The readings of the tenant's earlier runs that this one is compared with."""


def is_all_told(sent: tuple[Action, ...]) -> bool:
    """Whether only a person can tell what became of it."""
    return not any(action.gives_numbers for action in sent)


async def read_all(
    services: Services,
    sent: tuple[Action, ...],
    by_hand: dict[str, Reading],
    connections: dict[str, Connection],
    now_ms: int,
) -> tuple[Reading, ...]:
    """Read every source about one run; a source without numbers gives the reason."""
    # Numbers that a person reported are for the whole channel, so they count once for all its
    # messages.
    noted = [
        by_hand[channel] for channel in dict.fromkeys(a.effect.channel for a in sent) if channel in by_hand
    ]
    campaign = _make_campaign(sent, connections, now_ms)
    found = await asyncio.gather(
        *(read_action(services, action) for action in sent if action.effect.channel not in by_hand),
        *(_read_campaign(services, source, campaign) for source in sources(services)),
    )
    return tuple(check_reading(reading) for reading in (*noted, *found) if reading is not None)


async def read_action(services: Services, action: Action) -> Reading:
    """Read the connector of an action."""
    channel, source = action.effect.channel, action.effect.connector
    connector: object = services.connectors.get(source)
    if not isinstance(connector, Measurable):
        return Reading(source=source, channel=channel, status="unavailable")
    seconds = services.limits.connector_timeout_seconds
    try:
        return await asyncio.wait_for(connector.measure(action, seconds), seconds)
    except NotSent as refused:
        reason = refused.detail
    except Exception as error:
        reason = f"{source} did not answer ({type(error).__name__})"
    return Reading(source=source, channel=channel, status="unavailable", reason=reason)


def _make_campaign(sent: tuple[Action, ...], connections: dict[str, Connection], now_ms: int) -> Campaign:
    """Describe a run to a source that counts visitors: its own pages and the pages it links to."""
    links = [action.effect.link for action in sent]
    own = [action.external_url or "" for action in sent if action.view.counts_visits]
    pages = [page for page in (*links, *own) if page.startswith(("http://", "https://"))]
    return Campaign(
        workspace_id=sent[0].workspace_id,
        connections=connections,
        pages=tuple(dict.fromkeys(page.partition("#")[0] for page in pages)),
        since_ms=min(action.executed_ms or now_ms for action in sent),
        until_ms=now_ms,
    )


def sources(services: Services) -> list[tuple[str, CampaignSource]]:
    """Return the sources that can measure a whole run."""
    everyone: list[tuple[str, object]] = list(services.connectors.items())
    return [(name, source) for name, source in everyone if isinstance(source, CampaignSource)]


async def _read_campaign(
    services: Services, source: tuple[str, CampaignSource], of_run: Campaign
) -> Reading | None:
    """Read a source about the whole run; None if the workspace does not use it."""
    name, connector = source
    seconds = services.limits.connector_timeout_seconds
    try:
        return await asyncio.wait_for(connector.measure_campaign(of_run, seconds), seconds)
    except Exception as error:
        log.warning("source %s failed: %s", name, type(error).__name__)
        reason = f"{name} did not answer ({type(error).__name__})"
        return Reading(source=name, channel=name, status="unavailable", reason=reason)


def read_facts(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[RunFacts]:
    planned = yield from find(workspace_id, run_id)
    of_run = yield from list_actions(workspace_id, run_id)
    sent = tuple(action for action in of_run if action.status is Status.EXECUTED and action.measure_after_ms)
    if planned is None or not sent:
        raise refuse_measurement("Nothing of this run has been sent, so there is nothing to measure.")
    noted = yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)
    mailed = {action.effect.channel for action in sent if action.view.mail}
    personal = _personal_channels(sent) if mailed else frozenset()
    return RunFacts(
        planned=planned,
        sent=sent,
        by_hand={row["channel"]: _read_reported(row) for row in noted},
        personal=personal,
        earlier=(yield from _read_earlier(workspace_id, planned, mailed, personal)),
    )


def _read_reported(row: Row) -> Reading:
    metrics, source = msgspec.json.decode(row["metrics"]), f"{BY_HAND}: {row['source']}"
    return Reading(source=source, channel=row["channel"], status="ok", metrics=metrics)


def _read_earlier(
    workspace_id: WorkspaceId, planned: Scheduled, mailed: set[str], personal: frozenset[str]
) -> Transaction[list[tuple[Reading, ...]]]:
    """Return earlier readings without personal e-mail and the channels in `personal`."""
    found = []
    rows = yield statements.list_measurements(
        workspace_id=workspace_id, tenant_id=planned.tenant_id, most=HISTORY
    )
    for row in rows:
        # The first effect of a run sets the due time, so a run that is due later was sent later.
        if row["due_ms"] >= planned.due_ms or row["body"] is None:
            continue
        readings = decode_measurement(row["body"]).sources
        if not mailed.isdisjoint(reading.channel for reading in readings):
            of_run = yield from list_actions(workspace_id, RunId(row["run_id"]))
            left_out = personal | _personal_channels(of_run)
            readings = tuple(reading for reading in readings if reading.channel not in left_out)
        found.append(readings)
    return found


def _personal_channels(sent: tuple[Action, ...]) -> frozenset[str]:
    """Return the channels with only personal e-mail."""
    used = {each.effect.channel for each in sent}
    return frozenset(used - {each.effect.channel for each in sent if not each.is_personal})


def find(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[Scheduled | None]:
    """Return when a run is or was measured."""
    rows = yield statements.find_measurement(workspace_id=workspace_id, run_id=run_id)
    return read_scheduled(rows[0]) if rows else None


def find_all(workspace_id: WorkspaceId, run_ids: Iterable[str]) -> Transaction[list[Scheduled]]:
    """Return when some runs are or were measured."""
    wanted = msgspec.json.encode(list(run_ids)).decode()
    rows = yield statements.list_run_measurements(workspace_id=workspace_id, wanted=wanted)
    return [read_scheduled(row) for row in rows]


def list_read(
    workspace_id: WorkspaceId, since_ms: int, most: int, tenant_id: str = ""
) -> Transaction[list[Scheduled]]:
    """Return the runs that were measured since a time, newest first; of one tenant if it is named."""
    if tenant_id:
        found = yield from list_measured(workspace_id, tenant_id, most)
        return [each for each in found if (each.measured_ms or 0) > since_ms]
    rows = yield statements.list_read_measurements(workspace_id=workspace_id, since_ms=since_ms, most=most)
    return [read_scheduled(row) for row in rows]


def list_unmeasured(
    workspace_id: WorkspaceId, since_ms: int, most: int, tenant_id: str = ""
) -> Transaction[list[Scheduled]]:
    """Return the runs that are due after a time and have no numbers yet, the soonest first; of one tenant if it
    is named."""
    rows = yield statements.list_unmeasured(
        workspace_id=workspace_id, since_ms=since_ms, most=most, tenant_id=tenant_id
    )
    return [read_scheduled(row) for row in rows]


def due(workspace_id: WorkspaceId, most: int, tenant_id: str = "") -> Transaction[list[Scheduled]]:
    """Return the runs that wait for their measurement; of one tenant if it is named."""
    if tenant_id:
        rows = yield statements.list_tenant_due_measurements(
            workspace_id=workspace_id, tenant_id=tenant_id, most=most
        )
    else:
        rows = yield statements.list_due_measurements(workspace_id=workspace_id, most=most)
    return [read_scheduled(row) for row in rows]


def list_measured(workspace_id: WorkspaceId, tenant_id: str, most: int) -> Transaction[list[Scheduled]]:
    """Return a tenant's measured runs, newest first."""
    rows = yield statements.list_measurements(workspace_id=workspace_id, tenant_id=tenant_id, most=most)
    return [read_scheduled(row) for row in rows]


def keep(
    facts: RunFacts, asset: Asset, found: Measurement, described: list[str], by: str, now_ms: int
) -> Transaction[tuple[str | None, Asset]]:
    """Store a measurement, unless its numbers equal the last one's (E30). Returns the body of the
    last one in that case, and the asset."""
    workspace_id = asset.workspace_id
    rows = yield statements.lock_measurement(workspace_id=workspace_id, run_id=asset.run_id)
    last = read_scheduled(rows[0]) if rows else None
    if last is not None and last.body is not None and decode_measurement(last.body).sources == found.sources:
        kept = yield from read_asset(workspace_id, last.asset_id or "")
        if kept is not None:
            yield from _remember(facts, kept, found, described, now_ms)
            return last.body, kept
    event = {"assetId": asset.asset_id, "totals": found.totals, "by": by}
    yield from note_event(workspace_id, "run_measured", event, now_ms, stream_id=asset.run_id)
    yield from add_asset(asset)
    yield statements.store_measurement(
        workspace_id=workspace_id,
        run_id=asset.run_id,
        asset_id=asset.asset_id,
        measured_ms=now_ms,
        body=msgspec.json.encode(found).decode(),
    )
    yield from _remember(facts, asset, found, described, now_ms)
    return None, asset


def _remember(
    facts: RunFacts, asset: Asset, found: Measurement, described: list[str], now_ms: int
) -> Transaction[None]:
    """Store a memory of each reading with what was sent, once; none of personal e-mail."""
    for number, reading in enumerate(found.sources):
        if reading.status == "ok" and reading.channel not in facts.personal:
            sent = [each for each in facts.sent if each.effect.channel == reading.channel]
            about = f"“{sent[0].headline}”: " if len(sent) == 1 else ""
            entry = brain.NewEntry(
                tenant_id=facts.planned.tenant_id,
                kind="channel_performance",
                body=f"{about}{described[number]}.",
                source=reading.source,
                natural_key=f"performance:{asset.asset_id}:{number}",
                channel=reading.channel,
                run_id=asset.run_id,
                facts={"metrics": reading.metrics},
            )
            yield from brain.remember(asset.workspace_id, entry, now_ms)


def read_scheduled(row: Row) -> Scheduled:
    return from_row(Scheduled, row)


def list_reported(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[Sequence[Row]]:
    """List the reported numbers of a run, by channel."""
    return (yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id))


def record_reported(
    workspace_id: WorkspaceId,
    run_id: RunId,
    channel: str,
    metrics: dict[str, float],
    source: str,
    now_ms: int,
) -> Transaction[dict[str, float]]:
    """Store reported numbers and return all of the channel. A repeated metric is replaced."""
    rows = yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)
    before = [msgspec.json.decode(row["metrics"]) for row in rows if row["channel"] == channel]
    told = {fold_name(name) for name in metrics}
    kept = {name: value for each in before for name, value in each.items() if fold_name(name) not in told}
    kept |= metrics
    yield statements.record_manual_metrics(
        workspace_id=workspace_id,
        run_id=run_id,
        channel=channel,
        metrics=msgspec.json.encode(kept).decode(),
        source=source,
        recorded_ms=now_ms,
    )
    facts = {"channel": channel, "metrics": metrics, "source": source}
    yield from note_event(workspace_id, "metrics_recorded", facts, now_ms, stream_id=run_id)
    return kept


def has_source(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[bool]:
    """Whether a run can have numbers: a connector reads some, or a person reported some."""
    of_run = yield from list_actions(workspace_id, run_id)
    if any(action.status is Status.EXECUTED and action.gives_numbers for action in of_run):
        return True
    return bool((yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)))


def refuse_measurement(message: str, retry_after_seconds: int | None = None) -> Refusal:
    """Return `measurement_unavailable`. Only an empty measurement is repeated, once (E99)."""
    if retry_after_seconds is None:
        return Refusal(Reason.MEASUREMENT_UNAVAILABLE, user_message=message)
    return Refusal(
        Reason.MEASUREMENT_UNAVAILABLE,
        user_message=message,
        fix="Stop for now. After retryAfterSeconds repeat the call once; do not wait for it in this chat.",
        retry=Retry.SAME,
        retry_after_seconds=retry_after_seconds,
    )


def refuse_unmeasured(sent: tuple[Action, ...]) -> Refusal:
    """Return the refusal for actions whose numbers only the person can report."""
    channels = list(dict.fromkeys(action.effect.channel for action in sent))
    labels = " and ".join(dict.fromkeys(action.view.label for action in sent))
    args: dict[str, Any] = {"runId": sent[0].run_id}
    needs = {"metrics": "the numbers", "source": "where they were read"}
    if len(channels) == 1:
        args["channel"] = channels[0]
    else:
        needs["channel"] = "one of " + ", ".join(channels)
    refusal = Refusal(
        Reason.MEASUREMENT_UNAVAILABLE,
        user_message=f"No numbers arrive automatically from {labels}. Tell me those that you see there, and where "
        "you read them.",
        fix="STOP. Ask the user for the numbers they see and record those; never guess them.",
        retry=Retry.NEVER,
    )
    tell = SuggestedCall("chieflab_record_manual_metrics", args, "the user tells the numbers", needs)
    return Refusal.from_answer(
        msgspec.structs.replace(refusal.recovery(), agent_guide=make_guide({}, [tell]))
    )
