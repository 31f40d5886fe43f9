"""The client asks the person, where the policy asks for `client` (C8). It is the official SDK's, in both eras."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.support.actions.dialog_clients import LEGACY, MODERN, YES, Person, agent, saying
from tests.support.actions.kit import APPROVE, BODY, EXECUTE, GET, OTHER, WITHDRAW, Gate
from tests.support.keys import make_key, rotate_key

from assent.gate.policy import PRESETS, Policy, Requirement
from assent.gate.records import Assurance
from assent.kernel.canonical import short_digest
from assent.kernel.limits import MAX_DIALOG_CHARS, MAX_OPEN_DIALOGS
from assent.serving.edge import Credentials
from assent.serving.stdio import StdioSession

CLIENT = Requirement(Assurance.CLIENT)
CONFIRMED = Policy(low=CLIENT, medium=CLIENT, high=Requirement(Assurance.PERSON))

both_eras = pytest.mark.parametrize("mode", [LEGACY, MODERN])
not_confirmed = pytest.mark.parametrize(
    ("action", "content"),
    [
        ("decline", None),
        ("cancel", None),
        ("accept", {"decision": "do not approve"}),
        ("accept", {"decision": "yes"}),
        ("accept", {}),
        ("accept", None),
    ],
    ids=str,
)


def has_dialog(surface: Gate, mode: str) -> bool:
    """Legacy HTTP has no way back to the client."""
    return mode == MODERN or surface.transport == "stdio"


async def silent_key(surface: Gate) -> str:
    """A key whose client is asked nothing."""
    return await make_key(surface.app, surface.workspace_id, label="quiet", client_dialog=False)


async def requires_link(surface: Gate, told: Any, action_id: str) -> None:
    """The answer that leaves everything as it was, with the link."""
    assert (told.reason, told.payload["status"]) == ("requires_approval", "awaiting_approval")
    assert "/runs/" in told.payload["reviewUrl"]
    record = await surface.record(action_id)
    assert (record["status"], record["assurance"], record["rejectionReason"]) == (
        "awaiting_approval",
        None,
        None,
    )
    assert surface.calls == 0


@both_eras
async def test_a_yes_in_the_dialog_is_an_approval_by_the_client(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    run = await surface.run({"title": "The importer"})
    [action] = run["actions"]
    person = saying("accept", YES)
    async with agent(surface, mode, person) as asking:
        told = await asking.approve(action["id"])

    if not has_dialog(surface, mode):
        assert person.seen == []
        await requires_link(surface, told, action["id"])
        return
    record = await surface.record(action["id"])
    assert (told.payload["status"], record["assurance"], record["contentNotAttested"]) == (
        "approved",
        "client",
        False,
    )
    assert record["approvedBy"].startswith("the user of the client with key ")
    [message] = person.seen
    assert BODY in message
    assert "The importer" in message
    assert short_digest(record["digest"]) in message
    [approved] = [each for each in await surface.events(run["runId"]) if each["kind"] == "action_approve"]
    facts = approved["facts"]
    assert (facts["assurance"], facts["via"], facts["digest"]) == (
        "client",
        "client dialog",
        record["digest"],
    )
    await surface.done(EXECUTE, actionId=action["id"])
    assert len(surface.ledger) == 1


@both_eras
@not_confirmed
async def test_without_a_yes_nothing_changes_and_nothing_is_rejected(
    surface: Gate, mode: str, action: str, content: Any
) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    async with agent(surface, mode, saying(action, content)) as asking:
        told = await asking.approve(action_id, send=True)
        await requires_link(surface, told, action_id)
        assert "rejected" not in told.payload["summaryForUser"]
    await surface.approve_as(Assurance.PERSON, action_id)


@both_eras
async def test_a_client_that_accepts_everything_never_gets_past_client(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    robot = saying("accept", YES)
    high = await surface.staged(severity="high")
    async with agent(surface, mode, robot) as asking:
        await requires_link(surface, await asking.approve(high, send=True), high)
        await surface.set_policy(PRESETS["people"])
        low = await surface.staged(connector="site", channel="site", verb="publish")
        await requires_link(surface, await asking.approve(low, send=True), low)
        assert (await asking.call(EXECUTE, actionId=low)).reason == "requires_approval"
    assert (robot.seen, surface.calls) == ([], 0)


@both_eras
async def test_a_policy_that_asks_for_less_shows_no_dialog(surface: Gate, mode: str) -> None:
    action_id, person = await surface.staged(), saying("accept", YES)
    async with agent(surface, mode, person) as asking:
        told = await asking.approve(action_id)
    assert (told.payload["assurance"], person.seen) == ("agent", [])


@both_eras
async def test_with_send_the_dialog_says_so_and_a_yes_sends_once(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    action_id, person = await surface.staged(), saying("accept", YES)
    async with agent(surface, mode, person) as asking:
        told = await asking.approve(action_id, send=True, idempotencyKey="yes-1")
        if has_dialog(surface, mode):
            again = await asking.approve(action_id, send=True, idempotencyKey="yes-1")
            assert (told.payload["sent"], again.payload["sent"], "replay" in again.payload) == (
                True,
                True,
                True,
            )
            assert ["executed at once" in message for message in person.seen] == [True]
    assert len(surface.ledger) == has_dialog(surface, mode)


@both_eras
async def test_an_approved_action_is_not_asked_about_again(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    action_id, person = await surface.staged(), saying("accept", YES)
    await surface.approve_as(Assurance.PERSON, action_id)
    async with agent(surface, mode, person) as asking:
        told = await asking.approve(action_id)
    assert (told.payload["status"], told.payload["assurance"], person.seen) == ("approved", "person", [])


@both_eras
@pytest.mark.parametrize(
    ("effect", "why"),
    [
        ({"body": "A word, " * (MAX_DIALOG_CHARS // 8)}, "too long"),
        (
            {"media": [{"url": "https://pictures.example/1.png", "alt": "A cat", "kind": "image"}]},
            "picture",
        ),
        (
            {"verb": "email", "channel": "email", "recipients": [f"a{n}@example.org" for n in range(51)]},
            "51 recipients",
        ),
    ],
    ids=["text", "picture", "recipients"],
)
async def test_what_a_dialog_cannot_show_whole_is_not_approved_there(
    surface: Gate, mode: str, effect: dict[str, Any], why: str
) -> None:
    await surface.set_policy(Policy(low=CLIENT, medium=CLIENT, high=CLIENT))
    action_id, person = await surface.staged(**effect), saying("accept", YES)
    async with agent(surface, mode, person) as asking:
        told = await asking.approve(action_id)
    assert person.seen == []
    await requires_link(surface, told, action_id)
    assert not has_dialog(surface, mode) or why in told.payload["userMessage"]


@both_eras
async def test_no_line_of_the_content_passes_for_the_question(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    forged = "Dark mode\n\nIf you approve, nothing is sent yet.\u202e"
    action_id, person = await surface.staged(body=forged), saying("cancel")
    async with agent(surface, mode, person) as asking:
        await asking.approve(action_id, send=True)
    for message in person.seen:
        assert [line for line in message.splitlines() if line.startswith("If you approve")] == []
        assert "executed at once" in message.splitlines()[0]
        assert "\u202e" not in message
    assert len(person.seen) == has_dialog(surface, mode)


@both_eras
async def test_a_key_can_switch_the_dialog_off_also_after_its_rotation(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    action_id, person, key = await surface.staged(), saying("accept", YES), await silent_key(surface)
    async with agent(surface, mode, person, key) as asking:
        await requires_link(surface, await asking.approve(action_id), action_id)
    rotated = await rotate_key(surface.app, key)
    assert rotated is not None
    async with agent(surface, mode, person, rotated) as asking:
        await requires_link(surface, await asking.approve(action_id), action_id)
    assert person.seen == []


@both_eras
@pytest.mark.parametrize("changed_settings", [{"client_dialog_seconds": 0}], indirect=True, ids=[""])
async def test_a_setting_switches_all_dialogs_off(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    action_id, person = await surface.staged(), saying("accept", YES)
    async with agent(surface, mode, person) as asking:
        await requires_link(surface, await asking.approve(action_id), action_id)
    assert person.seen == []


@both_eras
async def test_an_answer_to_content_that_changed_meanwhile_approves_nothing(surface: Gate, mode: str) -> None:
    await surface.set_policy(CONFIRMED)
    action_id, person = await surface.staged(), saying("accept", YES)
    person.meanwhile = lambda: surface.done("chieflab_edit_action", actionId=action_id, body=OTHER)
    async with agent(surface, mode, person) as asking:
        told = await asking.approve(action_id)
    assert told.reason == ("stale_revision" if has_dialog(surface, mode) else "requires_approval")
    assert await surface.where(action_id) == "awaiting_approval"


# ── the state that a client keeps between two calls ──────────────────────────────────────────────


async def test_a_state_approves_once_and_not_after_a_withdrawal(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    async with agent(surface, MODERN, saying("cancel")) as asking:
        state = await asking.open_dialog(action_id)
        first = await asking.answer(state, action_id)
        assert first.payload["status"] == "approved"
        again = await asking.answer(state, action_id)
        assert again.payload.pop("replay")["now"]
        assert again.payload == first.payload
        await surface.done(WITHDRAW, actionId=action_id)
        await asking.answer(state, action_id)
        assert await surface.where(action_id) == "awaiting_approval"
        sent = await asking.answer(state, action_id, send=True)
        assert sent.reason == "validation_error"
    assert (await surface.where(action_id), surface.calls) == ("awaiting_approval", 0)


async def test_an_answered_question_takes_no_other_answer(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    async with agent(surface, MODERN, saying("cancel")) as asking:
        state = await asking.open_dialog(action_id)
        await requires_link(surface, await asking.answer(state, action_id, "decline"), action_id)
        await requires_link(surface, await asking.answer(state, action_id, "decline"), action_id)
        assert (await asking.answer(state, action_id)).reason == "validation_error"
    assert await surface.where(action_id) == "awaiting_approval"


async def test_a_state_is_valid_for_its_caller_its_action_and_its_arguments_only(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id, other = await surface.staged(), await surface.staged(body=OTHER)
    other_key = await surface.key_with("actions:decide", "actions:execute")
    person = saying("cancel")
    async with (
        agent(surface, MODERN, person) as asking,
        agent(surface, MODERN, person, other_key) as stranger,
    ):
        state = await asking.open_dialog(action_id)
        payload, _, mac = state.partition(".")
        refused = [
            await asking.answer(state, other),
            await asking.answer(state, action_id, send=True),
            await stranger.answer(state, action_id),
            await asking.answer(payload, action_id),
            await asking.answer(f"{payload}.{mac[::-1]}", action_id),
            await asking.answer("", action_id),
        ]
        assert [told.reason for told in refused] == ["validation_error"] * len(refused)
        for each in (action_id, other):
            assert await surface.where(each) == "awaiting_approval"
        assert (await asking.answer(state, action_id)).payload["assurance"] == "client"


async def test_an_answer_that_comes_too_late_is_none(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    async with agent(surface, MODERN, saying("cancel")) as asking:
        state = await asking.open_dialog(action_id)
        surface.clock.advance(seconds=surface.app.owner_services.limits.client_dialog_seconds)
        await requires_link(surface, await asking.answer(state, action_id), action_id)


async def test_a_no_is_kept_when_the_policy_is_loosened_meanwhile(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    async with agent(surface, MODERN, saying("cancel")) as asking:
        state = await asking.open_dialog(action_id)
        await surface.set_policy(PRESETS["relay"])
        await requires_link(surface, await asking.answer(state, action_id, "decline"), action_id)


# ── a legacy client on stdio, which answers while the call waits ─────────────────────────────────

on_stdio = pytest.mark.parametrize("transport", ["stdio"])


def be_impatient(surface: Gate, seconds: float) -> None:
    services = surface.app.owner_services
    limits = dataclasses.replace(services.limits, client_dialog_seconds=seconds)
    surface.app.owner_services = dataclasses.replace(services, limits=limits)


@on_stdio
async def test_a_dialog_that_nobody_answers_ends_and_others_are_served_meanwhile(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    be_impatient(surface, 0.1)
    action_id, person = await surface.staged(), Person(None)
    async with agent(surface, LEGACY, person) as asking:

        async def look() -> None:
            assert (await asking.call(GET, actionId=action_id)).payload["status"] == "awaiting_approval"

        person.meanwhile = look
        await requires_link(surface, await asking.approve(action_id), action_id)
        assert len(person.seen) == 1
    assert person.closed


@on_stdio
async def test_only_so_many_dialogs_wait_at_once(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    be_impatient(surface, 0.5)
    waiting, person = [await surface.staged() for _ in range(MAX_OPEN_DIALOGS + 1)], Person(None)
    async with agent(surface, LEGACY, person) as asking:
        told = await asyncio.gather(*map(asking.approve, waiting))
    assert {each.reason for each in told} == {"requires_approval"}
    assert sum("Other dialogs" in each.payload["userMessage"] for each in told) == 1
    assert len(person.seen) == MAX_OPEN_DIALOGS


async def converse(
    surface: Gate, action_id: str, then: list[dict[str, Any]], *, capabilities: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """A raw client that sends further messages once the dialog is open, and then closes; all it got."""
    written: list[dict[str, Any]] = []
    asked = asyncio.Event()

    def write(line: bytes) -> None:
        written.append(msgspec.json.decode(line))
        if written[-1].get("method") == "elicitation/create" or written[-1].get("id") == 2:
            asked.set()

    def message(**fields: Any) -> bytes:
        return msgspec.json.encode({"jsonrpc": "2.0", **fields})

    async def lines() -> AsyncIterator[bytes]:
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"elicitation": {}} if capabilities is None else capabilities,
            "clientInfo": {"name": "raw", "version": "1"},
        }
        yield message(id=1, method="initialize", params=params)
        call = {"name": APPROVE, "arguments": {"actionId": action_id}}
        yield message(id=2, method="tools/call", params=call)
        await asyncio.wait_for(asked.wait(), 10)
        for each in then:
            yield message(**each)

    session = StdioSession(surface.surfaces.messages, Credentials(api_key=surface.key), write)
    await asyncio.wait_for(session.run(lines()), 20)
    return written


@on_stdio
async def test_a_cancelled_call_closes_its_dialog(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    written = await converse(surface, action_id, [cancel, {"id": 3, "method": "ping"}])
    [question] = [each for each in written if each.get("method") == "elicitation/create"]
    [closed] = [each for each in written if each.get("method") == "notifications/cancelled"]
    assert closed["params"]["requestId"] == question["id"]
    assert not [each for each in written if each.get("id") == 2]
    assert await surface.where(action_id) == "awaiting_approval"


@on_stdio
async def test_a_client_that_goes_away_ends_its_dialog(surface: Gate) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    written = await converse(surface, action_id, [])
    [answer] = [each for each in written if each.get("id") == 2]
    assert answer["result"]["structuredContent"]["reason"] == "requires_approval"
    assert await surface.where(action_id) == "awaiting_approval"


@on_stdio
@pytest.mark.parametrize(
    "response",
    [
        {"error": {"code": -32601, "message": "Method not found"}},
        {"result": None},
        {"result": {"action": "approve", "content": YES}},
        {"result": ["accept"]},
    ],
    ids=str,
)
async def test_a_malformed_response_approves_nothing(surface: Gate, response: dict[str, Any]) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    written = await converse(surface, action_id, [{"id": "assent-1", **response}])
    [answer] = [each for each in written if each.get("id") == 2]
    assert answer["result"]["structuredContent"]["reason"] == "requires_approval"
    assert await surface.where(action_id) == "awaiting_approval"


@on_stdio
@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": True}], ids=str)
async def test_only_a_declared_form_is_used(surface: Gate, capabilities: dict[str, Any]) -> None:
    await surface.set_policy(CONFIRMED)
    action_id = await surface.staged()
    written = await converse(surface, action_id, [], capabilities=capabilities)
    assert not [each for each in written if each.get("method") == "elicitation/create"]
