"""A step can ask that each action of a run is decided before the workflow goes on: a plan (W40, C31)."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.fixtures import surface
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, REJECT, STAGE, Gate
from tests.support.actions.provider import refused as refused_by_provider
from tests.support.answers import calls_of
from tests.support.workflows.kit import Payload, WorkflowClient, definition
from tests.support.workflows.library import step

from assent.engine.audit.log import Signer
from assent.engine.erasure.contents import BY_AGE, erase_content
from assent.gate.gate import SeenVersion
from assent.gate.policy import PRESETS
from assent.gate.records import Approval, Assurance, Status
from assent.kernel.ids import ActionId
from assent.use_cases import executions
from assent.use_cases.decisions import DecisionOrder

__all__ = ["surface"]
pytestmark = [pytest.mark.rule("W40"), pytest.mark.every_surface]

PLANNED = definition(
    "planned",
    step("prepare"),
    step("agree", title="Agree on the posts", requireConfirmation={"kind": "plan"}),
    step("publish", prompt="Decided: {{wr.decisions.agree.decision}}. {{wr.decisions.agree.reason}}"),
)


@pytest.fixture
def client(surface: Gate, tmp_path: Path) -> WorkflowClient:
    return WorkflowClient(surface, tmp_path / "workflows")


async def prepared(surface: Gate, *bodies: str) -> tuple[str, list[str], dict[str, Any]]:
    """A run with an action for each text: its id, theirs, and the content that names it."""
    run = await surface.run(*({"body": body, "connector": "unaware"} for body in bodies))
    return run["runId"], [each["id"] for each in run["actions"]], {"context": {"planRunId": run["runId"]}}


async def at_plan(client: WorkflowClient, workflow: Payload = PLANNED) -> Payload:
    return await client.advance(await client.start(workflow))


async def refused(client: WorkflowClient, at: Payload, **content: Any) -> Payload:
    answer = await client.send(at, **content)
    assert answer.is_error, answer.payload
    return answer.payload


async def test_a_step_with_a_plan_passes_once_each_action_of_the_run_is_decided(
    surface: Gate, client: WorkflowClient
) -> None:
    at = await at_plan(client)
    assert at["pending"]["requireConfirmation"] is True and "planRunId" in at["pending"]["prompt"]
    run_id, (one, two, three), named = await prepared(surface, "The first.", "The second.", "The third.")
    told = await refused(client, at, **named)
    assert (told["reason"], told["status"], told["actionId"]) == (
        "requires_approval",
        "awaiting_approval",
        one,
    )
    assert f"/runs/{run_id}?token=" in told["reviewUrl"]
    assert "warnings" not in await client.rehydrate(at)
    show, again = calls_of(told)
    assert (show["name"], show["args"]) == ("chieflab_list_pending_actions", {"runId": run_id})
    listed = await client.ask(show["name"], **show["args"])
    assert [each["id"] for each in listed.payload["actions"]] == [one, two, three]

    shown = [{"actionId": each["id"], "digest": each["digest"]} for each in listed.payload["actions"][:2]]
    await client.ask(APPROVE, actions=shown)
    assert (await refused(client, at, **named))["actionId"] == three
    await client.decide(REJECT, three, reason="Too loud.")
    passed = (await client.ask(again["name"], **again["args"])).payload
    assert passed["pending"]["stepId"] == "publish"
    assert "Decided: approved." in passed["pending"]["prompt"] and "Too loud." in passed["pending"]["prompt"]
    assert await client.advance(at, **named) == passed

    for each in (one, two, two, three):
        await client.ask(EXECUTE, actionId=each)
    assert [sent.body for sent in surface.ledger] == ["The first.", "The second."]
    for each in (one, two):
        stored = await surface.stored(each)
        assert stored.approval is not None and stored.approval.digest == stored.digest
    kinds = await client.kinds(at["session"]["runId"])
    assert [kinds.count(kind) for kind in ("plan_asked", "plan_passed", "confirmation_asked")] == [1, 1, 0]
    assert await client.sql("SELECT 1 FROM actions WHERE run_id = ?", at["session"]["runId"]) == []
    assert await client.journal_holds()


async def test_an_action_that_is_edited_leaves_the_plan_and_needs_a_decision_of_its_own(
    surface: Gate, client: WorkflowClient
) -> None:
    at = await at_plan(client)
    _, (one, two), named = await prepared(surface, "The first.", "The second.")
    await refused(client, at, **named)
    seen = {each: (await surface.stored(each)).digest for each in (one, two)}
    await client.decide(EDIT, two, body="The second, changed meanwhile.")
    judged = await client.ask(APPROVE, actions=[{"actionId": a, "digest": d} for a, d in seen.items()])
    assert [each["status"] for each in judged.payload["results"]] == ["approved", "awaiting_approval"]
    assert (await refused(client, at, **named))["actionId"] == two
    # An approval that is taken back by an edit counts no more either.
    await client.decide(EDIT, one, body="The first, changed after it was approved.")
    assert (await refused(client, at, **named))["actionId"] == one
    for each in (one, two):
        await surface.approve_as_shown(each)
    assert (await client.advance(at, **named))["pending"]["stepId"] == "publish"
    [(_, body)] = [e for e in await client.events(at["session"]["runId"]) if e[0] == "plan_passed"]
    assert {each: said["digest"] for each, said in body["actions"].items()} == {
        each: (await surface.stored(each)).digest for each in (one, two)
    }


async def test_neither_another_branch_nor_another_run_goes_on_with_the_same_decisions(
    surface: Gate, client: WorkflowClient
) -> None:
    start = await client.start(PLANNED)
    at = await client.advance(start)
    _, (one,), named = await prepared(surface, "Once.")
    await client.decide(APPROVE, one)
    await client.advance(at, **named)
    await client.ask(EXECUTE, actionId=one)

    rewound = await client.advance(start, notesMarkdown="Another way.")
    assert [each["code"] for each in rewound["warnings"]] == ["new_branch", "decided_before"]
    later = await at_plan(client)
    for place, content in ((at, {"notesMarkdown": "Again.", **named}), (rewound, named), (later, named)):
        told = await refused(client, place, **content)
        assert [each["path"] for each in told["problems"]] == ["context.planRunId"]
        assert told["reason"] == "validation_error" and told["problems"][0]["got"] == "plan_used"
    assert len(surface.ledger) == 1

    _, (two,), anew = await prepared(surface, "Once more.")
    assert (await refused(client, rewound, **anew))["reason"] == "requires_approval"
    await client.decide(APPROVE, two)
    assert (await client.advance(rewound, **anew))["pending"]["stepId"] == "publish"


async def test_of_many_branches_at_once_one_goes_on_with_a_plan(
    surface: Gate, client: WorkflowClient
) -> None:
    start = await client.start(PLANNED)
    branches = [await client.advance(start, notesMarkdown=f"Branch {number}.") for number in range(4)]
    branches += [await at_plan(client) for _ in range(2)]
    _, (one,), named = await prepared(surface, "Once.")
    for each in branches:
        assert (await refused(client, each, **named))["reason"] == "requires_approval"
    await client.decide(APPROVE, one)
    answers = await asyncio.gather(*(client.send(each, **named) for each in branches))
    assert sorted(each.is_error for each in answers) == [False] + [True] * 5
    assert {each.reason for each in answers if each.is_error} == {"validation_error"}


async def test_where_nothing_was_approved_the_step_stays_or_branches(
    surface: Gate, client: WorkflowClient
) -> None:
    going_on = definition(
        "going-on",
        step("prepare"),
        step("agree", requireConfirmation={"kind": "plan"}, onReject="continue"),
        step("learn", runCondition={"var": "wr.decisions.agree.decision", "equals": "rejected"}),
        step("end"),
    )
    at, other = await at_plan(client), await at_plan(client, going_on)
    _, (one, two), named = await prepared(surface, "The first.", "The second.")
    await client.decide(REJECT, one, reason="Wrong week.")
    await client.decide(REJECT, two, reason="Wrong text.")
    told = await refused(client, at, **named)
    assert (told["reason"], told["status"]) == ("requires_approval", "rejected")
    assert "Wrong week." in told["userMessage"] and "Wrong text." in told["userMessage"]
    [call] = calls_of(told)
    assert (call["name"], set(call["needs"])) == ("workflow_advance", {"context"})
    assert (await client.advance(other, **named))["pending"]["stepId"] == "learn"

    _, _, late = await prepared(surface, "Nobody answers.")
    surface.clock.advance(days=400)
    told = await refused(client, at, **late)
    assert told["reason"] == "requires_approval" and "expired" in told["userMessage"]
    assert set(calls_of(told)[0]["needs"]) == {"context"}
    _, (three,), better = await prepared(surface, "Another text.")
    await client.decide(APPROVE, three)
    assert (await client.advance(at, **better))["pending"]["stepId"] == "publish"


async def test_only_a_run_of_this_workspace_that_prepared_actions_is_a_plan(
    surface: Gate, client: WorkflowClient
) -> None:
    at = await at_plan(client)
    own = surface.key
    foreign = await surface.new_workspace("elsewhere")
    surface.key = foreign.api_key
    _, _, elsewhere = await prepared(surface, "Of others.")
    surface.key = own
    asking = definition("asking", step("agree", requireConfirmation=True), step("end"))
    confirming = await client.start(asking)
    await refused(client, confirming, notesMarkdown="Please.")
    empty = (await surface.call(STAGE, {"drafts": ["No effect."]})).payload["runId"]
    wrong: tuple[Any, ...] = (None, 7, "", "run-1", confirming["session"]["runId"], empty)
    for content in ({}, elsewhere, *({"context": {"planRunId": each}} for each in wrong)):
        told = await refused(client, at, **content)
        assert told["problems"][0]["got"] == "plan_unknown", content
    assert (await client.rehydrate(at))["pending"]["stepId"] == "agree"


async def test_an_approval_that_does_not_count_leaves_the_step_waiting(
    surface: Gate, client: WorkflowClient
) -> None:
    at = await at_plan(client)
    _, (one,), named = await prepared(surface, "Approved in the database.")
    digest = (await surface.stored(one)).digest
    made_up = Approval(by="Ada", at_ms=surface.clock.now_ms(), assurance=Assurance.PERSON, digest=digest)
    await surface.overwrite(one, status=Status.APPROVED, approval=made_up)
    assert (await refused(client, at, **named))["actionId"] == one

    _, (two,), passed_on = await prepared(surface, "Passed on by the agent.")
    await client.decide(APPROVE, two)
    await surface.set_policy(PRESETS["people"])
    assert (await refused(client, at, **passed_on))["actionId"] == two
    await surface.approve_as(Assurance.PERSON, two)
    assert (await client.advance(at, **passed_on))["pending"]["stepId"] == "publish"


async def test_a_plan_that_passed_a_step_passes_no_other_once_its_content_is_erased_or_one_is_tried_again(
    surface: Gate, client: WorkflowClient
) -> None:
    start = await client.start(PLANNED)
    at = await client.advance(start)
    _, (one,), named = await prepared(surface, "Refused by its provider.")
    await client.decide(APPROVE, one)
    surface.providers["unaware"].plan.append(refused_by_provider)
    await client.ask(EXECUTE, actionId=one)
    assert (await surface.stored(one)).status is Status.FAILED
    wish = DecisionOrder(surface.someone(), await surface.stored(one), SeenVersion())
    again = await executions.try_again(surface.clock, wish, surface.app.store.write)
    await surface.approve_as_shown(again.action_id)
    await client.advance(at, **named)
    rewound = await client.advance(start, notesMarkdown="Another way.")
    assert (await refused(client, rewound, **named))["problems"][0]["got"] == "plan_used"

    await client.ask(EXECUTE, actionId=again.action_id)
    now_ms, sign = surface.clock.now_ms(), Signer(surface.app.keys.master).sign_text
    for each in (one, again.action_id):
        erase = partial(
            erase_content, surface.workspace_id, ActionId(each), BY_AGE, now_ms, by="test", sign=sign
        )
        assert await surface.app.store.write(erase) is not None
    assert (await refused(client, rewound, **named))["problems"][0]["got"] == "plan_used"
