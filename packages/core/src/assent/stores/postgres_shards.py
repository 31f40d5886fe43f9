"""Tables spread over several servers by the extension Citus: where each is, and putting it there.

Every table with a `workspace_id` is spread by it, so that the rows of a workspace are together on one server. Reference
tables are whole on every server (`REFERENCE_TABLES`, `Component.reference`). A schema is spread as a whole or not at
all: statements join its tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from assent.kernel.structs import Record
from assent.ports import SchemaMismatch, SchemaOutdated
from assent.sql.components import Component, list_core_tables
from assent.sql.schema import REFERENCE_TABLES

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


class Placement(Record):
    """The tables of a schema that is spread, and those that are not placed though it is."""

    spread: tuple[str, ...]
    reference: tuple[str, ...]
    missing: tuple[str, ...]


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
