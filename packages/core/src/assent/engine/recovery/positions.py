"""How far a store has come, so that an older one is recognised.

Theory of operation

A data directory counts in the store: the fact `head DIRECTORY` is a number that only the processes of
that directory raise, after they have written something (`assent.processes.store_position`). After the commit the
directory keeps the number in a file. The file is therefore never ahead of a store that has lost
nothing, whatever was killed in between. A store whose number is lower than the file's has lost writes:
a backup was put back, its log is gone or damaged, or a standby without the last writes was promoted.

The epoch is raised by every restore, above all epochs known until then. A position is the epoch and the
number, in this order: after a restore every file of an earlier epoch is satisfied, also in the other
data directories of a PostgreSQL database.

A store has the name of its deployment, which is in every copy of it. What a data directory remembers
counts for each store with that name, whatever its address.

A backup carries a mark with the time of its snapshot. The first server on a store with this mark knows
that the store was restored, even if the file was copied by hand.

Another server may have taken over the database, without the last writes. The store keeps which history its server
continues: the system, the timeline, and whether a commit waits for a standby. A server with another timeline was
promoted; one with another system was filled from a copy. Where tables are spread over several servers, the timeline
counts the promotions of all. If commits did not wait, the newest may be gone, and what was sent by them looks unsent.
It is then held as after a restore. So is what a copy in another database has, whose first one may have sent more.
"""

from __future__ import annotations

import contextlib
from typing import Final

import msgspec

from assent.engine.core import journal
from assent.gate.audit import RestoreReport
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.structs import Record, WireRecord, from_row
from assent.ports import Transaction
from assent.sql.loader import statements

EPOCH: Final = "epoch"
BACKUP: Final = "backup"
DEPLOYMENT: Final = "deployment"


RESTORES: Final = "restores"
"""The stream of all restores."""

RESTORED: Final = "store_restored"


class Position(Record, order=True):
    """How far a store has come, for one data directory."""

    epoch: int = 0
    number: int = 0


class Restore(Record, kw_only=True):
    """A restore that must be recorded. What was sent at `since_ms` or later is not in the store; 0 if it
    is not known when it was copied. The new epoch exceeds `epoch`. `found` says how the restore is known,
    in words."""

    since_ms: int
    epoch: int
    found: str


class BackupMark(WireRecord):
    """The mark in a backup: when its snapshot was taken, and an epoch that the restored store exceeds."""

    taken_ms: int
    epoch: int = 0


def name_head(directory: str) -> str:
    """Return the name of the fact in which a data directory counts."""
    return f"head {directory}"


def read_position(facts: dict[str, str], directory: str) -> Position:
    """Return the position of a store from its facts. One that cannot be read counts as lost: the store is then behind
    what its data directory remembers, and is refused with a reason."""
    head = facts.get(name_head(directory)) or ""
    return Position(read_epoch(facts), int(head) if head.isdecimal() else 0)


def read_epoch(facts: dict[str, str]) -> int:
    """Return the epoch of a store from its facts; 0 if it has none or it cannot be read."""
    epoch = facts.get(EPOCH) or ""
    return int(epoch) if epoch.isdecimal() else 0


def read_mark(text: str | None) -> BackupMark | None:
    """Return the mark of a backup; None without one."""
    return msgspec.json.decode(text, type=BackupMark) if text else None


def name_deployment(proposed: str) -> Transaction[str]:
    """Return the name of the store's deployment. One without a name gets the proposed one."""
    rows = yield statements.name_deployment(workspace_id=SYSTEM_WORKSPACE, value=proposed)
    return str(rows[0]["value"])


def find_mark() -> Transaction[BackupMark | None]:
    return read_mark((yield from find_fact(BACKUP)))


def set_mark(mark: BackupMark | None) -> Transaction[None]:
    """Mark the store as a backup that was put back; None removes the mark."""
    value = msgspec.json.encode(mark).decode() if mark is not None else ""
    yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=BACKUP, value=value)


def find_epoch() -> Transaction[int]:
    return int((yield from find_fact(EPOCH)) or 0)


def set_epoch(epoch: int) -> Transaction[None]:
    yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=EPOCH, value=str(epoch))


def advance(directory: str) -> Transaction[Position]:
    """Count one further in a data directory and return the new position."""
    rows = yield statements.advance_head(workspace_id=SYSTEM_WORKSPACE, name=name_head(directory))
    return Position((yield from find_epoch()), int(rows[0]["value"]))


def find_last_write() -> Transaction[int]:
    """Return a time before which nothing is missing: at most a minute before the newest event."""
    rows = yield statements.last_dated_head()
    return int(rows[0]["updated_at"]) if rows else 0


def find_fact(name: str) -> Transaction[str | None]:
    rows = yield statements.find_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=name)
    return rows[0]["value"] if rows else None


def list_restores() -> Transaction[list[RestoreReport]]:
    """Return the recorded restores, oldest first."""
    reports = []
    for event in (yield from journal.read_stream(SYSTEM_WORKSPACE, RESTORES)):
        # One that was changed counts for nothing; verification names it.
        with contextlib.suppress(ValueError, OverflowError, RecursionError):
            if event.kind == RESTORED:
                reports.append(msgspec.json.decode(event.body, type=RestoreReport))
    return reports


FACT: Final = "server history"


class KeptHistory(WireRecord):
    """The history that the store was last prepared for."""

    system: str
    timeline: int
    synchronous: bool
    database: str = ""


def find_failover() -> Transaction[Restore | None]:
    """Return the failover that may have lost writes and must be recorded; None if there was none, and
    on a store that has no standby."""
    kept, found = yield from _read()
    if kept is None or found is None or kept.synchronous:
        return None
    if (kept.system, kept.timeline) == (found.system, found.timeline):
        return None
    since_ms = yield from find_last_write()
    return Restore(since_ms=since_ms, epoch=0, found="a standby took over that may lack the last writes")


def find_copy() -> Transaction[Restore | None]:
    """Return the restore that a copy in another database stands for; None if this is the database that was
    used before."""
    kept, found = yield from _read()
    if kept is None or found is None:
        return None
    if (kept.system, kept.database or found.database) == (found.system, found.database):
        return None
    since_ms = yield from find_last_write()
    return Restore(since_ms=since_ms, epoch=0, found="it is a copy in another database")


def keep_history() -> Transaction[None]:
    """Keep the present history, once what it may lack is held."""
    kept, found = yield from _read()
    if found is not None and found != kept:
        value = msgspec.json.encode(found).decode()
        yield statements.set_deployment_fact(workspace_id=SYSTEM_WORKSPACE, name=FACT, value=value)


def _read() -> Transaction[tuple[KeptHistory | None, KeptHistory | None]]:
    rows = yield statements.read_server_history()
    found = from_row(KeptHistory, rows[0]) if rows else None
    text = yield from find_fact(FACT)
    return (msgspec.json.decode(text, type=KeptHistory) if text else None), found
