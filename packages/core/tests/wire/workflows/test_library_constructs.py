"""What definitions of the public library use beyond the files that are beside the repository, in words of our own.

Each construct is met as an agent meets it, by the tools.
"""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from tests.support.answers import text_of
from tests.support.surfaces import BASE_URL
from tests.support.workflows.kit import APPROVE, Payload, WorkflowClient, definition
from tests.support.workflows.library import decision, loop, step

pytestmark = pytest.mark.parametrize(("transport", "database"), [("http", "sqlite")])
DECIDES: dict[str, Any] = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}


async def follow(client: WorkflowClient, at: Payload, **content: Any) -> list[Payload]:
    """Every answer to the end, each step sent the same; a person agrees to whatever is asked."""
    answers = [at]
    while not at["isComplete"]:
        answer = await client.send(at, **content)
        if answer.reason == "requires_approval":
            await client.decide(APPROVE, answer.payload["actionId"])
            continue
        assert not answer.is_error and answer.payload["kind"] != "blocked", answer.payload
        at = answer.payload
        answers.append(at)
    return answers


def keys(answers: list[Payload]) -> list[str]:
    return [answer["pending"]["stepKey"] for answer in answers if answer["pending"]]


def prompt(answer: Payload) -> str:
    return str(answer["pending"]["prompt"])


@pytest.mark.rule("W62")
async def test_a_decision_that_the_body_must_send_decides_the_loop_whatever_its_condition(
    client: WorkflowClient,
) -> None:
    body = [step("revise"), step("decide", **DECIDES)]
    again = loop(
        "revise-loop", body, type="while", condition={"var": "goOn", "equals": True}, maxIterations=3
    )
    at = await client.start(definition("decided", step("draft"), again, step("hand-in")))
    at = await client.advance(at)
    assert at["pending"]["stepKey"] == "revise-loop[1]/revise"
    at = await client.advance(at)
    blocked = await client.advance(at)
    assert blocked["kind"] == "blocked" and blocked["example"]["kind"] == "wr.loop_control"
    at = await client.advance(blocked, output=decision("continue", loopId="revise-loop"))
    assert at["pending"]["stepKey"] == "revise-loop[2]/revise"
    at = await client.advance(await client.advance(at), output=decision("stop"))
    assert at["pending"]["stepKey"] == "hand-in"


@pytest.mark.parametrize(
    ("contract", "config"),
    [
        ({}, {"conditionSource": {"kind": "context_variable", "condition": {"var": "goOn"}}}),
        ({"required": False}, {"condition": {"var": "goOn"}}),
    ],
)
async def test_a_source_that_is_named_decides_the_loop_and_so_does_a_condition_beside_a_free_answer(
    client: WorkflowClient, contract: Payload, config: Payload
) -> None:
    answer = step("decide", outputContract={**DECIDES["outputContract"], **contract})
    again = loop("revise-loop", [answer], type="while", **config)
    at = await client.start(definition("named", step("draft"), again, step("hand-in")))
    assert (await client.advance(at))["pending"]["stepKey"] == "hand-in"


async def test_what_a_call_says_itself_is_seen_with_the_guidance_of_its_routine_on_every_step(
    client: WorkflowClient,
) -> None:
    client.write(definition("wr.routine-looking", step("look"), step("tell"), metaGuidance=["Stay curious."]))
    call = {"id": "call", "title": "Call", "templateCall": {"templateId": "wr.templates.routine.looking"}}
    at = await client.start(definition("calling", {**call, "guidance": ["Only the parser."]}))
    for _ in range(2):
        assert "- Only the parser.\n- Stay curious." in prompt(at)
        at = await client.advance(at)
    assert at["isComplete"]


async def test_checks_may_be_found_by_the_agent_or_handed_to_a_helper(client: WorkflowClient) -> None:
    helper = {
        "workflowId": "team.second-look",
        "modelTier": "heavy",
        "args": {"deliverableName": "LOOK.md"},
        "contextMapping": {"goal": "targetGoal"},
    }
    document = definition(
        "checked",
        step("build", verification={"cognitive": True}),
        step("plan", audit={"delegate": helper, "rubric": ["complete"]}),
        step(
            "ship",
            verification={
                "command": "make check",
                "delegate": {**helper, "runCondition": {"var": "risky"}},
            },
        ),
    )
    answers = await follow(client, await client.start(document, context={"goal": "Faster search"}))
    assert keys(answers) == ["build", "build.verify", "plan", "plan.audit", "ship", "ship.verify"]
    assert "Find out how this project checks such work" in prompt(answers[1])
    audit = prompt(answers[3])
    assert "- complete" in audit and "`team.second-look`" in audit
    assert "deliverableName: LOOK.md" in audit and "targetGoal = Faster search" in audit
    assert "make check" in prompt(answers[5]) and "team.second-look" not in prompt(answers[5])
    risky = await follow(client, await client.start("checked", context={"risky": True}))
    assert "team.second-look" in prompt(risky[5])


async def test_a_broken_condition_of_a_helper_is_refused_where_it_stands(client: WorkflowClient) -> None:
    helper = {"workflowId": "team.look", "runCondition": {"var": "x", "like": "y"}}
    client.write(definition("broken", step("plan", audit={"delegate": helper})))
    listed = (await client.ask("workflow_list")).payload
    assert [issue["path"] for entry in listed["invalid"] for issue in entry["issues"]] == [
        "$.steps[0].audit.delegate.runCondition.like"
    ]


async def test_the_guidance_of_a_loop_is_seen_in_every_step_of_it(client: WorkflowClient) -> None:
    again = loop(
        "look-loop",
        [
            step("look", guidance=["Look twice."]),
            {"id": "hand-out", "type": "parallel", "title": "Hand out",
             "parallelDelegations": [{"workflowId": "team.look"}]},
        ],
        type="for", count=2, iterationVar="round",
    )  # fmt: skip
    document = definition("guided", {**again, "guidance": ["Finish round {{round}}."]}, step("close"))
    answers = await follow(client, await client.start(document))
    shown = [prompt(answer) for answer in answers if answer["pending"]]
    assert ["Finish round 1." in text for text in shown] == [True, True, False, False, False]
    assert ["Finish round 2." in text for text in shown] == [False, False, True, True, False]
    assert "Look twice." in shown[0] and "Look twice." not in shown[1]


@pytest.mark.rule("W40")
async def test_what_a_person_is_to_be_asked_is_shown_while_a_person_is_asked(client: WorkflowClient) -> None:
    asked = {"requireConfirmation": {"var": "risky"}, "confirmationPrompt": "May the index be rebuilt?"}
    client.write(definition("asking", step("rebuild", **asked)))
    at = await client.start("asking", context={"risky": True})
    assert "May the index be rebuilt?" in prompt(at)
    refused = (await client.send(at)).payload
    page = await client.surface.http.get(
        refused["reviewUrl"], follow_redirects=True, headers={"Accept": "text/html"}
    )
    for shown in (text_of(refused), page.text.partition("<h1")[2].partition("</h1>")[0]):
        assert "May the index be rebuilt?" in shown, refused
    assert "May the index be rebuilt?" not in prompt(await client.start("asking"))


@pytest.mark.rule("W40")
async def test_the_person_reads_the_authors_question_above_the_notes_with_their_markup(
    client: WorkflowClient,
) -> None:
    asked = step(
        "rebuild", requireConfirmation=True, confirmationPrompt="May the index of {{shop}} be rebuilt?"
    )
    at = await client.start(definition("asking", asked, step("after")), context={"shop": "Bergen"})
    refused = await client.send(at, notesMarkdown="It takes **an hour**.")
    link = refused.payload["reviewUrl"]
    async with httpx.AsyncClient(
        transport=client.surface.wire, base_url=BASE_URL, follow_redirects=True
    ) as browser:
        page = (await browser.get(link, headers={"Accept": "text/html"})).text
    heading = re.findall(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    assert "May the index of Bergen be rebuilt?" in heading[0]
    assert "<strong>an hour</strong>" in page
    assert "{{shop}}" not in page and "0 rejected" not in page


ROUTINES = {
    # Whether the last step may ask, may be skipped or is a loop: none of them may swallow the caller's confirmation.
    "may-ask": [step("look"), step("deliver", requireConfirmation={"var": "never"})],
    "asks-itself": [step("look"), step("deliver", requireConfirmation=True)],
    "may-skip": [step("look"), step("deliver", runCondition={"var": "never"})],
    "is-a-loop": [step("look"), loop("deliver", [step("part")], type="for", count=1)],
    "has-its-name": [step("confirm"), loop("deliver", [step("part")], type="for", count=1)],
    "plain": [step("look"), step("deliver")],
}


@pytest.mark.rule("W40")
@pytest.mark.parametrize(
    ("routine", "steps", "asked"),
    [
        ("may-ask", ["call.look", "call.deliver", "call"], 1),
        ("asks-itself", ["call.look", "call.deliver"], 1),
        ("may-skip", ["call.look", "call"], 1),
        ("is-a-loop", ["call.look", "call.deliver[1]/call.part", "call"], 1),
        ("has-its-name", ["call.confirm", "call.deliver[1]/call.part", "call"], 1),
        ("plain", ["call.look", "call.deliver"], 1),
    ],
)
async def test_the_confirmation_of_a_caller_is_asked_for_however_its_routine_ends(
    client: WorkflowClient, routine: str, steps: list[str], asked: int
) -> None:
    client.write(definition(f"wr.routine-{routine}", *ROUTINES[routine]))
    call = {"id": "call", "title": "Call", "templateCall": {"templateId": f"wr.templates.routine.{routine}"}}
    at = await client.start(definition("caller", {**call, "requireConfirmation": True}))
    answers = await follow(client, at, notesMarkdown="Done.")
    assert keys(answers) == steps
    kinds = await client.kinds(at["session"]["runId"])
    assert kinds.count("action_hand_over") == asked


async def test_the_outcome_is_asked_for_by_the_last_work_of_a_closing_loop(client: WorkflowClient) -> None:
    last = loop(
        "check-loop", [step("check"), step("decide", **DECIDES)], type="while", condition={"var": "x"}
    )
    at = await client.start(definition("measured", step("build"), last, metricsProfile="coding"))
    answers = [at, at := await client.advance(at), await client.advance(at)]
    assert ["metrics_outcome" in prompt(answer) for answer in answers] == [False, True, False]


@pytest.mark.rule("W35")
async def test_what_the_notes_are_held_against_is_said_before_they_are_written(
    client: WorkflowClient,
) -> None:
    rules = [
        {"type": "contains", "value": "Gate: {{open}}", "message": "Name the gate"},
        {"type": "length", "min": 3, "max": 400, "message": "Not too short"},
        {"type": "regex", "pattern": "\\d+ tests", "message": "Count them", "condition": {"var": "strict"}},
    ]
    client.write(definition("held", step("report", validationCriteria=rules)))
    shown = prompt(await client.start("held"))
    assert "- contain `Gate: { {open} }` (Name the gate)" in shown
    assert "- have at least 3 and at most 400 characters (Not too short)" in shown
    assert "Count them" not in shown
    assert "match `\\d+ tests` (Count them)" in prompt(await client.start("held", context={"strict": True}))
    composed = {"or": [rules[1], {"not": rules[0]}]}
    other = prompt(await client.start(definition("composed", step("report", validationCriteria=composed))))
    assert "- one of: have at least 3" in other and "; or: not: contain" in other


@pytest.mark.rule("W57")
async def test_everything_that_is_said_about_a_parameter_reaches_the_agent_and_the_hash(
    client: WorkflowClient,
) -> None:
    def defined(**more: Any) -> Payload:
        parameter = {"name": "depth", "type": "string", **more}
        function = {"name": "look", "definition": "Look closely.", "parameters": [parameter]}
        return definition(
            "functions", step("one", functionReferences=["look()"]), functionDefinitions=[function]
        )

    said = {"description": "How far to go", "enum": ["near", "far"], "default": "near", "required": False}
    at = await client.start(defined(**said))
    assert (
        "look(depth?: string): Look closely.\n  - depth: How far to go; one of near, far; default near"
        in prompt(at)
    )
    hashes = set()
    for left_out in ("", *said):
        client.write(defined(**{name: value for name, value in said.items() if name != left_out}))
        found = await client.ask("workflow_inspect", workflowId="functions")
        hashes.add(found.payload["workflowHash"])
    assert len(hashes) == 1 + len(said)
