"""A stranger's function behind the gate: staged, shown, approved, executed once, reconciled."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, PENDING, Gate
from tests.support.answers import calls_of, text_of

from assent.engine.actions import content
from assent.gate.records import Assurance
from assent.kernel.refusals import Refusal

REFUND = "acme_billing_refund"
RING = "acme_billing_ring"
NOTE = "acme_billing_note"
WANTED = {"customer": " CUS_1 ", "amount": "12.50 EUR", "reason": "It broke.\nTwice."}
BODY = "Customer: cus_1\nAmount: 12.50 EUR\nReason:\n    It broke.\n    Twice.\nLines: (none)"


async def stage(surface: Gate, tool: str = REFUND, **arguments: Any) -> str:
    answer = await surface.done(tool, **(arguments or WANTED))
    action_id: str = answer["actions"][0]["id"]
    return action_id


async def approve(surface: Gate, action_id: str) -> None:
    await surface.approve_as(Assurance.PERSON, action_id)


async def test_a_refund_is_staged_approved_by_a_person_and_paid_once_with_the_approved_arguments(
    surface: Gate, billing: Any
) -> None:
    answer = await surface.done(REFUND, **WANTED, idempotencyKey="one")
    assert answer["externalActionsExecuted"] == 0
    (action,) = answer["actions"]
    assert action["type"] == "acme-billing_refund"
    assert action["channel"] == "acme-billing"
    assert action["executorTool"] == EXECUTE
    assert action["preflight"]["severity"] == "high"
    assert BODY.splitlines()[1] in text_of(answer)
    again = await surface.done(REFUND, **WANTED, idempotencyKey="one")
    assert again["runId"] == answer["runId"]

    record = await surface.record(action["id"])
    assert record["content"]["arguments"] == {**WANTED, "customer": "cus_1", "lines": None}
    assert record["content"]["body"] == BODY
    stored = await surface.stored(action["id"])
    assert stored.view.title == "Refund 12.50 EUR to cus_1"
    assert (stored.view.facets.amount, stored.view.facets.currency) == ("12.50", "EUR")
    assert stored.view.blocks

    assert (await surface.denied(EXECUTE, actionId=action["id"]))["reason"] == "requires_approval"
    assert (await surface.denied(APPROVE, actionId=action["id"]))["reason"] == "requires_approval"
    assert billing.LEDGER == []

    await approve(surface, action["id"])
    done = await surface.done(EXECUTE, actionId=action["id"], idempotencyKey="pay")
    assert done["output"] == {"id": "re_1", "paid": "12.50 EUR"}
    assert done["externalId"] == "re_1"
    repeated = await surface.done(EXECUTE, actionId=action["id"], idempotencyKey="pay")
    assert repeated["output"] == done["output"]
    (paid,) = billing.LEDGER
    assert (paid["customer"], str(paid["amount"]), paid["key"]) == ("cus_1", "12.50 EUR", f"{action['id']}:1")
    assert (await surface.record(action["id"]))["metadata"]["output"] == done["output"]
    kinds = [event["kind"] for event in await surface.events(answer["runId"])]
    assert kinds[0] == "run_prepared" and len(kinds) >= 4


async def test_a_plain_function_runs_beside_the_event_loop_and_has_its_own_time_limit(
    surface: Gate, billing: Any
) -> None:
    action_id = await stage(surface, RING, times=2)
    await surface.done(APPROVE, actionId=action_id)
    assert (await surface.done(EXECUTE, actionId=action_id))["output"] == {"times": 2}
    slow = await stage(surface, RING, times=1, how="for hours")
    await surface.done(APPROVE, actionId=slow)
    assert (await surface.denied(EXECUTE, actionId=slow))["reason"] == "outcome_unknown"


async def test_an_output_that_is_no_json_is_left_out_and_the_effect_counts(
    surface: Gate, billing: Any
) -> None:
    action_id = await stage(surface, RING, times=1, how="oddly")
    await surface.done(APPROVE, actionId=action_id)
    assert "output" not in await surface.done(EXECUTE, actionId=action_id)


async def test_a_function_without_a_receipt_leaves_the_outcome_unknown(surface: Gate, billing: Any) -> None:
    action_id = await stage(surface, NOTE, text="without a receipt")
    await surface.done(APPROVE, actionId=action_id)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"


MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"amount": "500.01 EUR"}, "amount"),
    ({"amount": "NaN EUR"}, "amount"),
    ({"amount": "-12.50 EUR"}, "amount"),
    ({"amount": "12.50"}, "amount"),
    ({"amount": 12}, "amount"),
    ({"colour": "red"}, "colour"),
    ({"lines": [{"sku": "a", "count": "many"}]}, "lines.0.count"),
    ({"reason": "x" * 100_001}, "reason"),
    ({"customer": "x" * 99_000, "reason": "y " * 20_000}, "customer"),
]


async def test_arguments_that_do_not_fit_or_cannot_be_shown_are_refused_by_name(surface: Gate) -> None:
    for change, field in MISFITS:
        refused = await surface.denied(REFUND, **{**WANTED, **change})
        assert refused["reason"] == "validation_error"
        [problem] = refused["problems"]
        assert problem["path"] == field
        guesses = change.get("amount") in ("12.50", "-12.50 EUR", "NaN EUR")
        assert ("never guess it" in problem["expected"]) is guesses, change


async def test_an_effect_that_cannot_be_scheduled_has_no_time_among_its_arguments(surface: Gate) -> None:
    refused = await surface.denied(RING, times=1, scheduleFor="2030-01-01T00:00:00Z")
    assert refused["problems"][0]["path"] == "scheduleFor"
    action_id = await stage(surface, RING, times=1)
    edited = await surface.denied(EDIT, actionId=action_id, scheduleFor="2026-10-01T00:00:00Z")
    assert edited["problems"][0]["path"] == "scheduleFor"


async def test_the_operator_is_in_discovery_openapi_and_the_list(surface: Gate) -> None:
    documents = {
        path: (await surface.http.get(path)).text
        for path in ("/.well-known/mcp.json", "/openapi.json", "/llms.txt")
    }
    assert all(REFUND in text for text in documents.values())
    listed = msgspec.json.decode(documents["/.well-known/mcp.json"])["operators"]
    (own,) = [each for each in listed if each["id"] == "acme-billing"]
    assert own["primaryTool"] == REFUND
    names = [tool["name"] for tool in (await surface.rpc("tools/list"))["result"]["tools"]]
    assert {REFUND, RING} <= set(names)


async def test_an_edit_of_the_text_alone_changes_nothing(surface: Gate) -> None:
    action_id = await stage(surface)
    refused = await surface.denied(EDIT, actionId=action_id, body="Customer: somebody else")
    assert refused["reason"] == "validation_error"


async def test_an_edited_argument_changes_values_text_view_and_digest_and_needs_a_new_approval(
    surface: Gate, billing: Any
) -> None:
    action_id = await stage(surface)
    await approve(surface, action_id)
    before = await surface.record(action_id)
    await surface.done(EDIT, actionId=action_id, arguments={"amount": "9 EUR", "customer": "CUS_2"})
    after = await surface.record(action_id)
    assert after["content"]["arguments"] == {
        **before["content"]["arguments"],
        "amount": "9 EUR",
        "customer": "cus_2",
    }
    assert "Amount: 9 EUR" in after["content"]["body"]
    assert after["digest"] != before["digest"]
    assert after["status"] == "awaiting_approval"
    stored = await surface.stored(action_id)
    assert stored.view.title == "Refund 9 EUR to cus_2"
    assert stored.view.facets.amount == "9"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"amount": "501 EUR"}, "amount"),
        ({"amount": "much"}, "amount"),
        ({"colour": "red"}, "arguments.colour"),
        ({"customer": None}, "customer"),
    ],
)
async def test_an_edit_is_checked_like_a_call(surface: Gate, arguments: dict[str, Any], field: str) -> None:
    action_id = await stage(surface)
    refused = await surface.denied(EDIT, actionId=action_id, arguments=arguments)
    assert [problem["path"] for problem in refused["problems"]] == [field]
    assert (await surface.record(action_id))["revision"] == 1


async def test_a_post_has_no_arguments_to_edit(surface: Gate) -> None:
    post = await surface.done("chieflab_post", channel="site", title="News", body="We moved to Lisbon.")
    refused = await surface.denied(EDIT, actionId=post["actions"][0]["id"], arguments={"amount": "1 EUR"})
    assert refused["problems"][0]["path"] == "arguments"


@pytest.mark.parametrize(
    ("tool", "given", "typed", "value"),
    [
        (RING, {"times": 1}, {"times": "3"}, {"times": 3, "how": "softly"}),
        (RING, {"times": 1}, {"how": "3"}, {"times": 1, "how": "3"}),
    ],
)
async def test_the_texts_of_a_form_become_values_of_the_schema(
    surface: Gate, tool: str, given: dict[str, Any], typed: dict[str, str], value: dict[str, Any]
) -> None:
    action_id = await stage(surface, tool, **given)
    action = await surface.stored(action_id)
    edited = await content.edit_effect(surface.app.owner_services, action.effect, {"arguments": typed})
    assert edited.arguments == value
    assert [field.name for field in action.view.fields] == [f"arguments.{name}" for name in value]
    with pytest.raises(Refusal):
        await content.edit_effect(surface.app.owner_services, action.effect, {"arguments": {"times": "many"}})


async def test_an_effect_is_measured_by_its_own_function(surface: Gate, billing: Any) -> None:
    prepared = await surface.done(NOTE, text="eleven char")
    action_id = prepared["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(EXECUTE, actionId=action_id)
    surface.clock.advance(days=2)
    measured = await surface.done("chieflab_measure", runId=prepared["runId"])
    assert b'"reads":11' in msgspec.json.encode(measured)


async def test_the_call_that_changes_a_function_asks_for_its_arguments(surface: Gate) -> None:
    answer = await surface.done(RING, times=1)
    pending = await surface.done(PENDING)
    (edit,) = [call for call in calls_of(pending) if call["name"] == EDIT]
    assert list(edit["needs"]) == ["arguments"]
    assert answer["actions"][0]["id"] == edit["args"]["actionId"]
