"""Creating and migrating Assent's tables in a PostgreSQL database.

Processes that arrive together queue on a lock of the `schema_versions` table; the first does the work, in one
transaction, so that nobody ever sees a schema that is half there. The tables live in the first schema of the
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
    """Version and digest of what was applied; empty where our tables are missing."""
    if await connection.fetchval("SELECT to_regclass('schema_versions')") is None:
        return {}
    rows = await connection.fetch("SELECT version, digest FROM schema_versions")
    return {row["version"]: row["digest"] for row in rows}


async def check_or_create(connection: Connection, now_ms: int) -> None:
    """What a start does: fill an empty database, refuse one that waits for `assent migrate`."""
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
    """Apply what is missing, all of it or nothing."""
    import asyncpg

    try:
        if await connection.fetchval("SELECT to_regclass('schema_versions')") is None:
            await connection.execute(VERSIONS_TABLE)
    except (asyncpg.DuplicateTableError, asyncpg.UniqueViolationError):
        pass  # another process has just made it
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
    """No table but perhaps our own list of versions, which a process that starts at the same time may have
    made."""
    found = await connection.fetchval(
        "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_versions'"
    )
    return bool(found == 0)
