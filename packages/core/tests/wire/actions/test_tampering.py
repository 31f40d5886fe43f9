"""Whoever owns the database cannot change what it says about the past without being found out.

A checkpoint is signed and written out; then every kind of change is made behind the server's back, with the chain
mended as well as somebody can who does not have the key.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.actions.fixtures import gate_over
from tests.support.actions.kit import APPROVE, EXECUTE, Gate
from tests.support.actions.provider import providers
from tests.support.own_sql import bind_marks
from tests.support.surfaces import signed_in

from assent.engine.audit import log as audit_log
from assent.engine.audit.log import Checkpoint, Signer
from assent.engine.core import journal
from assent.engine.core.journal import GENESIS, Head
from assent.gate.audit import Verdict
from assent.jobs import checkpoint_files
from assent.ports import Transaction

pytestmark = pytest.mark.own_database

Row = tuple[Any, ...]
TABLES = ("events", "streams", "checkpoints")


class Vault:
    """A server with a history, its checkpoints kept elsewhere, and a thief's access to its database."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.kept: list[Checkpoint] = []
        self.run_id = ""

    async def live(self) -> None:
        """A run with a few events."""
        run = await self.gate.run()
        self.run_id = run["runId"]
        await self.gate.done(APPROVE, actionId=run["actions"][0]["id"])
        await self.gate.done(EXECUTE, actionId=run["actions"][0]["id"])

    async def checkpoint(self) -> None:
        self.gate.clock.advance(hours=1)
        path = await checkpoint_files.write(self.gate.app)
        assert path is not None
        self.kept.append(checkpoint_files.read(path))

    async def verify(self, *, kept: bool = True) -> Verdict:
        signer = Signer(self.gate.app.keys.master)
        copy = self.kept[-1] if kept and self.kept else None
        return await audit_log.verify(self.gate.app.store, signer, copy)

    async def sql(self, text: str, *values: Any) -> list[Row]:
        """A statement of the thief's own; `?` takes the values in order."""

        def begin() -> Transaction[list[Row]]:
            rows: Any = yield bind_marks(text, *values)
            return [tuple(row) for row in rows]

        return await self.gate.app.store.write(begin)

    async def mend(self, stream_id: str) -> None:
        """Compute the chain and the head of a stream anew, as the server would have."""
        rows = await self.sql(
            "SELECT workspace_id, seq, kind, at_ms, body FROM events WHERE stream_id = ? ORDER BY seq",
            stream_id,
        )
        chained, last = GENESIS, 0
        for last, (workspace_id, seq, kind, at_ms, body) in enumerate(rows, 1):
            chained = journal.link(workspace_id, stream_id, last, kind, at_ms, body.encode(), chained)
            await self.sql(
                "UPDATE events SET hash = ?, seq = ? WHERE stream_id = ? AND seq = ?",
                chained,
                last,
                stream_id,
                seq,
            )
        await self.sql("UPDATE streams SET seq = ?, hash = ? WHERE stream_id = ?", last, chained, stream_id)

    async def snapshot(self) -> dict[str, list[Row]]:
        """The tables that a thief is after, as they are."""
        return {table: await self.sql(f"SELECT * FROM {table}") for table in TABLES}

    async def restore(self, rows: dict[str, list[Row]]) -> None:
        """Undo everything."""
        for table, kept in rows.items():
            now = await self.sql(f"SELECT * FROM {table}")
            if now == kept:
                continue
            await self.sql(f"DELETE FROM {table}")
            for row in kept:
                await self.sql(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)

    async def head(self, stream_id: str) -> Head:
        [row] = await self.sql("SELECT workspace_id, seq, hash FROM streams WHERE stream_id = ?", stream_id)
        return Head(row[0], stream_id, row[1], row[2])


@pytest.fixture
async def vault(database_url: str, tmp_path: Path) -> AsyncIterator[Vault]:
    """Two runs, each before a checkpoint, and one after the last."""
    async with signed_in(gate_over(database_url, tmp_path, "http", providers())) as gate:
        vault = Vault(gate)
        await vault.live()
        await vault.checkpoint()
        await vault.live()
        await vault.checkpoint()
        run_id = vault.run_id
        await vault.live()
        vault.run_id = run_id
        yield vault


async def test_a_history_that_nobody_touched_is_as_it_was_written(vault: Vault) -> None:
    verdict = await vault.verify()
    assert (verdict.ok, verdict.findings, verdict.checkpoints) == (True, (), 2)
    assert verdict.events >= 12
    for kept in vault.kept:
        signer = Signer(vault.gate.app.keys.master)
        assert (await audit_log.verify(vault.gate.app.store, signer, kept)).ok


async def test_a_fresh_store_is_as_it_was_written(database_url: str, tmp_path: Path) -> None:
    gate = gate_over(database_url, tmp_path, "http", providers())
    try:
        await gate.app.prepare()
        verdict = await Vault(gate).verify()
        assert (verdict.ok, verdict.checkpoints) == (True, 0)
    finally:
        await gate.close()


EVENT_CHANGES = {
    "body": "UPDATE events SET body = replace(body, 'agent', 'person') WHERE stream_id = ? AND seq = 2",
    "kind": "UPDATE events SET kind = 'action_reject' WHERE stream_id = ? AND seq = 2",
    "time": "UPDATE events SET at_ms = at_ms + 1 WHERE stream_id = ? AND seq = 2",
    "hash": f"UPDATE events SET hash = '{'0' * 64}' WHERE stream_id = ? AND seq = 2",
    "hash that is none": "UPDATE events SET hash = 'x' WHERE stream_id = ? AND seq = 2",
    "first": "UPDATE events SET body = '{}' WHERE stream_id = ? AND seq = 1",
    "last": "UPDATE events SET body = '{}' WHERE stream_id = ? AND seq = 4",
    "deleted": "DELETE FROM events WHERE stream_id = ? AND seq = 2",
    "first deleted": "DELETE FROM events WHERE stream_id = ? AND seq = 1",
    "cut": "DELETE FROM events WHERE stream_id = ? AND seq > 2",
    "all gone": "DELETE FROM events WHERE stream_id = ?",
    "moved to another workspace": "UPDATE events SET workspace_id = 'x' WHERE stream_id = ?",
}


@pytest.mark.parametrize("mended", [False, True], ids=["left as it is", "chain and head mended"])
async def test_a_changed_deleted_or_cut_event_is_found(vault: Vault, mended: bool) -> None:
    before = await vault.snapshot()
    for change, text in EVENT_CHANGES.items():
        if mended and change.startswith("hash"):
            continue  # mending takes such a change back
        await vault.sql(text, vault.run_id)
        if mended:
            await vault.mend(vault.run_id)
        verdict = await vault.verify()
        assert any(finding.stream_id == vault.run_id for finding in verdict.findings), change
        assert not (await vault.verify(kept=False)).ok, change
        await vault.restore(before)
        assert (await vault.verify()).ok


async def test_every_single_event_before_the_checkpoint_is_covered(vault: Vault) -> None:
    rows = await vault.sql("SELECT workspace_id, stream_id, seq, body FROM events")
    signed = {
        (head.workspace_id, head.stream_id): head.seq for kept in vault.kept for head in kept.content().heads
    }
    covered = [row for row in rows if row[2] <= signed.get((row[0], row[1]), 0)]
    assert len(covered) >= 9
    for workspace_id, stream_id, seq, body in covered:
        where = "WHERE workspace_id = ? AND stream_id = ? AND seq = ?"
        await vault.sql(f"UPDATE events SET body = ? {where}", body + " ", workspace_id, stream_id, seq)
        assert not (await vault.verify()).ok, (stream_id, seq)
        await vault.sql(f"UPDATE events SET body = ? {where}", body, workspace_id, stream_id, seq)
    assert (await vault.verify()).ok


@pytest.mark.parametrize("mended", [False, True], ids=["left as it is", "chain and head mended"])
async def test_events_in_another_order_are_found(vault: Vault, mended: bool) -> None:
    for before, after in ((2, 99), (3, 2), (99, 3)):
        await vault.sql(
            "UPDATE events SET seq = ? WHERE stream_id = ? AND seq = ?", after, vault.run_id, before
        )
    if mended:
        await vault.mend(vault.run_id)
    assert not (await vault.verify()).ok


async def test_a_cut_that_leaves_its_head_row_is_found(vault: Vault) -> None:
    before = await vault.head(vault.run_id)
    await vault.sql("DELETE FROM events WHERE stream_id = ? AND seq = ?", vault.run_id, before.seq)
    assert await vault.head(vault.run_id) == before
    verdict = await vault.verify(kept=False)
    assert "event truncated" in {finding.what for finding in verdict.findings}


@pytest.mark.parametrize("how", ["head only", "head and events"])
async def test_a_stream_that_vanished_is_found(vault: Vault, how: str) -> None:
    await vault.sql("DELETE FROM streams WHERE stream_id = ?", vault.run_id)
    if how == "head and events":
        await vault.sql("DELETE FROM events WHERE stream_id = ?", vault.run_id)
    assert not (await vault.verify()).ok


HEAD_CHANGES = (
    "UPDATE streams SET seq = seq - 1 WHERE stream_id = ?",
    "UPDATE streams SET seq = seq + 1 WHERE stream_id = ?",
    f"UPDATE streams SET hash = '{'0' * 64}' WHERE stream_id = ?",
    "UPDATE streams SET hash = 'none' WHERE stream_id = ?",
)


async def test_a_changed_head_is_found(vault: Vault) -> None:
    before = await vault.snapshot()
    for change in HEAD_CHANGES:
        await vault.sql(change, vault.run_id)
        assert not (await vault.verify()).ok, change
        await vault.restore(before)


# ── the checkpoints themselves ───────────────────────────────────────────────────────────────────


async def rewritten(vault: Vault, number: int, change: Callable[[dict[str, Any]], None]) -> None:
    [(body,)] = await vault.sql("SELECT body FROM checkpoints WHERE number = ?", number)
    content = json.loads(body)
    change(content)
    await vault.sql("UPDATE checkpoints SET body = ? WHERE number = ?", json.dumps(content), number)


Change = Callable[[Vault], Awaitable[Any]]

CHECKPOINT_CHANGES: dict[str, Change] = {
    "the last removed": lambda vault: vault.sql("DELETE FROM checkpoints WHERE number = 2"),
    "the first removed": lambda vault: vault.sql("DELETE FROM checkpoints WHERE number = 1"),
    "all removed": lambda vault: vault.sql("DELETE FROM checkpoints"),
    "another number": lambda vault: vault.sql("UPDATE checkpoints SET number = 7 WHERE number = 2"),
    "signature": lambda vault: vault.sql("UPDATE checkpoints SET signature = 'AAAA' WHERE number = 2"),
    "no signature": lambda vault: vault.sql("UPDATE checkpoints SET signature = '%%' WHERE number = 2"),
    "another's key": lambda vault: vault.sql("UPDATE checkpoints SET public_key = 'AAAA' WHERE number = 2"),
    "no heads": lambda vault: rewritten(vault, 2, lambda body: body.update(heads=[])),
    "another time": lambda vault: rewritten(vault, 2, lambda body: body.update(atMs=0)),
    "another predecessor": lambda vault: rewritten(vault, 2, lambda body: body.update(previous=GENESIS)),
    "number zero inside": lambda vault: rewritten(vault, 2, lambda body: body.update(number=0)),
    "number nine inside": lambda vault: rewritten(vault, 1, lambda body: body.update(number=9)),
    "not JSON": lambda vault: vault.sql("UPDATE checkpoints SET body = 'x' WHERE number = 2"),
    "other JSON": lambda vault: vault.sql("UPDATE checkpoints SET body = '[]' WHERE number = 1"),
}


async def test_a_removed_or_altered_checkpoint_is_found_with_the_copy_that_was_kept(vault: Vault) -> None:
    before = await vault.snapshot()
    for name, change in CHECKPOINT_CHANGES.items():
        await change(vault)
        verdict = await vault.verify()
        assert any("checkpoint" in finding.what for finding in verdict.findings), name
        await vault.restore(before)
        assert (await vault.verify()).ok


async def test_a_history_rewritten_whole_with_its_checkpoints_is_found_with_the_copy_that_was_kept(
    vault: Vault,
) -> None:
    """Everything that a thief without the key can do: change an event and the record it tells of, mend every chain,
    drop every checkpoint."""
    await vault.sql(EVENT_CHANGES["body"], vault.run_id)
    await vault.sql(
        "UPDATE actions SET approval = replace(approval, 'agent', 'person') WHERE run_id = ?", vault.run_id
    )
    await vault.mend(vault.run_id)
    await vault.sql("DELETE FROM checkpoints")
    assert (await vault.verify(kept=False)).ok
    assert not (await vault.verify()).ok


async def test_a_checkpoint_signed_with_another_key_is_found(vault: Vault) -> None:
    thief = Signer((b"the thief's own secret, which is long enough",))
    await vault.sql(EVENT_CHANGES["body"], vault.run_id)
    await vault.mend(vault.run_id)
    await vault.sql("DELETE FROM checkpoints")
    forged = await vault.gate.app.store.write(
        lambda: audit_log.write_checkpoint(thief, vault.gate.clock.now_ms())
    )
    assert forged is not None
    verdict = await vault.verify(kept=False)
    assert "checkpoint 1 is not signed by this server" in {finding.what for finding in verdict.findings}
    signer = Signer(vault.gate.app.keys.master)
    assert not (await audit_log.verify(vault.gate.app.store, signer, forged)).ok


async def test_a_kept_copy_that_is_no_checkpoint_proves_nothing_and_says_so(vault: Vault) -> None:
    signer = Signer(vault.gate.app.keys.master)
    for text in ("{}", "x", '{"number": 1}'):
        copy = Checkpoint(text, vault.kept[-1].signature, vault.kept[-1].public_key)
        assert not (await audit_log.verify(vault.gate.app.store, signer, copy)).ok


async def test_checkpoints_go_on_after_each_other_and_none_is_written_when_nothing_changed(
    vault: Vault,
) -> None:
    await vault.checkpoint()
    numbers = [kept.content().number for kept in vault.kept]
    assert numbers == [1, 2, 3]
    vault.gate.clock.advance(hours=1)
    assert await checkpoint_files.write(vault.gate.app) is None
    assert (await vault.verify()).ok


async def test_the_export_holds_every_event_and_every_checkpoint(vault: Vault) -> None:
    lines = [json.loads(line) async for line in audit_log.export(vault.gate.app.store)]
    [(events,)] = await vault.sql("SELECT count(*) FROM events")
    assert len([line for line in lines if "seq" in line]) == events
    assert [line["checkpoint"]["signature"] for line in lines if "checkpoint" in line] == [
        kept.signature for kept in vault.kept
    ]
