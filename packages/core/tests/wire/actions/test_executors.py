"""An executor fires what is approved, exactly as it was approved, and nothing else."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, PUBLISH, REJECT, SEND, WITHDRAW, Gate
from tests.support.answers import calls_of, text_of
from tests.support.contract.talk import RECOVERY_FIELDS
from tests.support.surfaces import BASE_URL

from assent.kernel.times import iso_time

REFUSED = {
    "awaiting_approval": "requires_approval",
    "executing": "execution_in_progress",
    "outcome_unknown": "outcome_unknown",
    "rejected": "requires_approval",
    "executed": "requires_approval",
    "failed": "requires_approval",
}
"""What an executor answers in every state in which it may not fire."""

NAMES = (EXECUTE, PUBLISH, "chiefmo_publish_approved_post", "chiefmo_execute_approved_action")


@pytest.mark.rule("E5", "E10", "E25", "E47", "E63", "E64", "E67", "E68", "E23")
@pytest.mark.parametrize("state", REFUSED)
async def test_no_executor_by_any_name_fires_an_action_that_is_not_approved(
    surface: Gate, state: str
) -> None:
    action_id = await surface.bring_to(state)
    happened, calls = list(surface.ledger), surface.calls
    before = await surface.stored(action_id)
    for tool in NAMES:
        answer = await surface.denied(tool, actionId=action_id, idempotencyKey=f"key of {tool}")
        assert (answer["reason"], answer["ok"]) == (REFUSED[state], False)
    assert (surface.ledger, surface.calls) == (happened, calls)
    assert await surface.stored(action_id) == before


@pytest.mark.rule("E25", "E28", "E47", "E68")
async def test_an_approved_action_is_fired_once_and_carries_its_external_id(surface: Gate) -> None:
    run = await surface.run({"body": OTHER})
    action_id = run["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action_id)
    answer = await surface.done(PUBLISH, actionId=action_id)
    [sent] = surface.ledger
    assert (sent.action_id, sent.body) == (action_id, OTHER)
    said = {name: answer.pop(name) for name in ("userMessage", "agentGuide")}
    assert answer["externalUrl"] in text_of(said) and [call["name"] for call in calls_of(said)] == [
        "chieflab_measure"
    ]
    assert answer == {
        "ok": True,
        "actionId": action_id,
        "runId": run["runId"],
        "status": "executed",
        "externalId": f"post-{action_id}:1",
        "externalUrl": f"https://provider.example/{action_id}",
        "executedAt": iso_time(surface.clock.now_ms()),
        "postId": f"post-{action_id}:1",
    }
    record = await surface.record(action_id)
    assert {name: record[name] for name in ("status", "executionState", "externalId", "executedAt")} == {
        "status": "executed",
        "executionState": "done",
        "externalId": answer["externalId"],
        "executedAt": answer["executedAt"],
    }


@pytest.mark.rule("E28")
@pytest.mark.parametrize(
    "tool", [SEND, "chieflab_send_approved_email", "chiefmo_send_approved_email", EXECUTE]
)
async def test_a_mail_is_sent_by_each_of_its_names_and_has_a_message_id(surface: Gate, tool: str) -> None:
    action_id = await surface.approved(
        channel="email", verb="email", subject="Nine seconds", recipients=["ada@example.org"]
    )
    answer = await surface.done(tool, actionId=action_id)
    assert answer["messageId"] == answer["externalId"] == f"post-{action_id}:1"
    assert "postId" not in answer
    assert len(surface.ledger) == 1


@pytest.mark.rule("E88", "E92", "E63")
@pytest.mark.parametrize("tool", [EXECUTE, PUBLISH])
async def test_publishing_early_answers_exactly_the_shape_of_requires_approval(
    surface: Gate, tool: str
) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    answer = await surface.denied(tool, actionId=action_id)
    assert set(answer) == {*RECOVERY_FIELDS, "retry", "statusCode", "reviewUrl", "status", "actionId"} | {
        "agentGuide"
    }
    assert {name: answer[name] for name in ("ok", "reason", "recoveryTool", "retryable", "status")} == {
        "ok": False,
        "reason": "requires_approval",
        "recoveryTool": None,
        "retryable": False,
        "status": "awaiting_approval",
    }
    assert answer["fixActionForAgent"].startswith("STOP")
    assert answer["actionId"] == action_id
    link = urlsplit(answer["reviewUrl"])
    assert f"{link.scheme}://{link.netloc}{link.path}" == f"{BASE_URL}/runs/{run['runId']}"


@pytest.mark.rule("E24", "E94")
async def test_an_approved_action_whose_connector_is_not_connected_is_not_fired(surface: Gate) -> None:
    provider = surface.providers["native"]
    action_id = await surface.approved()
    provider.ready = type(provider.ready)(False, "missing_connector", "Connect it on the settings page.")
    answer = await surface.denied(EXECUTE, actionId=action_id, idempotencyKey="k")
    assert (answer["reason"], answer["retryable"]) == ("missing_connector", True)
    assert answer["recoveryTool"] == {"name": "chieflab_connect_provider", "args": {"provider": "native"}}
    assert "chieflab_use_manual_fallback" in answer["fixActionForAgent"]
    assert answer["status"] == "approved"
    assert surface.calls == 0
    record = await surface.record(action_id)
    assert (record["status"], record["executionState"], record["externalId"]) == ("approved", "none", None)

    provider.ready = type(provider.ready)(True)
    assert (await surface.done(EXECUTE, actionId=action_id, idempotencyKey="k"))["status"] == "executed"
    assert len(surface.ledger) == 1


@pytest.mark.rule("E24", "E98")
@pytest.mark.parametrize("connector", ["never-heard-of", "not live"])
async def test_a_provider_that_is_not_live_is_never_presented_as_executed(
    surface: Gate, connector: str
) -> None:
    if connector == "not live":
        provider = surface.providers["native"]
        provider.ready = type(provider.ready)(False, "provider_not_live", "Choose another channel.")
        connector = "native"
    run = await surface.run({"connector": connector})
    [action] = run["actions"]
    assert action["preflight"]["connectorReady"] is False
    assert action["preflight"]["connectorBlocker"] == "provider_not_live"
    await surface.done(APPROVE, actionId=action["id"])
    answer = await surface.denied(EXECUTE, actionId=action["id"])
    assert (answer["reason"], answer["retryable"], answer["status"]) == (
        "provider_not_live",
        False,
        "approved",
    )
    record = await surface.record(action["id"])
    assert (record["status"], record["externalId"], record["executedAt"]) == ("approved", None, None)
    assert surface.calls == 0


@pytest.mark.rule("E64")
async def test_the_checks_stand_in_their_order(surface: Gate) -> None:
    """Key, then workspace, then idempotency key, then status, then connector; each hides what comes after it."""
    provider = surface.providers["native"]
    spent, waiting, ready = [await surface.approved() for _ in range(3)]
    await surface.done(WITHDRAW, actionId=waiting)
    await surface.done(EXECUTE, actionId=spent, idempotencyKey="spent")
    provider.ready = type(provider.ready)(False, "missing_connector")
    foreign = await surface.staged(key=(await surface.new_workspace("other")).api_key)

    async def reason(action_id: str, idempotency_key: str, **options: Any) -> str | None:
        arguments = {"actionId": action_id, "idempotencyKey": idempotency_key}
        return (await surface.call(EXECUTE, arguments, **options)).reason

    assert await reason(foreign, "spent", key="clp_live_nobody") == "invalid_api_key"
    assert await reason("no id", "spent") == "invalid_action_id"
    assert await reason(foreign, "spent") == "wrong_workspace"
    assert await reason(waiting, "spent") == "idempotency_conflict"
    assert await reason(ready, "spent") == "idempotency_conflict"
    assert await reason(waiting, "fresh") == "requires_approval"
    assert await reason(ready, "fresh") == "missing_connector"
    assert await reason(spent, "spent") is None
    assert provider.calls == 1


@pytest.mark.rule("E64")
async def test_a_key_without_the_right_to_execute_fires_nothing(surface: Gate) -> None:
    action_id = await surface.approved()
    reader = await surface.key_with("actions:decide")
    answer = await surface.call(EXECUTE, {"actionId": action_id}, key=reader)
    assert answer.reason == "insufficient_scope"
    assert (answer.payload["retry"], answer.payload["recoveryTool"]) == ("never", None)
    run_id = (await surface.record(action_id))["runId"]
    assert f"/runs/{run_id}?token=" in answer.payload["reviewUrl"]
    assert "key" not in answer.payload["userMessage"] and "review page" in answer.payload["userMessage"]
    executor = await surface.key_with("actions:execute")
    waiting = await surface.staged()
    for tool, more in ((APPROVE, {}), (EDIT, {"body": OTHER}), (REJECT, {"reason": "no"}), (WITHDRAW, {})):
        denied = await surface.call(tool, {"actionId": waiting, **more}, key=executor)
        assert denied.reason == "insufficient_scope"
    assert surface.calls == 0
    assert (await surface.call(EXECUTE, {"actionId": action_id}, key=executor)).payload[
        "status"
    ] == "executed"
