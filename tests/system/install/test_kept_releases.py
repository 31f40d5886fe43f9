"""A database of every release opens in this version: nothing is lost, and the journal verifies.

`tests/support/stores/release_dump.py` writes the databases of a release; its files are kept beside it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.sqlite_files import list_components
from tests.support.stores.release_dump import RELEASES, SECRETS

from assent import __version__
from assent.app import App
from assent.engine.actions import actions
from assent.engine.core.tenancy import LOCAL_WORKSPACE
from assent.engine.views import run_views
from assent.ports import Transaction
from assent.settings.load import load_settings
from assent.stores.migrate import migrate, schema_state
from assent_launch.learning import measurement, memory

DUMPS = sorted(RELEASES.glob("*.sql"))


@pytest.fixture(params=DUMPS, ids=lambda path: path.name.removesuffix(".sql"))
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database as a release left it."""
    text = request.param.read_text(encoding="utf-8")
    if request.param.name.endswith(".sqlite.sql"):
        with closing(sqlite3.connect(tmp_path / "assent.db")) as connection:
            connection.executescript(text)
        return f"sqlite:///{tmp_path / 'assent.db'}"
    found: str = request.getfixturevalue("empty_postgres_url")
    asyncio.run(run_script(found, text))
    return found


async def run_script(url: str, text: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(url)
    await connection.execute(text)
    await connection.close()


@pytest.fixture
async def app(url: str, tmp_path: Path) -> AsyncIterator[App]:
    given = {"ASSENT_DATA_DIR": str(tmp_path), "ASSENT_DATABASE_URL": url, **SECRETS}
    app = App(load_settings({}, given).settings)
    if url.startswith("postgres"):  # its operator migrates it; a file is migrated at its first use
        await migrate(url, app.clock.now_ms(), list_components())
    await app.prepare()
    after = await schema_state(url, list_components())
    assert not after.pending and not any(each.pending for each in after.components)
    yield app
    await app.close()


async def test_the_journal_of_a_release_verifies(app: App) -> None:
    verdict = await app.services.verify_journal(None)

    assert verdict.findings == ()
    assert verdict.events >= 9


async def test_what_a_release_sent_rejected_and_left_waiting_is_read_as_it_was(app: App) -> None:
    def read() -> Transaction[dict[str, tuple[str, str]]]:
        page = yield from run_views.runs(
            LOCAL_WORKSPACE, app.services.effects, before="", most=10, now_ms=app.clock.now_ms()
        )
        found: dict[str, tuple[str, str]] = {}
        for line in page.runs:
            for action in (yield from actions.run_actions(LOCAL_WORKSPACE, line.run_id)):
                found[action.effect.title] = (action.status, action.effect.body)
        return found

    assert await app.store.read(read) == {
        "Tides": ("executed", "The tide table is out."),
        "Winds": ("rejected", "The winds turned."),
        "Stars": ("awaiting_approval", "The stars are out tonight."),
    }


async def test_what_a_release_measured_and_remembered_is_found(app: App) -> None:
    read = await app.store.read(lambda: measurement.list_read(LOCAL_WORKSPACE, -1, 10))
    entries = await app.store.write(lambda: memory.search(LOCAL_WORKSPACE, "default", "short", most=10))

    assert len(read) == 1
    assert [each.kind for each in entries] == ["rejection"]


def test_this_version_has_its_dumps() -> None:
    assert {path.name for path in DUMPS} >= {f"{__version__}.{each}.sql" for each in ("sqlite", "postgres")}
