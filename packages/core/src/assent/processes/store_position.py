"""The head of a store, kept in the data directory: a store that is older is not used in silence.

`assent.engine.recovery.positions` says what a position is. A process records one soon after it has
written, at once when it claims an action, and when it closes. Recording costs one small transaction,
which shares the commit of others, and one small file without a sync. No call waits for it. After a power
failure the file may be older than the store, which is harmless; it is never newer.

Before a process opens the store, it compares with what it knows of the store's deployment, under whatever
address. A store that is behind is refused (`StoreBehind`) and left as it is, unless it carries the mark of
a backup. A directory that has served a store also refuses one that it does not know and that is not
empty; a new directory knows none and asks nothing. A process that finds its store behind while it runs,
as after a failover that lost writes, holds what may have been sent and goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from assent.engine.recovery import positions
from assent.engine.recovery.positions import Position, Restore, read_mark, read_position
from assent.kernel.structs import WireRecord
from assent.kernel.times import iso_time
from assent.ports import Begin, Clock, CountingStore, Store, StoreUnavailable
from assent.settings.client_config import in_shell, own_command
from assent.settings.load import Settings, hide_password
from assent.stores.facts import StoreFacts, read_facts

T = TypeVar("T")

log = logging.getLogger("assent.heads")

RECORD_SECONDS: Final = 1.0
"""How long after a write its position is recorded at the latest."""

PAUSE_SECONDS: Final = 0.2
"""The shortest time between two records, also when many actions are claimed."""

BY_HAND: Final = "it was put back by hand"
NOT_KNOWN: Final = "it is not one that this data directory knew"


class StoreBehind(StoreUnavailable):
    """The store lacks writes that this data directory has recorded, or may lack them because the directory
    does not know it. The message says what to do."""


class HeadFile(WireRecord):
    """The newest recorded position at one address. `directory` is the random name of the data directory in
    the store; `deployment` is empty until the store has a name."""

    directory: str
    epoch: int
    number: int
    at_ms: int
    deployment: str = ""

    @property
    def position(self) -> Position:
        return Position(self.epoch, self.number)


class Heads:
    """Records and compares the head of one store in one data directory."""

    def __init__(
        self,
        settings: Settings,
        store: CountingStore,
        clock: Clock,
        hold: Callable[[Restore], Awaitable[None]] | None = None,
        *,
        accept_older: bool = False,
    ) -> None:
        """`hold` records a restore; without it heads are only compared. `accept_older`: a person said that
        an older store is to be used."""
        self._settings, self._store, self._clock, self._hold = settings, store, clock, hold
        self._accept_older = accept_older
        self.path = settings.data_dir / name_file(settings)
        self._directory: str | None = None
        self._deployment, self._is_named = os.urandom(8).hex(), False
        self._reached = Position()
        self._seen = 0
        self.known_epoch = 0
        """The epoch in the file before this process began to record."""
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def read(self) -> HeadFile | None:
        """Return the head recorded at this address; None if there is none or a power failure left it
        empty."""
        return self._read_all().get(self.path)

    def _read_all(self) -> dict[Path, HeadFile]:
        heads = {}
        for path in self._settings.data_dir.glob("*.head"):
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                heads[path] = msgspec.json.decode(path.read_bytes(), type=HeadFile)
        return heads

    def _belongs(self, path: Path, head: HeadFile, facts: dict[str, str]) -> bool:
        """Whether a head is of the store's deployment. Where one of them has no name yet, its counter or its
        address tells."""
        if head.deployment and facts.get(positions.DEPLOYMENT):
            return head.deployment == facts[positions.DEPLOYMENT]
        return path == self.path or positions.name_head(head.directory) in facts

    async def compare(self) -> Restore | None:
        """Compare the store with the recorded head before it is opened. Returns a restore that must be
        recorded. Raises `StoreBehind`, having changed nothing."""
        heads, newest = self._read_all(), self._newest_checkpoint()
        if not heads and newest is None:
            return None
        found = await read_facts(self._settings.database_url)
        known = [head for path, head in heads.items() if self._belongs(path, head, found.facts)]
        head = max(known, key=lambda each: each.position, default=None)
        named = found.facts.get(positions.DEPLOYMENT)
        self._is_named = named is not None
        self._deployment = named or (head.deployment if head is not None else "") or self._deployment
        self.known_epoch = head.epoch if head is not None else 0
        if read_mark(found.facts.get(positions.BACKUP)) is not None:
            return None  # found again in the open store, where it is recorded
        is_unknown = bool(heads and not known and found.facts)
        lost = None if is_unknown else await self._find_loss(known, head, newest, found)
        if is_unknown or lost is not None:
            if not self._accept_older:
                raise StoreBehind(self._explain(lost))
            return Restore(since_ms=0, epoch=self.known_epoch, found=NOT_KNOWN if is_unknown else BY_HAND)
        if head is not None:
            self._directory, self._reached = head.directory, read_position(found.facts, head.directory)
        return None

    async def _find_loss(
        self, known: list[HeadFile], head: HeadFile | None, newest: Path | None, found: StoreFacts
    ) -> str | None:
        """Say what the store lacks; None if it lacks nothing."""
        ahead = [each for each in known if read_position(found.facts, each.directory) < each.position]
        if ahead:
            return f"what was written until {iso_time(max(each.at_ms for each in ahead))}"
        if newest is None or int(newest.stem) <= found.last_checkpoint:
            return None
        if head is not None and head.epoch < positions.read_epoch(found.facts):
            return None  # written before a restore that is recorded
        from assent.jobs import checkpoint_files

        # A data directory may have served another database: its files count if an earlier one is in this store.
        earlier = checkpoint_files.newest(self._settings.data_dir, at_most=found.last_checkpoint)
        if earlier is None:
            return None
        kept = (await read_facts(self._settings.database_url, int(earlier.stem))).checkpoint
        if kept != checkpoint_files.read(earlier).body:
            return None
        return f"checkpoint {int(newest.stem)}, which {newest} has"

    def _explain(self, lost: str | None) -> str:
        """Say what is wrong and what to do. `lost` is None for a store that is not known."""
        settings = self._settings
        path = settings.sqlite_path
        where = f"The database {path if path is not None else hide_password(settings.database_url)}"
        log_file = " It needs all its files, assent.db-wal among them." if path is not None else ""
        what, why, fix = (
            f"is older than this server remembers: it lacks {lost}",
            "A backup was put back by hand, a copy is used under another name, or its log was lost or damaged",
            f"Put the newest database back.{log_file}",
        )
        if lost is None:
            what = f"is not one that the data directory {settings.data_dir} knows"
            why = "The directory has served another database, and this one may be an older copy"
            fix = "Name the database that was used here. For another server's, use its data directory or an empty one."
        return (
            f"{where} {what}.\n{why}. Actions that were sent since then look unsent in it, so the server does not "
            f"start. Nothing was changed.\n{fix} Or restore a backup: "
            f"{in_shell(own_command(settings, 'restore', 'FILE'))}\n"
            "To go on with the database as it is, and have everything checked that may have been sent: "
            f"{in_shell(own_command(settings, 'restore', '--as-it-is'))}"
        )

    async def find_restore(self) -> Restore | None:
        """Return the restore that the mark of a backup in the open store stands for. Sets checkpoint
        files aside that were signed before an earlier one."""
        mark = await self._store.read(positions.find_mark)
        if mark is None:
            return None
        epoch = max(mark.epoch, self.known_epoch)
        return Restore(since_ms=mark.taken_ms, epoch=epoch, found="a backup of Assent")

    def _newest_checkpoint(self) -> Path | None:
        if not (self._settings.data_dir / "checkpoints").is_dir():
            return None
        # Imported late: a new server has none, and the import takes time.
        from assent.jobs import checkpoint_files

        return checkpoint_files.newest(self._settings.data_dir)

    async def begin(self, *, restored: bool) -> None:
        """Begin to record the open store. A restored one is recorded at once, and checkpoints that were
        signed before the restore are set aside."""
        if not self._is_named:
            self._deployment = await self._store.write(lambda: positions.name_deployment(self._deployment))
        if restored or self._reached.epoch > self.known_epoch:
            await self.record(synced=True)
            await self._set_checkpoints_aside()
        elif self._directory is not None:
            self._seen = self._store.writes  # preparing it has changed nothing
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def adopt(self) -> None:
        """Record a store that `assent restore` has put in place and held, of whatever deployment it is."""
        head = self.read()
        self.known_epoch = head.epoch if head is not None else 0
        await self.begin(restored=True)
        await self.close()

    async def _set_checkpoints_aside(self) -> None:
        from assent.jobs import checkpoint_files

        for restore in await self._store.read(positions.list_restores):
            if restore.epoch > self.known_epoch:
                checkpoint_files.set_aside(self._settings.data_dir, restore)
        self.known_epoch = self._reached.epoch

    def wake(self) -> None:
        """Record soon, because something is about to be sent."""
        self._woken.set()

    async def record(self, *, synced: bool = False) -> None:
        """Count one further in the store, then keep the position in the file. Without a data directory
        nothing is recorded."""
        if not self.path.parent.is_dir():
            return
        if self._directory is None:
            head = self.read()
            self._directory = head.directory if head is not None else os.urandom(8).hex()
        directory, before = self._directory, self._store.writes
        position = await self._store.write(lambda: positions.advance(directory))
        self._seen = before + 1
        if Position(position.epoch, position.number - 1) < self._reached and self._hold is not None:
            log.error("the database has lost writes that this process knows; it was put back or failed over")
            epoch, self._reached = self._reached.epoch, Position()
            await self._hold(Restore(since_ms=0, epoch=epoch, found="found while the server ran"))
            position = await self._store.write(lambda: positions.advance(directory))
        if self._task is not None and position.epoch > self._reached.epoch:
            self._reached = position
            await self._set_checkpoints_aside()  # another process has restored the database
        self._reached = position
        await asyncio.to_thread(self._keep, directory, position, synced)

    def _keep(self, directory: str, position: Position, synced: bool) -> None:
        kept = self.read()
        if kept is not None and kept.directory == directory and kept.position >= position:
            return  # another process of this directory was faster
        draft = self.path.with_suffix(f".{os.getpid()}")
        try:
            draft.touch(mode=0o600)
            with draft.open("wb") as file:
                file.write(
                    msgspec.json.encode(
                        HeadFile(
                            directory, position.epoch, position.number, self._clock.now_ms(), self._deployment
                        )
                    )
                )
                if synced:
                    file.flush()
                    os.fsync(file.fileno())
            draft.replace(self.path)
        except OSError as error:
            log.warning("the position of the database cannot be kept in %s: %s", self.path, error)

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(RECORD_SECONDS):
                    await self._woken.wait()
            except TimeoutError:
                pass
            if self._store.writes == self._seen:
                self._woken.clear()
                continue
            self._woken.clear()
            try:
                await self.record()
            except StoreUnavailable as error:
                log.warning("the position of the database cannot be recorded: %s", error)
            await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Record what was written last. Call this before the store is closed."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._store.writes != self._seen:
            try:
                await self.record(synced=True)
            except Exception as error:
                log.warning("the position of the database cannot be recorded: %s", error)


def name_file(settings: Settings) -> str:
    """Return the name of the file. Several databases may share a data directory."""
    path = settings.sqlite_path
    if path is not None and path.absolute().parent == settings.data_dir.absolute():
        return f"{path.name}.head"
    shown = str(path.absolute()) if path is not None else hide_password(settings.database_url)
    return f"{hashlib.sha256(shown.encode()).hexdigest()[:8]}.head"


async def ask_history(store: Store, run: Callable[[Begin[T]], Awaitable[T]], begin: Begin[T]) -> T | None:
    """Run a transaction of `assent.engine.recovery.positions`. Returns None on SQLite, and where a database
    service does not tell its history."""
    if store.dialect == "sqlite":
        return None
    try:
        return await run(begin)
    except StoreUnavailable:
        raise
    except Exception as error:
        log.warning("a failover of this database cannot be noticed: %s", error)
        return None
