"""Tables that are spread over several servers, with a connection that plays Citus."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import asyncpg
import pytest

from assent.engine.core.services import Services
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.ports import SchemaMismatch, SchemaOutdated, Single, StoreUnavailable
from assent.serving.site import ELSEWHERE, StoreCheck
from assent.sql.components import list_core_tables
from assent.sql.loader import split_script
from assent.sql.schema import REFERENCE_TABLES
from assent.stores.postgres_connection import meaning
from assent.stores.postgres_shards import IS_CITUS, PLACED, place, refuse_partly_placed

pytestmark = pytest.mark.anyio

TABLES = sorted(list_core_tables())


class Scripted:
    """A connection to a database in which some tables are placed: `h` by hash, `n` whole."""

    def __init__(self, placed: dict[str, str], *, is_citus: bool = True) -> None:
        self.placed = placed
        self.is_citus = is_citus
        self.commands: list[str] = []

    async def fetchval(self, sql: str) -> bool:
        assert sql == IS_CITUS
        return self.is_citus

    async def fetch(self, sql: str, names: list[str]) -> list[dict[str, Any]]:
        assert sql == PLACED
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


async def test_a_server_without_the_extension_is_told() -> None:
    with pytest.raises(SchemaMismatch, match="CREATE EXTENSION citus"):
        await place(Scripted({}, is_citus=False), (), 8)


def test_a_script_is_split_outside_of_literals_and_comments() -> None:
    script = "-- one; two\nCREATE TABLE a (b TEXT DEFAULT 'x;''y'); /* ; */\nDROP INDEX \"c;d\";\n-- the end"
    assert split_script(script) == ["CREATE TABLE a (b TEXT DEFAULT 'x;''y')", 'DROP INDEX "c;d"']


def test_a_commit_that_a_server_does_not_answer_is_unknown_and_no_mistake() -> None:
    error = asyncpg.InternalServerError(
        "could not commit transaction for shard 7 on at least one active node"
    )
    assert isinstance(meaning(error, committing=True), StoreUnavailable)
    assert meaning(error) is error


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
