"""Components: their tables come with their own migrations, on both stores, and go with nothing of the server's."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from packages.core.tests.store.stores.test_migrations import LATEST, Release, files, once_opened
from packages.core.tests.store.stores.test_migrations import empty_url as empty_url
from packages.core.tests.store.stores.test_migrations import release as release
from tests.support.own_sql import bind
from tests.support.stores.kit import NOON, append, marks

from assent.ports import SchemaOutdated, Single, Store
from assent.sql.components import Component, ComponentError, check_component
from assent.stores import open_store
from assent.stores.migrate import migrate, schema_state

REFUNDS = """
CREATE TABLE acme_refunds (
  workspace_id TEXT NOT NULL, customer TEXT NOT NULL, PRIMARY KEY (workspace_id, customer));
CREATE INDEX acme_refunds_by_customer ON acme_refunds (customer);
"""
REASONS = "ALTER TABLE acme_refunds ADD COLUMN reason TEXT NOT NULL DEFAULT '';"
STATEMENTS = """
-- name: insert_refund
-- Insert a refund, once per customer.
INSERT INTO acme_refunds (workspace_id, customer) VALUES (:workspace_id, :customer);

-- name: list_refunds
-- List the customers of a workspace.
SELECT customer FROM acme_refunds WHERE workspace_id = :workspace_id ORDER BY customer;
"""


class Shelf:
    """The folder of an extension, in which a test writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("statements/refunds.sql", STATEMENTS)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def migrate(self, number: int, sql: str, name: str = "test") -> None:
        for dialect in ("sqlite", "postgres"):
            self.write(f"migrations/{dialect}/{number:04d}_{name}.sql", sql)

    def component(self, name: str = "acme", **changes: Any) -> Component:
        return Component(name, **{"prefix": "acme_", "folder": self.folder, **changes})


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "acme")


@pytest.fixture
def acme(shelf: Shelf) -> Component:
    shelf.migrate(1, REFUNDS)
    return shelf.component()


async def refund(store: Store, component: Component, customer: str) -> list[str]:
    """Store a refund through the component's statements and return all customers."""
    await store.write(Single(component.statements.insert_refund(workspace_id="w", customer=customer)))
    rows = await store.read(Single(component.statements.list_refunds(workspace_id="w")))
    return [row["customer"] for row in rows]


async def refund_once(url: str, component: Component, customer: str) -> list[str]:
    store = open_store(url, list_components=lambda: [component])
    try:
        return await refund(store, component, customer)
    finally:
        await store.close()


async def read_table(url: str, text: str) -> list[tuple[Any, ...]]:
    store = open_store(url)
    try:
        rows = await store.read(Single(bind(text, text)))
        return [tuple(row) for row in rows]  # type: ignore[arg-type]
    finally:
        await store.close()


async def test_a_fresh_database_has_the_tables_of_its_components(empty_url: str, acme: Component) -> None:
    assert await refund_once(empty_url, acme, "dana") == ["dana"]
    recorded = await read_table(empty_url, "SELECT component, version, name, prefix FROM component_versions")
    assert recorded == [("acme", 1, "test", "acme_")]
    state = await schema_state(empty_url, [acme])
    assert (state.current, state.pending, [each.pending for each in state.components]) == (LATEST, (), [()])


async def test_a_component_that_is_added_later_gets_its_tables_at_the_next_start(
    empty_url: str, acme: Component, tmp_path: Path
) -> None:
    await once_opened(empty_url)
    assert (await schema_state(empty_url, [acme])).components[0].pending == ("acme/0001_test",)

    assert await refund_once(empty_url, acme, "dana") == ["dana"]

    assert files(tmp_path, "**/*.backup") == []  # a new component changes nothing that exists


async def test_a_component_that_was_removed_leaves_its_tables_and_breaks_nothing(
    empty_url: str, acme: Component
) -> None:
    await refund_once(empty_url, acme, "dana")

    store = open_store(empty_url)
    await store.write(lambda: append("s", "kept"))
    assert await marks(store, "s") == ["kept"]
    await store.close()
    assert (await migrate(empty_url, NOON)).applied == ()
    assert (await schema_state(empty_url)).pending == ()

    assert await refund_once(empty_url, acme, "eli") == ["dana", "eli"]


async def test_an_older_database_is_migrated_with_its_components(
    empty_url: str, acme: Component, release: Release
) -> None:
    release.keep(1)
    await once_opened(empty_url)
    release.catch_up()

    report = await migrate(empty_url, NOON, [acme])

    assert (report.from_version, report.to_version, report.failures) == (1, LATEST, ())
    assert report.applied[-1] == "acme/0001_test"
    assert await refund_once(empty_url, acme, "dana") == ["dana"]


async def test_a_new_version_of_a_component_is_migrated_after_a_backup(
    empty_url: str, shelf: Shelf, acme: Component, tmp_path: Path
) -> None:
    await refund_once(empty_url, acme, "dana")
    shelf.migrate(2, REASONS, "reasons")

    report = await migrate(empty_url, NOON, [acme])

    assert report.applied == ("acme/0002_reasons",)
    assert report.from_version == report.to_version == LATEST
    assert (report.backup_path is not None) == empty_url.startswith("sqlite")
    assert await read_table(empty_url, "SELECT customer, reason FROM acme_refunds") == [("dana", "")]


async def test_a_migration_that_fails_leaves_the_server_and_other_components_alone(
    empty_url: str, shelf: Shelf, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.migrate(1, "CREATE TABLE acme_half (x TEXT);\nINSERT INTO acme_nowhere VALUES (1);")
    bad = shelf.component()
    other = Shelf(tmp_path / "other")
    other.migrate(1, "CREATE TABLE other_notes (x TEXT);")
    good = other.component("other", prefix="other_")

    report = await migrate(empty_url, NOON, [bad, good])

    assert report.applied[-1] == "other/0001_test"
    (failure,) = report.failures
    assert failure.startswith("The component acme was not migrated: ") and "acme_nowhere" in failure
    assert await read_table(empty_url, "SELECT component FROM component_versions") == [("other",)]
    assert (await schema_state(empty_url, [bad])).components[0].pending == ("acme/0001_test",)
    store = open_store(empty_url, list_components=lambda: [bad, good])
    with caplog.at_level(logging.ERROR, "assent.stores"):
        await store.write(lambda: append("s", "kept"))
    await store.close()
    assert failure in caplog.text


@pytest.mark.parametrize("required", [True, False])
async def test_a_required_component_that_cannot_be_migrated_keeps_the_store_closed(
    empty_url: str, shelf: Shelf, required: bool
) -> None:
    shelf.migrate(1, "INSERT INTO acme_nowhere VALUES (1);")
    bad = shelf.component(required=required)
    store = open_store(empty_url, list_components=lambda: [bad])
    try:
        if required:
            with pytest.raises(Exception, match="acme_nowhere"):
                await store.open()
        else:
            await store.open()
    finally:
        await store.close()


async def test_an_older_release_of_a_component_is_refused(
    empty_url: str, shelf: Shelf, acme: Component, tmp_path: Path
) -> None:
    shelf.migrate(2, REASONS)
    await refund_once(empty_url, acme, "dana")
    older = Shelf(tmp_path / "older")
    older.migrate(1, REFUNDS)

    report = await migrate(empty_url, NOON, [older.component()])

    assert "holds version 2 of the component acme; the installed release knows 1" in report.failures[0]
    state = (await schema_state(empty_url, [older.component()])).components[0]
    assert state.problem is not None and "version 2" in state.problem


async def test_another_edition_of_a_migration_is_refused(
    empty_url: str, shelf: Shelf, acme: Component
) -> None:
    await refund_once(empty_url, acme, "dana")
    shelf.migrate(1, "CREATE TABLE acme_refunds (workspace_id TEXT PRIMARY KEY);")

    report = await migrate(empty_url, NOON, [acme])

    assert "another edition of acme/0001_test" in report.failures[0]


@pytest.mark.parametrize("prefix", ["acme_", "acme_refunds_"])
async def test_a_prefix_of_tables_that_stayed_is_refused_to_another_component(
    empty_url: str, acme: Component, tmp_path: Path, prefix: str
) -> None:
    await refund_once(empty_url, acme, "dana")
    other = Shelf(tmp_path / "other")
    other.migrate(1, f"CREATE TABLE {prefix}notes (x TEXT);")

    report = await migrate(empty_url, NOON, [other.component("other", prefix=prefix)])

    assert report.applied == ()
    assert "tables of the component acme with the prefix acme_" in report.failures[0]


async def test_stores_that_add_a_component_together_do_it_once(empty_url: str, acme: Component) -> None:
    await once_opened(empty_url)
    stores = [open_store(empty_url, list_components=lambda: [acme]) for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))
    for store in stores:
        await store.close()
    assert await read_table(empty_url, "SELECT component, version FROM component_versions") == [("acme", 1)]


@pytest.mark.parametrize("required", [True, False])
async def test_postgresql_waits_for_a_person_to_migrate_tables_that_exist(
    empty_postgres_url: str, shelf: Shelf, required: bool, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.migrate(1, REFUNDS)
    acme = shelf.component(required=required)
    await refund_once(empty_postgres_url, acme, "dana")
    shelf.migrate(2, REASONS)

    if required:
        with pytest.raises(SchemaOutdated, match="acme/0002_test"):
            await refund_once(empty_postgres_url, acme, "eli")
    else:
        assert await refund_once(empty_postgres_url, acme, "eli") == ["dana", "eli"]
        assert "waits for acme/0002_test" in caplog.text
    await migrate(empty_postgres_url, NOON, [acme])
    assert await refund_once(empty_postgres_url, acme, "gil") == sorted(
        {"dana", "gil"} | (set() if required else {"eli"})
    )


async def test_a_full_disk_is_no_fault_of_the_component(tmp_path: Path, acme: Component) -> None:
    from assent.stores.sqlite_schema import bring_up_to_date

    path = tmp_path / "store.db"
    await migrate(f"sqlite:///{path}", NOON)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(sqlite3.OperationalError, match="full"):
            bring_up_to_date(connection, path, NOON, [acme])


BAD = {
    "a table of the server": (1, "INSERT INTO workspaces (workspace_id) VALUES ('x');", "touches workspaces"),
    "a table without the prefix": (1, "CREATE TABLE refunds (x TEXT);", "touches refunds"),
    "a reference to the server": (
        1,
        "CREATE TABLE acme_x (workspace_id TEXT REFERENCES workspaces (workspace_id));",
        "touches workspaces",
    ),
    "an index without the prefix": (1, "CREATE INDEX by_x ON acme_refunds (x);", "touches by_x"),
    "a table that leaves": (1, "ALTER TABLE acme_x RENAME TO refunds;", "touches refunds"),
    "a trigger": (1, "CREATE TRIGGER acme_t AFTER INSERT ON actions BEGIN SELECT 1; END;", "CREATE TRIGGER"),
    "a setting": (1, "PRAGMA foreign_keys = OFF;", "PRAGMA"),
    "the end of the transaction": (1, "COMMIT;", "COMMIT"),
    "a gap": (2, REFUNDS, "number that does not follow"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_migration_that_leaves_its_component_is_refused(case: str, shelf: Shelf) -> None:
    number, sql, why = BAD[case]
    shelf.migrate(number, f"-- It isn't; really.\n{sql}")
    with pytest.raises(ComponentError, match=why):
        check_component(shelf.component())


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT r.customer FROM acme_refunds r, workspaces w", "touches workspaces"),
        ("DELETE FROM actions", "touches actions"),
        ("SELECT customer FROM acme_refunds WHERE reason = :a; SELECT 1", "more than one statement"),
    ],
)
def test_a_statement_that_leaves_its_component_is_refused(shelf: Shelf, sql: str, why: str) -> None:
    shelf.write("statements/bad.sql", f"-- name: bad\n-- It leaves.\n{sql}")
    with pytest.raises(ComponentError, match=why):
        check_component(shelf.component())


@pytest.mark.parametrize(
    "changes", [{"prefix": "action_"}, {"prefix": "acme"}, {"prefix": ""}, {"name": "A b"}]
)
def test_a_wrong_name_or_prefix_is_refused(shelf: Shelf, changes: dict[str, str]) -> None:
    with pytest.raises(ComponentError):
        check_component(shelf.component(**changes))


def test_a_migration_for_one_store_only_is_refused(shelf: Shelf) -> None:
    shelf.write("migrations/sqlite/0001_test.sql", REFUNDS)
    with pytest.raises(ComponentError, match=r"0001_test\.sql is needed for both"):
        check_component(shelf.component())


def test_a_complete_component_is_accepted(acme: Component) -> None:
    check_component(acme)
    assert acme.statements.list_refunds.statement.name == "acme.list_refunds"
