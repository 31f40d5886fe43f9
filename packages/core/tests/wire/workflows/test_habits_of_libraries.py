"""Ways of writing that public libraries have and the format table does not mention: they read as they were meant."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.workflows.kit import Payload, WorkflowClient, definition
from tests.support.workflows.library import loop, step

pytestmark = pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])


def blocks(**sections: Any) -> Payload:
    return {"id": "a-step", "title": "A step", "promptBlocks": {"goal": "Do it.", **sections}}


async def test_a_function_written_as_a_line_of_the_guidance_is_shown_where_it_is_used(
    client: WorkflowClient,
) -> None:
    guidance = [
        "logChange(): Add a line to the log.",
        "logChange() details: Newest first.",
        "**FUNCTIONS:** fun tell(reader) = 'Explain it to {reader}.'",
        "Be brief: always.",
    ]
    used = step("a-step", functionReferences=["logChange()", "tell()", "nobodyKnows()"])
    started = await client.start(definition("older-habits", used, step("the-end"), metaGuidance=guidance))
    assert [warning["message"].split('"')[1] for warning in started["warnings"]] == ["nobodyKnows"]
    shown = started["pending"]["prompt"]
    assert "- logChange(): Add a line to the log. details: Newest first." in shown
    assert "- tell(): (reader) = 'Explain it to {reader}.'" in shown
    assert "[unknown function: nobodyKnows]" in shown


async def test_a_declared_function_wins_over_a_line_of_the_guidance(client: WorkflowClient) -> None:
    started = await client.start(
        definition(
            "declared",
            step("a-step", functionReferences=["logChange()"]),
            metaGuidance=["logChange(): In the guidance."],
            functionDefinitions=[{"name": "logChange", "definition": "Declared."}],
        )
    )
    assert "logChange(): Declared." in started["pending"]["prompt"] and "warnings" not in started


@pytest.mark.parametrize(
    ("procedure", "shown"),
    [
        (["Look.", "Think."], "1. Look.\n2. Think."),
        (["Step 1: look.", "Step 2: think."], "- Step 1: look.\n- Step 2: think."),
        (["1. Look.", "2. Think."], "1. Look.\n2. Think."),
        (["Ask for:", "1. a name", "2. a day", "Then write."], "Ask for:\n1. a name\n2. a day\nThen write."),
        (["Send:", "```json", "{", '  "a": 1', "}", "```", "", "Wait."],
         'Send:\n```json\n{\n  "a": 1\n}\n```\n\nWait.'),
        (["Look at", "  - the log", "  - the code"], "Look at\n  - the log\n  - the code"),
    ],
    ids=["plain", "named", "numbered", "mixed", "code", "indented"],
)  # fmt: skip
async def test_a_procedure_with_a_layout_of_its_own_keeps_it(
    client: WorkflowClient, procedure: list[str], shown: str
) -> None:
    started = await client.start(definition("laid-out", blocks(procedure=procedure)))
    assert started["pending"]["prompt"] == f"## Goal\nDo it.\n\n## Procedure\n{shown}"


async def test_guidance_that_is_a_list_is_not_made_a_list_in_a_list(client: WorkflowClient) -> None:
    guidance = ["**Order:**", "1. Look", "2. Act", "- Be careful", "Be brief."]
    answer = await client.ask(
        "workflow_start",
        workflowId=client.write(definition("listed", step("a-step"), metaGuidance=guidance)).stem,
    )
    assert (
        "- **Order:**\n1. Look\n2. Act\n- Be careful\n- Be brief."
        in answer.message["result"]["content"][0]["text"]
    )


async def test_braces_around_a_quoted_text_are_no_placeholder(client: WorkflowClient) -> None:
    drawn = 'Draw: Choice{{"Which way?"}} for {{name}}, {{nobody}} and {{}}.'
    started = await client.start(definition("drawn", step("a-step", prompt=drawn)), context={"name": "Ada"})
    assert started["pending"]["prompt"] == 'Draw: Choice{{"Which way?"}} for Ada, [unset: nobody] and {{}}.'


@pytest.mark.rule("W34")
async def test_the_example_of_an_unknown_contract_has_the_kind_that_its_name_says(
    client: WorkflowClient,
) -> None:
    asked = step("a-step", outputContract={"contractRef": "wr.contracts.harvest_report"})
    started = await client.start(definition("unknown-contract", asked))
    assert [warning["code"] for warning in started["warnings"]] == ["unknown_contract"]
    assert "`wr.harvest_report`" in started["pending"]["prompt"]
    blocked = await client.advance(started)
    assert blocked["example"] == {"kind": "wr.harvest_report"}
    assert (await client.advance(blocked, output=blocked["example"]))["isComplete"]


@pytest.mark.rule("W34")
@pytest.mark.parametrize("name", ["differentiation_handoff", "coordinator_signal"])
async def test_the_contracts_between_workflows_are_known_and_their_examples_pass(
    client: WorkflowClient, name: str
) -> None:
    asked = step("a-step", outputContract={"contractRef": f"wr.contracts.{name}"})
    started = await client.start(definition("known-contract", asked))
    assert "warnings" not in started
    blocked = await client.advance(started, output={"kind": f"wr.{name}"})
    assert blocked["kind"] == "blocked" and {issue["code"] for issue in blocked["issues"]} == {"required"}
    assert (await client.advance(blocked, output=blocked["example"]))["isComplete"]


async def test_the_later_of_two_files_with_one_id_is_served(client: WorkflowClient) -> None:
    for suffix in ("", ".v2"):
        name = f"twice{suffix}.json"
        client.write(definition("twice", step("a-step", prompt=f"From {name}.")), name)
    listed = (await client.ask("workflow_list")).payload
    assert listed["invalid"] == []
    assert [each["workflowId"] for each in listed["workflows"]].count("twice") == 1
    assert (await client.start("twice"))["pending"]["prompt"] == "From twice.v2.json."


def call(**more: Any) -> Payload:
    """A step that stands for the steps of a routine."""
    template = {"templateId": "wr.templates.routine.harvest", "args": {"crop": "apples"}}
    return {"id": "call-it", "title": "Call", "templateCall": template, **more}


@pytest.mark.parametrize("routine_id", ["wr.routine-harvest", "routine-harvest", "harvest"])
async def test_every_step_of_a_routine_says_its_rules_with_the_arguments(
    client: WorkflowClient, routine_id: str
) -> None:
    rules = ["Count the {crop}.", "Keep {{crop}} and ${crop}."]
    steps = (
        step("pick", guidance=["Own."]),
        loop("again", [step("sort")], type="for", count=1),
        step("pack"),
    )
    client.write(definition(routine_id, *steps, metaGuidance=rules))
    at = await client.start(definition("caller", call(guidance=["From the caller."])))
    assert "warnings" not in at
    for _ in range(3):
        expected = "- From the caller.\n- Count the apples.\n- Keep [unset: crop] and ${crop}."
        assert expected in at["pending"]["prompt"]
        assert (expected + "\n- Own." in at["pending"]["prompt"]) is at["pending"]["stepKey"].endswith("pick")
        at = await client.advance(at)
    assert at["isComplete"]


async def test_an_argument_that_nobody_gives_and_a_field_that_nobody_reads_are_warned_about(
    client: WorkflowClient,
) -> None:
    client.write(definition("wr.routine-harvest", step("pick", prompt="{crop} into the {basket}.")))
    at = await client.start(definition("caller", call(prompt="Mine.", agentRole="Mine.")))
    assert at["pending"]["prompt"] == "apples into the {basket}."
    told = {(warning["code"], warning["message"].split('"')[3]) for warning in at["warnings"]}
    assert told == {("missing_argument", "basket"), ("unused_field", "prompt"), ("unused_field", "agentRole")}
