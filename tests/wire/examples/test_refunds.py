"""`examples/refunds` against its billing API: paid once, also if the answer is lost."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.examples.fixtures import EXAMPLES, OpenExample

from assent.gate.records import Assurance

TOOL = "acme_billing_refund"
WANTED = {"customer": "cus_1", "amount": "12.50 EUR", "reason": "It broke."}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("billing_api", EXAMPLES / "refunds" / "billing_api.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server = module.BillingApi(0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    monkeypatch.setenv("BILLING_URL", server.url)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


async def approve(gate: Gate, **changes: Any) -> str:
    staged = await gate.done(TOOL, **{**WANTED, **changes})
    action_id: str = staged["actions"][0]["id"]
    await gate.approve_as(Assurance.PERSON, action_id)
    return action_id


async def test_a_refund_is_paid_once_a_person_approved_it(open_example: OpenExample, api: Any) -> None:
    gate = await open_example("refunds/refunds.py")
    staged = await gate.done(TOOL, **WANTED)
    action_id = staged["actions"][0]["id"]
    assert (await gate.stored(action_id)).view.title == "Refund 12.50 EUR to cus_1"
    assert (await gate.denied(APPROVE, actionId=action_id))["reason"] == "requires_approval"
    assert api.paid == {}
    await gate.approve_as(Assurance.PERSON, action_id)
    done = await gate.done(EXECUTE, actionId=action_id)
    assert (done["externalId"], done["output"]["amount"]) == ("re_1", "12.50 EUR")
    assert list(api.paid) == [f"{action_id}:1"]


async def test_a_lost_answer_is_asked_for_again_under_the_same_key(
    open_example: OpenExample, api: Any
) -> None:
    gate = await open_example("refunds/refunds.py")
    action_id = await approve(gate)
    api.loses_answers = True
    assert (await gate.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    api.loses_answers = False
    gate.clock.advance(seconds=5)
    await gate.run_jobs()
    assert (await gate.record(action_id))["externalId"] == "re_1"
    assert len(api.paid) == 1


async def test_a_refusal_of_the_api_fails_and_an_api_that_is_away_can_be_asked_later(
    open_example: OpenExample, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = await open_example("refunds/refunds.py")
    unknown = await approve(gate, customer="cus_2")
    assert (await gate.denied(EXECUTE, actionId=unknown))["reason"] == "connector_failed"
    assert await gate.where(unknown) == "failed"
    action_id = await approve(gate)
    with monkeypatch.context() as away:
        away.setenv("BILLING_URL", "http://127.0.0.1:1")
        assert (await gate.denied(EXECUTE, actionId=action_id))["reason"] == "connector_failed"
    assert await gate.where(action_id) == "retryable"
    assert (await gate.done(EXECUTE, actionId=action_id))["externalId"] == "re_1"


async def test_an_amount_over_the_limit_is_not_staged(open_example: OpenExample) -> None:
    gate = await open_example("refunds/refunds.py")
    for amount in ("500.01 EUR", "0 EUR", "-1 EUR"):
        refused = await gate.denied(TOOL, **{**WANTED, "amount": amount})
        assert refused["problems"][0]["path"] == "amount"
