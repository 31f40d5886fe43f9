"""Back up and restore the store of a server.

A restore loads the backup beside the store and opens it there as a server would: the secrets must fit,
the schema is migrated, the journal is verified, and what may have been sent after the backup is held.
Only then it takes the place of the store, which is kept under another name. A failure before that changes
nothing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import msgspec

from assent.app import App, list_components, load_operators, use_app
from assent.engine.audit import log as audit_log
from assent.engine.recovery import positions
from assent.engine.recovery.positions import BackupMark, read_epoch
from assent.gate.audit import RestoreReport
from assent.kernel.structs import WireRecord
from assent.ports import Clock, SchemaMismatch, Transaction
from assent.processes.listening import leadership_of
from assent.processes.start_checks import SecretMismatch
from assent.processes.store_position import Heads
from assent.processes.system_clock import SystemClock
from assent.settings.load import Settings
from assent.settings.secret_files import ensure_data_dir, resolve_secrets
from assent.stores import open_store
from assent.stores.backup_files import BackupError, LoadedBackup
from assent.stores.backups import drop_loaded, exchange, load_backup, write_backup
from assent.stores.facts import read_facts
from assent.stores.migrate import migrate

CLOCK: Final = SystemClock()


class Restored(WireRecord, kw_only=True):
    """A finished restore, and the name under which the replaced store is kept."""

    report: RestoreReport
    replaced: str | None


async def back_up(settings: Settings, target: Path, clock: Clock = CLOCK) -> None:
    """Write a backup of the store while servers use it. Raises `BackupError`."""
    # Taken before the snapshot: what is sent in between counts as sent after it.
    taken_ms = clock.now_ms()
    mark = BackupMark(taken_ms, read_epoch(await _read_facts(settings.database_url)))
    await write_backup(settings.database_url, target, msgspec.json.encode(mark).decode())


async def restore(
    settings: Settings, source: Path, make_app: Callable[[Settings], App] = App, clock: Clock = CLOCK
) -> Restored:
    """Put a backup in the place of the store. Raises `BackupError` while a server runs on it, and for a
    backup of a newer release or with other secrets."""
    stamp = time.strftime("%Y%m%dt%H%M%Sz", time.gmtime(clock.now_ms() / 1000))
    ensure_data_dir(settings.data_dir)
    url = settings.database_url
    components = list_components(settings, load_operators(settings))
    async with AsyncExitStack() as whole:
        await _keep_servers_out(settings, whole)
        facts = await _read_facts(url)
        try:
            loaded = await load_backup(url, source, stamp, components)
            whole.push_async_callback(drop_loaded, url, loaded)
            await migrate(loaded.url, clock.now_ms(), components)
            await _complete_mark(loaded, facts)
            report = await _open_aside(settings, loaded, make_app)
        except (SchemaMismatch, SecretMismatch) as refused:
            raise BackupError(f"{source} cannot be restored. {refused} Nothing was changed.") from refused
        replaced = await exchange(url, loaded, stamp)
        store = open_store(url)
        whole.push_async_callback(store.close)
        await Heads(settings, store, clock).adopt()
        return Restored(report=report, replaced=replaced)


async def accept(settings: Settings, make_app: Callable[..., App] = App) -> RestoreReport | None:
    """Use the store as it is, although it is behind the recorded head. Returns None if it is not."""
    async with AsyncExitStack() as whole:
        await _keep_servers_out(settings, whole)
        app = await whole.enter_async_context(use_app(make_app(settings, accept_older=True)))
        return app.restored


async def _keep_servers_out(settings: Settings, whole: AsyncExitStack) -> None:
    """Hold the locks of a data directory, or refuse while a server has them."""
    if settings.sqlite_path is None:
        from assent.stores.postgres_backup import refuse_others

        await refuse_others(settings.database_url)
        return
    leadership = leadership_of(settings, "restore")
    whole.callback(leadership.release)
    if not (leadership.try_lead() and leadership.claim_serve()):
        said = leadership.announced()
        who = f"process {said.pid}" if said is not None else "another process"
        raise BackupError(
            f"A server runs on {settings.data_dir} ({who}), and it would go on with the replaced database. Nothing was "
            "changed. Stop it and close the chats that use it, then restore again."
        )


async def _read_facts(url: str) -> dict[str, str]:
    """Return the facts of the store in use; none if it cannot be read, which may be why it is replaced."""
    try:
        return (await read_facts(url)).facts
    except Exception:
        return {}


async def _complete_mark(loaded: LoadedBackup, facts: dict[str, str]) -> None:
    """Complete the mark of a loaded backup, and its deployment if it has none, by the facts
    of the replaced store. A copy that a migration made has no mark: it is as old as its last event."""

    def complete() -> Transaction[None]:
        mark = yield from positions.find_mark()
        taken_ms = mark.taken_ms if mark is not None else (yield from positions.find_last_write())
        epoch = max(read_epoch(facts), mark.epoch if mark is not None else 0)
        yield from positions.set_mark(BackupMark(taken_ms, epoch))
        if deployment := facts.get(positions.DEPLOYMENT):
            yield from positions.name_deployment(deployment)

    store = open_store(loaded.url)
    try:
        await store.write(complete)
    finally:
        await store.close()


async def _open_aside(
    settings: Settings, loaded: LoadedBackup, make_app: Callable[[Settings], App]
) -> RestoreReport:
    """Open the loaded backup as a server does, which holds what may have been sent, and verify it."""
    secrets = resolve_secrets(settings)
    with tempfile.TemporaryDirectory(prefix="assent-restore-") as directory:
        beside = msgspec.structs.replace(
            settings,
            database_url=loaded.url,
            data_dir=Path(directory),
            secrets=tuple(each.decode() for each in secrets.master),
            run_token_secrets=tuple(each.decode() for each in secrets.run_token),
        )
        async with use_app(make_app(beside)) as app:
            verdict = await audit_log.verify(app.store, audit_log.Signer(app.keys.master))
            if not verdict.ok or app.restored is None:
                what = verdict.findings[0].what if verdict.findings else "it has no mark"
                raise BackupError(
                    f"The journal in the backup is not as it was written: {what} ({len(verdict.findings)} findings). "
                    "Nothing was changed. Take another backup."
                )
            return app.restored
