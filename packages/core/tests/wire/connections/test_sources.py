"""What became of a run, as Google's sources say it: numbers, or why there are none, and never a zero of our own."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from tests.support.channels.kit import connect as key_connect
from tests.support.connections.kit import Connected

from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.gate.effects import EffectTypes
from assent.gate.records import Asset
from assent.kernel.ids import ActionId, RunId
from assent.kernel.refusals import Refusal
from assent.ports import Reading
from assent_conform.emulators.google import DailyVisits, Query
from assent_conform.testing.operator import Wanted
from assent_conform.testing.provider_server import Outcome, json_answer
from assent_launch.effect_types import effect_types
from assent_launch.learning import measurement, measuring
from assent_launch.learning.measurement import Measurement
from assent_launch.learning.recommend import assess

PAGE = "https://example.org/launch"
DAY = {"hours": 25.0}


async def published(workspace: Connected, link: str = PAGE) -> RunId:
    """A run whose post is out."""
    action_id: ActionId = await workspace.engine.approved(Wanted(connector="site", link=link))
    await workspace.engine.execute(action_id)
    return (await workspace.engine.action(action_id)).run_id


async def measured(workspace: Connected, run_id: RunId) -> tuple[Measurement, Asset]:
    return await measuring.measure(workspace.engine.services, LOCAL_WORKSPACE, run_id, by="test")


def of(found: Measurement, source: str) -> Reading | None:
    return next((reading for reading in found.sources if reading.source == source), None)


def today(workspace: Connected) -> date:
    return datetime.fromtimestamp(workspace.clock.now_ms() / 1000, UTC).date()


@pytest.mark.rule("E30", "E100")
async def test_a_run_is_measured_by_every_connected_source_for_its_page(
    workspace_on_any_store: Connected,
) -> None:
    workspace = workspace_on_any_store
    await workspace.connect("ga4", propertyId="1234")
    await workspace.connect("search_console", siteUrl="https://example.org/")
    run_id = await published(workspace)
    day = today(workspace)
    workspace.far.ga4.visits += [
        DailyVisits(day, "example.org", "/launch", 40, 3),
        DailyVisits(day, "example.org", "/launch/", 2),
        DailyVisits(day, "example.org", "/other", 900, 90),
        DailyVisits(day, "elsewhere.example", "/launch", 900, 90),
    ]
    workspace.far.search.queries += [Query(day, PAGE, 5, 120), Query(day, "https://example.org/other", 9, 9)]
    workspace.clock.advance(days=4)

    found, asset = await measured(workspace, run_id)

    assert of(found, "ga4") == Reading(
        source="ga4", channel="web", status="ok", metrics={"sessions": 42, "conversions": 3}
    )
    assert of(found, "search_console") == Reading(
        source="search_console", channel="search", status="ok", metrics={"clicks": 5, "impressions": 120}
    )
    assert (of(found, "site") or found.sources[0]).status == "ok"
    assert asset.run_id == run_id
    assert "42 sessions" in asset.body
    # The site and the search both count clicks, and one visitor may be in both: that is no sum of anything.
    assert found.totals == {"impressions": 120, "views": 0, "sessions": 42, "conversions": 3}


@pytest.mark.rule("E100")
async def test_empty_rows_and_late_numbers_are_unavailable_and_say_why(workspace: Connected) -> None:
    await workspace.connect("ga4", propertyId="1234")
    await workspace.connect("search_console", siteUrl="sc-domain:example.org")
    workspace.far.search.sites.append("sc-domain:example.org")
    run_id = await published(workspace)
    workspace.far.search.queries.append(Query(today(workspace), PAGE, 5, 120))
    workspace.clock.advance(**DAY)

    found, asset = await measured(workspace, run_id)

    for source, why in (("ga4", "counted nothing"), ("search_console", "two to three days late")):
        reading = of(found, source)
        assert reading is not None
        assert (reading.status, reading.metrics) == ("unavailable", {})
        assert why in (reading.reason or "")
        assert why in asset.body
    assert not {"sessions", "conversions", "impressions"} & set(found.totals)


@pytest.mark.rule("E100")
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Outcome.REFUSE_429, "limits how often"),
        (Outcome.REFUSE_403, "may not read"),
        (Outcome.REFUSE_404, "does not know"),
        (Outcome.ERROR_BEFORE, "HTTP 503"),
        (Outcome.GARBAGE_AFTER, "HTTP 200"),
        (Outcome.RESET_BEFORE, "no whole answer"),
    ],
)
async def test_a_failing_source_says_so_and_does_not_hide_the_others(
    workspace: Connected, fault: Outcome, why: str
) -> None:
    await workspace.connect("ga4", propertyId="1234")
    run_id = await published(workspace)
    workspace.clock.advance(**DAY)
    workspace.far.ga4.plan(fault)

    found, _ = await measured(workspace, run_id)

    reading = of(found, "ga4")
    assert reading is not None
    assert (reading.status, reading.metrics) == ("unavailable", {})
    assert why in (reading.reason or "")
    assert (of(found, "site") or found.sources[0]).metrics == {"views": 0, "clicks": 0}


@pytest.mark.rule("E100")
@pytest.mark.parametrize(
    "rows",
    [[{}], [{"metricValues": []}], [{"metricValues": [{"value": "many"}, {"value": "NaN"}]}], [None], "x"],
)
async def test_rows_without_numbers_are_no_numbers(
    workspace: Connected, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workspace.connect("ga4", propertyId="1234")
    run_id = await published(workspace)
    workspace.clock.advance(**DAY)
    monkeypatch.setattr(workspace.far.ga4, "run_report", lambda *_: json_answer(200, {"rows": rows}))

    found, _ = await measured(workspace, run_id)

    reading = of(found, "ga4")
    assert reading is not None
    assert (reading.status, reading.metrics) == ("unavailable", {})


async def test_a_source_whose_access_was_revoked_asks_to_connect_again(workspace: Connected) -> None:
    await workspace.connect("ga4", propertyId="1234")
    run_id = await published(workspace)
    workspace.clock.advance(**DAY)
    workspace.far.google.revoke_all()

    found, _ = await measured(workspace, run_id)

    assert "Connect it again" in ((of(found, "ga4") or found.sources[0]).reason or "")
    assert await workspace.state("ga4") == "expired"
    again, _ = await measured(workspace, run_id)
    assert "Connect it again" in ((of(again, "ga4") or again.sources[0]).reason or "")


async def test_a_source_that_was_never_connected_or_was_disconnected_is_not_mentioned(
    workspace: Connected,
) -> None:
    await workspace.connect("ga4", propertyId="1234")
    await workspace.connections.disconnect(LOCAL_WORKSPACE, "ga4", by="Ada")
    run_id = await published(workspace)
    workspace.clock.advance(**DAY)

    found, _ = await measured(workspace, run_id)

    assert [reading.source for reading in found.sources] == ["site"]
    assert not workspace.far.ga4.ledger.calls()


async def test_until_a_property_is_chosen_there_is_nothing_to_read(workspace: Connected) -> None:
    await workspace.connect("ga4")
    run_id = await published(workspace)
    workspace.clock.advance(**DAY)

    found, _ = await measured(workspace, run_id)

    assert "chosen yet" in ((of(found, "ga4") or found.sources[0]).reason or "")
    readiness = await workspace.engine.services.connectors["ga4"].readiness(LOCAL_WORKSPACE)
    assert not readiness.ready
    assert "is connected, but" in (readiness.summary or "")  # which the list of connectors says


async def test_pages_outside_the_chosen_site_are_not_asked_about(workspace: Connected) -> None:
    await workspace.connect("search_console", siteUrl="sc-domain:example.com")
    run_id = await published(workspace)
    workspace.clock.advance(days=5)

    found, _ = await measured(workspace, run_id)

    assert "sc-domain:example.com" in ((of(found, "search_console") or found.sources[0]).reason or "")
    assert not workspace.far.search.ledger.calls()


async def test_when_no_source_has_numbers_each_is_named_with_its_reason(workspace: Connected) -> None:
    await workspace.connect("ga4", propertyId="1234")
    await key_connect(workspace.engine.app, "zernio")
    action_id = await workspace.engine.approved(Wanted(connector="zernio", channel="linkedin", link=PAGE))
    await workspace.engine.execute(action_id)
    run_id = (await workspace.engine.action(action_id)).run_id
    workspace.clock.advance(**DAY)
    workspace.far.zernio.analytics_status = 202

    with pytest.raises(Refusal) as refused:
        await measured(workspace, run_id)

    recovery = refused.value.recovery()
    assert recovery.reason == "measurement_unavailable"
    assert "Web: Google Analytics has counted nothing" in recovery.user_message
    assert "LinkedIn: " in recovery.user_message


async def test_a_saved_contact_is_nothing_to_measure(workspace: Connected) -> None:
    await workspace.connect("hubspot")
    contact = Wanted(connector="hubspot", channel="contacts", verb="save", body="E-mail: ada@example.org")
    action_id = await workspace.engine.approved(contact)
    await workspace.engine.execute(action_id)
    assert (await workspace.engine.action(action_id)).status == "executed"
    assert await workspace.engine.app.store.read(lambda: measurement.due(LOCAL_WORKSPACE, 10)) == []


async def test_a_source_only_reads(workspace: Connected) -> None:
    await workspace.connect("ga4", propertyId="1234")
    action_id = await workspace.engine.approved(Wanted(connector="ga4"))

    refused: Any = await workspace.engine.execute(action_id)

    assert refused.reason == "connector_failed"
    assert (await workspace.engine.action(action_id)).status == "failed"
    assert not workspace.far.ga4.ledger.calls()


def reading(channel: str, **metrics: int) -> Reading:
    return Reading(source=channel, channel=channel, status="ok", metrics=dict(metrics))


KINDS = EffectTypes(effect_types())


def test_visitors_of_the_page_are_not_added_to_the_channels_that_sent_them() -> None:
    readings = (reading("linkedin", impressions=100, clicks=4), reading("web", sessions=90, conversions=9))
    move = assess(readings, KINDS).next_move
    assert move.channel == "linkedin"
    assert move.why == "LinkedIn: 100 impressions, 4 clicks."


def test_a_run_known_by_its_visitors_alone_names_no_channel() -> None:
    readings = (reading("web", sessions=90, conversions=0),)
    move = assess(readings, KINDS).next_move
    assert move.channel is None
    assert "90 sessions, 0 conversions" in move.why
    assert assess((*readings, reading("x", conversions=2)), KINDS).totals == {"sessions": 90}
