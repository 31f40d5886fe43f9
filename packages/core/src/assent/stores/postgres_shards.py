"""Tables spread over several servers by the extension Citus: where each is, and putting it there.

Every table with a `workspace_id` is spread by it, so that the rows of a workspace are together on one server. Reference
tables are whole on every server (`REFERENCE_TABLES`, `Component.reference`). A schema is spread as a whole or not at
all: statements join its tables.

A server that is away takes its own workspaces with it and no others (`Servers`). Citus answers a read of all shards
with an error then, so the jobs of the others are looked for on each server alone. A server that answers again may
be a standby that was promoted without the last writes. The store is then prepared again, as at its first use, and no
action is claimed before.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from assent.kernel.structs import Record
from assent.ports import (
    Begin,
    Bound,
    Rows,
    SchemaMismatch,
    SchemaOutdated,
    Statement,
    StoreUnavailable,
    Transaction,
)
from assent.sql.components import Component, list_core_tables
from assent.sql.loader import statements
from assent.sql.schema import REFERENCE_TABLES

T = TypeVar("T")

log = logging.getLogger("assent.stores")

SHARDS: Final = 32
"""Shards of a table. A shard is on one server, so there can be no more servers than these."""

FIRST: Final = "streams"
"""The table that the others are placed beside."""

IS_CITUS: Final = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
PLACED: Final = (
    "SELECT t.name, p.partmethod::text AS how FROM unnest($1::text[]) AS t (name) "
    "LEFT JOIN pg_catalog.pg_dist_partition p ON p.logicalrelid = to_regclass(t.name) "
    "WHERE to_regclass(t.name) IS NOT NULL ORDER BY t.name"
)
NODES: Final = (
    "SELECT nodename || ':' || nodeport AS name, "
    "(SELECT bool_and(h.result) FROM citus_check_cluster_node_health() h "
    "WHERE h.to_nodename = n.nodename AND h.to_nodeport = n.nodeport AND h.result IS NOT NULL) AS answers, "
    "n.groupid = (SELECT groupid FROM pg_catalog.pg_dist_local_group) AS is_this "
    "FROM pg_catalog.pg_dist_node n ORDER BY n.nodeid"
)


APART: Final = {"list_ready_jobs": "jobs", "list_jobs_ahead": "jobs", "list_action_versions": "actions"}
"""Reads of one table, and its name, that are worth having without the rows of a server that is away."""

LOOK_AGAIN_SECONDS: Final = 5.0
"""How long a server that did not answer is left out, before it is asked again."""

SHORTEN = Statement(
    "shorten_waiting",
    "",
    "SELECT set_config('citus.node_connection_timeout', '1000', true)",
    (),
    writes=False,
).bound_type()
"""Wait a second for a server that hangs; Citus would wait thirty."""

ASK = Statement(
    "ask_each_server",
    "",
    "SELECT r.node_name || ':' || r.node_port AS server, r.success, r.result FROM ("
    "SELECT array_agg(c.nodename) AS names, array_agg(c.nodeport) AS ports, array_agg(c.command) AS commands FROM ("
    "SELECT p.nodename, p.nodeport::int, 'SELECT coalesce(json_agg(r), ''[]'')::text FROM (' || "
    "string_agg(format('(' || $2::text || ')', shard_name(s.logicalrelid, s.shardid)), ' UNION ALL ') || ') r' "
    "AS command FROM pg_catalog.pg_dist_shard s JOIN pg_catalog.pg_dist_shard_placement p USING (shardid) "
    "WHERE s.logicalrelid = to_regclass($1::text) AND p.nodename || ':' || p.nodeport <> ALL ($3::text[]) "
    "GROUP BY p.nodename, p.nodeport) c) a, master_run_on_worker(a.names, a.ports, a.commands, true) r",
    ("table_name", "command", "left_out"),
    writes=False,
).bound_type()
"""Ask every server for its part of a table. A server that does not answer is a row with its error."""

EACH = Statement(
    "ask_workers",
    "",
    "SELECT nodename || ':' || nodeport AS server, success, result FROM run_command_on_workers($1::text)",
    ("command",),
    writes=False,
).bound_type()
"""Run a command on every worker. One that does not answer is a row with its error."""

HISTORY: Final = (
    "SELECT json_build_array(timeline, synchronous)::text "  # noqa: S608 - a statement of ours
    f"FROM ({statements.read_server_history.statement.postgres}) h"
)

FREEZES = Statement(
    "read_freezes_there",
    "",
    "SELECT agent, since_ms FROM %s WHERE workspace_id = $1 ORDER BY agent",
    ("workspace_id",),
).bound_type()


class Placement(Record):
    """The tables of a schema that is spread, and those that are not placed though it is."""

    spread: tuple[str, ...]
    reference: tuple[str, ...]
    missing: tuple[str, ...]


async def is_spread(connection: Any) -> bool:
    """Whether the tables are spread over servers."""
    return bool(await connection.fetchval(IS_CITUS)) and bool(
        (await connection.fetch(PLACED, [FIRST]))[0]["how"]
    )


async def read_placement(connection: Any, components: Sequence[Component]) -> Placement | None:
    """Return where the tables are; None where none is spread."""
    if not await connection.fetchval(IS_CITUS):
        return None
    names = set(list_core_tables()).union(*(component.tables() for component in components))
    placed = {row["name"]: row["how"] for row in await connection.fetch(PLACED, sorted(names))}
    spread, reference, missing = (
        tuple(name for name, how in placed.items() if how == wanted) for wanted in ("h", "n", None)
    )
    return Placement(spread, reference, missing) if spread or reference else None


async def refuse_partly_placed(connection: Any, components: Sequence[Component]) -> None:
    """Raise `SchemaOutdated` if some tables of a schema are spread and others are not."""
    found = await read_placement(connection, components)
    if found is not None and found.missing:
        raise SchemaOutdated(
            f"The tables of this database are spread over several servers, but not {', '.join(found.missing)}. "
            "Run `assent migrate --distribute`."
        )


async def place(connection: Any, components: Sequence[Component], shards: int | None) -> tuple[str, ...]:
    """Spread the tables that are not yet, in the running transaction, and return their names. Without a number of
    shards only where others are spread."""
    if shards is not None and not await connection.fetchval(IS_CITUS):
        raise SchemaMismatch(
            "The PostgreSQL database has no extension that spreads tables. As an administrator run "
            "CREATE EXTENSION citus on this server and its workers, and add these (docs/scale.md)."
        )
    if shards is not None and not await list_nodes(connection):
        raise SchemaMismatch(
            "The Citus database has no workers. Add them with citus_add_node (docs/scale.md)."
        )
    found = await read_placement(connection, components)
    if found is None and shards is None:
        return ()
    names = set(list_core_tables()).union(*(component.tables() for component in components))
    placed = await connection.fetch(PLACED, sorted(names))
    missing = [row["name"] for row in placed if row["how"] is None]
    everywhere = REFERENCE_TABLES.union(*(component.reference for component in components))
    await connection.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
    for name in sorted(missing, key=lambda name: (name not in everywhere, name != FIRST, name)):
        if name in everywhere:
            await connection.execute(f"SELECT create_reference_table('{name}')")
        else:
            beside = f"shard_count => {shards or SHARDS}" if name == FIRST else f"colocate_with => '{FIRST}'"
            await connection.execute(f"SELECT create_distributed_table('{name}', 'workspace_id', {beside})")
        await connection.execute(f"SELECT truncate_local_data_after_distributing_table('{name}')")
    return tuple(missing)


async def list_nodes(connection: Any) -> list[tuple[str, bool]]:
    """Return the servers, and whether each answers."""
    return [(row["name"], row["is_this"] or bool(row["answers"])) for row in await connection.fetch(NODES)]


class Servers:
    """The servers over which one store is spread. Adds to its transactions what a spread store needs and no other."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        """`changed` is called when a server answers again."""
        self._changed = changed
        self.are_several = False
        self.away: tuple[str, ...] = ()
        """Those that did not answer when they were last asked."""
        self._apart = False
        self._ask_all_seconds = 0.0

    def ask_apart(self) -> None:
        """Ask each server alone from now on, until all answer: a read of all failed."""
        self._apart = self.are_several

    def for_read(self, begin: Begin[T]) -> Begin[T]:
        return self.for_write(begin) if self._apart else begin

    def for_write(self, begin: Begin[T]) -> Begin[T]:
        # Decided when it begins: the first connection of a process finds the servers.
        return lambda: self._drive(begin()) if self.are_several else begin()

    def _drive(self, transaction: Generator[Bound, Rows, T]) -> Transaction[T]:
        try:
            bound = next(transaction)
            while True:
                name = bound.statement.name
                if name == "await_claims":
                    yield from self._see_freeze_everywhere(bound)
                if self._apart and name == "store_claim":
                    yield from self._see_who_is_back()
                if self._apart and name in APART:
                    rows = yield from self._read_apart(bound)
                else:
                    rows = yield bound
                if name == "read_server_history":
                    rows = yield from self._add_histories(rows)
                bound = transaction.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result

    def _read_apart(self, bound: Bound) -> Transaction[Rows]:
        """Read what the servers have that answer."""
        table = APART[bound.statement.name]
        command = re.sub(rf"\b(FROM|JOIN) {table}\b", r"\1 %s", write_out(bound).replace("%", "%%"))
        again = time.monotonic() >= self._ask_all_seconds
        left_out = () if again else self.away
        yield SHORTEN()
        rows = yield ASK(table_name=table, command=command, left_out=list(left_out))
        self._note((*left_out, *(row["server"] for row in rows if not row["success"])), asked_all=again)
        return [each for row in rows if row["success"] for each in msgspec.json.decode(row["result"])]

    def _note(self, away: Iterable[str], *, asked_all: bool) -> None:
        before, self.away = self.away, tuple(sorted(away))
        was_apart = self._apart
        if asked_all:
            self._ask_all_seconds = time.monotonic() + LOOK_AGAIN_SECONDS
            self._apart = bool(self.away)
        if set(before) - set(self.away) or was_apart > self._apart:
            self._changed()
        if set(self.away) - set(before):
            log.warning("no answer from %s: its workspaces wait, all others go on", ", ".join(self.away))
        elif before and not self.away:
            log.warning("%s answers again", ", ".join(before))

    def _see_who_is_back(self) -> Transaction[None]:
        """Raise `StoreUnavailable` if a server answers again that did not: what it lost is not held yet."""
        before = self.away
        yield SHORTEN()
        rows = yield EACH(command="SELECT 1")
        self._note((row["server"] for row in rows if not row["success"]), asked_all=True)
        if not self._apart or set(before) - set(self.away):
            raise StoreUnavailable("a server of this database answers again, and may lack its last writes")

    def _add_histories(self, found: Rows) -> Transaction[Rows]:
        """Count the promotions of the workers with those of this server. Returns nothing unless each answers."""
        yield SHORTEN()
        rows = yield EACH(command=HISTORY)
        if not found or not all(row["success"] for row in rows):
            return []
        own, workers = found[0], [msgspec.json.decode(row["result"]) for row in rows]
        return [
            {
                "system": own["system"],
                "database": own["database"],
                "timeline": own["timeline"] + sum(timeline - 1 for timeline, _ in workers),
                "synchronous": own["synchronous"] and all(waits for _, waits in workers),
            }
        ]

    def _see_freeze_everywhere(self, bound: Bound) -> Transaction[None]:
        """Raise `StoreUnavailable` unless every server sees the same freezes of a workspace. One that was lost between
        the two phases of the commit sees it only when Citus has recovered the transaction."""
        seen = FREEZES(workspace_id=msgspec.structs.astuple(bound)[0])
        yield SHORTEN()
        rows = yield ASK(table_name="freezes", command=write_out(seen), left_out=[])
        if not all(row["success"] for row in rows) or len({row["result"] for row in rows}) > 1:
            shown = ", ".join(f"{row['server']}: {row['result']}" for row in rows)
            raise StoreUnavailable(f"the freeze is not seen on every server: {shown}")


def write_out(bound: Bound) -> str:
    """Return a statement with its values in place of the parameters."""
    values = msgspec.structs.astuple(bound)
    return re.sub(r"\$(\d+)", lambda found: quote(values[int(found[1]) - 1]), bound.statement.postgres)


def quote(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
