"""A step says in one place which output passes: its form, and what its fields may be (W34, W38)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.support.workflows.library import loop, program_of, step

from assent.workflow import Advanced, Complete, Content, advance, pending, start

NO_JSON = "{not json}"
BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
LOOP = {"contractRef": "wr.contracts.loop_control"}
ASSESSMENTS = [
    {
        "id": "readiness",
        "purpose": "Is it ready?",
        "dimensions": [
            {"id": "confidence", "purpose": "How sure?", "levels": ["low", "high"]},
            {"id": "risk", "purpose": "How risky?", "levels": ["high-risk", "low-risk"]},
        ],
    }
]
FOLLOW_UP = [{"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "More."}}]


def shown(*steps: dict[str, Any], **more: Any) -> tuple[str, list[Any], Any]:
    """The prompt of the first step, the JSON blocks in it, and a function that sends an output."""
    program = program_of(*steps, **more)
    snapshot = start(program).snapshot
    asked = pending(program, snapshot)
    assert asked is not None
    blocks = [json.loads(block) for block in BLOCK.findall(asked.prompt) if block != NO_JSON]
    return asked.prompt, blocks, lambda output: advance(program, snapshot, Content(output=output))


@pytest.mark.rule("W34")
@pytest.mark.parametrize(
    "ref", ["mr_review.findings", "mr_review.changed_files", "wr.contracts.coordinator_signal"]
)
def test_the_form_of_an_output_is_in_the_step_and_passes(ref: str) -> None:
    prompt, [form], send = shown(step("only", outputContract={"contractRef": ref}))
    assert isinstance(send(form), Complete)
    assert "required" in prompt


@pytest.mark.rule("W34")
def test_the_fields_of_an_output_are_named_with_what_they_may_be() -> None:
    prompt, _, _ = shown(step("only", outputContract={"contractRef": "mr_review.findings"}))
    assert "`findings[].severity` (required): Critical / Major / Minor / Nit" in prompt
    assert "`findings[].location.line`: a whole number" in prompt
    assert "`mrComments`: a list" in prompt and "`kind`" not in prompt.partition("```json")[0]


def test_fields_that_no_contract_checks_are_asked_for_in_the_context_and_others_in_the_output() -> None:
    blocks = {"outputRequired": {"published": "list of links", "notesMarkdown": "what you did"}}
    prompt, _, _ = shown(step("only", promptBlocks=blocks))
    assert "in `context`\n- `published`" in prompt and "Output required\n- `notesMarkdown`" in prompt
    contract = {"contractRef": "mr_review.changed_files"}
    prompt, _, _ = shown(step("only", promptBlocks=blocks, outputContract=contract))
    assert "`context`" not in prompt and "`output`" in prompt


@pytest.mark.rule("W38")
def test_the_form_of_an_assessment_is_in_the_step_and_passes() -> None:
    asking = step("only", assessmentRefs=["readiness"], assessmentConsequences=FOLLOW_UP)
    prompt, [form], send = shown(asking, assessments=ASSESSMENTS)
    assert form["kind"] == "wr.assessment" and set(form["dimensions"]) == {"confidence", "risk"}
    assert isinstance(send(form), Complete)
    assert "`confidence` (low / high)" in prompt


@pytest.mark.rule("W34", "W38")
def test_an_output_and_an_assessment_have_one_form_together() -> None:
    asking = step(
        "only",
        outputContract={"contractRef": "mr_review.findings"},
        assessmentRefs=["readiness"],
        assessmentConsequences=FOLLOW_UP,
    )
    _, [form], send = shown(asking, assessments=ASSESSMENTS)
    assert [part["kind"] for part in form["artifacts"]] == ["mr_review.findings", "wr.assessment"]
    assert isinstance(send(form), Complete)


def decider(prompt: str) -> dict[str, Any]:
    return loop(
        "again",
        [step("decide", prompt=prompt, outputContract=LOOP)],
        type="while",
        conditionSource={"kind": "artifact_contract", **LOOP, "loopId": "again"},
        maxIterations=3,
    )


@pytest.mark.rule("W34")
def test_a_form_that_the_author_wrote_is_the_only_one_where_it_passes() -> None:
    written = {"artifacts": [{"kind": "wr.loop_control", "decision": "continue"}]}
    prompt, blocks, send = shown(
        decider(f"Decide.\n\nOutput exactly:\n```json\n{json.dumps(written, indent=2)}\n```"), step("after")
    )
    assert blocks == [written]
    assert "Send the JSON above as `output`, with your own values" in prompt
    assert "`decision` (required): continue / stop" in prompt
    assert isinstance(send(written), Advanced)


@pytest.mark.rule("W34")
@pytest.mark.parametrize(
    "block",
    ['{"decision": "again"}', '{"kind": "wr.loop_control", "decision": "perhaps"}', NO_JSON],
)
def test_where_the_form_that_the_author_wrote_does_not_pass_one_sentence_says_which_counts(
    block: str,
) -> None:
    prompt, _, send = shown(decider(f"Output exactly:\n```json\n{block}\n```"), step("after"))
    assert "This form counts, also where the text above shows another" in prompt
    assert isinstance(send(json.loads(BLOCK.findall(prompt)[-1])), Advanced)


@pytest.mark.rule("W62")
def test_a_step_that_ends_a_round_of_a_loop_says_how_the_loop_is_decided() -> None:
    looped = loop(
        "again",
        [step("work")],
        type="while",
        conditionSource={"kind": "artifact_contract", **LOOP, "loopId": "again"},
        maxIterations=3,
    )
    prompt, [form], send = shown(looped, step("after"))
    assert form["kind"] == "wr.loop_control" and "continue" in prompt
    assert isinstance(send(form), Advanced)
    assert not BLOCK.findall(shown(step("plain"))[0])
