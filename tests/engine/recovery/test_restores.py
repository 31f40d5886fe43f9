"""A restored store sends nothing a second time, whatever the provider promises; the ledger is the oracle."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, STAGE_TOOL, Gate
from tests.engine.actions.provider import DELIVERIES, providers
from tests.surfaces import ManualClock, settings_for

from assent.app import App, list_components
from assent.engine.audit import log as audit_log
from assent.engine.recovery.holding import RestoreReport
from assent.extensions.registry import Extensions
from assent.gate.records import Assurance
from assent.jobs import checkpoint_files
from assent.kernel.times import iso_time
from assent.processes import restoring
from assent.processes.heads import StoreBehind
from assent.processes.serve import Surfaces
from assent.stores.backup_files import BackupError
from assent.stores.backups import exchange, load_backup
from assent.stores.postgres import connect
from assent.suite.testing.catalog import ALL_TOOLS
from assent.suite.testing.effect_types import any_effects
from assent.tools.catalog import Catalog

pytestmark = pytest.mark.own_database
HOUR = 3_600_000


class House:
    """A server with its data directory and its providers, which can be stopped, restored and started again."""

    def __init__(self, database_url: str, root: Path) -> None:
        self.url, self.root = database_url, root
        self.world = providers()
        self.clock = ManualClock()
        self.settings = settings_for(database_url, root)
        self.gate: Gate = None  # type: ignore[assignment]
        self.key: str | None = None
        self.workspace_id: Any = None

    async def start(self) -> Gate:
        app = self.make_app(self.settings)
        surfaces = Surfaces(app)
        surfaces.edge.catalog = Catalog((*ALL_TOOLS, STAGE_TOOL))
        self.gate = Gate(app, surfaces, self.clock, "http")
        self.gate.providers = self.world
        if self.key is None:
            issued = await self.gate.sign_in()
            self.key, self.workspace_id = issued.api_key, issued.workspace_id
        self.gate.key, self.gate.workspace_id = self.key, self.workspace_id
        await app.prepare()
        return self.gate

    def make_app(self, settings: Any, **options: Any) -> App:
        return App(settings, clock=self.clock, connectors=self.world, effects=any_effects(), **options)

    async def stop(self) -> None:
        if self.gate is not None:
            await self.gate.close()

    async def back_up(self) -> Path:
        file = self.root / f"backup-{self.clock.now_ms()}"
        await restoring.back_up(self.settings, file, self.clock)
        return file

    async def restore(self, file: Path, *, marked: bool) -> RestoreReport:
        """Stop the server, put the backup back, by the command or by hand, and start again."""
        await self.stop()
        if marked:
            done = await restoring.restore(self.settings, file, self.make_app, self.clock)
            report: RestoreReport | None = done.report
        else:
            await self.put_back_by_hand(file)
            with pytest.raises(StoreBehind, match="is older than this server remembers"):
                await self.start()
            await self.stop()
            report = await restoring.accept(self.settings, self.make_app)
        await self.start()
        assert report is not None
        return report

    async def put_back_by_hand(self, file: Path) -> None:
        """As an operator does who knows the database and not Assent: the copy has no mark."""
        path = self.settings.sqlite_path
        if path is None:
            loaded = await load_backup(self.url, file, "byhand", list_components(Extensions()))
            async with connect(loaded.url) as side:
                await side.execute("DELETE FROM deployment_facts WHERE name = 'backup'")
            await exchange(self.url, loaded, "byhand")
            return
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(file, path)
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM deployment_facts WHERE name = 'backup'")

    async def verdict(self) -> audit_log.Verdict:
        return await self.gate.app.owner_services.verify_journal(None)


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[House]:
    made = House(database_url, tmp_path)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def test_nothing_is_sent_again_after_a_restore_by_command(house: House) -> None:
    gate = house.gate
    ids = {name: await gate.approved(connector=name) for name in DELIVERIES}
    waiting = await gate.staged(connector="unaware")
    file = await house.back_up()
    house.clock.advance(seconds=60)
    await gate.done(APPROVE, actionId=waiting)
    for action_id in (*ids.values(), waiting):
        await gate.done(EXECUTE, actionId=action_id)
    report = await house.restore(file, marked=True)
    assert (report.unknown, report.repeatable, report.waiting) == (2, 2, 1)
    gate = house.gate
    await gate.run_jobs()
    states = {name: await gate.where(action_id) for name, action_id in ids.items()}
    assert states == {
        "native": "approved",
        "natural": "approved",
        "readback": "executed",
        "unaware": "outcome_unknown",
    }
    await gate.done(EXECUTE, actionId=ids["native"])
    await gate.done(EXECUTE, actionId=ids["natural"])
    assert (await gate.denied(EXECUTE, actionId=ids["unaware"]))["reason"] == "outcome_unknown"
    # What waited for its approval may have been approved and sent, too.
    await gate.done(APPROVE, actionId=waiting)
    assert (await gate.denied(EXECUTE, actionId=waiting))["reason"] == "outcome_unknown"
    await gate.run_jobs()
    for action_id in (*ids.values(), waiting):
        assert len([sent for sent in gate.ledger if sent.action_id == action_id]) == 1
    assert (await house.verdict()).ok


async def test_nothing_is_sent_again_after_a_copy_was_put_back_by_hand(house: House) -> None:
    """It is refused at the start. A person says that it is to be used; it is not known how old it is."""
    gate = house.gate
    ids = {name: await gate.approved(connector=name) for name in DELIVERIES}
    file = await house.back_up()
    for action_id in ids.values():
        await gate.done(EXECUTE, actionId=action_id, idempotencyKey=f"{action_id}-first")
    report = await house.restore(file, marked=False)
    assert (report.unknown, report.repeatable, report.since_ms) == (3, 1, 0)
    gate = house.gate
    await gate.run_jobs()
    for name, action_id in ids.items():
        answer = await gate.ask(EXECUTE, actionId=action_id, idempotencyKey=f"{action_id}-first")
        assert answer.is_error == (name != "natural"), name
    await gate.run_jobs()
    assert len(gate.ledger) == 4
    assert (await house.verdict()).ok


async def test_a_native_key_counts_within_half_its_window_since_the_backup(house: House) -> None:
    gate = house.gate
    early, late = await gate.approved(), await gate.approved()
    file = await house.back_up()
    for action_id in (early, late):
        await gate.done(EXECUTE, actionId=action_id)
    house.clock.advance(hours=11)
    await house.restore(file, marked=True)
    gate = house.gate
    await gate.done(EXECUTE, actionId=early)
    # The window ends before anyone asks for the other one.
    house.clock.advance(hours=2)
    house.world["native"].ledger[:] = [
        sent._replace(provider_key="forgotten") for sent in house.world["native"].ledger
    ]
    assert (await gate.denied(EXECUTE, actionId=late))["reason"] == "outcome_unknown"
    await gate.run_jobs()
    assert await gate.where(late) == "outcome_unknown"
    assert len(gate.ledger) == 2
    # Restored again after the window: no one has to ask for it to become visible.
    await house.restore(file, marked=True)
    assert [await house.gate.where(each) for each in (early, late)] == ["outcome_unknown"] * 2
    await house.gate.run_jobs()
    assert len(house.gate.ledger) == 2
    assert (await house.verdict()).ok


async def test_claims_schedules_edits_and_what_was_not_sent(house: House) -> None:
    gate, clock = house.gate, house.clock
    claimed = await gate.approved(connector="unaware")
    await gate.claim(claimed)
    due = await gate.staged(connector="unaware", scheduleFor=iso_time(clock.now_ms() + HOUR))
    await gate.approve_as(Assurance.PERSON, due, send_now=True)
    edited = await gate.approved(connector="natural")
    unsent = await gate.approved(connector="readback")
    file = await house.back_up()
    clock.advance(hours=2)
    await gate.run_jobs()
    await gate.done(EXECUTE, actionId=edited)
    assert len(gate.ledger) == 2
    await house.restore(file, marked=True)
    gate = house.gate
    assert [await gate.where(each) for each in (claimed, due, edited)] == [
        "outcome_unknown",
        "outcome_unknown",
        "approved",
    ]
    told = {each["actionId"]: each["why"] for each in (await gate.done("chieflab_report"))["actions"]}
    for action_id in (claimed, due):
        refused = await gate.denied(EXECUTE, actionId=action_id)
        for said in (refused["userMessage"], told[action_id]):
            assert "restored from a backup" in said and "did not confirm" not in said
    await gate.done(EDIT, actionId=edited, body=OTHER)
    await gate.approve_as_shown(edited)
    # Another revision has another key, which the provider would not recognise.
    assert (await gate.denied(EXECUTE, actionId=edited))["reason"] == "outcome_unknown"
    await gate.run_jobs()
    assert len(gate.ledger) == 2
    # The provider says that it was not sent, and a person says it of the claim: each is sent once.
    assert await gate.where(unsent) == "retryable"
    await gate.done(EXECUTE, actionId=unsent)
    await gate.answer_as_person(claimed, happened=False)
    await gate.done(EXECUTE, actionId=claimed)
    assert len(gate.ledger) == 4
    assert (await house.verdict()).ok


async def test_the_journal_verifies_after_a_restore_and_says_what_was_restored(house: House) -> None:
    gate = house.gate
    action_id = await gate.approved(connector="unaware")
    await checkpoint_files.write(gate.app)
    file = await house.back_up()
    house.clock.advance(hours=1)
    await gate.done(EXECUTE, actionId=action_id)
    later = await checkpoint_files.write(gate.app)
    assert later is not None
    report = await house.restore(file, marked=True)
    verdict = await house.verdict()
    assert verdict.ok
    assert [each.epoch for each in verdict.restores] == [report.epoch]
    assert not later.exists()
    [aside] = (house.root / checkpoint_files.DIRECTORY).glob("before-restore-*/*.json")
    kept = checkpoint_files.read(aside)
    # The checkpoint that was signed before the restore still proves what is gone.
    signer = audit_log.Signer(house.gate.app.keys.master)
    against = await audit_log.verify(house.gate.app.store, signer, kept)
    assert not against.ok
    assert "signed event is gone" in {each.what for each in against.findings}
    assert (await checkpoint_files.write(house.gate.app)) == later
    assert (await house.verdict()).ok


async def test_a_backup_is_private_whole_and_replaces_nothing(house: House, tmp_path: Path) -> None:
    file = await house.back_up()
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [name for name in os.listdir(tmp_path) if "partial" in name]  # noqa: PTH208 - in a coroutine
    with pytest.raises(BackupError, match="exists"):
        await restoring.back_up(house.settings, file, house.clock)
    cut = tmp_path / "cut"
    cut.write_bytes(file.read_bytes()[:-2000])
    noise = tmp_path / "noise"
    noise.write_bytes(b"\0" * 4096)
    if house.gate.dialect == "postgres":
        with pytest.raises(BackupError, match="Stop every server"):
            await restoring.restore(house.settings, file, house.make_app, house.clock)
    await house.stop()
    for bad in (cut, noise, tmp_path / "missing"):
        with pytest.raises(BackupError):
            await restoring.restore(house.settings, bad, house.make_app, house.clock)
    await house.start()
    assert await house.gate.staged()
    assert not [name for name in os.listdir(tmp_path) if "restoring" in name]  # noqa: PTH208 - in a coroutine
