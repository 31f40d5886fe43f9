"""The page about tables: its files are an operator that stores, on both stores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.actions.kit import EXECUTE, Gate
from tests.support.docs.pages import block_of, blocks_of
from tests.support.extensions.fixtures import gate_with
from tests.support.surfaces import signed_in

from assent.gate.records import Assurance

pytestmark = pytest.mark.own_database

PAGE = "storage.md"
TOOL = "acme_books_enter"


def test_every_block_of_the_page_is_executed_here() -> None:
    assert [language for language, _ in blocks_of(PAGE)] == ["python", "sql", "sql", "python"]


def write_files(folder: Path) -> None:
    """Write the files of the page."""
    migration, statements = block_of(PAGE, "sql"), block_of(PAGE, "sql", 1)
    files = {
        "books.py": block_of(PAGE, "python"),
        "migrations/sqlite/0001_entries.sql": migration,
        "migrations/postgres/0001_entries.sql": migration,
        "statements/entries.sql": statements,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
async def surface(transport: str, database_url: str, tmp_path: Path) -> AsyncIterator[Gate]:
    write_files(tmp_path / "books")
    async with signed_in(
        gate_with((str(tmp_path / "books/books.py"),), database_url, tmp_path, transport)
    ) as gate:
        assert gate.app.extensions.failures == ()
        yield gate


@pytest.mark.every_surface
async def test_the_operator_of_the_page_stores_what_was_approved(surface: Gate) -> None:
    notes = []
    for note in ("called on Monday", "paid on Friday"):
        prepared = await surface.done(TOOL, customer="cus_1", note=note)
        action_id = prepared["actions"][0]["id"]
        await surface.approve_as(Assurance.PERSON, action_id)
        notes.append(note)
        assert (await surface.done(EXECUTE, actionId=action_id))["output"] == notes


@pytest.mark.slow
def test_the_test_of_the_page_passes_and_fails_with_a_migration_that_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "test_books.py").write_text(block_of(PAGE, "python", 1))
    passed = run_pytest(tmp_path)
    assert passed.returncode == 0, passed.stdout
    for dialect in ("sqlite", "postgres"):
        (tmp_path / f"migrations/{dialect}/0002_more.sql").write_text("DELETE FROM actions;")
    failed = run_pytest(tmp_path)
    assert failed.returncode == 1
    assert "0002_more.sql touches actions" in failed.stdout


def run_pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_books.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
