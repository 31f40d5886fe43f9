"""Measures what was sent (C28).

Scheduled in the transaction that records the first effect of a run, so it runs once, late if the server was down and
never skipped. Every source is read separately; one without numbers gives the reason, and no number is invented. The
result is an asset of the run, a memory of the tenant, and a next move.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assent.engine.actions import actions
from assent.engine.core import jobs, journal
from assent.engine.core.jobs import Job
from assent.engine.core.services import Services
from assent.engine.learning import measured
from assent.engine.learning import memory as brain
from assent.engine.learning.measured import Measurement, check_reading
from assent.gate.calls import SuggestedCall
from assent.gate.cards import UNPUBLISH, is_mail
from assent.gate.personal_mail import is_personal
from assent.gate.records import Action, Asset, Status, is_by_hand
from assent.kernel.ids import AssetId, RunId, WorkspaceId
from assent.kernel.limits import HOUR_MS, SECOND_MS
from assent.kernel.refusals import Reason, Refusal, Retry
from assent.kernel.times import iso_time, readable_time
from assent.ports import Campaign, CampaignSource, Measurable, NotSent, Reading, Row, Transaction
from assent.sql.loader import statements
from assent.suite.content import channels
from assent.suite.measurement.metrics import describe_numbers, fold_name
from assent.suite.measurement.recommend import NO_SOURCE, NOT_MEASURED, RULES

log = logging.getLogger("assent.measurement")

MEASURE_JOB: Final = "measure_run"
INTERVAL: Final = "measureAfterMs"
HISTORY: Final = 20
RETRY_AFTER_MS: Final = 12 * HOUR_MS


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """When a run is or was measured."""

    run_id: RunId
    tenant_id: str
    asset_id: str | None
    due_ms: int
    measured_ms: int | None
    measurement: Measurement | None


def plan_interval(action: Action) -> int | None:
    """Return how long after sending an action is measured; None if it is not (E31)."""
    after_ms = action.metadata.get(INTERVAL)
    if not isinstance(after_ms, int) or action.effect.channel in NOT_MEASURED:
        return None
    if action.effect.verb == UNPUBLISH:
        return None
    return after_ms


def automatic_interval(action: Action) -> int | None:
    """Return when results arrive automatically; None for actions done by hand."""
    return None if is_by_hand(action) else plan_interval(action)


def schedule(action: Action, now_ms: int) -> Transaction[None]:
    """Schedule the measurement of a run whose effect was sent: a durable job, once per run."""
    after_ms = plan_interval(action)
    if after_ms is None:
        return
    due_ms = now_ms + after_ms
    first = yield statements.schedule_measurement(
        workspace_id=action.workspace_id,
        run_id=action.run_id,
        tenant_id=brain.tenant_of(action.tenant_id),
        due_ms=due_ms,
    )
    if first:
        yield from jobs.enqueue(
            action.workspace_id,
            MEASURE_JOB,
            action.run_id,
            {"runId": action.run_id},
            due_ms=due_ms,
            now_ms=now_ms,
        )


async def measure_job(services: Services, job: Job) -> None:
    """Run the job. If all sources are empty, that is recorded; a person may measure again later."""
    try:
        await measure(services, job.workspace_id, RunId(job.payload["runId"]), by="schedule")
    except Refusal as refusal:
        if refusal.reason is not Reason.MEASUREMENT_UNAVAILABLE:
            raise


async def measure(
    services: Services, workspace_id: WorkspaceId, run_id: RunId, *, by: str
) -> tuple[Measurement, Asset]:
    """Read every source of a run and store the result. Refuses if it is too early or no source has numbers."""
    now_ms = services.clock.now_ms()
    planned, sent, history, by_hand = await services.store.read(lambda: _facts(workspace_id, run_id))
    if planned is None or not sent:
        raise unavailable("Nothing of this run has been sent, so there is nothing to measure.")
    alone = all(is_by_hand(action) for action in sent)
    if alone and planned.due_ms > now_ms and not by_hand:
        raise without_numbers(sent)
    if planned.due_ms > now_ms and not alone:
        raise unavailable(f"It is too early. Results arrive {readable_time(planned.due_ms, now_ms)}.")
    readings = await read_all(services, sent, by_hand, now_ms)
    if all(reading.status != "ok" for reading in readings):
        await services.store.write(lambda: _note_empty(workspace_id, run_id, readings, by, now_ms))
        if alone:
            raise without_numbers(sent)
        raise unavailable(
            "No source has numbers yet: "
            + "; ".join(f"{channels.label_of(r.channel)}: {r.reason}" for r in readings),
            retry_after_seconds=RETRY_AFTER_MS // SECOND_MS,
        )
    # The first effect of a run sets the due time, so a run that is due later was sent later.
    earlier = [
        past.measurement.sources
        for past in history
        if past.due_ms < planned.due_ms and past.measurement is not None
    ]
    found = measured.draw_up(iso_time(now_ms), readings, earlier)
    asset = Asset(
        workspace_id=workspace_id,
        asset_id=AssetId(services.new_id(now_ms)),
        run_id=run_id,
        tenant_id=sent[0].tenant_id,
        type=measured.ASSET_TYPE,
        title="What became of it",
        created_ms=now_ms,
        **measured.present(found),
    )
    personal = _personal_channels(sent)
    return await services.store.write(lambda: _keep(planned, asset, found, personal, by, now_ms))


async def read_all(
    services: Services, sent: tuple[Action, ...], by_hand: dict[str, Reading], now_ms: int
) -> tuple[Reading, ...]:
    """Read every source about one run; a source without numbers gives the reason."""
    # Numbers that a person reported are for the whole channel, so they count once for all its messages.
    noted = [
        by_hand[channel] for channel in dict.fromkeys(a.effect.channel for a in sent) if channel in by_hand
    ]
    of_effects = [read_action(services, action) for action in sent if action.effect.channel not in by_hand]
    of_run = [_read_campaign(services, source, campaign(sent, now_ms)) for source in sources(services)]
    found = [*noted, *await asyncio.gather(*of_effects, *of_run)]
    return tuple(check_reading(reading) for reading in found if reading is not None)


async def read_action(services: Services, action: Action) -> Reading:
    """Read the connector of an action."""
    channel, source = action.effect.channel, action.effect.connector
    connector = services.connectors.get(source)
    measurable: object = connector
    if not isinstance(measurable, Measurable):
        return Reading(
            source=source,
            channel=channel,
            status="unavailable",
            reason=NO_SOURCE,
        )
    try:
        return await asyncio.wait_for(
            measurable.measure(action, services.limits.connector_timeout_seconds),
            services.limits.connector_timeout_seconds,
        )
    except NotSent as refused:
        reason = refused.detail
    except Exception as error:
        reason = f"{source} did not answer ({type(error).__name__})"
    return Reading(source=source, channel=channel, status="unavailable", reason=reason)


def campaign(sent: tuple[Action, ...], now_ms: int) -> Campaign:
    """Describe a run to a source that counts visitors: its own pages and the pages it links to."""
    links = [action.effect.link for action in sent]
    own = [action.external_url or "" for action in sent if action.effect.connector == "site"]
    pages = [page for page in (*links, *own) if page.startswith(("http://", "https://"))]
    return Campaign(
        workspace_id=sent[0].workspace_id,
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


def _facts(
    workspace_id: WorkspaceId, run_id: RunId
) -> Transaction[tuple[Scheduled | None, tuple[Action, ...], list[Scheduled], dict[str, Reading]]]:
    planned = yield from find(workspace_id, run_id)
    of_run = yield from actions.run_actions(workspace_id, run_id)
    tenant_id = planned.tenant_id if planned is not None else brain.DEFAULT_TENANT
    past = yield statements.list_measurements(workspace_id=workspace_id, tenant_id=tenant_id, most=HISTORY)
    rows = yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=run_id)
    by_hand = {
        row["channel"]: Reading(
            source="recorded by hand",
            channel=row["channel"],
            status="ok",
            metrics=msgspec.json.decode(row["metrics"]),
        )
        for row in rows
    }
    sent = tuple(
        action
        for action in of_run
        if action.status is Status.EXECUTED and action.effect.channel not in NOT_MEASURED
    )
    history = []
    for row in past:
        history.append((yield from _without_personal(read_scheduled(row), sent)))
    return planned, sent, history, by_hand


def _personal_channels(sent: Iterable[Action]) -> set[str]:
    """Return the channels with only personal e-mail. Their numbers are neither stored nor compared."""
    given = tuple(sent)
    return {each.effect.channel for each in given} - {
        each.effect.channel for each in given if not is_personal(each)
    }


def _without_personal(past: Scheduled, sent: tuple[Action, ...]) -> Transaction[Scheduled]:
    """Remove the numbers of personal e-mail from an earlier measurement; for such an e-mail, those of its channel."""
    found = past.measurement
    mailed = {each.effect.channel for each in sent if is_mail(each.effect)}
    if found is None or mailed.isdisjoint(reading.channel for reading in found.sources):
        return past
    of_run = yield from actions.run_actions(sent[0].workspace_id, past.run_id)
    personal = _personal_channels(sent) | _personal_channels(of_run)
    kept = tuple(reading for reading in found.sources if reading.channel not in personal)
    return msgspec.structs.replace(past, measurement=msgspec.structs.replace(found, sources=kept))


def find(workspace_id: WorkspaceId, run_id: RunId) -> Transaction[Scheduled | None]:
    """Return when a run is or was measured."""
    rows = yield statements.find_measurement(workspace_id=workspace_id, run_id=run_id)
    return read_scheduled(rows[0]) if rows else None


def due(workspace_id: WorkspaceId, most: int) -> Transaction[list[Scheduled]]:
    """Return the runs that wait for their measurement."""
    rows = yield statements.list_due_measurements(workspace_id=workspace_id, most=most)
    return [read_scheduled(row) for row in rows]


def list_measured(workspace_id: WorkspaceId, tenant_id: str, most: int) -> Transaction[list[Scheduled]]:
    """Return a tenant's measured runs, newest first."""
    rows = yield statements.list_measurements(workspace_id=workspace_id, tenant_id=tenant_id, most=most)
    return [read_scheduled(row) for row in rows]


def record_by_hand(
    workspace_id: WorkspaceId,
    run_id: RunId,
    channel: str,
    metrics: dict[str, float],
    source: str,
    now_ms: int,
) -> Transaction[dict[str, float]]:
    """Store numbers that a person reported, and return all of the channel. A repeated metric is replaced."""
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
    yield from journal.append(workspace_id, run_id, [journal.NewEvent("metrics_recorded", facts)], now_ms)
    return kept


def _keep(
    planned: Scheduled, asset: Asset, found: Measurement, personal: set[str], by: str, now_ms: int
) -> Transaction[tuple[Measurement, Asset]]:
    """Store a measurement. If the numbers equal the last ones, the last one is kept: one asset, one memory (E30)."""
    workspace_id = asset.workspace_id
    head = yield from journal.lock_head(workspace_id, asset.run_id, now_ms)
    last = yield from find(workspace_id, asset.run_id)
    if last is not None and last.measurement is not None and last.measurement.sources == found.sources:
        kept = yield from actions.find_asset(workspace_id, last.asset_id or "")
        if kept is not None:
            yield from _remember(planned.tenant_id, kept, found, personal, now_ms)
            return last.measurement, kept
    yield from actions.insert_asset(asset)
    yield statements.store_measurement(
        workspace_id=workspace_id,
        run_id=asset.run_id,
        asset_id=asset.asset_id,
        measured_ms=now_ms,
        body=msgspec.json.encode(found).decode(),
    )
    facts = {"assetId": asset.asset_id, "totals": found.totals, "by": by, "rules": found.rules}
    yield from journal.append_to(head, [journal.NewEvent("run_measured", facts)], now_ms)
    yield from _remember(planned.tenant_id, asset, found, personal, now_ms)
    return found, asset


def _remember(
    tenant_id: str, asset: Asset, found: Measurement, personal: set[str], now_ms: int
) -> Transaction[None]:
    """Store a memory of each reading, once; none of personal e-mail. It replaces one that an earlier version made."""
    for number, reading in enumerate(found.sources):
        if reading.status == "ok" and reading.channel not in personal:
            entry = performance_entry(tenant_id, asset, reading, number)
            yield from brain.remember(asset.workspace_id, entry, now_ms)


def performance_entry(tenant_id: str, asset: Asset, reading: Reading, number: int) -> brain.NewEntry:
    """Return the memory of one reading, with its own numbers only."""
    return brain.NewEntry(
        tenant_id=tenant_id,
        kind="channel_performance",
        body=f"{channels.label_of(reading.channel)}: {describe_numbers(reading.metrics)}.",
        source=reading.source,
        natural_key=f"performance:{asset.asset_id}:{number}",
        channel=reading.channel,
        run_id=asset.run_id,
        facts={"metrics": reading.metrics, "rules": RULES},
    )


def _note_empty(
    workspace_id: WorkspaceId, run_id: RunId, readings: tuple[Reading, ...], by: str, now_ms: int
) -> Transaction[None]:
    facts = {"by": by, "sources": [msgspec.to_builtins(reading) for reading in readings]}
    yield from journal.append(workspace_id, run_id, [journal.NewEvent("measurement_empty", facts)], now_ms)


def unavailable(message: str, retry_after_seconds: int | None = None) -> Refusal:
    """Return the refusal `measurement_unavailable`. Only an empty measurement is repeated, once (E99)."""
    if retry_after_seconds is None:
        return Refusal(Reason.MEASUREMENT_UNAVAILABLE, user_message=message)
    return Refusal(
        Reason.MEASUREMENT_UNAVAILABLE,
        user_message=message,
        fix="Stop for now. After retryAfterSeconds repeat the call once; do not wait for it in this chat.",
        retry=Retry.SAME,
        retry_after_seconds=retry_after_seconds,
    )


def without_numbers(sent: tuple[Action, ...]) -> Refusal:
    """Return the refusal for actions done by hand: only the person can report numbers, so a retry brings none."""
    channels = list(dict.fromkeys(action.effect.channel for action in sent))
    args: dict[str, Any] = {"runId": sent[0].run_id}
    needs = {"metrics": "the numbers", "source": "where they were read"}
    if len(channels) == 1:
        args["channel"] = channels[0]
    else:
        needs["channel"] = "one of " + ", ".join(channels)
    refusal = Refusal(
        Reason.MEASUREMENT_UNAVAILABLE,
        user_message="This was done by hand, so that no numbers arrive by themselves. Tell me those that you see "
        "there, and where you read them.",
        fix="STOP. Ask the user for the numbers they see and record those; never guess them.",
        retry=Retry.NEVER,
    )
    tell = SuggestedCall("chieflab_record_manual_metrics", args, "the user tells the numbers", needs)
    return Refusal.from_answer(msgspec.structs.replace(refusal.recovery(), next=[tell]))


def has_source(waiting: Scheduled, workspace_id: WorkspaceId) -> Transaction[bool]:
    """Whether measuring a run can bring numbers: not all of it was done by hand, or a person reported some."""
    of_run = yield from actions.run_actions(workspace_id, waiting.run_id)
    if any(action.status is Status.EXECUTED and not is_by_hand(action) for action in of_run):
        return True
    return bool((yield statements.list_manual_metrics(workspace_id=workspace_id, run_id=waiting.run_id)))


def read_scheduled(row: Row) -> Scheduled:
    """Decode a row."""
    body = row["body"]
    return Scheduled(
        run_id=RunId(row["run_id"]),
        tenant_id=row["tenant_id"],
        asset_id=row["asset_id"],
        due_ms=row["due_ms"],
        measured_ms=row["measured_ms"],
        measurement=measured.decode(body) if body is not None else None,
    )
