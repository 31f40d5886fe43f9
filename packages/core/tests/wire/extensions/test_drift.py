"""What an approval relied on has changed when the action is executed: nothing is sent, the difference is named, and
the action waits for an approval of what is true now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, PENDING, Gate
from tests.support.answers import calls_of, text_of
from tests.support.extensions.fixtures import gate_with
from tests.support.surfaces import signed_in

from assent.engine.actions import drift_probe
from assent.kernel.times import iso_time

PAGES = Path(__file__).parents[5] / "tests/support/extensions/pages.py"
REPLACE, INVITE, RING = "acme_pages_replace", "acme_pages_invite", "acme_pages_ring"
ARGUMENTS: dict[str, dict[str, Any]] = {
    REPLACE: {"page": "news", "text": "We moved."},
    INVITE: {"list_name": "friends"},
    RING: {"times": 2},
}


@pytest.fixture
async def surface(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    prices = ("acme_pages_ring=3",)
    async with signed_in(
        gate_with((str(PAGES),), database_url, tmp_path, transport, credit_prices=prices)
    ) as gate:
        yield gate


@pytest.fixture
def site(surface: Gate) -> Any:
    (operator,) = surface.app.extensions.operators
    found = operator.effects[0].function.__globals__
    found["LEDGER"].clear()
    found["STATE"].clear()
    found["RELEASE"].clear()
    yield found
    found["RELEASE"].set()


async def stage(surface: Gate, tool: str, **more: Any) -> str:
    answer = await surface.done(tool, **ARGUMENTS[tool], **more)
    action_id: str = answer["actions"][0]["id"]
    return action_id


CASES = {
    "target": (REPLACE, {"version": 4}, [("target.version", "3", "4")]),
    "recipient count": (
        INVITE,
        {"people": ("ada@example.org", "grace@example.org", "lin@example.org")},
        [("recipients", "2", "3")],
    ),
    "other recipients": (
        INVITE,
        {"people": ("ada@example.org", "eve@example.org")},
        [("recipients", "2 people", "as many, but other people")],
    ),
    "amount": (INVITE, {"amount": "12.00"}, [("amount", "10.00 EUR", "12.00 EUR")]),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_changed_fact_is_refused_with_the_difference_and_waits_for_a_new_approval(
    surface: Gate, site: Any, case: str
) -> None:
    tool, change, differences = CASES[case]
    action_id = await stage(surface, tool)
    await surface.done(APPROVE, actionId=action_id)
    approved = await surface.record(action_id)
    site["STATE"].update(change)

    refused = await surface.denied(EXECUTE, actionId=action_id, idempotencyKey="one")

    assert (refused["reason"], refused["retryable"], site["LEDGER"]) == ("stale_revision", False, [])
    found = [(each["path"], each["expected"], each["got"]) for each in refused["problems"]]
    assert found == differences
    assert differences[0][2] in refused["userMessage"]
    assert any(each["name"] == APPROVE for each in calls_of(refused))
    record = await surface.record(action_id)
    assert record["status"] == "awaiting_approval"
    assert (record["digest"], record["revision"]) == (approved["digest"], approved["revision"])
    assert "Changed since" in text_of(await surface.done(GET, actionId=action_id))
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"

    await surface.approve_as_shown(action_id)
    assert "Changed since" not in text_of(await surface.done(GET, actionId=action_id))
    done = await surface.done(EXECUTE, actionId=action_id, idempotencyKey="one")
    assert (done["status"], len(site["LEDGER"])) == ("executed", 1)


async def test_what_changed_before_the_approval_is_shown_before_it_counts(surface: Gate, site: Any) -> None:
    action_id = await stage(surface, REPLACE)
    site["STATE"]["title"] = "Old news"
    refused = await surface.denied(APPROVE, actionId=action_id)
    assert refused["reason"] == "stale_revision"
    assert "“title” was News and is now Old news" in refused["userMessage"]
    assert "Old news" in text_of(refused)
    assert (await surface.record(action_id))["status"] == "awaiting_approval"
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(EXECUTE, actionId=action_id)
    assert len(site["LEDGER"]) == 1


async def test_an_edit_observes_again_and_forgets_what_had_changed(surface: Gate, site: Any) -> None:
    action_id = await stage(surface, REPLACE)
    await surface.done(APPROVE, actionId=action_id)
    site["STATE"]["version"] = 4
    await surface.denied(EXECUTE, actionId=action_id)
    edited = await surface.done(EDIT, actionId=action_id, arguments={"text": "We moved to Lisbon."})
    assert "Changed since" not in text_of(edited)
    await surface.done(APPROVE, actionId=action_id, digest=edited["digest"])
    await surface.done(EXECUTE, actionId=action_id)
    assert site["LEDGER"] == ["We moved to Lisbon."]


async def test_a_scheduled_action_that_finds_a_change_stops_and_waits(surface: Gate, site: Any) -> None:
    due = iso_time(surface.clock.now_ms() + 60_000)
    action_id = await stage(surface, REPLACE, scheduleFor=due)
    await surface.done(APPROVE, actionId=action_id)
    site["STATE"]["version"] = 4
    surface.clock.advance(seconds=61)
    await surface.run_jobs()
    assert site["LEDGER"] == []
    (waiting,) = (await surface.done(PENDING))["actions"]
    assert waiting["id"] == action_id
    events = await surface.events((await surface.record(action_id))["runId"])
    (withdrawn,) = [each for each in events if each["kind"] == "action_withdraw"]
    assert "was 3 and is now 4" in str(withdrawn)


@pytest.mark.parametrize("fault", ["raises", "lists", "nests", "is too long", "hangs"])
async def test_a_failing_observation_stages_nothing_and_executes_nothing_but_keeps_the_approval(
    surface: Gate, site: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift_probe, "OBSERVE_SECONDS", 0.2)
    action_id = await stage(surface, REPLACE)
    await surface.done(APPROVE, actionId=action_id)
    site["STATE"]["fault"] = fault
    staged = await surface.denied(REPLACE, **ARGUMENTS[REPLACE])
    refused = await surface.denied(EXECUTE, actionId=action_id)
    assert (staged["reason"], refused["reason"]) == ("connector_failed", "connector_failed")
    assert "observe of" in refused["userMessage"]
    assert await surface.where(action_id) == "approved"
    assert site["LEDGER"] == []
    site["RELEASE"].set()
    site["STATE"].clear()
    await surface.done(EXECUTE, actionId=action_id)
    assert len(site["LEDGER"]) == 1
