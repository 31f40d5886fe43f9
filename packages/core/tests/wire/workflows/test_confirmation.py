"""A step that needs a person's consent is an action in the approval machine (W40, C31)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec
import pytest
from tests.support.answers import calls_of, text_of
from tests.support.workflows.kit import APPROVE, EDIT, GATED, GET, REJECT, Payload, WorkflowClient, definition
from tests.support.workflows.library import step

from assent.engine.actions import decisions
from assent.engine.webhooks import subscriptions, webhooks
from assent.gate.effects import EXECUTE
from assent.gate.gate import Decider, SeenVersion
from assent.gate.policy import PRESETS
from assent.gate.records import Assurance
from assent.gate.webhooks import EVENTS
from assent.kernel.ids import ActionId, WorkspaceId
from assent.ports import Single
from assent.sql.loader import statements

pytestmark = pytest.mark.rule("W40")

NOTES = {"notesMarkdown": "Release 1.4 to everybody."}


async def at_gate(client: WorkflowClient, workflow: Payload = GATED) -> Payload:
    return await client.advance(await client.start(workflow, sessionId="R"))


async def asked(client: WorkflowClient, at: Payload, **content: Any) -> Payload:
    """The refusal of an advance that waits for a person."""
    answer = await client.send(at, **content)
    assert answer.is_error and answer.reason == "requires_approval", answer.payload
    return answer.payload


async def test_the_step_waits_for_a_person_and_passes_once_they_agreed(client: WorkflowClient) -> None:
    at = await at_gate(client)
    assert at["pending"]["requireConfirmation"] is True
    run_id = at["session"]["runId"]
    refusal = await asked(client, at, **NOTES)
    assert (refusal["status"], refusal["retryable"], refusal["recoveryTool"]) == (
        "awaiting_approval",
        False,
        None,
    )
    assert f"/runs/{run_id}?token=" in refusal["reviewUrl"]
    action_id = refusal["actionId"]
    again = await asked(client, at, **NOTES)
    assert again["actionId"] == action_id
    record = await client.action(action_id)
    assert record["runId"] == run_id
    assert (record["type"], record["connector"], record["executorTool"]) == (
        "workflow_confirm",
        "workflow",
        "workflow_advance",
    )
    await client.decide(APPROVE, action_id)
    passed = await client.advance(at, **NOTES)
    assert passed["pending"]["stepId"] == "after"
    for _ in range(3):
        assert await client.advance(at, **NOTES) == passed
    done = await client.action(action_id)
    assert (done["status"], done["executionState"]) == ("executed", "done")
    kinds = await client.kinds(run_id)
    assert [kinds.count(kind) for kind in ("confirmation_asked", "action_approve", "action_hand_over")] == [
        1,
        1,
        1,
    ]
    assert kinds.index("action_hand_over") < len(kinds) - 1 == kinds.index("step_acked", 3)
    assert await client.journal_holds()


async def test_the_decision_about_a_step_is_announced_to_subscribers_once(client: WorkflowClient) -> None:
    app, workspace_id = client.surface.app, client.surface.workspace_id
    assert workspace_id is not None
    url = "https://hooks.example.org/in"
    await app.store.write(subscriptions.add(app.owner_services, workspace_id, url, EVENTS, by="Ada"))
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)
    await asked(client, at, **NOTES)
    await client.decide(APPROVE, refusal["actionId"])
    for _ in range(2):
        await client.advance(at, **NOTES)

    queued = await app.store.read(partial(webhooks.recent, workspace_id, "", 10))
    assert {each.action_id for each in queued} == {refusal["actionId"]}
    assert sorted(each.type for each in queued) == ["action.approved", "action.executed", "action.waiting"]


@pytest.mark.rule("E33")
async def test_a_decision_about_a_step_is_not_remembered_as_a_text(client: WorkflowClient) -> None:
    at = await at_gate(client)
    refused = await asked(client, at, notesMarkdown="Release everything at once.")
    await client.decide(REJECT, refused["actionId"], reason="Never say “everything”.")
    agreed = await asked(client, at, **NOTES)
    await client.decide(APPROVE, agreed["actionId"])
    await client.advance(at, **NOTES)

    kept = await client.sql(
        "SELECT kind FROM launch_brain_entries WHERE workspace_id = ?", client.workspace_id
    )
    assert kept == []


async def test_a_person_reads_the_title_and_what_was_submitted_and_never_the_prompt(
    client: WorkflowClient,
) -> None:
    at = await at_gate(client)
    output = {"kind": "plan", "version": "1.4"}
    refusal = await asked(client, at, output=output, **NOTES)
    [(effect,)] = await client.sql("SELECT effect FROM actions WHERE action_id = ?", refusal["actionId"])
    body = msgspec.json.decode(effect)["body"]
    assert body.startswith("Release it") and NOTES["notesMarkdown"] in body and '"1.4"' in body
    assert "SECRET PROMPT" not in effect
    details = msgspec.json.decode(effect)["details"]
    assert (details["stepKey"], details["node"]) == ("release", 1) and details["content"]


async def test_a_person_reads_every_value_of_the_context_that_the_step_changes(
    client: WorkflowClient,
) -> None:
    start = await client.start(GATED, sessionId="R", context={"target": "staging", "region": "eu"})
    at = await client.advance(start)
    context = {"target": "PRODUCTION-DB", "amount": 100000, "region": "eu", "old": None}
    refusal = await asked(client, at, context=context, **NOTES)
    body = (await client.action(refusal["actionId"]))["content"]["body"]
    assert 'target: "PRODUCTION-DB" (before: "staging")' in body and "amount: 100000" in body
    assert "region" not in body and "old" not in body
    gone = await asked(client, at, context={"target": None}, **NOTES)
    assert 'target: removed (before: "staging")' in (await client.action(gone["actionId"]))["content"]["body"]


@pytest.mark.parametrize("part", ["output", "context"])
async def test_what_cannot_be_shown_whole_is_not_asked_about(client: WorkflowClient, part: str) -> None:
    at = await at_gate(client)
    answer = await client.send(at, **NOTES, **{part: {"kind": "plan", "text": "word " * 22_000}})
    assert (answer.is_error, answer.reason) == (True, "validation_error")
    assert answer.payload["problems"][0]["path"] == part
    assert await client.sql("SELECT 1 FROM actions WHERE workspace_id = ?", client.workspace_id) == []
    assert (await asked(client, at, **NOTES))["status"] == "awaiting_approval"


async def test_twenty_callers_at_once_ask_once_and_pass_once(client: WorkflowClient) -> None:
    at = await at_gate(client)
    arguments = {"stateToken": at["stateToken"], "ackToken": at["ackToken"], **NOTES}
    refusals = await client.surface.gather(20, "workflow_advance", arguments)
    assert len({refusal.payload["actionId"] for refusal in refusals}) == 1
    await client.decide(APPROVE, refusals[0].payload["actionId"])
    passed = await client.surface.gather(20, "workflow_advance", arguments)
    assert all(answer.payload == passed[0].payload and not answer.is_error for answer in passed)
    kinds = await client.kinds(at["session"]["runId"])
    assert (kinds.count("confirmation_asked"), kinds.count("action_hand_over")) == (1, 1)


async def test_after_a_rejection_the_step_stays_and_new_content_is_asked_about_anew(
    client: WorkflowClient,
) -> None:
    at = await at_gate(client)
    first = await asked(client, at, **NOTES)
    await client.decide(REJECT, first["actionId"], reason="Not before Monday")
    again = await asked(client, at, **NOTES)
    assert (again["actionId"], again["status"]) == (first["actionId"], "rejected")
    assert "Not before Monday" in again["userMessage"]
    assert (await client.rehydrate(at))["pending"]["stepId"] == "release"
    other = await asked(client, at, notesMarkdown="Release 1.4 on Monday.")
    assert other["actionId"] != first["actionId"] and other["status"] == "awaiting_approval"
    await client.decide(APPROVE, other["actionId"])
    assert (await client.advance(at, notesMarkdown="Release 1.4 on Monday."))["pending"]["stepId"] == "after"
    assert (await client.action(first["actionId"]))["status"] == "rejected"
    assert (await asked(client, at, **NOTES))["actionId"] == first["actionId"]


async def test_a_rejection_can_be_what_the_workflow_branches_on(client: WorkflowClient) -> None:
    branching = definition(
        "branching",
        step("release", requireConfirmation=True, onReject="continue"),
        step("go-on", runCondition={"var": "wr.decisions.release.decision", "equals": "approved"}),
        step(
            "stop",
            runCondition={"var": "wr.decisions.release.decision", "equals": "rejected"},
            prompt="Because: {{wr.decisions.release.reason}}",
        ),
    )
    at = await client.start(branching)
    refusal = await asked(client, at, **NOTES)
    await client.decide(REJECT, refusal["actionId"], reason="Too early")
    on = await client.advance(at, **NOTES)
    assert (on["pending"]["stepId"], on["pending"]["prompt"]) == ("stop", "Because: Too early")
    assert (await client.action(refusal["actionId"]))["status"] == "rejected"
    assert await client.advance(at, **NOTES) == on
    yes = await asked(client, at, notesMarkdown="another plan")
    await client.decide(APPROVE, yes["actionId"])
    assert (await client.advance(at, notesMarkdown="another plan"))["pending"]["stepId"] == "go-on"


async def test_an_approval_covers_exactly_its_content(client: WorkflowClient) -> None:
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)
    await client.decide(APPROVE, refusal["actionId"])
    for other in ({"notesMarkdown": "Release 2.0."}, {**NOTES, "context": {"to": "all"}}, {}):
        assert (await asked(client, at, **other))["actionId"] != refusal["actionId"]
    assert (await client.advance(at, **NOTES))["pending"]["stepId"] == "after"


async def test_what_a_person_rewrote_is_not_what_the_agent_submitted(client: WorkflowClient) -> None:
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)
    edited = await client.decide(EDIT, refusal["actionId"], body="Release it\n\nRelease 1.4 to nobody.")
    approved = await client.decide(APPROVE, refusal["actionId"], digest=edited["digest"])
    assert "exactly as it was sent" not in calls_of(approved)[0]["when"]
    assert set(calls_of(approved)[0]["needs"]) == {"notesMarkdown"}
    assert "changed" in approved["userMessage"]
    told = await asked(client, at, **NOTES)
    assert "was changed" in told["userMessage"] and "A person" not in told["userMessage"]
    assert set(calls_of(told)[0]["needs"]) == {"notesMarkdown"}
    assert (await client.rehydrate(at))["pending"]["stepId"] == "release"


async def test_a_key_that_may_not_decide_is_not_told_to_approve_in_the_chat(client: WorkflowClient) -> None:
    issued = await client.surface.new_workspace("limited", scopes=("runs:read", "runs:write"))
    client.surface.key = issued.api_key
    told = await asked(client, await at_gate(client), **NOTES)
    assert "in the chat" not in told["userMessage"] + text_of(told) and "commands" not in told
    assert "review" in text_of(told) and "review link" in told["fixActionForAgent"]


async def test_a_strict_policy_wants_a_person_and_counts_when_it_was_set_later(
    client: WorkflowClient,
) -> None:
    policy = msgspec.json.encode(PRESETS["people"]).decode()
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)
    await client.decide(APPROVE, refusal["actionId"])
    await client.surface.app.store.write(
        Single(statements.set_policy(workspace_id=client.workspace_id, policy=policy))
    )
    told = await asked(client, at, **NOTES)
    assert told["actionId"] == refusal["actionId"] and "signed-in person" in told["userMessage"]
    assert told["reviewUrl"] == refusal["reviewUrl"]
    assert [each["name"] for each in calls_of(told)] == [GET, "workflow_advance"]
    chat = await client.ask(APPROVE, actionId=refusal["actionId"])
    assert chat.reason == "requires_approval"
    person = Decider(WorkspaceId(client.workspace_id), "Ada", Assurance.PERSON, "page")
    now_ms = client.surface.clock.now_ms()
    await client.surface.app.store.write(
        lambda: decisions.approve(
            person,
            ActionId(refusal["actionId"]),
            SeenVersion(),
            now_ms,
            seals=client.surface.app.keys.seals,
        )
    )
    assert (await client.advance(at, **NOTES))["pending"]["stepId"] == "after"


async def test_an_expired_question_is_asked_anew(client: WorkflowClient) -> None:
    at = await at_gate(client)
    first = await asked(client, at, **NOTES)
    await client.decide(APPROVE, first["actionId"])
    client.surface.clock.advance(days=400)
    second = await asked(client, at, **NOTES)
    assert second["actionId"] != first["actionId"]
    await client.decide(APPROVE, second["actionId"])
    assert (await client.advance(at, **NOTES))["pending"]["stepId"] == "after"


async def test_a_rewound_branch_neither_inherits_an_approval_nor_repeats_its_effect(
    client: WorkflowClient,
) -> None:
    start = await client.start(GATED, sessionId="R")
    at = await client.advance(start)
    first = await asked(client, at, **NOTES)
    await client.decide(APPROVE, first["actionId"])
    await client.advance(at, **NOTES)
    rewound = await client.advance(start, notesMarkdown="another plan")
    assert [warning["code"] for warning in rewound["warnings"]] == ["new_branch", "decided_before"]
    assert "executed" in rewound["warnings"][1]["message"]
    assert [w["code"] for w in (await client.rehydrate(rewound))["warnings"]] == ["decided_before"]
    second = await asked(client, rewound, **NOTES)
    assert second["actionId"] != first["actionId"] and "executed" in second["userMessage"]
    assert second["status"] == "awaiting_approval"
    statuses = await client.sql(
        "SELECT status FROM actions WHERE workspace_id = ? ORDER BY status", client.workspace_id
    )
    assert [status for (status,) in statuses] == ["awaiting_approval", "executed"]
    assert (await client.kinds(start["session"]["runId"])).count("action_hand_over") == 1
    await client.decide(APPROVE, second["actionId"])
    assert (await client.advance(rewound, **NOTES))["pending"]["stepId"] == "after"


async def test_the_same_content_after_a_block_is_a_new_effect_and_needs_a_new_action(
    client: WorkflowClient,
) -> None:
    at = await at_gate(client)
    first = await asked(client, at, **NOTES)
    await client.decide(APPROVE, first["actionId"])
    await client.advance(at, **NOTES)
    blocked = await client.advance(at, output={"no": "kind"})
    assert blocked["kind"] == "blocked"
    second = await asked(client, blocked, **NOTES)
    assert second["actionId"] != first["actionId"]


async def test_an_action_step_shows_its_call_and_waits(client: WorkflowClient) -> None:
    acting = definition(
        "acting",
        step(
            "post",
            action={"tool": "chieflab_post", "args": {"topic": "{{topic}}"}},
            requireConfirmation=True,
        ),
    )
    at = await client.start(acting, context={"topic": "importers"})
    assert at["pending"]["action"] == {"tool": "chieflab_post", "args": {"topic": "importers"}}
    refusal = await asked(client, at, **NOTES)
    [(effect,)] = await client.sql("SELECT effect FROM actions WHERE action_id = ?", refusal["actionId"])
    assert msgspec.json.decode(effect)["details"]["call"]["args"] == {"topic": "importers"}


async def test_nothing_that_sends_or_publishes_touches_a_confirmation(client: WorkflowClient) -> None:
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)
    action_id = refusal["actionId"]
    for approved in (False, True):
        if approved:
            await client.decide(APPROVE, action_id)
        before = await client.action(action_id)
        for tool, more in (
            (EXECUTE, {}),
            ("chieflab_use_manual_fallback", {}),
            ("chieflab_record_manual_publish", {"url": "https://example.org/1"}),
        ):
            answer = await client.ask(tool, actionId=action_id, **more)
            assert answer.is_error, tool
            if approved:
                assert "workflow_advance" in answer.payload["problems"][0]["expected"], tool
        assert await client.action(action_id) == before
    assert (await client.advance(at, **NOTES))["pending"]["stepId"] == "after"


async def test_a_decision_says_which_call_comes_next(client: WorkflowClient) -> None:
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)
    assert "exactly as it was sent" in refusal["fixActionForAgent"]
    approved = await client.decide(APPROVE, refusal["actionId"])
    assert "workflow" in approved["userMessage"] and "sent" not in approved["userMessage"]
    following = calls_of(approved)[0]
    assert following["name"] == "workflow_advance" and "needs" not in following
    passed = await client.ask("workflow_advance", **following["args"])
    assert passed.payload["pending"]["stepId"] == "after"
    other = await asked(client, at, notesMarkdown="Release 2.0.")
    rejected = await client.decide(REJECT, other["actionId"], reason="Too big")
    [again] = calls_of(rejected)
    assert (again["name"], set(again["args"])) == ("workflow_advance", {"stateToken", "ackToken"})
    assert set(again["needs"]) == {"notesMarkdown"}
    assert "call" not in (await client.action(other["actionId"]))["metadata"]


async def test_of_a_long_submission_the_next_call_says_what_to_add(client: WorkflowClient) -> None:
    at = await at_gate(client)
    content = {"notesMarkdown": "word " * 2_000, "context": {"a": 1}}
    approved = await client.decide(APPROVE, (await asked(client, at, **content))["actionId"])
    following = calls_of(approved)[0]
    assert set(following["needs"]) == {"notesMarkdown", "context"}
    passed = await client.ask("workflow_advance", **following["args"], **content)
    assert passed.payload["pending"]["stepId"] == "after"


async def test_a_text_that_was_changed_back_is_what_the_agent_submitted(client: WorkflowClient) -> None:
    at = await at_gate(client)
    action_id = (await asked(client, at, **NOTES))["actionId"]
    submitted = (await client.action(action_id))["content"]["body"]
    await client.decide(EDIT, action_id, body="Release it\n\nTo nobody.")
    await client.decide(EDIT, action_id, body=submitted)
    told = await asked(client, at, **NOTES)
    assert told["actionId"] == action_id and "changed" not in told["userMessage"]
    await client.decide(APPROVE, action_id)
    assert (await client.advance(at, **NOTES))["pending"]["stepId"] == "after"


async def test_what_a_person_wants_changed_is_told_to_whoever_asks_again(client: WorkflowClient) -> None:
    at = await at_gate(client)
    action_id = (await asked(client, at, **NOTES))["actionId"]
    person = Decider(WorkspaceId(client.workspace_id), "Ada", Assurance.LINK, "page")
    now_ms = client.surface.clock.now_ms()
    await client.surface.app.store.write(
        lambda: decisions.ask_for_changes(
            person, ActionId(action_id), "Only to the pilots.", SeenVersion(), now_ms
        )
    )
    assert "Only to the pilots." in (await asked(client, at, **NOTES))["userMessage"]


@pytest.mark.rule("E19")
async def test_the_review_page_opens_and_says_what_became_of_the_step(client: WorkflowClient) -> None:
    at = await at_gate(client)
    refusal = await asked(client, at, **NOTES)

    async def page() -> str:
        http = client.surface.http
        response = await http.get(
            refusal["reviewUrl"], follow_redirects=True, headers={"Accept": "text/html"}
        )
        assert response.status_code == 200
        return response.text

    waiting = await page()
    assert NOTES["notesMarkdown"] in waiting and "SECRET PROMPT" not in waiting
    await client.decide(APPROVE, refusal["actionId"])
    await client.advance(at, **NOTES)
    done = await page()
    assert "The workflow went on past this step" in done
    assert "by hand" not in done and "provider calls it" not in done


@pytest.mark.rule("W20")
async def test_whoever_comes_back_to_a_step_is_told_which_question_is_open_there(
    client: WorkflowClient,
) -> None:
    at = await at_gate(client)
    assert (await client.rehydrate(at)).get("warnings", []) == []
    action_id = (await asked(client, at, **NOTES))["actionId"]
    for status in ("being asked", "has approved"):
        [told] = (await client.rehydrate(at))["warnings"]
        assert told["code"] == "asked_already" and action_id in told["message"] and status in told["message"]
        if status == "being asked":
            await client.decide(APPROVE, action_id)
    resumed = (await client.ask("workflow_resume", sessionId="R")).payload["resumed"]
    assert [told["code"] for told in resumed["warnings"]] == ["asked_already"]
    assert (await client.advance(resumed, **NOTES))["pending"]["stepId"] == "after"
    assert [told["code"] for told in (await client.rehydrate(at))["warnings"]] == ["decided_before"]
    client.surface.clock.advance(days=400)
    other = (await asked(client, at, notesMarkdown="other"))["actionId"]
    codes = {told["code"]: told["message"] for told in (await client.rehydrate(at))["warnings"]}
    assert other in codes["asked_already"] and "executed" in codes["decided_before"]


async def waiting(client: WorkflowClient) -> list[str]:
    """What waits for a person, as an agent lists it."""
    listed = (await client.ask("chieflab_list_pending_actions")).payload["actions"]
    return [action["id"] for action in listed]


async def test_only_the_last_of_several_attempts_at_a_step_waits_for_a_person(client: WorkflowClient) -> None:
    at = await at_gate(client)
    first = (await asked(client, at, **NOTES))["actionId"]
    second = (await asked(client, at, notesMarkdown="Release 1.5."))["actionId"]
    assert await waiting(client) == [second]
    assert (await client.action(first))["expired"] is True
    refused = await client.ask(APPROVE, actionId=first)
    assert refused.reason == "action_expired" and "another version" in refused.payload["userMessage"]
    again = (await asked(client, at, **NOTES))["actionId"]
    assert again not in (first, second) and await waiting(client) == [again]
    events = await client.events(at["session"]["runId"])
    replaced = [(body["actionId"], body["by"]) for kind, body in events if kind == "confirmation_superseded"]
    assert replaced == [(first, second), (second, again)]
    assert await client.journal_holds()


async def test_a_step_that_was_passed_leaves_no_other_attempt_waiting(client: WorkflowClient) -> None:
    at = await at_gate(client)
    yes = (await asked(client, at, **NOTES))["actionId"]
    await client.decide(APPROVE, yes)
    await asked(client, at, notesMarkdown="Release 1.5.")
    assert len(await waiting(client)) == 1
    assert (await client.advance(at, **NOTES))["pending"]["stepId"] == "after"
    assert await waiting(client) == []
    assert await client.journal_holds()


async def test_questions_of_two_branches_both_wait(client: WorkflowClient) -> None:
    start = await client.start(GATED)
    for notes in ("one plan", "another plan"):
        await asked(client, await client.advance(start, notesMarkdown=notes), **NOTES)
    assert len(await waiting(client)) == 2


async def test_attempts_at_once_leave_one_question(client: WorkflowClient) -> None:
    at = await at_gate(client)
    answers = await asyncio.gather(*(client.send(at, notesMarkdown=f"Release 1.{n}.") for n in range(6)))
    assert {answer.reason for answer in answers} == {"requires_approval"}
    assert len(await waiting(client)) == 1
    assert await client.journal_holds()


async def test_approving_and_sending_a_step_approves_it_and_names_the_next_advance(
    client: WorkflowClient,
) -> None:
    at = await at_gate(client)
    action_id = (await asked(client, at, **NOTES))["actionId"]
    approved = await client.decide(APPROVE, action_id, send=True)
    assert approved["status"] == "approved" and not {"notSent", "sent"} & set(approved)
    assert "sent" not in text_of(approved) and calls_of(approved)[0]["name"] == "workflow_advance"


async def test_who_looks_at_a_step_that_was_decided_elsewhere_is_given_the_call_that_goes_on(
    client: WorkflowClient,
) -> None:
    at = await at_gate(client)
    action_id = (await asked(client, at, **NOTES))["actionId"]
    await client.decide(APPROVE, action_id)
    told = await client.action(action_id)
    assert "sent" not in text_of(told).lower() and "go out" not in text_of(told)
    passed = await client.ask("workflow_advance", **calls_of(told)[0]["args"])
    assert passed.payload["pending"]["stepId"] == "after"
    done = await client.action(action_id)
    assert calls_of(done) == [] and "went on" in done["userMessage"]
    no = (await asked(client, at, notesMarkdown="Release 2.0."))["actionId"]
    await client.decide(REJECT, no, reason="Too big")
    rejected = await client.action(no)
    assert "Too big" in text_of(rejected) and calls_of(rejected)[0]["name"] == "workflow_advance"
