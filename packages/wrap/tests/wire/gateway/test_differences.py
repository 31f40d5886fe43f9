"""The present text beside a call that would replace it: of the file that the call names now, with the time at which it
was read, and read again before a yes counts and before the call is made."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.support.answers import calls_of, text_of
from tests.support.wrap.kit import FrontClient, Wrapped, said

from assent.engine.core import freezes
from assent.gate.records import Assurance
from assent.gate.views import Diff
from assent.kernel.times import full_time
from assent_wrap import upstreams

APPROVE, EDIT, EXECUTE = "chieflab_approve_action", "chieflab_edit_action", "chieflab_execute_approved_action"
REJECT = "chieflab_reject_action"
RULES = """
[notes]
trusted = {trusted}
[notes.tools.store]
risk = "low"
diff = {{tool = "look", arguments = {{path = "path"}}, after = "content"}}
"""
LOOK = '[notes.tools.look]\nmode = "{mode}"\n'
NOTES = {"a": "The old text of a.", "b": "The old text of b."}


@pytest.fixture
async def writer(wrapped: Wrapped) -> AsyncIterator[FrontClient]:
    wrapped.want(notes=NOTES)
    made = await wrapped.open(rules=RULES.format(trusted="true"))
    try:
        yield made
    finally:
        await made.close()


async def ask(wrapped: Wrapped, writer: FrontClient) -> str:
    writer.start_call("store", path="a", content="A new text.")
    (waiting,) = await wrapped.until_waiting()
    action_id: str = waiting["id"]
    return action_id


async def find_difference(wrapped: Wrapped, action_id: str) -> Diff | None:
    blocks = (await wrapped.stored(action_id)).view.blocks
    return next((each for each in blocks if isinstance(each, Diff)), None)


async def show(wrapped: Wrapped, action_id: str) -> tuple[str, str, str]:
    found = await find_difference(wrapped, action_id)
    assert found is not None
    return found.label, found.before, found.after


def label(ms: int) -> str:
    return f"content (present text as of {full_time(ms)})"


async def freeze(wrapped: Wrapped) -> None:
    now_ms, place = wrapped.clock.now_ms(), wrapped.workspace_id
    assert await wrapped.app.store.write(lambda: freezes.freeze(place, now_ms, by="test", why="a leak"))


async def test_an_edit_shows_the_difference_to_the_file_that_the_call_names_now(
    wrapped: Wrapped, writer: FrontClient
) -> None:
    asked_ms, action_id = wrapped.clock.now_ms(), await ask(wrapped, writer)
    assert await show(wrapped, action_id) == (label(asked_ms), NOTES["a"], "A new text.")
    wrapped.clock.advance(hours=3)
    edited = await wrapped.done(EDIT, actionId=action_id, arguments={"path": "b"})
    later_ms = wrapped.clock.now_ms()
    assert await show(wrapped, action_id) == (label(later_ms), NOTES["b"], "A new text.")
    assert NOTES["b"] in text_of(edited) and NOTES["a"] not in text_of(edited)
    assert [each["path"] for each in wrapped.calls_of("look")] == ["a", "b"]


async def test_a_text_that_changed_is_shown_before_a_yes_in_the_chat_counts(
    wrapped: Wrapped, writer: FrontClient
) -> None:
    action_id = await ask(wrapped, writer)
    shown = await wrapped.record(action_id)
    wrapped.clock.advance(hours=24 * 20)
    wrapped.want(notes={"a": "Someone else's text."})

    refused = await wrapped.denied(APPROVE, actionId=action_id, digest=shown["digest"])

    assert (refused["reason"], refused["retryable"]) == ("stale_revision", False)
    changed = {each["path"]: (each["expected"], each["got"]) for each in refused["problems"]}
    assert changed["target.before"] == (NOTES["a"], "Someone else's text.")
    assert "Someone else's text." in text_of(refused)
    assert not any(text in refused["userMessage"] for text in (NOTES["a"], "Someone else's text."))
    record = await wrapped.record(action_id)
    assert (record["status"], record["revision"]) == ("awaiting_approval", shown["revision"] + 1)
    assert (await show(wrapped, action_id))[:2] == (label(wrapped.clock.now_ms()), "Someone else's text.")
    again = await wrapped.denied(APPROVE, actionId=action_id, digest=shown["digest"])
    assert again["reason"] == "stale_revision"
    await wrapped.run_jobs()
    assert wrapped.calls_of("store") == []

    await wrapped.approve_as_shown(action_id)
    await wrapped.run_jobs()
    assert await wrapped.where(action_id) == "executed"
    assert len(wrapped.calls_of("store")) == 1


async def test_a_text_that_changed_after_the_approval_is_not_replaced(
    wrapped: Wrapped, writer: FrontClient
) -> None:
    action_id = await ask(wrapped, writer)
    await wrapped.approve_as(Assurance.PERSON, action_id)
    wrapped.want(notes={"a": "Someone else's text."})
    refused = await wrapped.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "stale_revision"
    await wrapped.run_jobs()
    assert wrapped.calls_of("store") == []
    assert await wrapped.where(action_id) == "awaiting_approval"
    assert (await show(wrapped, action_id))[1] == "Someone else's text."
    await wrapped.approve_as_shown(action_id)
    await wrapped.run_jobs()
    assert len(wrapped.calls_of("store")) == 1


async def test_a_text_that_cannot_be_read_is_neither_approved_nor_replaced_and_an_approval_holds(
    wrapped: Wrapped, writer: FrontClient
) -> None:
    action_id = await ask(wrapped, writer)
    before = await wrapped.record(action_id)
    wrapped.want(notes=NOTES, on_call={"look": "die"})
    assert (await wrapped.denied(APPROVE, actionId=action_id))["reason"] == "connector_failed"
    assert (await wrapped.record(action_id))["digest"] == before["digest"]
    assert await wrapped.where(action_id) == "awaiting_approval"

    await wrapped.approve_as(Assurance.PERSON, action_id)
    refused = await wrapped.denied(EXECUTE, actionId=action_id)
    assert (refused["reason"], refused["retryable"]) == ("connector_failed", True)
    assert await wrapped.where(action_id) == "approved"
    assert wrapped.calls_of("store") == []


async def test_a_call_whose_present_text_cannot_be_read_is_not_asked_about(
    wrapped: Wrapped, writer: FrontClient
) -> None:
    wrapped.want(notes=NOTES, on_call={"look": "die"})
    answer = await writer.call("store", path="a", content="A new text.")
    assert json.loads(said(answer).splitlines()[-1])["reason"] == "connector_failed"
    assert await wrapped.waiting() == []


@pytest.mark.parametrize(("trusted", "reads"), [("true", 2), ("false", 1)])
async def test_during_a_freeze_only_a_trusted_reader_is_asked_and_what_was_shown_stays(
    wrapped: Wrapped, trusted: str, reads: int
) -> None:
    wrapped.want(notes=NOTES)
    writer = await wrapped.open(rules=RULES.format(trusted=trusted) + LOOK.format(mode="pass"))
    action_id = await ask(wrapped, writer)
    await freeze(wrapped)
    await wrapped.done(APPROVE, actionId=action_id)
    assert len(wrapped.calls_of("look")) == reads
    assert (await show(wrapped, action_id))[1] == NOTES["a"]
    await writer.close()


async def test_an_edit_during_a_freeze_drops_a_difference_that_cannot_be_read(wrapped: Wrapped) -> None:
    wrapped.want(notes=NOTES)
    writer = await wrapped.open(rules=RULES.format(trusted="false") + LOOK.format(mode="pass"))
    action_id = await ask(wrapped, writer)
    await freeze(wrapped)
    await wrapped.done(EDIT, actionId=action_id, arguments={"path": "b"})
    assert await find_difference(wrapped, action_id) is None
    await writer.close()


@pytest.mark.parametrize(
    "rules",
    [
        RULES.format(trusted="false"),
        RULES.format(trusted="true") + LOOK.format(mode="gate"),
        RULES.format(trusted="true") + LOOK.format(mode="hide"),
    ],
    ids=["not trusted", "gated", "hidden"],
)
async def test_a_reader_that_an_agent_cannot_call_without_asking_is_not_called_for_a_difference(
    wrapped: Wrapped, rules: str
) -> None:
    wrapped.want(notes=NOTES)
    writer = await wrapped.open(rules=rules)
    action_id = await ask(wrapped, writer)
    edited = await wrapped.done(EDIT, actionId=action_id, arguments={"path": "b"})
    assert NOTES["b"] not in text_of(edited)
    assert await find_difference(wrapped, action_id) is None
    await wrapped.approve(action_id)
    assert (wrapped.calls_of("look"), len(wrapped.calls_of("store"))) == ([], 1)
    await writer.close()


async def test_a_reader_that_changed_is_not_called_and_the_difference_is_shown_no_more(
    wrapped: Wrapped, writer: FrontClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstreams, "LIST_AGE_SECONDS", -1.0)
    action_id = await ask(wrapped, writer)
    wrapped.want(notes=NOTES, tools={"look": {"description": "Does it in another way."}})
    assert (await wrapped.denied(APPROVE, actionId=action_id))["reason"] == "stale_revision"
    assert await find_difference(wrapped, action_id) is None
    assert [each["path"] for each in wrapped.calls_of("look")] == ["a"]


@pytest.mark.parametrize("end", ["rejected", "expired"])
async def test_an_edit_of_a_call_that_no_longer_waits_reads_nothing(
    wrapped: Wrapped, writer: FrontClient, end: str
) -> None:
    action_id = await ask(wrapped, writer)
    if end == "rejected":
        await wrapped.done(REJECT, actionId=action_id, reason="No.")
    else:
        wrapped.clock.advance(hours=24 * 365)
    refused = await wrapped.denied(EDIT, actionId=action_id, arguments={"path": "b"})
    assert refused["reason"] == {"rejected": "action_closed", "expired": "action_expired"}[end]
    assert [each["path"] for each in wrapped.calls_of("look")] == ["a"]


async def test_reads_for_differences_have_the_pace_of_calls(
    wrapped: Wrapped, writer: FrontClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    action_id = await ask(wrapped, writer)
    monkeypatch.setattr("assent_wrap.gateway.CALLS", 3)
    for path in ("b", "a"):
        await wrapped.done(EDIT, actionId=action_id, arguments={"path": path})
    refused = await wrapped.denied(EDIT, actionId=action_id, arguments={"path": "b"})
    assert (refused["reason"], refused["retryable"]) == ("rate_limited", True)
    assert [each["path"] for each in wrapped.calls_of("look")] == ["a", "b", "a"]


async def test_another_key_cannot_edit_a_call_and_is_not_offered_to(
    wrapped: Wrapped, writer: FrontClient
) -> None:
    action_id = await ask(wrapped, writer)
    before = await wrapped.record(action_id)
    other = await wrapped.key_with("runs:read", "runs:write", "actions:decide", "actions:execute")
    edit: dict[str, Any] = {"actionId": action_id, "arguments": {"path": "/etc/passwd"}}

    refused = await wrapped.call(EDIT, edit, key=other)

    assert refused.is_error and refused.payload["reason"] == "validation_error"
    assert [each["path"] for each in refused.payload["problems"]] == ["actionId"]
    assert (await wrapped.record(action_id))["digest"] == before["digest"]
    seen = await wrapped.call("chieflab_get_action", {"actionId": action_id}, key=other)
    assert EDIT not in [each["name"] for each in calls_of(seen.payload)]
    assert EDIT in [each["name"] for each in calls_of(before)]
