"""The audit trail: every action's record whole in every state, found by workspace and by run (S0 §5)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import APPROVE, AUDIT, BODY, EDIT, EXECUTE, GET, OTHER, STATES, Gate
from tests.support.contract.seed_client import PREFLIGHT

from assent.gate.records import Status
from assent.kernel.times import iso_time
from assent.tools import audit

REQUIRED = {
    "id",
    "runId",
    "workspaceId",
    "type",
    "channel",
    "connector",
    "executorTool",
    "status",
    "preflight",
    "approvedBy",
    "approvedAt",
    "executedAt",
    "externalId",
    "metadata",
}
"""S0 §5."""

OURS = {
    "tenantId",
    "assetId",
    "executionState",
    "target",
    "revision",
    "digest",
    "approverId",
    "assurance",
    "contentNotAttested",
    "rejectionReason",
    "externalUrl",
    "createdAt",
    "expiresAt",
    "expired",
    "scheduleFor",
    "content",
}

STATUSES = {"awaiting_approval", "approved", "rejected", "edited", "executed", "failed"}


@pytest.mark.rule("E42", "E43", "E44", "E45")
async def test_the_record_is_complete_in_every_state_and_the_same_wherever_it_is_read(surface: Gate) -> None:
    for state in STATES:
        action_id = await surface.bring_to(state)
        answer = await surface.done(GET, actionId=action_id)
        assert answer["ok"] is True
        assert set(answer) >= REQUIRED | OURS, state
        record = {name: answer[name] for name in REQUIRED | OURS}
        assert set(record["preflight"]) == set(PREFLIGHT)
        assert record["status"] in STATUSES
        assert record["type"] == f"{record['channel']}_{record['content']['verb']}" == "linkedin_post"
        expected = {
            "id": action_id,
            "workspaceId": surface.workspace_id,
            "connector": "unaware",
            "executorTool": "chieflab_publish_approved_post",
            "createdAt": iso_time(surface.clock.now_ms()),
        }
        assert {name: record[name] for name in expected} == expected
        approved = state not in ("awaiting_approval", "rejected")
        assert (record["approvedBy"] is not None) is approved
        assert (record["approvedAt"] is not None) is approved
        assert (record["externalId"] is not None) is (state == "executed")
        assert (record["executedAt"] is not None) is (state == "executed")
        assert (record["rejectionReason"] is not None) is (state == "rejected")
        for found in (
            (await surface.done(AUDIT, runId=record["runId"]))["actions"],
            [a for a in (await surface.done(AUDIT))["actions"] if a["id"] == action_id],
        ):
            assert found == [record]


@pytest.mark.rule("E43")
def test_the_six_statuses_are_the_contracts() -> None:
    assert {status.value for status in Status} == STATUSES


@pytest.mark.rule("E45")
async def test_the_trail_of_a_workspace_is_paged_without_loss_or_repetition(surface: Gate) -> None:
    made = [action["id"] for _ in range(3) for action in (await surface.run({}, {}, {}))["actions"]]
    seen = await pages(surface, limit=2)
    assert len(seen) == len(made)
    assert set(seen) == set(made)


@pytest.mark.rule("E45")
async def test_the_events_of_a_run_are_paged_without_loss_or_repetition(
    surface: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await surface.run(*[{"channel": f"channel{n}"} for n in range(3)])
    for action in run["actions"]:
        await surface.done(APPROVE, actionId=action["id"])
    whole = (await surface.done(AUDIT, runId=run["runId"]))["events"]
    assert len(whole) == 4
    monkeypatch.setattr(audit, "MAX_EVENTS", 1)
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = await surface.done(AUDIT, runId=run["runId"], limit=2, **cursor)
        seen += [event["seq"] for event in page["events"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert seen == [event["seq"] for event in whole]


async def pages(surface: Gate, **query: Any) -> list[str]:
    """The ids on all pages."""
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(20):
        page = await surface.done(AUDIT, **query, **cursor)
        assert len(page["actions"]) <= query["limit"]
        seen += [action["id"] for action in page["actions"]]
        if page["nextCursor"] is None:
            return seen
        cursor = {"cursor": page["nextCursor"]}
    raise AssertionError("the pages have no end")


@pytest.mark.rule("E45")
async def test_the_trail_is_filtered_by_status(surface: Gate) -> None:
    ids = {state: await surface.bring_to(state) for state in STATES}
    wanted = {
        "awaiting_approval": ["awaiting_approval"],
        "approved": ["approved", "executing", "outcome_unknown", "retryable"],
        "rejected": ["rejected"],
        "executed": ["executed"],
        "failed": ["failed"],
        "edited": [],
    }
    for status, states in wanted.items():
        found = (await surface.done(AUDIT, status=status))["actions"]
        assert [action["id"] for action in found] == sorted(ids[state] for state in states)
        assert {action["status"] for action in found} <= {status}
    run_id = (await surface.record(ids["executed"]))["runId"]
    assert len((await surface.done(AUDIT, runId=run_id, status="executed"))["actions"]) == 1
    assert (await surface.done(AUDIT, runId=run_id, status="failed"))["actions"] == []
    for bad in ({"status": "executing"}, {"limit": 0}, {"limit": 101}, {"workspaceId": surface.workspace_id}):
        assert (await surface.denied(AUDIT, **bad))["reason"] == "validation_error"
    assert (await surface.denied(AUDIT, runId="7"))["reason"] == "invalid_action_id"


@pytest.mark.rule("E42", "E45")
async def test_a_run_tells_its_story_with_who_did_what_and_how(surface: Gate) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(EDIT, actionId=action_id, body=OTHER)
    surface.clock.advance(seconds=5)
    await surface.approve_as_shown(action_id)
    await surface.done(EXECUTE, actionId=action_id)
    events = await surface.events(run["runId"])
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["kind"] for event in events] == [
        "run_prepared",
        "action_approve",
        "action_edit",
        "action_approve",
        "action_claim",
        "action_succeed",
    ]
    prepared, first, edited, second, claimed, done = [event["facts"] for event in events]
    me = (await surface.record(action_id))["approvedBy"]
    assert prepared["actions"][0]["actionId"] == action_id
    assert {first["by"], edited["by"], second["by"], claimed["by"]} == {me}
    assert {first["assurance"], edited["assurance"], second["assurance"]} == {"agent"}
    assert (edited["before"], edited["digest"]) == (first["digest"], second["digest"])
    assert (first["revision"], second["revision"]) == (1, 2)
    assert claimed["providerKey"] == f"{action_id}:2"
    assert (done["externalId"], done["status"]) == (f"post-{action_id}:2", "executed")
    assert done["attemptId"] == claimed["attemptId"]
    assert events[-1]["at"] == iso_time(surface.clock.now_ms())
    assert BODY not in str(events)


@pytest.mark.rule("E42")
async def test_a_refused_call_leaves_no_trace_of_a_move(surface: Gate) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    before = await surface.events(run["runId"])
    for _ in range(3):
        await surface.denied(EXECUTE, actionId=action_id)
        await surface.denied(APPROVE, actionId=action_id, digest="00000000")
    *others, attempt = await surface.events(run["runId"])
    assert (others, attempt["kind"]) == (before, "execution_refused")
