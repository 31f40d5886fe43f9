"""A call of a wrapped tool: which calls are the same question, and what is kept of a result."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.builders import NOW_MS, put_in, stage

from assent.gate import transitions
from assent.gate.records import Effect
from assent_wrap.connector import MAX_RESULT_BYTES, fit_result
from assent_wrap.effects import ACCEPT, CALL
from assent_wrap.proposals import fingerprint, is_settled, is_waiting

STORE = Effect(
    channel="notes",
    verb="store",
    connector=CALL,
    body="path: a",
    arguments={"path": "a"},
    details={"profile": "p1", "pin": "sha256:1"},
)


@pytest.mark.parametrize(
    "changed",
    [
        {"arguments": {"path": "b"}},
        {"arguments": {}},
        {"verb": "remove"},
        {"channel": "files"},
        {"details": {"profile": "p2", "pin": "sha256:1"}},
        {"details": {"profile": "p1", "pin": "sha256:2"}},
    ],
)
def test_calls_that_differ_in_anything_are_two_questions(changed: dict[str, Any]) -> None:
    assert fingerprint(replace(STORE, **changed)) != fingerprint(STORE)


def test_the_same_call_joins_its_question_however_it_is_shown() -> None:
    assert fingerprint(replace(STORE, body="another view", title="Store a")) == fingerprint(STORE)


def test_the_acceptance_of_a_servers_tools_is_one_question_whatever_they_are() -> None:
    asked = replace(STORE, connector=ACCEPT)

    assert fingerprint(replace(asked, arguments={"look": "sha256:9"}, details={})) == fingerprint(asked)
    assert fingerprint(replace(asked, channel="files")) != fingerprint(asked)
    assert fingerprint(asked) != fingerprint(STORE)


def text_of(length: int) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "x" * length}]}


def test_a_result_is_kept_without_what_no_client_reads() -> None:
    result = {**text_of(3), "structuredContent": {"a": 1}, "isError": True, "_meta": {"b": 2}}

    assert fit_result(result) == {**text_of(3), "structuredContent": {"a": 1}, "isError": True}
    assert fit_result({}) == {}


def test_a_result_has_no_character_that_a_store_cannot_hold() -> None:
    assert fit_result({"content": [{"type": "text", "text": "a\0b"}]}) == {
        "content": [{"type": "text", "text": "a\ufffdb"}]
    }


def test_a_result_is_cut_from_its_most_bytes_on() -> None:
    room = MAX_RESULT_BYTES - len('{"content":[{"type":"text","text":""}]}')

    assert fit_result(text_of(room)) == text_of(room)
    cut = fit_result({**text_of(room + 1), "isError": True})
    assert cut["content"][1]["text"] == "x" * (MAX_RESULT_BYTES // 4)
    assert cut["isError"] is True
    assert "isError" not in fit_result(text_of(room + 1))


@pytest.mark.parametrize(
    ("content", "kept"),
    [("x", ""), (["x", {"type": "image"}, {"type": "text", "text": "first"}], "first"), ([], "")],
)
def test_of_a_result_that_is_too_long_the_first_text_is_kept_if_it_has_one(content: Any, kept: str) -> None:
    large = {"content": content, "structuredContent": {"a": "x" * MAX_RESULT_BYTES}}

    assert fit_result(large)["content"][1]["text"] == kept


@pytest.mark.parametrize(
    ("state", "waits", "settled"),
    [
        (transitions.AWAITING, True, False),
        (transitions.APPROVED, False, False),
        (transitions.EXECUTING, False, False),
        (transitions.RETRYABLE, False, True),
        (transitions.UNKNOWN, False, True),
        (transitions.EXECUTED, False, True),
        (transitions.REJECTED, False, True),
    ],
)
def test_a_call_is_settled_once_nothing_happens_without_another_one(
    state: transitions.State, waits: bool, settled: bool
) -> None:
    action = put_in(state)
    assert (is_waiting(action, NOW_MS), is_settled(action, NOW_MS)) == (waits, settled)


def test_a_question_that_expired_waits_no_longer() -> None:
    action = stage(expires_ms=NOW_MS)
    assert is_waiting(action, NOW_MS - 1)
    assert not is_waiting(action, NOW_MS)
    assert is_settled(action, NOW_MS)
