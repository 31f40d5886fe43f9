"""Create and migrate the tables in a PostgreSQL database.

Concurrent processes queue on a lock of the `schema_versions` table. The first one migrates in one
transaction, so no process sees an incomplete schema. The tables are in the first schema of the
connection's search path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assent.ports import SchemaOutdated
from assent.sql.schema import MigrationReport, file_name, migrations, pending

if TYPE_CHECKING:
    import asyncpg

    Connection = asyncpg.Connection[Any] | asyncpg.pool.PoolConnectionProxy[Any]

WHERE = "The PostgreSQL database"
VERSIONS_TABLE = (
    "CREATE TABLE schema_versions (version BIGINT PRIMARY KEY, name TEXT NOT NULL, "
    "applied_at BIGINT NOT NULL, digest TEXT NOT NULL)"
)


async def read_versions(connection: Connection) -> dict[int, str]:
    """Return the applied migrations as version → digest; empty without our tables."""
    if await connection.fetchval("SELECT to_regclass('schema_versions')") is None:
        return {}
    rows = await connection.fetch("SELECT version, digest FROM schema_versions")
    return {row["version"]: row["digest"] for row in rows}


async def check_or_create(connection: Connection, now_ms: int) -> None:
    """Create the schema in an empty database. Raises for one that needs `assent migrate`."""
    applied = await read_versions(connection)
    waiting = pending(migrations("postgres"), applied, WHERE)
    if not waiting:
        return
    if not applied and await _is_empty(connection):
        await bring_up_to_date(connection, now_ms)
        return
    raise SchemaOutdated(
        f"{WHERE} holds schema version {max(applied, default=0)} and waits for "
        f"{', '.join(map(file_name, waiting))}. Make a backup, then run `assent migrate`."
    )


async def bring_up_to_date(connection: Connection, now_ms: int) -> MigrationReport:
    """Apply all missing migrations in one transaction."""
    import asyncpg

    try:
        if await connection.fetchval("SELECT to_regclass('schema_versions')") is None:
            await connection.execute(VERSIONS_TABLE)
    except (asyncpg.DuplicateTableError, asyncpg.UniqueViolationError):
        pass  # another process has just created it
    async with connection.transaction():
        await connection.execute("LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE")
        applied = await read_versions(connection)
        before = max(applied, default=0)
        waiting = pending(migrations("postgres"), applied, WHERE)
        for migration in waiting:
            await connection.execute(migration.sql)
            await connection.execute(
                "INSERT INTO schema_versions (version, name, applied_at, digest) VALUES ($1, $2, $3, $4)",
                migration.version,
                migration.name,
                now_ms,
                migration.digest,
            )
    return MigrationReport(
        from_version=before,
        to_version=max([before, *(migration.version for migration in waiting)]),
        applied=tuple(map(file_name, waiting)),
        backup_path=None,
    )


async def _is_empty(connection: Connection) -> bool:
    """Whether the schema has no table, except a concurrent process's `schema_versions`."""
    found = await connection.fetchval(
        "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_versions'"
    )
    return bool(found == 0)
