"""Calls that wait for a decision: they hear of each, end in time, and take no other call's place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import APPROVE, BODY, EDIT, GET, OTHER, REJECT, Gate
from tests.support.actions.provider import providers
from tests.support.answers import calls_of, text_of
from tests.support.contract.talk import tool_call
from tests.support.surfaces import asgi_post

from assent.engine.actions import decisions
from assent.gate.gate import SeenVersion
from assent.gate.records import Assurance
from assent.kernel.ids import ActionId
from assent.kernel.limits import WAITING_CALLS_PER_WORKSPACE
from assent.serving.edge import Credentials
from assent.serving.stdio import MAX_IN_FLIGHT, StdioSession

DEADLINE_SECONDS = 20.0


class Line:
    """A stdio client that stays connected while its calls wait."""

    def __init__(self, gate: Gate) -> None:
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.answers: dict[Any, asyncio.Future[dict[str, Any]]] = {}
        session = StdioSession(gate.surfaces.messages, Credentials(api_key=gate.key), self._hear)
        self.session = asyncio.create_task(session.run(self._spoken()))

    def ask(self, message: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        answer = self.answers[message["id"]] = asyncio.get_running_loop().create_future()
        self.say(message)
        return answer

    def say(self, message: dict[str, Any]) -> None:
        self._lines.put_nowait(msgspec.json.encode(message))

    async def hang_up(self) -> None:
        self._lines.put_nowait(None)
        await asyncio.wait_for(self.session, DEADLINE_SECONDS)

    async def _spoken(self) -> AsyncIterator[bytes]:
        while (line := await self._lines.get()) is not None:
            yield line

    def _hear(self, data: bytes) -> None:
        message = msgspec.json.decode(data)
        self.answers[message["id"]].set_result(message)


class Waiter:
    """One call that waits, over the transport of its gate."""

    def __init__(self, gate: Gate, **arguments: Any) -> None:
        self._line = Line(gate) if gate.transport == "stdio" else None
        call = {"waitSeconds": 50, **arguments}
        self._task: Awaitable[Any] = (
            self._line.ask(tool_call(GET, call))
            if self._line is not None
            else asyncio.ensure_future(gate.call(GET, call))
        )

    async def answer(self) -> dict[str, Any]:
        heard = await asyncio.wait_for(self._task, DEADLINE_SECONDS)
        if self._line is None:
            payload: dict[str, Any] = heard.payload
            return payload
        await self._line.hang_up()
        found: dict[str, Any] = heard["result"]["structuredContent"]
        return found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():  # noqa: ASYNC110 - a condition of the server under test
            await asyncio.sleep(0)


async def waiting(gate: Gate, action_id: str, **more: Any) -> Waiter:
    before = gate.app.waits.count
    waiter = Waiter(gate, actionId=action_id, **more)
    await until(lambda: gate.app.waits.count == before + 1)
    return waiter


async def test_a_call_that_waits_is_answered_when_a_person_approves(surface: Gate) -> None:
    action_id = await surface.staged()
    waiter = await waiting(surface, action_id)

    await surface.approve_as(Assurance.PERSON, action_id)

    told = await waiter.answer()
    assert (told["ok"], told["status"], told["waiting"]["ended"]) == (True, "approved", "changed")
    assert (told["decision"]["what"], told["decision"]["by"], told["decision"]["assurance"]) == (
        "approved",
        "Ada",
        "person",
    )
    assert surface.app.waits.count == 0


async def test_a_call_that_waits_lets_no_page_and_no_job_write_on_the_event_loop(surface: Gate) -> None:
    waiter = await waiting(surface, await surface.staged())

    assert surface.surfaces.edge.running == 1
    assert not surface.surfaces.is_alone()

    surface.app.waits.release()
    await waiter.answer()


async def test_a_call_that_waits_gets_the_reason_of_a_rejection(surface: Gate) -> None:
    action_id = await surface.staged()
    waiter = await waiting(surface, action_id)

    await surface.done(REJECT, actionId=action_id, reason="too salesy")

    told = await waiter.answer()
    assert (told["status"], told["decision"]["what"], told["decision"]["comment"]) == (
        "rejected",
        "rejected",
        "too salesy",
    )
    assert "too salesy" in text_of(told)


async def test_a_call_that_waits_gets_the_edited_text_and_what_changed(surface: Gate) -> None:
    action_id = await surface.staged()
    waiter = await waiting(surface, action_id)

    await surface.done(EDIT, actionId=action_id, body=OTHER)

    told = await waiter.answer()
    assert (told["content"]["body"], told["waiting"]["changed"]) == (OTHER, ["body"])
    assert OTHER in text_of(told)


async def test_a_call_that_waits_gets_a_wish_for_changes(surface: Gate) -> None:
    action_id = await surface.staged()
    waiter = await waiting(surface, action_id)
    now_ms = surface.clock.now_ms()

    await surface.decide(
        lambda: decisions.ask_for_changes(
            surface.someone(),
            ActionId(action_id),
            "Name the price.",
            SeenVersion(),
            now_ms,
        )
    )

    told = await waiter.answer()
    assert (told["status"], told["decision"]["what"]) == ("awaiting_approval", "changes asked")
    assert told["decision"]["comment"] == "Name the price."
    assert calls_of(told)[0]["name"] == EDIT


async def test_an_approval_that_sends_is_answered_with_its_result(surface: Gate) -> None:
    action_id = await surface.staged()
    waiter = await waiting(surface, action_id)

    await surface.approve_as(Assurance.PERSON, action_id, send_now=True)
    await surface.run_jobs()

    told = await waiter.answer()
    assert (told["status"], told["result"]["status"]) == ("executed", "executed")
    assert told["result"]["externalId"]


async def test_what_is_decided_already_is_answered_at_once(surface: Gate) -> None:
    for state in ("approved", "rejected", "executed", "failed"):
        action_id = await surface.bring_to(state)
        told = await surface.done(GET, actionId=action_id, waitSeconds=50)
        assert told["waiting"]["ended"] == "nothing_to_wait_for", state


async def test_an_unknown_outcome_is_waited_for(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown")
    waiter = await waiting(surface, action_id)

    await surface.answer_as_person(action_id, happened=True)

    told = await waiter.answer()
    assert (told["status"], told["waiting"]["ended"]) == ("executed", "changed")


async def test_content_that_changed_before_the_call_is_answered_at_once(surface: Gate) -> None:
    action_id = await surface.staged()
    shown = (await surface.record(action_id))["digest"]
    await surface.done(EDIT, actionId=action_id, body=OTHER)

    told = await surface.done(GET, actionId=action_id, waitSeconds=50, digest=shown)

    assert (told["waiting"]["ended"], told["content"]["body"]) == ("changed", OTHER)


async def test_a_call_that_waits_is_answered_when_its_time_is_up(surface: Gate) -> None:
    action_id = await surface.staged()
    surface.app.waits.poll_seconds = 0.01
    waiter = await waiting(surface, action_id)

    surface.clock.advance(seconds=51)

    told = await waiter.answer()
    assert (told["status"], told["waiting"]["ended"]) == ("awaiting_approval", "time_up")
    again = calls_of(told)[-1]["args"]
    assert (again["actionId"], again["waitSeconds"]) == (action_id, 50)
    assert again["digest"] in told["digest"]


@pytest.fixture
async def other_process(surface: Gate, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    """Another server on the same data."""
    other = gate_over(database_url, tmp_path, "http", providers())
    other.key, other.workspace_id = surface.key, surface.workspace_id
    surface.app.waits.poll_seconds = 0.01
    try:
        yield other
    finally:
        await other.close()


async def test_a_decision_of_another_process_on_the_same_data_ends_the_wait(
    surface: Gate, other_process: Gate
) -> None:
    action_id = await surface.staged()
    waiter = await waiting(surface, action_id)
    await other_process.done(APPROVE, actionId=action_id)
    assert (await waiter.answer())["decision"]["what"] == "approved"


async def test_many_waiting_calls_cost_one_read_for_each_change(surface: Gate) -> None:
    actions = [await surface.staged() for _ in range(5)]
    surface.app.waits.poll_seconds = 60.0  # only writes of this process count here
    waiters = [await waiting(surface, action_id) for action_id in actions]
    reads = 0
    read = surface.app.waits._versions

    def counted() -> Any:
        nonlocal reads
        reads += 1
        return read()

    surface.app.waits._versions = counted  # type: ignore[method-assign]
    await surface.done(REJECT, actionId=actions[0], reason="no")
    assert (await waiters[0].answer())["status"] == "rejected"
    assert 1 <= reads <= 3  # where limits are stored, a call is two writes
    surface.app.waits.release()
    for waiter in waiters[1:]:
        assert (await waiter.answer())["waiting"]["ended"] == "server_stops"


async def test_calls_beyond_the_cap_are_answered_at_once(surface: Gate) -> None:
    action_id = await surface.staged()
    waiters = [await waiting(surface, action_id) for _ in range(WAITING_CALLS_PER_WORKSPACE)]

    told = await Waiter(surface, actionId=action_id).answer()

    assert (told["waiting"]["ended"], told["content"]["body"]) == ("server_full", BODY)
    await surface.done(REJECT, actionId=action_id, reason="no")
    for waiter in waiters:
        assert (await waiter.answer())["status"] == "rejected"


async def test_waiting_calls_hold_no_place_of_a_stdio_client(surface: Gate) -> None:
    action_id = await surface.staged()
    line = Line(surface)
    waits = [
        line.ask(tool_call(GET, {"actionId": action_id, "waitSeconds": 50}, request_id=f"wait {number}"))
        for number in range(WAITING_CALLS_PER_WORKSPACE)
    ]
    await until(lambda: surface.app.waits.count == WAITING_CALLS_PER_WORKSPACE)

    plain = [
        line.ask(tool_call(GET, {"actionId": action_id}, request_id=number))
        for number in range(MAX_IN_FLIGHT)
    ]
    answers = await asyncio.wait_for(asyncio.gather(*plain), DEADLINE_SECONDS)

    assert all("result" in answer for answer in answers)
    assert not any(wait.done() for wait in waits)
    await line.hang_up()
    assert all(wait.done() for wait in waits)


async def test_a_stdio_client_that_calls_off_or_goes_away_frees_its_place(surface: Gate) -> None:
    action_id = await surface.staged()
    line = Line(surface)
    line.ask(tool_call(GET, {"actionId": action_id, "waitSeconds": 50}, request_id="first"))
    line.ask(tool_call(GET, {"actionId": action_id, "waitSeconds": 50}, request_id="second"))
    await until(lambda: surface.app.waits.count == 2)

    line.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "first"}})
    await until(lambda: surface.app.waits.count == 1)
    await line.hang_up()

    assert surface.app.waits.count == 0


async def test_an_http_client_that_goes_away_frees_its_place(surface: Gate) -> None:
    action_id = await surface.staged()
    left = asyncio.Event()
    whole = msgspec.json.encode({"actionId": action_id, "waitSeconds": 50})
    said = [{"type": "http.request", "body": whole}]

    async def receive() -> Any:
        if said:
            return said.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        return None

    scope = asgi_post(f"/api/tools/{GET}", (b"authorization", f"Bearer {surface.key}".encode()))
    request = asyncio.ensure_future(surface.surfaces.site()(scope, receive, send))
    await until(lambda: surface.app.waits.count == 1)

    left.set()

    await asyncio.wait_for(request, DEADLINE_SECONDS)
    assert surface.app.waits.count == 0


@pytest.mark.parametrize("seconds", [-1, 51, 1.5, "ten"])
async def test_the_wait_is_a_whole_number_of_seconds_within_bounds(surface: Gate, seconds: Any) -> None:
    action_id = await surface.staged()
    assert (await surface.denied(GET, actionId=action_id, waitSeconds=seconds))[
        "reason"
    ] == "validation_error"
