"""`examples/migrations` on a real PostgreSQL: the approved SQL in one transaction, read back."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest
from tests.support.actions.kit import EXECUTE, Gate
from tests.support.examples.fixtures import OpenExample

from assent.gate.records import Assurance
from assent.gate.views import Text

pytestmark = pytest.mark.own_database

TOOL = "acme_database_migrate"
SQL = "CREATE TABLE colours (name text PRIMARY KEY);\nINSERT INTO colours VALUES ('red');"


async def fetch(url: str, sql: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


async def approve(gate: Gate, sql: str = SQL) -> str:
    staged = await gate.done(TOOL, name="add_colours", sql=sql)
    action_id: str = staged["actions"][0]["id"]
    await gate.approve_as(Assurance.PERSON, action_id)
    return action_id


@pytest.fixture
def target(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MIGRATIONS_URL", postgres_url)
    return postgres_url


async def test_the_approved_sql_is_shown_as_a_block_and_runs_once(
    open_example: OpenExample, target: str
) -> None:
    gate = await open_example("migrations/migrations.py")
    action_id = await approve(gate)
    assert Text("SQL", SQL, code=True) in (await gate.stored(action_id)).view.blocks
    assert await fetch(target, "SELECT to_regclass('colours')") is None
    done = await gate.done(EXECUTE, actionId=action_id)
    assert done["output"] == {"migration": "add_colours"}
    assert await fetch(target, "SELECT name FROM colours") == "red"


async def test_a_statement_that_fails_leaves_the_database_as_it_was(
    open_example: OpenExample, target: str
) -> None:
    gate = await open_example("migrations/migrations.py")
    action_id = await approve(gate, f"{SQL} SELECT 1 / 0;")
    refused = await gate.denied(EXECUTE, actionId=action_id)
    assert refused["reason"] == "connector_failed"
    assert await gate.where(action_id) == "failed"
    assert await fetch(target, "SELECT to_regclass('colours')") is None
    assert await fetch(target, "SELECT to_regclass('applied_migrations')") is None


@pytest.mark.parametrize("happened", [True, False])
async def test_after_the_process_died_the_database_says_whether_it_happened(
    open_example: OpenExample, target: str, happened: bool
) -> None:
    gate = await open_example("migrations/migrations.py")
    action_id = await approve(gate)
    await gate.claim(action_id)
    if happened:
        await fetch(
            target, "CREATE TABLE applied_migrations (key text PRIMARY KEY, name text, at timestamptz)"
        )
        await fetch(target, f"INSERT INTO applied_migrations VALUES ('{action_id}:1', 'add_colours', now())")
    gate.clock.advance(hours=1)
    await gate.run_jobs()
    assert await gate.where(action_id) == ("executed" if happened else "retryable")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; COMMIT; DROP TABLE users",
        "begin; SELECT 1",
        "ROLLBACK",
        "SELECT 1; END",
        "CREATE INDEX CONCURRENTLY i ON t (x)",
        "VACUUM",
    ],
)
async def test_sql_that_would_leave_the_transaction_is_not_staged(
    open_example: OpenExample, target: str, sql: str
) -> None:
    gate = await open_example("migrations/migrations.py")
    refused = await gate.denied(TOOL, name="add_colours", sql=sql)
    assert {problem["path"] for problem in refused["problems"]} == {"sql"}


async def test_a_block_of_plpgsql_runs_inside_the_transaction(open_example: OpenExample, target: str) -> None:
    gate = await open_example("migrations/migrations.py")
    action_id = await approve(gate, "DO $$ BEGIN CREATE TABLE shapes (name text); END $$;")
    await gate.done(EXECUTE, actionId=action_id)
    assert await fetch(target, "SELECT to_regclass('shapes')::text") == "shapes"
