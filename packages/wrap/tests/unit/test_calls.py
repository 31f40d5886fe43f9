"""A call of a wrapped tool: which calls are the same question, how long it waits, what it is answered, and what is kept
of a result."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.builders import NOW_MS, put_in, stage
from tests.support.scripted import ScriptedRow, ScriptedStore, write_row
from tests.support.surfaces import ManualClock

from assent.engine.core.tenancy import LOCAL_PRINCIPAL
from assent.gate import transitions
from assent.gate.policy import DEFAULT
from assent.gate.records import Action, Effect
from assent.kernel.refusals import Refusal
from assent.sdk import MAX_CONTENT_CHARS
from assent.serving.gateway import ClientPort, ForeignCall
from assent.tools.definition import Peer
from assent_wrap.connector import MAX_RESULT_BYTES, fit_result
from assent_wrap.effects import ACCEPT, CALL
from assent_wrap.proposals import (
    OUTPUT,
    PROGRESS_SECONDS,
    HeldCalls,
    answer,
    describe_wait,
    fingerprint,
    is_settled,
    is_waiting,
    propose,
)

STORE = Effect(
    channel="notes",
    verb="store",
    connector=CALL,
    body="path: a",
    arguments={"path": "a"},
    details={"profile": "p1", "server": "notes", "tool": "store", "pin": "sha256:1"},
)
ACCEPTED = Effect(
    channel="notes", verb="accept", connector=ACCEPT, body="look", arguments={"look": "sha256:1"}
)
CALL_OF_ONE = ForeignCall(LOCAL_PRINCIPAL, "p1", NOW_MS)


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


class AsksAgain(Exception):  # noqa: N818 - what a test looks for
    """A question is staged."""


def stage_again(_: Effect) -> None:
    raise AsksAgain


@pytest.mark.parametrize(
    ("effect", "known", "joins"),
    [
        (STORE, put_in(transitions.AWAITING, STORE), True),
        (STORE, put_in(transitions.AWAITING, STORE, expires_ms=NOW_MS), False),
        (STORE, put_in(transitions.REJECTED, STORE), False),
        (STORE, put_in(transitions.EXECUTED, STORE), False),
        (STORE, None, False),
        (ACCEPTED, put_in(transitions.AWAITING, ACCEPTED), True),
        (ACCEPTED, put_in(transitions.REJECTED, ACCEPTED), True),
        (ACCEPTED, put_in(transitions.REJECTED, replace(ACCEPTED, arguments={"look": "sha256:2"})), False),
        (ACCEPTED, put_in(transitions.EXECUTED, ACCEPTED), False),
        (ACCEPTED, None, False),
    ],
)
async def test_a_proposal_joins_its_open_question_and_a_rejected_list_of_tools_is_not_asked_about_again(
    effect: Effect, known: Action | None, joins: bool
) -> None:
    found = [ScriptedRow(generation=1, action_id="a")] if known is not None else []
    rows = [write_row(known, DEFAULT)] if known is not None else []
    store = ScriptedStore(**{"wrap.find_wrap_call": found, "find_action": rows})
    effects = SimpleNamespace(find=stage_again)
    services = cast(Any, SimpleNamespace(store=store, clock=ManualClock(NOW_MS), effects=effects))

    if not joins or known is None:
        with pytest.raises(AsksAgain):
            await propose(services, CALL_OF_ONE, effect, "tool")
    else:
        assert (await propose(services, CALL_OF_ONE, effect, "tool")).action_id == known.action_id
    holder = LOCAL_PRINCIPAL.holder if effect is STORE else ""  # whichever key asks
    assert store.find("wrap.find_wrap_call")["holder"] == holder


async def test_a_call_that_a_person_could_not_read_is_not_proposed() -> None:
    services = cast(Any, SimpleNamespace(store=ScriptedStore()))
    with pytest.raises(Refusal) as refused:
        await propose(services, CALL_OF_ONE, replace(STORE, body="x" * (MAX_CONTENT_CHARS + 1)), "tool")
    assert refused.value.reason == "validation_error"


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


URL = "http://127.0.0.1/runs/1"
LINKS = SimpleNamespace(review_url=lambda *_: URL)
MADE = SimpleNamespace(clock=ManualClock(NOW_MS), links=LINKS)


def read_answer(action: Action, asked: dict[str, Any] | None = None, frozen: str = "") -> dict[str, Any]:
    return answer(cast(Any, MADE), CALL_OF_ONE, action, asked or {}, frozen)


def texts_of(result: dict[str, Any]) -> list[str]:
    return [each["text"] for each in result["content"]]


def reason_of(result: dict[str, Any]) -> str:
    """The reason code in the second text of an error; empty if it has no second one."""
    _, *more = texts_of(result)
    return str(msgspec.json.decode(more[0])["reason"]) if more else ""


@pytest.mark.parametrize(
    ("action", "reason", "facts"),
    [
        (put_in(transitions.AWAITING), "requires_approval", [URL, "chieflab_get_action"]),
        (put_in(transitions.APPROVED), "", ["chieflab_get_action", "Sending is stopped."]),
        (put_in(transitions.UNKNOWN), "", ["not known", URL]),
        (put_in(transitions.REJECTED, rejection="Too much."), "", ["rejected", "Too much."]),
        (put_in(transitions.REJECTED), "", ["no reason was given"]),
        (put_in(transitions.FAILED, metadata={"lastAttempt": "No room."}), "connector_failed", ["No room."]),
        (put_in(transitions.FAILED), "connector_failed", ["its server refused it."]),
        (stage(expires_ms=NOW_MS), "", ["in time"]),
    ],
)
def test_a_call_without_a_result_is_an_error_that_says_why(
    action: Action, reason: str, facts: list[str]
) -> None:
    result = read_answer(action, frozen="Sending is stopped.")

    assert result["isError"] is True and "structuredContent" not in result
    assert reason_of(result) == reason
    for fact in facts:
        assert fact in " ".join(texts_of(result))


@pytest.mark.parametrize(
    ("kept", "content"),
    [
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, ["no"]),
        ({"content": "?"}, []),
        ("?", []),
        (None, []),
    ],
)
def test_after_an_edit_the_result_begins_with_the_arguments_that_ran(kept: Any, content: list[str]) -> None:
    action = put_in(transitions.EXECUTED, STORE, metadata={OUTPUT: kept})

    assert read_answer(action, STORE.arguments) == (kept if isinstance(kept, dict) else {"content": []})
    said, *rest = texts_of(read_answer(action, {"path": "mine"}))
    assert '{"path":"a"}' in said and rest == content


def test_an_open_question_says_whether_it_is_done_once_it_is_approved() -> None:
    open_one, stopped = read_answer(stage()), read_answer(stage(), frozen="Sending is stopped.")

    assert "Sending is stopped." in texts_of(stopped)[1] and "it is done" not in texts_of(stopped)[1]
    assert "it is done" in texts_of(open_one)[1]


def test_the_progress_of_a_wait_tells_a_question_an_approval_and_a_call_apart() -> None:
    states = (transitions.AWAITING, transitions.APPROVED, transitions.EXECUTING)
    said = [describe_wait(put_in(state)) for state in states]

    assert [("Approved" in each, "being made" in each) for each in said] == [
        (False, False),
        (True, False),
        (True, True),
    ]


class ScriptedWaits:
    """Waits that end as the script says: the time of a turn passes unless the action changes or the client goes."""

    def __init__(self, clock: ManualClock, *endings: str) -> None:
        self._clock = clock
        self._endings = list(endings)
        self.turns: list[float] = []
        """The seconds of each turn."""

    async def wait(self, place: Any, until_ms: int, gone: Any) -> str:
        self.turns.append((until_ms - self._clock.now_ms()) / 1000)
        ending = self._endings.pop(0)
        if ending == "time_up":
            self._clock.advance(seconds=self.turns[-1])
        return ending


class Holding(HeldCalls):
    """Calls that wait for a person on scripted turns. What would be withdrawn is noted."""

    def __init__(self, waits: Any, clock: ManualClock, rows: list[ScriptedRow]) -> None:
        background = SimpleNamespace(waits=waits)
        services = SimpleNamespace(clock=clock, background=background, store=ScriptedStore(find_action=rows))
        super().__init__(cast(Any, services))
        self.withdrawn: list[str] = []

    async def _withdraw(self, call: ForeignCall, action_id: Any) -> None:
        self.withdrawn.append(action_id)


@pytest.mark.parametrize(
    ("endings", "turns", "told"),
    [
        (["time_up", "time_up", "time_up"], [PROGRESS_SECONDS, PROGRESS_SECONDS, 2.0], 2),
        (["changed", "gone"], [PROGRESS_SECONDS, PROGRESS_SECONDS], 1),
        (["server_full"], [PROGRESS_SECONDS], 0),
    ],
)
@pytest.mark.parametrize("token", ["t", None])
async def test_a_call_waits_in_turns_and_tells_its_progress_to_a_client_that_asked_for_it(
    endings: list[str], turns: list[float], told: int, token: str | None
) -> None:
    clock, action, notes = ManualClock(NOW_MS), stage(), list[Any]()
    waits = ScriptedWaits(clock, *endings)
    held = Holding(waits, clock, [write_row(action, DEFAULT)])
    held.hold_seconds = 2 * PROGRESS_SECONDS + 2
    client = ClientPort(lambda method, params: notes.append(params))

    found = await held.wait(ForeignCall(LOCAL_PRINCIPAL, "p1", NOW_MS, client=client), action, token)

    assert found.action_id == action.action_id and waits.turns == turns
    expected = [("t", number + 1) for number in range(told)] if token else []
    assert [(each["progressToken"], each["progress"]) for each in notes] == expected


async def test_a_call_that_is_decided_waits_no_longer() -> None:
    clock, rejected = ManualClock(NOW_MS), put_in(transitions.REJECTED)
    waits = ScriptedWaits(clock, "changed")
    held = Holding(waits, clock, [write_row(rejected, DEFAULT)])

    assert (await held.wait(CALL_OF_ONE, stage(), "t")).status is rejected.status
    assert (await held.wait(CALL_OF_ONE, rejected, "t")).status is rejected.status
    assert len(waits.turns) == 1


class EndlessWaits:
    async def wait(self, *_: Any) -> str:
        await asyncio.Event().wait()
        return "changed"


@pytest.mark.parametrize(
    ("cancels", "count", "withdrawn"),
    [(None, 1, 0), (False, 1, 0), (True, 1, 1), (True, 2, 1)],
    ids=["no client", "a client that went", "a client that cancels", "the last of two"],
)
async def test_a_question_is_withdrawn_once_the_last_call_that_asked_it_is_cancelled(
    cancels: bool | None, count: int, withdrawn: int
) -> None:
    action, aside = stage(), list[int]()
    held = Holding(EndlessWaits(), ManualClock(NOW_MS), [])
    peer = None
    if cancels is not None:
        peer = Peer(asyncio.Event().wait, step_aside=lambda: aside.append(1), cancelled=lambda: cancels)
    call = ForeignCall(LOCAL_PRINCIPAL, "p1", NOW_MS, peer)
    tasks = [asyncio.create_task(held.wait(call, action, None)) for _ in range(count)]
    await asyncio.sleep(0)

    for number, task in enumerate(tasks):
        assert held.withdrawn == [] and held._held[action.action_id] == count - number
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    await held.close()
    assert held.withdrawn == [action.action_id] * withdrawn and not held._held
    assert len(aside) == (count if peer is not None else 0)
