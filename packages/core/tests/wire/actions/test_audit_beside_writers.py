"""`audit verify` is right while others write, and no row that cannot be decoded hides what else was changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from packages.core.tests.wire.actions.test_tampering import Vault
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import EDIT, EXECUTE, OTHER
from tests.support.actions.provider import providers
from tests.support.surfaces import MASTER, signed_in
from tests.support.workflows.kit import WorkflowClient, three_steps

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Signer
from assent.ports import Begin

pytestmark = pytest.mark.own_database

DEEP = "[" * 10_000
GARBAGE = (
    "'{}'",
    "'null'",
    "'x'",
    "5",
    "''",
    f"'{DEEP}'",
    "NULL",
    "9000000000000000000",
    "CAST(x'ff' AS TEXT)",
)
"""Values that are put into every column. A store refuses those that its schema does not take."""


@pytest.fixture
async def vault(database_url: str, tmp_path: Path) -> AsyncIterator[Vault]:
    async with signed_in(
        gate_over(database_url, tmp_path, "http", providers(), workflow_dirs=(str(tmp_path / "flows"),))
    ) as gate:
        yield Vault(gate)


class Interleaved:
    """A store in which others write between any two reads."""

    def __init__(self, store: Any, steps: Iterator[Callable[[], Awaitable[Any]]]) -> None:
        self._store = store
        self._steps = steps

    async def read(self, begin: Begin[Any]) -> Any:
        found = await self._store.read(begin)
        if (step := next(self._steps, None)) is not None:
            await step()
        return found


@pytest.mark.parametrize("page", [500, 2])
async def test_what_others_write_between_two_reads_is_not_taken_for_tampering(
    vault: Vault, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "PAGE", page)
    gate = vault.gate
    signer = Signer(gate.app.keys.master)
    client = WorkflowClient(gate, Path(gate.app.settings.workflow_dirs[0]))
    at = await client.start(three_steps())
    ids = [await gate.staged() for _ in range(4)]
    await vault.checkpoint()

    def steps() -> Iterator[Callable[[], Awaitable[Any]]]:
        for number in range(4):
            for action_id in ids:
                yield partial(gate.approve_as_shown, action_id)
                yield partial(gate.done, EDIT, actionId=action_id, body=f"{OTHER} {number}")
                yield gate.staged
            yield vault.checkpoint
            yield partial(client.checkpoint, at, f"note {number}")

    left = steps()
    for _ in range(8):
        interleaved: Any = Interleaved(gate.app.store, left)
        verdict = await audit_log.verify(interleaved, signer, vault.kept[-1])
        assert (verdict.ok, verdict.findings) == (True, ())
    assert next(left, None) is None, "not every step was taken"


# ── rows that cannot be decoded ──────────────────────────────────────────────────────────────────

NEVER_COMPARED = {
    "streams": {"updated_at"},
    "actions": {
        *("tenant_id", "asset_id", "position", "version", "executor_tool", "created_ms", "expires_ms"),
        *("schedule_ms", "rejection", "executed_ms", "external_url", "risk", "proposed_by", "held"),
    },
    "checkpoints": {"at_ms"},
    "workflow_runs": {"name", "created_ms", "updated_ms"},
    "workflow_nodes": {"created_ms"},
    "workflow_programs": {"workflow_id", "created_ms"},
}
"""Columns that the journal says nothing about."""
ROWS = {
    "streams": "stream_id = '{run_id}'",
    "events": "stream_id = '{run_id}' AND seq = 2",
    "actions": "action_id = '{action_id}'",
    "checkpoints": "number = 1",
    "workflow_runs": "1 = 1",
    "workflow_nodes": "node = 0",
    "workflow_programs": "1 = 1",
}
EMPTY_IS_FINE = {
    ("attempt", "NULL"),
    ("metadata", "'{}'"),
    ("view", "NULL"),
    ("next_state", "NULL"),
    ("next_ack", "NULL"),
}
"""Nothing where nothing is compared."""


@pytest.mark.slow
@pytest.mark.rule("W67")
@pytest.mark.parametrize("table", ROWS)
async def test_garbage_in_any_column_is_named_and_hides_nothing(vault: Vault, table: str) -> None:
    gate = vault.gate
    client = WorkflowClient(gate, Path(gate.app.settings.workflow_dirs[0]))
    at = await client.start(three_steps())
    await client.advance(at, notesMarkdown="the first step")
    first, second = [await gate.approved() for _ in range(2)]
    for action_id in (first, second):
        await gate.done(EXECUTE, actionId=action_id)
    run_id = (await gate.stored(first)).run_id
    await vault.checkpoint()
    await vault.sql("UPDATE actions SET external_id = 'post-999' WHERE action_id = ?", second)
    lie = f"action {second}: it names another effect than the journal"
    assert [each.what for each in (await vault.verify()).findings] == [lie]

    where = ROWS[table].format(run_id=run_id, action_id=first)
    kept = await vault.sql(f"SELECT * FROM {table}")
    same = "IS" if gate.dialect == "sqlite" else "IS NOT DISTINCT FROM"
    tried = 0
    for column in await columns_of(vault, table):
        for garbage in GARBAGE:
            is_same = f"SELECT 1 FROM {table} WHERE {where} AND {column} {same} {garbage}"
            try:
                unchanged = await vault.sql(is_same)
                await vault.sql(f"UPDATE {table} SET {column} = {garbage} WHERE {where}")
            except Exception:  # noqa: S112 - the schema does not take it
                continue
            tried += 1
            findings = (await vault.verify()).findings
            assert lie in {each.what for each in findings}, (column, garbage)
            if not (
                unchanged or column in NEVER_COMPARED.get(table, ()) or (column, garbage) in EMPTY_IS_FINE
            ):
                others = [f"{each.what} {each.stream_id}" for each in findings if each.what != lie]
                names = (first, run_id, "workflow run changed", "checkpoint 1")
                assert any(name in other for name in names for other in others), (column, garbage, others)
            await vault.sql(f"DELETE FROM {table}")
            for row in kept:
                await vault.sql(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
    assert tried > 20
    assert [each.what for each in (await vault.verify()).findings] == [lie]


KINDS = (
    "run_prepared",
    "action_approve",
    "action_staged",
    "content_erased",
    "events_erased",
    "store_restored",
)
BODIES = (
    "{}",
    "x",
    "[]",
    DEEP,
    '{"actionId": {}, "actions": 5}',
    '{"epoch":1,"atMs":9e18,"sinceMs":0,"found":""}',
)


async def test_an_event_of_any_kind_with_any_body_is_named_and_hides_nothing(vault: Vault) -> None:
    """With the chain mended, too: then the body itself is the only thing that is wrong."""
    gate = vault.gate
    first, second = [await gate.approved() for _ in range(2)]
    run_id = (await gate.stored(first)).run_id
    await vault.sql("UPDATE actions SET digest = 'sha256:0' WHERE action_id IN (?, ?)", first, second)
    lies = {f"action {each}: its digest is not the one that the journal has" for each in (first, second)}
    for kind in KINDS:
        for body in BODIES:
            text = "UPDATE events SET kind = ?, body = ? WHERE stream_id = ? AND seq = 2"
            await vault.sql(text, kind, body.replace("9e18", "9000000000000000000"), run_id)
            findings = (await vault.verify()).findings
            assert lies <= {each.what for each in findings}, (kind, body[:20])
            assert ("event altered", run_id, 2) in {(f.what, f.stream_id, f.seq) for f in findings}
            await vault.mend(run_id)
            findings = (await vault.verify()).findings
            assert lies <= {each.what for each in findings}, (kind, body[:20])
            if body in ("x", DEEP) and kind != "events_erased":
                assert any(f.what.startswith("event cannot be decoded") and f.seq == 2 for f in findings), (
                    kind
                )


async def test_a_server_starts_and_verifies_although_rows_that_a_start_reads_cannot_be_decoded(
    vault: Vault, database_url: str, tmp_path: Path
) -> None:
    """The command starts a server first. Two secrets make it look through the approvals."""
    action_id = await vault.gate.approved()
    await vault.sql("UPDATE actions SET attempt = '{}' WHERE action_id = ?", action_id)
    gate = gate_over(
        database_url,
        tmp_path,
        "http",
        providers(),
        secrets=("a newer master secret for the tests, long enough", MASTER),
    )
    try:
        await gate.app.prepare()
        found = {
            (each.what.partition(":")[0], each.stream_id) for each in (await Vault(gate).verify()).findings
        }
    finally:
        await gate.close()
    run_id = (await vault.sql("SELECT run_id FROM actions WHERE action_id = ?", action_id))[0][0]
    assert found == {(f"action {action_id} cannot be decoded", run_id)}


async def columns_of(vault: Vault, table: str) -> list[str]:
    sqlite = f"SELECT name FROM pragma_table_info('{table}')"
    postgres = f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
    return [name for (name,) in await vault.sql(sqlite if vault.gate.dialect == "sqlite" else postgres)]
