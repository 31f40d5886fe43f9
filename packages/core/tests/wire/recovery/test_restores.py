"""A restored store sends nothing a second time, whatever the provider promises; the ledger is the oracle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.actions.kit import APPROVE, EDIT, EXECUTE, OTHER, STAGE_TOOL, Gate
from tests.support.actions.provider import DELIVERIES, providers
from tests.support.answers import text_of
from tests.support.catalog import ALL_TOOLS
from tests.support.postgres_server import binaries
from tests.support.surfaces import ManualClock, settings_for

from assent.app import App, list_components
from assent.engine.actions import actions, doubts
from assent.engine.audit import log as audit_log
from assent.engine.recovery import holding, positions
from assent.engine.recovery.positions import Restore
from assent.extensions.registry import Extensions
from assent.gate.audit import RestoreReport, Verdict
from assent.gate.records import Assurance
from assent.jobs import checkpoint_files
from assent.kernel.times import iso_time
from assent.ports import Transaction
from assent.processes import restoring
from assent.processes.store_position import StoreBehind
from assent.stores.backup_files import BackupError
from assent.stores.backups import exchange, load_backup
from assent.stores.facts import read_facts
from assent.stores.migrate import migrate
from assent.stores.postgres import connect
from assent.tools.catalog import Catalog
from assent_launch.testing import any_effects

pytestmark = pytest.mark.own_database
HOUR = 3_600_000
OLDER = "is older than this server remembers"
UNKNOWN = "is not one that the data directory"


async def remove_mark(url: str) -> None:
    """Leave a backup as it is made by the means of the database."""
    name = positions.BACKUP
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            file.execute("DELETE FROM deployment_facts WHERE name = ?", (name,))
        return
    async with connect(url) as connection:
        await connection.execute("DELETE FROM deployment_facts WHERE name = $1", name)


class Server:
    """A server with its data directory and its providers, which can be stopped, restored and started again."""

    def __init__(self, database_url: str, root: Path) -> None:
        self.url, self.root = database_url, root
        self.outside = providers()
        self.clock = ManualClock()
        self.settings = settings_for(database_url, root)
        self.gate: Gate = None  # type: ignore[assignment]
        self.key: str | None = None
        self.workspace_id: Any = None

    async def start(self) -> Gate:
        app = self.make_app(self.settings)
        self.gate = Gate(app)
        self.gate.surfaces.edge.catalog = Catalog((*ALL_TOOLS, STAGE_TOOL))
        self.gate.providers = self.outside
        if self.key is None:
            issued = await self.gate.sign_in()
            self.key, self.workspace_id = issued.api_key, issued.workspace_id
        self.gate.key, self.gate.workspace_id = self.key, self.workspace_id
        await app.prepare()
        return self.gate

    def make_app(self, settings: Any, **options: Any) -> App:
        return App(settings, clock=self.clock, connectors=self.outside, effects=any_effects(), **options)

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
            report = (await restoring.restore(self.settings, file, self.make_app, self.clock)).report
        else:
            await self.put_back_by_hand(file)
            report = await self.accept(OLDER)
        await self.start()
        return report

    async def put_back_by_hand(self, file: Path) -> None:
        """As an operator does who knows the database and not Assent: the copy has no mark."""
        path = self.settings.sqlite_path
        if path is None:
            loaded = await load_backup(self.url, file, "byhand", list_components(self.settings, Extensions()))
            await remove_mark(loaded.url)
            await exchange(self.url, loaded, "byhand")
            return
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(file, path)
        await remove_mark(self.url)

    async def copy_to(self, url: str) -> None:
        """Copy the database under another name while the server runs, by the database's own means."""
        path = self.settings.sqlite_path
        if path is not None:
            with (
                contextlib.closing(sqlite3.connect(path)) as source,
                contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as target,
            ):
                source.backup(target)
        else:
            tools, dump = binaries() or Path(), self.root / "dump"
            for command in (
                ("pg_dump", "--format=custom", f"--file={dump}", self.settings.database_url),
                ("pg_restore", f"--dbname={url}", str(dump)),
            ):
                process = await asyncio.create_subprocess_exec(tools / command[0], *command[1:])
                assert await process.wait() == 0

    async def use(self, url: str) -> None:
        """Stop the server and point it at another database."""
        await self.stop()
        self.settings = msgspec.structs.replace(self.settings, database_url=url)

    async def accept(self, words: str) -> RestoreReport:
        """The server refuses its database and changes nothing; a person says that it is to be used."""
        before = await read_facts(self.settings.database_url)
        with pytest.raises(StoreBehind, match=words):
            await self.start()
        await self.stop()
        assert await read_facts(self.settings.database_url) == before
        report = await restoring.accept(self.settings, self.make_app)
        assert report is not None
        return report

    async def verdict(self) -> Verdict:
        return await self.gate.app.owner_services.verify_journal(None)


@pytest.fixture
async def make_server(tmp_path: Path) -> AsyncIterator[Callable[..., Server]]:
    """Make servers by their database and the name of their data directory; they are stopped after the test. Name the
    databases before this fixture: then they are removed after it."""
    made: list[Server] = []

    def make(url: str, name: str = "") -> Server:
        (tmp_path / name).mkdir(exist_ok=True)
        made.append(Server(url, tmp_path / name))
        return made[-1]

    yield make
    for each in made:
        await each.stop()


@pytest.fixture
async def server(database_url: str, make_server: Callable[..., Server]) -> Server:
    made = make_server(database_url)
    await made.start()
    return made


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> Iterator[str]:
    """The address of another database of the same kind, which is empty."""
    if database == "sqlite":
        yield f"sqlite:///{tmp_path / 'other.db'}"
        return
    server = request.getfixturevalue("postgres_server")
    url = server.create(migrated=False)
    yield url
    server.drop(url)


async def test_nothing_is_sent_again_after_a_restore_by_command(server: Server) -> None:
    gate = server.gate
    ids = {name: await gate.approved(connector=name) for name in DELIVERIES}
    waiting = await gate.staged(connector="unaware")
    file = await server.back_up()
    server.clock.advance(seconds=60)
    await gate.done(APPROVE, actionId=waiting)
    for action_id in (*ids.values(), waiting):
        await gate.done(EXECUTE, actionId=action_id)
    report = await server.restore(file, marked=True)
    assert (report.unknown, report.repeatable, report.waiting) == (2, 2, 1)
    gate = server.gate
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
    assert (await server.verdict()).ok


async def test_nothing_is_sent_again_after_a_copy_was_put_back_by_hand(server: Server) -> None:
    """It is refused at the start. A person says that it is to be used; it is not known how old it is."""
    gate = server.gate
    ids = {name: await gate.approved(connector=name) for name in DELIVERIES}
    file = await server.back_up()
    for action_id in ids.values():
        await gate.done(EXECUTE, actionId=action_id, idempotencyKey=f"{action_id}-first")
    report = await server.restore(file, marked=False)
    assert (report.unknown, report.repeatable, report.since_ms) == (3, 1, 0)
    gate = server.gate
    await gate.run_jobs()
    for name, action_id in ids.items():
        answer = await gate.ask(EXECUTE, actionId=action_id, idempotencyKey=f"{action_id}-first")
        assert answer.is_error == (name != "natural"), name
    await gate.run_jobs()
    assert len(gate.ledger) == 4
    assert (await server.verdict()).ok


async def test_a_native_key_counts_within_half_its_window_since_the_backup(server: Server) -> None:
    gate = server.gate
    early, late = await gate.approved(), await gate.approved()
    file = await server.back_up()
    for action_id in (early, late):
        await gate.done(EXECUTE, actionId=action_id)
    server.clock.advance(hours=11)
    await server.restore(file, marked=True)
    gate = server.gate
    await gate.done(EXECUTE, actionId=early)
    # The window ends before anyone asks for the other one.
    server.clock.advance(hours=2)
    server.outside["native"].ledger[:] = [
        sent._replace(provider_key="forgotten") for sent in server.outside["native"].ledger
    ]
    assert (await gate.denied(EXECUTE, actionId=late))["reason"] == "outcome_unknown"
    await gate.run_jobs()
    assert await gate.where(late) == "outcome_unknown"
    assert len(gate.ledger) == 2
    # Restored again after the window: no one has to ask for it to become visible.
    await server.restore(file, marked=True)
    assert [await server.gate.where(each) for each in (early, late)] == ["outcome_unknown"] * 2
    await server.gate.run_jobs()
    assert len(server.gate.ledger) == 2
    assert (await server.verdict()).ok


async def test_claims_schedules_edits_and_what_was_not_sent(server: Server) -> None:
    gate, clock = server.gate, server.clock
    claimed = await gate.approved(connector="unaware")
    await gate.claim(claimed)
    due = await gate.staged(connector="unaware", scheduleFor=iso_time(clock.now_ms() + HOUR))
    await gate.approve_as(Assurance.PERSON, due, send_now=True)
    edited = await gate.approved(connector="natural")
    unsent = await gate.approved(connector="readback")
    file = await server.back_up()
    clock.advance(hours=2)
    await gate.run_jobs()
    await gate.done(EXECUTE, actionId=edited)
    assert len(gate.ledger) == 2
    await server.restore(file, marked=True)
    gate = server.gate
    assert [await gate.where(each) for each in (claimed, due, edited)] == [
        "outcome_unknown",
        "outcome_unknown",
        "approved",
    ]
    told = text_of(await gate.done("chieflab_report"))
    for action_id in (claimed, due):
        refused = await gate.denied(EXECUTE, actionId=action_id)
        for said in (refused["userMessage"], told):
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
    assert (await server.verdict()).ok


async def test_an_action_that_changes_while_others_are_held_is_held_as_it_is_then(server: Server) -> None:
    """Several processes notice a failover, and the first of them serves while another still holds."""
    gate = server.gate
    action_id = await gate.staged(connector="unaware")
    stale = await gate.stored(action_id)
    now_ms = server.clock.now_ms()

    def hold_late() -> Transaction[None]:
        restore = Restore(since_ms=now_ms, epoch=0, found="a standby took over")
        holds = holding.hold(restore, server.outside, lambda: "an attempt", now_ms)
        bound = next(holds)
        with contextlib.suppress(StopIteration):
            while True:
                rows = yield bound
                if bound.statement.name == "list_open_actions":
                    yield from actions.put_without_event(stale)
                bound = holds.send(rows)

    await gate.app.store.write(hold_late)
    held = await gate.stored(action_id)
    assert held.version == stale.version + 2
    assert doubts.find_doubt(held) == doubts.Doubt(now_ms, held.revision)


async def test_the_journal_verifies_after_a_restore_and_says_what_was_restored(server: Server) -> None:
    gate = server.gate
    action_id = await gate.approved(connector="unaware")
    await checkpoint_files.write(gate.app)
    file = await server.back_up()
    server.clock.advance(hours=1)
    await gate.done(EXECUTE, actionId=action_id)
    later = await checkpoint_files.write(gate.app)
    assert later is not None
    report = await server.restore(file, marked=True)
    verdict = await server.verdict()
    assert verdict.ok
    assert [each.epoch for each in verdict.restores] == [report.epoch]
    assert not later.exists()
    [aside] = (server.root / checkpoint_files.DIRECTORY).glob("before-restore-*/*.json")
    kept = checkpoint_files.read(aside)
    # The checkpoint that was signed before the restore still proves what is gone.
    signer = audit_log.Signer(server.gate.app.keys.master)
    against = await audit_log.verify(server.gate.app.store, signer, kept)
    assert not against.ok
    assert "signed event is gone" in {each.what for each in against.findings}
    assert (await checkpoint_files.write(server.gate.app)) == later
    assert (await server.verdict()).ok


async def test_a_backup_is_private_whole_and_replaces_nothing(server: Server, tmp_path: Path) -> None:
    file = await server.back_up()
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [name for name in os.listdir(tmp_path) if "partial" in name]  # noqa: PTH208 - in a coroutine
    with pytest.raises(BackupError, match="exists"):
        await restoring.back_up(server.settings, file, server.clock)
    cut = tmp_path / "cut"
    cut.write_bytes(file.read_bytes()[:-2000])
    noise = tmp_path / "noise"
    noise.write_bytes(b"\0" * 4096)
    if server.gate.dialect == "postgres":
        with pytest.raises(BackupError, match="Stop every server"):
            await restoring.restore(server.settings, file, server.make_app, server.clock)
    await server.stop()
    for bad in (cut, noise, tmp_path / "missing"):
        with pytest.raises(BackupError):
            await restoring.restore(server.settings, bad, server.make_app, server.clock)
    await server.start()
    assert await server.gate.staged()
    assert not [name for name in os.listdir(tmp_path) if "restoring" in name]  # noqa: PTH208 - in a coroutine


async def test_nothing_is_sent_again_from_a_copy_under_another_name(elsewhere: str, server: Server) -> None:
    gate = server.gate
    ids = {(name, each): await gate.approved(connector=name) for name in DELIVERIES for each in range(3)}
    await gate.app.heads.record()
    await server.copy_to(elsewhere)
    for action_id in ids.values():
        await gate.done(EXECUTE, actionId=action_id)
    assert len(gate.ledger) == 12
    await server.use(elsewhere)
    report = await server.accept(OLDER)
    assert (report.unknown, report.repeatable, report.since_ms) == (9, 3, 0)
    gate = await server.start()
    await gate.run_jobs()
    for (name, _), action_id in ids.items():
        assert (await gate.ask(EXECUTE, actionId=action_id)).is_error == (name != "natural"), name
    await gate.run_jobs()
    assert len(gate.ledger) == 12
    assert (await server.verdict()).ok
    # The first database lacks what was done in its copy.
    await server.use(server.url)
    assert (await server.accept(OLDER)).epoch > report.epoch
    await server.start()


async def test_a_filled_database_that_the_data_directory_does_not_know_is_refused_and_held(
    elsewhere: str, server: Server, make_server: Callable[..., Server]
) -> None:
    await migrate(elsewhere, 0)
    other = make_server(elsewhere, "others")
    gate = await other.start()
    action_id = await gate.approved(connector="unaware")
    await gate.done(EXECUTE, actionId=await gate.approved(connector="unaware"))
    await other.stop()
    server.key, server.workspace_id = other.key, other.workspace_id
    await server.use(elsewhere)
    assert (await server.accept(UNKNOWN)).unknown == 1
    gate = await server.start()
    assert (await gate.denied(EXECUTE, actionId=action_id))["reason"] == "outcome_unknown"
    assert gate.ledger == []
    # It knows both now, and the other server learns of the restore from the database.
    await server.use(server.url)
    await server.start()
    await server.use(elsewhere)
    await server.start()
    await other.start()
    assert other.gate.app.restored is None


async def test_ordinary_starts_ask_nothing(
    elsewhere: str, server: Server, make_server: Callable[..., Server], tmp_path: Path
) -> None:
    await migrate(elsewhere, 0)
    ids = [await server.gate.approved(connector="unaware") for _ in range(2)]
    await checkpoint_files.write(server.gate.app)
    # A new machine with a copy of the checkpoints, or a second server on the same database.
    second = make_server(server.url, "second")
    second.key, second.workspace_id = server.key, server.workspace_id
    shutil.copytree(server.root / checkpoint_files.DIRECTORY, second.root / checkpoint_files.DIRECTORY)
    for action_id in ids:
        await second.start()
        await second.gate.done(EXECUTE, actionId=action_id)
        await second.stop()
        path = server.settings.sqlite_path
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path)
        again = (
            f"{server.url}?application_name=again" if path is None else f"sqlite:///{tmp_path}/link/assent.db"
        )
        # The same database in other words, and a new one.
        for url in (again, server.url, elsewhere):
            await server.use(url)
            server.key = second.key if url != elsewhere else None
            await server.start()
            assert server.gate.app.restored is None
            await server.gate.approved(connector="unaware")
    await second.start()
    assert second.gate.app.restored is None


async def test_a_backup_of_another_deployment_is_restored_without_a_second_question(
    elsewhere: str, server: Server, make_server: Callable[..., Server]
) -> None:
    await migrate(elsewhere, 0)
    other = make_server(elsewhere, "others")
    action_id = await (await other.start()).approved(connector="unaware")
    file = await other.back_up()
    await other.stop()
    server.key, server.workspace_id = other.key, other.workspace_id
    assert (await server.restore(file, marked=True)).unknown == 1
    assert server.gate.app.restored is None
    assert await server.gate.where(action_id) == "outcome_unknown"


async def test_a_copy_in_another_postgres_database_is_held_also_with_a_new_data_directory(
    postgres_url: str, postgres_server: Any, make_server: Callable[..., Server]
) -> None:
    server = make_server(postgres_url)
    gate = await server.start()
    ids = [await gate.approved(connector=name) for name in DELIVERIES]
    elsewhere = await asyncio.to_thread(postgres_server.create, migrated=False)
    await server.copy_to(elsewhere)
    for action_id in ids:
        await gate.done(EXECUTE, actionId=action_id)
    staging = make_server(elsewhere, "staging")
    staging.key, staging.workspace_id, staging.outside = server.key, server.workspace_id, server.outside
    gate = await staging.start()
    held = gate.app.restored
    assert held is not None
    assert (held.unknown, held.repeatable) == (2, 2)
    await gate.run_jobs()
    for action_id in ids:
        await gate.ask(EXECUTE, actionId=action_id)
    await gate.run_jobs()
    assert len(gate.ledger) == 4
    await staging.stop()
    await staging.start()
    assert staging.gate.app.restored is None
    await staging.stop()
    await asyncio.to_thread(postgres_server.drop, elsewhere)
