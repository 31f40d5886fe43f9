"""The status of a run follows its actions, and runs that only look are not listed."""

from __future__ import annotations

import itertools

import pytest
from tests.support.operators.fixtures import CLUB, LaunchClient

from assent.gate.transitions import STATES
from assent.present.status_report import describe_run, run_status


async def status_of(client: LaunchClient, run_id: str) -> tuple[str, str]:
    """The status of a run by itself and in the list."""
    alone = (await client.call("chieflab_get_run", {"runId": run_id})).payload
    listed = (await client.call("chieflab_list_runs")).payload["runs"]
    return alone["status"], next(run["status"] for run in listed if run["runId"] == run_id)


@pytest.mark.rule("E3")
async def test_the_status_of_a_run_follows_its_actions(client: LaunchClient) -> None:
    run = (await client.call("chieflab_launch_product", {"channels": ["site", "linkedin"], **CLUB})).payload
    site, linkedin = (action["id"] for action in run["actions"])
    seen = [await status_of(client, run["runId"])]
    await client.approve_and_send(site)
    seen.append(await status_of(client, run["runId"]))
    await client.call("chieflab_reject_action", {"actionId": linkedin, "reason": "too salesy"})
    seen.append(await status_of(client, run["runId"]))
    client.clock.advance(hours=25)
    await client.run_jobs()
    seen.append(await status_of(client, run["runId"]))

    expected = ["awaiting_approval", "partly_sent", "executed", "measured"]
    assert seen == [(status, status) for status in expected]


async def test_a_run_whose_drafts_were_not_decided_in_time_is_expired(client: LaunchClient) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload

    client.clock.advance(days=31)

    assert await status_of(client, run["runId"]) == ("expired", "expired")


async def test_looking_at_the_memory_and_at_connections_leaves_the_list_of_runs_as_it_was(
    client: LaunchClient,
) -> None:
    run = (await client.call("chieflab_post", {"channel": "site", **CLUB})).payload

    for tool, arguments in (
        ("chieflab_brain_read", {}),
        ("chieflab_brain_read", {"query": "import"}),
        ("chieflab_connect_provider", {"provider": "zernio"}),
        ("chieflab_status", {}),
    ):
        assert (await client.call(tool, arguments)).payload["ok"] is True

    listed = (await client.call("chieflab_list_runs")).payload["runs"]
    assert [each["runId"] for each in listed] == [run["runId"]]


def test_every_mix_of_states_has_one_status() -> None:
    known = {
        "awaiting_approval",
        "approved",
        "executing",
        "outcome_unknown",
        "partly_sent",
        "executed",
        "measured",
        "rejected",
        "failed",
        "expired",
    }
    pairs = [*((state.status, state.execution) for state in STATES), ("expired", "none")]
    for size in (1, 2, 3):
        for mix in itertools.combinations(pairs, size):
            for measured in (False, True):
                status = run_status("prepared", mix, measured=measured)
                assert status in known, mix
                went_out = any(each == "executed" for each, _ in mix)
                assert (status in ("partly_sent", "executed", "measured")) <= went_out, mix
    assert run_status("running", (), measured=False) == "running"
    assert run_status("prepared", (), measured=False) == "prepared"


def test_the_run_of_a_workflow_is_named_by_its_definition_and_session() -> None:
    session = {"workflowId": "assent.bug-fix", "sessionId": "SHOP-88"}
    assert describe_run(session) == "Bug fix: SHOP-88"
    assert describe_run({**session, "sessionId": "01a0c450-6c00-732e-bcc2-c6a5254d3af2"}) == "assent.bug-fix"
