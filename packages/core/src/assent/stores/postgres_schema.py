"""Create and migrate the tables in a PostgreSQL database.

Concurrent processes queue on an advisory lock, which no call needs. The first one migrates in one
transaction, so no process sees an incomplete schema. A migration that waits for a table lets calls
pass after a short time and tries again. Each component is a savepoint in it; one that
fails stops no other. The tables are in the first schema of the connection's search path.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assent.ports import SchemaMismatch, SchemaOutdated
from assent.sql.components import (
    AppliedMigration,
    Component,
    component_state,
    explain_failure,
    list_upgraded,
    pending_of,
)
from assent.sql.loader import split_script
from assent.sql.schema import MigrationReport, file_name, migrations, pending
from assent.stores.postgres_shards import place, refuse_partly_placed

if TYPE_CHECKING:
    import asyncpg

    Connection = asyncpg.Connection[Any] | asyncpg.pool.PoolConnectionProxy[Any]

log = logging.getLogger("assent.stores")

WHERE = "The PostgreSQL database"
VERSIONS_TABLE = (
    "CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, name TEXT NOT NULL, "
    "applied_at BIGINT NOT NULL, digest TEXT NOT NULL)"
)

ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('assent schema'), hashtext(current_schema()))"

LOCK_SECONDS = 2
"""How long a migration waits for a table. Calls on the table wait behind it, for less than their own
timeout."""

TRIES = 10


async def read_versions(connection: Connection) -> dict[int, str]:
    """Return the applied migrations as version → digest; empty without our tables."""
    if await connection.fetchval("SELECT to_regclass('schema_versions')") is None:
        return {}
    rows = await connection.fetch("SELECT version, digest FROM schema_versions")
    return {row["version"]: row["digest"] for row in rows}


async def read_component_versions(connection: Connection) -> list[AppliedMigration]:
    """Return the applied migrations of all components."""
    if await connection.fetchval("SELECT to_regclass('component_versions')") is None:
        return []
    rows = await connection.fetch("SELECT component, version, prefix, digest FROM component_versions")
    return [AppliedMigration(**row) for row in rows]


async def check_or_create(connection: Connection, now_ms: int, components: Sequence[Component] = ()) -> None:
    """Create the schema in an empty database, and the tables of new components. Raises for one that
    needs `assent migrate`. A component that needs it is logged if it is not required."""
    # In this order: another process may commit the whole schema between the two.
    empty = await _is_empty(connection)
    applied = await read_versions(connection)
    waiting = list(map(file_name, pending(migrations("postgres"), applied, WHERE)))
    if empty and not applied:
        _log_failures(await bring_up_to_date(connection, now_ms, components))
        return
    recorded = await read_component_versions(connection)
    required = [each for each in components if each.required]
    waiting += list_upgraded(required, "postgres", recorded, WHERE)
    if waiting:
        raise SchemaOutdated(
            f"{WHERE} holds schema version {max(applied, default=0)} and waits for "
            f"{', '.join(waiting)}. Make a backup, then run `assent migrate`."
        )
    await refuse_partly_placed(connection, components)
    present = {row.component for row in recorded}
    for name in list_upgraded(components, "postgres", recorded, WHERE):
        log.error("%s waits for %s. Make a backup, then run `assent migrate`.", WHERE, name)
    new = [each for each in components if each.name not in present]
    if any(_needs_work(each, recorded) for each in new):
        _log_failures(await bring_up_to_date(connection, now_ms, new))


def _needs_work(component: Component, recorded: Sequence[AppliedMigration]) -> bool:
    found = component_state(component, "postgres", recorded, WHERE)
    return bool(found.pending or found.problem)


def _log_failures(report: MigrationReport) -> None:
    for failure in report.failures:
        log.error("%s", failure)


async def bring_up_to_date(
    connection: Connection, now_ms: int, components: Sequence[Component] = (), shards: int | None = None
) -> MigrationReport:
    """Apply all missing migrations in one transaction. Repeats it while a table is in use. With a number of shards the
    tables are spread over the servers of the database; new ones always are where others are."""
    import asyncpg

    for _ in range(TRIES - 1):
        try:
            return await _try_to_migrate(connection, now_ms, components, shards)
        except asyncpg.LockNotAvailableError:
            log.warning("a migration waits for a table that is in use")
    return await _try_to_migrate(connection, now_ms, components, shards)


async def _try_to_migrate(
    connection: Connection, now_ms: int, components: Sequence[Component], shards: int | None
) -> MigrationReport:
    import asyncpg

    bad = (
        SchemaMismatch,
        asyncpg.SyntaxOrAccessError,
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
    )
    try:
        if await connection.fetchval("SELECT to_regclass('schema_versions')") is None:
            await connection.execute(VERSIONS_TABLE)
    except (asyncpg.DuplicateTableError, asyncpg.UniqueViolationError):
        pass  # another process has just created it
    async with connection.transaction():
        await connection.execute(ONE_AT_A_TIME)
        await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        applied = await read_versions(connection)
        before = max(applied, default=0)
        waiting = pending(migrations("postgres"), applied, WHERE)
        done, failures = [], []
        for migration in waiting:
            done.append(file_name(migration))
            await run_script(connection, migration.sql)
            await connection.execute(
                "INSERT INTO schema_versions (version, name, applied_at, digest) VALUES ($1, $2, $3, $4)",
                migration.version,
                migration.name,
                now_ms,
                migration.digest,
            )
        for component in components:
            try:
                async with connection.transaction():
                    done += await _migrate_component(connection, component, now_ms)
            except bad as error:
                failures.append(explain_failure(component, error))
        placed = await place(connection, components, shards)
    return MigrationReport(
        from_version=before,
        to_version=max([before, *(migration.version for migration in waiting)]),
        applied=tuple(done),
        backup_path=None,
        failures=tuple(failures),
        placed=placed,
    )


async def _migrate_component(connection: Connection, component: Component, now_ms: int) -> list[str]:
    """Apply the missing migrations of a component and return their names."""
    recorded = await read_component_versions(connection)
    waiting = pending_of(component, "postgres", recorded, WHERE)
    for migration in waiting:
        await run_script(connection, migration.sql)
        await connection.execute(
            "INSERT INTO component_versions (component, prefix, version, name, applied_at, digest) "
            "VALUES ($1, $2, $3, $4, $5, $6)",
            component.name,
            component.prefix,
            migration.version,
            migration.name,
            now_ms,
            migration.digest,
        )
    return list(map(component.name_file, waiting))


async def run_script(connection: Connection, sql: str) -> None:
    """Run the statements of a migration."""
    for statement in split_script(sql):
        await connection.execute(statement)


async def _is_empty(connection: Connection) -> bool:
    """Whether the schema has no table, except a concurrent process's `schema_versions`."""
    found = await connection.fetchval(
        "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_versions'"
    )
    return bool(found == 0)
