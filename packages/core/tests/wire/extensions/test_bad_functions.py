"""Functions of an extension that raise, hang or return the wrong thing: a refusal, and nothing is staged."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, PENDING, Gate

from assent.engine.core import offloading

ODD = "acme_billing_odd"
RING = "acme_billing_ring"

# Neither the transport nor the store knows of the functions of an extension.
pytestmark = pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
FAULTS = {
    "describe raises": "describe of odd: it raised ZeroDivisionError",
    "describe exits": "describe of odd: it raised SystemExit",
    "describe returns a number": "describe of odd: it returned int",
    "describe returns a NUL": "describe of odd: its view cannot be shown",
    "describe returns a book": "describe of odd: its view cannot be shown",
    "describe returns odd blocks": "describe of odd: its view cannot be shown",
    "check raises": "check of odd: it raised KeyError",
    "check returns a text": "check of odd: it raised TypeError",
    "normalise returns a list": "normalise of odd: it returned no dictionary",
    "normalise adds": "normalise of odd: it returned no dictionary",
    "facets returns a number": "facets of odd: it returned int",
    "facets has money": "facets of odd: its amount is no text but Money",
}


@pytest.mark.parametrize("how", FAULTS)
async def test_a_function_that_fails_refuses_the_call_by_name_and_stages_nothing(
    surface: Gate, billing: Any, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "assent.extensions"):
        refused = await surface.denied(ODD, how=how)
    assert refused["reason"] == "connector_failed"
    assert FAULTS[how] in refused["userMessage"]
    assert "Nothing was staged" in refused["userMessage"]
    assert caplog.records
    assert (await surface.done(PENDING))["actions"] == []
    assert (await surface.done(ODD, how="well"))["actions"]


async def test_a_normal_form_of_another_type_is_refused_by_the_argument(surface: Gate, billing: Any) -> None:
    refused = await surface.denied(ODD, how="normalise spoils")
    assert [problem["path"] for problem in refused["problems"]] == ["how"]


async def test_a_long_title_of_several_lines_becomes_a_short_one(surface: Gate, billing: Any) -> None:
    staged = await surface.done(ODD, how="describe returns two lines")
    title = (await surface.stored(staged["actions"][0]["id"])).view.title
    assert title.startswith("one two two")
    assert title.endswith("…")
    assert len(title) == 200


async def test_a_check_may_return_its_problems(surface: Gate, billing: Any) -> None:
    refused = await surface.denied(ODD, how="refused")
    assert refused["problems"] == [{"path": "how", "expected": "another word", "got": '"refused"'}]


@pytest.mark.parametrize("how", ["describe hangs", "check hangs"])
async def test_a_function_that_hangs_is_refused_after_its_time_and_soon_at_once(
    surface: Gate, billing: Any, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offloading, "SECONDS", 0.05)
    for _ in range(offloading.MOST_ABANDONED):
        refused = await surface.denied(ODD, how=how)
        assert "took longer than 0.05 seconds" in refused["userMessage"]
    refused = await surface.denied(ODD, how="well")
    assert "4 earlier calls have not ended" in refused["userMessage"]
    assert (await surface.done("chieflab_post", channel="site", title="News", body="We moved to Lisbon."))[
        "ok"
    ]
    billing.RELEASE.set()
    await _until_free(surface)


async def _until_free(surface: Gate) -> None:
    """The threads end once they may; the operator works again without a restart."""
    while (answer := await surface.ask(ODD, how="well")).is_error:
        assert "earlier calls" in answer.payload["userMessage"]


async def test_performs_that_hang_leave_others_working_until_there_are_too_many(
    surface: Gate, billing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assent.extensions.operators.MOST_AT_ONCE", 1)
    slow = (await surface.done(RING, times=1, how="for hours"))["actions"][0]["id"]
    await surface.done(APPROVE, actionId=slow)
    assert (await surface.denied(EXECUTE, actionId=slow))["reason"] == "outcome_unknown"
    other = (await surface.done(RING, times=2))["actions"][0]["id"]
    await surface.done(APPROVE, actionId=other)
    busy = await surface.denied(EXECUTE, actionId=other)
    assert busy["reason"] == "connector_failed"
    assert await surface.where(other) == "retryable"
    billing.RELEASE.set()
    while (answer := await surface.ask(EXECUTE, actionId=other)).is_error:
        assert answer.payload["reason"] == "connector_failed"
    assert {"rung": 2} in billing.LEDGER


async def test_a_coroutine_that_blocks_stops_only_its_operator_and_later_calls_count_as_not_sent(
    surface: Gate, billing: Any
) -> None:
    actions = []
    for how in ("for hours", "shortly"):
        prepared = await surface.done("acme_billing_block", how=how)
        actions.append(prepared["actions"][0]["id"])
        await surface.done(APPROVE, actionId=actions[-1])
    assert (await surface.denied(EXECUTE, actionId=actions[0]))["reason"] == "outcome_unknown"
    assert (await surface.denied(EXECUTE, actionId=actions[1]))["reason"] == "connector_failed"
    assert await surface.where(actions[1]) == "retryable"
    assert (await surface.done("chieflab_status"))["ok"]
    billing.RELEASE.set()
    while (answer := await surface.ask(EXECUTE, actionId=actions[1])).is_error:
        assert answer.payload["reason"] == "connector_failed"
    assert [each for each in billing.LEDGER if each == {"blocked": "shortly"}] == [{"blocked": "shortly"}]


@pytest.mark.parametrize("tool", ["acme_billing_leave", "acme_billing_leave_thread"])
@pytest.mark.parametrize(
    "how", ["quit", "exit", "generator exit", "cancelled", "future cancelled", "stop iteration"]
)
async def test_a_perform_that_ends_in_an_odd_way_is_answered_at_once(
    surface: Gate, billing: Any, tool: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    action = (await surface.done(tool, how=how))["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action)
    with caplog.at_level(logging.ERROR, "assent.execution"):
        assert (await surface.denied(EXECUTE, actionId=action))["reason"] == "outcome_unknown"
    assert "failed in an undeclared way" in caplog.text


async def test_an_event_loop_that_a_function_stops_runs_again(surface: Gate, billing: Any) -> None:
    for how in ("stop the loop", "well"):
        action = (await surface.done("acme_billing_leave", how=how))["actions"][0]["id"]
        await surface.done(APPROVE, actionId=action)
        assert (await surface.done(EXECUTE, actionId=action))["externalId"] == "left"


async def test_a_perform_without_a_receipt_says_so_in_the_log(
    surface: Gate, billing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    action = (await surface.done("acme_billing_note", text="without a receipt"))["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action)
    with caplog.at_level(logging.ERROR, "assent.extensions"):
        await surface.denied(EXECUTE, actionId=action)
    assert "note returned str, not a Receipt" in caplog.text
