"""A freeze: no path sends, everything else goes on, and no claim gets past it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest
from tests.support.actions.dialog_clients import MODERN, YES, agent, saying
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, GET, PENDING, RESOLVE, Gate
from tests.support.answers import calls_of, text_of
from tests.support.effort import rounds
from tests.support.own_sql import bind_marks
from tests.support.processes.running import DEADLINE_SECONDS
from tests.support.promises import find_promises

from assent.cli.freeze import stop_sending
from assent.engine.actions import actions, execution
from assent.engine.actions.execution import ExecutionOrder
from assent.engine.actions.guards import ReadinessAnswer
from assent.engine.core import freezes
from assent.gate.policy import Policy, Requirement
from assent.gate.preflight import Readiness
from assent.gate.records import Assurance
from assent.kernel.ids import SYSTEM_WORKSPACE, WorkspaceId
from assent.kernel.refusals import Reason, Refusal
from assent.kernel.times import iso_time
from assent.ports import Rows, Transaction
from assent.stores.postgres import PostgresStore


async def freeze(surface: Gate, where: WorkspaceId | None = None, why: str = "a wrong price") -> None:
    now_ms, scope = surface.clock.now_ms(), where or surface.workspace_id
    assert await surface.app.store.write(lambda: freezes.freeze(scope, now_ms, by="test", why=why))


async def unfreeze(surface: Gate, where: WorkspaceId | None = None) -> None:
    now_ms, scope = surface.clock.now_ms(), where or surface.workspace_id
    assert await surface.app.store.write(lambda: freezes.unfreeze(scope, now_ms, by="test")) is not None


async def test_preparing_reading_approving_and_other_workspaces_go_on(surface: Gate) -> None:
    await freeze(surface)
    action_id = await surface.staged(connector="unaware")
    await surface.done(APPROVE, actionId=action_id)
    assert (await surface.record(action_id))["status"] == "approved"
    waiting = await surface.denied(
        EXECUTE, actionId=await surface.staged(body="A second text, not approved.")
    )
    assert waiting["reason"] == "requires_approval"
    frozen_id = surface.workspace_id
    await surface.sign_in()
    assert surface.workspace_id != frozen_id
    elsewhere = await surface.approved(connector="unaware")
    await surface.done(EXECUTE, actionId=elsewhere)
    assert surface.calls == 1


@pytest.mark.own_database
async def test_a_freeze_of_the_server_holds_in_every_workspace_and_is_in_the_journal(surface: Gate) -> None:
    action_id = await surface.approved(connector="unaware")
    await freeze(surface, SYSTEM_WORKSPACE)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "frozen"
    await freeze(surface)
    await unfreeze(surface, SYSTEM_WORKSPACE)
    assert (await surface.denied(EXECUTE, actionId=action_id))["reason"] == "frozen"
    await unfreeze(surface)
    await surface.done(EXECUTE, actionId=action_id)

    def events() -> Transaction[Rows]:
        return (yield bind_marks("SELECT kind FROM events WHERE kind LIKE 'sending_%' ORDER BY at_ms, kind"))

    rows = await surface.app.store.read(events)
    assert sorted(row["kind"] for row in rows) == ["sending_frozen"] * 2 + ["sending_resumed"] * 2
    assert (await surface.app.owner_services.verify_journal(None)).ok


@pytest.mark.own_database
@pytest.mark.parametrize("everywhere", [True, False])
async def test_no_answer_of_a_frozen_server_promises_that_something_goes_out(
    surface: Gate, everywhere: bool
) -> None:
    due = iso_time(surface.clock.now_ms() + 3_600_000)
    retried = await surface.bring_to("retryable", connector="unaware", body="Tried before.")
    approved = await surface.approved(connector="unaware", body="Approved before.")
    planned = await surface.approved(connector="unaware", body="Planned before.", scheduleFor=due)
    waiting = await surface.staged(connector="unaware", body="It waits for a person.")
    later = await surface.staged(connector="unaware", body="It waits for its time.", scheduleFor=due)
    unknown = await surface.bring_to("outcome_unknown", connector="natural", body="Perhaps sent.")
    ids = (retried, approved, planned, waiting, later)
    await freeze(surface, SYSTEM_WORKSPACE if everywhere else None)
    answers = [
        *[await surface.done(GET, actionId=each) for each in ids],
        await surface.done(PENDING),
        await surface.done("chieflab_status"),
        await surface.done("chieflab_report"),
        *[await surface.denied(EXECUTE, actionId=each) for each in (retried, approved, planned)],
        await surface.done(RESOLVE, actionId=unknown, outcome="look_now"),
        await surface.done(EDIT, actionId=waiting, body="It waits for a person, and says more."),
        await surface.run({"connector": "unaware", "body": "A new one."}),
        await surface.done(APPROVE, actionId=later),
        await surface.approve_as_shown(waiting),
        await surface.done(APPROVE, actionId=await surface.staged(connector="unaware"), send=True),
    ]
    for answer in answers:
        texts = [answer.get(name) for name in ("summaryForUser", "fixActionForAgent")]
        texts += [text_of(answer), *(each["when"] for each in calls_of(answer))]
        said = " ".join(text for text in texts if isinstance(text, str))
        assert find_promises(said) == [], said
    for each in (retried, approved, planned, waiting, later):
        shown = await surface.done(GET, actionId=each)
        assert "a wrong price" in shown["userMessage"] or shown["status"] == "awaiting_approval"
        assert "a wrong price" in text_of(shown)
        assert EXECUTE not in [call["name"] for call in calls_of(shown)]
    sent = await surface.done(APPROVE, actionId=await surface.staged(connector="unaware"), send=True)
    assert "tell me to send it" in sent["userMessage"]
    assert iso_time(surface.clock.now_ms())[:11] not in sent["userMessage"]
    await unfreeze(surface, SYSTEM_WORKSPACE if everywhere else None)
    assert find_promises(text_of(await surface.done(GET, actionId=planned)))


async def test_the_dialog_of_a_client_promises_nothing_on_a_frozen_server(surface: Gate) -> None:
    client = Requirement(Assurance.CLIENT)
    await surface.set_policy(Policy(low=client, medium=client, high=client))
    due = iso_time(surface.clock.now_ms() + 3_600_000)
    ids = [
        await surface.staged(connector="unaware"),
        await surface.staged(connector="unaware", scheduleFor=due),
    ]
    await freeze(surface)
    person = saying("accept", YES)
    async with agent(surface, MODERN, person) as asking:
        told = [await asking.approve(each) for each in ids]
    assert len(person.seen) == 2
    for text in (*person.seen, *(each.payload["userMessage"] for each in told)):
        assert find_promises(text) == [] and "a wrong price" in text


async def test_a_repetition_that_is_under_way_counts_as_in_flight(surface: Gate) -> None:
    action_id = await surface.bring_to("outcome_unknown", connector="natural")
    sent = await surface.bring_to("outcome_unknown", connector="unaware", body="Only a person can tell.")

    async def count() -> int:
        now_ms, where = surface.clock.now_ms(), surface.workspace_id
        return await surface.app.store.read(lambda: freezes.count_executing(where, now_ms))

    for each in (action_id, sent):
        action = await surface.stored(each)
        assert action.attempt is not None
        over_ms = max(0, action.attempt.lease_until_ms - surface.clock.now_ms())
        surface.clock.advance(seconds=1 + over_ms / 1000)
    assert await count() == 0
    action = await surface.stored(action_id)
    assert action.attempt is not None
    lease_ms = surface.clock.now_ms() + 30_000
    attempt = msgspec.structs.replace(
        action.attempt, leased_ms=surface.clock.now_ms(), lease_until_ms=lease_ms
    )
    repeating = msgspec.structs.replace(action, attempt=attempt)
    await surface.app.store.write(lambda: actions.put_claim(repeating))
    assert await count() == 1
    surface.clock.advance(seconds=30)
    assert await count() == 0


async def test_after_the_command_returns_no_claim_commits(surface: Gate) -> None:
    """Claims and the freeze at the same time, again and again."""
    for turn in range(3):
        ids = [
            await surface.approved(connector="unaware", body=f"Note {turn}.{each} about the importer.")
            for each in range(8)
        ]

        async def execute(action_id: str, after: int) -> None:
            for _ in range(after):
                await asyncio.sleep(0)
            await surface.ask(EXECUTE, actionId=action_id)

        claims = [asyncio.create_task(execute(each, 15 * place)) for place, each in enumerate(ids)]
        done = await stop_sending(surface.app, surface.workspace_id, "", why="")
        assert done.in_effect
        claimed = {each for each in ids if (await surface.stored(each)).attempt is not None}
        await asyncio.gather(*claims)
        assert {each for each in ids if (await surface.stored(each)).attempt is not None} == claimed
        await unfreeze(surface)


async def until(look: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await look():  # noqa: ASYNC110 - the state of the database
            await asyncio.sleep(0.005)


@pytest.mark.own_database
async def test_the_command_waits_for_a_claim_that_judged_before_it(surface: Gate) -> None:
    if surface.app.store.dialect != "postgres":
        return  # one writer: a claim is over before the freeze is stored
    import asyncpg

    action_id = await surface.approved(connector="unaware")
    other = await asyncpg.connect(surface.app.settings.database_url)
    try:
        block = other.transaction()
        await block.start()
        await other.execute("LOCK TABLE jobs IN SHARE MODE")  # a claim writes its job last
        claim = asyncio.create_task(surface.ask(EXECUTE, actionId=action_id))
        waiting = (
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        await until(lambda: other.fetchval(waiting))
        stopping = asyncio.create_task(stop_sending(surface.app, surface.workspace_id, "", why=""))
        await until(lambda: other.fetchval("SELECT count(*) FROM freezes"))
        assert not stopping.done()
        await block.commit()
        assert (await stopping).in_effect
        assert (await surface.stored(action_id)).attempt is not None
        await claim
        assert len(surface.ledger) == 1
    finally:
        await other.close()


class Steps:
    """A transaction on a connection of its own, of which each step is a statement of the product."""

    def __init__(self, connection: Any, transaction: Any) -> None:
        self._connection, self._transaction = connection, transaction
        self._block = connection.transaction(isolation="read_committed")
        self.ran: list[str] = []

    async def run(self) -> None:
        """Run every statement; `commit` is another step."""
        await self._block.start()
        rows: Any = None
        try:
            while True:
                bound = self._transaction.send(rows)
                self.ran.append(bound.statement.name)
                text = bound.statement.postgres
                rows = await self._connection.fetch(text, *msgspec.structs.astuple(bound)) if text else []
        except StopIteration:
            pass

    async def commit(self) -> None:
        await self._block.commit()


@contextlib.asynccontextmanager
async def connections(surface: Gate, count: int) -> AsyncIterator[list[Any]]:
    import asyncpg

    opened = [await asyncpg.connect(surface.app.settings.database_url) for _ in range(count)]
    try:
        yield opened
    finally:
        for each in opened:
            await each.close()


async def begin_claim(surface: Gate, action_id: str) -> Callable[[], Transaction[Any]]:
    """The transaction that claims an action, after its connector said that it is ready."""
    services, now_ms, action = surface.app.services, surface.clock.now_ms(), await surface.stored(action_id)
    order = ExecutionOrder(
        workspace_id=action.workspace_id, action_id=action.action_id, tool=EXECUTE, by="test"
    )
    asked = ReadinessAnswer(action.effect.connector, action.digest, Readiness(ready=True))
    return lambda: execution.claim(services, order, services.new_id(now_ms), now_ms, asked)


LOCK_WAITS = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' "
    "AND wait_event = 'advisory'"
)


@pytest.mark.own_database
@pytest.mark.parametrize("everywhere", [True, False])
async def test_a_claim_between_the_row_of_a_freeze_and_its_commit_is_waited_for(
    surface: Gate, everywhere: bool
) -> None:
    """The claim cannot see the row, and its transaction is younger than every one that has ended."""
    if surface.app.store.dialect != "postgres":
        return  # one writer: a claim is over before the freeze is stored
    scope = SYSTEM_WORKSPACE if everywhere else surface.workspace_id
    early, late = [await surface.approved(connector="unaware", body=f"Note {each}.") for each in (1, 2)]
    async with connections(surface, 3) as (first, second, third):
        freezing = Steps(first, freezes.freeze(scope, surface.clock.now_ms(), by="test", why=""))
        claiming = Steps(second, (await begin_claim(surface, early))())
        await freezing.run()
        await claiming.run()
        await freezing.commit()
        stopping = asyncio.create_task(stop_sending(surface.app, scope, "", why=""))

        async def is_waiting_or_done() -> bool:
            return stopping.done() or bool(await third.fetch(LOCK_WAITS))

        await until(is_waiting_or_done)
        assert not stopping.done(), "in effect, while a claim is open"
        await claiming.commit()
        done = await stopping
        assert (done.in_effect, done.in_flight) == (True, 1)
        assert (await surface.stored(early)).attempt is not None
        assert (await surface.denied(EXECUTE, actionId=late))["reason"] == "frozen"
        assert claiming.ran[0] == "share_claiming", "a claim that waits for the lock holds no row"


@pytest.mark.own_database
async def test_a_claim_that_hangs_delays_the_words_and_not_the_freeze(surface: Gate) -> None:
    if surface.app.store.dialect != "postgres":
        return  # one writer: a claim is over before the freeze is stored
    hung, other = [await surface.approved(connector="unaware", body=f"Note {each}.") for each in (1, 2)]
    async with connections(surface, 2) as (first, second):
        claiming = Steps(first, (await begin_claim(surface, hung))())
        await claiming.run()
        stopping = asyncio.create_task(stop_sending(surface.app, SYSTEM_WORKSPACE, "", why=""))
        await until(lambda: second.fetch(LOCK_WAITS))
        # Its time is up, as after ten seconds.
        await second.fetch(f"SELECT pg_cancel_backend(pid) FROM ({LOCK_WAITS}) waiting")
        assert not (await stopping).in_effect
        assert (await surface.denied(EXECUTE, actionId=other))["reason"] == "frozen"
        await claiming.commit()
        assert (await stop_sending(surface.app, SYSTEM_WORKSPACE, "", why="")).in_effect


async def claim_without_end(
    surface: Gate, action_id: str, store: PostgresStore, begun: asyncio.Event
) -> None:
    """Claim an action and take the claim back, without a pause, until it is refused."""
    claiming = await begin_claim(surface, action_id)
    undo = "UPDATE actions SET attempt = NULL, execution_state = 'none' WHERE action_id = ?"

    def begin() -> Transaction[None]:
        yield from claiming()
        yield bind_marks(undo, action_id)

    with pytest.raises(Refusal) as refused:
        while True:
            await store.write(begin)
            begun.set()
    assert refused.value.reason is Reason.FROZEN


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.own_database
async def test_a_freeze_is_in_effect_within_a_second_beside_32_claimers_without_a_pause(
    surface: Gate,
) -> None:
    if surface.app.store.dialect != "postgres":
        return  # one writer: claims do not overlap
    ids = [await surface.approved(connector="unaware", body=f"Note {each}.") for each in range(32)]

    def count_claims() -> Transaction[int]:
        rows = yield bind_marks("SELECT count(*) AS claims FROM events WHERE kind = 'action_claim'")
        return int(rows[0]["claims"])

    for turn in range(rounds(2, 40)):
        where = SYSTEM_WORKSPACE if turn % 2 else surface.workspace_id
        stores = [PostgresStore(surface.app.settings.database_url, pool_size=1) for _ in ids]
        begun = [asyncio.Event() for _ in ids]
        claimers = [
            asyncio.create_task(claim_without_end(surface, *of))
            for of in zip(ids, stores, begun, strict=True)
        ]
        async with asyncio.timeout(DEADLINE_SECONDS):
            await asyncio.gather(*(each.wait() for each in begun))
        done = await stop_sending(surface.app, where, "", why="")
        in_time = await surface.app.store.read(count_claims)
        await asyncio.gather(*claimers)
        assert done.in_effect and done.effective_after_ms < 1_000, done
        assert await surface.app.store.read(count_claims) == in_time
        for each in stores:
            await each.close()
        await unfreeze(surface, where)


async def test_one_agent_is_stopped_with_what_it_proposed_and_others_go_on(surface: Gate) -> None:
    due = iso_time(surface.clock.now_ms() + 3_600_000)
    proposed = await surface.approved(connector="unaware", body="Proposed by the stopped agent.")
    planned = await surface.approved(
        connector="unaware", body="Planned by the stopped agent.", scheduleFor=due
    )
    mine = (await surface.stored(proposed)).metadata["proposal"]
    agent = mine.get("holder") or mine["caller"]
    now_ms, where = surface.clock.now_ms(), surface.workspace_id

    def stop(whom: str) -> Transaction[bool]:
        return freezes.freeze(where, now_ms, by="test", why="a loop", agent=whom, label="Claude")

    assert await surface.app.store.write(lambda: stop("key:another"))
    assert (await surface.done(GET, actionId=planned))["userMessage"].count("a loop") == 0
    await surface.done(EXECUTE, actionId=proposed)
    assert await surface.app.store.write(lambda: stop(agent))
    late = await surface.approved(connector="unaware", body="Proposed while it is stopped.")
    for each in (planned, late):
        refused = await surface.denied(EXECUTE, actionId=each)
        assert refused["reason"] == "frozen" and "Claude" in refused["userMessage"]
    assert "a loop" in text_of(await surface.done(GET, actionId=planned))
    surface.clock.advance(hours=2)
    calls = surface.calls
    await surface.run_jobs()
    assert surface.calls == calls, "what is scheduled of its proposals stops, too"
    assert await surface.app.store.write(
        lambda: freezes.unfreeze(where, surface.clock.now_ms(), by="test", agent=agent)
    )
    await surface.done(EXECUTE, actionId=late)
