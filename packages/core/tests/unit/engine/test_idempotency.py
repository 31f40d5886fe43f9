"""Idempotency keys: who gets the stored answer, who is refused, and what is stored."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.builders import NOW_MS, stage
from tests.support.scripted import Script, ScriptedRow, write_row

from assent.engine.actions import idempotency
from assent.engine.core.tenancy import Principal
from assent.gate.records import Action
from assent.kernel import canonical
from assent.kernel.ids import ActionId, KeyId, WorkspaceId
from assent.kernel.limits import IDEMPOTENCY_TTL_MS
from assent.kernel.refusals import Reason, Refusal, Retry
from assent.kernel.structs import WireRecord
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.sql.loader import statements

CALLER = Principal(
    workspace_id=WorkspaceId("workspace"),
    workspace_name="Acme",
    key_id=KeyId("key-1"),
    mode="live",
    scopes=frozenset(),
)


class Reply(WireRecord):
    """The answer of a tool."""

    ok: bool
    number: int


def claimed(digest: str = "same", response: str | None = None, holder: str | None = "key-1") -> ScriptedRow:
    """The record of a key, after this call has claimed it or found it."""
    packed = idempotency.pack(response) if response is not None else None
    return ScriptedRow(request_digest=digest, response=packed, holder=holder, created_at=NOW_MS - 60_000)


def recall(row: ScriptedRow, holder: str | None = "key-1", **rows: Any) -> str | None:
    script = Script(claim_key=[row], **rows)
    return script.run(idempotency.recall("workspace", "tool", "key", "same", NOW_MS, holder=holder))


def refuse(row: ScriptedRow, holder: str | None = "key-1") -> Refusal:
    with pytest.raises(Refusal) as refused:
        recall(row, holder)
    assert refused.value.reason is Reason.IDEMPOTENCY_CONFLICT
    return refused.value


@pytest.mark.rule("E7")
def test_a_new_key_is_claimed_for_its_time_and_has_no_answer() -> None:
    script = Script(claim_key=[claimed()])

    found = script.run(idempotency.recall("workspace", "tool", "key", "same", NOW_MS, holder="key-1"))

    assert found is None
    assert script.find("claim_key") == {
        "workspace_id": "workspace",
        "tool": "tool",
        "key": "key",
        "request_digest": "same",
        "now_ms": NOW_MS,
        "expires_at": NOW_MS + IDEMPOTENCY_TTL_MS,
        "holder": "key-1",
    }


def test_a_key_with_other_arguments_is_a_conflict() -> None:
    refuse(claimed("other"))
    refuse(claimed("other", "{}"))
    refuse(claimed("other", "{}", holder="key-2"))


def test_the_answer_of_another_api_key_is_refused_and_a_retry_would_not_help() -> None:
    refused = refuse(claimed(response="{}", holder="key-2"))

    assert refused.recovery().retry is Retry.NEVER
    assert refuse(claimed("other")).recovery().retry is not Retry.NEVER
    refuse(claimed(response="{}", holder="key-2"), None)
    refuse(claimed(holder="key-2"))


@pytest.mark.parametrize("holder", ["key-1", "key-2", None])
def test_an_answer_that_no_key_owns_is_given_to_every_caller(holder: str | None) -> None:
    assert recall(claimed(response="plain", holder=None), holder) == "plain"
    assert recall(claimed(holder=None), holder) is None


@pytest.mark.rule("E91")
def test_a_stored_answer_is_given_again_with_a_mark_and_the_rest_unchanged() -> None:
    stored = {"ok": True, "number": 7, "actionId": 7}

    found = recall(claimed(response=msgspec.json.encode(stored).decode()))

    assert found is not None
    answer = msgspec.json.decode(found)
    replay = answer.pop("replay")
    assert answer == stored
    assert replay["of"] == iso_time(NOW_MS - 60_000)


@pytest.mark.parametrize("text", ["plain", '{"okay":true}', "[1]"])
def test_a_stored_text_that_is_no_answer_of_a_tool_is_given_unchanged(text: str) -> None:
    assert recall(claimed(response=text)) == text


def replay(answer: dict[str, Any], **rows: Any) -> str:
    """What a replayed answer says about the present."""
    found = recall(claimed(response=msgspec.json.encode({"ok": True, **answer}).decode()), **rows)
    assert found is not None
    said: str = msgspec.json.decode(found)["replay"]["now"]
    return said


def named(channel: str) -> Action:
    action = stage()
    return replace(action, action_id=ActionId(channel), effect=replace(action.effect, channel=channel))


def test_a_replay_says_how_the_staged_actions_of_its_answer_are_now() -> None:
    stored = [write_row(named("linkedin")), write_row(named("bluesky"))]

    said = replay({"runId": "run", "actions": [{"id": "bluesky"}]}, list_run_actions=stored)

    assert "bluesky" in said and "linkedin" not in said


@pytest.mark.parametrize(
    "answer", [{"actionId": "bluesky"}, {"id": "bluesky"}, {"id": "x", "actionId": "bluesky"}]
)
def test_a_replay_says_how_the_action_of_its_answer_is_now(answer: dict[str, Any]) -> None:
    script = Script(
        claim_key=[claimed(response=msgspec.json.encode({"ok": True, **answer}).decode())],
        find_action=[write_row(named("bluesky"))],
    )

    found = script.run(idempotency.recall("workspace", "tool", "key", "same", NOW_MS, holder="key-1"))

    assert found is not None and "bluesky" in msgspec.json.decode(found)["replay"]["now"]
    assert script.find("find_action") == {"workspace_id": "workspace", "action_id": "bluesky"}


def test_a_replay_says_nothing_of_an_action_that_is_gone_or_not_named() -> None:
    gone = replay({"actionId": "bluesky"}, find_action=[])

    assert gone == replay({}) == replay({"actions": []}) == replay({"id": 7})


@given(st.text())
def test_what_is_packed_is_unpacked_exactly(text: str) -> None:
    assert idempotency.unpack(idempotency.pack(text)) == text


def test_an_answer_is_stored_packed_with_its_key_and_its_owner() -> None:
    script = Script(keep_answer=[])

    script.run(
        idempotency.remember("workspace", "tool", "key", "digest", '{"ok":true}', NOW_MS, holder="key-1")
    )

    kept = script.find("keep_answer")
    assert idempotency.unpack(kept.pop("response")) == '{"ok":true}'
    assert kept == {
        "workspace_id": "workspace",
        "tool": "tool",
        "key": "key",
        "request_digest": "digest",
        "now_ms": NOW_MS,
        "expires_at": NOW_MS + IDEMPOTENCY_TTL_MS,
        "holder": "key-1",
    }


def test_expired_records_are_counted_as_they_are_deleted() -> None:
    script = Script(forget_answers=[ScriptedRow(), ScriptedRow()])

    assert script.run(idempotency.forget_expired(NOW_MS, 10)) == 2
    assert script.find("forget_answers") == {"now_ms": NOW_MS, "limit": 10}


def count_one() -> Transaction[Reply]:
    """A transaction with an effect."""
    yield statements.forget_answers(now_ms=0, limit=1)
    return Reply(ok=True, number=1)


def run_once(script: Script, key: str | None, arguments: Any = None) -> Reply:
    return script.run(idempotency.run_once(CALLER, "tool", key, arguments, NOW_MS, Reply, count_one))


def test_without_a_key_a_transaction_runs_and_nothing_is_stored() -> None:
    script = Script(forget_answers=[])

    assert run_once(script, None) == Reply(ok=True, number=1)
    assert script.names == ["forget_answers"]


def test_a_new_key_is_claimed_before_the_effect_and_the_answer_stored_after_it() -> None:
    digest = canonical.digest({"a": 1})
    script = Script(claim_key=[claimed(digest)], forget_answers=[], keep_answer=[])

    assert run_once(script, "key", {"a": 1}) == Reply(ok=True, number=1)
    assert script.names == ["claim_key", "forget_answers", "keep_answer"]
    kept = script.find("keep_answer")
    assert (kept["request_digest"], kept["holder"]) == (digest, CALLER.holder)
    assert idempotency.unpack(kept["response"]) == '{"ok":true,"number":1}'
    assert script.find("claim_key")["request_digest"] == digest


@pytest.mark.rule("E7")
def test_a_repeated_key_gives_the_first_answer_and_has_no_effect() -> None:
    digest = canonical.digest({"a": 1})
    script = Script(claim_key=[claimed(digest, '{"ok":true,"number":7}')])

    assert run_once(script, "key", {"a": 1}) == Reply(ok=True, number=7)
    assert script.names == ["claim_key"]


def test_a_key_with_other_arguments_has_no_effect() -> None:
    script = Script(claim_key=[claimed(canonical.digest({"a": 1}), '{"ok":true,"number":7}')])

    with pytest.raises(Refusal):
        run_once(script, "key", {"a": 2})
    assert script.names == ["claim_key"]


def test_a_transaction_that_refuses_stores_no_answer() -> None:
    def refuse_it() -> Transaction[Reply]:
        yield statements.forget_answers(now_ms=0, limit=1)
        raise Refusal(Reason.REQUIRES_APPROVAL)

    script = Script(claim_key=[claimed(canonical.digest(None))], forget_answers=[])

    with pytest.raises(Refusal):
        script.run(idempotency.run_once(CALLER, "tool", "key", None, NOW_MS, Reply, refuse_it))
    assert script.names == ["claim_key", "forget_answers"]
