"""Preparing stores and shows; it changes nothing in the world, and says what the human has to know (S0 §3.1, §3.2)."""

from __future__ import annotations

import uuid

import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import (
    APPROVE,
    BODY,
    EDIT,
    EXECUTE,
    OTHER,
    PENDING,
    PREPARED_FIELDS,
    REJECT,
    STAGE,
    Gate,
)
from tests.support.actions.provider import providers
from tests.support.answers import bodies_of, message_of

from assent.engine.actions import actions
from assent.kernel.ids import RunId
from assent.kernel.limits import MAX_CONTENT_CHARS, MAX_RECIPIENTS
from assent.present.guidance import STATE_MACHINE

PREPARED = PREPARED_FIELDS | {"status", "ok"}


def is_uuid(text: str) -> bool:
    return str(uuid.UUID(text)) == text


@pytest.mark.rule("E12", "E13")
async def test_a_prepared_run_has_every_field_of_the_contract(surface: Gate) -> None:
    run = await surface.run({"title": "Nine seconds"}, {"channel": "x", "body": OTHER})
    assert set(run) == PREPARED
    assert run["ok"] is True
    assert run["workspaceId"] == surface.workspace_id
    assert is_uuid(run["runId"])
    assert [set(asset) >= {"id", "type", "title", "body"} for asset in run["assets"]] == [True, True]
    for action, asset in zip(run["actions"], run["assets"], strict=True):
        assert set(action) >= {"id", "channel", "connector", "executorTool", "status", "preflight"}
        assert is_uuid(action["id"]) and is_uuid(asset["id"])
        assert action["status"] == "awaiting_approval"
        assert action["executorTool"] == "chieflab_publish_approved_post"


@pytest.mark.rule("E14", "E15", "E74")
async def test_the_guide_says_what_to_show_what_to_say_and_to_stop(surface: Gate) -> None:
    run = await surface.run()
    guide = run["agentGuide"]
    assert set(guide) == {"renderInChat", "userMessage", "nextToolCalls", "stopRule", "agentDependency"}
    assert set(guide["nextToolCalls"]) >= {"primary", "fallback"}
    assert guide["stopRule"] == run["stopRule"] != ""
    assert len(guide["agentDependency"]) == 6
    assert any("approval state" in item for item in guide["agentDependency"])
    primary = guide["nextToolCalls"]["primary"]
    assert primary["name"] == APPROVE
    assert primary["args"]["actionId"] == run["actions"][0]["id"]
    assert run["actions"][0]["digest"] == primary["args"]["digest"]


@pytest.mark.rule("E14", "E15", "E74")
async def test_a_run_with_nothing_to_approve_still_has_the_whole_guide(surface: Gate) -> None:
    answer = await surface.call(STAGE, {"drafts": ["Forty people signed up since Monday."]})
    run = answer.payload
    assert (run["actions"], run["externalActionsExecuted"]) == ([], 0)
    assert run["agentGuide"]["stopRule"] == run["stopRule"]
    assert len(run["agentGuide"]["agentDependency"]) == 6
    [shown] = bodies_of(run).values()
    assert shown.endswith("> Forty people signed up since Monday.")
    assert "/runs/" in run["reviewUrl"]


@pytest.mark.rule("E14", "E18")
async def test_each_draft_is_shown_whole_with_what_the_user_can_say(surface: Gate) -> None:
    run = await surface.run(
        {"title": "Nine seconds"},
        {"body": OTHER},
        {"channel": "email", "verb": "email", "subject": "Fast", "recipients": ["ada@example.org"]},
    )
    shown = bodies_of(run)
    assert list(shown) == ["linkedin", "linkedin:2", "email"]
    for name, body in shown.items():
        for said in (f"“approve {name}”", f"“reject {name}”"):
            assert said in body
    for text, name in ((BODY, "linkedin"), (OTHER, "linkedin:2"), (BODY, "email")):
        assert f"> {text}" in shown[name]
    assert "Title: Nine seconds" in shown["linkedin"]
    assert "To: ada@example.org" in shown["email"] and "Subject: Fast" in shown["email"]


@pytest.mark.rule("E14")
async def test_an_action_has_one_name_in_every_answer_and_frees_it_a_day_after_it_ends(surface: Gate) -> None:
    first, second = await surface.run({}), await surface.run({"body": OTHER})
    about = {"actionId": second["actions"][0]["id"]}
    await surface.done(REJECT, actionId=first["actions"][0]["id"], reason="Not now.")
    answers = [
        second,
        await surface.done(PENDING),
        await surface.done(EDIT, **about, body=BODY),
        await surface.record(about["actionId"]),
        await surface.denied(EXECUTE, **about),
    ]

    assert [list(bodies_of(answer)) for answer in answers] == [["linkedin:2"]] * len(answers)
    assert "“send linkedin:2”" in message_of(
        await surface.done(APPROVE, **about, digest=answers[2]["digest"])
    )
    assert list(bodies_of(await surface.run({}))) == ["linkedin:3"]
    surface.clock.advance(hours=20)
    await surface.done(EXECUTE, **about)
    surface.clock.advance(hours=20)
    assert list(bodies_of(await surface.run({}, {}))) == ["linkedin", "linkedin:4"]


@pytest.mark.rule("E48")
async def test_what_is_too_much_to_read_is_not_staged(surface: Gate) -> None:
    long = "The importer is fast now. " * (MAX_CONTENT_CHARS // 26 + 1)
    crowd = [f"a{n}@example.org" for n in range(MAX_RECIPIENTS + 1)]
    answer = await surface.call(
        STAGE, {"effects": [{"body": long}, {"verb": "email", "channel": "email", "recipients": crowd}]}
    )
    assert answer.reason == "validation_error"
    assert [problem["path"] for problem in answer.payload["problems"]] == [
        "actions[0].body",
        "actions[1].recipients",
    ]


@pytest.mark.rule("E11")
async def test_preparing_calls_no_provider(surface: Gate) -> None:
    run = await surface.run({}, {"connector": "site"}, {"connector": "unaware"})
    assert run["externalActionsExecuted"] == 0
    assert run["sideEffectsPreparedButNotFired"] == list(bodies_of(run))
    assert (surface.calls, surface.ledger) == (0, [])
    assert sum(provider.look_ups for provider in surface.providers.values()) == 0
    surface.clock.advance(days=40)
    await surface.run_jobs()
    assert surface.calls == 0


@pytest.mark.rule("E13", "E24", "E44")
async def test_preflight_tells_whether_the_connector_could(surface: Gate) -> None:
    provider = surface.providers["native"]
    provider.ready = type(provider.ready)(False, "missing_connector", "Connect it on the settings page.")
    run = await surface.run({"costCredits": 3, "warnings": ["It names a customer."]})
    assert run["actions"][0]["preflight"] == {
        "severity": "medium",
        "warnings": ["It names a customer."],
        "recommendations": [],
        "gates": ["human_approval", "connector_not_ready"],
        "connectorReady": False,
        "connectorBlocker": "missing_connector",
        "connectorFixHint": "Connect it on the settings page.",
        "estimatedCostCredits": 3,
    }


@pytest.mark.rule("E3")
async def test_a_run_is_stored_with_inputs_outputs_status_and_lineage(surface: Gate) -> None:
    parent = await surface.run()
    run = await surface.run({"body": OTHER}, parentRunId=parent["runId"], tenantId="tenant-7")
    stored = await surface.app.store.read(lambda: actions.find_run(surface.workspace_id, RunId(run["runId"])))
    assert stored is not None
    assert is_uuid(stored.run_id)
    assert (stored.workspace_id, stored.tenant_id) == (surface.workspace_id, "tenant-7")
    assert stored.inputs["effects"][0]["body"] == OTHER
    assert stored.outputs == {"drafts": 1}
    assert (stored.status, stored.parent_run_id) == ("prepared", parent["runId"])
    assert (stored.operator, stored.tool, stored.created_ms) == ("test", STAGE, surface.clock.now_ms())


@pytest.mark.rule("E4", "E2")
async def test_assets_are_stored_for_their_tenant_and_workspace(surface: Gate) -> None:
    run = await surface.run({}, {"body": OTHER}, tenantId="tenant-7")
    assets = await surface.app.store.read(
        lambda: actions.run_assets(surface.workspace_id, RunId(run["runId"]))
    )
    assert {asset.asset_id for asset in assets} == {asset["id"] for asset in run["assets"]}
    for asset in assets:
        assert is_uuid(asset.asset_id)
        assert (asset.workspace_id, asset.tenant_id, asset.run_id) == (
            surface.workspace_id,
            "tenant-7",
            run["runId"],
        )
    other = (await surface.new_workspace("other")).workspace_id
    assert await surface.app.store.read(lambda: actions.run_assets(other, RunId(run["runId"]))) == ()


@pytest.mark.rule("E61", "E3")
async def test_a_staged_action_outlives_its_process(
    surface: Gate, database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    waiting, approved = await surface.staged(), await surface.approved(connector="unaware")
    records = [await surface.record(waiting), await surface.record(approved)]
    for record in records:
        assert {record["id"], record["status"], record["workspaceId"], record["connector"]} <= {
            waiting,
            approved,
            "awaiting_approval",
            "approved",
            surface.workspace_id,
            "native",
            "unaware",
        }
    await surface.app.close()

    world = providers()
    restarted = gate_over(database_url, tmp_path_factory.mktemp("second"), surface.transport, world)
    restarted.key, restarted.workspace_id = surface.key, surface.workspace_id
    try:
        assert [await restarted.record(waiting), await restarted.record(approved)] == records
        assert (await restarted.denied(EXECUTE, actionId=waiting))["reason"] == "requires_approval"
        assert (await restarted.done(EXECUTE, actionId=approved))["status"] == "executed"
        assert len(restarted.ledger) == 1
    finally:
        await restarted.close()


@pytest.mark.rule("E10", "E47")
def test_the_machine_that_is_shown_is_the_machine_that_runs() -> None:
    machine = STATE_MACHINE
    final = {end for ends in machine.values() for end in ends} - set(machine)
    assert final == {"executed", "failed", "rejected"}
    assert set(machine["awaiting_approval"]) == {"approved", "rejected"}
    assert "executed" in machine["approved"] and "executed" not in machine["awaiting_approval"]


async def test_a_lone_surrogate_or_a_nul_in_a_text_is_refused_and_stages_nothing(surface: Gate) -> None:
    for bad in (b"\\ud800", b"\\u0000"):
        raw = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gate_stage","arguments":'
            b'{"effects":[{"body":"The importer is fast now ' + bad + b' and we are glad."}]}}}'
        )
        answer, _, _ = await surface.send(raw)
        assert answer is not None
        data = answer.get("error", {}).get("data") or answer.get("result", {}).get("structuredContent") or {}
        assert "error" in answer or answer["result"]["isError"], answer
        assert data.get("reason") in (None, "validation_error"), answer
    assert (await surface.done("chieflab_query_audit"))["actions"] == []
