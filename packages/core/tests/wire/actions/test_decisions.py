"""Approve, reject, edit, withdraw: who may move what where, and what a decision leaves behind."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.actions.kit import (
    APPROVE,
    BODY,
    EDIT,
    EXECUTE,
    GET,
    OTHER,
    PENDING,
    REJECT,
    STATES,
    WITHDRAW,
    Gate,
)
from tests.support.answers import bodies_of, calls_of
from tests.support.catalog import ALL_TOOLS

from assent.kernel.times import iso_time
from assent.tools.catalog import input_schema

OPEN = {"awaiting_approval", "approved", "retryable"}
LEADS_TO: dict[str, dict[str, str]] = {
    APPROVE: {"awaiting_approval": "approved", "approved": "approved", "retryable": "retryable"},
    REJECT: dict.fromkeys(OPEN, "rejected"),
    EDIT: dict.fromkeys(OPEN, "awaiting_approval"),
    WITHDRAW: {"approved": "awaiting_approval", "retryable": "awaiting_approval"},
}
"""Where each decision leads from the states in which it is possible."""

MORE: dict[str, dict[str, Any]] = {APPROVE: {}, REJECT: {"reason": "no"}, EDIT: {"body": OTHER}, WITHDRAW: {}}

REFUSED = {
    "executing": "execution_in_progress",
    "outcome_unknown": "outcome_unknown",
    "rejected": "action_closed",
    "executed": "action_closed",
    "failed": "action_closed",
    "awaiting_approval": "requires_approval",
}


@pytest.mark.rule("E10", "E22", "E66", "E67", "E68", "E23")
@pytest.mark.parametrize("state", STATES)
async def test_from_every_state_a_decision_leads_where_the_contract_says_or_changes_nothing(
    surface: Gate, state: str
) -> None:
    for tool, leads_to in LEADS_TO.items():
        action_id = await surface.bring_to(state)
        before = await surface.stored(action_id)
        answer = await surface.ask(tool, actionId=action_id, **MORE[tool])
        if state in leads_to:
            assert not answer.is_error, (tool, answer.payload)
            assert await surface.where(action_id) == leads_to[state], tool
        else:
            assert answer.reason == REFUSED[state], tool
            assert await surface.stored(action_id) == before


@pytest.mark.rule("E20", "E23")
async def test_a_rejection_keeps_its_reason(surface: Gate) -> None:
    action_id = await surface.staged()
    reason = "„Zu laut“ – not our voice 🙃\nand it names a customer"
    assert (await surface.denied(REJECT, actionId=action_id))["reason"] == "validation_error"
    assert (await surface.denied(REJECT, actionId=action_id, reason=""))["reason"] == "validation_error"
    answer = await surface.done(REJECT, actionId=action_id, reason=reason)
    assert (answer["status"], answer["assurance"]) == ("rejected", None)
    assert [(call["name"], set(call["needs"])) for call in calls_of(answer)] == [("chieflab_post", {"body"})]
    assert (await surface.record(action_id))["rejectionReason"] == reason


@pytest.mark.rule("E66", "E22")
async def test_an_edit_needs_a_fresh_approval_even_when_it_leads_back_to_the_approved_text(
    surface: Gate,
) -> None:
    action_id = await surface.approved()
    first = await surface.record(action_id)
    edited = await surface.done(EDIT, actionId=action_id, body=OTHER)
    assert (edited["status"], edited["revision"], edited["approvedBy"], edited["approvedAt"]) == (
        "awaiting_approval",
        2,
        None,
        None,
    )
    assert edited["digest"] not in first["digest"]
    back = await surface.done(EDIT, actionId=action_id, body=BODY)
    assert (back["status"], back["revision"]) == ("awaiting_approval", 3)
    assert back["digest"] in first["digest"]
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "requires_approval"
    assert surface.calls == 0
    await surface.done(APPROVE, actionId=action_id)
    await surface.done(EXECUTE, actionId=action_id)
    assert [(sent.revision, sent.body) for sent in surface.ledger] == [(3, BODY)]


async def test_an_edit_that_changes_nothing_is_refused_and_keeps_the_approval(surface: Gate) -> None:
    action_id = await surface.approved()
    for change in ({}, {"body": BODY}, {"body": None}):
        assert (await surface.denied(EDIT, actionId=action_id, **change))["reason"] == "validation_error"
    assert await surface.where(action_id) == "approved"


@pytest.mark.rule("E66")
async def test_an_edit_to_something_that_is_no_text_is_refused_and_changes_nothing(surface: Gate) -> None:
    action_id = await surface.approved()
    before = await surface.stored(action_id)
    for body in (
        "",
        "   ",
        "{{body}}",
        "You are an expert copywriter. Write a post about the importer.",
        "x" * 100_001,
    ):
        assert (await surface.denied(EDIT, actionId=action_id, body=body))["reason"] == "validation_error"
    assert (await surface.denied(EDIT, actionId=action_id, to=["nobody"]))["reason"] == "validation_error"
    assert (await surface.denied(EDIT, actionId=action_id, scheduleFor="tomorrow"))[
        "reason"
    ] == "validation_error"
    assert await surface.stored(action_id) == before


@pytest.mark.rule("E62", "E69")
async def test_an_approval_in_the_chat_is_stored_as_the_agents_word_and_never_shown_as_a_humans(
    surface: Gate,
) -> None:
    action_id = await surface.staged()
    answer = await surface.done(APPROVE, actionId=action_id)
    key_id = (await surface.stored(action_id)).approval
    assert key_id is not None
    assert (answer["status"], answer["assurance"]) == ("approved", "agent")
    assert answer["approvedBy"] == key_id.by
    assert key_id.by.startswith("key:")
    record = await surface.record(action_id)
    assert (record["assurance"], record["contentNotAttested"]) == ("agent", True)
    assert record["approvedAt"] == iso_time(surface.clock.now_ms())


@pytest.mark.rule("E69", "E62")
async def test_no_other_tool_makes_an_action_approved(surface: Gate) -> None:
    action_id = await surface.staged()
    good = {
        "actionId": action_id,
        "reason": "no",
        "body": OTHER,
        "evidence": "I looked",
        "outcome": "happened",
        "url": "https://example.org/live",
    }
    for tool in ALL_TOOLS:
        schema = input_schema(tool.request)
        if tool.name in (APPROVE, REJECT) or "actionId" not in schema["properties"]:
            continue
        arguments = {name: good[name] for name in good if name in schema["properties"]}
        await surface.ask(tool.name, **arguments)
        assert await surface.where(action_id) != "approved", tool.name
    assert surface.calls == 0


async def test_what_waits_for_a_human_is_listed_until_it_is_decided_or_expired(surface: Gate) -> None:
    waiting, decided, unknown = (
        await surface.staged(),
        await surface.approved(),
        await surface.bring_to("outcome_unknown"),
    )
    await surface.bring_to("rejected")
    shown = await surface.done(PENDING)
    assert [action["id"] for action in shown["actions"]] == sorted([waiting, unknown])
    assert decided not in str(shown)
    assert shown["reviewUrl"].endswith("/inbox")
    for action in shown["actions"]:
        run_id = (await surface.record(action["id"]))["runId"]
        by_run = await surface.done(PENDING, runId=run_id)
        assert [entry["id"] for entry in by_run["actions"]] == [action["id"]]
        assert f"/runs/{run_id}?token=" in by_run["reviewUrl"]
    surface.clock.advance(days=31)
    assert [action["id"] for action in (await surface.done(PENDING))["actions"]] == [unknown]


async def test_the_list_of_what_waits_is_paged_without_loss_or_repetition(surface: Gate) -> None:
    run = await surface.run(*[{"channel": f"channel{n}"} for n in range(5)])
    await surface.run(*[{} for _ in range(4)])
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(9):
        page = await surface.done(PENDING, limit=2, **cursor)
        seen += [action["id"] for action in page["actions"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == len(set(seen)) == 9
    assert {action["id"] for action in run["actions"]} <= set(seen)
    for bad in (0, 101, "two"):
        assert (await surface.denied(PENDING, limit=bad))["reason"] == "validation_error"


async def test_get_action_shows_what_would_be_sent(surface: Gate) -> None:
    action_id = await surface.staged(title="Nine seconds", target={"account": "company"})
    content = (await surface.done(GET, actionId=action_id))["content"]
    assert content == {
        "channel": "linkedin",
        "verb": "post",
        "connector": "native",
        "body": BODY,
        "title": "Nine seconds",
        "target": {"account": "company"},
    }


MANUAL = "chieflab_use_manual_fallback"


def approvals(value: Any) -> list[dict[str, Any]]:
    """The arguments of every approval that an answer suggests."""
    found: list[dict[str, Any]] = []
    rows = [value]
    while rows:
        each = rows.pop()
        if isinstance(each, dict):
            if APPROVE in (each.get("name"), each.get("tool")):
                found.append(each["args"])
            rows += each.values()
        elif isinstance(each, list):
            rows += each
    return found


@pytest.mark.rule("E66")
async def test_one_edit_between_show_and_approve_is_refused_with_the_new_content(surface: Gate) -> None:
    run = await surface.run()
    action_id = run["actions"][0]["id"]
    edited = await surface.done(EDIT, actionId=action_id, body=OTHER)
    answer = await surface.denied(APPROVE, actionId=action_id)
    assert (answer["reason"], answer["retryable"], answer["recoveryTool"]) == ("stale_revision", False, None)
    assert f"> {OTHER}" in bodies_of(answer)["linkedin"]
    offered = approvals(answer)
    assert {(args["actionId"], args["digest"]) for args in offered} == {(action_id, edited["digest"])}
    assert await surface.where(action_id) == "awaiting_approval"
    await surface.done(APPROVE, **next(args for args in offered if "send" not in args))
    assert await surface.where(action_id) == "approved"


async def test_every_suggested_approval_names_the_content_it_is_about(surface: Gate) -> None:
    run = await surface.run({}, {"channel": "x", "body": OTHER})
    first, second = (action["id"] for action in run["actions"])
    answers = [
        run,
        await surface.done(PENDING),
        await surface.done(PENDING, runId=run["runId"]),
        await surface.done(EDIT, actionId=first, body=OTHER),
        await surface.done(MANUAL, actionId=second),
    ]
    await surface.approve_as_shown(first)
    answers.append(await surface.done(WITHDRAW, actionId=first))
    for number, answer in enumerate(answers):
        found = approvals(answer)
        assert found, number
        complete = [args for args in found if args]  # a call for several actions needs their ids
        assert all(len(args["digest"]) == 16 for args in complete), number
        assert {args["actionId"] for args in complete} <= {first, second}


UNSEEN = "\u202e\u200b\u2066\ufeff\u00ad\U000e0041"


async def test_an_edited_headline_or_address_holds_nothing_that_cannot_be_seen(surface: Gate) -> None:
    action_id = await surface.staged(
        channel="email", verb="email", connector="native", subject="Hello", recipients=["ann@example.org"]
    )
    await surface.done(
        EDIT,
        actionId=action_id,
        subject=f"Price {UNSEEN}0001 euro",
        title=f"A {UNSEEN}title",
    )
    effect = (await surface.stored(action_id)).effect
    assert (effect.subject, effect.title) == ("Price 0001 euro", "A title")
    hidden = await surface.denied(EDIT, actionId=action_id, to=["bob\u200b@example.org"])
    assert hidden["reason"] == "validation_error"


@pytest.mark.rule("E20", "E69")
async def test_several_actions_are_approved_in_one_call_and_each_is_judged_alone(surface: Gate) -> None:
    run = await surface.run({}, {"channel": "x", "body": OTHER}, {"channel": "threads", "severity": "high"})
    first, second, high = run["actions"]
    await surface.done(EDIT, actionId=second["id"], body=BODY)
    wanted = [{"actionId": each["id"], "digest": each["digest"]} for each in (first, second, high)]

    answer = await surface.done(APPROVE, actions=wanted, send=True, idempotencyKey="yes to all")
    again = await surface.done(APPROVE, actions=wanted, send=True, idempotencyKey="yes to all")

    told = [(each["name"], each["status"], each.get("reason")) for each in answer["results"]]
    assert told == [
        ("linkedin", "executed", None),
        ("x", "awaiting_approval", "stale_revision"),
        ("threads", "awaiting_approval", "requires_approval"),
    ]
    assert answer["reviewUrl"].endswith("/inbox") and "threads" in answer["userMessage"].splitlines()[-1]
    assert [each.get("sent") for each in answer["results"]] == [True, None, None]
    assert [each["status"] for each in again["results"]] == [each["status"] for each in answer["results"]]
    assert len(surface.ledger) == 1


@pytest.mark.rule("E7")
async def test_the_key_of_one_list_approves_no_other(surface: Gate) -> None:
    run = await surface.run({}, {"channel": "x", "body": OTHER}, {"channel": "threads"})
    one, two, three = ({"actionId": each["id"], "digest": each["digest"]} for each in run["actions"])
    await surface.done(APPROVE, actions=[one, two], idempotencyKey="this list")
    for other in ({"actions": [one, three]}, {"actions": [one, two], "send": True}, three):
        refused = await surface.denied(APPROVE, **other, idempotencyKey="this list")
        assert refused["reason"] == "idempotency_conflict"
    assert (await surface.where(three["actionId"]), surface.ledger) == ("awaiting_approval", [])


async def test_an_approval_names_one_action_or_several(surface: Gate) -> None:
    run = await surface.run()
    about = {"actionId": run["actions"][0]["id"], "digest": run["actions"][0]["digest"]}

    bad_ones: list[dict[str, Any]] = [
        {},
        {"actions": []},
        {**about, "actions": [about]},
        {"actions": [about] * 51},
    ]
    for bad in bad_ones:
        assert (await surface.ask(APPROVE, **bad)).is_error, bad
    assert await surface.where(about["actionId"]) == "awaiting_approval"
