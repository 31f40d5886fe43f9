"""A run goes on with what it was started with; a bad file harms nobody but itself (W55–W59, W67, W68)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.support.workflows.kit import WorkflowClient, definition, three_steps
from tests.support.workflows.library import step

from assent.engine.workflows import store as workflow_store
from assent.workflow.contracts import criteria
from assent.workflow.machine import conditions


@pytest.mark.rule("W55")
async def test_an_edited_file_is_for_new_runs_and_the_old_one_is_told(client: WorkflowClient) -> None:
    at = await client.start()
    changed = definition("three-steps", step("one"), step("two", prompt="Do it otherwise."), step("new"))
    client.write(changed)
    second = await client.advance(at)
    assert second["pending"]["prompt"] == "Do two."
    assert [(w["code"], w["path"]) for w in second["warnings"]] == [("workflow_drifted", "three-steps")]
    assert [w["code"] for w in (await client.rehydrate(second))["warnings"]] == ["workflow_drifted"]
    fresh = await client.advance(await client.start())
    assert fresh["pending"]["prompt"] == "Do it otherwise." and "warnings" not in fresh
    client.write(three_steps())
    # The answer keeps what it said; the next one sees the file as it is now.
    assert await client.advance(at) == second
    assert "warnings" not in await client.advance(second)


@pytest.mark.rule("W55", "W57")
async def test_white_space_and_order_are_no_drift(client: WorkflowClient) -> None:
    at = await client.start()
    path = client.folder / "three-steps.json"
    path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items())), indent=7))
    assert "warnings" not in await client.advance(at)


async def test_a_run_with_a_pattern_that_this_server_does_not_take_says_what_to_do(
    client: WorkflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = r"(?=.*alpha)(?=.*beta)"
    rule = {"type": "regex", "pattern": pattern, "message": "Name both."}
    when = {"var": "plan", "matches": pattern}
    ruled = definition("ruled", step("write", validationCriteria=[rule]))
    conditional = definition("conditional", step("write"), step("after", runCondition=when))
    with monkeypatch.context() as before:
        for module in (criteria, conditions):
            before.setattr(module, "compile_pattern", lambda source, flags="": re.compile(source))
        notes, value = [await client.start(each) for each in (ruled, conditional)]

    blocked = await client.advance(notes, notesMarkdown="alpha, beta")
    refused = await client.send(value, context={"plan": "alpha, beta"})

    assert [issue["code"] for issue in blocked["issues"]] == ["criteria_pattern"]
    assert refused.reason == "validation_error"
    assert "look-ahead" in json.dumps(refused.payload["problems"])


@pytest.mark.rule("W56")
async def test_a_run_completes_without_its_file(client: WorkflowClient) -> None:
    at = await client.start()
    (client.folder / "three-steps.json").unlink()
    for _ in range(3):
        at = await client.advance(at)
        assert [warning["code"] for warning in at["warnings"]] == ["workflow_drifted"]
    assert at["isComplete"] is True
    assert (await client.ask("workflow_start", workflowId="three-steps")).reason == "workflow_not_found"


@pytest.mark.rule("W59")
async def test_a_bad_file_is_listed_with_what_is_wrong_and_the_others_are_served(
    client: WorkflowClient,
) -> None:
    client.write({**three_steps("broken"), "steps": [{"id": "only"}], "version": 7}, "broken.json")
    (client.folder / "not.json").write_text('{"id": ')
    (client.folder / "deep" / "er").mkdir(parents=True)
    (client.folder / "deep" / "er" / "fine.yaml").write_text(
        "id: fine-yaml\nname: Fine\ndescription: D.\nversion: 1.0.0\nsteps:\n- {id: one, title: One, prompt: Do.}\n"
    )
    listed = (await client.ask("workflow_list")).payload
    ids = {workflow["workflowId"] for workflow in listed["workflows"]}
    assert {"three-steps", "fine-yaml"} <= ids and "broken" not in ids
    invalid = {Path(each["file"]).name: each["issues"] for each in listed["invalid"]}
    assert set(invalid) == {"broken.json", "not.json"}
    assert len(invalid["broken.json"]) >= 2
    assert all(issue["path"] and issue["message"] for issues in invalid.values() for issue in issues)
    assert (await client.start("fine-yaml"))["pending"]["stepId"] == "one"
    refused = await client.ask("workflow_start", workflowId="broken")
    assert refused.reason == "workflow_invalid" and "steps" in json.dumps(refused.payload["problems"])
    client.write(three_steps("broken"))
    assert (await client.start("broken"))["pending"]["stepId"] == "one"


@pytest.mark.parametrize("mode", ["metadata", "preview"])
async def test_inspecting_shows_a_workflow_and_starts_nothing(client: WorkflowClient, mode: str) -> None:
    before = await client.tables()
    shown = (await client.ask("workflow_inspect", workflowId="three-steps", mode=mode)).payload
    assert shown["workflowId"] == "three-steps" and shown["workflowHash"]
    assert (shown["diagram"] is not None) is (mode == "preview")
    assert mode == "metadata" or all(name in shown["diagram"] for name in ("one", "two", "three"))
    assert await client.tables() == before
    missing = await client.ask("workflow_inspect", workflowId="three-stepz")
    assert missing.reason == "workflow_not_found" and "three-steps" in missing.payload["fixActionForAgent"]


# ── what is stored is what was stored ────────────────────────────────────────────────────────────


@pytest.mark.own_database
@pytest.mark.rule("W67", "W68")
@pytest.mark.parametrize("change", ["another text", "another format"])
async def test_a_program_that_is_not_what_was_pinned_is_not_run(
    client: WorkflowClient, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    at = await client.start()
    before, after = {
        "another text": ("Do two.", "Do evil."),
        "another format": ('"format":1', '"format":99'),
    }[change]
    await client.sql("UPDATE workflow_programs SET program = replace(program, ?, ?)", before, after)
    monkeypatch.setattr(workflow_store, "_programs", {})
    answer = await client.send(at)
    assert answer.reason == "internal_error"
    assert (await client.kinds(at["session"]["runId"])).count("step_acked") == 0
    await client.sql("UPDATE workflow_programs SET program = replace(program, ?, ?)", after, before)
    assert (await client.advance(at))["pending"]["stepId"] == "two"
