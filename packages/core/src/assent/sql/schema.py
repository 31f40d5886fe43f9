"""The schema of this release, and whether a database's schema matches it.

Migrations are numbered SQL files in `migrations/{sqlite,postgres}/`, applied once each, in order.
The table `schema_versions` lists those that were applied to a database. Components have their own
migrations (`components`), listed in `component_versions`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from assent.kernel.structs import Record
from assent.ports import SchemaMismatch, SchemaTooNew

MIGRATIONS: Final = Path(__file__).parent / "migrations"
LAST_BEFORE_BASELINE: Final = "3adadd971595"
"""The last commit whose code opens databases from before the baseline, of many versions."""
LAST_BEFORE_RELEASE: Final = "652d4a571ccb"
"""The last commit whose code opens databases of the first baseline, which had the tables of launch."""

REFERENCE_TABLES: Final = frozenset(
    {"component_versions", "freezes", "memberships", "notification_targets", "people", "schema_versions"}
)
"""The tables that are whole on every server where the others are spread by `workspace_id` (docs/scale.md): what
statements about any workspace join. A component names its own (`Component`)."""


class Migration(Record):
    """One numbered file. Its digest ignores comments and spacing."""

    version: int
    name: str
    sql: str
    digest: str


class ComponentState(Record):
    """The migrations of a component that a database lacks, or why it cannot be migrated."""

    component: str
    pending: tuple[str, ...]
    problem: str | None = None


class SchemaState(Record):
    """A database's version (0 without tables), this release's, and the pending migrations."""

    current: int
    latest: int
    pending: tuple[str, ...]
    components: tuple[ComponentState, ...] = ()


class MigrationReport(Record):
    """The result of a migration. `backup_path` is None if no backup was made; `failures` says which
    components were not migrated, and why; `placed` are the tables that were spread over several servers."""

    from_version: int
    to_version: int
    applied: tuple[str, ...]
    backup_path: str | None
    failures: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()


def migrations(dialect: str) -> list[Migration]:
    """List the server's own migrations of a dialect, in order."""
    return read_migrations(MIGRATIONS / dialect)


def read_migrations(folder: Path) -> list[Migration]:
    """Read the migrations in a folder, in order. Raises `ValueError` for a wrong or repeated number."""
    found: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        named = re.fullmatch(r"(\d{4})_([a-z0-9_]+)", path.stem)
        if named is None:
            raise ValueError(f"{path.name} is not named NNNN_name.sql")
        sql = path.read_text(encoding="utf-8")
        bare = " ".join(re.sub(r"--[^\n]*", " ", sql).split())
        digest = hashlib.sha256(bare.encode()).hexdigest()
        version = int(named.group(1))
        if found and found[-1].version == version:
            raise ValueError(f"{path.name} has the same number as {file_name(found[-1])}.sql")
        found.append(Migration(version, named.group(2), sql, digest))
    return found


def pending(known: Sequence[Migration], applied: Mapping[int, str], where: str) -> list[Migration]:
    """Return the pending migrations. Raises if a newer or a different release has migrated the
    database.

    `applied` maps version to digest; `where` names the database in the message, never with its
    password.
    """
    # Before the baseline, each version of the schema had a file of its own, the first under another digest.
    if known and applied.get(known[0].version, known[0].digest) != known[0].digest:
        commit = LAST_BEFORE_BASELINE if max(applied) > known[0].version else LAST_BEFORE_RELEASE
        raise SchemaMismatch(
            f"{where} was made before the first release, by a version of Assent whose tables this one does not read. "
            f"Nothing in it was changed. Commit {commit} is the last that opens it: check that out to "
            "finish what waits and to export its journal (assent audit export). Start this version on another data "
            "directory or database."
        )
    return find_pending(known, applied, where)


def find_pending(
    known: Sequence[Migration], applied: Mapping[int, str], where: str, component: str = ""
) -> list[Migration]:
    """Return those of the known migrations that are not applied: of the schema, or of a component. Raises if what is
    applied is newer or differs."""
    latest = max((migration.version for migration in known), default=0)
    newest = max(applied, default=0)
    if newest > latest:
        held = f"version {newest} of the component {component}" if component else f"schema version {newest}"
        raise SchemaTooNew(
            f"{where} holds {held}; the installed release knows {latest}. "
            "Install the one that migrated it, or restore the backup made before that migration."
        )
    for migration in known:
        if applied.get(migration.version, migration.digest) != migration.digest:
            raise SchemaMismatch(
                f"{where} was migrated by another edition of {file_name(migration, component)}. "
                "Install the release that migrated it, or restore a backup."
            )
    return [migration for migration in known if migration.version not in applied]


def state(
    known: Sequence[Migration],
    applied: Mapping[int, str],
    where: str,
    components: tuple[ComponentState, ...] = (),
) -> SchemaState:
    """Return the state of a database. Raises like `pending`."""
    waiting = pending(known, applied, where)
    return SchemaState(max(applied, default=0), known[-1].version, tuple(map(file_name, waiting)), components)


def file_name(migration: Migration, component: str = "") -> str:
    folder = f"{component}/" if component else ""
    return f"{folder}{migration.version:04d}_{migration.name}"
