"""Subscribers: in which order they follow a change, what a refusal ends, and what a fault does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.builders import NOW_MS, claim_job, put_in, stage
from tests.support.scripted import Script, ScriptedRow, write_row

from assent.engine.actions import hooks
from assent.engine.actions.hooks import (
    REPEAT_JOB,
    ApprovalEnded,
    ChannelResult,
    Decided,
    Erased,
    Listener,
    Origin,
    RunResult,
    Settled,
    Staged,
    StatusPart,
    StatusQuery,
    Subscriber,
)
from assent.engine.core.jobs import JobFailed
from assent.gate.effects import EffectTypes
from assent.gate.records import Action
from assent.gate.transitions import APPROVED, EXECUTED, Move
from assent.kernel.ids import WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.ports import Transaction
from assent.sql.loader import statements

SETTLED = Settled(action=put_in(EXECUTED), move=Move.SUCCEED, facts={"fence": 1}, at_ms=NOW_MS)
ENDED = ApprovalEnded(action=stage(), revision=1, move=Move.EDIT, decided=True, at_ms=NOW_MS)
ERASED = Erased(action=stage(), notice="erased", pictures=("sha256:7",), at_ms=NOW_MS)
BEFORE: dict[str, Any] = {
    "staged": Staged(
        workspace_id=stage().workspace_id, run_id=stage().run_id, actions=(stage(),), at_ms=NOW_MS
    ),
    "decided": Decided(before=stage(), action=put_in(APPROVED), move=Move.APPROVE, facts={}, at_ms=NOW_MS),
    "claimed": (put_in(APPROVED), "Ada", NOW_MS),
}
AFTER: dict[str, Any] = {"approval_ended": ENDED, "settled": SETTLED, "erased": ERASED}


class Notebook:
    """Subscribers that write a statement with their number, and the events that they got."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def write(self, number: int) -> Callable[..., Transaction[None]]:
        def follow(*event: Any) -> Transaction[None]:
            self.events.append(event if len(event) > 1 else event[0])
            yield statements.forget_answers(now_ms=0, limit=number)

        return follow

    def fail(self, number: int, fault: Exception) -> Callable[..., Transaction[None]]:
        def follow(*event: Any) -> Transaction[None]:
            yield from self.write(number)(*event)
            raise fault

        return follow


def follow(name: str, hook: str, call: Callable[..., Transaction[None]]) -> Subscriber:
    """A subscriber of one hook."""
    return replace(Subscriber(name=name), **{hook: call})


@pytest.fixture
def subscribe(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(*subscribers: Subscriber) -> None:
        monkeypatch.setattr(hooks._table, "_loaded", subscribers)

    return use


def run(hook: str, event: Any) -> Script:
    script = Script(list_listeners=[], forget_answers=[], insert_job=[ScriptedRow(job_id="job")])
    script.run(getattr(hooks, f"on_{hook}")(*(event if isinstance(event, tuple) else (event,))))
    return script


def numbers(script: Script) -> list[int]:
    return [bound.limit for bound in script.statements if bound.statement.name == "forget_answers"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("hook", "event"), [*BEFORE.items(), *AFTER.items()])
def test_subscribers_follow_in_the_order_of_the_table(
    hook: str, event: Any, subscribe: Callable[..., None]
) -> None:
    notes = Notebook()
    subscribe(
        follow("one", hook, notes.write(1)),
        Subscriber(name="none"),
        follow("two", hook, notes.write(2)),
    )

    assert numbers(run(hook, event)) == [1, 2]
    assert notes.events == [event, event]


def test_what_is_staged_is_weighed_by_one_subscriber_after_another(subscribe: Callable[..., None]) -> None:
    def price(workspace_id: WorkspaceId, staged: tuple[Action, ...]) -> Transaction[tuple[Action, ...]]:
        assert workspace_id == "workspace"
        yield statements.forget_answers(now_ms=0, limit=1)
        return tuple(replace(each, version=each.version + 1) for each in staged)

    subscribe(
        Subscriber(name="one", weigh=price), Subscriber(name="none"), Subscriber(name="two", weigh=price)
    )
    script = Script(list_listeners=[], forget_answers=[])

    (weighed,) = script.run(hooks.weigh(WorkspaceId("workspace"), (stage(version=1),)))

    assert weighed == stage(version=3)


@pytest.mark.parametrize(("hook", "event"), BEFORE.items())
def test_a_subscriber_may_refuse_before_anything_has_happened(
    hook: str, event: Any, subscribe: Callable[..., None]
) -> None:
    refusal = Refusal(Reason.FROZEN)
    subscribe(follow("one", hook, Notebook().fail(1, refusal)))

    with pytest.raises(Refusal) as refused:
        run(hook, event)
    assert refused.value is refusal


@pytest.mark.parametrize(("hook", "event"), AFTER.items())
def test_a_fault_takes_back_one_subscribers_work_alone_and_a_job_repeats_it(
    hook: str, event: Any, subscribe: Callable[..., None]
) -> None:
    notes = Notebook()
    subscribe(
        follow("one", hook, notes.write(1)),
        follow("two", hook, notes.fail(2, RuntimeError("broken"))),
        follow("three", hook, notes.write(3)),
    )

    script = run(hook, event)

    assert numbers(script) == [1, 3]
    job = script.find("insert_job")
    assert (job["kind"], job["due_ms"]) == (REPEAT_JOB, NOW_MS)

    now = replace(event.action, version=9, rejection="no")
    subscribe(follow("one", hook, notes.write(1)), follow("two", hook, notes.write(2)))
    again = repeat(msgspec.json.decode(job["payload"]), [write_row(now)])

    assert numbers(again) == [2]
    assert notes.events[-1] == replace(event, action=replace(now, version=event.action.version))
    assert again.find("lock_action")["action_id"] == event.action.action_id


def test_without_a_fault_no_job_is_asked_for(subscribe: Callable[..., None]) -> None:
    subscribe(Subscriber(name="one", settled=Notebook().write(1)))

    assert "insert_job" not in run("settled", SETTLED).names


def repeat(payload: dict[str, Any], rows: list[ScriptedRow]) -> Script:
    """Run the job of a subscriber that failed."""
    job = claim_job(REPEAT_JOB, payload)
    script = Script(list_listeners=[], forget_answers=[], lock_action=rows)
    script.run(hooks._repeat(job))
    return script


def test_nothing_is_repeated_for_an_action_that_is_gone(subscribe: Callable[..., None]) -> None:
    subscribe(Subscriber(name="one", settled=Notebook().write(1)))

    asked = {"hook": "settled", "subscriber": "one", "actionId": "gone", "event": {}}
    assert numbers(repeat(asked, [])) == []


@pytest.mark.parametrize(("hook", "name"), [("settled", "other"), ("erased", "one")])
def test_a_subscriber_that_is_gone_fails_its_job(
    hook: str, name: str, subscribe: Callable[..., None]
) -> None:
    subscribe(Subscriber(name="one", settled=Notebook().write(1)))

    with pytest.raises(JobFailed):
        repeat({"hook": hook, "subscriber": name, "actionId": "gone", "event": {}}, [])


def test_the_table_is_loaded_once_from_where_it_was_first_said_to_be() -> None:
    table, loaded = hooks._Table(), []

    def load() -> tuple[Subscriber, ...]:
        loaded.append(1)
        return (Subscriber(name="one"),)

    with pytest.raises(RuntimeError):
        table.read()
    table.load = load
    assert table.read() is table.read()
    assert loaded == [1]


def test_the_first_table_that_is_provided_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks._table, "load", None)

    hooks.provide(tuple)
    first = hooks._table.load
    hooks.provide(lambda: ())

    assert first is tuple and hooks._table.load is first


@pytest.mark.parametrize("hook", ["staged", "decided", "settled"])
def test_who_may_hear_of_a_change_is_looked_for_unless_nobody_can(
    hook: str, subscribe: Callable[..., None]
) -> None:
    notes = Notebook()
    subscribe(follow("one", hook, notes.write(1)))
    target = {"workspace_id": "workspace", "listener_id": "target", "wants": "settled failed"}
    script = Script(list_listeners=[ScriptedRow(**target, url="", kind="ntfy")], forget_answers=[])
    event = {**BEFORE, **AFTER}[hook]

    for heard in (True, False):
        script.run(getattr(hooks, f"on_{hook}")(event, heard=heard))

    told, untold = notes.events
    assert told.listeners == (
        Listener(WorkspaceId("workspace"), "target", ("settled", "failed"), "", "ntfy"),
    )
    assert (untold.listeners, script.names.count("list_listeners")) == ((), 1)


@pytest.mark.parametrize("fault", [None, RuntimeError("broken")])
def test_a_fault_about_what_is_left_of_an_effect_is_logged_and_not_repeated(
    fault: Exception | None, subscribe: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    notes = Notebook()
    subscribe(follow("one", "staged", notes.fail(1, fault) if fault else notes.write(1)))

    script = run("offered", BEFORE["staged"])

    assert numbers(script) == ([] if fault else [1])
    assert [record.exc_info is not None for record in caplog.records] == ([True] if fault else [])
    assert "insert_job" not in script.names


QUERY = StatusQuery(
    workspace_id=WorkspaceId("workspace"), tenant_id=None, effects=EffectTypes(), since_ms=0, now_ms=NOW_MS
)
SENT = RunResult(due_ms=NOW_MS, channels={"site": ChannelResult("3 views")})
CONFIRMED = Origin("rule", "No emojis.", "checked", "chat", proposed=False)
PART = StatusPart(extra={"measured": 3})


def give(found: Any) -> Callable[..., Transaction[Any]]:
    """A subscriber's hook that reads something and returns this."""

    def read(*asked: Any) -> Transaction[Any]:
        yield statements.forget_answers(now_ms=0, limit=len(asked))
        return found

    return read


def test_what_subscribers_know_is_read_from_each_that_knows_something(
    subscribe: Callable[..., None],
) -> None:
    subscribe(
        Subscriber(name="none"),
        Subscriber(
            name="one",
            results=give({"run 1": SENT}),
            origins=give({"asset 1": (CONFIRMED,)}),
            status=give(PART),
            account=give({"credits": 3}),
        ),
        Subscriber(
            name="two",
            results=give({"run 2": SENT}),
            origins=give({"asset 2": ()}),
            status=give(replace(PART, said="It counts.")),
            account=give({"limit": 5}),
        ),
    )
    script, workspace_id = Script(forget_answers=[]), WorkspaceId("workspace")

    results = script.run(hooks.read_results(workspace_id, ("run 1", "run 2"), EffectTypes()))
    origins = script.run(hooks.read_origins(()))
    status = script.run(hooks.read_status(QUERY))
    account = script.run(hooks.read_account(workspace_id))

    assert results == {"run 1": SENT, "run 2": SENT}
    assert origins == {"asset 1": (CONFIRMED,), "asset 2": ()}
    assert status == (PART, replace(PART, said="It counts."))
    assert account == {"credits": 3, "limit": 5}
    assert hooks.gives_results() is True


def test_results_are_given_only_where_something_reads_them(subscribe: Callable[..., None]) -> None:
    subscribe(Subscriber(name="none"))

    assert hooks.gives_results() is False


def test_results_are_read_from_the_moment_when_they_were_read() -> None:
    assert SENT.is_read is False
    assert replace(SENT, read_ms=0).is_read is True
