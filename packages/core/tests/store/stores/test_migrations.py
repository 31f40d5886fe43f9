"""Schemas: brought up to date once, with a way back, and refused when they belong to another release."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.stores.kit import NOON, ROOT, SQL, append, children, marks, put

from assent.ports import SchemaMismatch, SchemaOutdated, SchemaTooNew, Transaction
from assent.sql import schema
from assent.sql.schema import MigrationReport, SchemaState, file_name, migrations
from assent.stores import open_store
from assent.stores.migrate import migrate, schema_state

GENUINE = ROOT / "packages/core/src/assent/sql/migrations"
VERSIONS = [migration.version for migration in migrations("sqlite")]
LATEST = VERSIONS[-1]
LATER = "CREATE TABLE later (workspace_id TEXT PRIMARY KEY);"
NAMES = tuple(file_name(migration) for migration in migrations("sqlite"))


class Release:
    """A release with migrations of its own, in a directory that a test may change."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        shutil.copytree(GENUINE, directory)
        monkeypatch.setattr(schema, "MIGRATIONS", directory)

    def keep(self, versions: int) -> None:
        """Go back to the release that had only the first ones."""
        for file in self.directory.glob("*/*.sql"):
            if int(file.name[:4]) > versions:
                file.unlink()

    def add(self, number: int, sql: str) -> None:
        for dialect in ("sqlite", "postgres"):
            (self.directory / dialect / f"{number:04d}_test.sql").write_text(sql)

    def catch_up(self) -> None:
        shutil.copytree(GENUINE, self.directory, dirs_exist_ok=True)


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    return Release(tmp_path / "release", monkeypatch)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store with nothing in it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/data/store.db"
    address: str = request.getfixturevalue("empty_postgres_url")
    return address


def versions() -> Transaction[list[Any]]:
    return [row["version"] for row in (yield SQL["versions"]())]


async def once_opened(url: str) -> list[Any]:
    store = open_store(url)
    try:
        return await store.read(versions)
    finally:
        await store.close()


class TestBothStores:
    async def test_an_empty_database_is_filled_at_the_first_use(self, empty_url: str) -> None:
        assert await schema_state(empty_url) == SchemaState(0, LATEST, NAMES)
        assert await once_opened(empty_url) == VERSIONS
        assert await schema_state(empty_url) == SchemaState(LATEST, LATEST, ())

    async def test_migrating_twice_does_nothing_the_second_time(self, empty_url: str) -> None:
        assert await migrate(empty_url, NOON) == MigrationReport(0, LATEST, NAMES, None)
        assert await migrate(empty_url, NOON) == MigrationReport(LATEST, LATEST, (), None)

    async def test_a_newer_schema_is_refused(self, empty_url: str, release: Release) -> None:
        release.add(LATEST + 1, LATER)
        await once_opened(empty_url)
        (release.directory / "sqlite" / f"{LATEST + 1:04d}_test.sql").unlink()
        (release.directory / "postgres" / f"{LATEST + 1:04d}_test.sql").unlink()
        store = open_store(empty_url)
        with pytest.raises(SchemaTooNew):
            await store.open()
        with pytest.raises(SchemaTooNew):
            await store.write(lambda: put("a"))
        await store.close()
        with pytest.raises(SchemaTooNew):
            await migrate(empty_url, NOON)
        with pytest.raises(SchemaTooNew):
            await schema_state(empty_url)

    async def test_a_schema_made_by_another_edition_of_a_file_is_refused(
        self, empty_url: str, release: Release
    ) -> None:
        release.add(LATEST + 1, LATER)
        await once_opened(empty_url)
        release.add(LATEST + 1, "-- Explained.\nCREATE TABLE later (workspace_id  TEXT PRIMARY KEY);")
        await once_opened(empty_url)
        release.add(LATEST + 1, "CREATE TABLE later (workspace_id TEXT, PRIMARY KEY (workspace_id));")
        with pytest.raises(SchemaMismatch):
            await once_opened(empty_url)

    async def test_a_database_from_before_the_baseline_is_refused_untouched(
        self, empty_url: str, release: Release
    ) -> None:
        """It has several versions; the first has the digest of another file."""
        release.keep(0)
        release.add(1, "CREATE TABLE old_journal (workspace_id TEXT PRIMARY KEY);")
        release.add(2, "CREATE TABLE old_actions (workspace_id TEXT PRIMARY KEY);")
        await once_opened(empty_url)
        release.keep(0)
        release.catch_up()
        for use in (once_opened(empty_url), migrate(empty_url, NOON), schema_state(empty_url)):
            with pytest.raises(SchemaMismatch, match=schema.LAST_BEFORE_BASELINE):
                await use
        release.keep(0)
        release.add(1, "CREATE TABLE old_journal (workspace_id TEXT PRIMARY KEY);")
        release.add(2, "CREATE TABLE old_actions (workspace_id TEXT PRIMARY KEY);")
        assert await once_opened(empty_url) == [1, 2]

    async def test_a_database_of_the_first_baseline_is_refused_with_the_commit_that_opens_it(
        self, empty_url: str, release: Release
    ) -> None:
        release.keep(0)
        release.add(1, "CREATE TABLE site_posts (workspace_id TEXT PRIMARY KEY);")
        await once_opened(empty_url)
        release.keep(0)
        release.catch_up()
        with pytest.raises(SchemaMismatch, match=schema.LAST_BEFORE_RELEASE):
            await once_opened(empty_url)

    async def test_a_migration_that_fails_leaves_nothing_of_itself(
        self, empty_url: str, release: Release
    ) -> None:
        await once_opened(empty_url)
        release.add(LATEST + 1, "CREATE TABLE half (x TEXT);\nINSERT INTO nowhere VALUES (1);")
        with pytest.raises(Exception, match="nowhere"):
            await migrate(empty_url, NOON)
        assert (await schema_state(empty_url)).current == LATEST
        release.add(LATEST + 1, "CREATE TABLE half (x TEXT);")
        assert (await migrate(empty_url, NOON)).to_version == LATEST + 1

    async def test_processes_that_start_together_migrate_once(self, empty_url: str) -> None:
        with children(4, "open", empty_url) as starting:
            for child in starting:
                child.go()
            assert [child.line() for child in starting] == ["opened"] * 4
        assert await once_opened(empty_url) == VERSIONS

    async def test_stores_that_migrate_an_older_schema_together_do_it_once(
        self, empty_url: str, release: Release, tmp_path: Path
    ) -> None:
        await once_opened(empty_url)
        release.add(LATEST + 1, LATER)
        reports = await asyncio.gather(*(migrate(empty_url, NOON) for _ in range(4)))
        assert sum(len(report.applied) for report in reports) == 1
        assert len([report for report in reports if report.backup_path]) == empty_url.startswith("sqlite")
        assert await once_opened(empty_url) == [*VERSIONS, LATEST + 1]


class TestSqlite:
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/store.db"

    async def test_an_older_file_is_migrated_at_its_first_use_after_a_backup(
        self, url: str, release: Release, tmp_path: Path
    ) -> None:
        older = open_store(url)
        await older.write(lambda: append("s", "kept"))
        await older.close()
        release.add(LATEST + 1, LATER)

        class AtNoon:
            def now_ms(self) -> int:
                return NOON

        store = open_store(url, clock=AtNoon())
        assert await marks(store, "s") == ["kept"]
        assert await store.read(versions) == [*VERSIONS, LATEST + 1]
        await store.close()
        (backup,) = files(tmp_path, "*.backup")
        assert backup.name == f"store.db.v{LATEST:04d}-20300317T174640Z.backup"
        assert backup.stat().st_mode & 0o777 == 0o600
        with closing(sqlite3.connect(backup)) as old:
            assert old.execute("SELECT body FROM events").fetchall() == [('"kept"',)]
            assert old.execute("SELECT max(version) FROM schema_versions").fetchone() == (LATEST,)

    async def test_a_file_of_another_program_is_left_alone(self, url: str, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "store.db")) as other, other:
            other.execute("CREATE TABLE notes (x)")
        with pytest.raises(SchemaMismatch):
            await once_opened(url)
        with closing(sqlite3.connect(tmp_path / "store.db")) as other:
            assert other.execute("SELECT name FROM sqlite_schema").fetchall() == [("notes",)]

    async def test_a_migration_that_leaves_rows_pointing_nowhere_is_refused(
        self, url: str, release: Release
    ) -> None:
        await once_opened(url)
        release.add(
            LATEST + 1,
            "CREATE TABLE parent (x TEXT PRIMARY KEY);\n"
            "CREATE TABLE child (x TEXT REFERENCES parent (x));\n"
            "INSERT INTO child VALUES ('orphan');",
        )
        with pytest.raises(SchemaMismatch):
            await once_opened(url)
        assert (await schema_state(url)).current == LATEST

    async def test_the_file_and_its_backup_are_for_their_owner_only(self, url: str, tmp_path: Path) -> None:
        store = open_store(url)
        await store.open()
        modes = {path.name: path.stat().st_mode & 0o777 for path in files(tmp_path, "*")}
        await store.close()
        assert set(modes.values()) == {0o600}


class TestPostgres:
    async def test_an_older_database_is_refused_until_it_is_migrated(
        self, empty_postgres_url: str, release: Release
    ) -> None:
        store = open_store(empty_postgres_url)
        await store.write(lambda: append("s", "kept"))
        await store.close()
        release.add(LATEST + 1, LATER)
        store = open_store(empty_postgres_url)
        with pytest.raises(SchemaOutdated, match="assent migrate"):
            await store.open()
        report = await migrate(empty_postgres_url, NOON)
        assert report == MigrationReport(LATEST, LATEST + 1, (f"{LATEST + 1:04d}_test",), None)
        assert await marks(store, "s") == ["kept"]
        await store.close()

    async def test_a_database_with_other_tables_is_not_filled_by_a_mere_start(
        self, empty_postgres_url: str
    ) -> None:
        import asyncpg

        connection = await asyncpg.connect(empty_postgres_url)
        await connection.execute("CREATE TABLE notes (x TEXT)")
        await connection.close()
        with pytest.raises(SchemaOutdated, match="assent migrate"):
            await once_opened(empty_postgres_url)
        await migrate(empty_postgres_url, NOON)
        assert await once_opened(empty_postgres_url) == VERSIONS

    async def test_a_running_server_survives_a_migration(
        self, empty_postgres_url: str, release: Release
    ) -> None:
        """Statements prepared before it are prepared again, inside transactions too."""
        store = open_store(empty_postgres_url)
        await store.write(lambda: append("s", "before"))
        await store.read(lambda: read_all_columns())
        release.add(LATEST + 1, "ALTER TABLE streams ADD COLUMN note TEXT NOT NULL DEFAULT '';")
        await migrate(empty_postgres_url, NOON)
        await store.write(lambda: append("s", "after"))
        await store.read(lambda: read_all_columns())
        assert await marks(store, "s") == ["before", "after"]
        await store.close()


def read_all_columns() -> Transaction[Any]:
    yield SQL["everything"]()
    return (yield SQL["everything"]())


def test_both_dialects_have_the_same_migrations() -> None:
    assert [file_name(migration) for migration in migrations("postgres")] == list(NAMES)


async def test_two_migrations_with_one_number_are_refused(release: Release) -> None:
    (release.directory / "sqlite" / "0001_again.sql").write_text("SELECT 1;")
    with pytest.raises(ValueError, match="0001"):
        migrations("sqlite")


async def test_a_misnamed_migration_is_refused(release: Release) -> None:
    (release.directory / "sqlite" / "late.sql").write_text("SELECT 1;")
    with pytest.raises(ValueError, match=r"late\.sql"):
        migrations("sqlite")


def files(directory: Path, pattern: str) -> list[Path]:
    return list(directory.glob(pattern))
