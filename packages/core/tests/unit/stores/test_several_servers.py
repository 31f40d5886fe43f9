"""Tables that are spread over several servers, with a connection that plays Citus."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import asyncpg
import pytest

from assent.cli.freeze import FrozenSending, freeze
from assent.cli.session import CommandSession, Failure
from assent.engine.core.services import Services
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import Begin, Bound, Rows, SchemaMismatch, SchemaOutdated, Single, StoreUnavailable
from assent.serving.site import ELSEWHERE, StoreCheck
from assent.sql.components import list_core_tables
from assent.sql.loader import split_script, statements
from assent.sql.schema import REFERENCE_TABLES
from assent.stores.postgres_connection import meaning
from assent.stores.postgres_shards import (
    IS_CITUS,
    LOOK_AGAIN_SECONDS,
    NODES,
    PLACED,
    Servers,
    place,
    refuse_partly_placed,
)

TABLES = sorted(list_core_tables())


class Scripted:
    """A connection to a database in which some tables are placed: `h` by hash, `n` whole."""

    def __init__(self, placed: dict[str, str], *, is_citus: bool = True, nodes: int = 1) -> None:
        self.placed = placed
        self.nodes = nodes
        self.is_citus = is_citus
        self.commands: list[str] = []

    async def fetchval(self, sql: str) -> bool:
        assert sql == IS_CITUS
        return self.is_citus

    async def fetch(self, sql: str, names: list[str] | None = None) -> list[dict[str, Any]]:
        if sql == NODES:
            return [{"name": "db1:5432", "answers": True, "is_this": False}] * self.nodes
        assert sql == PLACED
        assert names is not None
        return [{"name": name, "how": self.placed.get(name)} for name in names]

    async def execute(self, sql: str) -> None:
        self.commands.append(sql)
        for function, how in (("create_reference_table", "n"), ("create_distributed_table", "h")):
            if function in sql:
                self.placed[sql.split("'")[1]] = how


async def test_every_table_is_placed_once_those_of_all_servers_first() -> None:
    database = Scripted({})
    assert await place(database, (), None) == ()
    assert sorted(await place(database, (), 8)) == TABLES
    made = [command for command in database.commands if "SELECT create" in command]
    whole, first = made[: len(REFERENCE_TABLES)], made[len(REFERENCE_TABLES)]
    assert sorted(command.split("'")[1] for command in whole) == sorted(REFERENCE_TABLES)
    assert first == "SELECT create_distributed_table('streams', 'workspace_id', shard_count => 8)"
    assert all("'workspace_id', colocate_with => 'streams'" in command for command in made[len(whole) + 1 :])
    assert await place(database, (), 8) == ()


async def test_a_new_table_is_placed_without_being_asked_where_others_are() -> None:
    placed = {name: "n" if name in REFERENCE_TABLES else "h" for name in TABLES if name != "pictures"}
    assert await place(Scripted(placed), (), None) == ("pictures",)


async def test_a_schema_that_is_placed_in_part_is_refused_with_the_command() -> None:
    await refuse_partly_placed(Scripted({}, is_citus=False), ())
    await refuse_partly_placed(Scripted({}), ())
    with pytest.raises(SchemaOutdated, match=r"pictures.*assent migrate --distribute"):
        await refuse_partly_placed(Scripted({name: "h" for name in TABLES if name != "pictures"}), ())


async def test_a_server_without_the_extension_or_without_workers_is_told() -> None:
    with pytest.raises(SchemaMismatch, match="CREATE EXTENSION citus"):
        await place(Scripted({}, is_citus=False), (), 8)
    with pytest.raises(SchemaMismatch, match="citus_add_node"):
        await place(Scripted({}, nodes=0), (), 8)


def make_bound(name: str) -> Bound:
    """A statement with values that mean nothing."""
    statement: Any = getattr(statements, name)
    return statement(**dict.fromkeys(statement.statement.params, 1))  # type: ignore[no-any-return]


class Asked:
    """Three servers that are asked one by one; some do not answer."""

    def __init__(self) -> None:
        self.prepared = 0
        self.servers = Servers(self.prepare)
        self.servers.are_several = True
        self.rows = {"db1": '[{"job_id": "a"}]', "db2": '[{"job_id": "b"}]', "db3": "[]"}
        self.timelines = dict.fromkeys(self.rows, 1)
        self.asked: list[Any] = []
        self.silent: set[str] = set()

    def prepare(self) -> None:
        self.prepared += 1

    def run(self, bound: Bound, *, writes: bool = False) -> Rows:
        """Drive a transaction of one statement, as a store does."""
        return self.drive((self.servers.for_write if writes else self.servers.for_read)(Single(bound)))

    def drive(self, begin: Begin[Rows]) -> Rows:
        transaction, rows = begin(), cast("Any", None)
        try:
            while True:
                asked: Any = transaction.send(rows)
                self.asked.append(asked)
                rows = []
                if asked.statement.name == "read_server_history":
                    rows = [{"system": "s", "database": "d", "timeline": 1, "synchronous": True}]
                if asked.statement.name == "ask_workers":
                    rows = [
                        {"server": name, "success": name not in self.silent, "result": f"[{timeline}, true]"}
                        for name, timeline in self.timelines.items()
                    ]
                if asked.statement.name == "ask_each_server":
                    rows = [
                        {"server": name, "success": name not in self.silent, "result": result}
                        for name, result in self.rows.items()
                        if name not in asked.left_out
                    ]
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def test_jobs_of_other_servers_are_found_while_one_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    database = Asked()
    ready = statements.list_ready_jobs(leases='{"it\'s": 1}', most=7)
    assert database.run(ready) == []
    assert database.asked.pop() is ready  # all servers in one read
    database.servers.ask_apart()
    database.silent = {"db2"}
    assert database.run(ready) == [{"job_id": "a"}]
    assert ", ".join(database.servers.away) == "db2"
    (asked,) = [each for each in database.asked if each.statement.name == "ask_each_server"]
    assert "FROM %s" in asked.command and "'{\"it''s\": 1}'" in asked.command and "LIMIT 7" in asked.command
    database.run(ready)  # not asked again at once: it may hang
    assert database.asked[-1].left_out == ["db2"]
    now += LOOK_AGAIN_SECONDS
    database.silent = set()
    assert database.run(ready) == [{"job_id": "a"}, {"job_id": "b"}]
    assert not database.servers.away
    database.run(ready)
    assert database.asked[-1] is ready


def test_the_versions_that_calls_wait_for_are_read_from_the_servers_that_answer() -> None:
    database = Asked()
    database.servers.ask_apart()
    database.run(statements.list_action_versions(wanted='[["w", "50%"]]'))
    (asked,) = [each for each in database.asked if each.statement.name == "ask_each_server"]
    assert "JOIN %s a ON" in asked.command and '["w", "50%%"]' in asked.command


def test_a_server_that_answers_again_is_prepared_for_before_an_action_is_claimed() -> None:
    claim = make_bound("store_claim")
    database = Asked()
    database.run(claim, writes=True)
    assert [each.statement.name for each in database.asked] == ["store_claim"]  # nothing is asked as a rule

    database.servers.ask_apart()
    database.silent = {"db2"}
    database.run(claim, writes=True)
    assert database.prepared == 0  # others go on
    database.silent = set()
    with pytest.raises(StoreUnavailable, match="answers again"):
        database.run(claim, writes=True)
    assert (database.prepared, database.asked[-1].statement.name) == (1, "ask_workers")
    database.run(claim, writes=True)
    assert database.asked[-1] is claim


def test_a_server_that_was_gone_between_two_looks_is_prepared_for() -> None:
    database = Asked()
    database.servers.ask_apart()
    database.run(statements.list_ready_jobs(leases="{}", most=7))
    assert database.prepared == 1
    database.run(statements.list_ready_jobs(leases="{}", most=7))
    assert database.prepared == 1


@pytest.mark.parametrize(("silent", "timeline", "seen"), [(set(), 1, 1), (set(), 3, 3), ({"db2"}, 3, None)])
def test_the_history_counts_the_promotions_of_all_servers(
    silent: set[str], timeline: int, seen: int | None
) -> None:
    database = Asked()
    database.timelines["db3"], database.silent = timeline, silent
    found = database.run(statements.read_server_history(), writes=True)
    assert [row["timeline"] for row in found] == ([] if seen is None else [seen])


def test_the_first_read_of_a_process_counts_the_promotions_of_servers_that_its_connection_finds() -> None:
    database = Asked()
    database.timelines["db3"], database.servers.are_several = 2, False
    begin = database.servers.for_write(Single(statements.read_server_history()))
    database.servers.are_several = True  # as the first connection of a pool finds
    assert [row["timeline"] for row in database.drive(begin)] == [2]


@pytest.mark.parametrize("lost", ["row", "server", None])
def test_a_freeze_is_in_effect_when_every_server_has_its_row(lost: str | None) -> None:
    database = Asked()
    database.servers.ask_apart()
    database.rows = dict.fromkeys(database.rows, '[{"agent": "", "since_ms": 5}]')
    if lost == "row":
        database.rows["db2"] = "[]"
    database.silent = {"db2"} if lost == "server" else set()
    waits = statements.await_claims(workspace_id="w")
    with nullcontext() if lost is None else pytest.raises(StoreUnavailable, match="db2"):
        database.run(waits)
    assert (database.asked[-1] is waits) is (lost is None)  # it waits for claims once the row is seen


class Refusing:
    """A store of which a server is away. It takes so many transactions that write, and so many that read."""

    def __init__(self, writes: int, reads: int) -> None:
        self.left = {"write": writes, "read": reads}

    async def open(self) -> None:
        pass

    async def write(self, begin: Any) -> Rows:
        return self._take("write")

    async def read(self, begin: Any) -> Rows:
        return self._take("read")

    def _take(self, kind: str) -> Rows:
        self.left[kind] -= 1
        if self.left[kind] < 0:
            raise StoreUnavailable("db2 does not answer")
        return []


def order_freeze(store: Refusing, said: list[FrozenSending]) -> int:
    """Run `assent freeze` over a store; keeps what it gives in `said`."""
    app = SimpleNamespace(store=store, clock=SimpleNamespace(now_ms=lambda: 5))
    session = SimpleNamespace(
        require_data=lambda: None,
        settings=SimpleNamespace(sqlite_path=None),
        use_app=lambda work: asyncio.run(work(app)),
        again=lambda *words: " ".join(words),
        give=lambda done, text: said.append(done),
    )
    return freeze(cast("CommandSession", session))


def test_a_freeze_that_a_server_does_not_take_is_told_as_none_with_what_stops_sending_now() -> None:
    with pytest.raises(Failure, match=r"(?s)not known to be stopped: db2 .*stop the processes"):
        order_freeze(Refusing(0, 0), [])


def test_a_freeze_that_is_stored_and_not_on_every_server_is_told_as_not_in_effect() -> None:
    said: list[FrozenSending] = []
    assert order_freeze(Refusing(1, 1), said) == 1
    assert [(done.in_effect, done.in_flight) for done in said] == [(False, None)]


def test_a_script_is_split_outside_of_literals_and_comments() -> None:
    script = "-- one; two\nCREATE TABLE a (b TEXT DEFAULT 'x;''y'); /* ; */\nDROP INDEX \"c;d\";\n-- the end"
    assert split_script(script) == ["CREATE TABLE a (b TEXT DEFAULT 'x;''y')", 'DROP INDEX "c;d"']


def test_a_commit_that_a_server_does_not_answer_is_unknown_and_no_mistake() -> None:
    error = asyncpg.InternalServerError(
        "could not commit transaction for shard 7 on at least one active node"
    )
    assert isinstance(meaning(error, committing=True), StoreUnavailable)
    assert meaning(error) is error


def test_a_role_that_may_not_make_tables_is_told_to_own_the_database() -> None:
    said = meaning(asyncpg.InsufficientPrivilegeError("permission denied for schema public"))
    assert isinstance(said, StoreUnavailable) and "OWNER TO" in str(said)


@pytest.mark.parametrize("away", [{SYSTEM_WORKSPACE}, {SYSTEM_WORKSPACE, *ELSEWHERE}])
async def test_a_process_is_ready_while_a_server_of_several_takes_writes(away: set[str]) -> None:
    async def write(begin: Single) -> None:
        if begin.bound.workspace_id in away:  # type: ignore[attr-defined]
            raise StoreUnavailable("this server is away")

    async def check_store() -> None:
        pass

    services = cast("Services", SimpleNamespace(check_store=check_store, store=SimpleNamespace(write=write)))
    with nullcontext() if len(away) == 1 else pytest.raises(StoreUnavailable):
        await StoreCheck(services).check()
