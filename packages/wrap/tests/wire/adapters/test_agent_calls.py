"""Calls that an agent runs itself: proposed, decided by a person, handed out once, reported."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, REJECT, Gate
from tests.support.answers import calls_of, text_of
from tests.support.promises import find_promises

from assent.engine.core import freezes
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.times import parse_time
from assent.serving.web.review.blocks import list_arguments

PROPOSE = "chieflab_propose_call"
CLAIM = "chieflab_claim_call"
REPORT = "chieflab_report_call"
FALLBACK = "chieflab_use_manual_fallback"
ASKED: dict[str, Any] = {
    "source": "claude-code",
    "toolName": "Bash",
    "arguments": {"command": "git push --force\norigin main", "timeout": 120000, "env": {"A": ["1", None]}},
    "context": {"Working directory": "/srv/app"},
}
LEASE_SECONDS = 15 * 60 + 6


async def propose(surface: Gate, **changes: Any) -> str:
    action_id: str = (await surface.done(PROPOSE, **{**ASKED, **changes}))["actionId"]
    return action_id


async def approve(surface: Gate, **changes: Any) -> str:
    action_id = await propose(surface, **changes)
    await surface.approve_as(Assurance.PERSON, action_id)
    return action_id


@pytest.mark.every_surface
async def test_an_approved_call_is_handed_out_once_with_exactly_its_arguments_and_reported(
    surface: Gate,
) -> None:
    asked = await surface.done(PROPOSE, **ASKED)
    action_id = asked["actionId"]
    assert (asked["ok"], asked["status"], asked["joined"]) == (True, "awaiting_approval", False)
    assert "waits for a person" in asked["userMessage"]
    refused = await surface.denied(CLAIM, actionId=action_id)
    assert (refused["reason"], refused["reviewUrl"]) == ("requires_approval", asked["reviewUrl"])
    # No agent may approve it: the call is high risk, whatever the agent says.
    assert (await surface.denied(APPROVE, actionId=action_id))["reason"] == "requires_approval"
    await surface.approve_as(Assurance.PERSON, action_id)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved"

    held = await surface.done(CLAIM, actionId=action_id)
    assert (held["toolName"], held["source"], held["edited"]) == ("Bash", "claude-code", False)
    assert held["arguments"] == ASKED["arguments"]
    assert held["ok"] and held["userMessage"] == "It may run once now."
    assert (parse_time(held["reportUntil"]) or 0) > surface.clock.now_ms()
    assert await surface.where(action_id) == "executing"
    assert (await surface.denied(CLAIM, actionId=action_id))["reason"] == "execution_in_progress"

    report = {"actionId": action_id, "claimId": held["claimId"], "outcome": "executed"}
    done = await surface.done(REPORT, **report, output={"exitCode": 0})
    assert (done["ok"], done["status"], done["executionState"]) == (True, "executed", "done")
    assert await surface.done(REPORT, **report, output={"exitCode": 1}) == done
    assert (await surface.denied(REPORT, **{**report, "outcome": "failed"}))["reason"] == "action_closed"
    assert (await surface.denied(CLAIM, actionId=action_id))["status"] == "executed"
    record = await surface.record(action_id)
    assert record["metadata"]["output"] == {"exitCode": 0}
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.run_jobs()
    assert await surface.where(action_id) == "executed"
    verdict = await surface.app.owner_services.verify_journal(surface.workspace_id)
    assert verdict.ok, verdict


async def test_a_person_sees_every_argument_and_where_it_runs_and_the_digest_covers_both(
    surface: Gate,
) -> None:
    stored = await surface.stored(await propose(surface))
    assert stored.effect.type == "claude-code_Bash"
    assert stored.effect.body == (
        'command:\n    git push --force\n    origin main\ntimeout: 120000\nenv:\n    {\n      "A": [\n        "1",'
        "\n        null\n      ]\n    }"
    )
    assert stored.view.title == "Claude Code wants to run Bash"
    assert stored.view.blocks[0].rows == (("The agent says: Working directory", "/srv/app"),)  # type: ignore[union-attr]
    assert [each.name for each in stored.view.fields] == [
        "arguments.command",
        "arguments.timeout",
        "arguments.env",
    ]
    elsewhere = await surface.stored(await propose(surface, context={"Working directory": "/srv/other"}))
    assert elsewhere.digest != stored.digest


@pytest.mark.every_surface
async def test_the_same_call_joins_the_open_one_also_after_an_edit_and_a_new_one_begins_after_the_claim(
    surface: Gate,
) -> None:
    answers = await surface.gather(16, PROPOSE, ASKED)
    assert not any(each.is_error for each in answers), [each.payload for each in answers if each.is_error]
    (action_id,) = {each.payload["actionId"] for each in answers}
    assert sum(not each.payload["joined"] for each in answers) == 1
    other = surface.key
    surface.key = await surface.key_with("runs:write", "actions:execute")
    assert await propose(surface) != action_id
    surface.key = other
    await surface.done(EDIT, actionId=action_id, arguments={"command": "git push"})
    assert await propose(surface) == action_id
    await surface.approve_as(Assurance.PERSON, action_id)
    joined = await surface.done(PROPOSE, **ASKED)
    assert (joined["actionId"], joined["status"]) == (action_id, "approved")
    assert "decided before" in joined["userMessage"]
    held = await surface.done(CLAIM, actionId=action_id)
    assert held["edited"] is True and "changed the arguments" in held["userMessage"]
    assert held["arguments"] == {**ASKED["arguments"], "command": "git push"}
    assert await propose(surface) != action_id


async def test_a_key_of_the_caller_is_an_action_of_its_own_and_finds_it_again(surface: Gate) -> None:
    first = await propose(surface, idempotencyKey="thread-1:call-1")
    assert await propose(surface, idempotencyKey="thread-2:call-1") != first
    assert await propose(surface, idempotencyKey="thread-1:call-1") == first
    await surface.approve_as(Assurance.PERSON, first)
    again = await surface.done(PROPOSE, **ASKED, idempotencyKey="thread-1:call-1")
    assert (again["actionId"], again["status"]) == (first, "approved")
    changed = {**ASKED, "arguments": {"command": "ls"}, "idempotencyKey": "thread-1:call-1"}
    assert (await surface.denied(PROPOSE, **changed))["reason"] == "idempotency_conflict"


@pytest.mark.every_surface
async def test_of_sixteen_claims_at_once_one_wins(surface: Gate) -> None:
    action_id = await approve(surface)
    answers = await surface.gather(16, CLAIM, {"actionId": action_id})
    assert sum(not each.is_error for each in answers) == 1
    assert {each.reason for each in answers if each.is_error} == {"execution_in_progress"}
    events = [each["kind"] for each in await surface.events((await surface.record(action_id))["runId"])]
    assert events.count("action_claim") == 1, events


async def test_only_the_key_that_proposed_it_claims_and_reports(surface: Gate) -> None:
    action_id, own = await approve(surface), surface.key
    surface.key = await surface.key_with("runs:write", "actions:execute")
    assert (await surface.denied(CLAIM, actionId=action_id))["reason"] == "validation_error"
    surface.key = await surface.key_with("runs:write")
    assert (await surface.denied(CLAIM, actionId=action_id))["reason"] == "insufficient_scope"
    surface.key = own
    held = await surface.done(CLAIM, actionId=action_id)
    report = {"actionId": action_id, "claimId": held["claimId"], "outcome": "executed"}
    surface.key = (await surface.new_workspace("other")).api_key
    assert (await surface.denied(CLAIM, actionId=action_id))["reason"] == "wrong_workspace"
    assert (await surface.denied(REPORT, **report))["reason"] == "wrong_workspace"
    surface.key = own
    refused = await surface.denied(REPORT, **{**report, "claimId": "018f0000-0000-7000-8000-000000000000"})
    assert refused["reason"] == "validation_error"
    assert await surface.where(action_id) == "executing"


async def test_a_rejected_an_expired_and_a_withdrawn_call_is_not_handed_out(surface: Gate) -> None:
    rejected = await propose(surface)
    await surface.done(REJECT, actionId=rejected, reason="Not on a Friday.")
    assert (await surface.denied(CLAIM, actionId=rejected))["status"] == "rejected"
    assert (await surface.record(rejected))["rejectionReason"] == "Not on a Friday."
    withdrawn = await approve(surface)
    await surface.withdraw_as("Ada", withdrawn)
    assert (await surface.denied(CLAIM, actionId=withdrawn))["reason"] == "requires_approval"
    await surface.approve_as(Assurance.PERSON, withdrawn)
    await surface.done(EDIT, actionId=withdrawn, arguments={"command": "true"})
    assert (await surface.denied(CLAIM, actionId=withdrawn))["reason"] == "requires_approval"
    expired = await approve(surface, toolName="Write")
    surface.clock.advance(days=31)
    assert (await surface.denied(CLAIM, actionId=expired))["reason"] == "action_expired"


async def test_nothing_else_executes_a_call_of_an_agent(surface: Gate) -> None:
    action_id = await approve(surface)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "validation_error"
    await surface.approve_as(Assurance.PASSKEY, action_id, send_now=True)
    await surface.run_jobs()
    assert await surface.where(action_id) == "approved"
    await surface.done(FALLBACK, actionId=action_id)
    await surface.approve_as(Assurance.PERSON, action_id)
    assert (await surface.ask(CLAIM, actionId=action_id)).is_error


@pytest.mark.every_surface
async def test_a_claim_without_a_report_becomes_unknown_and_is_never_handed_out_again(surface: Gate) -> None:
    action_id = await approve(surface)
    held = await surface.done(CLAIM, actionId=action_id)
    surface.clock.advance(seconds=LEASE_SECONDS)
    await surface.run_jobs()
    assert await surface.where(action_id) == "outcome_unknown"
    assert (await surface.denied(CLAIM, actionId=action_id))["reason"] == "outcome_unknown"
    assert await propose(surface) != action_id
    said = (await surface.record(action_id))["userMessage"]
    assert said.startswith("It is not known whether it ran")
    # The claim's own report still counts: it is the one attempt there was.
    late = {"actionId": action_id, "claimId": held["claimId"], "outcome": "executed"}
    assert (await surface.done(REPORT, **late))["status"] == "executed"


async def test_a_report_may_say_that_nothing_happened_or_that_it_is_unknown(surface: Gate) -> None:
    for outcome, state in (("failed", "failed"), ("unknown", "outcome_unknown")):
        action_id = await approve(surface, arguments={"command": outcome})
        held = await surface.done(CLAIM, actionId=action_id)
        report = {"actionId": action_id, "claimId": held["claimId"], "outcome": outcome, "detail": "no shell"}
        done = await surface.done(REPORT, **report)
        assert state in (done["status"], done["executionState"])
        assert await surface.done(REPORT, **report) == done
        assert (await surface.ask(CLAIM, actionId=action_id)).is_error
        assert await surface.where(action_id) == state


async def test_a_person_who_says_that_it_did_not_happen_lets_it_be_claimed_again(surface: Gate) -> None:
    action_id = await approve(surface)
    first = await surface.done(CLAIM, actionId=action_id)
    await surface.done(REPORT, actionId=action_id, claimId=first["claimId"], outcome="unknown")
    await surface.answer_as_person(action_id, happened=False)
    second = await surface.done(CLAIM, actionId=action_id)
    assert second["claimId"] != first["claimId"]
    refused = await surface.denied(REPORT, actionId=action_id, claimId=first["claimId"], outcome="executed")
    assert refused["reason"] == "validation_error"


RISKS = ("claude-code:Read*=low", "claude-code:Write=medium", "langgraph:*=low")


@pytest.mark.parametrize("changed_settings", [{"agent_risks": RISKS}])
async def test_only_the_settings_of_the_server_lower_the_risk(
    surface: Gate, changed_settings: dict[str, Any]
) -> None:
    found = {}
    for source, tool in (
        ("claude-code", "Read"),
        ("claude-code", "Write"),
        ("claude-code", "Bash"),
        ("other", "Read"),
    ):
        action_id = await propose(surface, source=source, toolName=tool)
        found[source, tool] = (await surface.record(action_id))["preflight"]["severity"]
    assert list(found.values()) == ["low", "medium", "high", "high"]


async def test_argument_names_that_may_look_like_others_are_marked(surface: Gate) -> None:
    twins = {"amount": 1, "\u0430mount": 9_000}
    stored = await surface.stored(await propose(surface, arguments={**twins, "orders": [{"first": twins}]}))
    (plain, _), (marked, _), (holder, _) = list_arguments(stored)
    assert plain == "amount" and "U+0430" in marked and "orders" in holder and "U+0430" in holder


async def test_an_agent_waits_for_the_decision_and_is_told_what_follows(surface: Gate) -> None:
    action_id = await propose(surface)

    async def decide() -> None:
        await asyncio.sleep(0)
        await surface.approve_as(Assurance.PERSON, action_id)

    _, shown = await asyncio.gather(decide(), surface.done(GET, actionId=action_id, waitSeconds=20))
    assert shown["status"] == "approved"
    assert shown["userMessage"] == "The agent that asked may run it now, once."
    assert EXECUTE not in [each["name"] for each in calls_of(shown)]


@pytest.mark.own_database
@pytest.mark.parametrize("everywhere", [True, False])
async def test_no_call_is_handed_out_while_sending_is_frozen(surface: Gate, everywhere: bool) -> None:
    where = SYSTEM_WORKSPACE if everywhere else surface.workspace_id
    action_id, now_ms = await approve(surface), surface.clock.now_ms()
    await surface.app.store.write(lambda: freezes.freeze(where, now_ms, by="test", why="a leak"))
    assert (await surface.denied(CLAIM, actionId=action_id))["reason"] == "frozen"
    shown = await surface.done(GET, actionId=action_id)
    assert "a leak" in shown["userMessage"] and find_promises(shown["userMessage"] + text_of(shown)) == []
    assert CLAIM not in [each["name"] for each in calls_of(shown)]
    await surface.app.store.write(lambda: freezes.unfreeze(where, now_ms, by="test"))
    assert (await surface.done(CLAIM, actionId=action_id))["arguments"] == ASKED["arguments"]


async def test_the_tools_are_in_a_tool_set_of_their_own(surface: Gate) -> None:
    listed = (await surface.rpc("tools/list"))["result"]["tools"]
    assert not {PROPOSE, CLAIM, REPORT} & {each["name"] for each in listed}
    found = surface.surfaces.edge.catalog.listing(frozenset({"calls"}))
    assert [each["name"] for each in found] == [PROPOSE, CLAIM, REPORT]
    assert len(msgspec.json.encode(found)) < 6_000
