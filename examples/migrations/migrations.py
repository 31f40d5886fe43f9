"""Runs a database migration on PostgreSQL, once a person has approved its SQL."""

from __future__ import annotations

import os
import re

import asyncpg

import assent

database = assent.Operator("acme-database", label="Database", function="Migrates the database once approved.")

TABLE = "CREATE TABLE IF NOT EXISTS applied_migrations (key text PRIMARY KEY, name text, at timestamptz)"
ENDS_TRANSACTION = re.compile(
    r"(?:^|;)\s*(commit|rollback|abort|end\s*(?:;|$)|begin\s*(?:;|$)|start\s)", re.I
)
OUTSIDE = re.compile(r"\b(concurrently|vacuum|create\s+database|drop\s+database)\b", re.I)


@database.effect(risk="high", delivery=assent.read_back(), timeout_seconds=60)
async def migrate(ctx: assent.Context, name: str, sql: str) -> assent.Receipt:
    """Run a database migration in one transaction. USE WHEN the user asks to change the schema."""
    connection = await asyncpg.connect(os.environ["MIGRATIONS_URL"], timeout=ctx.left())
    try:
        async with ctx.sending(), connection.transaction():
            # A reader of the same key waits until this transaction has ended.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtext($1))", ctx.key)
            await connection.execute(TABLE)
            await connection.execute("INSERT INTO applied_migrations VALUES ($1, $2, now())", ctx.key, name)
            await connection.execute(sql)
    except asyncpg.PostgresError as error:
        if connection.is_closed():
            raise
        raise assent.NotSent(f"rolled back: {error}") from error
    finally:
        await connection.close(timeout=5)
    return assent.Receipt(ctx.key, output={"migration": name})


@migrate.describe
def describe(name: str, sql: str) -> assent.View:
    return assent.View(
        title=f"Migrate the database: {name}",
        sentence="Runs exactly this SQL in one transaction. If a statement fails, nothing changes.",
        blocks=(assent.Text("SQL", sql, code=True),),
    )


@migrate.check
def check(name: str, sql: str) -> list[assent.Problem]:
    problems = []
    if re.fullmatch(r"[a-z0-9_]{1,60}", name) is None:
        problems.append(assent.Problem("name", "small letters, digits and _", name))
    if ENDS_TRANSACTION.search(sql):
        problems.append(assent.Problem("sql", "statements without BEGIN, COMMIT or ROLLBACK"))
    if OUTSIDE.search(sql):
        problems.append(assent.Problem("sql", "statements that can run inside a transaction"))
    return problems


@migrate.look_up
async def look_up(ctx: assent.Context) -> assent.Receipt | None:
    connection = await asyncpg.connect(os.environ["MIGRATIONS_URL"], timeout=ctx.left())
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtext($1))", ctx.key)
            await connection.execute(TABLE)
            found = await connection.fetchval("SELECT name FROM applied_migrations WHERE key = $1", ctx.key)
    finally:
        await connection.close(timeout=5)
    return assent.Receipt(ctx.key, output={"migration": found}) if found is not None else None
